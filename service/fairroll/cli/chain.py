"""`fairroll chain`: a co-seed chain of one's own, whose values are given for requests that were announced."""

from __future__ import annotations

import argparse
from pathlib import Path

from fairroll import hashing, json_codec
from fairroll.cli.mine import add_mine, read_mine
from fairroll.cli.output import EXIT_GOOD, print_json, print_lines, read_file, read_root_key
from fairroll.cli.receipts import key_list_at, receipt_at
from fairroll.co_seed import Announced, new_chain, read_chain, reveal
from fairroll.errors import RequestError, WrongUseError
from fairroll.key_list import KeyList, KeyStatus, KeyUse
from fairroll.levels import Mine
from fairroll.receipt import request_digest
from fairroll.session import MAX_CHAIN_LENGTH
from fairroll.session_message import read_session
from fairroll.v1 import roll_pb2
from fairroll.verify import Verified, judge_key_list, verify

_EPILOG = """\
example:
  fairroll chain new ann.chain                                      prints the anchor, for the offer
  fairroll chain reveal ann.chain request.json --root root.pub --keys keys.json --mine ann.json
  fairroll chain reveal ann.chain request.json --root root.pub --receipt scene/0.json --mine ann.json
  fairroll verify scene --root root.pub --mine ann.json --mine ann.chain
A value is given for one request and remembered; the same request gets it again, another one does not."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `new`, `reveal` and `show`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    commands = parser.add_subparsers(metavar="ACTION", required=True)
    new = commands.add_parser("new", help="draw a chain into a private file and print its anchor")
    new.add_argument("chain", type=Path, metavar="FILE", help="the file; it must not exist yet")
    new.add_argument(
        "--length",
        type=int,
        default=MAX_CHAIN_LENGTH,
        metavar="N",
        help=f"values, and so rolls of the session, 1..{MAX_CHAIN_LENGTH}; otherwise {MAX_CHAIN_LENGTH}",
    )
    new.set_defaults(action=_new)
    giving = commands.add_parser("reveal", help="remember a request that was announced, then print the value for it")
    giving.add_argument("chain", type=Path, metavar="FILE", help="what `new` wrote")
    giving.add_argument("request", help="the request, as `fairroll roll --announce` wrote it")
    giving.add_argument(
        "--root", required=True, metavar="KEY", help="root public key: 64 hex digits, or a file of them"
    )
    giving.add_argument("--keys", metavar="FILE", help="the service's signed key list; otherwise the receipt's")
    giving.add_argument("--receipt", metavar="FILE", help="the receipt of the seq before; required above seq 0")
    add_mine(giving)
    giving.set_defaults(action=_reveal)
    show = commands.add_parser("show", help="show the anchor and what values were given for; with --json, as a log")
    show.add_argument("chain", type=Path, metavar="FILE", help="what `new` wrote")
    show.set_defaults(action=_show)
    for command in (new, giving, show):
        command.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Run the action that was named."""
    options.action(options)
    return EXIT_GOOD


def _new(options: argparse.Namespace) -> None:
    anchor = new_chain(options.chain, options.length).anchor.hex()
    if options.json:
        print_json({"anchor": anchor, "length": options.length})
    else:
        print_lines([anchor])


def _show(options: argparse.Namespace) -> None:
    chain = read_chain(options.chain)
    if options.json:
        print_json(json_codec.to_value(chain.log.message()))
        return
    lines = [f"anchor    {chain.anchor.hex()}", f"given     {len(chain.requests)} of {chain.length}"]
    print_lines([*lines, *(f"  seq {seq} request {digest}" for seq, digest in enumerate(chain.requests))])


def _reveal(options: argparse.Namespace) -> None:
    root, mine = read_root_key(options.root), read_mine(options.mine)
    given = None if options.keys is None else key_list_at(options.keys)
    before = None
    if options.receipt is not None:
        bundle = receipt_at(options.receipt)
        before = verify(bundle, root, key_list=given)
    if given is None and before is None:
        raise WrongUseError("KEY_LIST_MISSING", "name the service's key list with --keys", field="--keys")
    keys = judge_key_list(given, root) if before is None else before.key_list
    request = json_codec.loads(roll_pb2.RollRequest, read_file(options.request))
    announced = _announced(request, keys, mine)

    def check_before(digest: str) -> None:
        _check_before(before, announced, request.previous, digest)

    value = reveal(options.chain, announced, check_before).hex()
    if options.json:
        print_json({"seq": str(announced.seq), "requestDigest": announced.request_digest, "reveal": value})
    else:
        print_lines([value])


def _announced(request: roll_pb2.RollRequest, keys: KeyList, mine: Mine) -> Announced:
    """Return a request as its owner judges it: of a session that was offered, under a key of the list."""
    session = read_session(request.session)
    key = keys.find(session.vrf_key_id, KeyUse.VRF)
    if key is None or session.origin != keys.origin:
        raise RequestError("UNKNOWN_KEY", "the key list has no such VRF key of that origin", field="session.vrf_key_id")
    if key.status is KeyStatus.REVOKED:
        raise RequestError("KEY_REVOKED", "the session's VRF key is revoked", field="session.vrf_key_id")
    if not mine.offers:
        raise WrongUseError("OFFER_NOT_SHOWN", "name the offer that the session must be of with --mine", field="--mine")
    if mine.offer_of(request.session) is None:
        raise RequestError(
            "OFFER_NOT_OPENED", "the request's session is not one that you were offered", field="session"
        )
    asked = roll_pb2.RollRequest()
    asked.CopyFrom(request)
    asked.ClearField("session")
    asked.ClearField("chain")
    asked.previous = asked.previous or hashing.NO_PREVIOUS
    session_id = session.session_id(key.public_key)
    return Announced(session_id, session.anchors, request.seq, request_digest(session_id, asked).hex())


def _check_before(before: Verified | None, announced: Announced, previous: str, digest: str) -> None:
    """Compare the receipt of the seq before with the request that its value was given for."""
    if before is None:
        raise RequestError("RECEIPT_NOT_SHOWN", "name the receipt of the seq before with --receipt", field="--receipt")
    place = (before.session_id, before.record.request.seq, before.digest)
    if place != (announced.session_id, announced.seq - 1, previous):
        raise RequestError(
            "RECEIPT_NOT_SHOWN", "the receipt is not the one that the request follows", field="--receipt"
        )
    if before.request_digest != digest:
        raise RequestError(
            "REVEAL_DIFFERS",
            f"the receipt is of request {before.request_digest}, and the value was given for {digest}",
            field="--receipt",
            value=before.request_digest,
        )
