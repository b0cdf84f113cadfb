"""What one process of an audit does: bytes to receipts, receipts through every step, verdicts that are small to send.

A worker judges by public keys alone and keeps nothing between batches but the key lists, which are few. So it does
not matter which worker judges what, and in which order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from hashlib import sha256
from typing import NamedTuple

from fairroll.audit.reading import Item, Unread
from fairroll.bundle import Bundle
from fairroll.chain import Parent, is_answer
from fairroll.cli.receipts import parse_receipt
from fairroll.envelope import KEY_LIST_TYPE, Envelope, Signature
from fairroll.errors import RequestError, VerificationError
from fairroll.key_list import KeyList, verify_key_list
from fairroll.receipt import parse_record
from fairroll.session import ONE_OFF_PREFIX
from fairroll.v1 import roll_pb2
from fairroll.verify import Verified, judge_key_list, verification_by

NOT_READ = -1
"""In the place of a step, where there was no receipt to take it on."""

_CUT = Unread("RECEIPT_CUT", "the file ends in the middle of a receipt: its tail is missing", "")


class Fact(IntFlag):
    """What is true of a receipt that holds."""

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
    """What came of some items; `key_lists` are those that this process saw for the first time."""

    held: list[Held] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    key_lists: list[Envelope] = field(default_factory=list)


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


class Judge:
    """Judges items; remembers key lists."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._lists: dict[Envelope | None, KeyList | VerificationError] = {}
        self._new: list[Envelope] = []

    def items(self, first: int, items: Sequence[Item]) -> Batch:
        """Judge items; the number of the first is given, the others follow."""
        batch = Batch()
        known: dict[Envelope, Parent] = {}
        for number, item in enumerate(items, first):
            if isinstance(item.text, Unread):
                batch.failed.append(Failed(number, item.name, "", NOT_READ, *item.text))
                continue
            try:
                bundle = parse_receipt(item.text)
            except RequestError as error:
                why = Unread(error.reason, error.message, error.field) if item.whole else _CUT
                batch.failed.append(Failed(number, item.name, "", NOT_READ, *why))
                continue
            if bundle.envelope.payload_type == KEY_LIST_TYPE:
                self._take_list(number, item.name, bundle.envelope, batch)
            else:
                self._judge(number, item.name, bundle, known, batch)
        return self._with_lists(batch)

    def bundles(self, bundles: Iterable[tuple[int, str, Bundle]]) -> Batch:
        """Judge receipts whose chains were found among the others."""
        batch = Batch()
        known: dict[Envelope, Parent] = {}
        for number, name, bundle in bundles:
            self._judge(number, name, bundle, known, batch)
        return self._with_lists(batch)

    def _with_lists(self, batch: Batch) -> Batch:
        batch.key_lists, self._new = self._new, []
        return batch

    def _take_list(self, number: int, name: str, envelope: Envelope, batch: Batch) -> None:
        try:
            verify_key_list(envelope, self._terms.root_public_key)
        except VerificationError as error:
            batch.failed.append(_failed(number, name, "", error))
        else:
            self._new.append(envelope)

    def _judge(self, number: int, name: str, bundle: Bundle, known: dict[Envelope, Parent], batch: Batch) -> None:
        try:
            keys = self._key_list(bundle.key_list)
            taking = verification_by(keys, bundle, saved=self._terms.saved, known=known)
            while True:
                next(taking)
        except StopIteration as end:
            batch.held.append(self._held(number, name, bundle, end.value, known))
        except VerificationError as error:
            batch.failed.append(_with_place(_failed(number, name, bundle.envelope.digest, error), bundle.envelope))

    def _key_list(self, bundled: Envelope | None) -> KeyList:
        judged = self._lists.get(bundled)
        if judged is None:
            judged = self._lists[bundled] = self._judge_key_list(bundled)
        if isinstance(judged, VerificationError):
            raise judged
        return judged

    def _judge_key_list(self, bundled: Envelope | None) -> KeyList | VerificationError:
        try:
            judged = judge_key_list(bundled, self._terms.root_public_key, self._terms.key_list)
        except VerificationError as error:
            return error
        if used := self._terms.key_list or bundled:
            self._new.append(used)
        return judged

    def _held(self, number: int, name: str, bundle: Bundle, verified: Verified, known: dict[Envelope, Parent]) -> Held:
        record = verified.record
        request = record.request
        used = self._terms.key_list or bundle.key_list
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
            key_list=b"" if used is None else bytes.fromhex(used.digest),
            payload=bundle.envelope.payload,
            signature=bundle.envelope.signatures[0],
            parents=tuple((bytes.fromhex(known[each].digest), known[each].seq) for each in bundle.chain),
            values=tuple(_values(verified)) if self._terms.values else (),
        )


def _facts(verified: Verified, unjudged: str) -> int:
    record = verified.record
    # Plain integers: flags of an enum cost a microsecond each.
    facts = 0 if unjudged else 1
    if record.guard_mode != roll_pb2.GUARD_MODE_NONE:
        facts |= 2
    if is_answer(record.request):
        facts |= 4
    if record.outcomes and record.outcomes[0].status == roll_pb2.CHECK_STATUS_PENDING:
        facts |= 8
    if record.request.close:
        facts |= 16
    if verified.development:
        facts |= 32
    if verified.revoked:
        facts |= 64
    return facts | 128 if record.session.table.startswith(ONE_OFF_PREFIX) else facts


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


def _with_place(failed: Failed, envelope: Envelope) -> Failed:
    """Add which session and seq it says that it is of, for people who look for it; nothing of it is proved."""
    try:
        record = parse_record(envelope.payload)
    except VerificationError:
        return failed
    return failed._replace(table=record.session.table, seq=record.request.seq)
