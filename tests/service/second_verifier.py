"""A second verifier, written from docs/protocol.md: it shares no code with the first, and no cryptographic library.

Of the project it uses what any other implementer would generate: the messages of proto/. Rounds of a beacon are judged
by `second_pairing`. Its only rules are sums, kept and exploding dice of notation; of every other check it says that it
does not recompute it.
"""

from __future__ import annotations

import hmac
import json
import re
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256, sha512
from typing import Any

from google.protobuf import unknown_fields
from google.protobuf.message import DecodeError, Message

from fairroll.v1 import outcome_pb2, roll_pb2
from tests.service import second_pairing

RECORD = "application/vnd.fairroll.roll-record.v1+protobuf"
KEY_LIST = "application/vnd.fairroll.key-list.v1+json"
HEX = re.compile("[0-9a-f]{64}")
QUICKNET = bytes.fromhex("52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971")
QUICKNET_KEY = bytes.fromhex(
    "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
    "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
)
BEACON_DOMAIN = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
ALGORITHMS = {"vrf": "ECVRF-EDWARDS25519-SHA512-TAI", "receipt": "Ed25519"}


class Failed(Exception):
    """A step does not hold; its number is the argument."""


class NotJudged(Exception):
    """The last step cannot be judged here."""


def require(step: int, held: object) -> None:
    """Fail at a step, unless."""
    if not held:
        raise Failed(step)


# The curve: x = X/Z, y = Y/Z, xy = T/Z (RFC 8032, 5.1.4)

P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
Point = tuple[int, int, int, int]
ZERO: Point = (0, 1, 1, 0)


def add(a: Point, b: Point) -> Point:
    """Add two points."""
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    w, x, y, z = f - e, h - g, h + g, f + e
    return w * x % P, y * z % P, x * y % P, w * z % P


def times(n: int, point: Point) -> Point:
    """Multiply a point."""
    result = ZERO
    while n:
        if n & 1:
            result = add(result, point)
        point, n = add(point, point), n >> 1
    return result


def same(a: Point, b: Point) -> bool:
    """Whether two are one point."""
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def negative(a: Point) -> Point:
    """The other point with this y."""
    return -a[0] % P, a[1], a[2], -a[3] % P


def encode(a: Point) -> bytes:
    """32 bytes of a point."""
    inverse = pow(a[2], -1, P)
    return (a[1] * inverse % P | (a[0] * inverse % P & 1) << 255).to_bytes(32, "little")


def decode(text: bytes) -> Point | None:
    """The point of 32 bytes, if they are canonical."""
    number = int.from_bytes(text, "little")
    y, sign = number & 2**255 - 1, number >> 255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square or (x == 0 and sign):
        return None
    x = x if x & 1 == sign else P - x
    return x, y, 1, x * y % P


BASE = decode((4 * pow(5, -1, P) % P).to_bytes(32, "little")) or ZERO


