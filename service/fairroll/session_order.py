"""What the receipts of one session show beside one another: seqs, `previous` links, nothing after a close.

In one pass in the order of seq, holding the receipts of two seqs: so a session of any length needs no more memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import merge
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from fairroll.hashing import NO_PREVIOUS


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a session, though each receipt may hold.

    Attributes:
        reason: as in docs/errors.md.
        seq: where.
        message: a sentence for people.
    """

    reason: str
    seq: int
    message: str


class Place(NamedTuple):
    """Where a receipt that holds stands in its session.

    Attributes:
        seq: its number.
        digest: 64 hex digits, or 32 bytes: one of the two throughout.
        previous: what it names as the receipt before it, spelled as the digest is.
        request_digest: what "the same request" means.
        close: whether it closes the session.
        sealed: whether there is no receipt and the digest was told: what it follows is not known.
    """

    seq: int
    digest: str | bytes
    previous: str | bytes
    request_digest: str | bytes
    close: bool
    sealed: bool = False


_SEQ = attrgetter("seq")
_NOTHING = frozenset({NO_PREVIOUS, bytes.fromhex(NO_PREVIOUS)})


def order_findings(places: Iterable[Place], sealed: Mapping[int, str | bytes] | None = None) -> Iterator[Finding]:
    """Yield what is wrong with the order of a session's receipts, by seq.

    Args:
        places: the receipts', by seq.
        sealed: by seq, the digest that was told of a roll, spelled as theirs: it stands where there is no receipt.
    """
    if sealed:
        told = (Place(seq, digest, b"", digest, close=False, sealed=True) for seq, digest in sorted(sealed.items()))
        places = merge(places, told, key=_SEQ)
    expected, before, closed = 0, _NOTHING, None
    for seq, group in groupby(places, key=_SEQ):
        same = list(group)
        if len(same) > 1:
            yield from _take_seal(seq, same)
            yield from _twice(seq, same)
        if seq > expected:
            gap = f"seq {expected}" if seq == expected + 1 else f"seqs {expected} to {seq - 1}"
            yield Finding("SEQ_MISSING", expected, f"there is no receipt of {gap}")
            before = frozenset()
        for place in same:
            if before and not place.sealed and place.previous not in before:
                yield Finding("PREVIOUS_DIFFERS", seq, f"seq {seq} names another receipt than that of seq {seq - 1}")
            if closed is not None:
                yield Finding("AFTER_CLOSE", seq, f"the session was closed at seq {closed}")
        if closed is None and any(place.close for place in same):
            closed = seq
        expected, before = seq + 1, frozenset([place.digest for place in same])


def _take_seal(seq: int, same: list[Place]) -> Iterator[Finding]:
    """Take out what was told of a seq of which there is a receipt."""
    for seal in [place for place in same if place.sealed]:
        same.remove(seal)
        if seal.digest not in {place.digest for place in same}:
            yield Finding("SEAL_DIFFERS", seq, f"the receipt of seq {seq} is not the one that was sealed")


def _twice(seq: int, same: list[Place]) -> Iterator[Finding]:
    if len({place.request_digest for place in same}) > 1:
        message = f"seq {seq} was used by two requests: the operator signed both"
    else:
        message = f"seq {seq} has two receipts for one request"
    for _ in same[1:]:
        yield Finding("SEQ_TWICE", seq, message)
