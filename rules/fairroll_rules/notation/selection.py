"""Which dice of a pool count and for how much: the phases select, count and mark, on plain lists of values.

Among equal values the die drawn earlier counts, as in `fairroll_rules.pool`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fairroll_rules.dice import Dice
from fairroll_rules.notation.runners import Counts, Record, Runner, ask
from fairroll_rules.notation.tree import Exact
from fairroll_rules.outcome import Fate

Test = Callable[[Exact], bool]

KEPT: tuple[Fate, ...] = (Fate.KEPT,)
DROPPED: tuple[Fate, ...] = (Fate.DROPPED,)


@dataclass(frozen=True, slots=True)
class Selecting:
    """One keep or drop."""

    keep: bool
    highest: bool
    count: int | Runner

    def kept_of(self, among: int, amount: int) -> tuple[int, bool]:
        """Return how many of so many dice stay, and whether the highest do: dropping the lowest keeps the highest."""
        kept = amount if self.keep else among - amount
        return max(kept, 0), self.highest == self.keep


@dataclass(frozen=True, slots=True)
class Counting:
    """One compare point that counts."""

    failure: bool
    test: Test
    weight: int


@dataclass(frozen=True, slots=True)
class Marking:
    """One compare point that marks natural faces; None is the highest face (critical) or 1 (fumble)."""

    fate: Fate
    test: Test | None

    def holds(self, natural: int, sides: int) -> bool:
        """Tell whether a natural face is marked."""
        if self.test is None:
            return natural == (sides if self.fate is Fate.CRITICAL else 1)
        return self.test(natural)


@dataclass(frozen=True, slots=True)
class Phases:
    """Everything after the generation of a pool."""

    selections: tuple[Selecting, ...]
    countings: tuple[Counting, ...]
    markings: tuple[Marking, ...]

    @property
    def empty(self) -> bool:
        """Whether all dice simply count."""
        return not (self.selections or self.countings or self.markings)

    def amounts(self, dice: Dice, records: list[Record]) -> list[int]:
        """Return how many each selection keeps or drops, rolled where that has dice."""
        return [ask(selection.count, dice, records) for selection in self.selections]

    def live(self, values: Sequence[Exact], amounts: Sequence[int]) -> Sequence[int]:
        """Return the indexes of the values that count, in draw order."""
        live: Sequence[int] = range(len(values))
        for selection, amount in zip(self.selections, amounts, strict=True):
            kept, top = selection.kept_of(len(live), amount)
            if kept >= len(live):
                continue
            # The sort is stable in reverse too: equals stay in draw order.
            live = sorted(sorted(live, key=values.__getitem__, reverse=top)[:kept])
        return live

    def score(self, value: Exact) -> Counts:
        """Return what one die counts for: the highest weight that matches, on either side."""
        success = failure = 0
        for counting in self.countings:
            if counting.test(value):
                if counting.failure:
                    failure = max(failure, counting.weight)
                else:
                    success = max(success, counting.weight)
        return success, failure

    def worth(self, values: Sequence[Exact]) -> tuple[Exact, Counts | None]:
        """Return the total of the values that count, and the counts."""
        if not self.countings:
            return sum(values), None
        successes = failures = 0
        for value in values:
            success, failure = self.score(value)
            successes += success
            failures += failure
        return successes - failures, (successes, failures)

    def fates(self, value: Exact, natural: int, sides: int) -> tuple[Fate, ...]:
        """Return the fates of a die that counts, from selection on."""
        fates = KEPT
        if self.countings:
            success, failure = self.score(value)
            if success:
                fates = (*fates, Fate.SUCCESS)
            if failure:
                fates = (*fates, Fate.FAILURE)
        for marking in self.markings:
            if marking.holds(natural, sides) and marking.fate not in fates:
                fates = (*fates, marking.fate)
        return fates
