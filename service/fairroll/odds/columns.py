"""Odds of one or two checks on one line of values: as many columns as a picture can hold, each a value or a range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fairroll.odds.bars import TAIL
from fairroll.v1 import odds_pb2

_GAPS = 3
"""So many places a value at most are drawn with their gaps; what is wider stands value by value."""


@dataclass(frozen=True, slots=True)
class Column:
    """The values `low`..`high`, and how often each quantity takes one of them."""

    low: int
    high: int
    chances: tuple[float, ...]


def columns(quantities: Sequence[odds_pb2.QuantityOdds], most: int, edge: int | None = None) -> list[Column]:
    """Return at most `most` columns, lowest first: one a value, else ranges of equal width, without the thin tails.

    Args:
        quantities: one, or two that share the line; their estimates and exact odds alike.
        most: at least 3; one more where `edge` asks for it.
        edge: a value that no range reaches across.
    """
    chances = [{each.value: each.chance.value for each in quantity.values} for quantity in quantities]
    values = sorted({value for each in chances for value in each})
    if len(values) > most:
        values = _without_tails(values, chances)
    if not values:
        return []
    span = values[-1] - values[0] + 1
    if len(values) <= most and (span > most or span > _GAPS * len(values)):
        return [_column(value, value, chances) for value in values]
    width = -(-span // most)
    start = values[0] if edge is None else values[0] - (values[0] - edge) % width
    return [_column(low, low + width - 1, chances) for low in range(start, values[-1] + 1, width)]


def _without_tails(values: list[int], chances: Iterable[dict[int, float]]) -> list[int]:
    """Leave out, at each end, what weighs less than TAIL in every quantity."""
    ends = [_ends(values, own) for own in chances]
    first, last = min(first for first, _ in ends), max(last for _, last in ends)
    return values[first:last]


def _ends(values: Sequence[int], own: dict[int, float]) -> tuple[int, int]:
    first, last, below, above = 0, len(values), 0.0, 0.0
    while first < last - 1 and (below := below + own.get(values[first], 0.0)) < TAIL:
        first += 1
    while last > first + 1 and (above := above + own.get(values[last - 1], 0.0)) < TAIL:
        last -= 1
    return first, last


def _column(low: int, high: int, chances: Sequence[dict[int, float]]) -> Column:
    if low == high:
        return Column(low, high, tuple([own.get(low, 0.0) for own in chances]))
    return Column(low, high, tuple([sum([own.get(value, 0.0) for value in range(low, high + 1)]) for own in chances]))
