"""Rounds of public drand beacons: the signature of one, checked offline (protocol section 1).

https://drand.love. A round of an unchained beacon is a BLS signature of its number by the beacon's members together:
nobody could know it before its time, and nobody can choose it. `randomness = SHA-256(signature)`. Beacons are known
here by their chain hash; the key and the clock of each are facts that its members published.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256

from fairroll.errors import RequestError
from fairroll.v1 import session_pb2


@dataclass(frozen=True, slots=True)
class Beacon:
    """A drand beacon of the scheme `bls-unchained-g1-rfc9380`: signatures on G1, the public key on G2.

    Attributes:
        name: what its members call it.
        chain_hash: by which contributions name it, 32 bytes.
        public_key: 96 bytes, compressed.
        genesis: when round 1 was published, in seconds of Unix time.
        period_seconds: from one round to the next.
    """

    name: str
    chain_hash: bytes
    public_key: bytes
    genesis: int
    period_seconds: int

    def next_round(self, now: datetime) -> int:
        """Return the number of the first round that is not published yet."""
        return max(0, (int(now.timestamp()) - self.genesis) // self.period_seconds + 1) + 1

    def time_of(self, number: int) -> datetime:
        """Return when a round is published, in UTC; the last moment of the calendar for one beyond it."""
        seconds = self.genesis + (number - 1) * self.period_seconds
        last = datetime.max.replace(tzinfo=UTC)
        return datetime.fromtimestamp(seconds, UTC) if seconds < last.timestamp() else last


QUICKNET = Beacon(
    name="quicknet",
    chain_hash=bytes.fromhex("52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"),
    public_key=bytes.fromhex(
        "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
        "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
    ),
    genesis=1_692_803_367,
    period_seconds=3,
)
BEACONS = {beacon.chain_hash: beacon for beacon in (QUICKNET,)}

_DOMAIN = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"


def refuse_published(chain_hash: bytes, number: int, now: datetime) -> None:
    """Return if a round does not exist yet, or nobody here knows when it will.

    Raises:
        RequestError: ROUND_PAST.
    """
    beacon = BEACONS.get(chain_hash)
    if beacon is not None and beacon.time_of(number) <= now:
        raise RequestError(
            "ROUND_PAST",
            f"round {number} of {beacon.name} is published already, and whoever chose it may have seen it",
            value=str(number),
            hint=f"the first round that is still to come is {beacon.next_round(now)}",
        )


NOT_INSTALLED = "not checked: install fairroll[beacon]"


def check_round(message: session_pb2.BeaconRound) -> str:
    """Return why the round of a beacon could not be judged; "" where it is what the beacon published.

    Raises:
        RequestError: BEACON_INVALID, the beacon published something else.
    """
    beacon = BEACONS.get(message.chain_hash)
    if not message.signature:
        return "not checked: the round stands there without its signature"
    if sha256(message.signature).digest() != message.randomness:
        raise _invalid("the randomness is not that of the signature", message)
    if beacon is None:
        return f"not checked: this verifier does not know the beacon {message.chain_hash.hex()}"
    signed = _signed(beacon, message.round, message.signature)
    if signed is False:
        raise _invalid(f"the signature is not that of {beacon.name} for the round", message)
    return NOT_INSTALLED if signed is None else ""


@lru_cache(maxsize=1024)
def _signed(beacon: Beacon, number: int, signature: bytes) -> bool | None:
    """Whether e(signature, g2) = e(H(round), public key); None without the library that can say."""
    try:
        from py_arkworks_bls12381 import GT, G1Point, G2Point  # noqa: PLC0415  an optional extra
    except ModuleNotFoundError:
        return None
    try:
        point = G1Point.from_compressed_bytes(signature)
    except ValueError:
        return False
    hashed = G1Point.hash_to_curve(sha256(number.to_bytes(8, "big")).digest(), _DOMAIN)
    key = G2Point.from_compressed_bytes(beacon.public_key)
    return point != G1Point.identity() and GT.pairing_check([point, -hashed], [G2Point(), key])


def _invalid(message: str, shown: session_pb2.BeaconRound) -> RequestError:
    return RequestError("BEACON_INVALID", message, field="beacon_round", value=str(shown.round))
