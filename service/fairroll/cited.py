"""Receipts that cite each other: whether what a check takes from another receipt is what that receipt says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from fairroll.verify import Rolled, Verified
from fairroll_rules.systems import system_of, systems


class Bearing(Enum):
    """What is known of a cited receipt."""

    NOT_SHOWN = "not among the receipts shown"
    SHOWN = "shown and verified"
    DIFFERS = "shown and verified, and it DOES NOT SAY what is taken from it"


@dataclass(frozen=True, slots=True)
class Citation:
    """One citation.

    Attributes:
        digest: of the receipt that cites.
        check: the place of the check in it, from 0.
        cited: the digest that it cites.
        bearing: what is known of that receipt.
        field: of the check, what the cited receipt does not bear out; "" where it does, or where nothing is taken.
    """

    digest: str
    check: int
    cited: str
    bearing: Bearing
    field: str = ""


def citations(receipts: Sequence[Verified]) -> Iterator[Citation]:
    """Yield every citation of some verified receipts, in their order; receipts bear each other out."""
    known = {receipt.digest: receipt for receipt in receipts}
    for receipt in receipts:
        for index, check in enumerate(receipt.record.request.checks):
            shown = [known[digest] for digest in check.cites if digest in known]
            field = _not_borne_out(receipt.rolled[index], shown)
            for digest in check.cites:
                bearing = Bearing.NOT_SHOWN if digest not in known else Bearing.DIFFERS if field else Bearing.SHOWN
                yield Citation(receipt.digest, index, digest, bearing, field if digest in known else "")


def _not_borne_out(citing: Rolled | None, shown: Sequence[Verified]) -> str:
    """Return the field for which no cited outcome of the check's own system stands, where the system can say so."""
    if citing is None or not shown:
        return ""
    system = system_of(citing.check)
    judge = getattr(systems()[system], "not_borne_out", None)
    if judge is None:
        return ""
    cited = [roll for receipt in shown for roll in receipt.rolled if roll is not None]
    outcomes = [roll.resolved.outcome for roll in cited if system_of(roll.check) == system]
    field: str = judge(citing.check, outcomes)
    return field
