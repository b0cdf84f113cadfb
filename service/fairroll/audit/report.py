"""An audit as JSON: the whole report. The page is made from this value and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fairroll import json_codec
from fairroll.audit import statistics
from fairroll.audit.audit import MAX_SHOWN, Audit, CheckResult, Evidence, SessionResult, Statistics
from fairroll.audit.judging import NOT_READ, Failed
from fairroll.audit.odds import check_of
from fairroll.audit.reading import REPORT
from fairroll.audit.statistics import Test, face_chances
from fairroll.audit.tally import GRID, DieTally, Names
from fairroll.envelope import envelope_json
from fairroll.errors import Step
from fairroll.levels import WithoutSession
from fairroll.replay import engine_of
from fairroll.v1 import roll_pb2
from fairroll.verify import STEP_NAMES
from fairroll_rules.systems import systems

HISTOGRAM = 16
"""Bars of the histogram of places; a divisor of GRID."""
MAX_NAMES_SHOWN = 100

DEVELOPMENT = "Keys made for trying things out are among those used: they prove nothing."
NOTHING = "There was no receipt to check: this report says nothing about any roll."
LIMITS = (
    """Statistics do not prove fairness. That no roll was chosen follows from proofs and signatures alone, and only as
    far as the level above says; the tests add that the streams, the rules and this verifier did what they should.""",
    """Who knows the dice ahead and asks for the roll that suits him (levels L0 and L1) leaves dice that look fair. What
    he gains shows, if at all, as luck of an actor, and only over many rolls; one roll in a thousand never shows.""",
    """A flag is no verdict: of a hundred reports on fair dice one flags something. Repeat the audit on later rolls.""",
    """Nothing here knows of rolls that are not here: sessions that were dropped, tails that were cut, tables that were
    tried.""",
    """Actors and labels are the caller's words, signed but not checked; many names leave each of them few rolls and
    make every test weaker.""",
    """Rolls that stopped for a decision, and checks whose exact odds take too much work, are counted as dice and not as
    outcomes.""",
)


def value(audit: Audit) -> dict[str, Any]:
    """Return the report of an audit."""
    return {
        "report": REPORT,
        "engines": [engine_of(name) for name in systems()],
        "verified": audit.verified,
        "verdict": verdict(audit),
        "sources": list(audit.sources),
        "level": _level(audit),
        "read": _read(audit),
        "steps": _steps(audit),
        "failuresByReason": [
            {"step": _step_number(step), "name": _step_name(step), "reason": reason, "receipts": count}
            for step, reason, count in audit.failures_by_step
        ],
        "failures": [_failure(each) for each in audit.failures],
        "notChecked": [{"reason": reason, "receipts": count} for reason, count in audit.unjudged_by_reason],
        "keyLists": [
            {"origin": each.origin, "listVersion": each.list_version, "keys": len(each.keys)}
            for each in audit.key_lists
        ],
        "keyListErrors": [{"reason": each.reason, "message": each.message} for each in audit.key_list_errors],
        "sessions": _sessions(audit),
        "heads": [
            {
                "digest": each.digest.hex(),
                "found": each.seq >= 0,
                "table": each.table,
                "seq": each.seq,
                "last": each.is_last,
            }
            for each in audit.heads
        ],
        "evidence": [_evidence(each) for each in audit.evidence],
        "evidenceCount": audit.evidence_count,
        "statistics": None if audit.statistics is None else _statistics(audit.statistics),
        "limits": [" ".join(each.split()) for each in LIMITS],
    }


def verdict(audit: Audit) -> list[str]:
    """Return in sentences what the audit found, the most important first."""
    if not audit.receipts and not audit.failed:
        return [NOTHING]
    told: list[str] = []
    unread = sum(count for step, _, count in audit.failures_by_step if step == NOT_READ)
    if audit.verified:
        told.append(f"Every step of {many(audit.receipts, 'receipt')} holds, and nothing is wrong with any session.")
    if audit.failed - unread:
        told.append(f"{many(audit.failed - unread, 'receipt')} failed a step of verification.")
    if unread:
        told.append(f"{many(unread, 'item')} could not be read as a receipt.")
    if audit.evidence_count:
        told.append(
            f"In {many(audit.evidence_count, 'place')} receipts are signed that exclude one another: see evidence."
        )
    if audit.sessions_unverified:
        told.append(f"{many(audit.sessions_unverified, 'session')} of {audit.session_count:,} did not verify whole.")
    if audit.unjudged:
        told.append(f"{many(audit.unjudged, 'receipt')} could not be judged in every step.")
    told += [f"The key lists contradict one another: {each.message}." for each in audit.key_list_errors]
    if audit.changed:
        told.append(f"{many(len(audit.changed), 'file')} changed while they were read: audit again, of a copy.")
    told += _missing(audit.without_session)
    told += [f"A head that was named is not here: {each.digest.hex()}." for each in audit.heads if each.seq < 0]
    if not audit.receipts:
        told.append("No receipt holds.")
    if audit.development:
        told.append(DEVELOPMENT)
    return told


def _missing(kept: WithoutSession) -> Iterable[str]:
    for offer in kept.opened:
        place = f"{offer.digest}, table {offer.table}"
        yield f"An offer that was opened has no session here: {place}. Someone may have dropped what they foresaw."
    for offer in kept.offers:
        place = f"{offer.digest}, table {offer.table}"
        yield f"An offer has no session here: {place}. Nothing that you kept says whether it was opened."
    for log in kept.logs:
        given = many(len(log.requests), "value")
        yield f"Of the session of a chain there is no receipt here: {log.anchor.hex()}, {given} given."
    for each in kept.sealed:
        place = f"{each.digest}, table {each.table}, seq {each.seq}"
        yield f"Of the session of a sealed roll there is no receipt here: {place}."


def many(count: int, what: str) -> str:
    """Return a number of things in words, such as `1 receipt` and `2,000 receipts`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _level(audit: Audit) -> dict[str, Any]:
    return {
        "sessions": [
            {
                "level": level,
                "sessions": count,
                "restsOn": [
                    {"sentence": sentence, "sessions": of} for sentence, of in audit.level_sentences[level].items()
                ],
            }
            for level, count in sorted(audit.levels.items())
        ],
        "offersWithoutSession": [
            {"digest": each.digest, "table": each.table, "opened": opened}
            for opened, offers in ((True, audit.without_session.opened), (False, audit.without_session.offers))
            for each in offers
        ],
        "development": audit.development,
    }


