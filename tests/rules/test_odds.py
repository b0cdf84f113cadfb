"""Odds from running the rule on every path, against enumeration by hand, closed forms and published numbers."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations, product

import pytest

from fairroll_rules import pool
from fairroll_rules.decisions import Decisions, Option, Question, Who
from fairroll_rules.dice import Dice, DrawnDice, Purpose
from fairroll_rules.errors import AnswerError, CheckError, LimitReached
from fairroll_rules.given import GivenFaces
from fairroll_rules.limits import MAX_AGAIN
from fairroll_rules.odds import CUT, Odds, distribution

Rule = Callable[..., tuple[int, None]]


def by_hand(value: Callable[[tuple[int, ...]], object], *sides: int) -> dict[object, Fraction]:
    """Enumerate every ordered roll of the dice."""
    rolls = list(product(*[range(1, each + 1) for each in sides]))
    counted = Counter(value(faces) for faces in rolls)
    return {each: Fraction(count, len(rolls)) for each, count in counted.items()}


# Rules to run; each is a few lines that use one thing of the doors.


def keep_highest(dice: Dice, _: Decisions, count: int, sides: int, kept: int) -> tuple[int, None]:
    faces = dice.pool(count, sides)
    return sum(pool.take(faces, pool.keep_highest(faces, kept))), None


def two_pools(dice: Dice, _: Decisions) -> tuple[tuple[int, int, int], None]:
    faces = dice.pool(2, 4)
    peril = dice.roll(3)
    more = dice.pool(3, 2)
    return (max(faces), peril, sum(more)), None


def nothing(dice: Dice, _: Decisions) -> tuple[int, None]:
    return len(dice.pool(0, 6)), None


def exploding(dice: Dice, _: Decisions, sides: int) -> tuple[int, None]:
    face = dice.roll(sides)
    total = int(face)
    while face == sides:
        face = dice.again(face, Purpose.EXPLODE)
        total += face
    return total, None


def exploding_pool(dice: Dice, _: Decisions, count: int, sides: int) -> tuple[int, None]:
    total = 0
    for first in dice.pool(count, sides):
        face = first
        total += face
        while face == sides:
            face = dice.again(face, Purpose.EXPLODE)
            total += face
    return total, None


def reroll_ones(dice: Dice, _: Decisions, sides: int) -> tuple[int, None]:
    face = dice.roll(sides)
    while face == 1:
        face = dice.again(face, Purpose.REROLL)
    return int(face), None


def sum_of(dice: Dice, _: Decisions, count: int, sides: int) -> tuple[int, str]:
    return sum(dice.pool(count, sides)), "what the table sees"


def sides_by_roll(dice: Dice, _: Decisions) -> tuple[int, None]:
    return int(dice.roll(2 * dice.roll(3))), None


# Pools.


def test_4d6_keep_three_is_the_published_distribution() -> None:
    odds = distribution(keep_highest, 4, 6, 3)
    published = [1, 4, 10, 21, 38, 62, 91, 122, 148, 167, 172, 160, 131, 94, 54, 21]
    assert odds.weights == {total: Fraction(ways, 1296) for total, ways in enumerate(published, 3)}
    assert odds.lost == 0
    assert odds.mean(int) == Fraction(15869, 1296)


@pytest.mark.parametrize(("count", "sides", "kept"), [(1, 1, 1), (1, 20, 1), (3, 2, 2), (5, 4, 3), (2, 20, 1)])
def test_a_pool_is_every_ordered_roll(count: int, sides: int, kept: int) -> None:
    expected = by_hand(lambda faces: sum(sorted(faces)[-kept:]), *[sides] * count)
    assert distribution(keep_highest, count, sides, kept).weights == expected


def test_pools_and_dice_after_one_another_multiply() -> None:
    expected = by_hand(lambda f: (max(f[:2]), f[2], sum(f[3:])), 4, 4, 3, 2, 2, 2)
    assert distribution(two_pools).weights == expected


def test_an_empty_pool_has_one_outcome() -> None:
    assert distribution(nothing) == Odds({0: Fraction(1)}, Fraction(0))


def test_paths_of_different_lengths_and_sides_are_weighed_each_by_its_own() -> None:
    expected = {n: sum((Fraction(1, 3 * s) for s in (2, 4, 6) if n <= s), Fraction(0)) for n in range(1, 7)}
    assert distribution(sides_by_roll).weights == expected


# Chains.


@pytest.mark.parametrize(("sides", "again"), [(2, 49), (4, 24), (6, 19), (12, 13), (20, 11)])
def test_an_exploding_die_is_its_closed_form_down_to_the_cut(sides: int, again: int) -> None:
    odds = distribution(exploding, sides)
    expected = {
        sides * times + face: Fraction(1, sides ** (times + 1))
        for times in range(again + 1)
        for face in range(1, sides)
    }
    assert odds.weights == expected
    assert odds.lost == Fraction(1, sides ** (again + 1))
    assert odds.lost < CUT <= odds.lost * sides


def test_a_wider_cut_loses_more_and_says_so() -> None:
    odds = distribution(exploding, 6, cut=Fraction(1, 36))
    assert max(odds.weights) == 17
    assert odds.lost == Fraction(1, 216)


def test_a_chain_exactly_as_heavy_as_the_cut_is_followed() -> None:
    assert max(distribution(exploding, 10, cut=Fraction(1, 100)).weights) == 29
    assert max(distribution(exploding, 10, cut=Fraction(1, 99)).weights) == 19


def test_dice_of_one_pool_have_chains_of_their_own() -> None:
    """Both dice of a double explode to the full length: the chance of the longest pair is not lost."""
    odds = distribution(exploding_pool, 2, 6, cut=Fraction(1, 36))
    one = distribution(exploding, 6, cut=Fraction(1, 36))
    expected: Counter[int] = Counter()
    for (a, weight_a), (b, weight_b) in product(one.weights.items(), repeat=2):
        expected[a + b] += weight_a * weight_b  # type: ignore[assignment]  # a Counter of Fractions
    assert odds.weights == expected
    assert odds.lost == 1 - (1 - one.lost) ** 2


def exploding_one_by_one(dice: Dice, decisions: Decisions, count: int, sides: int) -> tuple[int, None]:
    return sum([exploding(dice, decisions, sides)[0] for _ in range(count)]), None


def test_dice_rolled_one_by_one_have_chains_of_their_own() -> None:
    cut = Fraction(1, 36)
    assert distribution(exploding_one_by_one, 2, 6, cut=cut) == distribution(exploding_pool, 2, 6, cut=cut)


def test_rerolling_until_no_one_shows_leaves_the_other_faces_alike() -> None:
    odds = distribution(reroll_ones, 6)
    assert len(set(odds.weights.values())) == 1
    assert set(odds.weights) == {2, 3, 4, 5, 6}
    assert odds.lost == Fraction(1, 6**20)


def test_a_die_that_always_goes_on_is_lost_at_the_cap() -> None:
    assert distribution(exploding, 1) == Odds({}, Fraction(1))
    with pytest.raises(LimitReached):
        exploding(DrawnDice(lambda _: 1), DrawnDice(lambda _: 1).decisions, 1)
    assert MAX_AGAIN == 100


def explode_on_first_face(dice: Dice, _: Decisions) -> tuple[int, None]:
    first = face = dice.roll(2)
    while face == 1:
        face = dice.again(first, Purpose.REROLL)
    return int(face), None


def test_the_chain_is_the_die_not_the_face_that_was_passed() -> None:
    """A rule may pass the first face each time: the chain ends all the same."""
    odds = distribution(explode_on_first_face)
    assert odds.lost == Fraction(1, 2**50)
    assert odds.weights == {2: 1 - odds.lost}


# Questions, errors, budget.


def asking(dice: Dice, decisions: Decisions, preset: str | None) -> tuple[int, None]:
    face = dice.roll(6)
    if face > 1:
        return int(face), None
    options = (Option("KEEP", "the one stands"), Option("DOUBLE", "it counts twice"))
    keep, double = decisions.ask(
        Question("ONE", Who.PLAYER, options, preset, "FIXED"), Question("TWO", Who.PLAYER, options, "DOUBLE", "FIXED")
    )
    return (1 if keep == "KEEP" else 20) + (double == "DOUBLE"), None


@pytest.mark.parametrize(("preset", "value"), [("KEEP", 2), ("DOUBLE", 21)])
def test_policies_answer_all_questions(preset: str, value: int) -> None:
    sixth = Fraction(1, 6)
    assert distribution(asking, preset).weights == {
        **dict.fromkeys((2, 3, 4, 5, 6), sixth),
        value: sixth * (1 + (value == 2)),
    }


def test_asking_has_no_odds() -> None:
    with pytest.raises(AnswerError) as refused:
        distribution(asking, None)
    assert (refused.value.reason, refused.value.value) == ("DECISION_OPEN", "ONE")


def refusing(dice: Dice, _: Decisions) -> tuple[int, None]:
    if dice.roll(6) == 6:
        raise CheckError("OUT_OF_RANGE", "no sixes")
    return 0, None


def limited(dice: Dice, _: Decisions) -> tuple[int, None]:
    face = dice.roll(6)
    if face == 6:
        raise LimitReached("LIMIT_REACHED", "too much", limit="some_limit", maximum=5)
    return int(dice.part(limited_inside)[0]), None


def limited_inside(dice: Dice, _: Decisions) -> tuple[int, None]:
    if dice.roll(4) == 4:
        raise LimitReached("LIMIT_REACHED", "too much", limit="some_limit", maximum=5)
    return 0, None


def test_what_a_rule_raises_is_not_swallowed() -> None:
    with pytest.raises(CheckError, match="no sixes"):
        distribution(refusing)


def test_a_limit_reached_on_a_path_is_lost_weight() -> None:
    assert distribution(limited) == Odds({0: Fraction(5, 6) * Fraction(3, 4)}, 1 - Fraction(5, 8))


def all_explode(dice: Dice, _: Decisions, count: int, merge: Callable[[int, int], int] | None) -> tuple[int, None]:
    if merge is None:
        return sum(dice.parts(exploding, [(6,)] * count)[0]), None
    return dice.parts(exploding, [(6,)] * count, merge=merge)[0], None


def endless(dice: Dice, _: Decisions) -> tuple[int, None]:
    while True:
        dice.roll(1)


@pytest.mark.parametrize(
    ("rule", "args"),
    [
        (keep_highest, (1000, 1_000_000, 1)),
        (keep_highest, (8, 20, 1)),
        (exploding, (1_000_000,)),
        (endless, ()),
        (all_explode, (40, operator.add)),
        (all_explode, (4, None)),
    ],
)
def test_work_beyond_the_budget_is_refused_by_name(rule: Rule, args: Sequence[object]) -> None:
    with pytest.raises(LimitReached) as refused:
        distribution(rule, *args, budget=5_000)
    assert (refused.value.limit, refused.value.maximum) == ("odds_work", 5_000)


def inner_beyond(dice: Dice, _: Decisions) -> tuple[int, None]:
    return dice.part(keep_highest, 8, 20, 1)[0], None


def test_work_beyond_the_budget_in_a_part_is_refused_too() -> None:
    with pytest.raises(LimitReached, match="too much work"):
        distribution(inner_beyond, budget=5_000)


def two_dice(dice: Dice, _: Decisions) -> tuple[int, None]:
    return dice.roll(2) + dice.roll(2), None


def test_the_budget_counts_paths_and_choices() -> None:
    """Four paths, one first choice and two second ones."""
    assert distribution(two_dice, budget=7).weights == by_hand(sum, 2, 2)
    with pytest.raises(LimitReached):
        distribution(two_dice, budget=6)


def long_paths(dice: Dice, _: Decisions) -> tuple[int, None]:
    """79 dice that show nothing new, and one that ends the path."""
    return sum([dice.roll(1) for _ in range(79)]) + dice.roll(2), None


def test_a_path_counts_for_more_where_it_repeats_many_choices() -> None:
    """Two paths and 80 choices on them, and twice ten eighths of the choices that the rule was answered."""
    assert distribution(long_paths, budget=102).weights == {80: Fraction(1, 2), 81: Fraction(1, 2)}
    with pytest.raises(LimitReached):
        distribution(long_paths, budget=101)


KEPT: list[int] = []


def remembers(dice: Dice, _: Decisions) -> tuple[int, None]:
    KEPT.append(1)
    return int(dice.roll(len(KEPT))) + dice.roll(2), None


def forgets_to_roll(dice: Dice, _: Decisions) -> tuple[int, None]:
    KEPT.append(1)
    return sum([int(dice.roll(2)) for _ in range(3 - len(KEPT))]), None


@pytest.mark.parametrize("rule", [remembers, forgets_to_roll])
def test_a_rule_that_keeps_state_between_runs_is_found_out(rule: Rule) -> None:
    KEPT.clear()
    with pytest.raises(RuntimeError, match="keeps state"):
        distribution(rule)


# The same code on drawn dice.


@pytest.mark.parametrize(
    ("rule", "args", "sides"),
    [(keep_highest, (3, 4, 2), (4, 4, 4)), (two_pools, (), (4, 4, 3, 2, 2, 2)), (sum_of, (3, 3), (3, 3, 3))],
)
def test_odds_equal_drawing_every_list_of_faces(rule: Rule, args: tuple[int, ...], sides: tuple[int, ...]) -> None:
    def drawn(faces: tuple[int, ...]) -> object:
        source = GivenFaces(faces)
        dice = DrawnDice(source)
        value, _ = rule(dice, dice.decisions, *args)
        source.finish()
        return value

    assert distribution(rule, *args).weights == by_hand(drawn, *sides)


def test_the_order_inside_a_pool_changes_no_value() -> None:
    def value(faces: Sequence[int]) -> int:
        dice = DrawnDice(GivenFaces(faces))
        return keep_highest(dice, dice.decisions, 4, 6, 3)[0]

    assert {value(faces) for faces in permutations((6, 2, 2, 5))} == {13}


def test_mapping_adds_up_what_becomes_equal() -> None:
    odds = distribution(two_dice).map(lambda total: total > 2)
    assert odds == Odds({False: Fraction(1, 4), True: Fraction(3, 4)}, Fraction(0))
    lossy = distribution(exploding, 6, cut=Fraction(1, 36))
    assert lossy.map(lambda _: 0) == Odds({0: Fraction(215, 216)}, Fraction(1, 216))
    assert lossy.mean(lambda _: 7) == 7
