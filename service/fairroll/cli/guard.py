"""`fairroll guard`: what an operator does with the store that lets a seq be used once."""

import argparse
import asyncio
import os

from fairroll.cli.output import EXIT_GOOD, print_json
from fairroll.errors import ServiceError

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
    closed = asyncio.run(_retain(options.guard, options.idle_days * _DAY_SECONDS))
    if options.json:
        print_json({"closed": closed})
    else:
        print(f"closed {closed} sessions")
    return EXIT_GOOD


async def _retain(place: str, idle_seconds: int) -> int:
    try:
        from fairroll.guard.places import open_guard
        from fairroll.settings import parse_guard
    except ModuleNotFoundError as error:
        raise ServiceError("SERVER_NOT_INSTALLED", "install fairroll[server]", value=error.name or "") from None
    try:
        guard = open_guard(parse_guard(place))
    except ValueError as error:
        raise _invalid(str(error)) from None
    if guard is None:
        raise _invalid("there is no guard: name one")
    try:
        await guard.open()
        return await guard.retain(idle_seconds)
    finally:
        await guard.close()


def _invalid(message: str) -> ServiceError:
    return ServiceError("SETTINGS_INVALID", f"--guard, FAIRROLL_GUARD: {message}", field="--guard")


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 5:
        raise argparse.ArgumentTypeError("write a number of days")
    return int(text)
