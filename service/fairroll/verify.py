"""Verification of one receipt: the numbered steps of protocol section 6, offline, with public keys alone.

Step 0 judges the key list; 1 to 8 are the protocol's. Every step that is taken says what it checked; the first one
that does not hold ends verification with a VerificationError that names it. What was verified is returned, and is
not read again from anywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from re import ASCII
from re import compile as compile_pattern
from typing import Any, NamedTuple

from fairroll import ecvrf, hashing
from fairroll.bundle import Bundle, Shown
from fairroll.chain import Parent, begin_again, check_links, is_answer, read_answers
from fairroll.convert import join_path, read_check, request_error
from fairroll.envelope import ROLL_RECORD_TYPE, Envelope, verify_envelope
from fairroll.errors import FairrollError, RequestError, Step, VerificationError
from fairroll.key_list import Key, KeyList, KeyStatus, KeyUse, verify_key_list
from fairroll.levels import L0
from fairroll.receipt import parse_record, request_digest
from fairroll.replay import PREVIEWED, engine_of, outcome_message, resolve_check, text_message
from fairroll.session import Session, check_seq
from fairroll.session_message import read_session
from fairroll.stream import Stream
from fairroll.trust import TrustFile
from fairroll.v1 import roll_pb2, session_pb2
from fairroll_rules.errors import RuleError
from fairroll_rules.limits import MAX_DRAWS
from fairroll_rules.resolve import Resolved
from fairroll_rules.systems import systems

MAX_REMEMBERED = 4_096
"""Outcomes that are remembered once they were recomputed."""
MAX_REMEMBERED_BYTES = 1_024
"""Of one of them with its check: some ten dice; more are seldom thrown alike."""

_ENGINE = compile_pattern(r"([a-z0-9_]+)/[1-9][0-9]{0,8}", ASCII)

LEVEL, RESTS_ON = "L0", L0
"""What a receipt alone is worth, whatever else the auditor kept."""

STEP_NAMES = {
    Step.KEY_LIST: "key list",
    Step.SIGNATURE: "signature",
    Step.PARSE: "record",
    Step.KEYS: "keys",
    Step.SESSION: "session",
    Step.REVEALS: "reveals",
    Step.VRF: "VRF proof",
    Step.DRAWS: "draws",
    Step.RULES: "rules",
}


class StepTaken(NamedTuple):
    """A step that did not fail.

    Attributes:
        step: its number.
        template: the detail, with places for the values; put together when somebody asks, which an audit seldom does.
        values: what stands in those places; bytes stand there in hex.
        held: False where it could not be judged.
    """

    step: Step
    template: str
    values: tuple[object, ...] = ()
    held: bool = True

    @property
    def name(self) -> str:
        """What the step checks."""
        return STEP_NAMES[self.step]

    @property
    def detail(self) -> str:
        """The value that it checked, or why it could not be judged."""
        return self.template.format(*(each.hex() if isinstance(each, bytes) else each for each in self.values))


class Rolled(NamedTuple):
    """A check that was recomputed, of any system, and what it resolved to."""

    check: Any
    resolved: Resolved


class Verified(NamedTuple):
    """What was verified.

    Attributes:
        steps: those taken, in order.
        record: the record in the bytes that were verified; read it here, not again from the envelope.
        digest: what other records call the receipt, 64 hex digits.
        session_id: 32 bytes.
        request_digest: what "the same request" means, 64 hex digits.
        rolled: each check with what it resolved to; None where its engine does not run here.
        key_list: by which it was judged.
        development: whether a key of it proves nothing.
        revoked: whether it stands only because the auditor had saved its digest.
    """

    steps: tuple[StepTaken, ...]
    record: roll_pb2.RollRecord
    digest: str
    session_id: bytes
    request_digest: str
    rolled: tuple[Rolled | None, ...]
    key_list: KeyList
    development: bool
    revoked: bool
    level: str = LEVEL
    rests_on: tuple[str, ...] = RESTS_ON

    @property
    def complete(self) -> bool:
        """Whether every step held: only then is the outcome verified, and not the draws alone."""
        return all(taken.held for taken in self.steps)

    @property
    def previewed(self) -> bool:
        """Whether it answers decisions, and nothing kept the decider from seeing what each answer would give."""
        return is_answer(self.record.request) and self.record.guard_mode == roll_pb2.GUARD_MODE_NONE

    @property
    def texts(self) -> tuple[roll_pb2.OutcomeText, ...]:
        """The outcomes in words, made when asked for; empty ones of checks that were not recomputed."""
        cites: list[Iterable[str]] = [check.cites for check in self.record.request.checks]
        return tuple(
            roll_pb2.OutcomeText() if each is None else text_message(*each, cites=digests, previewed=self.previewed)
            for each, digests in zip(self.rolled, cites or [()] * len(self.rolled), strict=True)
        )


def verify(
    bundle: Bundle,
    root_public_key: bytes,
    *,
    key_list: Envelope | None = None,
    trust: TrustFile | None = None,
    saved: Collection[str] = (),
) -> Verified:
    """Verify one receipt. Arguments and errors are those of `verification`."""
    taking = verification(bundle, root_public_key, key_list=key_list, trust=trust, saved=saved)
    while True:
        try:
            next(taking)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # typeshed: StopIteration.value is Any


def verification(
    bundle: Bundle,
    root_public_key: bytes,
    *,
    key_list: Envelope | None = None,
    trust: TrustFile | None = None,
    saved: Collection[str] = (),
    known: dict[Envelope, Parent] | None = None,
) -> Generator[StepTaken, None, Verified]:
    """Verify one receipt, handing out each step as it is taken.

    Args:
        bundle: the receipt and its key list.
        root_public_key: 32 bytes that the auditor pinned.
        key_list: a list to use in place of the bundle's, refused where it is older than the bundle's.
        trust: keeps the newest list that was seen; judged by it, and written to.
        saved: digests of receipts that the auditor had before a key was revoked.
        known: receipts of which steps 1 to 7 held, read and written: so that a session judges each of them once.

    Raises:
        VerificationError: a step does not hold.
        KeyFileError: the trust file cannot be used.
    """
    # 0. The key list, under the pinned root key and no older than one seen before.
    keys = judge_key_list(bundle.key_list, root_public_key, key_list, trust)
    return (yield from verification_by(keys, bundle, saved=saved, known=known))


def verification_by(
    keys: KeyList,
    bundle: Bundle,
    *,
    saved: Collection[str] = (),
    known: dict[Envelope, Parent] | None = None,
) -> Generator[StepTaken, None, Verified]:
    """Verify one receipt by a key list of which step 0 held, as `verification` does."""
    taken: list[StepTaken] = []
    yield _take(taken, Step.KEY_LIST, "version {} of {}", keys.list_version, keys.origin)

    # 1 to 7.
    signed = yield from _judge_receipt(bundle.envelope, keys, saved, taken, bundle.shown)
    record = signed.record
    known = {} if known is None else known
    known[bundle.envelope] = Parent(signed.digest, record)

    # 8. The engine gives the same draws and outcomes; an answer's draws and decisions go on from its chain's.
    rolled, unjudged = _judge_outcomes(signed, bundle.chain, keys, saved, known)
    if unjudged:
        taken.append(StepTaken(Step.RULES, "{}", (unjudged,), held=False))
        yield taken[-1]
    else:
        recomputed = "{} outcome recomputed" if len(rolled) == 1 else "{} outcomes recomputed"
        yield _take(taken, Step.RULES, recomputed, len(rolled))

    verified = Verified(
        steps=tuple(taken),
        record=record,
        digest=signed.digest,
        session_id=signed.session_id,
        request_digest=request_digest(signed.session_id, record.request).hex(),
        rolled=rolled,
        key_list=keys,
        development=signed.development,
        revoked=signed.revoked,
    )
    return verified._replace(rests_on=(*RESTS_ON, PREVIEWED)) if verified.previewed else verified


def _take(taken: list[StepTaken], step: Step, template: str, *values: object) -> StepTaken:
    # A named tuple's own constructor takes twice as long, and nine are made for each receipt.
    took = tuple.__new__(StepTaken, (step, template, values, True))
    taken.append(took)
    return took


class _Signed(NamedTuple):
    """A receipt of which steps 1 to 7 held."""

    digest: str
    record: roll_pb2.RollRecord
    session_id: bytes
    beta: bytes
    development: bool
    revoked: bool


def _judge_receipt(
    envelope: Envelope, keys: KeyList, saved: Collection[str], taken: list[StepTaken], shown: Shown | None = None
) -> Generator[StepTaken, None, _Signed]:
    """Take steps 1 to 7, which need no rules and no other receipt."""
    digest = envelope.digest

    # 1. The signature, by a key of use `receipt` in the key list.
    receipt_keys = {key.key_id: key.public_key for key in keys.keys if key.use is KeyUse.RECEIPT}
    signer_id = verify_envelope(envelope, ROLL_RECORD_TYPE, receipt_keys)
    yield _take(taken, Step.SIGNATURE, "digest {}", digest)

    # 2. One record, of a minor version known here, and its only spelling.
    record = parse_record(envelope.payload)
    if shown is not None:
        _check_shown(shown, envelope.payload, digest)
    yield _take(taken, Step.PARSE, "minor version {}, {} bytes", record.protocol_minor, len(envelope.payload))

    # 3. The key ids in the record are the keys used, the list's origin is the record's.
    receipt_key, vrf_key = _check_keys(record, keys, signer_id)
    revoked = _check_revoked((receipt_key, vrf_key), digest, saved)
    yield _take(taken, Step.KEYS, "receipt key {.described}; VRF key {.described}", receipt_key, vrf_key)

    # 4. The session id.
    session, session_id = _check_session(record, vrf_key)
    yield _take(taken, Step.SESSION, "{}, table {}, seq {}", session_id, session.table, record.request.seq)

    # 5. The reveals against their anchors, and co.
    co = _check_reveals(session, record.request)
    yield _take(taken, Step.REVEALS, "{} reveals, co {}", len(record.request.reveals), co)

    # 6. The strict VRF, with a key of use `vrf`.
    beta = _check_proof(record, session_id, co, vrf_key)
    yield _take(taken, Step.VRF, "beta {}", beta)

    # 7. Every recorded draw follows from the stream and its sides; no rule is needed.
    count = _check_draws(record, beta)
    yield _take(taken, Step.DRAWS, "{} draws", count)

    development = receipt_key.development or vrf_key.development
    return _Signed(digest, record, session_id, beta, development, revoked)


def judge_key_list(
    bundled: Envelope | None, root_public_key: bytes, given: Envelope | None = None, trust: TrustFile | None = None
) -> KeyList:
    """Take step 0: return the list to judge a bundle by. Arguments and errors are those of `verification`."""
    envelope = given or bundled
    if envelope is None:
        message = "there is no key list to judge by: name one with --keys"
        raise VerificationError(Step.KEY_LIST, "KEY_LIST_MISSING", message)
    if trust is not None:
        keys = trust.judge(envelope, root_public_key, given=given is not None)
    else:
        keys = verify_key_list(envelope, root_public_key)
    if given is not None and bundled is not None:
        _refuse_older(keys, bundled, root_public_key)
    return keys


def _refuse_older(given: KeyList, bundled: Envelope, root_public_key: bytes) -> None:
    """Refuse a list that is older than the bundle's own: it may lack a revocation."""
    try:
        shown = verify_key_list(bundled, root_public_key)
    except VerificationError:
        return  # it is another root's or broken, and not the one that is used
    if shown.origin == given.origin and shown.list_version > given.list_version:
        raise VerificationError(
            Step.KEY_LIST,
            "KEY_LIST_OLDER",
            f"key list {given.list_version} was given, but the bundle holds list {shown.list_version}",
            field="list_version",
            value=str(given.list_version),
        )


