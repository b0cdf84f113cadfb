"""Which numbers of each outcome odds are told of: every number, yes or no and result, or why not."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from random import Random
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from fairroll.odds.quantities import quantities_of
from fairroll_rules.resolve import resolve
from fairroll_rules.simulate import random_faces
from fairroll_rules.systems import crossroads, d6_dungeons, fortune_doom, meidlands, msf_high, notation, systems

KNOWN = "known before the roll"
SEEN = "what the table sees of the dice; no rule reads it further"

CHECKS: dict[type, Any] = {
    crossroads.SkillOutcome: crossroads.SkillRoll(
        1, 1, opposition=crossroads.OpposingRoll("o", 1), change=crossroads.ChangePolicy.LOWEST
    ),
    crossroads.GroupOutcome: crossroads.GroupRoll(
        crossroads.GroupMode.ALL_TOGETHER, tuple([crossroads.Member(name, 2) for name in "abc"])
    ),
    crossroads.DamageOutcome: crossroads.DamageStep(advantage=2),
    d6_dungeons.SkillOutcome: d6_dungeons.SkillRoll(4, 3, ones=d6_dungeons.OnesPolicy.SAVE),
    d6_dungeons.TeamOutcome: d6_dungeons.TeamRoll(9, (d6_dungeons.Member("a", 3), d6_dungeons.Member("b"))),
    fortune_doom.ResolutionOutcome: fortune_doom.ResolutionRoll(
        2,
        advantage=True,
        condition=True,
        fear=True,
        hope=True,
        bands=(fortune_doom.Band(10, "poor", success=False), fortune_doom.Band(20, "good", success=True)),
    ),
    meidlands.OpposedOutcome: meidlands.OpposedRoll(
        meidlands.Side(4), meidlands.Side(2), damage="A/12", armour="L2/4", attribute_modifier=2
    ),
    msf_high.SkillOutcome: msf_high.SkillRoll(3, 7, target=8),
    msf_high.HighestOutcome: msf_high.HighestRoll(3, sides=8, target=8),
    msf_high.SumOutcome: msf_high.SumRoll(3, sides=8, target=8),
    msf_high.StatisticOutcome: msf_high.StatisticRoll(7, target=8),
    msf_high.PercentileOutcome: msf_high.PercentileRoll(),
    notation.NotationOutcome: notation.NotationCheck("4d6>=4f1"),
}
"""A roll of each kind with all that it can have."""

ELSEWHERE: dict[str, str] = {
    "throw.success_value": "success_value",
    "throw.total": "total",
    "throw.temporary_fate_dice": "temporary_fate_dice",
    "opposing_throw.success_value": "opposing_success_value",
    "attacker.critical": "attacker_critical",
    "attacker.hard_critical": "attacker_hard_critical",
    "defender.critical": "defender_critical",
    "defender.hard_critical": "defender_hard_critical",
    "damage.damage": "damage",
    "damage.absorbed": "absorbed",
    "damage.final_damage": "final_damage",
}
"""Fields of what an outcome holds, and the quantities that they are."""

NOT: dict[str, str] = {
    # Crossroads MVP
    "throw.net": KNOWN,
    "throw.peril_draw": "the place of a draw",
    "throw.multiple": SEEN,
    "throw.multiple_after": SEEN,
    "throw.sum": "the total less the statistic",
    "throw.chart_value": SEEN,
    "opposing_throw.net": KNOWN,
    "opposing_throw.peril_draw": "the place of a draw",
    "opposing_throw.multiple": SEEN,
    "opposing_throw.multiple_after": SEEN,
    "opposing_throw.temporary_fate_dice": "the opponent's own; ask for the opponent's roll",
    "opposing_throw.sum": "the opponent's own; ask for the opponent's roll",
    "opposing_throw.total": "the opponent's own; ask for the opponent's roll",
    "opposing_throw.chart_value": "the opponent's own; ask for the opponent's roll",
    "peril.face": "what it means is the opposing Success Value",
    "peril.hit_at_or_below": KNOWN,
    "peril.strong_hit_at_or_below": KNOWN,
    "result_name": "the name of a result",
    "success_value_amount": "the result, or 2 of a Critical Hit; a Failure has none",
    "roller": KNOWN,
    # D6 Dungeons
    "skilled": KNOWN,
    "modifier": KNOWN,
    "margin": "the total less the difficulty",
    # Fortune and Doom
    "help_total": KNOWN,
    "hinder_total": KNOWN,
    "resolution_modifier": KNOWN,
    "advantage": KNOWN,
    "harm": KNOWN,
    "condition_rerolled": SEEN,
    # The Meidlands
    "attacker.dice_rolled": KNOWN,
    "attacker.modifier": KNOWN,
    "attacker.points_left": SEEN,
    "attacker.extra_die": "the place of a draw",
    "attacker.highest": "what is compared; net_successes says how it ended",
    "attacker.highest_count": "what is compared; net_successes says how it ended",
    "defender.dice_rolled": KNOWN,
    "defender.modifier": KNOWN,
    "defender.points_left": SEEN,
    "defender.extra_die": "the place of a draw",
    "defender.highest": "what is compared; net_successes says how it ended",
    "defender.highest_count": "what is compared; net_successes says how it ended",
    "free_attack": "always with a fierce strike",
    "damage.hard_critical_damage": "a part of the damage",
    "damage.base": "a part of the damage",
    # MSF High
    "keep": KNOWN,
    "sides": KNOWN,
    "die_modifier": KNOWN,
    "unskilled": KNOWN,
    "tens": "a digit of the result",
    "units": "a digit of the result",
}
"""Fields that no quantity is, and why."""


def numbers(kind: type, before: str = "") -> Iterator[str]:
    """The paths of all numbers, truths and enumerations of an outcome, those of what it holds included."""
    hints = get_type_hints(kind)
    for field in fields(kind):
        several = get_args(hints[field.name]) if get_origin(hints[field.name]) in (Union, UnionType) else ()
        (held,) = [each for each in several or (hints[field.name],) if each is not type(None)]
        if isinstance(held, type) and is_dataclass(held):
            yield from numbers(held, f"{before}{field.name}.")
        elif isinstance(held, type) and issubclass(held, int | Enum):
            yield before + field.name


def test_every_outcome_has_a_check_here() -> None:
    assert set(CHECKS) == {kind for system in systems().values() for kind in system.OUTCOMES}


def test_every_number_of_an_outcome_is_a_quantity_or_has_a_reason() -> None:
    met = set()
    for kind, check in CHECKS.items():
        names = {quantity.name for quantity in quantities_of(check)}
        for path in numbers(kind):
            met.add(path)
            is_one = ELSEWHERE.get(path, path) in names
            assert is_one != (path in NOT), (kind, path)
    assert set(NOT) | set(ELSEWHERE) <= met


@pytest.mark.parametrize("kind", CHECKS, ids=lambda kind: f"{kind.__module__.rpartition('.')[2]}-{kind.__name__}")
def test_a_quantity_is_what_the_outcome_says(kind: type) -> None:
    """Also that its values are called what the outcome calls them."""
    check = CHECKS[kind]
    source = random_faces(Random(7).randrange)
    paths = {path: ELSEWHERE.get(path, path) for path in numbers(kind) if path not in NOT}
    known = {quantity.name: quantity for quantity in quantities_of(check)}
    for _ in range(300):
        resolved = resolve(check, source)
        for path, name in paths.items():
            held = resolved.outcome
            for part in path.split("."):
                held = None if held is None else getattr(held, part)
            number = known[name].read(resolved.value, resolved.outcome)
            called = known[name].words.get(number, "")
            if isinstance(held, bool):
                assert (number, called) == (int(held), "yes" if held else "no"), path
            elif isinstance(held, Enum):
                assert (number, called) == (held.value, held.name), path
            elif held is not None:
                assert number == held, path


def test_results_are_called_by_the_names_that_the_policy_gives_them() -> None:
    check = crossroads.SkillRoll(1, zero_result=crossroads.ZeroResultPolicy.PARTIAL_SUCCESS)
    words = next(quantity.words for quantity in quantities_of(check) if quantity.name == "result")
    source = random_faces(Random(7).randrange)
    for _ in range(300):
        outcome = resolve(check, source).outcome
        assert words[outcome.result] == outcome.result_name.name