def level_sentences(level: dict[str, Any]) -> list[str]:
    """Return what a level rests on and does not promise; of a sentence that is not said of all, of how many."""
    every = level["sessions"]
    return [
        each["sentence"] if each["sessions"] == every else f"{each['sentence']} ({each['sessions']:,} of {every:,})"
        for each in level["restsOn"]
    ]


def _read(audit: Audit) -> dict[str, Any]:
    return {
        "items": audit.items,
        "receipts": audit.receipts,
        "copies": audit.copies,
        "failed": audit.failed,
        "notChecked": audit.unjudged,
        "savedBeforeRevocation": audit.saved,
        "changedFiles": audit.changed[:MAX_SHOWN],
        "passedOverFiles": audit.passed_over,
        "passedOverReports": audit.reports[:MAX_SHOWN],
    }


def _steps(audit: Audit) -> list[dict[str, Any]]:
    left = audit.receipts + audit.copies + audit.failed
    left -= sum(count for step, _, count in audit.failures_by_step if step == NOT_READ)
    steps = []
    for step in Step:
        failed = sum(count for at, _, count in audit.failures_by_step if at == step)
        left -= failed
        not_checked = audit.unjudged if step is Step.RULES else 0
        steps.append(
            {
                "number": int(step),
                "name": STEP_NAMES[step],
                "held": left - not_checked,
                "failed": failed,
                "notChecked": not_checked,
            }
        )
    return steps


def _step_number(step: int) -> int | None:
    return None if step == NOT_READ else step


def _step_name(step: int) -> str:
    return "not read" if step == NOT_READ else STEP_NAMES[Step(step)]


def _failure(failed: Failed) -> dict[str, Any]:
    members: dict[str, Any] = {
        "receipt": failed.name,
        "step": _step_number(failed.step),
        "name": _step_name(failed.step),
        "reason": failed.reason,
        "message": failed.message,
    }
    if failed.field:
        members["field"] = failed.field
    if failed.digest:
        members["digest"] = failed.digest
    if failed.seq >= 0:
        members |= {"claims": {"table": failed.table, "seq": failed.seq}}
    return members


def _sessions(audit: Audit) -> dict[str, Any]:
    return {
        "count": audit.session_count,
        "oneOffs": audit.one_off_count,
        "notVerified": audit.sessions_unverified,
        "shown": [_session(each) for each in audit.sessions],
    }


