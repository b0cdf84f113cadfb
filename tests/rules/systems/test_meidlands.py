"""The Meidlands: the examples, the draws by hand, the decisions, the refusals."""

from __future__ import annotations

import json
from itertools import permutations, product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fairroll_rules.decisions import Who
from fairroll_rules.dice import Purpose
from fairroll_rules.errors import AnswerError, CheckError
from fairroll_rules.given import GivenFaces
from fairroll_rules.outcome import Fate
from fairroll_rules.resolve import Resolved, resolve
from fairroll_rules.simulate import random_faces
from fairroll_rules.systems import meidlands
from fairroll_rules.systems.meidlands import (
    OpposedOutcome,
    OpposedRoll,
    PenaltyPolicy,
    PickPolicy,
    Pool,
    RerollPolicy,
    Side,
    SideOutcome,
    TieRule,
    Winner,
    notation,
    pool_of,
)

VECTORS = Path(__file__).parents[2] / "vectors" / "rules_examples.json"
ROWS: dict[str, dict[str, Any]] = {
    row["id"]: row for row in json.loads(VECTORS.read_text("utf-8")) if row["system"] == "meidlands"
}
WITH_DICE = [row for row in ROWS.values() if "a" in row["given"]]


def roll(check: OpposedRoll, faces: list[int], *answers: str) -> tuple[Resolved, OpposedOutcome]:
    source = GivenFaces(faces)
    resolved = resolve(check, source, answers)
    source.finish()
    assert isinstance(resolved.outcome, OpposedOutcome)
    return resolved, resolved.outcome


def kept(side: SideOutcome) -> tuple[list[int], list[int]]:
    """Return the pool and the critical dice that stand, sorted."""
    pool, critical = (
        sorted(die.value for die in dice if Fate.KEPT in die.fates) for dice in (side.pool, side.critical_dice)
    )
    return pool, critical


# --- The examples ----------------------------------------------------------------------------------------------------


def check_of(given: dict[str, Any], policy: RerollPolicy) -> OpposedRoll:
    a, d = given["a"], given["d"]
    modifiers = given.get("mods", [a["bonus"]] if "bonus" in a else [])
    exchange = 1 if given.get("exchange") == "to 2D+1" else 0
    return OpposedRoll(
        Side(given.get("pool_rank", len(a["pool"])), "Ann", tuple(modifiers), exchange, policy),
        Side(len(d["pool"]), "Bob", (d["bonus"],) if "bonus" in d else (), rerolls=policy),
        # Only ME-06 looks at critical dice without damage: "if you get a crit".
        uses_critical_dice="rerolls" in given and "weapon" not in a,
        damage=a.get("weapon", ""),
        attribute_modifier=a.get("str", 0),
        armour=d.get("armor", ""),
    )


def faces_of(given: dict[str, Any]) -> list[int]:
    a, d = given["a"], given["d"]
    rerolls = [face for *_, face in given.get("rerolls", [])]
    later = [*given.get("hard_critical_reroll", []), *([given["fierce_die"]] if "fierce_die" in given else [])]
    return [*a["pool"], *a["crit"], *d["pool"], *d["crit"], *later, *rerolls]


def answers_of(given: dict[str, Any]) -> list[str]:
    """Return the rerolls of a row as answers: which die, by the face that it shows then."""
    dice = {side: {kind: list(given[side][kind]) for kind in ("pool", "crit")} for side in ("a", "d")}
    if "hard_critical_reroll" in given:
        dice["a"]["crit"] = list(given["hard_critical_reroll"])
    answers = []
    for side, kind, index, face in given.get("rerolls", []):
        answers.append(f"{'CRITICAL' if kind == 'crit' else 'POOL'}_{dice[side][kind][index]}")
        dice[side][kind][index] = face
    return answers


