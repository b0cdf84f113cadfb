"""Every policy of every rule system has odds, and they are those of rolls made by it; ASK has none."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from math import sqrt
from random import Random
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from fairroll.convert import open_policy
from fairroll.odds.quantities import quantities_of
from fairroll_rules.resolve import resolve
from fairroll_rules.simulate import random_faces
from fairroll_rules.systems import crossroads, d6_dungeons, fortune_doom, meidlands, msf_high
from tests.service.odds.known import as_weights

ROLLS = 1_500

CHECKS: list[Any] = [
    crossroads.SkillRoll(1, 2, opposition=crossroads.PerilDie(1, advantage=1)),
    crossroads.SkillRoll(1, 1, opposition=crossroads.OpposingRoll("o", 2, disadvantage=1)),
    crossroads.GroupRoll(
        crossroads.GroupMode.SIMPLE, (crossroads.Member("a", 2, 1), crossroads.Member("b", 1, disadvantage=2))
    ),
    d6_dungeons.SkillRoll(4, 3),
    fortune_doom.ResolutionRoll(1, advantage=True, condition=True, fear=True, hope=True, success_threshold=12),
    # A bonus and a penalty, so that every order of rerolls matters; and damage of which a pair is picked.
    meidlands.OpposedRoll(meidlands.Side(1, modifiers=(1,)), meidlands.Side(1, modifiers=(-1,))),
    meidlands.OpposedRoll(meidlands.Side(4), meidlands.Side(2), damage="A/12", armour="L2/4", attribute_modifier=1),
    msf_high.SkillRoll(0, 7, target=4),
    msf_high.SumRoll(2, sides=8, modifier=-2, target=8),
]


def varied(check: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  any check, or what it holds
    """The check with each value of each of its choices, also of what it holds, one at a time."""
    hints = get_type_hints(type(check))
    for field in fields(check):
        value, hint = getattr(check, field.name), hints[field.name]
        kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        for kind in kinds:
            if isinstance(kind, type) and issubclass(kind, Enum):
                for each in kind:
                    more = {"split": d6_dungeons.Split(1, 1)} if each is d6_dungeons.OnesPolicy.SPLIT else {}
                    yield f"{field.name}={each.name}", replace(check, **{field.name: each}, **more)
        if is_dataclass(value) and not isinstance(value, type):
            yield from (
                (f"{field.name}.{name}", replace(check, **{field.name: inner})) for name, inner in varied(value)
            )
        elif isinstance(value, tuple) and value and is_dataclass(value[0]):
            yield from (
                (f"{field.name}[0].{name}", replace(check, **{field.name: (inner, *value[1:])}))
                for name, inner in varied(value[0])
            )


VARIED = [
    (f"{type(check).__module__.rpartition('.')[2]}: {name}", each) for check in CHECKS for name, each in varied(check)
]


def test_there_are_many_and_each_is_another_check() -> None:
    assert len({repr(each) for _, each in VARIED}) > 50
    asked = [name for name, check in VARIED if open_policy(check)]
    assert len(asked) > 12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "check"),
    [each for each in VARIED if not open_policy(each[1])],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_policy_has_the_odds_of_rolls_made_by_it(name: str, check: Any) -> None:  # noqa: ANN401  any check
    quantities = quantities_of(check)
    counted: list[Counter[int]] = [Counter() for _ in quantities]
    source = random_faces(Random(name).randrange)
    for _ in range(ROLLS):
        resolved = resolve(check, source)
        for counter, quantity in zip(counted, quantities, strict=True):
            counter[quantity.read(resolved.value, resolved.outcome)] += 1
    for counter, quantity in zip(counted, quantities, strict=True):
        exact = as_weights(quantity.exact())
        assert set(counter) <= set(exact)
        for value, chance in exact.items():
            allowed = 5 * sqrt(float(chance * (1 - chance)) / ROLLS) + 5 / ROLLS
            assert abs(counter[value] / ROLLS - chance) <= allowed, (quantity.name, value)
