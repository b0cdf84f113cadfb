"""`fairroll resolve`: a check on given faces and given answers. Nothing is rolled, nothing is proved."""

from __future__ import annotations

import argparse

from fairroll import json_codec
from fairroll.cli.decided import decided_lines
from fairroll.cli.output import EXIT_GOOD, EXIT_NO, print_error, print_json, print_lines, read_file
from fairroll.cli.parser import integers, words
from fairroll.convert import check_path, read_check, request_error
from fairroll.enums import with_full_names
from fairroll.errors import RequestError, WrongUseError
from fairroll.replay import outcome_message, text_message
from fairroll.v1 import roll_pb2
from fairroll_rules.errors import RuleError
from fairroll_rules.given import GivenFaces
from fairroll_rules.resolve import Resolved, resolve
from fairroll_rules.systems import system_of, systems

NOTE = "Nothing was rolled: the faces were given on the command line. There is no proof and no receipt."

_EPILOG = """\
examples:
  fairroll resolve '{"notation":{"text":"4d6kh3"}}' --faces 5,4,3,2
  fairroll resolve '{"crossroads":{"skillRoll":{"statistic":2}}}' --faces 5,4,3 --json
`fairroll systems NAME` lists the fields of each roll; choices may stand under their short names.
Faces are taken in the order of the draws. Those of a percentile roll of MSF High are two d10, where 10 is the one
labelled 0, or the one number that they read, 1..100."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the check, the faces and the answers."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument(
        "check", metavar="CHECK", help="the check as JSON, as the contract has it; - reads it from stdin"
    )
    parser.add_argument(
        "--faces", type=integers, required=True, metavar="N,N,..", help="the face of each draw, in order; '' for none"
    )
    parser.add_argument(
        "--answers",
        type=words,
        default=(),
        metavar="OPTION,..",
        help="answers to the decisions, in the order in which they are asked; where they end, the policies answer",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Resolve and print."""
    given = _parsed(read_file("-") if options.check == "-" else options.check)
    message = json_codec.from_value(roll_pb2.Check, with_full_names(given, roll_pb2.Check.DESCRIPTOR))
    try:
        check = read_check(message)
        resolved = _resolve(check, message.actor, options.faces, options.answers)
    except RequestError as error:
        print_error(error, as_json=options.json, text=message.notation.text)
        return EXIT_NO
    outcome = outcome_message(check, resolved)
    text = text_message(check, resolved)
    if options.json:
        print_json(
            {
                "rolled": False,
                "note": NOTE,
                "outcome": json_codec.to_value(outcome),
                "text": json_codec.to_value(text),
            }
        )
        return EXIT_GOOD
    print_lines(text.plain.splitlines())
    print_lines(f"  {line}" for line in decided_lines(outcome.decisions))
    print(NOTE)
    return EXIT_GOOD


def _parsed(text: bytes | str) -> object:
    try:
        return json_codec.parse(text)
    except RequestError as error:
        raise WrongUseError(error.reason, f"CHECK is not JSON: {error.message}", value=error.value) from None


def _resolve(check: object, actor: str, faces: tuple[int, ...], answers: tuple[str, ...]) -> Resolved:
    meant = getattr(systems()[system_of(check)], "faces_of", None)
    source = GivenFaces(faces if meant is None else meant(check, faces))
    try:
        resolved = resolve(check, source, answers, actor=actor)
        source.finish()
    except RuleError as error:
        # Faces and answers stand beside the check, not in it.
        path = "" if error.field.startswith("faces") else check_path(check)
        raise request_error(error, path) from error
    return resolved
