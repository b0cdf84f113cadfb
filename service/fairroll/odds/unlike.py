"""Dice that must differ: each rolls again while it shows what an earlier one showed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, prod
from typing import Any

from fairroll.odds.chances import NOTHING, Chances, Work, from_fractions
from fairroll.odds.growth import CUT, Limit, Test
from fairroll_rules.limits import MAX_AGAIN
from fairroll_rules.notation.tree import Exact

Fallen = dict[tuple[frozenset[Exact], Any], Fraction]
"""By the faces that may not come again, and by what the dice so far come to: its chance."""


@dataclass(frozen=True, slots=True)
class Unlike:
    """Roll again while an earlier die shows the same, or once; a `test` leaves others alone; `valued` as in `Again`."""

    once: bool
    test: Test | None
    valued: bool


def sets(work: Work, faces: Sequence[int], count: int, worth: Callable[[tuple[int, ...]], Exact]) -> Chances:
    """Return what dice come to that all differ: every set of faces is as likely as any other.

    `worth` is given the faces, lowest first. Raises LimitReached, `odds_work`.
    """
    work.spend(comb(len(faces), count) / 10)
    weights: dict[Exact, int] = {}
    for drawn in combinations(sorted(faces), count):
        value = worth(drawn)
        weights[value] = weights.get(value, 0) + 1
    ends = [Fraction(taken, len(faces)) ** MAX_AGAIN for taken in range(count)]
    ended = 1 - prod([1 - Fraction(taken, len(faces)) * end for taken, end in enumerate(ends)], start=Fraction(1))
    return Chances(weights, comb(len(faces), count)).ending(ended if ended >= CUT else NOTHING)


@dataclass(frozen=True, slots=True)
class OneByOne:
    """Dice that are rolled one after another and remember what was shown.

    Attributes:
        faces: of each.
        step: what must differ.
        limits: applied to the first roll of each die.
        start: what none of them come to.
        join: adds the value of a die to that.
        worth: makes a number of what all come to.
    """

    faces: Sequence[int]
    step: Unlike
    limits: Sequence[Limit]
    start: Any
    join: Callable[[Any, Exact], Any]
    worth: Callable[[Any], Exact]

    def chances(self, work: Work, count: int) -> Chances:
        """Return the chances of so many dice. Raises LimitReached, `odds_work`."""
        fallen: Fallen = {(frozenset(), self.start): Fraction(1)}
        ended = NOTHING
        for _ in range(count):
            following: Fallen = {}
            work.spend(len(fallen) * len(self.faces) / 3)
            for (seen, before), chance in fallen.items():
                kept = NOTHING
                for (face, value), share in self._one(seen).items():
                    key = seen if self._free(face) else seen | {face}, self.join(before, value)
                    following[key] = following.get(key, NOTHING) + chance * share
                    kept += share
                ended += chance * (1 - kept)
            fallen = following
        weights: dict[Exact, Fraction] = {}
        for (_, before), chance in fallen.items():
            value = self.worth(before)
            weights[value] = weights.get(value, NOTHING) + chance
        return from_fractions(weights, lambda value: value, ended)

    def _free(self, face: Exact) -> bool:
        """Tell whether a face may come any number of times."""
        return self.step.test is not None and not self.step.test(face)

    def _one(self, seen: frozenset[Exact]) -> dict[tuple[Exact, Exact], Fraction]:
        """Return what one die shows and is worth in the end, after some faces were seen."""
        one = Fraction(1, len(self.faces))
        found: dict[tuple[Exact, Exact], Fraction] = {}
        again = NOTHING
        for face in self.faces:
            value: Exact = face
            for limit in self.limits:
                value = limit.of(value)
            shown = value if self.step.valued else face
            if shown in seen:
                again += one
            else:
                found[shown, value] = found.get((shown, value), NOTHING) + one
        if not again:
            return found
        good = [face for face in self.faces if self.step.once or face not in seen]
        end = (1 - len(good) * one) ** MAX_AGAIN
        share = again * (1 - (end if end >= CUT else 0)) / len(good)
        for face in good:
            found[face, face] = found.get((face, face), NOTHING) + share
        return found