def _check_shown(shown: Shown, payload: bytes, digest: str) -> None:
    """Refuse an answer in which people read something else than what was signed."""
    if shown.record != payload:
        raise VerificationError(
            Step.PARSE, "RECORD_DIFFERS", "the record shown is not the one that was signed", field="record"
        )
    if shown.digest != digest:
        raise VerificationError(
            Step.PARSE, "DIGEST_DIFFERS", "the digest shown is not the envelope's", field="digest", value=shown.digest
        )


def _check_keys(record: roll_pb2.RollRecord, keys: KeyList, signer_id: str) -> tuple[Key, Key]:
    if record.receipt_key_id != signer_id:
        raise VerificationError(
            Step.KEYS,
            "RECEIPT_KEY_DIFFERS",
            "the record names another receipt key than the one that signed it",
            field="receipt_key_id",
            value=record.receipt_key_id,
        )
    if record.session.origin != keys.origin:
        raise VerificationError(
            Step.KEYS,
            "ORIGIN_DIFFERS_FROM_LIST",
            f"the key list is of {keys.origin}",
            field="session.origin",
            value=record.session.origin,
        )
    listed = {key.key_id: key for key in keys.keys}
    vrf_key = listed.get(record.session.vrf_key_id)
    if vrf_key is None:
        raise VerificationError(
            Step.KEYS,
            "UNKNOWN_KEY",
            "the key list has no key of the session's key id",
            field="session.vrf_key_id",
            value=record.session.vrf_key_id,
        )
    return listed[signer_id], vrf_key


