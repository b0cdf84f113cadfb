"""Verification of sessions: each receipt by its eight steps, and what only receipts beside one another can show.

Seqs without gap or duplicate, `previous` links, every pending receipt answered once, nothing after a close. A receipt
that brings no chain is judged by the one that the others give. Whether the tail was cut off no receipt can show:
compare the head with the other participants'; a session that was closed shows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fairroll.bundle import MAX_CHAIN, Bundle
from fairroll.chain import Parent, is_answer
from fairroll.envelope import Envelope
from fairroll.errors import FairrollError, VerificationError
from fairroll.levels import NOTHING_KEPT, Facts, Level, Mine
from fairroll.receipt import parse_record
from fairroll.session_order import Finding, Place, order_findings
from fairroll.trust import TrustFile
from fairroll.v1 import roll_pb2, session_pb2
from fairroll.verify import StepTaken, Verified, verification


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of one receipt.

    Attributes:
        name: what whoever asked calls it.
        digest: 64 hex digits.
        steps: those taken before the failure, or all.
        verified: where none failed.
        error: why one failed.
    """

    name: str
    digest: str
    steps: tuple[StepTaken, ...] = ()
    verified: Verified | None = None
    error: FairrollError | None = None


@dataclass(frozen=True, slots=True)
class OpenDecision:
    """A decision that waits, and that no receipt of the session answers."""

    seq: int
    decision: roll_pb2.Decision


@dataclass(frozen=True)
class SessionReport:
    """What came of the receipts of one session.

    Attributes:
        session_id: 32 bytes.
        table: the caller's name for it.
        receipts: those that hold, by seq.
        findings: what is wrong.
        open_decisions: what waits.
        complete: whether every step of every receipt held.
        closed: whether the last receipt is the session's close.
        level: what it is worth where it is verified.
        sealed: the seqs at which a roll stands by the digest that was told, and is not opened.
    """

    session_id: bytes
    table: str
    receipts: tuple[Verified, ...]
    findings: tuple[Finding, ...]
    open_decisions: tuple[OpenDecision, ...]
    complete: bool
    closed: bool
    level: Level
    sealed: tuple[int, ...] = ()

    @property
    def verified(self) -> bool:
        """Whether nothing is wrong; a decision that waits is not."""
        return self.complete and not self.findings

    @property
    def head(self) -> str:
        """The digest of the last receipt, to be compared with the other participants'."""
        return self.receipts[-1].digest

    @property
    def session(self) -> session_pb2.Session:
        """The session as its records hold it."""
        return self.receipts[0].record.session


def verify_sessions(
    receipts: Iterable[tuple[str, Bundle]],
    root_public_key: bytes,
    *,
    key_list: Envelope | None = None,
    trust: TrustFile | None = None,
    saved: Collection[str] = (),
    mine: Mine = NOTHING_KEPT,
    others: bool = False,
) -> tuple[list[Judged], list[SessionReport]]:
    """Verify receipts of one session or of several.

    Args:
        receipts: each with a name; one that stands there twice is one.
        root_public_key: 32 bytes that the auditor pinned.
        key_list: as `verification` takes it.
        trust: as `verification` takes it.
        saved: as `verification` takes it.
        mine: what the auditor kept: levels above L0 are granted against it.
        others: whether there was something beside them that could not be read, and may be a receipt of any session.

    Returns:
        What came of each receipt in order, and of each session in the order of its first receipt. What is of
        none of them is `mine.without_session`'s to say.

    Raises:
        KeyFileError: the trust file cannot be used.
    """
    named = list(receipts)
    links = _links(bundle.envelope for _, bundle in named)
    known: dict[Envelope, Parent] = {}
    judged: list[Judged] = []
    for name, bundle in named:
        whole = replace(bundle, chain=bundle.chain or _chain_of(bundle.envelope, links))
        taking = verification(whole, root_public_key, key_list=key_list, trust=trust, saved=saved, known=known)
        judged.append(judge(name, whole, taking))
    return judged, _reports(judged, known, mine, others=others)


def judge(name: str, bundle: Bundle, taking: Iterable[StepTaken]) -> Judged:
    """Take the steps of a receipt's verification to their end, and return what came of them."""
    digest = bundle.envelope.digest
    steps: list[StepTaken] = []
    running = iter(taking)
    try:
        while True:
            steps.append(next(running))
    except StopIteration as end:
        return Judged(name, digest, tuple(steps), verified=end.value)
    except VerificationError as error:
        return Judged(name, digest, tuple(steps), error=error)


