"""`fairroll roll`: ask a running service over REST, print the dice, keep the bundle."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any

from fairroll import files, json_codec
from fairroll.bundle import format_bundle, parse_bundle
from fairroll.cli.answering import answer_request, ask, notes, set_policies_to_ask, waiting
from fairroll.cli.check_words import check_of
from fairroll.cli.notation_options import add_notation_options, notation_check
from fairroll.cli.output import EXIT_GOOD, EXIT_NO, print_error, print_json, print_lines, read_file
from fairroll.cli.receipts import receipt_at
from fairroll.cli.rest_client import RefusedError, call
from fairroll.enums import with_full_names
from fairroll.envelope import envelope_json, envelope_of
from fairroll.errors import RequestError, ServiceError, WrongUseError
from fairroll.hashing import HASH_BYTES
from fairroll.receipt import is_digest, parse_record
from fairroll.sealed_file import find_sealed
from fairroll.session_message import read_session
from fairroll.strict_json import to_base64, to_text
from fairroll.v1 import roll_pb2, session_pb2

DEFAULT_SERVER = "http://127.0.0.1:8080"
_BUNDLE_MODE = 0o644
_KEY_LIST = "/.well-known/fairroll/keys"

_EPILOG = """\
A service that knows its callers takes an API key from FAIRROLL_API_KEY.

examples:
  fairroll roll 4d6kh3
  fairroll roll 1d20+5 2d6+3 --actor Ann --save receipt.json
  fairroll roll --system crossroads skill-roll statistic=2 advantage=1
  fairroll roll --ask --system crossroads skill-roll advantage=1 --save scene.json
  fairroll roll 1d20 --session session.json --save 0.json
  fairroll roll 2d6 --after 0.json --save 1.json
  fairroll roll --close --after 1.json --save 2.json
  fairroll roll --check '{"notation":{"text":"2d6"},"label":"damage"}'
`fairroll systems NAME` lists the rolls and fields of a system; `fairroll verify` checks what was saved."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what to roll, where, and what to keep."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    add_request_options(parser)
    parser.add_argument("--announce", type=Path, metavar="FILE", help="write the request for all to see; roll nothing")
    parser.add_argument("--close", action="store_true", help="close the session: its last receipt, without checks")
    parser.add_argument("--request-id", default="", help="names a one-off, so that a retry gives the same bytes")
    parser.add_argument(
        "--ask",
        action="store_true",
        help="answer decisions at the prompt, which is on standard error; policies that are not given ask, and without "
        "--table a new one is made",
    )
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the bundle: envelope, chain, signed key list")
    parser.add_argument(
        "--json", action="store_true", help="print the service's whole answer as JSON; with --ask one for each receipt"
    )


def add_request_options(parser: argparse.ArgumentParser) -> None:
    """Declare what to roll, in which session, and where."""
    parser.add_argument(
        "what",
        nargs="*",
        metavar="NOTATION",
        help="dice such as 4d6kh3, several for several checks; with --system: a roll's name, then field=value ..",
    )
    parser.add_argument("--system", help="a rule system, see `fairroll systems`")
    add_notation_options(parser)
    parser.add_argument("--check", action="append", default=[], metavar="JSON", help="a check as JSON; may be repeated")
    parser.add_argument("--label", default="", help="what the roll is for")
    parser.add_argument("--actor", default="", help="who rolls")
    parser.add_argument(
        "--cite",
        action="append",
        default=[],
        metavar="RECEIPT",
        help="another receipt that the roll builds on, which then must say what is taken from it; or a mere digest",
    )
    parser.add_argument("--table", default="", help="the session's table; without it the roll has a session of its own")
    parser.add_argument("--session", metavar="FILE", help="the session, as `fairroll offer check --session` wrote it")
    parser.add_argument(
        "--after",
        metavar="BUNDLE",
        help="the receipt, or sealed roll, before this one: gives session, seq and previous",
    )
    parser.add_argument(
        "--request", metavar="FILE", help="send this request, as --announce wrote it, and nothing else that is named"
    )
    add_reveal(parser)
    parser.add_argument("--vrf-key-id", default="", help="the session's VRF key, required when seq is above 0")
    parser.add_argument("--seq", type=int, default=0, help="the roll's number in its session")
    parser.add_argument("--previous", default="", help="the digest of the receipt before, required when seq is above 0")
    parser.add_argument(
        "--server",
        default=default_server(),
        help=f"the service's REST address; otherwise FAIRROLL_SERVER, or {DEFAULT_SERVER}",
    )
    parser.set_defaults(close=False, request_id="", ask=False)