def _session(found: SessionResult) -> dict[str, Any]:
    return {
        "sessionId": found.session_id.hex(),
        "origin": found.origin,
        "tenant": found.tenant,
        "table": found.table,
        "oneOff": found.one_off,
        "receipts": found.receipts,
        "lastSeq": found.last_seq,
        "heads": [each.hex() for each in found.heads],
        "verified": found.verified,
        "level": "" if found.level is None else found.level.name,
        "guarded": found.guarded,
        "closed": found.closed,
        "sealed": found.sealed,
        "findingCount": found.finding_count,
        "findings": [{"reason": each.reason, "seq": each.seq, "message": each.message} for each in found.findings],
        "openCount": found.open_count,
        "open": [{"seq": each.seq, "waitsFor": list(each.kinds)} for each in found.open],
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    requests = {each.request_digest for each in evidence.receipts}
    records = [roll_pb2.RollRecord.FromString(each.envelope.payload) for each in evidence.receipts]
    unguarded = (roll_pb2.GUARD_MODE_UNSPECIFIED, roll_pb2.GUARD_MODE_NONE)
    return {
        "reason": evidence.reason,
        "table": evidence.table,
        "seq": evidence.seq,
        "differentRequests": len(requests) > 1,
        "guarded": any(record.guard_mode not in unguarded for record in records),
        "receipts": [
            {
                "receipt": each.name,
                "digest": each.digest.hex(),
                "requestDigest": each.request_digest.hex(),
                "asked": _asked(record),
                "dice": [f"d{draw.sides}={draw.face}" for outcome in record.outcomes for draw in outcome.draws][
                    :MAX_SHOWN
                ],
                "envelope": envelope_json(each.envelope),
            }
            for each, record in zip(evidence.receipts, records, strict=True)
        ],
    }


def _asked(record: roll_pb2.RollRecord) -> list[Any]:
    request = record.request
    asked: Sequence[Any] = request.checks or request.answers
    return [json_codec.to_value(each) for each in asked]


# Statistics


def _statistics(found: Statistics) -> dict[str, Any]:
    tally, tests = found.tally, found.tests
    judged = [test for test in tests if test.p is not None]
    return {
        "tests": len(judged),
        "tooLittle": len(tests) - len(judged),
        "flagged": [_test(test) for test in sorted(judged, key=lambda test: test.p or 0) if test.flagged],
        "level": statistics.LEVEL,
        "correction": "Holm",
        "draws": tally.draws,
        "drawsNotCounted": tally.uncounted,
        "dice": [_die(die, tests) for _, die in sorted(tally.sizes.items())],
        "all": [_test(test) for test in tests if test.subject == "all dice"],
        "outcomes": {
            "placed": tally.outcomes.checks,
            "withoutOdds": tally.unplaced,
            "differentChecks": found.different_checks,
            "differentChecksWithOdds": found.checks_with_odds,
            "histogram": _histogram(tally.outcomes.grid),
            "meanPlace": _mean(tally.outcomes.middle, tally.outcomes.checks),
            "tests": [_test(test) for test in tests if test.subject == "outcomes"],
            "systems": [
                {
                    "system": name,
                    "placed": position.checks,
                    "meanPlace": _mean(position.middle, position.checks),
                    "tests": [_test(test) for test in tests if test.subject == name],
                }
                for name, position in sorted(tally.systems.items())
            ],
            "checks": [_check(each) for each in found.checks],
        },
        "actors": _names(tally.actors, "actor", tests),
        "labels": _names(tally.labels, "label", tests),
    }


def _test(test: Test) -> dict[str, Any]:
    members: dict[str, Any] = {"subject": test.subject, "test": test.name, "count": test.count}
    if test.of is not None:
        members["of"] = test.of
    return members | {
        "statistic": _rounded(test.statistic),
        "p": _rounded(test.p),
        "adjusted": _rounded(test.adjusted),
        "flagged": test.flagged,
    }


def _rounded(number: float | None) -> float | None:
    """Six digits: what processors differ in is far behind them."""
    return None if number is None else float(f"{number:.6g}")


def _mean(total: float, count: int) -> float | None:
    return _rounded(total / count) if count else None


def _die(die: DieTally, tests: Iterable[Test]) -> dict[str, Any]:
    chances = face_chances(die)
    classes, low = [], 1
    for count, chance in zip(die.counts, chances, strict=True):
        high = low + round(chance * die.sides) - 1
        classes.append({"faces": [low, high], "count": count, "expected": _rounded(chance * die.drawn)})
        low = high + 1
    return {
        "sides": die.sides,
        "draws": die.drawn,
        "faces": classes,
        "tests": [_test(test) for test in tests if test.subject == f"d{die.sides}"],
    }


def _histogram(grid: Sequence[int]) -> list[int]:
    width = GRID // HISTOGRAM
    return [sum(grid[start : start + width]) for start in range(0, GRID, width)]


def _check(found: CheckResult) -> dict[str, Any]:
    return {
        "check": json_codec.to_value(check_of(found.body)),
        "rolls": found.rolls,
        "values": [
            {"value": text, "count": count, "expected": _rounded(chance * found.rolls)}
            for text, count, chance in found.values
        ],
        "test": _test(found.test),
    }


def _names(names: Names, subject: str, tests: Sequence[Test]) -> dict[str, Any]:
    own: dict[str | None, list[Test]] = {}
    for test in tests:
        if test.subject == subject:
            own.setdefault(test.of, []).append(test)

    def order(name: str | None) -> tuple[bool, int, str]:
        return not any(test.flagged for test in own[name]), -names.by_name[name].draws, name or ""

    shown = sorted(names.by_name, key=order)
    return {
        "count": len(shown),
        "shown": [
            {
                "name": name,
                "checks": names.by_name[name].checks,
                "draws": names.by_name[name].draws,
                "placed": names.by_name[name].placed,
                "meanPlace": _mean(names.by_name[name].middle, names.by_name[name].placed),
                "meanScore": _mean(names.by_name[name].score_sum, names.by_name[name].draws),
                "tests": [_test(test) for test in own[name]],
            }
            for name in shown[:MAX_NAMES_SHOWN]
        ],
    }
