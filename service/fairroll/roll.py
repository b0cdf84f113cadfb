"""The use case: a request in, a receipt out. Both doors call it; it does no I/O and keeps nothing between calls."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime

from fairroll import hashing, key_list_info, limits_info, notation_info, systems_info, verify_call
from fairroll.checks import MAX_REQUEST_ID_BYTES, read_checks, require_digest, require_limit
from fairroll.convert import refuse_unknown_fields
from fairroll.envelope import ROLL_RECORD_TYPE, sign_envelope
from fairroll.errors import RequestError, ServiceError, StateError
from fairroll.keys import EpochKeys, ServiceKeys
from fairroll.receipt import MAX_RECEIPT_BYTES, PROTOCOL_MINOR, envelope_message, serialise
from fairroll.replay import outcome_message, resolve_check, text_message
from fairroll.session import Session, check_seq, refuse_one_off_table
from fairroll.session_message import read_session
from fairroll.v1 import roll_pb2, service_pb2, session_pb2
from fairroll_rules.errors import AnswerError

_LATER = ("answers", "root", "continues", "close", "chain")
"""What belongs to decisions and to the end of a session, which this version of the service does not do."""


class Roller:
    """Rolls for one origin with its keys.

    Attributes:
        keys: what proves, signs and is published.
    """

    def __init__(
        self,
        keys: ServiceKeys,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        token_bytes: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        """Roll with these keys.

        Args:
            keys: one origin's.
            clock: tells the time of issue, which is not signed.
            token_bytes: names one-off sessions; no face depends on its quality, only that no two are alike.
        """
        self.keys = keys
        self._clock = clock
        self._token_bytes = token_bytes

    def roll(self, request: roll_pb2.RollRequest, tenant: str) -> roll_pb2.RollResponse:
        """Resolve all checks of a request from one proof and sign the record.

        Args:
            request: as the caller sent it; left as it is.
            tenant: the public id of the caller's credential.

        Raises:
            RequestError: anything in the request is refused; nothing was proved.
            StateError: the session's key is not held; nothing was proved.
        """
        response = roll_pb2.RollResponse()
        record = response.record
        record.request.CopyFrom(request)
        _strip(record.request, request)
        _refuse_later(request)
        session, keys = self._open(request, record.session, tenant)
        record.request.previous = request.previous or hashing.NO_PREVIOUS
        co = session.co(request.seq, request.reveals)
        checks = read_checks(record.request)

        alpha = hashing.alpha(session.session_id(keys.vrf.public_key), request.seq, co)
        record.proof, beta = keys.vrf.prove(alpha)
        draws = 0
        try:
            for index, check in enumerate(checks):
                resolved = resolve_check(check, beta, index, draws)
                draws += len(resolved.draws)
                record.outcomes.append(outcome_message(check, resolved))
                response.texts.append(text_message(check, resolved))
        except AnswerError as error:
            raise ServiceError("INTERNAL", "a policy left a question open") from error

        record.protocol_minor = PROTOCOL_MINOR
        record.receipt_key_id = keys.receipt_key_id
        record.guard_mode = roll_pb2.GUARD_MODE_NONE
        payload = serialise(record)
        if len(payload) > MAX_RECEIPT_BYTES:
            raise ServiceError("INTERNAL", "a record is larger than the checks before drawing allow")
        envelope = sign_envelope(ROLL_RECORD_TYPE, payload, keys.receipt_key_id, keys.receipt)
        response.envelope.CopyFrom(envelope_message(envelope))
        response.digest = envelope.digest
        response.issued_at = self._clock().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return response

    def verify_receipt(self, request: service_pb2.VerifyReceiptRequest) -> service_pb2.VerifyReceiptResponse:
        """Verify a receipt with the keys that the caller names, or with this service's own."""
        return verify_call.verify_receipt(request, self.keys)

    def parse_notation(self, request: service_pb2.ParseNotationRequest) -> service_pb2.ParseNotationResponse:
        """Say what notation means; nothing is rolled."""
        return notation_info.parse_notation(request)

    def list_systems(self, _: service_pb2.ListSystemsRequest) -> service_pb2.ListSystemsResponse:
        """List the systems with the JSON Schemas of their checks and outcomes."""
        return systems_info.list_systems()

    def get_limits(self, _: service_pb2.GetLimitsRequest) -> service_pb2.GetLimitsResponse:
        """Return every limit that a request is held to."""
        return limits_info.get_limits()

    def get_key_list(self, _: service_pb2.GetKeyListRequest) -> service_pb2.GetKeyListResponse:
        """Return the signed list of the service's public keys."""
        return key_list_info.get_key_list(self.keys)

    def _open(self, request: roll_pb2.RollRequest, used: session_pb2.Session, tenant: str) -> tuple[Session, EpochKeys]:
        """Return the session of a request and its keys, and write it as it is used."""
        if not request.HasField("session"):
            return self._open_one_off(request, used, tenant)
        if request.request_id:
            raise RequestError("REQUEST_ID_WITH_SESSION", "in a session the seq names the roll", field="request_id")
        check_seq(request.seq)
        _check_previous(request)
        used.CopyFrom(request.session)
        used.origin = _own(used.origin, self.keys.origin, "origin")
        used.tenant = _own(used.tenant, tenant, "tenant")
        if not used.vrf_key_id:
            if request.seq:
                raise RequestError("REQUIRED", "above seq 0 a session names its key", field="session.vrf_key_id")
            used.vrf_key_id = self.keys.current.vrf_key_id
        session = read_session(used)
        refuse_one_off_table(session.table)
        return session, self.keys.of_session(session.vrf_key_id)

    def _open_one_off(
        self, request: roll_pb2.RollRequest, used: session_pb2.Session, tenant: str
    ) -> tuple[Session, EpochKeys]:
        if request.seq:
            raise RequestError(
                "SEQ_OUT_OF_RANGE", "a one-off is at seq 0", field="seq", maximum=0, value=str(request.seq)
            )
        _check_previous(request)
        if request.request_id:
            size_bytes = len(request.request_id.encode())
            require_limit("request_id_bytes", size_bytes, MAX_REQUEST_ID_BYTES, "request_id")
            value = hashing.one_off_value(tenant, request.request_id)
        else:
            value = self._token_bytes(hashing.HASH_BYTES)
        keys = self.keys.current
        session = Session.one_off(self.keys.origin, tenant, keys.vrf_key_id, value)
        used.origin, used.tenant, used.table = session.origin, session.tenant, session.table
        used.vrf_key_id = session.vrf_key_id
        return session, keys


