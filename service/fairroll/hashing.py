"""The hashes of fairroll/v1 (protocol.md), each with its own domain label.

`TH(tag, x1..xn) = SHA-256(LP(tag) | LP(x1) | .. | LP(xn))`, `LP(x) = u32be(len x) | x`.
The lengths make every list of parts another string, the tag every purpose.
Everything here is bytes in, bytes out.
"""

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from hashlib import sha256

HASH_BYTES = 32
MAX_SEQ = 2**53 - 1

SESSION_TAG = b"fairroll/v1/session"
ALPHA_TAG = b"fairroll/v1/alpha"
STREAM_TAG = b"fairroll/v1/stream"
ONE_OFF_TAG = b"fairroll/v1/one-off"
OFFER_TAG = b"fairroll/v1/offer"
COMMIT_TAG = b"fairroll/v1/commit"
CHAIN_TAG = b"fairroll/v1/chain"
CO_TAG = b"fairroll/v1/co"
REQUEST_TAG = b"fairroll/v1/request"
KEY_TAG = b"fairroll/v1/key"

NO_REVEALS_CO = bytes(HASH_BYTES)
NO_PREVIOUS = bytes(HASH_BYTES).hex()


def lp(part: bytes) -> bytes:
    """Return the part with its length in bytes before it, u32 big-endian."""
    return len(part).to_bytes(4, "big") + part


def tagged_hash(tag: bytes, *parts: bytes) -> bytes:
    """TH: SHA-256 over the tag and the parts, each with its length; 32 bytes."""
    return sha256(b"".join(map(lp, (tag, *parts)))).digest()


def alpha(session_id: bytes, seq: int, co: bytes) -> bytes:
    """Return the VRF input of one seq, 90 bytes (protocol, first screen).

    Args:
        session_id: 32 bytes.
        seq: 0..2^53-1.
        co: 32 bytes, from `Session.co`.
    """
    return ALPHA_TAG + b"\x00" + session_id + seq.to_bytes(8, "big") + co


def co(reveals: Sequence[bytes]) -> bytes:
    """Return what the reveals, in anchor order, add to alpha (section 2); 32 bytes."""
    return tagged_hash(CO_TAG, *reveals) if reveals else NO_REVEALS_CO


_CHAIN_STEP_PREFIX = lp(CHAIN_TAG) + HASH_BYTES.to_bytes(4, "big")


def chain_back(value: bytes, steps: int) -> bytes:
    """Return the value so many steps nearer to the anchor of its co-seed chain.

    `e_i = TH("fairroll/v1/chain", e_(i+1))` (section 2). The prefix of that hash is
    made once: the walk is up to 4,096 steps for each anchor of a request.

    Args:
        value: 32 bytes.
        steps: 0..4096.
    """
    for _ in range(steps):
        value = sha256(_CHAIN_STEP_PREFIX + value).digest()
    return value


def commit(entropy: bytes) -> bytes:
    """Return what an offer shows of a participant's entropy (section 2, Offer)."""
    return tagged_hash(COMMIT_TAG, entropy)


def one_off_value(tenant: str, request_id: str) -> bytes:
    """Return the 32 bytes that name the one-off roll of a request_id (section 2)."""
    return tagged_hash(ONE_OFF_TAG, tenant.encode(), request_id.encode())


def request_digest(session_id: bytes, request: bytes) -> bytes:
    """Return what "the same request" means (section 5); 32 bytes.

    Args:
        session_id: 32 bytes.
        request: the request without session, chain, cited and reveals, serialised
            deterministically.
    """
    return tagged_hash(REQUEST_TAG, session_id, request)


def key_id(use: str, public_key: bytes) -> str:
    """Return the id of a public key for one use: base64url, 43 characters (section 7)."""
    digest = tagged_hash(KEY_TAG, use.encode(), public_key)
    return urlsafe_b64encode(digest).rstrip(b"=").decode()
