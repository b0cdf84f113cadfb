"""Questions: who answers, where they stand in the roll, and what no answer means."""

from __future__ import annotations

import pickle

import pytest

from fairroll_rules.decisions import Decision, Decisions, GivenAnswers, Option, Question, Who
from fairroll_rules.dice import Dice, DrawnDice
from fairroll_rules.errors import AnswerError, CheckError, require_range

KEEP, CHANGE = Option("KEEP", "the face stands"), Option("CHANGE", "the die is rolled again")


def question(kind: str = "CHANGE_DIE", preset: str | None = "KEEP", policy: str = "NEVER") -> Question:
    return Question(kind, Who.PLAYER, (KEEP, CHANGE), preset, policy)


def test_policies_answer_where_nothing_is_given() -> None:
    decisions = GivenAnswers()
    assert decisions.ask(question(), question("OTHER", "CHANGE", "ALWAYS")) == ("KEEP", "CHANGE")
    assert decisions.log == [
        Decision(":0", "CHANGE_DIE", Who.PLAYER, "KEEP", "NEVER", ""),
        Decision(":1", "OTHER", Who.PLAYER, "CHANGE", "ALWAYS", ""),
    ]


def test_given_answers_come_first_in_order_and_name_no_policy() -> None:
    decisions = GivenAnswers(("CHANGE", "KEEP"))
    assert decisions.ask(question(), question(preset=None), question(preset="CHANGE")) == ("CHANGE", "KEEP", "CHANGE")
    assert [(each.id, each.policy) for each in decisions.log] == [(":0", ""), (":1", ""), (":2", "NEVER")]
    assert decisions.used == 2


def test_an_open_question_names_its_kind_and_options() -> None:
    decisions = GivenAnswers(("KEEP",))
    with pytest.raises(AnswerError) as refused:
        decisions.ask(question(), question("OTHER", None, "ASK"))
    error = refused.value
    assert (error.reason, error.value, error.expected) == ("DECISION_OPEN", "OTHER", ("KEEP", "CHANGE"))
    assert decisions.used == 1


@pytest.mark.parametrize("answer", ["", "keep", "KEEP ", "REMOVE"])
def test_an_answer_that_is_no_option_is_refused(answer: str) -> None:
    with pytest.raises(AnswerError) as refused:
        GivenAnswers((answer,)).ask(question())
    error = refused.value
    assert (error.reason, error.value, error.expected) == ("OPTION_UNKNOWN", answer, ("KEEP", "CHANGE"))


def test_a_policy_that_picks_no_option_is_a_fault_of_the_rule() -> None:
    with pytest.raises(ValueError, match="NEVER of CHANGE_DIE picks REMOVE"):
        GivenAnswers().ask(question(preset="REMOVE"))


def asks(_: Dice, decisions: Decisions, times: int) -> tuple[int, None]:
    for _i in range(times):
        decisions.ask(question())
    return 0, None


def nested(dice: Dice, decisions: Decisions) -> tuple[int, None]:
    decisions.ask(question())
    dice.parts(asks, [(1,), (2,)], ("Ann", "Ben"))
    dice.part(asks, 1)
    decisions.ask(question())
    return 0, None


@pytest.mark.parametrize("actor", ["Zoe", "", "0.1"])
def test_an_id_is_path_and_number_and_no_label_changes_it(actor: str) -> None:
    dice = DrawnDice(lambda _: 1)
    dice.part(asks, 0)
    dice.part(nested, actor=actor)
    asks(dice, dice.decisions, 1)
    assert [(each.id, each.actor) for each in dice.decisions.log] == [
        ("1:0", actor),
        ("1.0:0", "Ann"),
        ("1.1:0", "Ben"),
        ("1.1:1", "Ben"),
        ("1.2:0", actor),
        ("1:1", actor),
        (":0", ""),
    ]


def test_an_error_of_the_rules_survives_the_way_to_another_process() -> None:
    with pytest.raises(CheckError) as refused:
        require_range("advantage", 7, 0, 3)
    copy = pickle.loads(pickle.dumps(refused.value))  # noqa: S301  bytes made on this line
    assert type(copy) is CheckError
    assert vars(copy) == vars(refused.value)
    assert str(copy) == "advantage must be 0..3, not 7"
    assert (copy.reason, copy.field, copy.minimum, copy.maximum, copy.value) == (
        "OUT_OF_RANGE",
        "advantage",
        0,
        3,
        "7",
    )


@pytest.mark.parametrize("value", [0, 3])
def test_both_ends_of_a_range_are_in_it(value: int) -> None:
    require_range("advantage", value, 0, 3)