def _check_revoked(keys: Iterable[Key], digest: str, saved: Collection[str]) -> bool:
    """Refuse a receipt under a revoked key, unless it was saved before; return whether it was."""
    revoked = [key for key in keys if key.status is KeyStatus.REVOKED]
    if revoked and digest not in saved:
        raise VerificationError(
            Step.KEYS,
            "KEY_REVOKED",
            f"the {revoked[0].use} key is revoked, and this receipt was not saved before",
            field="receipt_key_id" if revoked[0].use is KeyUse.RECEIPT else "session.vrf_key_id",
            value=revoked[0].key_id,
        )
    return bool(revoked)


@lru_cache(maxsize=64)
def _session_of(message: bytes, vrf_public_key: bytes) -> tuple[Session, bytes]:
    """Return the session that a record holds, and its id; remembered, since each of its receipts holds it whole."""
    session = read_session(session_pb2.Session.FromString(message))
    return session, session.session_id(vrf_public_key)


def _check_session(record: roll_pb2.RollRecord, vrf_key: Key) -> tuple[Session, bytes]:
    request = record.request
    try:
        session, session_id = _session_of(record.session.SerializeToString(), vrf_key.public_key)
        check_seq(request.seq)
        session.check_one_off(request.request_id)
        if request.request_id and not session.is_one_off:
            raise RequestError("REQUEST_ID_WITH_SESSION", "a request_id names a one-off", field="request.request_id")
        if session.is_one_off and request.seq:
            raise RequestError("SEQ_OUT_OF_RANGE", "a one-off is at seq 0", field="request.seq", value=str(request.seq))
    except RequestError as error:
        raise _at(Step.SESSION, error) from error
    return session, session_id


