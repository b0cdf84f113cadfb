"""`fairroll seal`: roll, tell the digest, and keep to oneself what opens it."""

from __future__ import annotations

import argparse
from pathlib import Path
from secrets import token_hex

from fairroll import files, json_codec
from fairroll.cli import roll
from fairroll.cli.output import EXIT_GOOD, print_json, print_lines
from fairroll.cli.rest_client import call
from fairroll.errors import RequestError, ServiceError
from fairroll.sealed_file import SealedFile, create_sealed
from fairroll.strict_json import to_text
from fairroll.v1 import roll_pb2, service_pb2

_EPILOG = """\
examples:
  fairroll seal 1d20+3 --label 'does the dragon wake' --save dragon.sealed
  fairroll seal 1d100 --after scene/4.json --save scene-5.sealed
  fairroll open dragon.sealed --save dragon.json
The digest that is printed is for the table; the file is for whoever sealed. It hides from those who cannot call the
service as this tenant, or who can but do not get past its guard: see docs/sealed-rolls.md."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what to roll, where, and the file that opens it."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    roll.add_request_options(parser)
    parser.add_argument(
        "--save",
        type=Path,
        required=True,
        metavar="FILE",
        help="what opens it, for its owner alone; must not exist yet",
    )
    parser.add_argument("--json", action="store_true", help="print the sealed roll as JSON, as everybody may see it")


def run(options: argparse.Namespace) -> int:
    """Seal, print, keep."""
    request = roll.request_of(options)
    request.setdefault("session", {"table": f"sealed-{token_hex(16)}"})
    # First, so that what was sealed can also be opened.
    files.require_absent(options.save)
    files.require_writable(options.save)
    answer = call(options.server, "/v1/rolls:seal", {"roll": request})
    try:
        told = json_codec.loads(service_pb2.SealRollResponse, to_text(answer))
    except RequestError:
        raise ServiceError(
            "SERVICE_UNREADABLE", f"what answers at {options.server} is not fairroll", value=options.server
        ) from None
    asked = json_codec.loads(roll_pb2.RollRequest, to_text(request))
    asked.session.CopyFrom(told.session)
    create_sealed(options.save, SealedFile(told.digest, asked))
    if options.json:
        print_json(answer)
    else:
        place = f"session   {told.session.table}, seq {told.seq}"
        print_lines([f"sealed    {told.digest}", place, f"saved     {options.save}"])
    return EXIT_GOOD
