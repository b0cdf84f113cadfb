"""`fairroll offer`: what all see of a session before anybody opens, from the first draw to the session."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from fairroll import files, json_codec, strict_json
from fairroll.beacon import BEACONS, check_round
from fairroll.callers import LOCAL_TENANT
from fairroll.cli.output import EXIT_GOOD, print_json, print_lines, read_file
from fairroll.cli.rest_client import call
from fairroll.cli.roll import default_server
from fairroll.errors import RequestError, ServiceError, WrongUseError
from fairroll.kept import draw, open_for, refuse_past_rounds
from fairroll.offer import Commit, Offer, Offered, OfferedAnchor, OfferedRound, open_offer, read_offer
from fairroll.v1 import session_pb2

_EPILOG = """\
in order, with two players and a game master:
  each player       fairroll offer draw ann.json                               prints a commit
  the game master   fairroll offer new --table crypt --commit HEX --commit HEX --save offer.json
  all               fairroll offer check offer.json                            shows it; compare its digest
  each player       fairroll offer open offer.json --entropy ann.json          keeps the offer, prints the entropy
  anybody           fairroll offer check offer.json --opened HEX --opened HEX --session session.json
Afterwards `fairroll verify RECEIPTS --root KEY --mine ann.json` grants level L1 against the offer that was kept."""


clock = partial(datetime.now, UTC)
"""By which a beacon's round is still to come."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `draw`, `new`, `open` and `check`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    commands = parser.add_subparsers(metavar="ACTION", required=True)
    drawing = commands.add_parser("draw", help="draw fresh entropy into a private file and print its commit")
    drawing.add_argument("file", type=Path, help="the file; it must not exist yet")
    drawing.set_defaults(action=_draw)
    new = commands.add_parser("new", help="make the offer of a session; the order of contributions stays")
    new.add_argument("--table", required=True, help="the session's table")
    new.add_argument("--tenant", default=LOCAL_TENANT, help=f"whose rolls they will be; otherwise {LOCAL_TENANT}")
    new.add_argument("--origin", default="", help="the service's name; otherwise what the service says")
    new.add_argument("--vrf-key-id", default="", help="the session's VRF key; otherwise the service's active one")
    for kind, read, meaning in (
        ("commit", _commit, "a participant's commit, 64 hex digits"),
        ("anchor", _anchor, "the anchor of a co-seed chain, 64 hex digits"),
        ("beacon", _round, "a round of a drand beacon that is still to come: quicknet:ROUND or CHAINHASH:ROUND"),
    ):
        metavar = "BEACON:ROUND" if kind == "beacon" else "HEX"
        new.add_argument(
            f"--{kind}", dest="parts", action="append", type=read, default=[], metavar=metavar, help=meaning
        )
    new.add_argument("--save", type=Path, required=True, metavar="FILE", help="the offer; it must not exist yet")
    new.add_argument("--server", default=default_server(), help="the service's REST address")
    new.set_defaults(action=_new)
    opening = commands.add_parser("open", help="keep an offer, then print the entropy that it commits to")
    opening.add_argument("offer", help="the whole offer, as it is shown to all")
    opening.add_argument(
        "--entropy", type=Path, required=True, metavar="FILE", help="what `draw` wrote; keeps the offer"
    )
    opening.set_defaults(action=_open)
    check = commands.add_parser("check", help="show an offer; with what was opened, write the session it leaves")
    check.add_argument("offer", help="the offer")
    check.add_argument("--opened", type=_bytes, action="append", default=[], metavar="HEX", help="an opened entropy")
    check.add_argument(
        "--round", action="append", default=[], metavar="FILE", help="a beacon's round, as its relays show it in JSON"
    )
    check.add_argument("--session", type=Path, metavar="FILE", help="write the session; it must not exist yet")
    check.set_defaults(action=_check)
    for command in (drawing, new, opening, check):
        command.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Run the action that was named."""
    options.action(options)
    return EXIT_GOOD


def parse_offer(text: bytes) -> Offer:
    """Read an offer's file.

    Raises:
        RequestError: it is none, in any respect; `field` says where.
    """
    return read_offer(json_codec.loads(session_pb2.Offer, text))


def _draw(options: argparse.Namespace) -> None:
    kept = draw(options.file)
    _print(options, {"commit": kept.commit.hex()}, [kept.commit.hex()])


def _new(options: argparse.Namespace) -> None:
    _require_parts(options.parts)
    origin, key = options.origin, options.vrf_key_id
    if not (origin and key):
        shown = _key_list(options.server)
        origin, key = origin or shown[0], key or shown[1]
    offer = Offer(origin, options.tenant, options.table, key, tuple(options.parts))
    refuse_past_rounds(offer, clock())
    files.create(options.save, json_codec.dumps(offer.message()) + b"\n", files.PUBLIC_FILE_MODE)
    _print(options, _value(offer), [*_lines(offer), f"saved     {options.save}"])


def _require_parts(parts: Sequence[Offered]) -> None:
    """Refuse an offer that would bind nobody, and what was taken from another participant or given twice.

    Raises:
        WrongUseError: NOTHING_OFFERED; CONFLICT.
    """
    if not parts:
        raise WrongUseError("NOTHING_OFFERED", "name what is offered with --commit, --anchor or --beacon")
    for number, part in enumerate(parts, 1):
        if part in parts[: number - 1]:
            raise WrongUseError(
                "CONFLICT",
                f"contribution {number} is there already; every participant draws entropy of their own",
                value=part.shown()[1:].hex(),
            )


def _open(options: argparse.Namespace) -> None:
    offer = parse_offer(read_file(options.offer))
    kept = open_for(options.entropy, offer, clock())
    _print(options, _value(offer) | {"opened": kept.entropy.hex()}, [kept.entropy.hex()])


def _check(options: argparse.Namespace) -> None:
    offer = parse_offer(read_file(options.offer))
    if not (options.opened or options.round or options.session):
        _print(options, _value(offer), _lines(offer))
        return
    rounds, notes = _rounds(options.round, offer)
    session = open_offer(offer, options.opened, rounds)
    if options.session is not None:
        files.create(options.session, json_codec.dumps(session) + b"\n", files.PUBLIC_FILE_MODE)
        notes.append(f"saved     {options.session}")
    value = _value(offer) | {"session": json_codec.to_value(session)}
    _print(options, value, [*_lines(offer), "opened whole: the session is the one that this offer leaves", *notes])


def _print(options: argparse.Namespace, value: dict[str, Any], lines: Iterable[str]) -> None:
    if options.json:
        print_json(value)
    else:
        print_lines(lines)


def _value(offer: Offer) -> dict[str, Any]:
    return {"offer": json_codec.to_value(offer.message()), "digest": offer.digest}


def _lines(offer: Offer) -> list[str]:
    parts = (f"  {number} {_line(part)}" for number, part in enumerate(offer.contributions, 1))
    return [
        f"offer     {offer.digest}",
        f"session   origin {offer.origin}, tenant {offer.tenant}, table {offer.table}",
        f"VRF key   {offer.vrf_key_id}",
        *parts,
    ]


def _line(part: Offered) -> str:
    match part:
        case Commit(commit):
            return f"entropy  commit {commit.hex()}"
        case OfferedAnchor(anchor):
            return f"co-seed  anchor {anchor.hex()}"
        case OfferedRound(chain_hash, number):
            beacon = BEACONS.get(chain_hash)
            if beacon is None:
                return f"beacon   {chain_hash.hex()} round {number}"
            time = beacon.time_of(number).strftime("%Y-%m-%d %H:%M:%S")
            return f"beacon   {beacon.name} round {number}, published {time} UTC"


def _key_list(server: str) -> tuple[str, str]:
    """Return the origin of a service and the id of its newest active VRF key."""
    try:
        shown = call(server, "/v1/keys")["keyList"]
        active = [key for key in shown["keys"] if key["use"] == "KEY_USE_VRF" and key["status"] == "KEY_STATUS_ACTIVE"]
        return shown["origin"], max(active, key=lambda key: int(key["epoch"]))["keyId"]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ServiceError("SERVICE_UNREADABLE", f"what answers at {server} is not fairroll", value=server) from None


def _rounds(names: Sequence[str], offer: Offer) -> tuple[dict[OfferedRound, session_pb2.BeaconRound], list[str]]:
    """Return the rounds that were given by what the offer shows of them, and what could not be checked."""
    offered = {part.round: part for part in offer.contributions if isinstance(part, OfferedRound)}
    rounds: dict[OfferedRound, session_pb2.BeaconRound] = {}
    notes: list[str] = []
    for name in names:
        number, randomness, signature = _relayed(read_file(name), name)
        if number not in offered:
            raise RequestError("OPENING_UNKNOWN", f"the offer names no round {number}", field=name, value=str(number))
        part = offered[number]
        message = session_pb2.BeaconRound(
            chain_hash=part.chain_hash, round=number, randomness=randomness, signature=signature
        )
        if unchecked := check_round(message):
            notes.append(f"round {number}: {unchecked}")
        rounds[part] = message
    return rounds, notes


def _relayed(text: bytes, name: str) -> tuple[int, bytes, bytes]:
    """Read a round as the relays of a drand beacon show it: `{"round":1000,"randomness":"fe29..","signature":".."}`."""
    value = strict_json.parse(text)
    try:
        if not isinstance(value, dict):
            raise TypeError
        return (
            strict_json.integer(value["round"], "round"),
            bytes.fromhex(value["randomness"]),
            bytes.fromhex(value["signature"]),
        )
    except (KeyError, TypeError, ValueError):
        raise RequestError("ROUND_UNREADABLE", "a round has round, randomness and signature", field=name) from None


def _bytes(text: str) -> bytes:
    try:
        value = bytes.fromhex(text)
    except ValueError:
        value = b""
    if len(value) != 32:
        raise argparse.ArgumentTypeError("write 64 hex digits")
    return value


def _commit(text: str) -> Offered:
    return Commit(_bytes(text))


def _anchor(text: str) -> Offered:
    return OfferedAnchor(_bytes(text))


def _round(text: str) -> Offered:
    name, _, number = text.partition(":")
    if not number.isascii() or not number.isdigit() or len(number) > 20:
        raise argparse.ArgumentTypeError("write quicknet:ROUND, or a chain hash and a round")
    known = {beacon.name: chain_hash for chain_hash, beacon in BEACONS.items()}
    if name not in known and len(name) != 64:
        raise argparse.ArgumentTypeError(
            f"no beacon is called {name!r} here: write {', '.join(known)}, or its chain hash"
        )
    chain_hash = known.get(name) or _bytes(name)
    try:
        return OfferedRound(chain_hash, int(number))
    except RequestError as error:
        raise argparse.ArgumentTypeError(error.message) from None
