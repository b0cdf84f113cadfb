"""The Meidlands: exact odds and random rolls against the twin, and the comparing part against a closed form."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod
from random import Random

import pytest

from fairroll_rules.odds import distribution
from fairroll_rules.resolve import resolve
from fairroll_rules.simulate import random_faces
from fairroll_rules.systems import meidlands
from fairroll_rules.systems.meidlands import (
    OpposedRoll,
    PenaltyPolicy,
    RerollPolicy,
    Side,
    TieRule,
    net_successes,
)
from tests.rules.systems.meidlands_twin import exact, faces_of, play

LONG = bool(os.environ.get("FAIRROLL_LONG"))
NEVER = RerollPolicy.NEVER


# --- The comparing part ----------------------------------------------------------------------------------------------


def pools(count: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield each multiset of faces and in how many orders it falls."""
    for faces in combinations_with_replacement(range(1, 7), count):
        yield faces, factorial(count) // prod(factorial(faces.count(face)) for face in range(1, 7))


def closed_form(n: int, m: int) -> dict[int, Fraction]:
    """Return the odds of the net successes of n dice against m, without hard criticals.

    The loser's highest is h and k of the winner's dice are above it; or both have the highest h, i and j times.
    """
    weights: dict[int, Fraction] = {}

    def add(net: int, weight: Fraction) -> None:
        weights[net] = weights.get(net, Fraction(0)) + weight

    def above(dice: int, h: int, k: int) -> Fraction:
        return Fraction(comb(dice, k) * (6 - h) ** k * h ** (dice - k), 6**dice)

    def highest_is(dice: int, h: int) -> Fraction:
        return Fraction(h**dice - (h - 1) ** dice, 6**dice)

    def highest_times(dice: int, h: int, times: int) -> Fraction:
        return Fraction(comb(dice, times) * (h - 1) ** (dice - times), 6**dice)

    for h in range(1, 7):
        for k in range(1, n + 1):
            add(k, highest_is(m, h) * above(n, h, k))
        for k in range(1, m + 1):
            add(-k, highest_is(n, h) * above(m, h, k))
        for i, j in product(range(1, n + 1), range(1, m + 1)):
            add(i - j, highest_times(n, h, i) * highest_times(m, h, j))
    return {net: weight for net, weight in weights.items() if weight}


def compared(n: int, m: int) -> dict[int, Fraction]:
    """Return the same by comparing every pool of n with every pool of m."""
    counted: dict[int, int] = {}
    theirs = list(pools(m))
    for mine, orders in pools(n):
        for other, other_orders in theirs:
            net = net_successes(mine, other, attacker_hard=False, defender_hard=False)
            counted[net] = counted.get(net, 0) + orders * other_orders
    return {net: Fraction(count, 6 ** (n + m)) for net, count in counted.items()}


@pytest.mark.parametrize(("n", "m"), [(n, m) for n, m in product(range(1, 8), repeat=2) if n + m < 9])
def test_net_successes_of_smaller_pools_equal_the_closed_form(n: int, m: int) -> None:
    assert compared(n, m) == closed_form(n, m)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(n, m) for n, m in product(range(1, 8), repeat=2) if n + m >= 9])
def test_net_successes_of_larger_pools_equal_the_closed_form(n: int, m: int) -> None:
    assert compared(n, m) == closed_form(n, m)


# --- The whole rule --------------------------------------------------------------------------------------------------


def assert_odds_equal_the_twin(check: OpposedRoll) -> None:
    odds = distribution(meidlands.resolve, check, budget=200_000_000)
    assert odds.lost == 0
    assert sum(odds.weights.values()) == 1
    assert {tuple(value): weight for value, weight in odds.weights.items()} == exact(check)


def bonus(pool: int, modifier: int, rerolls: RerollPolicy = RerollPolicy.GREEDY) -> Side:
    return Side(pool, modifiers=(modifier,), rerolls=rerolls)


@pytest.mark.slow
@pytest.mark.parametrize(
    "check",
    [
        OpposedRoll(bonus(1, 0), bonus(1, 0)),
        OpposedRoll(bonus(1, 1), bonus(1, 0), uses_critical_dice=True),
        OpposedRoll(bonus(1, 0), bonus(1, 1), uses_critical_dice=True),
        OpposedRoll(bonus(1, 1), bonus(1, 0), damage="A/12", attribute_modifier=2, armour="L2/4"),
        OpposedRoll(bonus(1, -1), bonus(1, 1), ties=TieRule.PARTIAL),
        OpposedRoll(bonus(0, 3), bonus(1, -1), damage="L4/9", armour="A3/5"),
        OpposedRoll(bonus(1, 1, NEVER), bonus(1, 0), damage="A/12"),
    ],
    ids=str,
)
def test_whole_rule_of_one_against_one_equals_the_twin(check: OpposedRoll) -> None:
    assert_odds_equal_the_twin(check)


def attack(attacker: Side, defender: Side) -> OpposedRoll:
    return OpposedRoll(attacker, defender, damage="A/12", attribute_modifier=1, armour="L2/4")