def compare(outcome: OpposedOutcome, expect: dict[str, Any]) -> None:
    """Compare all that a row says of the outcome; what it says of other paths has a test of its own."""
    damage = outcome.damage
    told: dict[str, Any] = {
        "winner": outcome.winner.name.lower(),
        "net": outcome.net_successes,
        "tie": outcome.tie,
        "extra_die": outcome.attacker.extra_die,
        "a_bonus_left": outcome.attacker.points_left,
        "critical": outcome.attacker.critical,
        "fierce": outcome.fierce_strike,
        "free_attack": outcome.free_attack,
    }
    if damage is not None:
        told |= {
            "average": damage.base,
            "damage": damage.damage,
            "absorbed": damage.absorbed,
            "final": damage.final_damage,
            "hard_critical_damage": damage.hard_critical_damage,
        }
    elsewhere = {"a", "d", "check", "damage_if_stopped_at_1_5", "damage_with_1_and_5", "net_if_crit_became_6_6"}
    assert {name: told[name] for name in expect if name not in elsewhere} == {
        name: value for name, value in expect.items() if name not in elsewhere
    }
    if "a" in expect:
        assert kept(outcome.attacker) == (sorted(expect["a"]["pool"]), sorted(expect["a"]["crit"]))
        assert outcome.attacker.points_left == expect["a"]["bonus_left"]
        assert outcome.defender.points_left == expect["d"]["bonus_left"]
    if "check" in expect:
        assert str(Pool(outcome.attacker.dice_rolled, outcome.attacker.modifier)) == expect["check"]


@pytest.mark.parametrize("row", WITH_DICE, ids=lambda row: row["id"])
def test_example_as_its_players_rerolled(row: dict[str, Any]) -> None:
    given = row["given"]
    resolved, outcome = roll(check_of(given, RerollPolicy.NEVER), faces_of(given), *answers_of(given))
    compare(outcome, row["expect"])
    assert [
        decision.option for decision in resolved.decisions if decision.kind == "REROLL" and not decision.policy
    ] == (answers_of(given))


@pytest.mark.parametrize("row", [row for row in WITH_DICE if row["id"] != "ME-07"], ids=lambda row: row["id"])
def test_example_by_the_default_policies(row: dict[str, Any]) -> None:
    """All players of the text but one (ME-07, who gives up) reroll as GREEDY does."""
    _, outcome = roll(check_of(row["given"], RerollPolicy.GREEDY), faces_of(row["given"]))
    compare(outcome, row["expect"])


def test_example_me_03_stopped_at_one_and_five() -> None:
    given, expect = ROWS["ME-03"]["given"], ROWS["ME-03"]["expect"]
    _, outcome = roll(check_of(given, RerollPolicy.ASK), faces_of(given)[:-2], "POOL_2", "POOL_1", "PASS")
    assert outcome.damage is not None
    assert outcome.damage.damage == expect["damage_if_stopped_at_1_5"]


def test_example_me_05_with_the_one_picked() -> None:
    given, expect = ROWS["ME-05"]["given"], ROWS["ME-05"]["expect"]
    _, outcome = roll(check_of(given, RerollPolicy.NEVER), faces_of(given), "PICK_5_1")
    assert outcome.damage is not None
    assert (outcome.damage.picked, outcome.damage.damage) == ((5, 1), expect["damage_with_1_and_5"])


def test_example_me_07_a_hard_critical_would_only_tie() -> None:
    given, expect = ROWS["ME-07"]["given"], ROWS["ME-07"]["expect"]
    _, outcome = roll(check_of(given, RerollPolicy.GREEDY), [*faces_of(given), 6, 6])
    assert (outcome.net_successes, outcome.winner) == (expect["net_if_crit_became_6_6"], Winner.DEFENDER)
    assert (outcome.attacker.hard_critical, outcome.attacker.extra_die, outcome.tie) == (True, 4, True)


def parsed(written: str) -> Pool:
    dice, _, modifier = written.partition("D")
    return Pool(int(dice), int(modifier or 0))


@pytest.mark.parametrize("row", [row for row in ROWS.values() if "check" in row["given"]], ids=lambda row: row["id"])
def test_example_of_an_exchange(row: dict[str, Any]) -> None:
    given = parsed(row["given"]["check"])
    side = Side(given.dice, modifiers=(given.modifier,), exchange=row["given"].get("dice", 0))
    assert pool_of(side) == parsed(row["expect"]["check"])


def test_every_row_is_a_test() -> None:
    assert {row["id"] for row in WITH_DICE} | {f"ME-09{letter}" for letter in "abcde"} | {"ME-10"} == set(ROWS)


