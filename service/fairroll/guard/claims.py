"""What is claimed, what may stand in its way, and how a guard answers: without any store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from fairroll.errors import ServiceError, UsedError
from fairroll.v1 import roll_pb2

TOMBSTONE = -1
"""The seq of the one row that stands for a session whose rows retention has removed."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One seq for one request.

    Attributes:
        session_id: 32 bytes.
        seq: 0..2^53-1.
        request_digest: what "the same request" means, 32 bytes.
        engines: the engine versions that resolve it.
        parent_seq: the seq of the receipt that it answers; None for a root or a close.
        closes: whether the session ends with it.
        chain: seq and digest (32 bytes) of each receipt that it says it continues, root first.
    """

    session_id: bytes
    seq: int
    request_digest: bytes
    engines: str
    parent_seq: int | None = None
    closes: bool = False
    chain: tuple[tuple[int, bytes], ...] = ()

    @property
    def looked_up(self) -> tuple[int, ...]:
        """The seqs whose rows decide about the claim."""
        return tuple({self.seq, self.seq - 1, TOMBSTONE, *(seq for seq, _ in self.chain)})


class Row(NamedTuple):
    """What stands at a seq; no receipt digest yet where the answer never left."""

    seq: int
    request_digest: bytes
    receipt_digest: bytes | None
    closes: bool


class Guard(Protocol):
    """A store of claims. Whatever fails in it is GUARD_UNREACHABLE, and then nothing was proved."""

    mode: roll_pb2.GuardMode.ValueType
    """What stands in the records."""

    async def open(self) -> None:
        """Connect, and bring the tables to the version of this program; where that was done, ask whether it answers.

        Raises:
            ServiceError: GUARD_UNREACHABLE.
        """

    async def claim(self, claim: Claim) -> bytes | None:
        """Claim a seq. Return the digest of the receipt that stands for the same request; None where none does yet.

        Raises:
            UsedError: what stands there is in the way.
            ServiceError: GUARD_UNREACHABLE.
        """

    async def stand(self, claim: Claim, receipt_digest: bytes) -> bytes:
        """Store the digest of the receipt that answers a claim, unless one stands; return the one that stands.

        Raises:
            UsedError: SESSION_CLOSED, retention came in between.
            ServiceError: GUARD_UNREACHABLE.
        """

    async def retain(self, idle_seconds: int) -> int:
        """Close each session without a claim for that long: one row takes the place of its rows. Return how many.

        Raises:
            ServiceError: GUARD_UNREACHABLE.
        """

    async def close(self) -> None:
        """Let go of the store."""


def judge(claim: Claim, rows: Mapping[int, Row], answer: Row | None) -> tuple[bool, bytes | None]:
    """Say whether a claim is free to be written; where it is not and nothing is raised, it stands already.

    Args:
        claim: what is asked.
        rows: what stands at the seqs of `claim.looked_up`.
        answer: what answers the same parent, if anything does.

    Returns:
        True and None; or False and the digest that stands, None where the answer never left.

    Raises:
        UsedError: SEQ_USED, SESSION_CLOSED, SEQ_GAP, CHAIN_NOT_STANDING or ANSWERED_ALREADY.
    """
    own = rows.get(claim.seq)
    if own is not None:
        if own.request_digest != claim.request_digest:
            raise used("SEQ_USED", f"seq {claim.seq} was used by another request", "seq", own, claim.seq)
        return False, own.receipt_digest
    before = rows.get(claim.seq - 1)
    if TOMBSTONE in rows or (before is not None and before.closes):
        raise used("SESSION_CLOSED", "the session is closed", "seq", rows.get(TOMBSTONE) or before, claim.seq)
    if claim.seq and before is None:
        raise used("SEQ_GAP", f"nothing was rolled at seq {claim.seq - 1} yet", "seq", None, claim.seq)
    for index, (seq, digest) in enumerate(claim.chain):
        row = rows.get(seq)
        if row is None or row.receipt_digest != digest:
            message = f"another receipt stands at seq {seq}"
            raise used("CHAIN_NOT_STANDING", message, f"chain[{index}]", row, seq)
    if answer is not None:
        message = f"the receipt was answered at seq {answer.seq}"
        raise used("ANSWERED_ALREADY", message, "continues", answer, answer.seq)
    return True, None


def used(reason: str, message: str, field: str, row: Row | None, seq: int) -> UsedError:
    """Return the error for what stands in a claim's way, with the digest that stands."""
    digest = row.receipt_digest.hex() if row is not None and row.receipt_digest is not None else ""
    if row is not None and not digest and reason in ("SEQ_USED", "ANSWERED_ALREADY"):
        message += ", whose receipt never left"
    return UsedError(reason, f"{message}: {digest}" if digest else message, field=field, value=str(seq), digest=digest)


def unreachable(error: BaseException) -> ServiceError:
    """Return the error for a store that does not do what it is asked."""
    failure = ServiceError("GUARD_UNREACHABLE", "the guard cannot be reached, so nothing was rolled; ask again")
    failure.__cause__ = error
    return failure


def cause_of(failure: BaseException) -> str:
    """Return what is behind a failure, in one line: some causes have no words of their own, only a name."""
    cause = failure.__cause__ or failure
    return " ".join(str(cause).split()) or type(cause).__name__
