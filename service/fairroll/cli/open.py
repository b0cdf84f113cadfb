"""`fairroll open`: the receipt of a roll that was sealed."""

from __future__ import annotations

import argparse
from pathlib import Path

from fairroll import files, json_codec
from fairroll.cli import roll
from fairroll.cli.output import EXIT_GOOD, print_lines
from fairroll.cli.rest_client import call
from fairroll.envelope import envelope_of
from fairroll.errors import RequestError, ServiceError
from fairroll.sealed_file import find_sealed, no_sealed_file

_EPILOG = """\
example:
  fairroll open dragon.sealed --save dragon.json
What is opened is the receipt whose digest was told, or nothing."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the sealed roll and the bundle."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("sealed", type=Path, help="what `fairroll seal` wrote")
    parser.add_argument("--server", default=roll.default_server(), help="the service's REST address")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the bundle of the receipt")
    parser.add_argument("--json", action="store_true", help="print the service's whole answer as JSON")


def run(options: argparse.Namespace) -> int:
    """Ask for the receipt, compare its digest, print, save."""
    sealed = find_sealed(options.sealed)
    if sealed is None:
        raise no_sealed_file(options.sealed)
    if options.save is not None:
        files.require_absent(options.save)
        files.require_writable(options.save)
    key_list = None if options.save is None else roll.fetch_key_list(options.server)
    answer = call(options.server, "/v1/rolls", json_codec.to_value(sealed.request))
    try:
        digest = envelope_of(answer["envelope"]).digest
    except (KeyError, RequestError):
        raise ServiceError(
            "SERVICE_UNREADABLE", f"what answers at {options.server} is not fairroll", value=options.server
        ) from None
    if digest != sealed.digest:
        raise RequestError(
            "SEAL_DIFFERS", f"sealed was {sealed.digest}, and the service now gives {digest}", value=digest
        )
    roll.show(answer, options.server, as_json=options.json)
    if key_list is not None:
        chain = json_codec.to_value(sealed.request).get("chain", [])
        roll.save(options.save, [*chain, answer["envelope"]], key_list, options.server)
    if not options.json:
        saved = [] if key_list is None else [f"saved     {options.save}"]
        print_lines(["opened    the receipt is the one that was sealed", *saved])
    return EXIT_GOOD