# --- Modifiers and exchange ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "pool"),
    [
        (Side(0), Pool(1, -3)),
        (Side(0, modifiers=(5,)), Pool(1, 2)),
        (Side(0, modifiers=(7,), exchange=1), Pool(2, 0)),
        (Side(0, modifiers=(-2,)), Pool(1, -3)),
        (Side(2, modifiers=(9,)), Pool(2, 6)),
        (Side(2, modifiers=(9,), exchange=1), Pool(3, 5)),
        (Side(7, exchange=-1), Pool(6, 4)),
        (Side(7, exchange=-6), Pool(1, 6)),
        (Side(3, modifiers=(1, -4, 2)), Pool(3, -1)),
    ],
)
def test_zero_dice_then_exchange_then_clamp(side: Side, pool: Pool) -> None:
    assert pool_of(side) == pool


# --- Draws by hand ---------------------------------------------------------------------------------------------------


def drawn(resolved: Resolved) -> list[tuple[int, str, int | None, str]]:
    return [(draw.face, draw.purpose.name, draw.of, draw.actor) for draw in resolved.draws]


def test_draws_of_penalties_right_after_their_sides_dice() -> None:
    check = OpposedRoll(Side(2, "Ann", (-2,)), Side(1, "Bob", (-1,)))
    # Ann 6 5 | 5 2: the pool's 5 goes first (4), then the critical 5 (6). Bob 6 | 1 1: 6 goes (6).
    resolved, outcome = roll(check, [6, 5, 5, 2, 4, 6, 6, 1, 1, 6])
    assert drawn(resolved) == [
        (6, "ROLL", None, "Ann"),
        (5, "ROLL", None, "Ann"),
        (5, "ROLL", None, "Ann"),
        (2, "ROLL", None, "Ann"),
        (4, "REROLL", 1, "Ann"),
        (6, "REROLL", 2, "Ann"),
        (6, "ROLL", None, "Bob"),
        (1, "ROLL", None, "Bob"),
        (1, "ROLL", None, "Bob"),
        (6, "REROLL", 6, "Bob"),
    ]
    assert kept(outcome.attacker) == ([4, 6], [2, 6])
    assert (outcome.attacker.points_left, outcome.defender.points_left) == (0, 0)
    assert (outcome.tie, outcome.winner) == (True, Winner.DEFENDER)


def test_a_penalty_may_hit_its_die_again_and_lapses_without_one() -> None:
    check = OpposedRoll(Side(1, modifiers=(-3,)), Side(1))
    resolved, outcome = roll(check, [6, 1, 1, 5, 2, 3, 4, 4])
    assert drawn(resolved)[3:5] == [(5, "REROLL", 0, "attacker"), (2, "REROLL", 3, "attacker")]
    assert kept(outcome.attacker) == ([2], [1, 1])
    assert [(die.value, die.fates) for die in outcome.attacker.pool] == [
        (6, (Fate.REROLLED,)),
        (5, (Fate.REROLLED,)),
        (2, (Fate.KEPT,)),
    ]


def test_draws_of_turns_alternate_until_both_pass() -> None:
    check = OpposedRoll(Side(1, "Ann", (2,)), Side(1, "Bob", (2,)))
    # Ann 1 loses: 4. Bob 2 loses: 3. Ann wins and passes (no quality). Bob: no 1 or 2 in the pool, critical 1: 1.
    # Ann passes. Bob has no point left.
    resolved, outcome = roll(check, [1, 6, 5, 2, 1, 4, 4, 3, 1])
    assert drawn(resolved)[6:] == [(4, "REROLL", 0, "Ann"), (3, "REROLL", 3, "Bob"), (1, "REROLL", 4, "Bob")]
    assert [(each.actor, each.option, each.policy) for each in resolved.decisions] == [
        ("Ann", "POOL_1", "GREEDY"),
        ("Bob", "POOL_2", "GREEDY"),
        ("Bob", "CRITICAL_1", "GREEDY"),
    ]
    assert (outcome.attacker.points_left, outcome.defender.points_left) == (1, 0)


def test_a_pass_does_not_end_the_turns_of_a_side() -> None:
    check = OpposedRoll(Side(1, "Ann", (1,), rerolls=RerollPolicy.ASK), Side(1, "Bob", (1,), rerolls=RerollPolicy.ASK))
    resolved, _ = roll(check, [2, 3, 4, 1, 3, 4, 6, 5], "PASS", "POOL_1", "POOL_2")
    assert drawn(resolved)[6:] == [(6, "REROLL", 3, "Bob"), (5, "REROLL", 0, "Ann")]
    # Both pass in a row: Bob has no point left after Ann's reroll, and Ann none.
    assert [each.actor for each in resolved.decisions] == ["Ann", "Bob", "Ann"]


