"""Fortune and Doom: the examples, the exact odds against a twin, the refusals, the order of draws."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from fairroll_rules.dice import Draw, Purpose
from fairroll_rules.errors import AnswerError, CheckError
from fairroll_rules.given import GivenFaces
from fairroll_rules.odds import distribution
from fairroll_rules.outcome import Fate
from fairroll_rules.resolve import Resolved, resolve
from fairroll_rules.systems import fortune_doom
from fairroll_rules.systems.fortune_doom import (
    Band,
    FearEffect,
    ResolutionOutcome,
    ResolutionRoll,
    Result,
    TieChoice,
)

VECTORS = Path(__file__).parents[2] / "vectors" / "rules_examples.json"
ROWS: dict[str, dict[str, Any]] = {
    row["id"]: row for row in json.loads(VECTORS.read_text("utf-8")) if row["system"] == "fortune_doom"
}
FACES = range(1, 13)


def roll(check: ResolutionRoll, faces: list[int], answers: tuple[str, ...] = ()) -> tuple[Resolved, ResolutionOutcome]:
    source = GivenFaces(faces)
    resolved = resolve(check, source, answers)
    source.finish()
    assert isinstance(resolved.outcome, ResolutionOutcome)
    return resolved, resolved.outcome


@pytest.mark.parametrize("row", [row for row in ROWS.values() if "fortune" in row["given"]], ids=lambda row: row["id"])
def test_example_with_dice(row: dict[str, Any]) -> None:
    given, expect = row["given"], row["expect"]
    check = ResolutionRoll(
        difficulty=given.get("modifier", 0),
        advantage=given.get("advantage", False),
        condition=given.get("condition", False),
        fear=given.get("fear", False),
        hope=given.get("hope", False),
    )
    rerolls = [given[name] for name in ("reroll", "condition_reroll", "fear_reroll") if name in given]
    answers = (given["tie_choice"].upper(),) if "tie_choice" in given else ()
    _, outcome = roll(check, [given["fortune"], given["doom"], *rerolls], answers)
    named = {
        "fortune": outcome.fortune,
        "doom": outcome.doom,
        "hope": outcome.hope,
        "final": outcome.final_result,
    }
    assert {name: named[name] for name in expect} == expect
    assert outcome.result is Result.UNDETERMINED


def test_example_fd_12_the_party_helps_by_five_at_most() -> None:
    given, expect = ROWS["FD-12"]["given"], ROWS["FD-12"]["expect"]
    check = ResolutionRoll(
        attribute=given["attribute"],
        difficulty=given["difficulty"],
        help=tuple(given["help"]),
        hinder=tuple(given["hinder"]),
    )
    _, outcome = roll(check, [1, 1])
    assert outcome.help_total == expect["help_total"]
    assert outcome.resolution_modifier == expect["resolution_modifier"]
    assert outcome.final_result == 2 + expect["resolution_modifier"]


def test_every_row_with_dice_or_without_is_a_test() -> None:
    assert sorted(ROWS) == sorted(f"FD-{number:02}" for number in range(1, 13))


State = tuple[int, int, int, Fraction, int, int]
"""Fortune, Doom, Hope, weight, the face of Doom, and what Fear did: 1 rerolled Fortune, 2 halved Doom."""


def twin(
    *, advantage: bool, condition: bool, fear: bool, hope: bool, tie: TieChoice
) -> dict[tuple[int, ...], Fraction]:
    """Step 10 of the original, one list of all states after each of its sentences."""
    states: list[State] = [(fortune, doom, 0, Fraction(1, 144), doom, 0) for fortune, doom in product(FACES, FACES)]
    if advantage:
        states = [state for old in states for state in after_advantage(old, tie)]
    if condition:
        states = [state for old in states for state in (reroll_doom(old) if old[1] > old[0] else [old])]
    if fear:
        states = [
            (f, d, plus, weight, face, effect)
            for old in states
            for effect in [1 if old[1] > old[0] else 2]
            for f, d, plus, weight, face, _ in (reroll_fortune(old) if effect == 1 else [halve_doom(old)])
        ]
    if hope:
        states = [(f, d, 4 if f > d else -4, weight, face, effect) for f, d, _, weight, face, effect in states]
    weights: Counter[tuple[int, ...]] = Counter()
    for f, d, plus, weight, face, effect in states:
        weights[f, d, plus, f + d + plus, 3, face, effect, -1] += weight  # type: ignore[assignment]  # Counter is typed for int counts only
    return dict(weights)  # type: ignore[arg-type]  # the same


def after_advantage(state: State, tie: TieChoice) -> list[State]:
    fortune, doom = state[:2]
    if fortune < doom or (fortune == doom and tie is TieChoice.FORTUNE):
        return reroll_fortune(state)
    return reroll_doom(state)


def reroll_fortune(state: State) -> list[State]:
    return [(face, state[1], state[2], state[3] / 12, *state[4:]) for face in FACES]


def reroll_doom(state: State) -> list[State]:
    return [(state[0], face, state[2], state[3] / 12, face, state[5]) for face in FACES]


def halve_doom(state: State) -> State:
    half = {1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 6: 3, 7: 4, 8: 4, 9: 5, 10: 5, 11: 6, 12: 6}
    return (state[0], half[state[1]], *state[2:])


@pytest.mark.parametrize("tie", [TieChoice.DOOM, TieChoice.FORTUNE])
@pytest.mark.parametrize(
    ("advantage", "condition", "fear", "hope"), list(product([False, True], repeat=4)), ids=lambda on: "yn"[not on]
)
def test_whole_distribution_equals_the_twin(
    advantage: bool, condition: bool, fear: bool, hope: bool, tie: TieChoice
) -> None:
    check = ResolutionRoll(advantage=advantage, condition=condition, fear=fear, hope=hope, tie=tie)
    odds = distribution(fortune_doom.resolve, check)
    expected = twin(advantage=advantage, condition=condition, fear=fear, hope=hope, tie=tie)
    assert odds.lost == 0
    assert sum(odds.weights.values()) == 1
    assert {tuple(value): weight for value, weight in odds.weights.items()} == expected


def test_odds_of_all_options_stay_cheap() -> None:
    # In paths, not in seconds: about 10 us each, whatever else the machine does.
    check = ResolutionRoll(2, -1, (3,), (-2,), push=True, condition=True, fear=True, hope=True, success_threshold=13)
    assert sum(distribution(fortune_doom.resolve, check, budget=10_000).weights.values()) == 1


def test_push_gives_advantage_for_one_harm() -> None:
    resolved, outcome = roll(ResolutionRoll(push=True), [4, 9, 7])
    assert (outcome.advantage, outcome.harm, outcome.fortune, outcome.final_result) == (True, 1, 7, 16)
    assert resolved.decisions == ()


def test_push_beside_advantage_rerolls_once_and_costs_nothing() -> None:
    check = ResolutionRoll(push=True, advantage=True)
    resolved, outcome = roll(check, [4, 9, 7])
    assert (outcome.advantage, outcome.harm, len(resolved.draws)) == (True, 0, 3)


def test_a_tie_is_the_players_and_doom_unless_said_otherwise() -> None:
    resolved, outcome = roll(ResolutionRoll(advantage=True), [6, 6, 1])
    assert (outcome.fortune, outcome.doom) == (6, 1)
    (decision,) = resolved.decisions
    assert (decision.kind, decision.who.name, decision.option, decision.policy) == ("TIE", "PLAYER", "DOOM", "DOOM")
    resolved, outcome = roll(ResolutionRoll(advantage=True, tie=TieChoice.FORTUNE), [6, 6, 1])
    assert (outcome.fortune, outcome.doom) == (1, 6)
    resolved, outcome = roll(ResolutionRoll(advantage=True, tie=TieChoice.ASK), [6, 6, 1], ("FORTUNE",))
    assert (outcome.fortune, outcome.doom, resolved.decisions[0].policy) == (1, 6, "")


def test_a_tie_that_nobody_decides_is_an_open_decision() -> None:
    with pytest.raises(AnswerError, match="TIE") as refused:
        resolve(ResolutionRoll(advantage=True, tie=TieChoice.ASK), GivenFaces([6, 6, 1]))
    assert refused.value.reason == "DECISION_OPEN"


def test_no_tie_asks_nobody() -> None:
    resolved, _ = roll(ResolutionRoll(advantage=True, tie=TieChoice.ASK), [6, 5, 1])
    assert resolved.decisions == ()


def test_draws_of_all_steps_in_order_and_each_die_with_its_fate() -> None:
    # Advantage: Fortune 2 is lower -> 3. Condition: Doom 12 > 3 -> 9. Fear: Doom 9 > 3, Fortune -> 5. 5 + 9 = 14.
    resolved, outcome = roll(ResolutionRoll(advantage=True, condition=True, fear=True), [2, 12, 3, 9, 5])
    assert resolved.draws == (
        Draw(12, 2, Purpose.ROLL, None, ""),
        Draw(12, 12, Purpose.ROLL, None, ""),
        Draw(12, 3, Purpose.REROLL, 0, ""),
        Draw(12, 9, Purpose.REROLL, 1, ""),
        Draw(12, 5, Purpose.REROLL, 2, ""),
    )
    assert (outcome.fortune_draws, outcome.doom_draws) == ((0, 2, 4), (1, 3))
    assert [(die.draw, die.value, die.fates) for die in outcome.dice] == [
        (0, 2, (Fate.REROLLED,)),
        (1, 12, (Fate.REROLLED,)),
        (2, 3, (Fate.REROLLED,)),
        (3, 9, (Fate.KEPT,)),
        (4, 5, (Fate.KEPT,)),
    ]
    assert (outcome.fear, outcome.condition_rerolled, outcome.final_result) == (
        FearEffect.REROLLED_FORTUNE,
        True,
        14,
    )


def test_halved_doom_stands_with_its_half() -> None:
    check = ResolutionRoll(fear=True, hope=True)
    _, outcome = roll(check, [5, 5])
    assert [die.value for die in outcome.dice] == [5, 3]
    assert (outcome.doom_face, outcome.doom, outcome.fear) == (5, 3, FearEffect.HALVED_DOOM)


@pytest.mark.parametrize(("final", "result"), [(14, Result.FAILURE), (15, Result.SUCCESS), (16, Result.SUCCESS)])
def test_the_threshold_is_reached_by_equal(final: int, result: Result) -> None:
    check = ResolutionRoll(success_threshold=15)
    resolved, outcome = roll(check, [10, final - 10])
    assert (outcome.final_result, outcome.result, outcome.band) == (final, result, None)
    assert fortune_doom.text(check, outcome, resolved.draws).line.endswith(f"= {final}, {result.name.capitalize()}")


BANDS = (Band(10, "At a cost"), Band(15, "Clean", success=True), Band(20, "Glorious", success=True))


@pytest.mark.parametrize(
    ("fortune", "doom", "band", "result"),
    [
        (5, 4, None, Result.UNDETERMINED),
        (5, 5, 0, Result.FAILURE),
        (7, 7, 0, Result.FAILURE),
        (8, 7, 1, Result.SUCCESS),
        (12, 12, 2, Result.SUCCESS),
    ],
)
def test_a_band_reaches_up_to_the_next(fortune: int, doom: int, band: int | None, result: Result) -> None:
    check = ResolutionRoll(bands=BANDS)
    resolved, outcome = roll(check, [fortune, doom])
    assert (outcome.band, outcome.result) == (band, result)
    if band is not None:
        assert BANDS[band].name in fortune_doom.text(check, outcome, resolved.draws).line


@pytest.mark.parametrize(
    ("fields", "field", "minimum", "maximum"),
    [
        ({"attribute": 6}, "attribute", -5, 5),
        ({"attribute": -6}, "attribute", -5, 5),
        ({"difficulty": 101}, "difficulty", -100, 100),
        ({"difficulty": -101}, "difficulty", -100, 100),
        ({"help": (2, 6)}, "help[1]", 1, 5),
        ({"help": (0,)}, "help[0]", 1, 5),
        ({"hinder": (1, -5, -6)}, "hinder[2]", -5, 5),
        ({"hinder": (6,)}, "hinder[0]", -5, 5),
        ({"help": (1,) * 101}, "help", 0, 100),
        ({"hinder": (1,) * 101}, "hinder", 0, 100),
        ({"success_threshold": 1001}, "success_threshold", -1000, 1000),
        ({"success_threshold": -1001}, "success_threshold", -1000, 1000),
        ({"bands": tuple(Band(n, "x") for n in range(101))}, "bands", 0, 100),
        ({"bands": (Band(5, "x"), Band(5, "y"))}, "bands[1].at_least", 6, 1000),
    ],
)
def test_out_of_range_is_refused_with_path_and_range(
    fields: dict[str, Any], field: str, minimum: int, maximum: int
) -> None:
    with pytest.raises(CheckError) as refused:
        ResolutionRoll(**fields)
    error = refused.value
    assert (error.reason, error.field, error.minimum, error.maximum) == ("OUT_OF_RANGE", field, minimum, maximum)


@pytest.mark.parametrize(
    ("at_least", "name", "field", "minimum", "maximum"),
    [
        (1001, "x", "at_least", -1000, 1000),
        (-1001, "x", "at_least", -1000, 1000),
        (5, "", "name", 1, 100),
        (5, "é" * 51, "name", 1, 100),
    ],
)
def test_a_band_out_of_range_is_refused(at_least: int, name: str, field: str, minimum: int, maximum: int) -> None:
    with pytest.raises(CheckError) as refused:
        Band(at_least, name)
    error = refused.value
    assert (error.reason, error.field, error.minimum, error.maximum) == ("OUT_OF_RANGE", field, minimum, maximum)


def test_the_ends_of_the_ranges_are_allowed() -> None:
    check = ResolutionRoll(5, -100, (5, 5), (-5, 5), success_threshold=-1000)
    _, outcome = roll(check, [1, 1])
    assert outcome.final_result == 2 + 5 - 100 + 5
    ResolutionRoll(bands=(Band(-1000, "x" * 100), Band(1000, "y")))


def test_threshold_and_bands_exclude_each_other() -> None:
    with pytest.raises(CheckError) as refused:
        ResolutionRoll(success_threshold=15, bands=BANDS)
    assert (refused.value.reason, refused.value.field) == ("CONFLICT", "bands")


def test_draws_before_any_reroll() -> None:
    assert fortune_doom.draws(ResolutionRoll(advantage=True, condition=True)) == 2
