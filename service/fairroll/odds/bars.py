"""Odds as bars, for the terminal and for pictures: as many as a person can take in, tails and ranges put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from fairroll.v1 import odds_pb2

TAIL = 0.0005
"""A tail that weighs less than this is one bar, where there are more values than bars."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The values `low`..`high`, how often one of them comes, and how often one of them or more."""

    low: int
    high: int
    chance: float
    at_least: float

    @property
    def name(self) -> str:
        """The value, or the first and the last."""
        return str(self.low) if self.low == self.high else f"{self.low}..{self.high}"


def bars(quantity: odds_pb2.QuantityOdds, most: int) -> list[Bar]:
    """Return at most so many bars (at least 3), lowest first: one a value, or ranges of equal width between tails."""
    values = quantity.values
    if len(values) <= most:
        return [Bar(each.value, each.value, each.chance.value, each.at_least.value) for each in values]
    first, last = 0, len(values) - 1
    whole = values[0].at_least.value
    while whole - values[first + 1].at_least.value < TAIL and first < last - 1:
        first += 1
    while values[last].at_least.value < TAIL and first < last - 1:
        last -= 1
    low, high = values[first].value, values[last].value
    width = ceil((high - low + 1) / (most - 2))
    ranges: dict[int, list[odds_pb2.ValueOdds]] = {}
    for index, each in enumerate(values):
        place = -1 if index < first else most if index > last else (each.value - low) // width
        ranges.setdefault(place, []).append(each)
    return [_together(each) for each in ranges.values()]


def _together(several: Sequence[odds_pb2.ValueOdds]) -> Bar:
    chance = sum([each.chance.value for each in several])
    return Bar(several[0].value, several[-1].value, chance, several[0].at_least.value)


def words(name: str) -> str:
    """Return what a value is called as people write it: `great success` for GREAT_SUCCESS."""
    return name.replace("_", " ").lower() if name.isupper() else name


def rounded(number: float, digits: int) -> str:
    """Return a number for people: so many digits that count, and all those before the point."""
    return f"{number:.{digits}g}" if abs(number) < 10**digits else f"{number:.0f}"


def percent(chance: float) -> str:
    """Return a chance for people: two digits after the point, and never 0 for what can happen."""
    if 0 < chance < 0.0001:
        return "<0.01%"
    return f"{chance * 100:.2f}%"