def test_draws_of_hard_critical_fierce_strike_and_the_turns_after_them() -> None:
    check = OpposedRoll(Side(3, "Ann", (2,)), Side(1, "Bob", (1,)), damage="A/12", attribute_modifier=-1, armour="L/4")
    # 5 5 4 | 6 6 against 3 | 2 4. Ann passes, Bob loses: 2 -> 1 with his point. Hard critical: one more 5, four net.
    # The reroll of 6 6: 1 2; then the fierce die: 6. Ann's turn: 1 -> 3, Bob has no point, Ann: 2 -> 6, a double.
    resolved, outcome = roll(check, [5, 5, 4, 6, 6, 3, 2, 4, 1, 1, 2, 6, 3, 6])
    assert drawn(resolved)[8:] == [
        (1, "REROLL", 6, "Bob"),
        (1, "REROLL", 3, "Ann"),
        (2, "REROLL", 4, "Ann"),
        (6, "ROLL", None, "Ann"),
        (3, "REROLL", 9, "Ann"),
        (6, "REROLL", 10, "Ann"),
    ]
    assert (outcome.net_successes, outcome.fierce_strike, outcome.attacker.hard_critical) == (4, True, True)
    assert [(die.draw, die.value, die.fates) for die in outcome.attacker.critical_dice] == [
        (3, 6, (Fate.REROLLED,)),
        (4, 6, (Fate.REROLLED,)),
        (9, 1, (Fate.REROLLED,)),
        (10, 2, (Fate.REROLLED,)),
        (11, 6, (Fate.KEPT, Fate.CRITICAL)),
        (12, 3, (Fate.DROPPED,)),
        (13, 6, (Fate.KEPT, Fate.CRITICAL)),
    ]
    damage = outcome.damage
    assert damage is not None
    # 12 for the hard critical, 12 for the ordinary double, 1 off; armour takes Bob's lowest, 1.
    assert (damage.hard_critical_damage, damage.picked, damage.base) == (12, (6, 6), 12)
    assert (damage.damage, damage.absorbed, damage.final_damage) == (23, 1, 22)
    assert resolved.decisions[-1].kind == "PICK"


@pytest.mark.parametrize(
    ("check", "most"),
    [
        (OpposedRoll(Side(7), Side(7)), 18),
        (OpposedRoll(Side(0), Side(3, exchange=-2)), 6),
        (OpposedRoll(Side(2), Side(2), damage="A/12"), 9),
    ],
)
def test_draws_before_any_reroll(check: OpposedRoll, most: int) -> None:
    assert meidlands.draws(check) == most


def test_every_face_drawn_is_in_the_outcome_once() -> None:
    source = random_faces(Random(11).randrange)
    for _ in range(300):
        resolved = resolve(OpposedRoll(Side(4, modifiers=(5,)), Side(3, modifiers=(-2,)), damage="A/12"), source)
        sides = (resolved.outcome.attacker, resolved.outcome.defender)
        dice = sorted((die.draw, die.value) for side in sides for die in (*side.pool, *side.critical_dice))
        assert dice == [(index, draw.face) for index, draw in enumerate(resolved.draws)]
        again = {draw.of for draw in resolved.draws if draw.purpose is Purpose.REROLL}
        gone = {die.draw for side in sides for die in (*side.pool, *side.critical_dice) if Fate.REROLLED in die.fates}
        assert again == gone


def test_the_order_inside_a_pool_changes_no_value() -> None:
    check = OpposedRoll(
        Side(3, modifiers=(2,)), Side(2, modifiers=(-2,)), damage="A/12", armour="L2/4", uses_critical_dice=True
    )
    chance = Random(5)
    for _ in range(100):
        faces = [chance.randint(1, 6) for _ in range(40)]
        a, red, d, blue, rest = faces[:3], faces[3:5], faces[5:7], faces[7:9], faces[9:]
        values = {
            resolve(check, GivenFaces([*p, *q, *r, *s, *rest])).value
            for p, q, r, s in product(*(permutations(pool) for pool in (a, red, d, blue)))
        }
        assert len(values) == 1