def _check_reveals(session: Session, request: roll_pb2.RollRequest) -> bytes:
    try:
        return session.co(request.seq, request.reveals)
    except RequestError as error:
        raise _at(Step.REVEALS, error) from error


def _check_proof(record: roll_pb2.RollRecord, session_id: bytes, co: bytes, key: Key) -> bytes:
    if key.use is not KeyUse.VRF:
        raise VerificationError(
            Step.VRF,
            "KEY_USE",
            f"the session's key is of use {key.use}",
            field="session.vrf_key_id",
            value=key.key_id,
        )
    return ecvrf.verify(key.public_key, hashing.alpha(session_id, record.request.seq, co), record.proof)


def _check_draws(record: roll_pb2.RollRecord, beta: bytes) -> int:
    count = 0
    for index, outcome in enumerate(record.outcomes):
        stream = Stream(beta, index)
        for place, draw in enumerate(outcome.draws):
            try:
                face = stream.face(draw.sides)
            except RequestError as error:
                where = f"outcomes[{index}].draws[{place}].sides"
                raise VerificationError(
                    Step.DRAWS, error.reason, error.message, field=where, value=error.value
                ) from error
            if draw.face != face:
                raise VerificationError(
                    Step.DRAWS,
                    "DRAW_DIFFERS",
                    f"the stream gives {face} on a d{draw.sides}",
                    field=f"outcomes[{index}].draws[{place}].face",
                    value=str(draw.face),
                )
        count += len(outcome.draws)
    if count > MAX_DRAWS:
        raise VerificationError(
            Step.DRAWS, "TOO_MANY_DRAWS", f"a record has at most {MAX_DRAWS} draws", field="outcomes", value=str(count)
        )
    return count


