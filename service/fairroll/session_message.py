"""The session of a message, checked: what the service takes from callers and a verifier from records."""

from __future__ import annotations

from fairroll.errors import RequestError
from fairroll.session import Anchor, Contribution, DrandRound, Participant, Session
from fairroll.v1 import session_pb2

MAX_BEACON_SIGNATURE_BYTES = 96

_FIELD = "session.contributions"


def read_session(message: session_pb2.Session) -> Session:
    """Return the session that a message holds whole.

    Raises:
        RequestError: a part is missing or out of its range; the path begins with `session`.
    """
    return Session(
        message.origin,
        message.tenant,
        message.table,
        message.vrf_key_id,
        tuple(_contribution(part, index) for index, part in enumerate(message.contributions)),
    )


def _contribution(message: session_pb2.Contribution, index: int) -> Contribution:
    path = f"{_FIELD}[{index}]"
    kind = message.WhichOneof("kind")
    if kind is None:
        raise RequestError("REQUIRED", "a contribution is entropy, a beacon round or an anchor", field=path)
    try:
        if kind == "entropy":
            return Participant(message.entropy)
        if kind == "anchor":
            return Anchor(message.anchor)
        beacon = message.beacon_round
        _check_signature(beacon.signature)
        return DrandRound(beacon.chain_hash, beacon.round, beacon.randomness)
    except RequestError as error:
        below = error.field.removeprefix(_FIELD)
        error.field = f"{path}.{kind}" if below == f".{kind}" else f"{path}.{kind}{below}"
        raise


def _check_signature(signature: bytes) -> None:
    if len(signature) > MAX_BEACON_SIGNATURE_BYTES:
        raise RequestError(
            "LIMIT_EXCEEDED",
            f"a beacon's signature has at most {MAX_BEACON_SIGNATURE_BYTES} bytes",
            field=f"{_FIELD}.signature",
            limit="beacon_signature_bytes",
            maximum=MAX_BEACON_SIGNATURE_BYTES,
            value=str(len(signature)),
        )
