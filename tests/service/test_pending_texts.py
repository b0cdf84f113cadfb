"""What a roll that waits says: the dice and their fates, the decisions so far, and what there is to decide by."""

import pytest

from fairroll import json_codec
from fairroll.v1 import roll_pb2
from tests.service.table_play import Table, falling, is_pending, waiting

Chosen = tuple[str, ...]


def texts(monkeypatch: pytest.MonkeyPatch, check: str, faces: tuple[int, ...], chosen: Chosen = ()) -> list[str]:
    """Roll a check on these dice, choose at each stop, and return the last text by its lines, without numbers."""
    falling(iter(faces), monkeypatch)
    table = Table()
    chain = [table.roll(json_codec.loads(roll_pb2.Check, check.encode()))]
    for option in chosen:
        request = table.answering(chain)
        assert option in {each.id for decision in waiting(chain[-1]) for each in decision.options}
        for answer in request.answers:
            answer.option_id = option
        chain.append(table.send(request))
    assert is_pending(chain[-1])
    line, *steps = chain[-1].texts[0].plain.splitlines()
    assert chain[-1].texts[0].line == line
    return [line, *[step.partition(". ")[2] for step in steps]]


SKILL = """{"actor": "Ann", "crossroads": {"skillRoll": {"statistic": -1, "advantage": 1,
    "removal": "REMOVAL_POLICY_%s", "change": "CHANGE_POLICY_%s",
    "zeroResult": "ZERO_RESULT_POLICY_ASK", "opposingValue": {"successValue": 0}}}}"""


def test_a_removal_is_decided_by_the_dice_that_were_rolled(monkeypatch: pytest.MonkeyPatch) -> None:
    line, *steps = texts(monkeypatch, SKILL % ("ASK", "ASK"), (5, 4, 4, 2))
    assert line == "Waits for REMOVE of Ann: 3d6a1 rolled 5 4 4 2"
    assert steps[0] == "Dice: d6=5, d6=4, d6=4, d6=2"
    assert steps[1].startswith("REMOVE of Ann (0:0): 3d6a1 rolled 5 4 4 2; the player decides: REMOVE_5: remove 5;")


def test_a_change_says_what_remains_and_what_was_decided_by_whom(monkeypatch: pytest.MonkeyPatch) -> None:
    line, *steps = texts(monkeypatch, SKILL % ("LOWEST", "ASK"), (5, 4, 4, 2))
    assert line == "Waits for CHANGE of Ann: 3d6a1 rolled 5 4 4 2; 5 4 4 remain and make 13 - 1 = 12"
    assert steps[1] == "decided REMOVE of Ann: REMOVE_2 (policy LOWEST)"


def test_the_name_of_a_zero_is_decided_by_total_success_value_and_opposition(monkeypatch: pytest.MonkeyPatch) -> None:
    """5 4 4 - 1 is 12, a Hit; the 5 rerolled into a 1 makes 8, a Weak Hit, as the opponent's is: the Result is 0."""
    line, *steps = texts(monkeypatch, SKILL % ("ASK", "ASK"), (5, 4, 4, 2, 1), ("REMOVE_2", "REROLL_5"))
    assert line.startswith("Waits for ZERO_RESULT of Ann: 3d6a1 rolled 5 4 4 2, drop 2, Change 5 to 1: 9 - 1 = 8, ")
    assert "Weak Hit (0) against a given Weak Hit (0)" in line
    assert line.endswith("Partial Success or Compensating Failure [0]")
    assert steps[:3] == [
        "Dice: d6=5 rerolled into 1, d6=4, d6=4, d6=2",
        "decided REMOVE of Ann: REMOVE_2 (answered)",
        "decided CHANGE of Ann: REROLL_5 (answered)",
    ]


def test_a_group_says_how_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    check = """{"crossroads": {"groupRoll": {"mode": "GROUP_MODE_ALL_TOGETHER", "members": [{"name": "Ann"},
        {"name": "Ben"}], "zeroResult": "ZERO_RESULT_POLICY_ASK"}}}"""
    line, *_ = texts(monkeypatch, check, (6, 3, 2, 5, 4, 1))
    assert line.startswith("Waits for ZERO_RESULT: Ann Weak Hit (0), Ben Weak Hit (0): Partial Success or ")


def test_two_that_are_asked_at_once_are_each_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    check = """{"crossroads": {"groupRoll": {"mode": "GROUP_MODE_ALL_TOGETHER", "members": [
        {"name": "Ann", "change": "CHANGE_POLICY_ASK"}, {"name": "Ben", "change": "CHANGE_POLICY_ASK"}]}}}"""
    line, *steps = texts(monkeypatch, check, (3, 3, 2, 5, 5, 1))
    assert line == "Waits for CHANGE of Ann, CHANGE of Ben"
    assert steps[:2] == ["Dice of Ann: d6=3, d6=3, d6=2", "Dice of Ben: d6=5, d6=5, d6=1"]
    assert "CHANGE of Ben (1:0): 3d6 rolled 5 5 1: 11 + 0 = 11; the player decides:" in steps[3]


OPPOSED = """{"meidlands": {"opposedRoll": {
    "attacker": {"name": "Ann", "pool": 2, "modifiers": [-1], "penalties": "PENALTY_POLICY_ASK"},
    "defender": {"name": "wolf", "pool": 1, "modifiers": [1], "rerolls": "REROLL_POLICY_ASK"}}}}"""


def test_pool_and_critical_dice_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    line, *steps = texts(monkeypatch, OPPOSED, (5, 3, 6, 1))
    assert line == "Waits for PENALTY of Ann: pool 3 5 | critical dice 1 6"
    assert steps[0] == "Ann, 2D-1: pool 5, 3 | critical dice 6, 1"


def test_a_turn_says_which_bonuses_are_left_and_both_sides_stand_there(monkeypatch: pytest.MonkeyPatch) -> None:
    line, *steps = texts(monkeypatch, OPPOSED, (5, 3, 6, 1, 4, 2, 6, 3), ("CRITICAL_6",))
    assert line == "Waits for REROLL of wolf: pool 2 | critical dice 3 6, 1 bonus left"
    assert steps[:3] == [
        "Ann, 2D-1: pool 5, 3 | critical dice 6 rerolled into 4, 1",
        "wolf, 1D+1: pool 2 | critical dice 6, 3",
        "decided PENALTY of Ann: CRITICAL_6 (answered)",
    ]


def test_ones_are_decided_by_the_total_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    check = """{"d6Dungeons": {"skillRoll": {"difficulty": 6, "skill": 3, "disadvantage": 1, "savedOnesSpent": 2,
        "ones": "ONES_POLICY_ASK"}}}"""
    line, *_ = texts(monkeypatch, check, (1, 4, 1))
    assert line == "Waits for ONES: 3d6 rolled 1 4 1, highest 4 - 1 + 2 = 5 against 6"


def test_a_tie_is_decided_by_both_dice_and_the_modifier(monkeypatch: pytest.MonkeyPatch) -> None:
    check = """{"fortuneDoom": {"resolutionRoll": {"attribute": 2, "advantage": true, "tie": "TIE_CHOICE_ASK"}}}"""
    line, *_ = texts(monkeypatch, check, (7, 7))
    assert line == "Waits for TIE: Fortune 7, Doom 7, Resolution Modifier +2"