def _judge_outcomes(
    signed: _Signed,
    chain: Sequence[Envelope],
    keys: KeyList,
    saved: Collection[str],
    known: dict[Envelope, Parent],
) -> tuple[tuple[Rolled | None, ...], str]:
    """Return what the checks resolved to, and why not every one of them can be judged; empty where each was."""
    record = signed.record
    if is_answer(record.request):
        return _judge_answer(signed, chain, keys, saved, known) if chain else ((), "not checked: parent missing")
    if chain:
        raise VerificationError(Step.RULES, "CHAIN_DIFFERS", "the receipt continues none", field="chain")
    rolled = tuple(_recompute(record, signed.beta))
    return rolled, _unknown_engines(record) if None in rolled else ""


def _judge_answer(
    signed: _Signed,
    chain: Sequence[Envelope],
    keys: KeyList,
    saved: Collection[str],
    known: dict[Envelope, Parent],
) -> tuple[tuple[Rolled | None, ...], str]:
    """Follow the chain of an answer, every receipt of it through steps 1 to 7, and run the roll in its segments."""
    record, recorded = signed.record, signed.record.outcomes[0]
    for index, envelope in enumerate(chain):
        if envelope not in known:
            known[envelope] = _judge_parent(envelope, index, keys, saved)
    parents = tuple(known[envelope] for envelope in chain)
    try:
        check_links(record.request, record.session, parents)
        _check_engine(parents[0].record.request.checks[0], parents[0].outcome, 0)
        if recorded.engine != parents[0].outcome.engine:
            raise RequestError("ENGINE_DIFFERS", "all receipts of a roll have one engine", field="outcomes[0].engine")
        if unknown := _unknown_engines(record):
            return (), unknown
        roll = begin_again(parents)
        for index, (parent, segment) in enumerate(zip(parents, roll.segments, strict=True)):
            _require_same(outcome_message(roll.check, segment), parent.outcome, f"chain[{index}].outcomes[0]")
        resolved = roll.replay.go(Stream(signed.beta, 0).face, read_answers(record.request))
    except RuleError as error:
        raise _at(Step.RULES, request_error(error, "request")) from error
    except RequestError as error:
        raise _at(Step.RULES, error) from error
    _require_same(outcome_message(roll.check, resolved), recorded, "outcomes[0]")
    return (Rolled(roll.check, resolved),), ""


def _judge_parent(envelope: Envelope, index: int, keys: KeyList, saved: Collection[str]) -> Parent:
    taking = _judge_receipt(envelope, keys, saved, [])
    try:
        while True:
            next(taking)
    except StopIteration as end:
        return Parent(end.value.digest, end.value.record)
    except VerificationError as error:
        raise VerificationError(
            Step.RULES,
            error.reason,
            f"receipt {index + 1} of the chain fails step {error.step:d}: {error.message}",
            field=join_path(f"chain[{index}]", error.field),
            value=error.value,
        ) from error


