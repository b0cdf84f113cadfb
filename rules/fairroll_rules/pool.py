"""Which dice of a pool count, and for how much: pure functions on sequences of values.

A die is named by its index in the pool, so that equal values are never mistaken for one another. Indexes are
returned in draw order. Among equal values the die drawn earlier counts and the one drawn later is dropped, so
that keeping n of m is always the same as dropping the other m - n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence


def keep_highest(values: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the indexes of the `count` highest values; all of them where there are fewer."""
    return tuple(sorted(_highest_first(values)[: max(count, 0)]))


def keep_lowest(values: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the indexes of the `count` lowest values; all of them where there are fewer."""
    return tuple(sorted(_lowest_first(values)[: max(count, 0)]))


def drop_highest(values: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the indexes of what is left without the `count` highest values."""
    return keep_lowest(values, len(values) - max(count, 0))


def drop_lowest(values: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the indexes of what is left without the `count` lowest values."""
    return keep_highest(values, len(values) - max(count, 0))


def rest(count: int, indexes: Iterable[int]) -> tuple[int, ...]:
    """Return the indexes 0..count-1 that are not among `indexes`: the dropped for the kept."""
    gone = frozenset(indexes)
    return tuple([index for index in range(count) if index not in gone])


def take(values: Sequence[int], indexes: Iterable[int]) -> tuple[int, ...]:
    """Return the values at the indexes, in their order."""
    return tuple([values[index] for index in indexes])


def highest(values: Sequence[int]) -> int:
    """Return the index of the highest value, the earliest among equals.

    Raises:
        ValueError: there are no values.
    """
    return max(range(len(values)), key=values.__getitem__)


def lowest(values: Sequence[int]) -> int:
    """Return the index of the lowest value, the earliest among equals.

    Raises:
        ValueError: there are no values.
    """
    return min(range(len(values)), key=values.__getitem__)


def matching(values: Sequence[int], test: Callable[[int], bool]) -> tuple[int, ...]:
    """Return the indexes of the values that pass the test."""
    return tuple([index for index, value in enumerate(values) if test(value)])


def equal_to(values: Sequence[int], value: int) -> tuple[int, ...]:
    """Return the indexes of the dice showing `value`, such as natural ones."""
    return tuple([index for index, other in enumerate(values) if other == value])


def hits(values: Iterable[int], target: int) -> int:
    """Return how many values reach the target number."""
    return sum([value >= target for value in values])


def multiples(values: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return every value that shows with how often it does, highest value first: doubles, triples."""
    return tuple([(value, values.count(value)) for value in sorted(dict.fromkeys(values), reverse=True)])


def _highest_first(values: Sequence[int]) -> list[int]:
    # Stable in reverse too: equal values stay in draw order.
    return sorted(range(len(values)), key=values.__getitem__, reverse=True)


def _lowest_first(values: Sequence[int]) -> list[int]:
    return sorted(range(len(values)), key=values.__getitem__)