# --- Policies and decisions ------------------------------------------------------------------------------------------


def turn(check: OpposedRoll, faces: list[int]) -> list[str]:
    """Return the options that the attacker's policy chose."""
    resolved, _ = roll(check, faces)
    return [each.option for each in resolved.decisions if each.actor == "attacker"]


LOSER = OpposedRoll(Side(2, modifiers=(1,)), Side(1))
WINNER = OpposedRoll(Side(2, modifiers=(1,)), Side(1), uses_critical_dice=True)


@pytest.mark.parametrize(
    ("check", "faces", "options"),
    [
        (LOSER, [2, 1, 1, 1, 6, 3, 3, 5], ["POOL_1"]),
        (LOSER, [2, 3, 1, 1, 6, 3, 3, 5], ["POOL_2"]),
        (LOSER, [3, 3, 2, 1, 6, 3, 3, 5], ["CRITICAL_1"]),
        (LOSER, [3, 3, 2, 2, 6, 3, 3, 5], ["CRITICAL_2"]),
        (LOSER, [3, 3, 3, 4, 6, 3, 3], []),
        (LOSER, [2, 6, 3, 4, 5, 3, 3], ["PASS"]),
        (LOSER, [5, 1, 3, 4, 5, 3, 3, 5], ["POOL_1"]),
        # The hard critical's die wins 2 5 [5] against 5; where both have one, 2 5 [5] against 5 [5] is a tie, a loss.
        (LOSER, [2, 5, 6, 6, 5, 3, 3], ["PASS"]),
        (LOSER, [2, 5, 6, 6, 5, 6, 6, 3], ["POOL_2"]),
        (LOSER, [2, 4, 6, 6, 5, 6, 6, 1], ["POOL_2"]),
        (WINNER, [1, 6, 2, 1, 5, 3, 3, 4], ["CRITICAL_1"]),
        (WINNER, [1, 6, 2, 4, 5, 3, 3, 4], ["CRITICAL_2"]),
        (WINNER, [1, 6, 1, 1, 5, 3, 3], ["PASS"]),
        (WINNER, [1, 6, 3, 4, 5, 3, 3], ["PASS"]),
    ],
)
def test_greedy_takes_its_turn(check: OpposedRoll, faces: list[int], options: list[str]) -> None:
    assert turn(check, faces) == options


def test_a_winning_defender_works_on_its_critical_dice_where_they_are_used() -> None:
    faces = [3, 4, 6, 5, 2, 3]
    check = OpposedRoll(Side(1), Side(1, modifiers=(1,)), uses_critical_dice=True)
    resolved, outcome = roll(check, [*faces, 3])
    assert [each.option for each in resolved.decisions] == ["CRITICAL_2"]
    assert outcome.defender.critical
    resolved, _ = roll(OpposedRoll(Side(1), Side(1, modifiers=(1,))), faces)
    assert [each.option for each in resolved.decisions] == ["PASS"]


def test_a_loser_with_armour_keeps_its_double_once_the_winner_stands() -> None:
    check = OpposedRoll(Side(3, rerolls=RerollPolicy.NEVER), Side(1, modifiers=(3,)), damage="A/12", armour="L2/4")
    # 6 6 6 against 3 | 1 2. While 6-6 might save him Bob breaks even a double: 1 -> 1, 1 -> 2, and of 2 2 one -> 2.
    _, outcome = roll(check, [6, 6, 6, 3, 4, 3, 1, 2, 1, 2, 2, 5])
    assert outcome.defender.points_left == 0
    # Here he keeps his point (PASS) for the turns after the fierce strike's die, 5, and there the double stays.
    asked = OpposedRoll(Side(3), Side(1, modifiers=(1,), rerolls=RerollPolicy.GREEDY), damage="A/12", armour="L2/4")
    resolved, outcome = roll(asked, [6, 6, 6, 3, 4, 3, 1, 1, 5], "PASS")
    assert [each.option for each in resolved.decisions] == ["PASS", "PASS", "PICK_5_4"]
    assert outcome.damage is not None
    assert (outcome.damage.absorbed, outcome.defender.points_left) == (4, 1)


def test_never_passes_each_turn() -> None:
    check = OpposedRoll(Side(1, modifiers=(6,), rerolls=RerollPolicy.NEVER), Side(1))
    resolved, outcome = roll(check, [1, 1, 1, 6, 1, 1])
    assert [(each.option, each.policy) for each in resolved.decisions] == [("PASS", "NEVER")]
    assert outcome.attacker.points_left == 6