def _unknown_engines(record: roll_pb2.RollRecord) -> str:
    unknown = sorted({outcome.engine for outcome in record.outcomes} - set(_engines().values()))
    return f"not recomputed: this verifier has no engine {', '.join(unknown)}" if unknown else ""


@cache
def _engines() -> Mapping[str | None, str]:
    return {name: engine_of(name) for name in systems()}


def _recompute(record: roll_pb2.RollRecord, beta: bytes) -> Iterable[Rolled | None]:
    """Compare every outcome whose engine runs here; yield what each resolved to, None where it does not."""
    draws = 0
    engines = _engines()
    for index, (message, recorded) in enumerate(zip(record.request.checks, record.outcomes, strict=True)):
        if recorded.engine == engines.get(message.WhichOneof("system")):
            yield _compare(message, recorded, beta, index, draws)
        else:
            _check_engine(message, recorded, index)
            yield None
        draws += len(recorded.draws)


def _check_engine(message: roll_pb2.Check, recorded: roll_pb2.CheckOutcome, index: int) -> None:
    engine = _ENGINE.fullmatch(recorded.engine)
    if engine is None or engine[1] != message.WhichOneof("system"):
        raise _differs(index, "engine", "the engine is not one of the check's system")


_remembered: dict[tuple[bytes, bytes, int], Rolled] = {}
"""What was recomputed, by check, recorded outcome and draws before. Step 7 has shown that the stream gives the draws of
an outcome, and the engine has no other chance: asked the same check again, it comes to the same outcome."""


def _compare(message: roll_pb2.Check, recorded: roll_pb2.CheckOutcome, beta: bytes, index: int, draws: int) -> Rolled:
    key = message.SerializeToString(deterministic=True), recorded.SerializeToString(deterministic=True), draws
    known = _remembered.get(key)
    if known is not None:
        return known
    rolled = _recomputed(message, recorded, beta, index, draws)
    if len(key[0]) + len(key[1]) <= MAX_REMEMBERED_BYTES:
        if len(_remembered) >= MAX_REMEMBERED:
            _remembered.clear()
        _remembered[key] = rolled
    return rolled


def _recomputed(
    message: roll_pb2.Check, recorded: roll_pb2.CheckOutcome, beta: bytes, index: int, draws: int
) -> Rolled:
    check = _read_check(message, index)
    try:
        resolved = resolve_check(check, beta, index, draws, message.actor)
    except RuleError as error:
        raise _differs(index, "", f"the engine refuses the check: {error.message}") from error
    _require_same(outcome_message(check, resolved), recorded, f"outcomes[{index}]")
    return Rolled(check, resolved)


def _require_same(computed: roll_pb2.CheckOutcome, recorded: roll_pb2.CheckOutcome, where: str) -> None:
    if computed.SerializeToString(deterministic=True) != recorded.SerializeToString(deterministic=True):
        field = join_path(where, _first_difference(computed, recorded))
        raise VerificationError(Step.RULES, "OUTCOME_DIFFERS", "the engine gives another outcome", field=field)


def _read_check(message: roll_pb2.Check, index: int) -> Any:  # noqa: ANN401  each system has its own types
    try:
        return read_check(message)
    except RequestError as error:
        error.field = join_path(f"request.checks[{index}]", error.field)
        raise _at(Step.RULES, error) from error


def _first_difference(computed: roll_pb2.CheckOutcome, recorded: roll_pb2.CheckOutcome) -> str:
    for field in computed.DESCRIPTOR.fields:
        if getattr(computed, field.name) != getattr(recorded, field.name):
            return field.name
    return ""


def _differs(index: int, field: str, message: str) -> VerificationError:
    return VerificationError(Step.RULES, "OUTCOME_DIFFERS", message, field=join_path(f"outcomes[{index}]", field))


def _at(step: Step, error: FairrollError) -> VerificationError:
    return VerificationError(step, error.reason, error.message, field=error.field, value=error.value)
