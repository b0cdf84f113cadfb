"""`fairroll decide`: answer the decisions that wait in a bundle."""

from __future__ import annotations

import argparse
from pathlib import Path

from fairroll import files, json_codec
from fairroll.bundle import Bundle
from fairroll.chain import Parent, begin_again
from fairroll.cli import roll
from fairroll.cli.answering import answer_request, option_lines, options_given, waiting
from fairroll.cli.output import EXIT_GOOD, EXIT_NO, print_error, print_json, print_lines
from fairroll.cli.receipts import receipt_at
from fairroll.cli.rest_client import RefusedError, call
from fairroll.envelope import envelope_json
from fairroll.errors import FairrollError, RequestError
from fairroll.receipt import parse_record
from fairroll.replay import kind_words, so_far

_EPILOG = """\
example:
  fairroll decide pending.json                                    shows what waits
  fairroll decide pending.json --option KEEP --save answered.json
  fairroll decide pending.json --option 2 --announce answer.json   writes the request; any client can send it"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the bundle and the answers."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("bundle", metavar="BUNDLE", help="a roll that waits: a bundle, or the answer of POST /v1/rolls")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="ID",
        help="the option chosen, by id or number, one for each decision in order, or DECISION=ID; without any, all are "
        "shown",
    )
    parser.add_argument(
        "--after", metavar="BUNDLE", help="the receipt before the answer, where other rolls lie between"
    )
    parser.add_argument("--announce", type=Path, metavar="FILE", help="write the answer for all to see; send nothing")
    roll.add_reveal(parser)
    parser.add_argument("--server", default=roll.default_server(), help="the service's REST address")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the bundle of the answer")
    parser.add_argument("--json", action="store_true", help="print the service's whole answer as JSON")


def run(options: argparse.Namespace) -> int:
    """Show what waits and how the roll stands, or answer it."""
    bundle = receipt_at(options.bundle)
    record = json_codec.to_value(parse_record(bundle.envelope.payload))
    decisions = waiting(record)
    if not decisions:
        raise RequestError("NOT_PENDING", "the receipt waits for no decision", field=options.bundle)
    if not options.option:
        if options.json:
            print_json({"decisions": decisions})
        else:
            print_lines(_standing(bundle))
            print_lines(line for decision in decisions for line in option_lines(decision))
        return EXIT_GOOD
    chosen = options_given(decisions, options.option)
    envelopes = [*bundle.chain, bundle.envelope]
    chain = [envelope_json(each) for each in envelopes]
    request = answer_request(record, [each.digest for each in envelopes], chain, chosen)
    if options.after is not None:
        request |= roll.following(options.after)
    if options.reveal:
        request["reveals"] = options.reveal
    if options.announce is not None:
        roll.announce(options.announce, request, as_json=options.json)
        return EXIT_GOOD
    # First, so that an answer that was given can also be kept.
    if options.save is not None:
        files.require_writable(options.save)
    key_list = None if options.save is None else roll.fetch_key_list(options.server)
    try:
        answer = call(options.server, "/v1/rolls", request)
    except RefusedError as error:
        print_error(error, as_json=options.json)
        return EXIT_NO
    roll.show(answer, options.server, as_json=options.json)
    if key_list is not None:
        roll.save(options.save, [*chain, answer["envelope"]], key_list, options.server)
        if not options.json:
            print_lines([f"saved     {options.save}"])
    return EXIT_GOOD


def _standing(bundle: Bundle) -> list[str]:
    """Return how the roll stands that waits: dice, decisions, and what each question is about.

    Told by the rules from what the receipts record; whether they are genuine is for `fairroll verify` to say.
    """
    try:
        parents = [Parent(each.digest, parse_record(each.payload)) for each in (*bundle.chain, bundle.envelope)]
        begun = begin_again(parents)
    except FairrollError as error:
        return [f"the dice are not told, since these rules do not give them again: {error.message}"]
    roll_ = begun.segments[-1]
    return so_far(begun.check, roll_) + [f"{kind_words(each)}: {each.about}" for each in roll_.pending if each.about]