def ed25519(public_key: bytes, signed: bytes, signature: bytes) -> bool:
    """RFC 8032, 5.1.7, without cofactor."""
    a, r = decode(public_key), decode(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or len(signature) != 64 or s >= Q:
        return False
    k = int.from_bytes(sha512(signature[:32] + public_key + signed).digest(), "little") % Q
    return same(times(s, BASE), add(r, times(k, a)))


def beta_of(public_key: bytes, alpha: bytes, proof: bytes) -> bytes | None:
    """Section 2: strict ECVRF."""
    if len(proof) != 80:
        return None
    y, gamma = decode(public_key), decode(proof[:32])
    c, s = int.from_bytes(proof[32:48], "little"), int.from_bytes(proof[48:], "little")
    if y is None or gamma is None or not c or not 0 < s < Q:
        return None
    if any(same(point, ZERO) or not same(times(Q, point), ZERO) for point in (y, gamma)):
        return None
    for counter in range(256):
        candidate = decode(sha512(b"\3\1" + public_key + alpha + bytes([counter, 0])).digest()[:32])
        if candidate is not None and not same(times(8, candidate), ZERO):
            break
    else:
        return None
    h = times(8, candidate)
    u = add(times(s, BASE), negative(times(c, y)))
    v = add(times(s, h), negative(times(c, gamma)))
    points = b"".join(map(encode, (y, h, gamma, u, v)))
    if int.from_bytes(sha512(b"\3\2" + points + b"\0").digest()[:16], "little") != c:
        return None
    return sha512(b"\3\3" + encode(times(8, gamma)) + b"\0").digest()


# Hashes


def th(tag: str, *parts: bytes) -> bytes:
    """TH of the conventions."""
    return sha256(b"".join(len(part).to_bytes(4, "big") + part for part in (tag.encode(), *parts))).digest()


def key_id(use: str, public_key: bytes) -> str:
    """Section 5."""
    return urlsafe_b64encode(th("fairroll/v1/key", use.encode(), public_key)).decode().rstrip("=")


def pae(envelope: dict[str, Any]) -> bytes:
    """Section 4."""
    kind, payload = envelope["payloadType"].encode(), b64decode(envelope["payload"])
    return b" ".join((b"DSSEv1", b"%d" % len(kind), kind, b"%d" % len(payload), payload))


def digest_of(envelope: dict[str, Any]) -> str:
    """Section 4."""
    return sha256(pae(envelope)).hexdigest()


# Step 0


def listed(envelope: dict[str, Any], root: bytes) -> dict[str, Any]:
    """The key list that the root signed."""
    require(0, envelope["payloadType"] == KEY_LIST and len(envelope["signatures"]) == 1)
    (signature,) = envelope["signatures"]
    require(0, signature["keyid"] == key_id("root", root))
    require(0, ed25519(root, pae(envelope), b64decode(signature["sig"])))
    payload = b64decode(envelope["payload"])
    keys: dict[str, Any] = json.loads(payload)
    names = ["key_id", "use", "alg", "public_key", "epoch", "status", "development"]
    require(0, list(keys) == ["origin", "list_version", "keys"] and type(keys["list_version"]) is int)
    require(0, json.dumps(keys, ensure_ascii=False, separators=(",", ":")).encode() == payload)
    for key in keys["keys"]:
        public = b64decode(key["public_key"])
        require(0, list(key) == names and key["use"] in ALGORITHMS and key["alg"] == ALGORITHMS[key["use"]])
        require(0, key["key_id"] == key_id(key["use"], public) and len(public) == 32 and public != root)
        require(0, key["status"] in ("active", "retired", "revoked") and type(key["development"]) is bool)
    publics = [key["public_key"] for key in keys["keys"]]
    require(0, len(set(publics)) == len(publics))
    return keys


# Steps 1 to 7


@dataclass
class Receipt:
    """What steps 1 to 7 found."""

    record: roll_pb2.RollRecord
    digest: str
    session_id: bytes
    request_digest: str
    beta: bytes


def read(envelope: dict[str, Any], keys: dict[str, Any]) -> Receipt:
    """Take steps 1 to 7."""
    require(1, envelope["payloadType"] == RECORD and len(envelope["signatures"]) == 1)
    (signature,) = envelope["signatures"]
    signer = [key for key in keys["keys"] if key["use"] == "receipt" and key["key_id"] == signature["keyid"]]
    require(1, signer)
    require(1, ed25519(b64decode(signer[0]["public_key"]), pae(envelope), b64decode(signature["sig"])))

    payload = b64decode(envelope["payload"])
    record = parsed(payload)
    request, session = record.request, record.session

    require(3, record.receipt_key_id == signer[0]["key_id"] and session.origin == keys["origin"])
    vrf = [key for key in keys["keys"] if key["key_id"] == session.vrf_key_id]
    require(3, vrf and "revoked" not in (vrf[0]["status"], signer[0]["status"]))

    parts = list(hashed_parts(session))
    names = [each.encode() for each in (session.origin, session.tenant, session.table)]
    require(4, all(1 <= len(name) <= 200 for name in names) and request.seq < 2**53)
    require(4, sum(part[0] == 3 for part in parts) <= 4 and len(parts) <= 32)
    one_off = session.table.startswith("one-off/")
    require(4, not one_off or (re.fullmatch("one-off/[0-9a-f]{64}", session.table) and not parts and not request.seq))
    if request.request_id:
        value = th("fairroll/v1/one-off", names[1], request.request_id.encode())
        require(4, session.table == "one-off/" + value.hex())
    public_key = b64decode(vrf[0]["public_key"])
    session_id = th("fairroll/v1/session", *names, public_key, *parts)

    anchors = [part[1:] for part in parts if part[0] == 3]
    require(5, len(anchors) == len(request.reveals) and (not anchors or request.seq < 4096))
    for anchor, reveal in zip(anchors, request.reveals, strict=True):
        require(5, len(reveal) == 32)
        value = reveal
        for _ in range(request.seq + 1):
            value = th("fairroll/v1/chain", value)
        require(5, value == anchor)
    co = th("fairroll/v1/co", *request.reveals) if anchors else bytes(32)

    require(6, vrf[0]["use"] == "vrf")
    alpha = b"fairroll/v1/alpha\0" + session_id + request.seq.to_bytes(8, "big") + co
    beta = beta_of(public_key, alpha, record.proof)
    require(6, beta)

    require(7, sum(len(each.draws) for each in record.outcomes) <= 10_000)
    for index, outcome in enumerate(record.outcomes):
        stream = words(beta or b"", index)
        require(7, all(1 <= draw.sides <= 2**31 for draw in outcome.draws))
        require(7, all(draw.face == drawn(stream, draw.sides) for draw in outcome.draws))

    asked = roll_pb2.RollRequest.FromString(request.SerializeToString())
    asked.ClearField("reveals")
    request_digest = th("fairroll/v1/request", session_id, asked.SerializeToString(deterministic=True)).hex()
    return Receipt(record, digest_of(envelope), session_id, request_digest, beta or b"")


def parsed(payload: bytes) -> roll_pb2.RollRecord:
    """Step 2."""
    require(2, len(payload) <= 2**20)
    try:
        record = roll_pb2.RollRecord.FromString(payload)
    except DecodeError:
        raise Failed(2) from None
    require(2, record.protocol_minor == 1)
    require(2, not has_unknown(record) and record.SerializeToString(deterministic=True) == payload)
    request = record.request
    require(2, record.HasField("session") and record.HasField("request"))
    require(2, not request.HasField("session") and not request.chain and not request.cited)
    require(2, HEX.fullmatch(request.previous))
    require(2, request.seq or request.previous == "0" * 64)
    answer = [bool(request.root), bool(request.continues), bool(request.answers)]
    require(2, not any(answer) or all(answer))
    require(2, request.close + bool(request.checks) + all(answer) == 1)
    require(2, len(record.outcomes) == (len(request.checks) or all(answer)))
    require(2, record.guard_mode in roll_pb2.GuardMode.values()[1:])
    return record


def has_unknown(message: Message) -> bool:
    """Whether a field that the contract lacks stands anywhere."""
    if len(unknown_fields.UnknownFieldSet(message)):
        return True
    inner = [value for _, value in message.ListFields()]
    each = [part for value in inner for part in (value if hasattr(value, "append") else [value])]
    return any(isinstance(part, Message) and has_unknown(part) for part in each)


def hashed_parts(session: Any) -> Iterator[bytes]:  # noqa: ANN401  a message
    """Section 1: what is hashed of each contribution."""
    for part in session.contributions:
        kind = part.WhichOneof("kind")
        if kind == "beacon_round":
            of = part.beacon_round
            require(4, len(of.chain_hash) == len(of.randomness) == 32 and of.round)
            yield b"\2" + of.chain_hash + of.round.to_bytes(8, "big") + of.randomness
        else:
            value = getattr(part, kind) if kind else b""
            require(4, len(value) == 32)
            yield (b"\1" if kind == "entropy" else b"\3") + value


def words(beta: bytes, check: int) -> Iterator[int]:
    """Section 3: the stream of one check."""
    block = 0
    while True:
        label = b"fairroll/v1/stream\0" + check.to_bytes(4, "big") + block.to_bytes(4, "big")
        digest = hmac.digest(beta, label, "sha256")
        yield from (int.from_bytes(digest[at : at + 4], "big") for at in range(0, 32, 4))
        block += 1


def drawn(stream: Iterator[int], sides: int) -> int:
    """Section 3: the next face."""
    return next(word for word in stream if word < 2**32 - 2**32 % sides) % sides + 1


# Step 8


def judge(receipt: Receipt, chain: list[dict[str, Any]], keys: dict[str, Any]) -> None:
    """Take step 8, as far as rules are known here."""
    request = receipt.record.request
    if request.answers:
        judge_chain(receipt, chain, keys)
        raise NotJudged  # no rule that asks is known here
    require(8, not chain)
    unknown, left = False, 10_000
    for index, (check, outcome) in enumerate(zip(request.checks, receipt.record.outcomes, strict=True)):
        system = check.WhichOneof("system")
        named = re.fullmatch(r"([a-z0-9_]+)/[1-9][0-9]{0,8}", outcome.engine)
        require(8, named and named[1] == system)
        wanted = None
        if outcome.engine == "notation/1":
            wanted = recomputed(check.notation, words(receipt.beta, index), left)
        unknown |= wanted is None
        require(8, wanted is None or wanted == outcome)
        left -= len(outcome.draws)
    if unknown:
        raise NotJudged


def judge_chain(receipt: Receipt, chain: list[dict[str, Any]], keys: dict[str, Any]) -> None:
    """The links of an answer: section 6, step 8."""
    if not chain:
        raise NotJudged
    try:
        parents = [read(each, keys) for each in chain]
    except Failed:
        raise Failed(8) from None
    rows = [*parents, receipt]
    root = parents[0].record
    require(8, len(root.request.checks) == 1)
    earlier: list[roll_pb2.Draw] = []
    for place, row in enumerate(rows):
        record, before = row.record, [each.digest for each in rows[:place]]
        outcome = record.outcomes[0]
        require(8, record.session == root.session and outcome.engine == root.outcomes[0].engine)
        require(8, row is receipt or outcome.status == roll_pb2.CHECK_STATUS_PENDING)
        if place:
            require(8, record.request.root == before[0] and record.request.continues == before[-1])
            require(8, record.request.seq > rows[place - 1].record.request.seq)
            waiting = {
                each.id: {option.id for option in each.options}
                for each in rows[place - 1].record.outcomes[0].decisions
                if not each.option_id
            }
            given = {each.decision_id: each.option_id for each in record.request.answers}
            require(8, given.keys() == waiting.keys() and all(given[each] in waiting[each] for each in given))
        require(8, list(outcome.earlier_draws) == earlier)
        earlier += outcome.draws


NOTATION = re.compile(r"([0-9]*)d([0-9]+)(?:(!)|(kh|kl)([0-9]+))?(?: ?([+-]) ?([0-9]+))?")


def recomputed(check: Any, stream: Iterator[int], left: int) -> roll_pb2.CheckOutcome | None:  # noqa: ANN401  a message
    """What sums, kept and exploding dice give while draws are left; None for what is not known here."""
    match = NOTATION.fullmatch(check.text)
    if match is None or check.variables or check.HasField("rounding"):
        return None
    count, sides, explode, keep, kept, sign, constant = match.groups()
    require(8, int(sides))
    draws: list[roll_pb2.Draw] = []
    whole = all(thrown(int(sides), bool(explode), stream, draws, left) for _ in range(int(count or 1)))
    outcome = roll_pb2.CheckOutcome(engine="notation/1", draws=draws)
    if not whole:
        outcome.status = roll_pb2.CHECK_STATUS_LIMIT_REACHED
        return outcome
    faces = [draw.face for draw in draws]
    order = sorted(range(len(faces)), key=lambda each: faces[each], reverse=keep != "kl")
    stays = set(order[: int(kept)] if keep else order)
    total = sum(faces[each] for each in stays) + int(constant or 0) * (-1 if sign == "-" else 1)
    outcome.status = roll_pb2.CHECK_STATUS_RESOLVED
    outcome.notation.exact, outcome.notation.total = str(total), total
    for index, face in enumerate(faces):
        fates = [outcome_pb2.FATE_EXPLODED] if explode and face == int(sides) else []
        fates.append(outcome_pb2.FATE_KEPT if index in stays else outcome_pb2.FATE_DROPPED)
        outcome.notation.dice.add(draw=index, value=face, fates=fates)
    return outcome


def thrown(sides: int, explode: bool, stream: Iterator[int], draws: list[roll_pb2.Draw], left: int) -> bool:
    """Throw a die, and again while its top face shows; False where draws are used up, or one die had too many."""
    for again in range(101):
        if len(draws) == left:
            return False
        face = drawn(stream, sides)
        draw = roll_pb2.Draw(
            sides=sides, face=face, purpose=roll_pb2.PURPOSE_EXPLODE if again else roll_pb2.PURPOSE_ROLL
        )
        if again:
            draw.of = len(draws) - 1
        draws.append(draw)
        if not (explode and face == sides):
            return True
    return False


def verdict(bundle: dict[str, Any], root: bytes) -> tuple[int, str]:
    """The last step of a bundle, and how it ended."""
    try:
        keys = listed(bundle["keyList"], root)
        judge(read(bundle["envelope"], keys), bundle["chain"], keys)
    except Failed as failed:
        return failed.args[0], "fails"
    except NotJudged:
        return 8, "cannot be judged"
    return 8, "holds"


# Sessions


def session_findings(receipts: Iterable[Receipt], sealed: dict[int, str]) -> list[tuple[str, int]]:
    """Section 6: what only receipts beside one another show."""
    rows = sorted(receipts, key=lambda each: each.record.request.seq)
    at: dict[int, list[Receipt]] = {}
    for row in rows:
        at.setdefault(row.record.request.seq, []).append(row)
    found = [("SEQ_TWICE", seq) for seq, same_seq in at.items() if len(same_seq) > 1]
    there = {*at, *sealed}
    found += [("SEQ_MISSING", seq + 1) for seq in [-1, *there] if seq + 1 not in there and seq < max(there)]
    found += [("SEAL_DIFFERS", seq) for seq in at if seq in sealed and sealed[seq] not in {x.digest for x in at[seq]}]
    by_digest = {row.digest: row for row in rows}
    answered: dict[int, set[str]] = {}
    closes = [seq for seq, same_seq in at.items() if any(each.record.request.close for each in same_seq)]
    for row in rows:
        request = row.record.request
        before = {each.digest for each in at.get(request.seq - 1, ())}
        if not before and request.seq - 1 in sealed:
            before = {sealed[request.seq - 1]}
        if before and request.previous not in before:
            found.append(("PREVIOUS_DIFFERS", request.seq))
        if request.continues in by_digest:
            answered.setdefault(by_digest[request.continues].record.request.seq, set()).add(row.digest)
        if closes and request.seq > min(closes):
            found.append(("AFTER_CLOSE", request.seq))
    return found + [("BRANCH", seq) for seq, answers in answered.items() if len(answers) > 1]


def round_judged(shown: Any) -> bool | None:  # noqa: ANN401  a message
    """Section 1: whether a beacon signed a round so; None where that cannot be said."""
    if not shown.signature:
        return None
    if sha256(shown.signature).digest() != shown.randomness:
        return False
    if shown.chain_hash != QUICKNET:
        return None
    message = sha256(shown.round.to_bytes(8, "big")).digest()
    return second_pairing.signed(QUICKNET_KEY, message, shown.signature, BEACON_DOMAIN)


def opens(offer: dict[str, Any], session: Any) -> bool:  # noqa: ANN401  a message
    """Section 1: whether a session is the one that an offer leaves."""
    shown = []
    for part in offer.get("contributions", []):
        if "commit" in part:
            shown.append(b"\1" + b64decode(part["commit"]))
        elif "anchor" in part:
            shown.append(b"\3" + b64decode(part["anchor"]))
        else:
            of = part["beaconRound"]
            shown.append(b"\2" + b64decode(of["chainHash"]) + int(of["round"]).to_bytes(8, "big"))
    own = list(map(shown_of, hashed_parts(session)))
    return bool(offer["vrfKeyId"] == session.vrf_key_id and shown == own)


def shown_of(part: bytes) -> bytes:
    """What an offer shows of a contribution: of entropy a commit, of a round no randomness, of an anchor itself."""
    if part[0] == 1:
        return b"\1" + th("fairroll/v1/commit", part[1:])
    return part[:41] if part[0] == 2 else part


def session_verdict(
    bundles: Iterable[dict[str, Any]],
    root: bytes,
    offers: list[dict[str, Any]],
    logs: list[dict[str, Any]],
    seals: list[dict[str, Any]],
) -> tuple[str, list[tuple[str, int]]]:
    """The level of a session, and what is wrong with it."""
    receipts = [read(each["envelope"], listed(each["keyList"], root)) for each in bundles]
    session = receipts[0].record.session
    sealed = {int(each["seq"]): each["digest"] for each in seals if each["session"]["table"] == session.table}
    found = session_findings(receipts, sealed)
    waits = sealed.keys() - {each.record.request.seq for each in receipts}
    place = (session.origin, session.tenant, session.table)
    named = [each for each in offers if (each["origin"], each["tenant"], each["table"]) == place]
    if named and not any(opens(each, session) for each in named):
        found.append(("OFFER_NOT_OPENED", 0))
    rounds = [round_judged(part.beacon_round) for part in session.contributions if part.HasField("beacon_round")]
    found += [("BEACON_INVALID", 0) for judged in rounds if judged is False]
    anchors = [part.anchor for part in session.contributions if part.HasField("anchor")]
    own = [each for each in logs if b64decode(each["anchor"]) in anchors]
    for log in own:
        given = {int(each["seq"]): each["requestDigest"] for each in log["reveals"]}
        asked = {each.record.request.seq: each.request_digest for each in receipts}
        found += [("REVEAL_NOT_GIVEN", seq) for seq in asked.keys() - given.keys()]
        found += [("REVEAL_WITHOUT_RECEIPT", seq) for seq in given.keys() - asked.keys()]
        found += [("REVEAL_DIFFERS", seq) for seq in asked.keys() & given.keys() if asked[seq] != given[seq]]
    if found:
        return "", sorted(found, key=lambda each: each[1])
    if waits or not named or not session.contributions or None in rounds:
        return "L0", []
    if own:
        return "L3", []
    guarded = all(each.record.guard_mode != roll_pb2.GUARD_MODE_NONE for each in receipts)
    return "L2" if guarded else "L1", []
