"""What one process of an audit does: bytes to receipts, receipts through every step, verdicts that are small to send.

A worker judges by public keys alone and keeps nothing between batches but the key lists, which are few. So it does
not matter which worker judges what, and in which order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from fairroll.audit.reading import CUT, Item, Unread, is_report
from fairroll.bundle import Bundle
from fairroll.chain import Parent, is_answer
from fairroll.cli.receipts import parse_receipt
from fairroll.envelope import KEY_LIST_TYPE, Envelope, Signature
from fairroll.errors import RequestError, VerificationError
from fairroll.key_list import KeyList, verify_key_list
from fairroll.receipt import parse_record
from fairroll.session import ONE_OFF_PREFIX
from fairroll.v1 import roll_pb2
from fairroll.verify import StepTaken, Verified, judge_key_list, verification_by

NOT_READ = -1
"""In the place of a step, where there was no receipt to take it on."""

_CUT = Unread(*CUT, "")


class Fact:
    """What is true of a receipt that holds: plain integers, since the flags of an enum cost a microsecond each."""

    COMPLETE = 1
    """Every step held; otherwise the last could not be judged."""
    GUARDED = 2
    ANSWER = 4
    PENDING = 8
    """It waits for decisions."""
    CLOSE = 16
    DEVELOPMENT = 32
    """A key of it proves nothing."""
    SAVED = 64
    """Its key is revoked, and the auditor had it before."""
    ONE_OFF = 128


class Value(NamedTuple):
    """A check that came to its end without a person's answer: what it may be compared with is its exact odds.

    Attributes:
        check_index: the check's place in its record.
        key: 16 bytes that stand for engine and check, without label, actor and cites.
        check: those, as the system's own message.
        value: what the rules gave, as JSON.
    """

    check_index: int
    key: bytes
    check: bytes
    value: str


class Held(NamedTuple):
    """A receipt of which no step failed; digests and ids are bytes."""

    number: int
    name: str
    digest: bytes
    session_id: bytes
    seq: int
    previous: bytes
    request_digest: bytes
    continues: bytes
    facts: int
    unjudged: str
    receipt_key_id: str
    vrf_key_id: str
    key_list: bytes
    payload: bytes
    signature: Signature
    parents: tuple[tuple[bytes, int], ...]
    values: tuple[Value, ...]


class Failed(NamedTuple):
    """An item that is no receipt, or a receipt of which a step failed; table and seq are what it says of itself."""

    number: int
    name: str
    digest: str
    step: int
    reason: str
    message: str
    field: str
    table: str = ""
    seq: int = -1


@dataclass
class Batch:
    """What came of some items.

    `key_lists` are those that this process saw for the first time, `reports` the names of earlier audits' reports.
    """

    held: list[Held] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    key_lists: list[Envelope] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)


Numbered = tuple[int, str, Bundle]
"""A receipt with its number and its name."""


@dataclass(frozen=True)
class Terms:
    """By what an audit judges.

    Attributes:
        root_public_key: 32 bytes that the auditor pinned.
        key_list: a list to use instead of the receipts' own.
        saved: digests of receipts that the auditor had before a key was revoked.
        values: whether what the checks gave is wanted, for statistics.
    """

    root_public_key: bytes
    key_list: Envelope | None = None
    saved: frozenset[str] = frozenset()
    values: bool = False


class _Listed(NamedTuple):
    """A key list that holds, and its digest."""

    keys: KeyList
    digest: bytes


class Judge:
    """Judges items; remembers key lists."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._lists: dict[Envelope | None, _Listed | VerificationError] = {}
        self._new: list[Envelope] = []

    def items(self, first: int, items: Sequence[Item]) -> Batch:
        """Judge items; the number of the first is given, the others follow."""
        batch = Batch()
        bundles: list[Numbered] = []
        for number, item in enumerate(items, first):
            if isinstance(item.text, Unread):
                batch.failed.append(Failed(number, item.name, "", NOT_READ, *item.text))
                continue
            try:
                bundle = parse_receipt(item.text)
            except RequestError as error:
                if is_report(item.text):
                    batch.reports.append(item.name)
                    continue
                why = Unread(error.reason, error.message, error.field) if item.whole else _CUT
                batch.failed.append(Failed(number, item.name, "", NOT_READ, *why))
                continue
            if bundle.envelope.payload_type == KEY_LIST_TYPE:
                self._take_list(number, item.name, bundle.envelope, batch)
            else:
                bundles.append((number, item.name, bundle))
        return self._judge(bundles, batch)

    def bundles(self, bundles: Iterable[Numbered]) -> Batch:
        """Judge receipts whose chains were found among the others."""
        return self._judge(bundles, Batch())

    def _take_list(self, number: int, name: str, envelope: Envelope, batch: Batch) -> None:
        try:
            verify_key_list(envelope, self._terms.root_public_key)
        except VerificationError as error:
            batch.failed.append(_failed(number, name, "", error))
        else:
            self._new.append(envelope)

    def _judge(self, bundles: Iterable[Numbered], batch: Batch) -> Batch:
        """Take every receipt through its steps, and write down what came of each."""
        known: dict[Envelope, Parent] = {}
        running: list[tuple[Numbered, _Listed, Iterator[StepTaken]]] = []
        for receipt in bundles:
            _, _, bundle = receipt
            listed = self._listed(bundle.key_list)
            if isinstance(listed, VerificationError):
                batch.failed.append(_failed_receipt(receipt, listed))
            else:
                taking = verification_by(listed.keys, bundle, saved=self._terms.saved, known=known)
                running.append((receipt, listed, taking))
        while running:
            # All of them through one step and then through the next: what a step needs of code and tables is used again
            # before another takes its place in the processor's caches. That saves a tenth of what is not arithmetic.
            left: list[tuple[Numbered, _Listed, Iterator[StepTaken]]] = []
            for each in running:
                receipt, by, steps = each
                try:
                    next(steps)
                    left.append(each)
                except StopIteration as end:
                    batch.held.append(self._held(receipt, by, end.value, known))
                except VerificationError as error:
                    batch.failed.append(_failed_receipt(receipt, error))
            running = left
        batch.key_lists, self._new = self._new, []
        return batch

    def _listed(self, bundled: Envelope | None) -> _Listed | VerificationError:
        """Return the key list to judge a bundle by, or why it is none; each is judged once."""
        listed = self._lists.get(bundled)
        if listed is None:
            try:
                keys = judge_key_list(bundled, self._terms.root_public_key, self._terms.key_list)
            except VerificationError as error:
                listed = error
            else:
                used = self._terms.key_list or bundled
                listed = _Listed(keys, b"" if used is None else bytes.fromhex(used.digest))
                self._new += [used] if used else []
            self._lists[bundled] = listed
        return listed

    def _held(self, receipt: Numbered, listed: _Listed, verified: Verified, known: dict[Envelope, Parent]) -> Held:
        number, name, bundle = receipt
        record = verified.record
        request = record.request
        # Only the last step can be one that could not be judged.
        unjudged = "" if verified.steps[-1].held else verified.steps[-1].detail
        return Held(
            number=number,
            name=name,
            digest=bytes.fromhex(verified.digest),
            session_id=verified.session_id,
            seq=request.seq,
            previous=bytes.fromhex(request.previous),
            request_digest=bytes.fromhex(verified.request_digest),
            continues=bytes.fromhex(request.continues),
            facts=_facts(verified, unjudged),
            unjudged=unjudged,
            receipt_key_id=record.receipt_key_id,
            vrf_key_id=record.session.vrf_key_id,
            key_list=listed.digest,
            payload=bundle.envelope.payload,
            signature=bundle.envelope.signatures[0],
            parents=tuple((bytes.fromhex(known[each].digest), known[each].seq) for each in bundle.chain),
            values=tuple(_values(verified)) if self._terms.values else (),
        )


