"""What `fairroll verify` says of a receipt, to people and to programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fairroll import json_codec
from fairroll.cited import Bearing, Citation, citations
from fairroll.cli.decided import decided_lines
from fairroll.cli.output import EXIT_GOOD, error_value
from fairroll.errors import FairrollError, RequestError, VerificationError
from fairroll.key_list import KeyList
from fairroll.levels import WithoutSession
from fairroll.v1 import roll_pb2
from fairroll.verify import STEP_NAMES, Verified
from fairroll.verify_call import citation_message, session_message
from fairroll.verify_session import SessionReport

if TYPE_CHECKING:
    from fairroll.cli.verify import Report

HELD, FAILED, NOT_CHECKED = "STEP_RESULT_HELD", "STEP_RESULT_FAILED", "STEP_RESULT_NOT_CHECKED"

_NAMED = 5
"""So many receipts and findings are named in the last line."""
_DEVELOPMENT = "DEVELOPMENT KEYS: made for trying things out. They prove nothing."
_MARKS = {HELD: "ok", FAILED: "FAILED", NOT_CHECKED: "not checked"}
_WORDS = {
    roll_pb2.PURPOSE_REROLL: "reroll",
    roll_pb2.PURPOSE_EXPLODE: "explode",
}


def value(reports: Sequence[Report]) -> dict[str, Any]:
    """Return the reports as JSON: of each receipt what VerifyReceipt answers, and what only a command line knows."""
    found = cited(reports)
    return {
        "verified": all(report.exit_code == EXIT_GOOD for report in reports) and not differs(found),
        "receipts": [_receipt(report, found) for report in reports],
    }


def cited(reports: Sequence[Report]) -> list[Citation]:
    """Return the citations among the receipts that were verified."""
    return list(citations([report.verified for report in reports if report.verified is not None]))


def differs(found: Sequence[Citation]) -> bool:
    """Whether a cited receipt does not say what is taken from it."""
    return any(each.bearing is Bearing.DIFFERS for each in found)


def citation_lines(found: Sequence[Citation]) -> Iterable[str]:
    """Return the citations for people."""
    for each in found:
        field = f" ({each.field})" if each.field else ""
        yield f"cites {each.cited}"
        yield f"  by check {each.check + 1} of {each.digest}: {each.bearing.value}{field}"


def session_value(
    reports: Sequence[Report], sessions: Sequence[SessionReport], missing: WithoutSession
) -> dict[str, Any]:
    """Return the reports as JSON, what came of each session, and what was kept that is of none."""
    whole = value(reports)
    sessions_verified = all(session.verified for session in sessions)
    whole["verified"] = whole["verified"] and sessions_verified and not missing
    return whole | {
        "sessions": [json_codec.to_value(session_message(session)) for session in sessions],
        "withoutSession": json_codec.to_value(missing.message()),
    }


def missing_lines(missing: WithoutSession) -> Iterable[str]:
    """Return for people what was kept that is of none of the sessions."""
    for offer in missing.opened:
        yield ""
        yield f"OPENED OFFER WITHOUT A SESSION: {offer.digest}, table {offer.table}"
        yield "  No receipt shown here is of its session: someone may have looked ahead and dropped it."
    for offer in missing.offers:
        yield ""
        yield f"OFFER WITHOUT A SESSION: {offer.digest}, table {offer.table}"
        yield "  No receipt shown here is of its session, and nothing that you kept says whether it was opened."
    for log in missing.logs:
        yield ""
        yield f"CHAIN WITHOUT A SESSION: {log.anchor.hex()}, {len(log.requests)} values given"
        yield "  No receipt shown here is of its session: someone may have dropped what they saw."
    for told in missing.sealed:
        yield ""
        yield f"SEALED WITHOUT A SESSION: {told.digest}, table {told.table}, seq {told.seq}"
        yield "  No receipt shown here is of its session."


def session_lines(reports: Sequence[Report], sessions: Sequence[SessionReport]) -> Iterable[str]:
    """Return what came of sessions for people: a line for each receipt that holds, all steps of one that does not."""
    for report in reports:
        if report.exit_code != EXIT_GOOD or report.verified is None:
            yield from lines(report)
            continue
        texts = "; ".join(text.line for text in report.verified.texts) or "no checks"
        seq = report.verified.record.request.seq
        yield f"{report.name}: seq {seq}, {len(report.steps) - 1} steps ok: {texts}"
    for session in sessions:
        yield ""
        count = "1 receipt" if len(session.receipts) == 1 else f"{len(session.receipts)} receipts"
        yield f"session {session.table} ({session.session_id.hex()[:16]}..), {count}"
        yield from (f"  {found.reason} at seq {found.seq}: {found.message}" for found in session.findings)
        for each in session.open_decisions:
            of = f" of {each.decision.actor}" if each.decision.actor else ""
            yield f"  OPEN at seq {each.seq}: {each.decision.kind}{of} waits for an answer"
        yield from (f"  SEALED at seq {seq}: not opened yet, its digest stands for it" for seq in session.sealed)
        yield f"  VERIFIED, level {session.level.name}" if session.verified else "  NOT VERIFIED"
        yield from (f"    {sentence}" for sentence in session.level.rests_on)
        yield from _key_lines(session.receipts)
        yield f"  head {session.head}"


def closing_line(reports: Sequence[Report], sessions: Sequence[SessionReport]) -> str:
    """Return the last line of what is not verified whole: what the exit code says, whatever some session says above."""
    bad = [report for report in reports if report.exit_code != EXIT_GOOD]
    findings = [f"{found.reason} at seq {found.seq} of {each.table}" for each in sessions for found in each.findings]
    told = [f"{len(bad)} of {len(reports)} receipts do not hold ({_some(map(_why, bad))})"] if bad else []
    told += [_some(findings)] if findings else []
    return f"NOT VERIFIED: {'; '.join(told) or 'see above'}"


def _some(texts: Iterable[str]) -> str:
    every = list(texts)
    return ", ".join([*every[:_NAMED], *([".."] if len(every) > _NAMED else [])])


def _why(report: Report) -> str:
    return f"{report.name}: {'not checked' if report.error is None else report.error.reason}"


def lines(report: Report) -> list[str]:
    """Return a report for people."""
    steps = (f"  {step['number']} {step['name']:<10} {_marked(step)}" for step in _steps(report))
    shown = [report.name, *steps]
    if report.verified is not None:
        shown += _verified_lines(report.verified)
    elif report.error is not None:
        failed = _failed_step(report.error)
        where = "NOT READ" if failed is None else f"REFUSED at step {failed[0]}, {failed[1]}"
        shown += [f"  {where}: {report.error.message} [{report.error.reason}]"]
    return shown


def _marked(step: dict[str, Any]) -> str:
    mark, detail = _MARKS[step["result"]], str(step["detail"])
    return detail if detail.startswith(mark) else f"{mark:<7} {detail}"


def _verified_lines(verified: Verified) -> Iterable[str]:
    request, session = verified.record.request, verified.record.session
    if verified.complete:
        yield f"  VERIFIED, level {verified.level}"
    else:
        yield "  NOT VERIFIED WHOLE: the draws are the proof's, and what they mean was not recomputed"
    yield from (f"    {sentence}" for sentence in verified.rests_on)
    yield from _key_lines([verified])
    yield f"  origin {session.origin}, tenant {session.tenant}, table {session.table}, seq {request.seq}"
    texts = verified.texts
    for index, outcome in enumerate(verified.record.outcomes):
        check = request.checks[index] if index < len(request.checks) else roll_pb2.Check()
        named = "".join(f", {name}" for name in (check.actor, check.label) if name)
        yield f"  check {index + 1}: {outcome.engine}{named}"
        yield f"    dice  {_dice(outcome)}"
        if index < len(texts):
            yield from (f"    {line}" for line in texts[index].plain.splitlines())
        yield from (f"      {line}" for line in decided_lines(outcome.decisions))


def _key_lines(receipts: Sequence[Verified]) -> Iterable[str]:
    """What is to be known of the keys of receipts, beside that they hold."""
    if any(each.development for each in receipts):
        yield f"  {_DEVELOPMENT}"
    saved = sum(each.revoked for each in receipts)
    if saved:
        what = "a receipt stands" if saved == 1 else f"{saved} receipts stand"
        yield f"  REVOKED KEY: {what} only because you saved the digest before."


def _dice(outcome: roll_pb2.CheckOutcome) -> str:
    if not outcome.draws and outcome.earlier_draws:
        return "none after those of the receipts before"
    return ", ".join(_die(draw) for draw in outcome.draws) or "none"


def _die(draw: roll_pb2.Draw) -> str:
    word = _WORDS.get(draw.purpose)
    return f"d{draw.sides}={draw.face}" + (f" ({word})" if word else "")


def _receipt(report: Report, found: Sequence[Citation]) -> dict[str, Any]:
    verified = report.verified
    members: dict[str, Any] = {
        "file": report.name,
        "verified": report.exit_code == EXIT_GOOD,
        "steps": _steps(report),
        "level": "" if verified is None or not verified.complete else verified.level,
    }
    if report.error is not None:
        members["error"] = error_value(report.error)
    if verified is not None:
        members |= {
            "restsOn": list(verified.rests_on),
            "digest": verified.digest,
            "sessionId": verified.session_id.hex(),
            "requestDigest": verified.request_digest,
            "keyList": _key_list(verified.key_list),
            "development": verified.development,
            "revoked": verified.revoked,
            "record": json_codec.to_value(verified.record),
            "texts": [json_codec.to_value(text) for text in verified.texts],
            "citations": [
                json_codec.to_value(citation_message(each)) for each in found if each.digest == verified.digest
            ],
        }
    return members


def _key_list(key_list: KeyList) -> dict[str, Any]:
    return {"origin": key_list.origin, "listVersion": key_list.list_version}


def _steps(report: Report) -> list[dict[str, Any]]:
    steps = [
        {
            "number": int(taken.step),
            "name": taken.name,
            "result": HELD if taken.held else NOT_CHECKED,
            "detail": taken.detail,
        }
        for taken in report.steps
    ]
    failed = None if report.error is None else _failed_step(report.error)
    if report.error is not None and failed is not None:
        number, name = failed
        steps.append({"number": number, "name": name, "result": FAILED, "detail": _failure(report.error)})
    return steps


def _failed_step(error: FairrollError) -> tuple[int, str] | None:
    """Return the number and the name of the step that failed; none where the file could not be opened."""
    if isinstance(error, VerificationError):
        return int(error.step), STEP_NAMES[error.step]
    return (0, "bundle") if isinstance(error, RequestError) else None


def _failure(error: FairrollError) -> str:
    where = f" ({error.field})" if error.field else ""
    return f"{error.reason}: {error.message}{where}"
