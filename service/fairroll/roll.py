"""The use case: a request in, a receipt out. Both doors call it; it does no I/O and keeps nothing between calls."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from fairroll import hashing, key_list_info, limits_info, notation_info, systems_info, verify_call
from fairroll.bundle import read_chain
from fairroll.chain import Parent, begin_again, check_kind, check_links, is_answer, read_answers
from fairroll.checks import MAX_REQUEST_ID_BYTES, check_text, read_checks, require_digest, require_limit
from fairroll.cited import require_borne_out
from fairroll.convert import join_path, refuse_unknown_fields, request_error
from fairroll.envelope import ROLL_RECORD_TYPE, Envelope, sign_envelope, verify_envelope
from fairroll.errors import RequestError, ServiceError, StateError, VerificationError
from fairroll.keys import EpochKeys, ServiceKeys
from fairroll.receipt import (
    MAX_RECEIPT_BYTES,
    PROTOCOL_MINOR,
    envelope_message,
    parse_record,
    request_digest,
    serialise,
)
from fairroll.replay import (
    engine_of,
    outcome_message,
    resolve_check,
    text_members,
    text_message,
    whole_outcome_members,
)
from fairroll.session import Session, check_seq, refuse_one_off_table
from fairroll.session_message import read_session
from fairroll.stream import Stream
from fairroll.v1 import roll_pb2, service_pb2, session_pb2
from fairroll_rules.errors import AnswerError
from fairroll_rules.replay import Replay
from fairroll_rules.systems import system_of, systems


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that was judged and is about to be proved: whatever could be refused was refused.

    Attributes:
        response: with what the record already holds of request and session.
        keys: the session's.
        session_id: 32 bytes.
        alpha: what is proved, 90 bytes.
        checks: those of a root, or the one that an answer continues; none for a close.
        parents: the receipts that an answer continues, root first.
        replay: the roll that an answer continues.
        answers: those given, by the ids of their decisions.
    """

    response: roll_pb2.RollResponse
    keys: EpochKeys
    session_id: bytes
    alpha: bytes
    checks: list[Any]
    parents: tuple[Parent, ...] = ()
    replay: Replay | None = None
    answers: Mapping[str, str] = field(default_factory=dict)

    @property
    def request(self) -> roll_pb2.RollRequest:
        """The request as it stands in its record."""
        return self.response.record.request

    @property
    def seq(self) -> int:
        """Its number in the session."""
        return self.request.seq

    @property
    def request_digest(self) -> bytes:
        """What "the same request" means; 32 bytes."""
        return request_digest(self.session_id, self.request)

    @property
    def engines(self) -> str:
        """The engines that resolve it, such as `crossroads/1 notation/1`; empty for a close."""
        return " ".join(sorted({engine_of(system_of(check)) for check in self.checks}))


