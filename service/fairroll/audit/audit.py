"""The audit: everything is judged, then sessions are read in their order, then dice and outcomes are counted."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from random import Random

from fairroll import json_codec
from fairroll.audit import statistics
from fairroll.audit.asked import asked
from fairroll.audit.book import Book, Entry
from fairroll.audit.judging import Fact, Failed, Numbered, Terms
from fairroll.audit.odds import check_of, odds_rows
from fairroll.audit.pool import Pool
from fairroll.audit.reading import Reading
from fairroll.audit.tally import Tally, Window
from fairroll.bundle import MAX_CHAIN, Bundle
from fairroll.envelope import Envelope
from fairroll.errors import KeyFileError, RequestError, Step, VerificationError
from fairroll.key_list import KeyList, KeyStatus, check_successor, verify_key_list
from fairroll.levels import NOTHING_KEPT, Facts, Level, Mine, WithoutSession
from fairroll.session_order import Finding, Place, order_findings
from fairroll.trust import TrustFile
from fairroll.v1 import roll_pb2, session_pb2

MAX_SHOWN = 1_000
"""Failures, sessions and findings that are kept to be shown; all are counted."""
MAX_EVIDENCE = 50
MAX_CHECKS = 2_000
"""Different checks of which exact odds are found: those that were rolled most often."""
MAX_SHOWN_CHECKS = 12

Progress = Callable[[str, int], None]
"""Is told what is going on, and how many were done."""


@dataclass(frozen=True, slots=True)
class Open:
    """A receipt that waits for decisions which no other answers."""

    seq: int
    kinds: tuple[str, ...]


@dataclass
class SessionResult:
    """What came of a session; `findings` and `open` are the first ones, their numbers those of all.

    `closed` is whether the last receipt is its close; `sealed` the seqs where a digest that the auditor was told
    stands for a receipt; `level` what it is worth, where it is verified.
    """

    session_id: bytes
    origin: str
    tenant: str
    table: str
    one_off: bool
    receipts: int = 0
    last_seq: int = 0
    heads: list[bytes] = field(default_factory=list)
    complete: bool = True
    guarded: bool = True
    previewed: bool = False
    closed: bool = False
    sealed: list[int] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    finding_count: int = 0
    open: list[Open] = field(default_factory=list)
    open_count: int = 0
    level: Level | None = None

    @property
    def verified(self) -> bool:
        """Whether nothing is wrong with it; a decision that waits is not."""
        return self.complete and not self.finding_count

    @property
    def facts(self) -> Facts:
        """What its level depends on, beside what the auditor kept."""
        return Facts(
            whole=self.verified,
            guarded=self.guarded,
            previewed=self.previewed,
            closed=self.closed,
            sealed=bool(self.sealed),
        )


@dataclass(frozen=True, slots=True)
class Shown:
    """A receipt as evidence: where it was found, and itself."""

    name: str
    digest: bytes
    request_digest: bytes
    envelope: Envelope


@dataclass(frozen=True, slots=True)
class Evidence:
    """Receipts that exclude one another: whose doing they are depends on the guard that signed them."""

    reason: str
    table: str
    seq: int
    receipts: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class HeadResult:
    """A head that another participant named, and where it stands here: session and seq, or nowhere."""

    digest: bytes
    table: str = ""
    seq: int = -1
    is_last: bool = False


@dataclass
class CheckResult:
    """One check that was rolled often: its outcomes in order, how often each came and its chance."""

    body: bytes
    rolls: int
    values: list[tuple[str, int, float]]
    test: statistics.Test


@dataclass
class Statistics:
    """What the dice did."""

    tally: Tally
    tests: list[statistics.Test]
    checks: list[CheckResult]
    different_checks: int
    checks_with_odds: int


@dataclass
class Audit:
    """What came of an audit. Lists hold the first MAX_SHOWN; the numbers are those of all."""

    sources: tuple[str, ...]
    items: int = 0
    receipts: int = 0
    copies: int = 0
    failed: int = 0
    failures: list[Failed] = field(default_factory=list)
    failures_by_step: list[tuple[int, str, int]] = field(default_factory=list)
    unjudged: int = 0
    unjudged_by_reason: list[tuple[str, int]] = field(default_factory=list)
    development: bool = False
    saved: int = 0
    key_lists: list[KeyList] = field(default_factory=list)
    key_list_errors: list[VerificationError] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    passed_over: int = 0
    reports: list[str] = field(default_factory=list)
    sessions: list[SessionResult] = field(default_factory=list)
    session_count: int = 0
    one_off_count: int = 0
    sessions_unverified: int = 0
    levels: Counter[str] = field(default_factory=Counter)
    level_sentences: dict[str, Counter[str]] = field(default_factory=dict)
    without_session: WithoutSession = field(default_factory=WithoutSession)
    evidence: list[Evidence] = field(default_factory=list)
    evidence_count: int = 0
    heads: list[HeadResult] = field(default_factory=list)
    statistics: Statistics | None = None

    @property
    def verified(self) -> bool:
        """Whether there are receipts, each of them holds in every step, and nothing is wrong with any session."""
        return bool(self.receipts) and not (
            self.failed
            or self.unjudged
            or self.sessions_unverified
            or self.key_list_errors
            or self.changed
            or self.without_session
            or any(head.seq < 0 for head in self.heads)
        )


@dataclass(frozen=True)
class Wanted:
    """What is wanted of an audit.

    Attributes:
        terms: by what to judge.
        trust: the trust file, if one was named.
        heads: digests that other participants named as their last.
        mine: what the auditor kept: levels above L0 are granted against it.
        jobs: how many processes.
    """

    terms: Terms
    trust: TrustFile | None = None
    heads: tuple[bytes, ...] = ()
    mine: Mine = NOTHING_KEPT
    jobs: int = 1


def audit(names: Sequence[str], wanted: Wanted, progress: Progress = lambda _, __: None) -> Audit:
    """Audit the receipts of files, folders and standard input (`-`).

    Raises:
        KeyFileError: a source is not there, the trust file cannot be used, or the disk is full.
        ServiceError: WORKER_LOST.
    """
    reading = Reading(names)
    reading.require_sources()
    try:
        with Book() as book, Pool(wanted.terms, wanted.jobs) as pool:
            return _Auditor(reading, wanted, book, pool, progress).run()
    except sqlite3.Error as error:
        raise KeyFileError("FILE_NOT_WRITTEN", f"the audit's own notes: {error}", field="TMPDIR") from error


class _Auditor:
    """One audit while it runs."""

    def __init__(self, reading: Reading, wanted: Wanted, book: Book, pool: Pool, progress: Progress) -> None:
        self._reading = reading
        self._wanted = wanted
        self._book = book
        self._pool = pool
        self._progress = progress
        self._lists: dict[bytes, Envelope] = {}
        self._concerned: list[session_pb2.Session] = []
        self._result = Audit(tuple(reading.names))

    def run(self) -> Audit:
        self._judge_all()
        self._judge_key_lists()
        self._book.put_in_order()
        self._judge_answers()
        self._count()
        for session_id, first, one_off in self._book.sessions():
            self._take_session(session_id, first, one_off=bool(one_off))
        self._result.without_session = self._wanted.mine.without_session(self._concerned)
        self._compare_heads()
        if self._wanted.terms.values:
            self._result.statistics = self._statistics()
        return self._result

    # Judging

    def _judge_all(self) -> None:
        done = 0
        for batch in self._pool.items(self._reading.items()):
            self._book.add(batch.held, batch.failed)
            self._keep_lists(batch.key_lists)
            self._result.reports += batch.reports
            done += len(batch.held) + len(batch.failed)
            self._progress("judged", done)
        self._result.items = done
        self._result.changed = self._reading.changed
        self._result.passed_over = self._reading.passed_over

    def _keep_lists(self, envelopes: Iterable[Envelope]) -> None:
        for envelope in envelopes:
            self._lists.setdefault(bytes.fromhex(envelope.digest), envelope)

    def _judge_key_lists(self) -> None:
        """Judge the lists beside one another, and every receipt by the newest: what it revokes does not stand."""
        root = self._wanted.terms.root_public_key
        listed = sorted(
            ((verify_key_list(each, root), each) for each in self._lists.values()),
            key=lambda each: each[0].list_version,
        )
        newest: dict[str, KeyList] = {}
        for key_list, envelope in listed:
            try:
                newest[key_list.origin] = self._newer(newest.get(key_list.origin), key_list, envelope)
            except VerificationError as error:
                self._result.key_list_errors.append(error)
        self._result.key_lists = list(newest.values())
        saved = self._wanted.terms.saved
        for key in (key for each in newest.values() for key in each.keys if key.status is KeyStatus.REVOKED):
            marks = ", ".join("?" * len(saved))
            self._book.refuse(
                f"? IN (receipt_key, vrf_key) AND lower(hex(digest)) NOT IN ({marks})",
                (key.key_id, *saved),
                Step.KEYS,
                "KEY_REVOKED",
                f"the {key.use} key is revoked by the newest key list, and this receipt was not saved before",
            )

    def _newer(self, newest: KeyList | None, shown: KeyList, envelope: Envelope) -> KeyList:
        if newest is not None and newest != shown:
            if newest.list_version == shown.list_version:
                raise VerificationError(
                    Step.KEY_LIST,
                    "KEY_LIST_CONFLICT",
                    "two key lists of one version differ: the operator signed both",
                    field="list_version",
                    value=str(shown.list_version),
                )
            check_successor(newest, shown)
        if self._wanted.trust is None:
            return shown
        return self._wanted.trust.judge(envelope, self._wanted.terms.root_public_key, given=False)

    def _judge_answers(self) -> None:
        """Judge answers again that came without their chains, now that the receipts that they continue are known."""
        done = 0
        for batch in self._pool.bundles(self._answers_with_chains()):
            numbers = [*(each.number for each in batch.held), *(each.number for each in batch.failed)]
            self._book.take_out(numbers)
            self._book.add(batch.held, batch.failed)
            done += len(numbers)
            self._progress("answers judged", done)

    def _answers_with_chains(self) -> Iterator[Numbered]:
        last = -1
        while True:
            # A page at a time: what is judged is written while this is read.
            page = list(islice(self._book.without_chain(last), 256))
            if not page:
                return
            for number, name, continues, key_list in page:
                last = number
                if parents := self._chain(continues):
                    yield number, name, Bundle(self._book.envelope(number), parents, self._lists.get(key_list))

    def _chain(self, continues: bytes) -> tuple[Envelope, ...]:
        """Return the receipts from the root to the one that is continued; none where one is missing."""
        parents: list[Envelope] = []
        while continues:
            entry = self._book.entry_of(continues)
            if entry is None or len(parents) == MAX_CHAIN:
                return ()
            parents.insert(0, self._book.envelope(entry.number))
            continues = entry.continues
        try:
            Bundle(parents[-1], tuple(parents)) if parents else None
        except RequestError:
            return ()
        return tuple(parents)

    def _count(self) -> None:
        book, result = self._book, self._result
        result.receipts = book.count("count(DISTINCT digest) FROM held")
        result.copies = book.count("count(*) FROM held") - result.receipts
        result.failed = book.count("count(*) FROM failed")
        columns = "number, name, digest, step, reason, message, field, place, seq"
        result.failures = [
            Failed(*row) for row in book.rows(f"{columns} FROM failed ORDER BY number LIMIT {MAX_SHOWN}")
        ]
        result.failures_by_step = list(
            book.rows("step, reason, count(*) FROM failed GROUP BY step, reason ORDER BY step, 3 DESC, reason")
        )
        result.unjudged_by_reason = list(
            book.rows(
                "unjudged, count(DISTINCT digest) FROM held WHERE unjudged <> '' GROUP BY 1 ORDER BY 2 DESC LIMIT 100"
            )
        )
        result.unjudged = book.count("count(DISTINCT digest) FROM held WHERE unjudged <> ''")
        result.development = bool(book.count(f"count(*) FROM held WHERE facts & {Fact.DEVELOPMENT}"))
        result.saved = book.count(f"count(*) FROM held WHERE facts & {Fact.SAVED}")

    # Sessions

    def _take_session(self, session_id: bytes, first: int, *, one_off: bool) -> None:
        result = self._result
        session = roll_pb2.RollRecord.FromString(self._book.envelope(first).payload).session
        found = SessionResult(session_id, session.origin, session.tenant, session.table, one_off)
        answers = list(islice(self._book.answers(session_id), 100_000)) if not one_off else []
        told = {seq: bytes.fromhex(digest) for seq, digest in self._wanted.mine.sealed_in(session).items()}
        if told:
            shown_seqs = {entry.seq for entry in self._book.entries(session_id) if entry.seq in told}
            found.sealed = sorted(told.keys() - shown_seqs)
        if self._wanted.mine.concern(session):
            self._concerned.append(session)
        order = order_findings(self._watch(found, {seq for seq, _ in answers}), told)
        for finding in chain(order, _branches(answers), self._differences(session_id, session)):
            found.finding_count += 1
            if len(found.findings) < MAX_SHOWN:
                found.findings.append(finding)
        found.findings.sort(key=lambda each: each.seq)
        for reason, seq in dict.fromkeys((each.reason, each.seq) for each in found.findings):
            if reason in ("SEQ_TWICE", "BRANCH"):
                self._take_evidence(found, reason, seq)
        result.session_count += 1
        result.one_off_count += one_off
        result.sessions_unverified += not found.verified
        if found.verified:
            self._grant(found, session)
        shown = not one_off or not found.verified or found.open_count
        if shown and len(result.sessions) < MAX_SHOWN:
            result.sessions.append(found)
        if result.session_count % 1000 == 0:
            self._progress("sessions read", result.session_count)

    def _differences(self, session_id: bytes, session: session_pb2.Session) -> Iterator[Finding]:
        """Yield what contradicts the auditor's own papers."""
        # Only a session with anchors is compared with logs, and it has few seqs.
        anchored = any(part.HasField("anchor") for part in session.contributions)
        entries = self._book.entries(session_id) if anchored else ()
        requests = ((entry.seq, entry.request_digest.hex()) for entry in entries)
        for difference in self._wanted.mine.differences(session, requests):
            yield Finding(*difference)

    def _grant(self, found: SessionResult, session: session_pb2.Session) -> None:
        found.level = self._wanted.mine.level(session, found.facts)
        self._result.levels[found.level.name] += 1
        self._result.level_sentences.setdefault(found.level.name, Counter()).update(found.level.rests_on)

    def _watch(self, found: SessionResult, answered: Collection[int]) -> Iterator[Place]:
        """Hand on the places of a session's receipts, and note what they show on the way."""
        for entry in self._book.entries(found.session_id):
            facts = entry.facts
            found.receipts += 1
            if entry.seq != found.last_seq:
                found.heads.clear()
            found.last_seq = entry.seq
            if len(found.heads) < MAX_EVIDENCE:
                found.heads.append(entry.digest)
            found.complete &= bool(facts & Fact.COMPLETE)
            found.guarded &= bool(facts & Fact.GUARDED)
            found.closed = bool(facts & Fact.CLOSE)
            found.previewed |= facts & (Fact.ANSWER | Fact.GUARDED) == Fact.ANSWER
            if facts & Fact.PENDING and entry.seq not in answered:
                found.open_count += 1
                if len(found.open) < MAX_SHOWN:
                    found.open.append(Open(entry.seq, self._waiting(entry)))
            yield Place(entry.seq, entry.digest, entry.previous, entry.request_digest, found.closed)

    def _waiting(self, entry: Entry) -> tuple[str, ...]:
        record = roll_pb2.RollRecord.FromString(self._book.envelope(entry.number).payload)
        waiting = (each for each in record.outcomes[0].decisions if not each.option_id)
        return tuple(f"{each.kind} of {each.actor}" if each.actor else each.kind for each in waiting)

    def _take_evidence(self, found: SessionResult, reason: str, seq: int) -> None:
        self._result.evidence_count += 1
        if len(self._result.evidence) == MAX_EVIDENCE:
            return
        entries = self._at_seq if reason == "SEQ_TWICE" else self._answering
        shown = tuple(
            Shown(each.name, each.digest, each.request_digest, self._book.envelope(each.number))
            for each in islice(entries(found.session_id, seq), MAX_EVIDENCE)
        )
        self._result.evidence.append(Evidence(reason, found.table, seq, shown))

    def _at_seq(self, session_id: bytes, seq: int) -> Iterator[Entry]:
        yield from (entry for entry in self._book.entries(session_id) if entry.seq == seq)

    def _answering(self, session_id: bytes, seq: int) -> Iterator[Entry]:
        seqs = {answer for parent, answer in self._book.answers(session_id) if parent == seq}
        yield from (entry for entry in self._book.entries(session_id) if entry.seq in seqs)

    def _compare_heads(self) -> None:
        for digest in self._wanted.heads:
            entry = self._book.entry_of(digest)
            if entry is None:
                self._result.heads.append(HeadResult(digest))
                continue
            record = roll_pb2.RollRecord.FromString(self._book.envelope(entry.number).payload)
            last = self._book.count(
                "max(seq) FROM held WHERE session = (SELECT session FROM held WHERE number = ?)", entry.number
            )
            self._result.heads.append(HeadResult(digest, record.session.table, entry.seq, entry.seq == last))

    # Statistics

    def _statistics(self) -> Statistics:
        with_odds = self._find_odds()
        tally = self._tally()
        checks = list(self._check_results())
        tests = [*statistics.family(tally, self._book.windows()), *(each.test for each in checks)]
        statistics.adjust(tests)
        return Statistics(tally, tests, checks, self._book.count("count(*) FROM check_asked"), with_odds)

    def _find_odds(self) -> int:
        """Find the exact odds of what was rolled most often; return of how many checks they were found."""
        asked = list(self._book.rows(f"key, body FROM check_asked ORDER BY rolls DESC, key LIMIT {MAX_CHECKS}"))
        found = 0
        for done, (key, rows) in enumerate(self._pool.map(odds_rows, asked), 1):
            self._book.add_odds((key, *row) for row in rows)
            found += bool(rows)
            self._progress("exact odds found", done)
        return found

    def _tally(self) -> Tally:
        tally = Tally()
        windows: list[Window] = []
        done = 0
        for _, rows in groupby(self._in_order(), key=lambda row: row[0]):
            last, seq = None, -1
            for _, row_seq, number, digest, payload in rows:
                done += 1
                if row_seq == seq:
                    continue  # a second receipt for a seq shows the same stream again
                seq = row_seq
                record = roll_pb2.RollRecord.FromString(payload)
                chance = _chance(digest)
                last, new = self._tally_record(tally, record, number, chance, last)
                windows += new
                if len(windows) > 1000:
                    self._book.add_windows(windows)
                    windows.clear()
                if done % 1000 == 0:
                    self._progress("counted", done)
        self._book.add_windows(windows)
        return tally

    def _in_order(self) -> Iterator[tuple[bytes, int, int, bytes, bytes]]:
        yield from self._book.rows(
            "session, seq, number, digest, payload FROM held ORDER BY session, seq, digest, number"
        )

    def _tally_record(
        self,
        tally: Tally,
        record: roll_pb2.RollRecord,
        number: int,
        chance: Iterator[float],
        last: tuple[str, int, float] | None,
    ) -> tuple[tuple[str, int, float] | None, list[Window]]:
        checks = record.request.checks
        windows: list[Window] = []
        for index, outcome in enumerate(record.outcomes):
            check = checks[index] if index < len(checks) else None
            who = "" if check is None else check.actor
            draws = [(draw.sides, draw.face, draw.actor or who) for draw in outcome.draws]
            new, scores, last = tally.add_draws(draws, chance, last)
            windows += new
            if check is not None:
                for names, name in ((tally.actors, check.actor), (tally.labels, check.label)):
                    if name:
                        named = names.of(name)
                        named.checks += 1
                        named.draws += len(scores)
                        named.score_sum += sum(scores)
        for index, _, _, below, of in self._book.values_of(number):
            check = checks[index]
            if below is None or of is None:
                tally.unplaced += 1
                continue
            position = next(chance)
            tally.place(check.WhichOneof("system") or "", (check.actor, check.label), below, of, position)
        return last, windows

    def _check_results(self) -> Iterator[CheckResult]:
        """Yield the checks that were rolled most often and may fall in more than one way."""
        shown = 0
        for key, body, rolls in self._book.rows("key, body, rolls FROM check_asked ORDER BY rolls DESC, key LIMIT 200"):
            values = list(
                self._book.rows(
                    "value, (SELECT count(*) FROM value v WHERE v.key = o.key AND v.value = o.value), chance"
                    " FROM odds o WHERE key = ? ORDER BY place",
                    key,
                )
            )
            if len(values) > 1:
                test = statistics.class_test("check", "chi-square", [n for _, n, _ in values], [c for *_, c in values])
                test.of = asked(json_codec.to_value(check_of(body)))
                yield CheckResult(body, rolls, values, test)
                shown += 1
            if shown == MAX_SHOWN_CHECKS:
                return


def _branches(answers: Iterable[tuple[int, int]]) -> Iterator[Finding]:
    for seq, group in groupby(answers, key=lambda each: each[0]):
        given = [answer for _, answer in group]
        if len(given) > 1:
            at = " and ".join(dict.fromkeys(map(str, given[:10])))
            yield Finding(
                "BRANCH", seq, f"the pending receipt of seq {seq} was answered {len(given)} times, at seq {at}"
            )


def _chance(digest: bytes) -> Iterator[float]:
    """Yield numbers uniform on 0..1 that follow from a receipt's digest: so a report made again is the same."""
    random = Random(int.from_bytes(digest, "big"))  # noqa: S311  only spreads an outcome over what it covers
    while True:
        yield random.random()
