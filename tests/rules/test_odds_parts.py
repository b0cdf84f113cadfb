"""Odds of parts: one after another, side by side and merged, against enumeration by hand."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest

from fairroll_rules.decisions import Decisions
from fairroll_rules.dice import Dice, Face, Purpose
from fairroll_rules.odds import Odds, distribution


def by_hand(value: Callable[[tuple[int, ...]], object], *sides: int) -> dict[object, Fraction]:
    """Enumerate every ordered roll of the dice."""
    rolls = list(product(*[range(1, each + 1) for each in sides]))
    counted = Counter(value(faces) for faces in rolls)
    return {each: Fraction(count, len(rolls)) for each, count in counted.items()}


def exploding(dice: Dice, _: Decisions, sides: int) -> tuple[int, None]:
    face = dice.roll(sides)
    total = int(face)
    while face == sides:
        face = dice.again(face, Purpose.EXPLODE)
        total += face
    return total, None


def sum_of(dice: Dice, _: Decisions, count: int, sides: int) -> tuple[int, str]:
    return sum(dice.pool(count, sides)), "what the table sees"


def side_by_side(
    dice: Dice, _: Decisions, args: tuple[tuple[int, ...], ...], merge: Callable[[int, int], int] | None
) -> tuple[object, None]:
    if merge is None:
        return dice.parts(sum_of, args)[0], None
    return dice.parts(sum_of, args, merge=merge)[0], None


@pytest.mark.parametrize("merge", [operator.add, max, min])
@pytest.mark.parametrize(
    "args",
    [
        ((1, 4),),
        ((1, 4), (1, 4)),
        ((1, 3), (1, 3), (1, 3), (1, 3), (1, 3)),
        ((1, 4), (2, 3), (1, 4), (1, 2)),
    ],
)
def test_merged_parts_are_every_roll_of_all_of_them(
    args: tuple[tuple[int, int], ...], merge: Callable[[int, int], int]
) -> None:
    def merged(faces: tuple[int, ...]) -> int:
        left = list(faces)
        sums = [sum([left.pop(0) for _ in range(count)]) for count, _ in args]
        value = sums.pop(0)
        while sums:
            value = merge(value, sums.pop(0))
        return value

    expected = by_hand(merged, *[sides for count, sides in args for _ in range(count)])
    assert distribution(side_by_side, args, merge).weights == expected


def test_parts_without_merge_keep_their_places() -> None:
    expected = by_hand(lambda f: (f[0] + f[1], f[2], f[3]), 3, 3, 4, 2)
    assert distribution(side_by_side, ((2, 3), (1, 4), (1, 2)), None).weights == expected


def test_no_parts_cannot_be_merged() -> None:
    with pytest.raises(ValueError, match="at least one"):
        distribution(side_by_side, (), operator.add)


def one_after_another(dice: Dice, _: Decisions) -> tuple[int, object]:
    first, detail = dice.part(sum_of, 2, 4, actor="Ann")
    second, _detail = dice.part(sum_of, first, 2)
    return second, detail


def test_a_part_feeds_the_next_in_sequence() -> None:
    expected: dict[int, Fraction] = {}
    for first, weight in by_hand(sum, 4, 4).items():
        assert isinstance(first, int)
        for total, chance in by_hand(sum, *[2] * first).items():
            assert isinstance(total, int)
            expected[total] = expected.get(total, Fraction(0)) + weight * chance
    assert distribution(one_after_another).weights == expected


RUNS: list[tuple[object, ...]] = []


def counted(dice: Dice, _decisions: Decisions, *args: object) -> tuple[int, str]:
    RUNS.append(args)
    return int(dice.roll(2)), "seen"


def many_alike(dice: Dice, _decisions: Decisions) -> tuple[tuple[object, ...], None]:
    dice.part(counted, 1, actor="Ann")
    _, details = dice.parts(counted, [(1,), (1,)], ("Ben", "Cid"))
    total, merged = dice.parts(counted, [(1,)] * 6, merge=operator.add)
    return (total, *details, *merged), None


def test_a_part_is_run_once_per_face_however_often_it_is_called() -> None:
    RUNS.clear()
    odds = distribution(many_alike)
    assert RUNS == [(1,), (1,)]
    assert {value[1:] for value in odds.weights} == {(None,) * 8}


def key_by_type(dice: Dice, _: Decisions) -> tuple[int, None]:
    for argument in (1, True, "1", Face(1, 4, 0), Face(1, 6, 0), Face(1, 6, 9), (1, (True,)), (1, (1,))):
        dice.part(counted, argument)
    return 0, None


def test_arguments_that_only_compare_equal_are_different_parts() -> None:
    RUNS.clear()
    distribution(key_by_type)
    assert len(RUNS) == 2 * 7


def lossy_side(dice: Dice, _: Decisions) -> tuple[int, None]:
    value, _detail = dice.part(exploding, 6)
    return value + dice.roll(2), None


def test_what_a_part_loses_is_lost_once_on_every_path() -> None:
    cut = Fraction(1, 36)
    assert distribution(lossy_side, cut=cut).lost == Fraction(1, 216)


def all_explode(dice: Dice, _: Decisions, count: int, merge: Callable[[int, int], int] | None) -> tuple[int, None]:
    if merge is None:
        return sum(dice.parts(exploding, [(6,)] * count)[0]), None
    return dice.parts(exploding, [(6,)] * count, merge=merge)[0], None


@pytest.mark.parametrize("count", [1, 2, 3])
def test_odds_and_what_is_lost_are_exactly_one(count: int) -> None:
    cut = Fraction(1, 200)
    one_lost = distribution(exploding, 6, cut=cut).lost
    plain = distribution(all_explode, count, None, cut=cut)
    merged = distribution(all_explode, count, operator.add, cut=cut)
    assert plain == merged
    assert merged.lost == 1 - (1 - one_lost) ** count
    assert sum(merged.weights.values()) + merged.lost == 1


def loses_all(dice: Dice, _: Decisions) -> tuple[int, None]:
    face = dice.roll(2)
    return (dice.part(exploding, 1)[0] if face == 1 else int(face)), None


def test_a_part_that_loses_all_takes_the_path_with_it() -> None:
    assert distribution(loses_all) == Odds({2: Fraction(1, 2)}, Fraction(1, 2))


def too_few_labels(dice: Dice, _: Decisions) -> tuple[int, None]:
    return sum(dice.parts(sum_of, [(1, 2), (1, 2)], ("Ann",))[0]), None


def test_as_many_labels_as_parts_here_too() -> None:
    with pytest.raises(ValueError, match="1 actors for 2 steps"):
        distribution(too_few_labels)
