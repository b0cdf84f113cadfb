"""The twin of The Meidlands equals the enumeration of the rule itself on every case that is small enough for it."""

from collections import Counter
from fractions import Fraction
from math import sqrt
from random import Random

import pytest

from fairroll_rules.odds import distribution
from fairroll_rules.resolve import resolve
from fairroll_rules.simulate import random_faces
from fairroll_rules.systems import meidlands
from fairroll_rules.systems.meidlands import OpposedRoll, PickPolicy, RerollPolicy, Side, TieRule
from fairroll_rules.twins.meidlands import odds

NEVER = RerollPolicy.NEVER


def side(pool: int, *modifiers: int, rerolls: RerollPolicy = RerollPolicy.GREEDY) -> Side:
    return Side(pool, modifiers=modifiers, rerolls=rerolls)


SMALL = [
    OpposedRoll(side(1), side(1)),
    OpposedRoll(side(1), side(1), ties=TieRule.PARTIAL),
    OpposedRoll(side(2), side(1)),
    OpposedRoll(side(1), side(2), ties=TieRule.PARTIAL),
    OpposedRoll(side(3), side(1)),
    OpposedRoll(side(2), side(2)),
    OpposedRoll(side(1), side(3)),
    OpposedRoll(side(1, 2, rerolls=NEVER), side(1, 6, rerolls=NEVER)),
    OpposedRoll(side(1), side(1), damage="A/12", armour="L2/4"),
    OpposedRoll(side(2), side(1), damage="L4/9", attribute_modifier=-3, armour="A3/5"),
]


@pytest.mark.slow
@pytest.mark.parametrize("check", SMALL, ids=str)
def test_it_equals_the_enumeration(check: OpposedRoll) -> None:
    found = odds(check)
    assert found is not None
    walked = distribution(meidlands.resolve, check, budget=20_000_000)
    assert found.lost == walked.lost == 0
    assert dict(found.weights) == dict(walked.weights)


@pytest.mark.parametrize(
    "check",
    [
        OpposedRoll(side(1, 1), side(1)),
        OpposedRoll(side(1), side(1, -1)),
        OpposedRoll(side(0), side(1)),
        OpposedRoll(side(1), side(1), damage="A/12", pick=PickPolicy.ASK),
    ],
    ids=str,
)
def test_it_leaves_alone_what_rerolls_or_people_may_change(check: OpposedRoll) -> None:
    assert odds(check) is None


def test_seven_against_seven_is_as_simulated() -> None:
    check = OpposedRoll(side(7), side(7), damage="A/12", attribute_modifier=2, armour="L2/4")
    found = odds(check)
    assert found is not None
    assert sum(found.weights.values()) == 1
    rolls, source = 20_000, random_faces(Random(11).randrange)
    for name in ("net_successes", "final_damage", "attacker_hard_critical", "winner"):
        exact = found.map(lambda value, name=name: int(getattr(value, name)))  # type: ignore[misc]  # a bound default
        counted = Counter(int(getattr(resolve(check, source).value, name)) for _ in range(rolls))
        assert set(counted) <= set(exact.weights)
        for value, chance in exact.weights.items():
            assert abs(counted[value] / rolls - chance) <= 5 * sqrt(chance * (1 - chance) / rolls) + 5 / rolls


def test_it_is_symmetric_in_who_attacks() -> None:
    """Swapping the sides swaps the sign of the net successes."""
    there, back = odds(OpposedRoll(side(4), side(2))), odds(OpposedRoll(side(2), side(4)))
    assert there is not None
    assert back is not None
    mine = there.map(lambda value: value.net_successes).weights
    theirs = back.map(lambda value: -value.net_successes).weights
    assert mine == theirs
    assert mine[0] > Fraction(0)
