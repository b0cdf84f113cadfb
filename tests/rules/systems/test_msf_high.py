"""MSF High: the examples, the exact odds against twins, the refusals, the order of draws."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest

from fairroll_rules.dice import Draw, Purpose
from fairroll_rules.errors import CheckError
from fairroll_rules.given import GivenFaces
from fairroll_rules.odds import distribution
from fairroll_rules.outcome import Fate
from fairroll_rules.resolve import Resolved, resolve
from fairroll_rules.systems import msf_high
from fairroll_rules.systems.msf_high import (
    Check,
    HighestRoll,
    Keep,
    PercentileRoll,
    SkillRoll,
    StatisticRoll,
    SumRoll,
    die_of,
)

VECTORS = Path(__file__).parents[2] / "vectors" / "rules_examples.json"
ROWS: dict[str, dict[str, Any]] = {
    row["id"]: row for row in json.loads(VECTORS.read_text("utf-8")) if row["system"] == "msf_high"
}


def roll(check: Check, faces: list[int]) -> Resolved:
    source = GivenFaces(faces)
    resolved = resolve(check, source)
    source.finish()
    assert resolved.outcome is not None
    return resolved


def check_of(given: dict[str, Any]) -> Check:
    """Return the check that a row describes: by the page's notation, or by skill and statistic."""
    if "skill" in given:
        return SkillRoll(skill=given["skill"], statistic=given["stat"])
    if "nonskilled_stat" in given:
        return StatisticRoll(given["nonskilled_stat"])
    if "percentile" in given:
        return PercentileRoll()
    if "die" in given:
        found = re.fullmatch(r"d(\d+)([+-]\d+)?", given["die"])
        assert found is not None
        return HighestRoll(sides=int(found[1]), die_modifier=int(found[2] or 0))
    if given["roll"] == "2+dStr":
        return SumRoll(count=2, statistic=given["stat"])
    found = re.fullmatch(r"(\d+)(\+?)d(\d+)([+-]\d+)?", given["roll"])
    assert found is not None
    kind = SumRoll if found[2] else HighestRoll
    return kind(count=int(found[1]), sides=int(found[3]), modifier=int(found[4] or 0))


