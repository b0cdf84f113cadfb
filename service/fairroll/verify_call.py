"""VerifyReceipt and VerifySession: the offline verifier as calls, for those who cannot run it."""

from __future__ import annotations

from collections.abc import Iterable

from fairroll.bundle import Bundle, read_bundle
from fairroll.checks import require_limit
from fairroll.cited import Bearing, Citation, citations
from fairroll.convert import join_path
from fairroll.envelope import Envelope
from fairroll.errors import RequestError, VerificationError
from fairroll.key_list import verify_key_list
from fairroll.keys import ServiceKeys
from fairroll.levels import Mine, RevealLog, Sealed, read_reveal_log, read_sealed
from fairroll.offer import Offer, read_offer
from fairroll.signer import PUBLIC_KEY_BYTES
from fairroll.v1 import service_pb2
from fairroll.verify import STEP_NAMES, StepTaken, verification
from fairroll.verify_session import Judged, SessionReport, judge, verify_sessions

MAX_SESSION_RECEIPTS = 1000
MAX_KEPT = 100

_BEARINGS = {
    Bearing.NOT_SHOWN: service_pb2.CITATION_BEARING_NOT_SHOWN,
    Bearing.SHOWN: service_pb2.CITATION_BEARING_SHOWN,
    Bearing.DIFFERS: service_pb2.CITATION_BEARING_DIFFERS,
}
_RESULTS = {True: service_pb2.STEP_RESULT_HELD, False: service_pb2.STEP_RESULT_NOT_CHECKED}


def verify_receipt(request: service_pb2.VerifyReceiptRequest, keys: ServiceKeys) -> service_pb2.VerifyReceiptResponse:
    """Verify a receipt, with what the caller kept as a session of its own; one that fails is an answer.

    Args:
        request: the bundle, and a root key where it is not this service's.
        keys: the service's own, used for what the request leaves out.

    Raises:
        RequestError: there is no receipt in the request, or the root key, an offer, a log or a sealed roll is none.
    """
    root_key = _root_key(request.root_key, keys)
    mine = _mine(request.mine)
    given = read_bundle(request.bundle)
    bundle = Bundle(given.envelope, given.chain, _key_list(given.key_list, root_key, keys))
    if not request.HasField("mine"):
        judged = judge("", bundle, verification(bundle, root_key))
        return _receipt_message(judged, () if judged.verified is None else citations([judged.verified]))
    found = _judge_all([("", bundle)], root_key, mine)
    response = found.receipts[0]
    response.verified = found.verified
    response.level = ""
    for session in found.sessions:
        response.session.CopyFrom(session)
        response.level = session.level if found.verified else ""
        response.rests_on[:] = session.rests_on
    if found.HasField("without_session"):
        response.without_session.CopyFrom(found.without_session)
    return response


def verify_session(request: service_pb2.VerifySessionRequest, keys: ServiceKeys) -> service_pb2.VerifySessionResponse:
    """Verify receipts together; what fails is an answer. Takes long: not for a loop that others wait on.

    Args:
        request: the bundles, and a root key where it is not this service's.
        keys: the service's own, used for what the request leaves out.

    Raises:
        RequestError: there is no receipt in a bundle, there are too many, or the root key, an offer, a log or a sealed
            roll is none.
    """
    root_key = _root_key(request.root_key, keys)
    mine = _mine(request.mine)
    if not request.bundles:
        raise RequestError("REQUIRED", "a session has at least one receipt", field="bundles")
    require_limit("session_receipts", len(request.bundles), MAX_SESSION_RECEIPTS, "bundles")
    receipts: list[tuple[str, Bundle]] = []
    for index, message in enumerate(request.bundles):
        try:
            given = read_bundle(message)
        except RequestError as error:
            error.field = f"bundles[{index}]{error.field.removeprefix('bundle')}"
            raise
        receipts.append(("", Bundle(given.envelope, given.chain, _key_list(given.key_list, root_key, keys))))
    return _judge_all(receipts, root_key, mine)


def _judge_all(
    receipts: Iterable[tuple[str, Bundle]], root_key: bytes, mine: Mine
) -> service_pb2.VerifySessionResponse:
    judged, reports = verify_sessions(receipts, root_key, mine=mine)
    missing = mine.without_session(report.session for report in reports)
    held = all(each.verified is not None for each in judged) and all(report.verified for report in reports)
    cited = list(citations([each.verified for each in judged if each.verified is not None]))
    borne_out = all(each.bearing is not Bearing.DIFFERS for each in cited)
    return service_pb2.VerifySessionResponse(
        verified=held and borne_out and not missing,
        receipts=[_receipt_message(each, cited) for each in judged],
        sessions=[session_message(report) for report in reports],
        without_session=missing.message() if missing else None,
    )