HIGHEST = PenaltyPolicy.HIGHEST
UP_TO_TWO = [
    attack(bonus(1, 0), bonus(2, 0)),
    attack(bonus(2, 0), bonus(1, 0)),
    attack(bonus(2, 0), bonus(2, 0)),
    OpposedRoll(bonus(1, 1), bonus(2, 0), uses_critical_dice=True),
    OpposedRoll(Side(2, modifiers=(-5,), exchange=-1), bonus(1, 0), damage="L4/9"),  # 1D-1
    attack(bonus(1, -1), Side(1, modifiers=(-1,), penalties=HIGHEST)),
]
"""Each pool of two somewhere, and a bonus, a penalty of each policy, an exchange: seconds each."""
UP_TO_TWO_FOR_LONG = [
    OpposedRoll(bonus(2, 1), bonus(2, 0), uses_critical_dice=True),
    OpposedRoll(bonus(2, 0), bonus(2, 1), uses_critical_dice=True),
    OpposedRoll(bonus(2, 1), bonus(2, 0), TieRule.PARTIAL),
    attack(bonus(2, 1), bonus(2, 0)),
    attack(bonus(2, 0), bonus(2, 1)),
    attack(bonus(2, 1), bonus(2, 1)),
    attack(bonus(2, 2), bonus(2, 0)),
    attack(bonus(2, 0), bonus(2, 2)),
    attack(bonus(2, 1, NEVER), bonus(2, 1)),
    attack(bonus(2, -1), bonus(2, 0)),
    attack(bonus(2, 0), bonus(2, -1)),
    attack(bonus(2, -1), bonus(2, 1)),
    attack(bonus(2, 1), Side(2, modifiers=(-1,), penalties=HIGHEST)),
    attack(Side(2, modifiers=(-1,), penalties=HIGHEST), bonus(2, -1)),
    attack(bonus(2, -2), bonus(2, 0)),
    attack(bonus(2, -1), bonus(1, 1)),
    attack(bonus(1, 1), bonus(2, -1)),
    attack(bonus(1, 1), bonus(2, 1)),
    attack(bonus(2, 1), bonus(1, 1)),
    attack(Side(1, modifiers=(5,), exchange=1), Side(3, modifiers=(-3,), exchange=-1)),  # 2D+1 against 2D+1
    OpposedRoll(Side(1, modifiers=(3,), exchange=1), bonus(1, 0), damage="L4/9"),  # 2D-1
    OpposedRoll(bonus(0, 4), bonus(2, 0), damage="A3/8", armour="A/6"),  # 1D+1
]


@pytest.mark.slow
@pytest.mark.parametrize("check", [*UP_TO_TWO, *UP_TO_TWO_FOR_LONG] if LONG else UP_TO_TWO, ids=str)
def test_whole_rule_up_to_two_against_two_equals_the_twin(check: OpposedRoll) -> None:
    """With critical dice, rerolls and damage; those that take up to minutes run with `make fuzz`."""
    assert_odds_equal_the_twin(check)


# --- Everything else, face by face -----------------------------------------------------------------------------------


def any_side(chance: Random) -> Side:
    pool = chance.randint(0, 7)
    rank = max(pool, 1)
    return Side(
        pool,
        modifiers=tuple(chance.randint(-4, 6) for _ in range(chance.randint(0, 2))),
        exchange=chance.choice((0, 0, 0, chance.randint(1 - rank, 7 - rank))),
        rerolls=chance.choice((RerollPolicy.GREEDY, RerollPolicy.GREEDY, NEVER)),
        penalties=chance.choice((PenaltyPolicy.LOWEST, PenaltyPolicy.HIGHEST)),
    )


def any_check(chance: Random) -> OpposedRoll:
    sides = any_side(chance), any_side(chance)
    ties = chance.choice((TieRule.DEFENDER, TieRule.PARTIAL))
    uses = chance.random() < 0.5
    if chance.random() < 0.3:
        return OpposedRoll(*sides, ties, uses)
    damage = chance.choice(("A/12", "A3/8", "L/9", "L2/1", "A/1"))
    armour = chance.choice(("", "L2/4", "A/6", "L/0"))
    return OpposedRoll(*sides, ties, uses, damage, chance.randint(-3, 3), armour)


def noted(source: Callable[[int], int], faces: list[int]) -> Callable[[int], int]:
    def face(sides: int) -> int:
        faces.append(source(sides))
        return faces[-1]

    return face


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100 if LONG else 6))
def test_random_rolls_of_random_checks_equal_the_twin_on_the_same_faces(seed: int) -> None:
    """Any pools, modifiers, exchanges, policies, damage and armour: same faces asked for, same value.

    A million rolls with `make fuzz`, 60,000 otherwise.
    """
    chance = Random(seed)
    source = random_faces(chance.randrange)
    for _ in range(2_000):
        check = any_check(chance)
        for _ in range(5):
            faces: list[int] = []
            resolved = resolve(check, noted(source, faces))
            rest = iter(faces)
            value = play(faces_of(lambda _, rest=rest: next(rest)), check)  # type: ignore[misc]  # a bound default
            assert tuple(resolved.value) == value, (check, faces)
            assert next(rest, None) is None
