"""What the modifiers of a pool or a group do once its dice have grown: which are left, and what each counts for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from fairroll.odds.growth import Test, UnsayableError
from fairroll_rules.notation.exact import tester
from fairroll_rules.notation.selection import Tallying, tally_of
from fairroll_rules.notation.tree import (
    Compare,
    Count,
    Drop,
    Exact,
    Keep,
    Mark,
    Match,
    Modifier,
    Node,
    Rank,
    Sieve,
    Sort,
    Tally,
)

Fixed = Callable[[Node], Exact]
"""What an expression comes to that is the same in every roll; raises UnsayableError for any other."""

Worth = Callable[[Exact], Exact]


class Counted(Enum):
    """Which number of a node is asked for."""

    TOTAL = "total"
    SUCCESSES = "successes"
    FAILURES = "failures"
    CRITICALS = "criticals"
    FUMBLES = "fumbles"

    @property
    def marked(self) -> bool:
        """Whether it counts dice that are marked by their natural faces."""
        return self in (Counted.CRITICALS, Counted.FUMBLES)


def compared(compare: Compare, fixed: Fixed) -> Test:
    """Return the test of a compare point."""
    return tester(compare.operator, fixed(compare.value))


@dataclass(frozen=True, slots=True)
class Ranked:
    """Keep the `count` highest or lowest, or drop them."""

    keep: bool
    highest: bool
    count: int


@dataclass(frozen=True, slots=True)
class Ends:
    """Keep what any of several ranks chooses, or drop it: all see one order, lowest first."""

    keep: bool
    ranks: tuple[Rank, ...]

    def places(self, among: int) -> set[int]:
        """Return the places that are chosen among so many."""
        chosen: set[int] = set()
        for rank in self.ranks:
            count = min(rank.count, among)
            inside = set(range(among - count, among)) if rank.highest else set(range(count))
            chosen |= set(range(among)) - inside if rank.others else inside
        return chosen


@dataclass(slots=True)
class Choosing:
    """The modifiers of a pool or a group that choose and count.

    Attributes:
        ranks: those that choose by place, in order.
        sieves: those that choose by value: whether what a test holds for is kept, and the tests.
        match: how many dice must share a value, and for which values it holds.
    """

    ranks: list[Ranked | Ends] = field(default_factory=list)
    sieves: list[tuple[bool, tuple[Test, ...]]] = field(default_factory=list)
    counts: list[tuple[Count, Test]] = field(default_factory=list)
    tallies: list[Tallying] = field(default_factory=list)
    match: tuple[int, Test | None] | None = None
    marks: list[Mark] = field(default_factory=list)

    @property
    def counting(self) -> bool:
        """Whether anything counts successes."""
        return bool(self.counts or self.tallies or self.match)

    @property
    def chooses(self) -> bool:
        """Whether anything is left out."""
        return bool(self.ranks or self.sieves)

    def add(self, modifier: Modifier, fixed: Fixed) -> bool:
        """Take a modifier, if it is one that chooses or counts.

        Raises:
            UnsayableError: what it chooses cannot be said by place or by value.
        """
        match modifier:
            case Keep(highest, count) | Drop(highest, count):
                self.ranks.append(Ranked(isinstance(modifier, Keep), highest, int(fixed(count))))
            case Sieve(keep, points):
                self._sieve(keep, points, fixed)
            case Count(compare=compare):
                self.counts.append((modifier, compared(compare, fixed)))
            case Tally(kind, compare):
                self.tallies.append(Tallying(kind, None if compare is None else compared(compare, fixed)))
            case Match(total, count, compare):
                if total:
                    self.match = count, None if compare is None else compared(compare, fixed)
            case Mark():
                self.marks.append(modifier)
            case Sort():
                pass
            case _:
                return False
        return True

    def _sieve(self, keep: bool, points: Sequence[Compare | Rank], fixed: Fixed) -> None:  # noqa: FBT001  private
        ranks = tuple([point for point in points if isinstance(point, Rank)])
        tests = tuple([compared(point, fixed) for point in points if isinstance(point, Compare)])
        if ranks and tests:
            raise UnsayableError
        if tests:
            self.sieves.append((keep, tests))
        elif len(ranks) == 1:
            (rank,) = ranks
            # To keep all but the lowest is to drop the lowest.
            self.ranks.append(Ranked(keep != rank.others, rank.highest, rank.count))
        else:
            self.ranks.append(Ends(keep, ranks))

    def places(self, count: int) -> list[int]:
        """Return which of so many, lowest first, are left by those that choose by place."""
        left = list(range(count))
        for choice in self.ranks:
            if isinstance(choice, Ends):
                places = choice.places(len(left))
                left = [place for index, place in enumerate(left) if (index in places) == choice.keep]
                continue
            kept = max(0, min(len(left), choice.count if choice.keep else len(left) - choice.count))
            left = left[len(left) - kept :] if choice.highest == choice.keep else left[:kept]
        return left

    def worth(self, number: Counted) -> Worth:
        """Return what one die or total counts for that is not left out by its place."""
        score = self._score(number)
        if not self.sieves:
            return score

        def sieved(value: Exact) -> Exact:
            stays = all(any(test(value) for test in tests) == keep for keep, tests in self.sieves)
            return score(value) if stays else 0

        return sieved

    def _score(self, number: Counted) -> Worth:
        if self.tallies:
            return self._tallied(number)
        if not self.counts:
            return itself if number is Counted.TOTAL else _nothing

        def score(value: Exact) -> Exact:
            success = failure = 0
            for count, test in self.counts:
                if test(value):
                    if not count.failure:
                        success = max(success, count.weight)
                    else:
                        failure = 0 if count.rest and success else max(failure, count.weight)
            return {Counted.TOTAL: success - failure, Counted.SUCCESSES: success, Counted.FAILURES: failure}[number]

        return score

    def _tallied(self, number: Counted) -> Worth:
        def score(value: Exact) -> Exact:
            worth: Exact = value
            success: bool | None = None
            for tally in self.tallies:
                worth, success = tally_of(tally, value, worth, success=success)
            return worth if number is Counted.TOTAL else int(success is (number is Counted.SUCCESSES))

        return score


def itself(value: Exact) -> Exact:
    """Return the value: what counts for what it is."""
    return value


def _nothing(_value: Exact) -> Exact:
    return 0