def faces_of(given: dict[str, Any], sides: int) -> list[int]:
    """Return a row's faces in our order of draws: a row's rerolls are round by round, we roll each die to its end."""
    if "percentile" in given:
        return [given["percentile"]["tens"] // 10 or 10, given["percentile"]["units"] or 10]
    if "rolls" in given:
        return list(given["rolls"])
    chains = [[face] for face in given["dice"]]
    for again in given.get("rerolls", []):
        for chain, face in zip([chain for chain in chains if chain[-1] == sides], again, strict=True):
            chain.append(face)
    return [face for chain in chains for face in chain]


@pytest.mark.parametrize("row", [row for row in ROWS.values() if row["id"] != "MS-03"], ids=lambda row: row["id"])
def test_example_with_dice(row: dict[str, Any]) -> None:
    given, expect = row["given"], row["expect"]
    check = check_of(given)
    sides = 10 if isinstance(check, PercentileRoll) else outcome_die(check)[0]
    outcome = roll(check, faces_of(given, sides)).outcome
    assert outcome.result == expect.get("result", expect.get("total"))
    if "totals" in expect:
        assert list(outcome.totals) == expect["totals"]
    if "die" in expect:
        plus = f"{outcome.die_modifier:+d}" if outcome.die_modifier else ""
        assert f"d{outcome.sides}{plus}" == expect["die"]


def outcome_die(check: Check) -> tuple[int, int]:
    """Return the sides and modifier that the outcome names, from a roll on which nothing explodes."""
    outcome = roll(check, [1] * msf_high.draws(check)).outcome
    return outcome.sides, outcome.die_modifier


def test_example_ms_03_four_skill_at_statistic_twelve_is_4d12_highest() -> None:
    given = ROWS["MS-03"]["given"]
    check = SkillRoll(given["skill"], given["stat"])
    resolved = roll(check, [3, 11, 2, 7])
    outcome = resolved.outcome
    assert f"{len(outcome.totals)}d{outcome.sides} {outcome.keep.name.lower()}" == ROWS["MS-03"]["expect"]["roll"]
    assert (outcome.die_modifier, outcome.result) == (0, 11)


def test_every_row_is_a_test() -> None:
    assert sorted(ROWS) == [f"MS-{number:02}" for number in range(1, 14)]


TABLE = {
    2: "d4-2", 3: "d4", 4: "d4", 5: "d6", 6: "d6", 7: "d8", 8: "d8", 9: "d10", 10: "d10", 11: "d12", 12: "d12",
    13: "d12+1", 14: "d12+1", 15: "d12+2", 16: "d12+2", 17: "d12+3", 18: "d12+3", 19: "d12+4", 20: "d12+4",
}  # fmt: skip  # the page's table, as it stands there


@pytest.mark.parametrize(("statistic", "die"), TABLE.items())
def test_die_of_each_statistic_of_the_table(statistic: int, die: str) -> None:
    assert str(die_of(statistic)) == die


@pytest.mark.parametrize("statistic", [1, 0, -1, -1000])
def test_a_statistic_below_the_table_has_its_first_die(statistic: int) -> None:
    assert str(die_of(statistic)) == "d4-2"


# The twins follow a chain of top faces this far; what is left weighs less than the cut of the odds.
def longest(sides: int) -> int:
    times = 0
    while Fraction(1, sides ** (times + 1)) >= Fraction(1, 10**15):
        times += 1
    return times


def one_die(sides: int, modifier: int = 0) -> dict[int, Fraction]:
    """Return the odds of one exploding die: t top faces, then one that is not the top, each with the modifier."""
    weights: dict[int, Fraction] = {}
    for tops in range(longest(sides) + 1):
        for face in range(1, sides):
            total = tops * (sides + modifier) + face + modifier
            weights[total] = weights.get(total, Fraction(0)) + Fraction(1, sides ** (tops + 1))
    return weights


def below(weights: dict[int, Fraction], total: int) -> Fraction:
    return sum((weight for value, weight in weights.items() if value <= total), Fraction(0))


def highest_of(weights: dict[int, Fraction], count: int) -> dict[int, Fraction]:
    """P(highest = t) = P(all <= t) - P(all <= t - 1)."""
    return {t: below(weights, t) ** count - below(weights, t - 1) ** count for t in weights}


def lowest_of_two(weights: dict[int, Fraction]) -> dict[int, Fraction]:
    """P(lowest = t) = P(both >= t) - P(both > t)."""
    all_of_it = sum(weights.values())
    return {t: (all_of_it - below(weights, t - 1)) ** 2 - (all_of_it - below(weights, t)) ** 2 for t in weights}


def sum_of_two(weights: dict[int, Fraction]) -> dict[int, Fraction]:
    sums: dict[int, Fraction] = {}
    for (a, weight_a), (b, weight_b) in product(weights.items(), repeat=2):
        sums[a + b] = sums.get(a + b, Fraction(0)) + weight_a * weight_b
    return sums


def odds_of(check: Check) -> tuple[dict[int, Fraction], Fraction]:
    odds = distribution(msf_high.resolve, check)
    assert sum(odds.weights.values()) + odds.lost == 1
    return {value.result: weight for value, weight in odds.weights.items()}, odds.lost


def merged_by_result(weights: dict[int, Fraction]) -> dict[int, Fraction]:
    return {result: weight for result, weight in weights.items() if weight}


STATISTICS = [2, 4, 6, 8, 10, 12, 14, 16, 18]


@pytest.mark.parametrize("statistic", STATISTICS)
def test_odds_of_each_die_equal_the_twin(statistic: int) -> None:
    die = die_of(statistic)
    weights, lost = odds_of(StatisticRoll(statistic))
    assert weights == one_die(die.sides, die.modifier)
    assert 0 < lost < Fraction(1, 10**14)


def test_odds_of_a_d20_equal_the_twin() -> None:
    assert odds_of(HighestRoll(sides=20))[0] == one_die(20)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("skill", [1, 2, 3, 4, 5])
def test_odds_of_the_highest_equal_the_twin(skill: int, statistic: int) -> None:
    die = die_of(statistic)
    expected = merged_by_result(highest_of(one_die(die.sides, die.modifier), skill))
    assert odds_of(SkillRoll(skill, statistic))[0] == expected


@pytest.mark.parametrize("statistic", STATISTICS)
def test_odds_of_unskilled_equal_the_twin(statistic: int) -> None:
    die = die_of(statistic)
    expected = merged_by_result(lowest_of_two(one_die(die.sides, die.modifier)))
    assert odds_of(SkillRoll(0, statistic))[0] == expected
    assert odds_of(SkillRoll(-7, statistic))[0] == expected


@pytest.mark.parametrize("statistic", STATISTICS)
def test_odds_of_the_sum_of_two_equal_the_twin(statistic: int) -> None:
    die = die_of(statistic)
    expected = sum_of_two(one_die(die.sides, die.modifier))
    weights, _ = odds_of(SumRoll(count=2, statistic=statistic, modifier=4))
    assert weights == {total + 4: weight for total, weight in expected.items()}


@pytest.mark.parametrize("check", [HighestRoll(5, 12), SumRoll(5, 12), SkillRoll(0, 12)], ids=str)
def test_odds_stay_cheap(check: Check) -> None:
    # In paths, not in seconds: about 10 us each, whatever else the machine does.
    odds = distribution(msf_high.resolve, check, budget=50_000)
    assert sum(odds.weights.values()) + odds.lost == 1


def test_odds_of_percentile_are_even() -> None:
    weights, lost = odds_of(PercentileRoll())
    assert weights == dict.fromkeys(range(1, 101), Fraction(1, 100))
    assert lost == 0


def test_percentile_reads_all_hundred_pairs() -> None:
    for tens, units in product(range(10), range(10)):
        outcome = roll(PercentileRoll(), [tens or 10, units or 10]).outcome
        assert (outcome.tens, outcome.units) == (10 * tens, units)
        assert outcome.result == (int(f"{tens}{units}") or 100)
        assert [(die.value, die.fates) for die in outcome.dice] == [(10 * tens, (Fate.KEPT,)), (units, (Fate.KEPT,))]


def test_draws_of_the_pages_4d4_example_in_order() -> None:
    resolved = roll(HighestRoll(count=4, sides=4), [2, 1, 4, 2, 4, 4, 1])
    assert resolved.draws == (
        Draw(4, 2, Purpose.ROLL, None, ""),
        Draw(4, 1, Purpose.ROLL, None, ""),
        Draw(4, 4, Purpose.ROLL, None, ""),
        Draw(4, 2, Purpose.EXPLODE, 2, ""),
        Draw(4, 4, Purpose.ROLL, None, ""),
        Draw(4, 4, Purpose.EXPLODE, 4, ""),
        Draw(4, 1, Purpose.EXPLODE, 5, ""),
    )
    outcome = resolved.outcome
    assert outcome.totals == (2, 1, 6, 9)
    dropped, exploded, kept = (Fate.DROPPED,), (Fate.EXPLODED, Fate.DROPPED), Fate.KEPT
    assert [(die.draw, die.value, die.fates) for die in outcome.dice] == [
        (0, 2, dropped),
        (1, 1, dropped),
        (2, 4, exploded),
        (3, 2, dropped),
        (4, 4, (Fate.EXPLODED, kept)),
        (5, 4, (Fate.EXPLODED, kept)),
        (6, 1, (kept,)),
    ]


def test_draws_before_any_explosion() -> None:
    assert [msf_high.draws(check) for check in (SkillRoll(4, 8), SkillRoll(0, 8), SumRoll(3, 6), StatisticRoll(8))] == [
        4,
        2,
        3,
        1,
    ]
    assert msf_high.draws(PercentileRoll()) == 2


def chains(sides: int, count: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield pools of dice, each exploding at most once."""
    dice = [(face,) for face in range(1, sides)] + [(sides, face) for face in range(1, sides)]
    yield from product(dice, repeat=count)


@pytest.mark.parametrize("check", [SkillRoll(3, 4), SkillRoll(0, 2), SumRoll(3, statistic=4)], ids=str)
def test_the_order_of_the_dice_changes_no_value(check: Check) -> None:
    for pool in chains(4, msf_high.draws(check)):
        if list(pool) == sorted(pool):
            values = {roll(check, [face for die in order for face in die]).value for order in permutations(pool)}
            assert len(values) == 1


def test_the_dies_modifier_and_the_rolls_are_separate() -> None:
    check = SumRoll(count=2, sides=6, die_modifier=-1, modifier=10)
    outcome = roll(check, [6, 2, 3]).outcome
    assert (outcome.totals, outcome.result) == ((5 + 1, 2), 18)


def test_there_is_no_floor_at_zero() -> None:
    assert roll(StatisticRoll(2, modifier=-5), [1]).outcome.result == -6


def test_a_modified_top_face_does_not_explode_and_a_natural_one_does() -> None:
    assert roll(HighestRoll(sides=12, die_modifier=1), [11]).outcome.result == 12
    assert roll(HighestRoll(sides=4, die_modifier=-2), [4, 3]).outcome.result == 3


@pytest.mark.parametrize(("face", "success"), [(6, False), (7, True), (8, True)])
def test_the_target_is_reached_by_equal(face: int, success: bool) -> None:
    check = StatisticRoll(10, modifier=1, target=8)
    resolved = roll(check, [face])
    assert (resolved.outcome.success, resolved.value.success) == (success, int(success))
    assert msf_high.text(check, resolved.outcome, ()).line.endswith("reaches 8" if success else "misses 8")


def test_without_a_target_nothing_is_compared() -> None:
    resolved = roll(StatisticRoll(10), [9])
    assert (resolved.outcome.success, resolved.value.success) == (None, -1)


def test_unskilled_is_named_and_drops_the_higher() -> None:
    check = SkillRoll(0, 10)
    outcome = roll(check, [3, 9]).outcome
    assert (outcome.unskilled, outcome.keep) == (True, Keep.LOWEST)
    assert [die.fates for die in outcome.dice] == [(Fate.KEPT,), (Fate.DROPPED,)]
    assert roll(SkillRoll(1, 10), [3]).outcome.unskilled is False


def test_a_die_that_never_stops_ends_at_the_cap_without_an_outcome() -> None:
    resolved = resolve(StatisticRoll(4), lambda sides: sides)
    assert resolved.limit_reached is not None
    assert (resolved.limit_reached.limit, resolved.outcome, len(resolved.draws)) == ("again_per_die", None, 101)


@pytest.mark.parametrize(
    ("kind", "fields", "field", "minimum", "maximum"),
    [
        (SkillRoll, {"skill": 1001, "statistic": 8}, "skill", -1000, 1000),
        (SkillRoll, {"skill": -1001, "statistic": 8}, "skill", -1000, 1000),
        (SkillRoll, {"skill": 1, "statistic": 1001}, "statistic", -1000, 1000),
        (SkillRoll, {"skill": 1, "statistic": 8, "modifier": -1001}, "modifier", -1000, 1000),
        (SkillRoll, {"skill": 1, "statistic": 8, "target": 1_000_001}, "target", -1_000_000, 1_000_000),
        (HighestRoll, {"count": 0, "sides": 6}, "count", 1, 1000),
        (HighestRoll, {"count": 1001, "sides": 6}, "count", 1, 1000),
        (HighestRoll, {"sides": 1}, "sides", 2, 1_000_000),
        (HighestRoll, {"sides": 1_000_001}, "sides", 2, 1_000_000),
        (SumRoll, {"count": 0, "sides": 6}, "count", 1, 1000),
        (SumRoll, {"sides": 0}, "sides", 2, 1_000_000),
        (SumRoll, {"sides": 6, "die_modifier": 1001}, "die_modifier", -1000, 1000),
        (SumRoll, {"statistic": -1001}, "statistic", -1000, 1000),
        (SumRoll, {"sides": 6, "modifier": 1001}, "modifier", -1000, 1000),
        (StatisticRoll, {"statistic": 1001}, "statistic", -1000, 1000),
        (StatisticRoll, {"statistic": 8, "modifier": 1001}, "modifier", -1000, 1000),
        (StatisticRoll, {"statistic": 8, "target": -1_000_001}, "target", -1_000_000, 1_000_000),
    ],
)
def test_out_of_range_is_refused_with_path_and_range(
    kind: type, fields: dict[str, int], field: str, minimum: int, maximum: int
) -> None:
    with pytest.raises(CheckError) as refused:
        kind(**fields)
    error = refused.value
    assert (error.reason, error.field, error.minimum, error.maximum) == ("OUT_OF_RANGE", field, minimum, maximum)


@pytest.mark.parametrize(
    ("fields", "reason", "field"),
    [
        ({}, "REQUIRED", "sides"),
        ({"sides": 6, "statistic": 8}, "CONFLICT", "statistic"),
        ({"statistic": 8, "die_modifier": 1}, "CONFLICT", "die_modifier"),
    ],
)
@pytest.mark.parametrize("kind", [HighestRoll, SumRoll])
def test_exactly_one_of_sides_and_statistic(kind: type, fields: dict[str, int], reason: str, field: str) -> None:
    with pytest.raises(CheckError) as refused:
        kind(**fields)
    assert (refused.value.reason, refused.value.field) == (reason, field)