def session_message(report: SessionReport) -> service_pb2.SessionReport:
    """Return what came of a session as the contract's message."""
    return service_pb2.SessionReport(
        session_id=report.session_id.hex(),
        table=report.table,
        verified=report.verified,
        receipts=len(report.receipts),
        head=report.head,
        findings=[
            service_pb2.SessionFinding(reason=each.reason, seq=each.seq, message=each.message)
            for each in report.findings
        ],
        open_decisions=[
            service_pb2.OpenDecision(seq=each.seq, decision=each.decision) for each in report.open_decisions
        ],
        level=report.level.name if report.verified else "",
        rests_on=report.level.rests_on,
        closed=report.closed,
        sealed=report.sealed,
    )


def citation_message(citation: Citation) -> service_pb2.Citation:
    """Return a citation as the contract's message."""
    bearing = _BEARINGS[citation.bearing]
    return service_pb2.Citation(check=citation.check, cited=citation.cited, bearing=bearing, field=citation.field)


def _receipt_message(judged: Judged, cited: Iterable[Citation]) -> service_pb2.VerifyReceiptResponse:
    response = service_pb2.VerifyReceiptResponse(digest=judged.digest)
    response.steps.extend(_step_message(step) for step in judged.steps)
    verified = judged.verified
    if verified is not None:
        response.verified = verified.complete
        response.level = verified.level if verified.complete else ""
        response.rests_on.extend(verified.rests_on)
        response.record.CopyFrom(verified.record)
        response.texts.extend(verified.texts)
        response.citations.extend(citation_message(each) for each in cited if each.digest == verified.digest)
    elif isinstance(judged.error, VerificationError):
        response.steps.append(_failed_message(judged.error))
    return response


def _mine(kept: service_pb2.Mine) -> Mine:
    for name in ("offers", "opened_offers", "reveal_logs", "sealed"):
        require_limit("kept", len(getattr(kept, name)), MAX_KEPT, f"mine.{name}")
    field = ""
    try:
        offers: dict[str, list[Offer]] = {"offers": [], "opened_offers": []}
        for name, read in offers.items():
            for index, offer in enumerate(getattr(kept, name)):
                field = f"mine.{name}[{index}]"
                read.append(read_offer(offer))
        logs: list[RevealLog] = []
        for index, log in enumerate(kept.reveal_logs):
            field = f"mine.reveal_logs[{index}]"
            logs.append(read_reveal_log(log))
        sealed: list[Sealed] = []
        for index, told in enumerate(kept.sealed):
            field = f"mine.sealed[{index}]"
            sealed.append(read_sealed(told))
    except RequestError as error:
        error.field = join_path(field, error.field.removeprefix("session.").removeprefix("contributions."))
        raise
    opened = offers["opened_offers"]
    return Mine((*offers["offers"], *opened), tuple(logs), tuple(sealed), frozenset(offer.digest for offer in opened))


def _root_key(given: bytes, keys: ServiceKeys) -> bytes:
    if given and len(given) != PUBLIC_KEY_BYTES:
        raise RequestError(
            "KEY_LENGTH", f"a public key has {PUBLIC_KEY_BYTES} bytes", field="root_key", value=str(len(given))
        )
    return given or keys.root_public_key


def _key_list(given: Envelope | None, root_key: bytes, keys: ServiceKeys) -> Envelope:
    """Return the list to judge by: the service's own where none is given, or where it is the newer one."""
    if given is None:
        return keys.envelope
    if root_key == keys.root_public_key:
        try:
            shown = verify_key_list(given, root_key)
        except VerificationError:
            return given  # step 0 says why it is refused
        if shown.origin == keys.origin and shown.list_version < keys.key_list.list_version:
            return keys.envelope
    return given


def _step_message(step: StepTaken) -> service_pb2.VerifyStep:
    return service_pb2.VerifyStep(number=step.step, name=step.name, result=_RESULTS[step.held], detail=step.detail)


def _failed_message(error: VerificationError) -> service_pb2.VerifyStep:
    where = f" at {error.field}" if error.field else ""
    return service_pb2.VerifyStep(
        number=error.step,
        name=STEP_NAMES[error.step],
        result=service_pb2.STEP_RESULT_FAILED,
        detail=f"{error.reason}{where}: {error.message}",
    )