def _facts(verified: Verified, unjudged: str) -> int:
    record = verified.record
    facts = 0 if unjudged else Fact.COMPLETE
    if record.guard_mode != roll_pb2.GUARD_MODE_NONE:
        facts |= Fact.GUARDED
    if is_answer(record.request):
        facts |= Fact.ANSWER
    if record.outcomes and record.outcomes[0].status == roll_pb2.CHECK_STATUS_PENDING:
        facts |= Fact.PENDING
    if record.request.close:
        facts |= Fact.CLOSE
    if verified.development:
        facts |= Fact.DEVELOPMENT
    if verified.revoked:
        facts |= Fact.SAVED
    return facts | Fact.ONE_OFF if record.session.table.startswith(ONE_OFF_PREFIX) else facts


def _values(verified: Verified) -> Iterable[Value]:
    record = verified.record
    if is_answer(record.request):
        return
    for index, (message, outcome, rolled) in enumerate(
        zip(record.request.checks, record.outcomes, verified.rolled, strict=False)
    ):
        if rolled is None or rolled.resolved.outcome is None:
            continue
        system = message.WhichOneof("system") or ""
        check = getattr(message, system).SerializeToString(deterministic=True)
        key = sha256(f"{outcome.engine} ".encode() + check).digest()[:16]
        body = f"{system} ".encode() + check
        yield Value(index, key, body, json.dumps(rolled.resolved.value, separators=(",", ":")))


def _failed(number: int, name: str, digest: str, error: VerificationError) -> Failed:
    return Failed(number, name, digest, int(error.step), error.reason, error.message, error.field)


def _failed_receipt(receipt: Numbered, error: VerificationError) -> Failed:
    """Add which session and seq it says that it is of, for people who look for it; nothing of it is proved."""
    number, name, bundle = receipt
    envelope = bundle.envelope
    failed = _failed(number, name, envelope.digest, error)
    try:
        record = parse_record(envelope.payload)
    except VerificationError:
        return failed
    return failed._replace(table=record.session.table, seq=record.request.seq)
