"""Pool functions against slow, obvious twins, over every pool of up to five four-sided dice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations, product

import pytest

from fairroll_rules import pool


def every_pool() -> Iterator[tuple[int, ...]]:
    for count in range(6):
        yield from product(range(1, 5), repeat=count)


def take_away(values: tuple[int, ...], times: int, *, highest: bool) -> tuple[int, ...]:
    """Take the extreme die away `times` times; of equals the one that was drawn last."""
    left = list(enumerate(values))
    for _ in range(min(times, len(values))):
        extreme = max(value for _, value in left) if highest else min(value for _, value in left)
        left.remove([die for die in left if die[1] == extreme][-1])
    return tuple(index for index, _ in left)


@pytest.mark.parametrize("count", [-1, 0, 1, 2, 5, 6, 1000])
def test_keep_and_drop_equal_taking_dice_away_one_by_one(count: int) -> None:
    drop = max(count, 0)
    for values in every_pool():
        keep = max(len(values) - drop, 0)
        assert pool.drop_lowest(values, count) == take_away(values, drop, highest=False)
        assert pool.drop_highest(values, count) == take_away(values, drop, highest=True)
        assert pool.keep_highest(values, keep) == take_away(values, drop, highest=False)
        assert pool.keep_lowest(values, keep) == take_away(values, drop, highest=True)


def test_keeping_more_than_there_is_keeps_all() -> None:
    assert pool.keep_highest((2, 2, 1), 9) == pool.keep_lowest((2, 2, 1), 9) == (0, 1, 2)


def test_the_die_drawn_earlier_counts_among_equals() -> None:
    assert pool.keep_highest((3, 6, 6), 1) == (1,)
    assert pool.keep_lowest((6, 3, 3), 1) == (1,)
    assert pool.drop_lowest((3, 3, 5), 1) == (0, 2)
    assert pool.drop_highest((5, 5, 3), 1) == (0, 2)
    assert pool.highest((3, 6, 6)) == 1
    assert pool.lowest((3, 1, 1)) == 1


def test_the_order_of_the_dice_changes_no_kept_value() -> None:
    for values in permutations((1, 4, 4, 2, 3)):
        assert sorted(pool.take(values, pool.keep_highest(values, 3))) == [3, 4, 4]
        assert sorted(pool.take(values, pool.keep_lowest(values, 3))) == [1, 2, 3]


def test_rest_is_every_index_not_named_once() -> None:
    for values in every_pool():
        kept = pool.keep_highest(values, 2)
        assert sorted((*kept, *pool.rest(len(values), kept))) == list(range(len(values)))
    assert pool.rest(4, (3, 1)) == (0, 2)


def test_take_follows_the_order_of_the_indexes() -> None:
    assert pool.take((5, 6, 7), (2, 0)) == (7, 5)


def test_counts_equal_counting_one_by_one() -> None:
    for values in every_pool():
        for number in range(6):
            assert pool.hits(values, number) == len([value for value in values if value in range(number, 5)])
            assert [values[index] for index in pool.equal_to(values, number)] == [number] * values.count(number)
            assert pool.matching(values, number.__eq__) == pool.equal_to(values, number)
        assert dict(pool.multiples(values)) == Counter(values)
        assert [value for value, _ in pool.multiples(values)] == sorted(set(values), reverse=True)


def test_an_empty_pool_has_no_highest_die() -> None:
    with pytest.raises(ValueError, match="empty"):
        pool.highest(())
    with pytest.raises(ValueError, match="empty"):
        pool.lowest(())
