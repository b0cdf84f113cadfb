"""`fairroll odds`: what a check can give, before it is rolled. Nothing is rolled, and no service is asked."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from fairroll import files, json_codec
from fairroll.cli.check_words import check_of
from fairroll.cli.notation_options import add_notation_options, notation_check, require_no_reading
from fairroll.cli.odds_report import report
from fairroll.cli.output import EXIT_GOOD, EXIT_NO, print_error, print_json, print_lines
from fairroll.enums import with_full_names
from fairroll.errors import RequestError, ServiceError, WrongUseError
from fairroll.odds.query import as_object
from fairroll.v1 import odds_pb2, roll_pb2

_EPILOG = """\
examples:
  fairroll odds 4d6kh3
  fairroll odds 1d20+5 --at-least 15
  fairroll odds 4d6kh3 --against 3d6 --plot odds.svg
  fairroll odds --system crossroads skill-roll statistic=2 advantage=1 --quantity critical
  fairroll odds --check '{"msfHigh":{"skillRoll":{"skill":3,"statistic":7}}}' --json
`fairroll systems NAME` lists the rolls and fields of a system."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the check, what is asked of it, and how it may be answered."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument(
        "what", nargs="*", metavar="NOTATION", help="such as 4d6kh3; with --system: a roll's name, then field=value .."
    )
    parser.add_argument("--system", help="a rule system, see `fairroll systems`")
    add_notation_options(parser)
    parser.add_argument("--check", metavar="JSON", help="the check as JSON")
    parser.add_argument("--label", default="", help="what the check is called")
    parser.add_argument("--against", metavar="NOTATION|JSON", help="another check, to be compared with the first")
    parser.add_argument("--quantity", default="", help="the number that it is about, such as total, critical or damage")
    parser.add_argument("--against-quantity", default="", metavar="QUANTITY", help="the same of the other check")
    parser.add_argument("--at-least", type=int, metavar="N", help="what is needed: how often it is reached")
    parser.add_argument("--exact", action="store_true", help="refuse what is too much work instead of simulating it")
    parser.add_argument("--rolls", type=int, metavar="N", help="rolls of a simulation")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of a simulation; otherwise 0")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw them as well, as an SVG picture")
    parser.add_argument("--json", action="store_true", help="print JSON, as POST /v1/odds answers it")


def run(options: argparse.Namespace) -> int:
    """Find the odds and print them."""
    try:
        from fairroll.odds.answer import get_odds
        from fairroll.odds.picture import picture
    except ModuleNotFoundError as error:
        raise ServiceError(
            "SERVER_NOT_INSTALLED", "install fairroll[server] to find odds", value=error.name or ""
        ) from None
    try:
        request = json_codec.from_value(odds_pb2.GetOddsRequest, json_codec.parse(json.dumps(_request(options))))
        answer = get_odds(request)
    except RequestError as error:
        print_error(error, as_json=options.json, text=_notation_at_fault(options, error))
        return EXIT_NO
    if options.plot is not None:
        files.write(options.plot, picture(answer).encode(), files.PUBLIC_FILE_MODE)
    if options.json:
        print_json(json_codec.to_value(answer))
    else:
        print_lines(report(answer))
    return EXIT_GOOD


def _request(options: argparse.Namespace) -> dict[str, Any]:
    check = _check(options)
    if options.label:
        check["label"] = options.label
    request: dict[str, Any] = {
        "check": check,
        "quantity": options.quantity,
        "againstQuantity": options.against_quantity,
        "refuseEstimates": options.exact,
        "seed": options.seed,
    }
    against = None if options.against is None else _named(options.against)
    if (options.check or options.system) and (against or options.against is None):
        require_no_reading(options)
    if options.against is not None:
        request["against"] = against or {"notation": notation_check(options.against, options)}
    given = {"atLeast": options.at_least, "rolls": options.rolls}
    return request | {name: value for name, value in given.items() if value is not None}


def _named(text: str) -> dict[str, Any] | None:
    """Return the check that a JSON text is, its enum values by their whole names, or None."""
    check = as_object(text)
    return None if check is None else with_full_names(check, roll_pb2.Check.DESCRIPTOR)


def _check(options: argparse.Namespace) -> dict[str, Any]:
    if options.system and options.check is None:
        return check_of(options.system, options.what)
    if options.check is not None and not options.what and not options.system:
        check = _named(options.check)
        if check is None:
            raise WrongUseError("JSON_UNREADABLE", "a check is a JSON object", field="--check")
        return check
    if len(options.what) != 1 or options.check is not None:
        raise WrongUseError("NOTHING_TO_ROLL", "name one check, such as: fairroll odds 4d6kh3")
    return {"notation": notation_check(options.what[0], options)}


def _notation_at_fault(options: argparse.Namespace, error: RequestError) -> str:
    """Return the text that the span of an error points into."""
    if error.field.startswith("against"):
        return options.against or ""
    return options.what[0] if len(options.what) == 1 and not options.system else ""