@pytest.mark.parametrize(
    ("policy", "faces", "option"),
    [
        (PenaltyPolicy.LOWEST, [6, 5, 5, 6], "POOL_5"),
        (PenaltyPolicy.LOWEST, [6, 6, 5, 6], "CRITICAL_5"),
        (PenaltyPolicy.LOWEST, [6, 3, 6, 3], "POOL_6"),
        (PenaltyPolicy.HIGHEST, [6, 5, 6, 5], "POOL_6"),
        (PenaltyPolicy.HIGHEST, [5, 5, 6, 5], "CRITICAL_6"),
    ],
)
def test_a_penalty_rerolls_by_its_policy(policy: PenaltyPolicy, faces: list[int], option: str) -> None:
    check = OpposedRoll(Side(2, modifiers=(-1,), penalties=policy), Side(1))
    resolved, _ = roll(check, [*faces, 1, 6, 3, 4])
    (decision,) = resolved.decisions
    assert (decision.kind, decision.option, decision.policy, decision.actor) == (
        "PENALTY",
        option,
        policy.name,
        "attacker",
    )


def test_a_penalty_with_one_choice_is_not_asked() -> None:
    check = OpposedRoll(Side(2, modifiers=(-1,), penalties=PenaltyPolicy.ASK), Side(1))
    resolved, outcome = roll(check, [5, 5, 3, 4, 1, 6, 3, 4])
    assert resolved.decisions == ()
    assert kept(outcome.attacker)[0] == [1, 5]


def test_a_penalty_is_the_rollers_choice() -> None:
    check = OpposedRoll(Side(2, "Ann", (-1,), penalties=PenaltyPolicy.ASK), Side(1))
    resolved, outcome = roll(check, [5, 6, 3, 5, 1, 6, 3, 4], "CRITICAL_5")
    assert kept(outcome.attacker) == ([5, 6], [1, 3])
    assert (resolved.decisions[0].who, resolved.decisions[0].actor) == (Who.PLAYER, "Ann")


@pytest.mark.parametrize(
    ("check", "faces"),
    [
        (OpposedRoll(Side(1, modifiers=(1,), rerolls=RerollPolicy.ASK), Side(1)), [1, 3, 4, 6, 3, 4]),
        (OpposedRoll(Side(2, modifiers=(-1,), penalties=PenaltyPolicy.ASK), Side(1)), [5, 6, 3, 4, 6, 3, 4]),
        (OpposedRoll(Side(3), Side(1), damage="A/12", pick=PickPolicy.ASK), [6, 6, 6, 3, 4, 5, 3, 4, 2]),
    ],
)
def test_what_nobody_answers_is_an_open_decision(check: OpposedRoll, faces: list[int]) -> None:
    with pytest.raises(AnswerError) as refused:
        resolve(check, GivenFaces(faces))
    assert refused.value.reason == "DECISION_OPEN"


def test_an_answer_that_is_no_option_is_refused_with_the_options() -> None:
    check = OpposedRoll(Side(2, modifiers=(1,), rerolls=RerollPolicy.ASK), Side(1))
    with pytest.raises(AnswerError) as refused:
        resolve(check, GivenFaces([1, 2, 2, 4, 6, 3, 4]), ("CRITICAL_1",))
    assert refused.value.reason == "OPTION_UNKNOWN"
    assert refused.value.expected == ("PASS", "POOL_1", "POOL_2", "CRITICAL_2")


# --- Winner, net successes, criticals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("faces", "net"),
    [
        ([6, 5, 5, 3, 4, 4, 1, 3, 4], 3),
        ([6, 6, 1, 3, 4, 6, 6, 3, 4], 0),
        ([6, 6, 6, 3, 4, 6, 2, 3, 4], 2),
        ([3, 3, 1, 3, 4, 5, 4, 3, 4], -2),
        ([6, 6, 3, 3, 4, 5, 6, 6, 6], 0),
        ([5, 5, 3, 6, 6, 6, 1, 3, 4], 0),
        ([5, 5, 3, 6, 6, 6, 1, 6, 6], -1),
        ([5, 4, 3, 6, 6, 2, 1, 3, 4], 4),
    ],
)
def test_net_successes_count_the_extra_die_of_either_side(faces: list[int], net: int) -> None:
    _, outcome = roll(OpposedRoll(Side(3), Side(2)), faces)
    assert outcome.net_successes == net
    assert outcome.tie is (net == 0)
    assert outcome.winner is (Winner.ATTACKER if net > 0 else Winner.DEFENDER)
    assert (outcome.fierce_strike, outcome.riposte) == (net >= 3, net <= -3)