def add_reveal(parser: argparse.ArgumentParser) -> None:
    """Declare --reveal."""
    parser.add_argument(
        "--reveal",
        action="append",
        type=_reveal,
        default=[],
        metavar="HEX",
        help="the value that the owner of a co-seed chain gave; one for each anchor, in their order",
    )


def default_server() -> str:
    """Return the service that commands ask where none is named."""
    return os.environ.get("FAIRROLL_SERVER", DEFAULT_SERVER)


def run(options: argparse.Namespace) -> int:
    """Roll, print, ask, save."""
    request = request_of(options)
    if options.announce is not None:
        announce(options.announce, request, as_json=options.json)
        return EXIT_GOOD
    # First, so that a roll that was made can also be kept.
    if options.save is not None:
        files.require_absent(options.save)
        files.require_writable(options.save)
    key_list = None if options.save is None else fetch_key_list(options.server)
    chain: list[dict[str, Any]] = list(request.get("chain", ()))
    digests = [envelope_of(each).digest for each in chain]
    try:
        while True:
            answer = call(options.server, "/v1/rolls", request)
            show(answer, options.server, as_json=options.json)
            chain.append(answer["envelope"])
            digests.append(answer["digest"])
            if key_list is not None:
                save(options.save, chain, key_list, options.server)
            decisions = waiting(answer["record"])
            if not (options.ask and decisions):
                break
            if options.json:
                print_lines((line for text in answer["texts"] for line in text["plain"].splitlines()), sys.stderr)
            request = answer_request(answer["record"], digests, chain, ask(decisions))
    except RefusedError as error:
        notation = options.what[0] if len(options.what) == 1 and not options.system else ""
        print_error(error, as_json=options.json, text=notation)
        return EXIT_NO
    except EOFError:
        later = (
            f"`fairroll decide {options.save}`" if options.save else "`fairroll decide`, from a receipt kept by --save,"
        )
        print_lines(["", f"nobody answered, and the roll waits: {later} answers it later"], sys.stderr)
    if key_list is not None and not options.json:
        print_lines([f"saved     {options.save}"])
    return EXIT_GOOD


def fetch_key_list(server: str) -> dict[str, Any]:
    """Return the service's signed key list."""
    return call(server, _KEY_LIST)


def show(answer: dict[str, Any], server: str, *, as_json: bool) -> None:
    """Print the service's answer."""
    try:
        record = answer["record"]
        texts = [text["plain"].splitlines() if waiting(record) else [text["line"]] for text in answer["texts"]]
        session, seq = record["session"], record["request"]["seq"]
        lines = [line for text in texts for line in text] + notes(record)
        lines += [f"receipt   {answer['digest']}", f"session   {session['table']}, seq {seq}"]
    except (KeyError, TypeError, AttributeError):
        raise ServiceError("SERVICE_UNREADABLE", f"what answers at {server} is not fairroll", value=server) from None
    if as_json:
        print_json(answer)
    else:
        print_lines(lines)


def save(path: Path, envelopes: Sequence[dict[str, Any]], key_list: dict[str, Any], server: str) -> None:
    """Write the bundle of a receipt and those before it, once it is known to be one that `verify` reads."""
    *chain, envelope = envelopes
    try:
        bundle = parse_bundle(to_text({"envelope": envelope, "chain": chain, "keyList": key_list}))
    except RequestError as error:
        raise ServiceError(
            "SERVICE_UNREADABLE", f"what answers at {server} gives no receipt", field=error.field, value=server
        ) from error
    files.replace(path, format_bundle(bundle) + b"\n", _BUNDLE_MODE)


