"""Odds in whole numbers: what `odds` counts with on its way. Adding Fractions instead costs several times as much."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import gcd, lcm
from operator import getitem
from typing import Generic, TypeVar

from fairroll_rules.dice import Face

V = TypeVar("V")

Weighted = tuple[tuple[Face, ...], int]
"""A multiset of faces, lowest first, and in how many orders it can fall."""


@dataclass(frozen=True, slots=True)
class Spread(Generic[V]):
    """The weight of each value; the weights and `lost` add up to `total`."""

    weights: dict[V, int]
    lost: int
    total: int


def common(weights: dict[int, dict[V, int]], lost: dict[int, int]) -> Spread[V]:
    """Add up weights that were counted apart by their totals, `{total: {value: weight}}`, over one total."""
    total = lcm(*weights, *lost)
    added: dict[V, int] = {}
    for own, counted in weights.items():
        scale = total // own
        for value, weight in counted.items():
            added[value] = added.get(value, 0) + weight * scale
    return _lowest_terms(added, sum([weight * (total // own) for own, weight in lost.items()]), total)


def fold(left: Spread[V], right: Spread[V], merge: Callable[[V, V], V]) -> Spread[V]:
    """Return the spread of `merge(a, b)` for independent a of `left` and b of `right`."""
    weights: dict[V, int] = {}
    for a, weight_a in left.weights.items():
        for b, weight_b in right.weights.items():
            value = merge(a, b)
            weights[value] = weights.get(value, 0) + weight_a * weight_b
    total = left.total * right.total
    return _lowest_terms(weights, total - (left.total - left.lost) * (right.total - right.lost), total)


def square(half: Spread[V], merge: Callable[[V, V], V]) -> Spread[V]:
    """Return `fold(half, half, merge)`: as the order does not matter, half of the pairs with twice the weight."""
    pairs = list(half.weights.items())
    weights: dict[V, int] = {}
    for index, (a, weight_a) in enumerate(pairs):
        value = merge(a, a)
        weights[value] = weights.get(value, 0) + weight_a * weight_a
        twice = 2 * weight_a
        for b, weight_b in pairs[index + 1 :]:
            value = merge(a, b)
            weights[value] = weights.get(value, 0) + twice * weight_b
    total = half.total**2
    return _lowest_terms(weights, total - (half.total - half.lost) ** 2, total)


def _lowest_terms(weights: dict[V, int], lost: int, total: int) -> Spread[V]:
    divisor = gcd(total, lost, *weights.values())
    if divisor > 1:
        weights = {value: weight // divisor for value, weight in weights.items()}
    return Spread(weights, lost // divisor, total // divisor)


def multisets(count: int, sides: int, first: int) -> Iterator[Weighted]:
    """Yield every multiset of the faces of `count` dice, whose draws are numbered from `first`."""
    dice = [[Face(number, sides, draw) for number in range(1, sides + 1)] for draw in range(first, first + count)]
    for indexes in combinations_with_replacement(range(sides), count):
        yield tuple(map(getitem, dice, indexes)), _orders(indexes)


@lru_cache(maxsize=64)
def known_multisets(count: int, sides: int, first: int) -> tuple[Weighted, ...]:
    """Return `multisets`, remembered: for small pools, so that what is kept stays small."""
    return tuple(multisets(count, sides, first))


def _orders(ascending: tuple[int, ...]) -> int:
    """Return in how many orders the dice can fall: n! over the factorials of the runs, die by die."""
    orders, run, last = 1, 0, -1
    for placed, index in enumerate(ascending, 1):
        run = run + 1 if index == last else 1
        orders = orders * placed // run
        last = index
    return orders


def exact(argument: object) -> Hashable:
    """Return a key that tells apart what compares equal: 1 and True, or threes of different dice."""
    if isinstance(argument, tuple):
        return (type(argument), *map(exact, argument))
    if isinstance(argument, Face):
        return (Face, int(argument), argument.sides)
    return (type(argument), argument)
