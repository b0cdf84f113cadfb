"""`fairroll guard`: what an operator does with the store that lets a seq be used once."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from fairroll.cli.output import EXIT_GOOD, print_json
from fairroll.errors import KeyFileError, ServiceError

if TYPE_CHECKING:
    from fairroll.guard.claims import Guard

_DAY_SECONDS = 24 * 60 * 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `retain`."""
    commands = parser.add_subparsers(metavar="ACTION", required=True)
    retain = commands.add_parser(
        "retain", help="close each session that was idle for long; one row then takes the place of its rows"
    )
    retain.add_argument("--idle-days", type=_days, required=True, metavar="N", help="days without a roll; 0 is all")
    retain.add_argument(
        "--guard",
        default=os.environ.get("FAIRROLL_GUARD", ""),
        metavar="PLACE",
        help="sqlite:PATH or postgresql://...; otherwise FAIRROLL_GUARD, where a password is better kept",
    )
    retain.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Retain, and say how many sessions were closed."""
    closed = asyncio.run(_retain(_guard_at(options.guard), options.idle_days * _DAY_SECONDS))
    if options.json:
        print_json({"closed": closed})
    else:
        print(f"closed {closed} sessions")
    return EXIT_GOOD


def _guard_at(place: str) -> Guard:
    """Return the guard that is at a place, which is not opened yet."""
    try:
        from fairroll.guard.places import open_guard
        from fairroll.settings import parse_guard
    except ModuleNotFoundError as error:
        raise ServiceError("SERVER_NOT_INSTALLED", "install fairroll[server]", value=error.name or "") from None
    try:
        named = parse_guard(place)
    except ValueError as error:
        raise _invalid(str(error)) from None
    if named.kind == "sqlite" and not Path(named.place).is_file():
        # Opening it would make an empty one, in which nothing is idle.
        raise KeyFileError("FILE_NOT_READ", f"{named.place}: there is no guard in such a file", field="--guard")
    guard = open_guard(named)
    if guard is None:
        raise _invalid("there is no guard: name one")
    return guard


async def _retain(guard: Guard, idle_seconds: int) -> int:
    from fairroll.guard.claims import cause_of

    # What the driver's pool logs of each try is in the error, once.
    logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())
    try:
        await guard.open()
        return await guard.retain(idle_seconds)
    except ServiceError as error:
        if error.reason != "GUARD_UNREACHABLE":
            raise
        message = f"the guard cannot be reached, and not every idle session was closed: {cause_of(error)}"
        raise ServiceError(error.reason, message, field="--guard") from error
    finally:
        await guard.close()


def _invalid(message: str) -> ServiceError:
    return ServiceError("SETTINGS_INVALID", f"--guard, FAIRROLL_GUARD: {message}", field="--guard")


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 5:
        raise argparse.ArgumentTypeError("write a number of days, 0 to 99999")
    return int(text)