def announce(path: Path, request: dict[str, Any], *, as_json: bool) -> None:
    """Write a request of a whole session for all to see, so that owners of chains give their values for it.

    Raises:
        WrongUseError: SESSION_NOT_WHOLE, no session is named, so that nobody could tell for what a value would
            be given.
        RequestError: the session that is named is not whole.
        KeyFileError: the file exists, or cannot be written.
    """
    message = json_codec.loads(roll_pb2.RollRequest, to_text(request))
    # A table, or none, does not make a session whole: who rolls, and with which key, the service would fill in.
    if not message.session.origin:
        way = "--after and the receipt before it" if message.seq else "--session FILE, or later with --after BUNDLE"
        raise WrongUseError(
            "SESSION_NOT_WHOLE", f"--announce needs a whole session: name it with {way}", field="--announce"
        )
    read_session(message.session)
    value = json_codec.to_value(message)
    files.create(path, to_text(value) + b"\n", _BUNDLE_MODE)
    if as_json:
        print_json(value)
    else:
        print_lines([f"announced {path}"])


def request_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the request that a command line names.

    Raises:
        FairrollError: it names none, or a file that holds none.
    """
    reveals = {"reveals": options.reveal} if options.reveal else {}
    if options.request is not None:
        announced = json_codec.loads(roll_pb2.RollRequest, read_file(options.request))
        value: dict[str, Any] = json_codec.to_value(announced)
        return value | reveals
    checks = [_parsed(check) for check in options.check]
    if options.system:
        checks.append(check_of(options.system, options.what))
    else:
        checks.extend({"notation": notation_check(text, options)} for text in options.what)
    if not checks and not options.close:
        raise WrongUseError("NOTHING_TO_ROLL", "name what to roll, such as: fairroll roll 4d6kh3")
    cites, cited = _cited(options.cite)
    common = {"label": options.label, "actor": options.actor, "cites": cites}
    for check in checks:
        check |= {name: given for name, given in common.items() if given}
        if options.ask:
            set_policies_to_ask(check)
    request: dict[str, Any] = {"checks": checks, "close": options.close, "requestId": options.request_id}
    request |= reveals
    request |= {"cited": cited} if cited else {}
    if options.after is not None:
        return request | following(options.after)
    request |= {"seq": str(options.seq), "previous": options.previous}
    if options.session is not None:
        session = json_codec.loads(session_pb2.Session, read_file(options.session))
        return request | {"session": json_codec.to_value(session)}
    table = options.table or (f"ask-{token_hex(8)}" if options.ask else "")
    return request | {"session": {"table": table, "vrfKeyId": options.vrf_key_id}} if table else request


def following(name: str) -> dict[str, Any]:
    """Return what a request says of its place: that after a receipt, or after a roll that is still sealed."""
    sealed = None if name == "-" else find_sealed(Path(name))
    if sealed is not None:
        session, seq, digest = sealed.request.session, sealed.request.seq, sealed.digest
    else:
        envelope = receipt_at(name).envelope
        record = parse_record(envelope.payload)
        session, seq, digest = record.session, record.request.seq, envelope.digest
    return {"session": json_codec.to_value(session), "seq": str(seq + 1), "previous": digest}


def _cited(given: Sequence[str]) -> tuple[list[str], list[dict[str, object]]]:
    """Return the digests that are cited, and the envelopes of those that are shown: receipts in files."""
    digests, envelopes = [], []
    for name in given:
        if is_digest(name):
            digests.append(name)
        else:
            envelope = receipt_at(name).envelope
            digests.append(envelope.digest)
            envelopes.append(envelope_json(envelope))
    return digests, envelopes


def _reveal(text: str) -> str:
    try:
        value = bytes.fromhex(text)
    except ValueError:
        value = b""
    if len(value) != HASH_BYTES:
        raise argparse.ArgumentTypeError("write 64 hex digits")
    return to_base64(value)


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise WrongUseError("JSON_UNREADABLE", "a check is a JSON object", field="--check")
    named: dict[str, Any] = with_full_names(value, roll_pb2.Check.DESCRIPTOR)
    return named
