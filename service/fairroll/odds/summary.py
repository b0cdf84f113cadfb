"""What chances come to: mean and variance, quantiles, what is needed, and two of them against each other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from fairroll.odds.chances import Chances

PERCENTS = (1, 5, 10, 25, 50, 75, 90, 95, 99)
"""The quantiles that are told."""

NEEDED_PERCENTS = (50, 75, 90, 100)
"""The chances for which it is told what has to be added."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Chances of whole numbers in order, with what has added up.

    Attributes:
        values: lowest first.
        weights: the weight of each.
        reached: the weight of each value and all above it.
        total: what all weights and those that were lost add up to.
        ended: how much of it is lost to limits of the rules; the rest was cut.
    """

    values: tuple[int, ...]
    weights: tuple[int, ...]
    reached: tuple[int, ...]
    total: int
    ended: Fraction

    @property
    def kept(self) -> int:
        """The weight of all values together."""
        return self.reached[0] if self.reached else 0

    @property
    def cut(self) -> Fraction:
        """The chance of chains of explosions that were cut."""
        return Fraction(self.total - self.kept, self.total) - self.ended

    def mean(self) -> Fraction:
        """Return the mean of what was not lost; 0 where all was."""
        weighed = sum([value * weight for value, weight in zip(self.values, self.weights, strict=True)])
        return Fraction(weighed, self.kept or 1)

    def variance(self, mean: Fraction) -> Fraction:
        """Return the variance around the mean of what was not lost."""
        squares = sum([value * value * weight for value, weight in zip(self.values, self.weights, strict=True)])
        return Fraction(squares, self.kept or 1) - mean * mean

    def quantile(self, percent: int) -> int:
        """Return the least value that so many percent of what was not lost are at or below."""
        kept, last = self.kept, len(self.values) - 1
        if not kept:
            raise ValueError("nothing is left to have a quantile")
        # Rounded up, since weights are whole; what is at or below a value is what does not reach the next.
        wanted = -(-percent * kept // 100)
        place = bisect_left(range(last), wanted, key=lambda index: kept - self.reached[index + 1])
        return self.values[place]

    def at_least(self, value: int) -> int:
        """Return the weight of the value and all above it."""
        place = bisect_left(self.values, value)
        return self.reached[place] if place < len(self.values) else 0

    def bonus(self, value: int, percent: int) -> int | None:
        """Return the least number to add so that `value` is reached in so many percent; None if it never can be."""
        best = None
        for own, reached in zip(self.values, self.reached, strict=True):
            if reached * 100 < percent * self.total:
                break
            best = own
        return None if best is None else value - best


def summary(chances: Chances) -> Summary:
    """Return the chances of whole numbers in order."""
    values = sorted(chances.weights)
    weights = tuple([chances.weights[value] for value in values])
    reached = tuple(accumulate(reversed(weights)))[::-1]
    return Summary(tuple(map(int, values)), weights, reached, chances.total, chances.ended)


def compare(mine: Summary, theirs: Summary) -> tuple[int, int, int]:
    """Return the weights, over the product of both totals, of being higher, equal, and lower."""
    higher = equal = 0
    for value, below, own in zip(theirs.values, _above(mine, theirs.values), theirs.weights, strict=True):
        higher += below * own
        equal += _weight(mine, value) * own
    return higher, equal, mine.kept * theirs.kept - higher - equal


def variance_of_higher(mine: Summary, theirs: Summary) -> tuple[Fraction, Fraction]:
    """Return how much the chance to be higher varies with my value alone, and with theirs alone."""
    by_mine = [theirs.kept - theirs.at_least(value) for value in mine.values]
    by_theirs = _above(mine, theirs.values)
    return _variance(by_mine, mine, theirs.total), _variance(by_theirs, theirs, mine.total)


def _above(mine: Summary, values: Sequence[int]) -> list[int]:
    return [mine.at_least(value + 1) for value in values]


def _weight(mine: Summary, value: int) -> int:
    place = bisect_left(mine.values, value)
    return mine.weights[place] if place < len(mine.values) and mine.values[place] == value else 0


def _variance(chances: Sequence[int], spread: Summary, total: int) -> Fraction:
    """Return the variance of `chances`, over `total`, where each comes with the spread's weight."""
    once = sum([chance * weight for chance, weight in zip(chances, spread.weights, strict=True)])
    twice = sum([chance * chance * weight for chance, weight in zip(chances, spread.weights, strict=True)])
    mean = Fraction(once, spread.total * total)
    return Fraction(twice, spread.total * total * total) - mean * mean