class Roller:
    """Rolls for one origin with its keys.

    Attributes:
        keys: what proves, signs and is published.
    """

    def __init__(
        self,
        keys: ServiceKeys,
        *,
        guard_mode: roll_pb2.GuardMode.ValueType = roll_pb2.GUARD_MODE_NONE,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        token_bytes: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        """Roll with these keys.

        Args:
            keys: one origin's.
            guard_mode: what stands in every record: the store that lets a seq be used once, which callers of
                `prepare` and `prove` ask in between.
            clock: tells the time of issue, which is not signed.
            token_bytes: names one-off sessions; no face depends on its quality, only that no two are alike.
        """
        self.keys = keys
        self.guard_mode = guard_mode
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
        return self.prove(self.prepare(request, tenant))

    def prepare(self, request: roll_pb2.RollRequest, tenant: str) -> Prepared:
        """Judge a request; nothing is proved, and arguments and errors are those of `roll`."""
        response = roll_pb2.RollResponse()
        record = response.record
        record.request.CopyFrom(request)
        _strip(record.request, request)
        check_kind(request)
        session, keys = self._open(request, record.session, tenant)
        record.request.previous = request.previous or hashing.NO_PREVIOUS
        co = session.co(request.seq, request.reveals)
        session_id = session.session_id(keys.vrf.public_key)
        alpha = hashing.alpha(session_id, request.seq, co)
        if is_answer(request):
            return self._prepare_answer(request, Prepared(response, keys, session_id, alpha, []))
        in_session = request.HasField("session")
        if request.close:
            _require_session(in_session=in_session, field="close")
        checks = []
        if not request.close:
            checks = read_checks(record.request, in_session=in_session, session=record.session)
        if request.cited:
            require_borne_out(request, checks, self.keys.receipt_keys)
        return Prepared(response, keys, session_id, alpha, checks)

    def prove(self, prepared: Prepared) -> roll_pb2.RollResponse:
        """Prove, draw, resolve and sign what was prepared; once only for each."""
        response, keys = prepared.response, prepared.keys
        record = response.record
        record.proof, beta = keys.vrf.prove(prepared.alpha)
        try:
            self._resolve(prepared, beta)
        except AnswerError as error:
            raise ServiceError("INTERNAL", "a policy left a question open") from error

        record.protocol_minor = PROTOCOL_MINOR
        record.receipt_key_id = keys.receipt_key_id
        record.guard_mode = self.guard_mode
        payload = serialise(record)
        if len(payload) > MAX_RECEIPT_BYTES:
            raise ServiceError("INTERNAL", "a record is larger than the checks before drawing allow")
        envelope = sign_envelope(ROLL_RECORD_TYPE, payload, keys.receipt_key_id, keys.receipt)
        response.envelope.CopyFrom(envelope_message(envelope))
        response.digest = envelope.digest
        response.issued_at = self._clock().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return response

    def verify_receipt(self, request: service_pb2.VerifyReceiptRequest) -> service_pb2.VerifyReceiptResponse:
        """Verify a receipt with the keys that the caller names, or its own; touches nothing that rolls use."""
        return verify_call.verify_receipt(request, self.keys)

    def verify_session(self, request: service_pb2.VerifySessionRequest) -> service_pb2.VerifySessionResponse:
        """Verify receipts together; takes up to seconds, and touches nothing that rolls use."""
        return verify_call.verify_session(request, self.keys)

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

    def _resolve(self, prepared: Prepared, beta: bytes) -> None:
        """Write the outcomes into the record, and what they mean beside it."""
        outcomes, texts = prepared.response.record.outcomes, prepared.response.texts
        if prepared.replay is not None:
            (check,) = prepared.checks
            resolved = prepared.replay.go(Stream(beta, 0).face, prepared.answers)
            outcomes.append(outcome_message(check, resolved))
            previewed = self.guard_mode == roll_pb2.GUARD_MODE_NONE
            texts.append(text_message(check, resolved, previewed=previewed))
            return
        draws = 0
        asked = prepared.request.checks
        for index, (check, message) in enumerate(zip(prepared.checks, asked, strict=True)):
            resolved = resolve_check(check, beta, index, draws, message.actor)
            draws += len(resolved.draws)
            # Made where they stand: appending would copy each.
            outcomes.add(**whole_outcome_members(check, resolved))
            texts.add(**text_members(check, resolved, cites=message.cites))

    def _prepare_answer(self, request: roll_pb2.RollRequest, begun: Prepared) -> Prepared:
        """Follow the chain of an answer: our own signatures, one roll, and answers that fit what it asks."""
        _require_session(in_session=request.HasField("session"), field="answers")
        require_digest(request.root, "root")
        require_digest(request.continues, "continues")
        check_text(begun.request)
        parents = tuple(
            _read_parent(envelope, index, begun.keys) for index, envelope in enumerate(read_chain(request.chain))
        )
        check_links(request, begun.response.record.session, parents)
        system, _, _ = parents[0].outcome.engine.partition("/")
        if system not in systems() or parents[0].outcome.engine != engine_of(system):
            raise StateError(
                "ENGINE_GONE",
                "the engine that began the roll runs here no more",
                field="chain[0]",
                value=parents[0].outcome.engine,
            )
        roll = begin_again(parents)
        answers = read_answers(request)
        try:
            roll.replay.require_answers(answers)
        except AnswerError as error:
            raise request_error(error) from error
        return replace(begun, checks=[roll.check], parents=parents, replay=roll.replay, answers=answers)

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
        refuse_one_off_table(used.table)
        session = read_session(used)
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
    asked.ClearField("cited")


def _read_parent(envelope: Envelope, index: int, keys: EpochKeys) -> Parent:
    """Return a receipt of a chain; a session keeps its keys, so one of it is signed by the same key."""
    try:
        verify_envelope(envelope, ROLL_RECORD_TYPE, {keys.receipt_key_id: keys.receipt.public_key})
        return Parent(envelope.digest, parse_record(envelope.payload))
    except VerificationError as error:
        path = join_path(f"chain[{index}]", error.field)
        raise RequestError(error.reason, error.message, field=path, value=error.value) from error


def _require_session(*, in_session: bool, field: str) -> None:
    if not in_session:
        raise RequestError("SESSION_REQUIRED", "answers and closes belong to a session", field=field)


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