def _strip(asked: roll_pb2.RollRequest, request: roll_pb2.RollRequest) -> None:
    """Make the copy of a request what its record holds, once it is known to hold nothing unknown."""
    asked.DiscardUnknownFields()
    if asked.ByteSize() != request.ByteSize():
        refuse_unknown_fields(request)
    asked.ClearField("session")
    asked.ClearField("chain")


def _refuse_later(request: roll_pb2.RollRequest) -> None:
    for name in _LATER:
        if getattr(request, name):
            raise RequestError(
                "DECISIONS_UNSUPPORTED",
                "this version of the service rolls checks, and takes neither answers nor closes",
                field=name,
            )


def _check_previous(request: roll_pb2.RollRequest) -> None:
    if request.previous:
        require_digest(request.previous, "previous")
        if request.seq == 0 and request.previous != hashing.NO_PREVIOUS:
            raise RequestError(
                "PREVIOUS_AT_START", "nothing comes before seq 0", field="previous", value=request.previous
            )
    elif request.seq:
        raise RequestError("REQUIRED", "above seq 0 a roll names the receipt before it", field="previous")


def _own(named: str, own: str, name: str) -> str:
    """Return the service's or caller's own name; a session may leave it out, but not give another."""
    if named and named != own:
        raise StateError(
            f"{name.upper()}_MISMATCH", f"the session names another {name}", field=f"session.{name}", value=named
        )
    return own
