"""The record of a roll and its bytes: written once, read strictly (protocol section 5).

A record is serialised deterministically and signed as those bytes. Read again, it must give the same bytes: then
there is one spelling of it, and nothing stands in it that a reader passes over.
"""

from __future__ import annotations

from re import compile as compile_pattern

from google.protobuf.message import DecodeError

from fairroll import hashing
from fairroll.chain import check_kind
from fairroll.convert import refuse_unknown_fields
from fairroll.envelope import Envelope, Signature
from fairroll.errors import RequestError, Step, VerificationError
from fairroll.v1 import envelope_pb2, roll_pb2

PROTOCOL_MINOR = 1
MAX_RECEIPT_BYTES = 1024 * 1024

_DIGEST = compile_pattern(r"[0-9a-f]{64}")
_GUARD_MODES = frozenset(roll_pb2.GuardMode.values()[1:])


def serialise(record: roll_pb2.RollRecord) -> bytes:
    """Return the one spelling of a record: the payload of its receipt."""
    return record.SerializeToString(deterministic=True)


def request_digest(session_id: bytes, request: roll_pb2.RollRequest) -> bytes:
    """Return what "the same request" means; 32 bytes.

    Args:
        session_id: 32 bytes.
        request: as it stands in a record, without session, chain and cited.
    """
    if request.reveals:
        asked = roll_pb2.RollRequest()
        asked.CopyFrom(request)
        asked.ClearField("reveals")
        request = asked
    return hashing.request_digest(session_id, request.SerializeToString(deterministic=True))


def is_digest(text: str) -> bool:
    """Whether a text is spelled as a digest: 64 lower-case hex digits."""
    return _DIGEST.fullmatch(text) is not None


def parse_record(payload: bytes) -> roll_pb2.RollRecord:
    """Read the record in a receipt's payload.

    Raises:
        VerificationError: at step PARSE; too large, no record, newer than this verifier, another spelling of the
            same record, or without a part that every record has.
    """
    if len(payload) > MAX_RECEIPT_BYTES:
        raise _refused("RECORD_TOO_LARGE", f"a payload has at most {MAX_RECEIPT_BYTES} bytes", value=str(len(payload)))
    try:
        record = roll_pb2.RollRecord.FromString(payload)
    except DecodeError as error:
        raise _refused("RECORD_UNREADABLE", "the payload is no record") from error
    # First of all: what a newer minor version adds would otherwise look like a forgery.
    if record.protocol_minor > PROTOCOL_MINOR:
        raise _refused(
            "RECORD_NEWER",
            f"newer than this verifier: minor version {record.protocol_minor}, known up to {PROTOCOL_MINOR}",
            "protocol_minor",
            str(record.protocol_minor),
        )
    # What the contract lacks is gone then from what is written again.
    record.DiscardUnknownFields()
    if serialise(record) != payload:
        raise _other_spelling(payload)
    _check_parts(record)
    return record


def envelope_message(envelope: Envelope) -> envelope_pb2.Envelope:
    """Return an envelope as the contract's message."""
    signatures = [envelope_pb2.Signature(keyid=each.keyid, sig=each.sig) for each in envelope.signatures]
    return envelope_pb2.Envelope(payload=envelope.payload, payload_type=envelope.payload_type, signatures=signatures)


def read_envelope(message: envelope_pb2.Envelope) -> Envelope:
    """Return the envelope of a message; nothing is judged."""
    signatures = tuple(Signature(each.keyid, each.sig) for each in message.signatures)
    return Envelope(message.payload, message.payload_type, signatures)


def _other_spelling(payload: bytes) -> VerificationError:
    try:
        refuse_unknown_fields(roll_pb2.RollRecord.FromString(payload))
    except RequestError as error:
        return _refused("UNKNOWN_FIELD", error.message, error.field, error.value)
    return _refused("RECORD_NOT_CANONICAL", "writing the record again gives other bytes")


def _check_parts(record: roll_pb2.RollRecord) -> None:
    """Refuse what no service of this minor version signs; what the parts say is judged in later steps."""
    request = record.request
    if record.protocol_minor != PROTOCOL_MINOR:
        raise _refused("RECORD_INVALID", "there is no such minor version", "protocol_minor", str(record.protocol_minor))
    for name in ("session", "request"):
        if not record.HasField(name):
            raise _refused("RECORD_INVALID", f"a record has its {name}", name)
    if request.HasField("session") or request.chain or request.cited:
        raise _refused("RECORD_INVALID", "session, chain and cited do not stand in a record's request", "request")
    if not is_digest(request.previous):
        raise _refused("RECORD_INVALID", "a record names the receipt before it", "request.previous", request.previous)
    if request.seq == 0 and request.previous != hashing.NO_PREVIOUS:
        raise _refused("RECORD_INVALID", "nothing comes before seq 0", "request.previous", request.previous)
    try:
        check_kind(request)
    except RequestError as error:
        raise _refused("RECORD_INVALID", error.message, f"request.{error.field}") from error
    if record.guard_mode not in _GUARD_MODES:
        raise _refused("RECORD_INVALID", "there is no such guard mode", "guard_mode", str(record.guard_mode))
    # A root has an outcome a check; an answer has that of the one check which its root asked, a close none.
    wanted = len(request.checks) if request.checks or request.close else 1
    if len(record.outcomes) != wanted:
        raise _refused(
            "RECORD_INVALID", f"the record asks for {wanted} outcomes", "outcomes", str(len(record.outcomes))
        )


def _refused(reason: str, message: str, field: str = "", value: str = "") -> VerificationError:
    return VerificationError(Step.PARSE, reason, message, field=field, value=value)