def test_a_riposte_is_the_defenders_three() -> None:
    _, outcome = roll(OpposedRoll(Side(1), Side(3)), [2, 3, 4, 6, 5, 3, 3, 4])
    assert (outcome.net_successes, outcome.riposte, outcome.free_attack) == (-3, True, False)


def test_a_tie_may_be_partial_and_deals_no_damage() -> None:
    faces = [6, 4, 3, 5, 6, 3, 3, 4]
    check = OpposedRoll(Side(2), Side(2), ties=TieRule.PARTIAL, damage="A/12")
    _, outcome = roll(check, faces)
    assert (outcome.winner, outcome.tie, outcome.damage) == (Winner.NEITHER, True, None)
    _, outcome = roll(OpposedRoll(Side(2), Side(2), damage="A/12"), faces)
    assert (outcome.winner, outcome.damage) == (Winner.DEFENDER, None)


def test_a_hard_critical_is_judged_after_rerolls_and_before_the_damages() -> None:
    check = OpposedRoll(Side(2, modifiers=(2,)), Side(1), damage="A/12")
    # 3 3 | 6 1 against 5: no pool die to reroll; critical 1 -> 6: one more 5, a tie; nothing left. The defender wins.
    _, outcome = roll(check, [3, 3, 6, 1, 5, 3, 4, 6])
    assert (outcome.tie, outcome.attacker.hard_critical, outcome.attacker.extra_die) == (True, True, 5)
    # 5 3 | 1 2 against 4: wins; 1 -> 6, 2 -> 6: a hard critical; then 3 and 4 from its reroll.
    _, outcome = roll(check, [5, 3, 1, 2, 4, 3, 4, 6, 6, 3, 4])
    assert (outcome.attacker.hard_critical, outcome.net_successes) == (True, 2)
    assert outcome.damage is not None
    assert (outcome.damage.hard_critical_damage, outcome.damage.base) == (12, 4)


def test_a_fierce_die_makes_no_hard_critical() -> None:
    check = OpposedRoll(Side(3), Side(1), damage="A/12")
    _, outcome = roll(check, [5, 5, 5, 6, 3, 4, 3, 4, 6])
    assert (outcome.attacker.critical, outcome.attacker.hard_critical, outcome.net_successes) == (False, False, 3)
    assert outcome.damage is not None
    assert (outcome.damage.hard_critical_damage, outcome.damage.picked, outcome.damage.damage) == (0, (6, 6), 12)


# --- Damage and armour -----------------------------------------------------------------------------------------------

PAIRS = list(product(range(1, 7), repeat=2))


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_average_rounds_up_and_a_double_takes_the_number_after_the_slash(one: int, other: int) -> None:
    expected = 12 if one == other else {3: 2, 4: 2, 5: 3, 6: 3, 7: 4, 8: 4, 9: 5, 10: 5, 11: 6}[one + other]
    assert notation("A/12").worth((one, other)) == expected
    assert notation("A3/12").worth((one, other)) == (12 if one == other else min(expected, 3))


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_lowest_is_capped_and_a_double_absorbs_more(one: int, other: int) -> None:
    if one == other:
        assert notation("L2/4").worth((one, other)) == 4
    else:
        assert notation("L2/4").worth((one, other)) == (1 if 1 in (one, other) else 2)
        assert notation("L/0").worth((one, other)) == min((one, other))


def test_an_ordinary_double_deals_its_number_once_and_rerolls_nothing() -> None:
    _, outcome = roll(OpposedRoll(Side(1), Side(1), damage="A/12", armour="L2/4"), [5, 3, 3, 4, 1, 6])
    assert (outcome.attacker.critical, outcome.attacker.hard_critical) == (True, False)
    assert outcome.damage is not None
    assert (outcome.damage.hard_critical_damage, outcome.damage.damage, outcome.damage.absorbed) == (0, 12, 1)


