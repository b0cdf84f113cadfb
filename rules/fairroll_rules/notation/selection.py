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
class Ranking:
    """The `count` highest or lowest; with `others` all but those. Among equal dice the earlier one is the higher."""

    highest: bool
    count: int
    others: bool


Chooser = Test | Ranking


def chosen_by(chooser: Chooser, values: Sequence[Exact], among: Sequence[int]) -> Sequence[int]:
    """Return which of the indexes `among` are chosen by their values.

    All rankings see one order, so that two of them choose two dice where there are two.
    """
    if not isinstance(chooser, Ranking):
        return [index for index in among if chooser(values[index])]
    ranked = sorted(among, key=lambda index: (values[index], -index))
    count = min(chooser.count, len(ranked))
    if chooser.highest:
        return ranked[: len(ranked) - count] if chooser.others else ranked[len(ranked) - count :]
    return ranked[count:] if chooser.others else ranked[:count]


@dataclass(frozen=True, slots=True)
class Sieving:
    """Keeps, or drops, what any chooser chooses; each looks at all dice that are left."""

    keep: bool
    choosers: tuple[Chooser, ...]
    count: int = 0

    def live(self, values: Sequence[Exact], live: Sequence[int]) -> list[int]:
        """Return which of the dice that are left stay."""
        chosen = {index for chooser in self.choosers for index in chosen_by(chooser, values, live)}
        return [index for index in live if (index in chosen) == self.keep]


@dataclass(frozen=True, slots=True)
class Counting:
    """One compare point that counts; a failure that is `rest` counts no success."""

    failure: bool
    test: Test
    weight: int
    rest: bool = False


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

    selections: tuple[Selecting | Sieving, ...]
    countings: tuple[Counting, ...]
    markings: tuple[Marking, ...]

    @property
    def counting(self) -> bool:
        """Whether dice are counted."""
        return bool(self.countings)

    @property
    def plain(self) -> bool:
        """Whether nothing more is said of a die that counts than that it does."""
        return not (self.countings or self.markings)

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
            if isinstance(selection, Sieving):
                live = selection.live(values, live)
                continue
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
                    # Successes stand before failures, as the parser takes them.
                    failure = 0 if counting.rest and success else max(failure, counting.weight)
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


@dataclass(frozen=True, slots=True)
class Tallying:
    """One rule of what a die counts for; no test holds for every die that is no success."""

    kind: str
    test: Test | None


@dataclass(frozen=True, slots=True)
class TallyPhases(Phases):
    """Phases in which each die counts for what the last rule that holds for it says, else for its value."""

    tallies: tuple[Tallying, ...] = ()

    @property
    def counting(self) -> bool:
        return True

    @property
    def plain(self) -> bool:
        return False

    def tallied(self, value: Exact) -> tuple[Exact, bool | None]:
        """Return what a die counts for, and whether it is a success, a failure, or neither (None)."""
        worth, success = value, None
        for tally in self.tallies:
            worth, success = tally_of(tally, value, worth, success=success)
        return worth, success

    def score(self, value: Exact) -> Counts:
        _, success = self.tallied(value)
        return int(success is True), int(success is False)

    def worth(self, values: Sequence[Exact]) -> tuple[Exact, Counts | None]:
        tallied = [self.tallied(value) for value in values]
        counts = sum([success is True for _, success in tallied]), sum([success is False for _, success in tallied])
        return sum([worth for worth, _ in tallied]), counts

    def fates(self, value: Exact, natural: int, sides: int) -> tuple[Fate, ...]:
        success, failure = self.score(value)
        marked = Phases.fates(self, value, natural, sides)
        return (*marked, *(Fate.SUCCESS,) * success, *(Fate.FAILURE,) * failure)


def tally_of(tally: Tallying, value: Exact, worth: Exact, *, success: bool | None) -> tuple[Exact, bool | None]:
    """Return what one more rule makes of what a die counts for and of its success."""
    if tally.kind in ("df", "sf"):
        holds = success is not True if tally.test is None else tally.test(value)
        if not holds:
            return worth, success
        return (-1 if tally.kind == "df" else -value), False
    even = tally.kind in ("even", "odd")
    holds = (value % 2 == (tally.kind == "odd")) if even else tally.test is None or tally.test(value)
    if tally.kind == "cf":
        return int(holds), False if holds else success
    return int(holds), True if holds else (None if success else success)


@dataclass(frozen=True, slots=True)
class MatchPhases(Phases):
    """Phases in which values count that several dice share."""

    least: int = 2
    test: Test | None = None

    @property
    def counting(self) -> bool:
        return True

    def worth(self, values: Sequence[Exact]) -> tuple[Exact, Counts | None]:
        often: dict[Exact, int] = {}
        for value in values:
            if self.test is None or self.test(value):
                often[value] = often.get(value, 0) + 1
        matches = sum([times >= self.least for times in often.values()])
        return matches, (matches, 0)
