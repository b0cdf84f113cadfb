"""The corpus for verifiers: good bundles of every kind, bundles with one defect each, and sessions.

    python -m tests.service.receipt_corpus        writes tests/vectors/receipts anew

Keys come from fixed seeds and nothing is drawn from anywhere else, so it always writes the same bytes. Which step must
fail stands here by hand, from the protocol, and is not asked of the code under test.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha512
from itertools import count
from json import dumps
from pathlib import Path
from typing import Any

from fairroll import json_codec
from fairroll.bundle import Bundle, format_bundle
from fairroll.envelope import (
    KEY_LIST_TYPE,
    ROLL_RECORD_TYPE,
    Signature,
    format_envelope,
    sign_envelope,
)
from fairroll.key_list import Key, KeyList, KeyStatus, KeyUse, format_key_list, key_id, sign_key_list
from fairroll.receipt import serialise
from fairroll.signer import SigningKey
from fairroll.v1 import notation_pb2, roll_pb2, service_pb2
from tests.service import ecvrf_twin as twin
from tests.service.rolling import (
    ROOT,
    TENANT,
    bundle_of,
    epoch_keys,
    listed_with,
    notation,
    record_of,
    request,
    roller,
    seed,
    service_keys,
    signed,
)
from tests.service.sample_checks import SAMPLES
from tests.service.table_play import Table, bundle, group, remove
from tests.service.test_beacon import published
from tests.service.test_levels import CO_SEEDED, PLAIN, WITH_ROUND, OfferedTable, log_of, played
from tests.service.test_verify import LIES, answer

FOLDER = Path(__file__).resolve().parents[1] / "vectors" / "receipts"
COMMAND = "python -m tests.service.receipt_corpus"


@dataclass(frozen=True)
class Good:
    """A bundle of which every step holds."""

    name: str
    bundle: Bundle


@dataclass(frozen=True)
class Bad:
    """A bundle with one defect; `step` is the first that does not hold, `judged` False where it cannot be judged."""

    name: str
    step: int
    bundle: Bundle
    judged: bool = True


@dataclass(frozen=True)
class Played:
    """Bundles of one session, what an auditor kept beside them, and what they come to."""

    name: str
    receipts: Sequence[Bundle]
    level: str = ""
    findings: Sequence[tuple[str, int]] = ()
    kept: dict[str, bytes] = field(default_factory=dict)


# Good


def good() -> Iterator[Good]:
    """Yield bundles that hold: every roll of every system, every shape of record, every guard mode."""
    for number, sample in enumerate(SAMPLES):
        rolled = roller().roll(asked([sample.message()], table=f"{sample.name} {number}"), TENANT)
        yield Good(f"{sample.name}-{sample.roll}-{number:02}", bundle_of(rolled))
    yield Good("one-off-of-a-request-id", bundle_of(roller().roll(one_off("call-1"), TENANT)))
    yield Good("one-off-of-random-bytes", bundle_of(roller().roll(one_off(""), TENANT)))
    for name, mode in roll_pb2.GuardMode.items()[1:]:
        service = roller()
        service.guard_mode = mode
        yield Good(f"guard-{name.removeprefix('GUARD_MODE_').lower()}", bundle_of(service.roll(request("d20"), TENANT)))
    yield Good("later-seq", bundle_of(roller().roll(request("3d8", seq=7), TENANT)))
    yield Good("many-checks", bundle_of(answer("4d6kh3", "2d6!", "d100", "0d6", "6x{3d6}")))
    yield Good("limit-reached", bundle_of(answer(*["1000d2!"] * 9, "d6")))
    named = roll_pb2.Check(
        notation=notation_pb2.NotationCheck(text="d20 + 3"),
        label="Schlösser knacken",
        actor="Zoë 🎲",
        cites=["ab" * 32],
    )
    yield Good("named-and-citing", bundle_of(roller().roll(asked([named]), TENANT)))
    sides = [check for text in ("d1", "d999999", "d1000000") for check in notation(text)]
    yield Good("smallest-and-largest-dice", bundle_of(roller().roll(asked(sides), TENANT)))
    for name, check in (("one", remove()), ("several", group("Ann", "Bob", zero=True))):
        table = Table(name=f"decisions {name}")
        receipts = table.finish(check)
        for place in range(len(receipts)):
            kind = "waits" if place == 0 else "answers"
            yield Good(f"decision-{name}-{place}-{kind}", bundle(*receipts[: place + 1]))
    yield Good("close", bundle(closed(Table()).receipts[-1]))
    for name, offer in (("entropy", PLAIN), ("anchor", CO_SEEDED), ("beacon-round", WITH_ROUND)):
        yield Good(f"contribution-{name}", bundle(played(offer, rolls=2).receipts[-1]))
    for use in (KeyUse.VRF, KeyUse.RECEIPT):
        yield Good(f"retired-{use}-key", replace(bundle_of(answer()), key_list=listed_with(KeyStatus.RETIRED, use)))
    both = service_keys(epoch_keys(2), epoch_keys(1))
    yield Good("second-epoch", bundle_of(roller(both).roll(request("d20"), TENANT), both))


def asked(checks: Iterable[roll_pb2.Check], table: str = "table-42") -> roll_pb2.RollRequest:
    """A request of checks at seq 0."""
    return roll_pb2.RollRequest(session={"table": table}, checks=checks)  # type: ignore[arg-type]  # a dict of fields


def one_off(request_id: str) -> roll_pb2.RollRequest:
    """A request without a session."""
    return roll_pb2.RollRequest(checks=notation("2d6"), request_id=request_id)


def closed(table: Table) -> Table:
    """A table that rolled once and closed."""
    table.roll()
    closing = table.request()
    closing.close = True
    table.send(closing)
    return table


# One defect


def bad() -> Iterator[Bad]:
    """Yield bundles with one defect each, by the step that finds it."""
    yield from bad_lists()
    yield from bad_envelopes()
    yield from bad_payloads()
    for name, lie in LIES.items():
        record = record_of(answer())
        lie.change(record)
        yield Bad(name, int(lie.step), signed(record))
    for use in (KeyUse.VRF, KeyUse.RECEIPT):
        revoked = replace(bundle_of(answer()), key_list=listed_with(KeyStatus.REVOKED, use))
        yield Bad(f"a revoked {use} key", 3, revoked)
    for name, change in PROOFS.items():
        record = record_of(answer())
        record.proof = change(record.proof)
        yield Bad(name, 6, signed(record))
    yield Bad("a proof with a torsion part", 6, signed(with_torsion()))
    yield from bad_answers()
    yield from not_judged()


def bad_lists() -> Iterator[Bad]:
    """Key lists that do not hold."""
    whole = bundle_of(answer())
    listed = service_keys().key_list
    other = SigningKey(seed("other root"))
    yield Bad("a key list of another root", 0, replace(whole, key_list=sign_key_list(other, listed)))
    text = format_key_list(listed)
    root_id = key_id(KeyUse.ROOT, ROOT.public_key)
    envelope = service_keys().envelope
    flipped = replace(envelope, payload=text.replace(b'"active"', b'"Active"', 1))
    yield Bad("a key list that was changed", 0, replace(whole, key_list=flipped))
    changes = {
        "a key list with a space": text.replace(b",", b", ", 1),
        "a key list with an unknown member": text.replace(b'{"origin"', b'{"expires":"2030","origin"', 1),
        "a key list with a key id of another key": text.replace(listed.keys[0].key_id.encode(), b"A" * 43),
        "a key list with a status that there is not": text.replace(b'"active"', b'"trusted"', 1),
        "a key list with a member twice": text.replace(b'"list_version":1', b'"list_version":1,"list_version":1', 1),
    }
    for name, payload in changes.items():
        yield Bad(name, 0, replace(whole, key_list=sign_envelope(KEY_LIST_TYPE, payload, root_id, ROOT)))
    wrong = sign_envelope("application/json", text, root_id, ROOT)
    yield Bad("a key list of another type", 0, replace(whole, key_list=wrong))
    with_root = KeyList(listed.origin, 1, (*listed.keys, Key(KeyUse.RECEIPT, ROOT.public_key, 1)))
    yield Bad("a key list that lists its root", 0, replace(whole, key_list=sign_key_list(ROOT, with_root)))


def bad_envelopes() -> Iterator[Bad]:
    """Envelopes whose signature is not one."""
    whole = bundle_of(answer())
    envelope = whole.envelope
    (signature,) = envelope.signatures
    keys = epoch_keys()
    flipped = bytes([signature.sig[0] ^ 1]) + signature.sig[1:]
    other = epoch_keys(2)
    vrf_signed = sign_envelope(ROLL_RECORD_TYPE, envelope.payload, keys.vrf_key_id, SigningKey(seed("vrf-1")))
    changed = {
        "a payload that was changed": replace(envelope, payload=envelope.payload[:-1] + b"\x02"),
        "a signature that was changed": replace(envelope, signatures=(Signature(signature.keyid, flipped),)),
        "a signature with s + q": replace(envelope, signatures=(Signature(signature.keyid, plus_q(signature.sig)),)),
        "a signature cut short": replace(envelope, signatures=(Signature(signature.keyid, signature.sig[:-1]),)),
        "no signature": replace(envelope, signatures=()),
        "two signatures": replace(envelope, signatures=(signature, signature)),
        "a key id that is not listed": replace(envelope, signatures=(Signature("A" * 43, signature.sig),)),
        "a signature of another key": sign_envelope(
            ROLL_RECORD_TYPE, envelope.payload, keys.receipt_key_id, other.receipt
        ),
        "a signature of the VRF key": vrf_signed,
        "another payload type": sign_envelope("application/json", envelope.payload, keys.receipt_key_id, keys.receipt),
    }
    yield from (Bad(name, 1, replace(whole, envelope=each)) for name, each in changed.items())


def plus_q(signature: bytes) -> bytes:
    """The same equation with a scalar that is not reduced: RFC 8032 refuses it."""
    return signature[:32] + (int.from_bytes(signature[32:], "little") + twin.Q).to_bytes(32, "little")


def bad_payloads() -> Iterator[Bad]:
    """Payloads that are no record, or not its one spelling."""
    payload = serialise(record_of(answer()))
    newer = record_of(answer())
    newer.protocol_minor = 2
    payloads = {
        "an empty payload": b"",
        "a payload that is no record": b"not a record",
        "a payload cut short": payload[:-3],
        "fields in another order": payload[2:] + payload[:2],
        "a field twice": payload + b"\x08\x01",
        "an unknown field": payload + b"\xf8\x07\x01",
        "a default that is spelled out": payload + b"\x38\x00",
        "a number spelled with more bytes": b"\x08\x81\x00" + payload[2:],
        "a newer record with an unknown field": serialise(newer) + b"\xf8\x07\x01",
    }
    yield from (Bad(name, 2, signed(each)) for name, each in payloads.items())


def flipped_at(place: int) -> Callable[[bytes], bytes]:
    """A change of one bit."""
    return lambda proof: proof[:place] + bytes([proof[place] ^ 1]) + proof[place + 1 :]


PROOFS: dict[str, Callable[[bytes], bytes]] = {
    "a proof with another Gamma": flipped_at(0),
    "a proof with another c": flipped_at(32),
    "a proof with another s": flipped_at(48),
    "a proof with c zero": lambda proof: proof[:32] + bytes(16) + proof[48:],
    "a proof with s zero": lambda proof: proof[:48] + bytes(32),
    "a proof with s + q": lambda proof: (
        proof[:48] + (int.from_bytes(proof[48:], "little") + twin.Q).to_bytes(32, "little")
    ),
    "a proof whose Gamma is the identity": lambda proof: b"\x01" + bytes(31) + proof[32:],
    "a proof whose Gamma is not canonical": lambda proof: (2**255 - 18).to_bytes(32, "little") + proof[32:],
    "a proof with a byte too many": lambda proof: proof + b"\x00",
}


def with_torsion() -> roll_pb2.RollRecord:
    """A record whose Gamma has a part of order 8: the equations hold, and beta is the honest one."""
    record = record_of(answer())
    keys = epoch_keys()
    session_id = bytes.fromhex(bundle_session_id(record))
    alpha = b"fairroll/v1/alpha\x00" + session_id + bytes(8) + bytes(32)
    expanded = sha512(seed("vrf-1")).digest()
    x = int.from_bytes(expanded[:32], "little") & ~7 & ~(1 << 255) | 1 << 254
    _, h = twin.encode_to_curve(keys.vrf.public_key, alpha)
    gamma = twin.add(twin.times(x, h), order_8())
    k, c = 0, 1
    for number in count(1):
        k = int.from_bytes(sha512(number.to_bytes(8, "big")).digest(), "little") % twin.Q
        u, v = twin.times(k, twin.BASE), twin.times(k, h)
        c = twin.challenge(twin.times(x, twin.BASE), h, gamma, u, v)
        if c % 8 == 0:  # then c times the torsion part is nothing
            break
    record.proof = twin.encode(gamma) + c.to_bytes(16, "little") + ((k + c * x) % twin.Q).to_bytes(32, "little")
    return record


def bundle_session_id(record: roll_pb2.RollRecord) -> str:
    """The session id, from the detail of a verification."""
    from fairroll.verify import verify

    return verify(signed(record), ROOT.public_key).session_id.hex()


def order_8() -> twin.Point:
    """A point of order 8: a point of the whole curve times q."""
    for y in count(2):
        point = twin.decode(y.to_bytes(32, "little"))
        if point is not None:
            torsion = twin.times(twin.Q, point)
            if twin.times(4, torsion) != twin.IDENTITY:
                return torsion
    raise AssertionError


def bad_answers() -> Iterator[Bad]:
    """Answers whose chain is not theirs, or that say what their roll does not."""
    table = Table(name="decisions")
    receipts = table.finish(remove())
    whole = bundle(*receipts[:2])
    parent = whole.chain[0]
    (signature,) = parent.signatures
    flipped = replace(parent, signatures=(Signature(signature.keyid, bytes(64)),))
    other = Table(name="decisions")
    other.roll(group("Ann", "Bob"))
    stranger = Table(name="another table")
    stranger.roll(remove())
    record = record_of(receipts[1])
    record.request.answers[0].option_id = next(
        each.id
        for each in receipts[0].record.outcomes[0].decisions[0].options
        if each.id != record.request.answers[0].option_id
    )
    yield Bad("an answer whose parent is not signed", 8, replace(whole, chain=(flipped,)))
    yield Bad("an answer with another root", 8, replace(whole, chain=(bundle(other.receipts[0]).envelope,)))
    yield Bad(
        "an answer with a parent of another session", 8, replace(whole, chain=(bundle(stranger.receipts[0]).envelope,))
    )
    yield Bad("an answer with a parent too many", 8, replace(whole, chain=(parent, parent)))
    yield Bad("an answer that chose something else", 8, replace(signed(record), chain=whole.chain))
    yield Bad("a root with a chain", 8, replace(bundle_of(answer()), chain=(parent,)))
    earlier = record_of(receipts[1])
    del earlier.outcomes[0].earlier_draws[:]
    yield Bad("an answer without the draws before it", 8, replace(signed(earlier), chain=whole.chain))


def not_judged() -> Iterator[Bad]:
    """Receipts of which the last step cannot be judged: neither good nor forged."""
    table = Table(name="decisions")
    receipts = table.finish(remove())
    yield Bad("an answer without its parent", 8, replace(bundle(*receipts[:2]), chain=()), judged=False)
    record = record_of(answer())
    record.outcomes[0].engine = "notation/999"
    yield Bad("an engine that no verifier has", 8, signed(record), judged=False)


# Sessions


def sessions() -> Iterator[Played]:
    """Yield whole sessions at every level, and sessions of which something is missing or too much."""
    for offer, guarded, logged, level in (
        (PLAIN, False, False, "L1"),
        (PLAIN, True, False, "L2"),
        (WITH_ROUND, False, False, "L1"),
        (CO_SEEDED, False, False, "L1"),
        (CO_SEEDED, True, True, "L3"),
    ):
        table = played(offer, guarded=guarded, decision=offer is PLAIN)
        table.close()
        kept = {"offer": json_codec.dumps(offer.message())}
        if logged:
            kept["log"] = json_codec.dumps(log_of(table).message())
        kind = {id(PLAIN): "entropy", id(WITH_ROUND): "beacon", id(CO_SEEDED): "co-seeded"}[id(offer)]
        name = f"{level}-{kind}-{'guarded' if guarded else 'no-guard'}"
        yield Played(name, bundles(table), level, kept=kept)
        if offer is CO_SEEDED and logged:
            yield Played("L0-nothing-kept", bundles(table), "L0")
    sealing = played(PLAIN)
    seal = service_pb2.SealRollResponse(
        digest=sealing.receipts[1].digest, session=sealing.receipts[1].record.session, seq=1
    )
    kept = {"offer": json_codec.dumps(PLAIN.message()), "told": json_codec.dumps(seal)}
    yield Played("L0-one-roll-sealed", bundles(sealing, 1), "L0", kept=kept)
    yield Played("L1-the-sealed-roll-opened", bundles(sealing), "L1", kept=kept)
    seal.digest = "ab" * 32
    kept = {"told": json_codec.dumps(seal)}
    yield Played("another-receipt-than-the-sealed", bundles(sealing), findings=[("SEAL_DIFFERS", 1)], kept=kept)
    yield from broken_sessions()


def bundles(table: Table, *without: int) -> list[Bundle]:
    """The receipts of a table; answers bring no chain, it is among them."""
    return [bundle(each) for each in table.receipts if each.record.request.seq not in without]


def broken_sessions() -> Iterator[Played]:
    """Yield sessions each receipt of which holds, and that are not whole."""
    table = Table()
    for _ in range(4):
        table.roll()
    yield Played("seq-missing", bundles(table, 2), findings=[("SEQ_MISSING", 2)])
    yield Played("front-cut", bundles(table, 0), findings=[("SEQ_MISSING", 0)])
    again = Table(receipts=list(table.receipts[:2]))
    again.roll(notation("3d6")[0])
    twice = [*bundles(table), bundle(again.receipts[2])]
    yield Played("two-requests-for-one-seq", twice, findings=[("SEQ_TWICE", 2)])
    branch = Table()
    chain = [branch.roll(remove())]
    branch.send(branch.answering(chain, 0))
    branch.send(branch.answering(chain, 1))
    yield Played("one-decision-answered-twice", bundles(branch), findings=[("BRANCH", 0)])
    on = closed(Table())
    on.roll()
    yield Played("goes-on-after-its-close", bundles(on), findings=[("AFTER_CLOSE", 2)])
    wrong = Table(receipts=[table.receipts[0], again.receipts[2]])
    linked = [bundle(table.receipts[0]), bundle(table.receipts[1]), bundle(wrong.roll())]
    yield Played("another-receipt-before", linked, findings=[("PREVIOUS_DIFFERS", 2)])
    offered = played(PLAIN)
    entropy = {"offer": json_codec.dumps(replace(PLAIN, contributions=CO_SEEDED.contributions).message())}
    yield Played("another-offer", bundles(offered), findings=[("OFFER_NOT_OPENED", 0)], kept=entropy)
    # Round 1000 with what the beacon signed for another round: only the pairing tells.
    other = OfferedTable(roller(), offer=WITH_ROUND)
    other.session.contributions[1].beacon_round.CopyFrom(published(1000, signed_as=657413))
    other.roll()
    kept = {"offer": json_codec.dumps(WITH_ROUND.message())}
    yield Played("another-round-of-the-beacon", bundles(other), findings=[("BEACON_INVALID", 0)], kept=kept)
    seeded = played(CO_SEEDED)
    log = log_of(seeded).message()
    log.reveals[1].request_digest = "ab" * 32
    kept = {"offer": json_codec.dumps(CO_SEEDED.message()), "log": json_codec.dumps(log)}
    found = [("REVEAL_DIFFERS", 1), ("REVEAL_WITHOUT_RECEIPT", 2)]
    yield Played("another-request-than-announced", bundles(seeded, 2), findings=found, kept=kept)


# Files


def files() -> dict[str, bytes]:
    """Return every file of the corpus by its path below `FOLDER`."""
    made: dict[str, bytes] = {
        "keys.json": format_envelope(service_keys().envelope) + b"\n",
        "root.pub": ROOT.public_key.hex().encode() + b"\n",
    }
    index: dict[str, list[dict[str, Any]]] = {"good": [], "bad": [], "sessions": []}
    for each in good():
        path = f"good/{_slug(each.name)}.json"
        made[path] = format_bundle(each.bundle) + b"\n"
        index["good"].append({"file": path})
    for defect in bad():
        path = f"bad/{defect.step}-{_slug(defect.name)}.json"
        made[path] = format_bundle(defect.bundle) + b"\n"
        result = "fails" if defect.judged else "cannot be judged"
        index["bad"].append({"file": path, "step": defect.step, "result": result, "defect": defect.name})
    for session in sessions():
        path = f"sessions/{session.name}.jsonl"
        made[path] = b"".join(format_bundle(each) + b"\n" for each in session.receipts)
        kept = []
        for name, content in session.kept.items():
            kept.append(f"sessions/{session.name}.{name}.json")
            made[kept[-1]] = content + b"\n"
        found = [{"reason": reason, "seq": seq} for reason, seq in session.findings]
        index["sessions"].append({"file": path, "kept": kept, "level": session.level, "findings": found})
    made["index.json"] = dumps(index, indent=1).encode() + b"\n"
    return made


def _slug(name: str) -> str:
    return re.sub("[^a-z0-9]+", "-", name.lower().replace("2^53", "2-to-the-53")).strip("-")


def main() -> None:
    """Write the corpus in place of the one that is there."""
    made = files()
    shutil.rmtree(FOLDER, ignore_errors=True)
    for path, content in made.items():
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).write_bytes(content)


if __name__ == "__main__":
    main()