@pytest.mark.parametrize(("attribute", "armour", "final"), [(0, "L9/9", 0), (-99, "", 0), (2, "L2/4", 3)])
def test_damage_has_a_floor_of_zero(attribute: int, armour: str, final: int) -> None:
    check = OpposedRoll(Side(1), Side(1), damage="L/9", attribute_modifier=attribute, armour=armour)
    _, outcome = roll(check, [6, 3, 4, 5, 3, 6])
    assert outcome.damage is not None
    assert outcome.damage.final_damage == final


def test_the_higher_damage_may_be_the_lower_faces() -> None:
    check = OpposedRoll(Side(3), Side(1), damage="A/12")
    _, outcome = roll(check, [5, 5, 5, 6, 3, 4, 3, 4, 3])
    assert outcome.damage is not None
    assert outcome.damage.picked == (3, 3)
    low = OpposedRoll(Side(3), Side(1), damage="L/1")
    resolved, outcome = roll(low, [5, 5, 5, 6, 3, 4, 3, 4, 3])
    assert outcome.damage is not None
    assert outcome.damage.picked == (6, 3)
    assert resolved.decisions[-1].option == "PICK_6_3"


# --- Refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "field", "minimum", "maximum"),
    [
        ({"pool": 8}, "pool", 0, 7),
        ({"pool": -1}, "pool", 0, 7),
        ({"pool": 1, "exchange": -1}, "exchange", 0, 6),
        ({"pool": 0, "exchange": -1}, "exchange", 0, 6),
        ({"pool": 3, "exchange": -3}, "exchange", -2, 4),
        ({"pool": 3, "exchange": 5}, "exchange", -2, 4),
        ({"pool": 7, "exchange": 1}, "exchange", -6, 0),
        ({"pool": 2, "modifiers": (1, 100)}, "modifiers[1]", -99, 99),
        ({"pool": 2, "modifiers": (-100,)}, "modifiers[0]", -99, 99),
        ({"pool": 2, "modifiers": (1,) * 101}, "modifiers", 0, 100),
        ({"pool": 2, "name": "é" * 51}, "name", 0, 100),
    ],
)
def test_a_side_out_of_range_is_refused(fields: dict[str, Any], field: str, minimum: int, maximum: int) -> None:
    with pytest.raises(CheckError) as refused:
        Side(**fields)
    error = refused.value
    assert (error.reason, error.field, error.minimum, error.maximum) == ("OUT_OF_RANGE", field, minimum, maximum)


@pytest.mark.parametrize(
    "written",
    [
        "H2/4",
        "a/12",
        "A12",
        "A/",
        "/12",
        "A/1000",
        "A/-1",
        "A0/12",
        "A100/12",
        "L2/04",
        "A /12",
        " A/12",
        "A/12 ",
        "A/١",
    ],
)
@pytest.mark.parametrize("field", ["damage", "armour"])
def test_other_notation_is_refused(field: str, written: str) -> None:
    damage, armour = (written, "") if field == "damage" else ("A/12", written)
    with pytest.raises(CheckError) as refused:
        OpposedRoll(Side(2), Side(2), damage=damage, armour=armour)
    error = refused.value
    assert (error.reason, error.field, error.value) == ("NOTATION_INVALID", field, written)


@pytest.mark.parametrize("written", ["A/0", "A/999", "L1/12", "A99/12"])
def test_the_ends_of_the_notation_are_allowed(written: str) -> None:
    assert OpposedRoll(Side(2), Side(2), damage=written, armour=written).damage == written


@pytest.mark.parametrize("modifier", [-100, 100])
def test_the_attributes_modifier_has_a_range(modifier: int) -> None:
    with pytest.raises(CheckError) as refused:
        OpposedRoll(Side(2), Side(2), damage="A/12", attribute_modifier=modifier)
    error = refused.value
    assert (error.reason, error.field, error.minimum, error.maximum) == ("OUT_OF_RANGE", "attribute_modifier", -99, 99)


def test_armour_and_attribute_need_a_damage() -> None:
    for armour, attribute in (("L2/4", 0), ("", 2)):
        with pytest.raises(CheckError) as refused:
            OpposedRoll(Side(2), Side(2), armour=armour, attribute_modifier=attribute)
        assert (refused.value.reason, refused.value.field) == ("REQUIRED", "damage")