def _links(envelopes: Iterable[Envelope]) -> dict[str, tuple[Envelope, str]]:
    """Return each envelope and what it says that it continues, by digest; nothing is judged yet."""
    links: dict[str, tuple[Envelope, str]] = {}
    for envelope in envelopes:
        try:
            links[envelope.digest] = envelope, parse_record(envelope.payload).request.continues
        except VerificationError:
            continue  # its own step 2 says why
    return links


def _chain_of(envelope: Envelope, links: Mapping[str, tuple[Envelope, str]]) -> tuple[Envelope, ...]:
    """Return the receipts from the root to the one that is continued, as far as they are there."""
    chain: list[Envelope] = []
    _, continues = links.get(envelope.digest, (envelope, ""))
    while continues in links and len(chain) < MAX_CHAIN:
        parent, continues = links[continues]
        chain.insert(0, parent)
    # A chain that does not reach its root is none: step 8 then says that the parent is missing.
    return () if continues else tuple(chain)


def _reports(
    judged: Sequence[Judged], known: Mapping[Envelope, Parent], mine: Mine, *, others: bool
) -> list[SessionReport]:
    sessions: dict[bytes, dict[str, Verified]] = {}
    for each in judged:
        if each.verified is not None:
            sessions.setdefault(each.verified.session_id, {})[each.digest] = each.verified
    records = {parent.digest: parent.record for parent in known.values()}
    refused = others or any(each.verified is None for each in judged)
    return [_report(session_id, own.values(), records, mine, refused=refused) for session_id, own in sessions.items()]


def _report(
    session_id: bytes,
    receipts: Iterable[Verified],
    records: Mapping[str, roll_pb2.RollRecord],
    mine: Mine,
    *,
    refused: bool,
) -> SessionReport:
    ordered = tuple(sorted(receipts, key=lambda each: each.record.request.seq))
    answers = _answers(ordered, records)
    session = ordered[0].record.session
    requests = ((each.record.request.seq, each.request_digest) for each in ordered)
    kept = (Finding(*difference) for difference in mine.differences(session, requests))
    told = mine.sealed_in(session)
    sealed = tuple(sorted(told.keys() - {each.record.request.seq for each in ordered}))
    findings = (*order_findings(map(_place, ordered), told), *_branches(answers), *kept)
    open_decisions = tuple(
        OpenDecision(seq, decision)
        for each in ordered
        for seq in [each.record.request.seq]
        if seq not in answers and each.record.outcomes
        if each.record.outcomes[0].status == roll_pb2.CHECK_STATUS_PENDING
        for decision in each.record.outcomes[0].decisions
        if not decision.option_id
    )
    complete, closed = not refused and all(each.complete for each in ordered), ordered[-1].record.request.close
    unguarded = [each for each in ordered if each.record.guard_mode == roll_pb2.GUARD_MODE_NONE]
    facts = Facts(
        whole=complete and not findings,
        guarded=not unguarded,
        previewed=any(is_answer(each.record.request) for each in unguarded),
        closed=closed,
        sealed=bool(sealed),
    )
    return SessionReport(
        session_id,
        session.table,
        ordered,
        tuple(sorted(findings, key=lambda each: each.seq)),
        open_decisions,
        complete=complete,
        closed=closed,
        level=mine.level(session, facts),
        sealed=sealed,
    )


def _place(each: Verified) -> Place:
    request = each.record.request
    return Place(request.seq, each.digest, request.previous, each.request_digest, request.close)


def _answers(ordered: Sequence[Verified], records: Mapping[str, roll_pb2.RollRecord]) -> dict[int, list[Verified]]:
    """Return the answers to the pending record of each seq, whichever digest they name; chains hold answers too."""
    answers: dict[int, list[Verified]] = {}
    for each in ordered:
        parent = records.get(each.record.request.continues)
        if parent is not None:
            answers.setdefault(parent.request.seq, []).append(each)
    return answers


def _branches(answers: Mapping[int, Sequence[Verified]]) -> Iterable[Finding]:
    for seq, given in answers.items():
        if len(given) > 1:
            at = " and ".join(dict.fromkeys(str(each.record.request.seq) for each in given))
            yield Finding(
                "BRANCH", seq, f"the pending receipt of seq {seq} was answered {len(given)} times, at seq {at}"
            )
