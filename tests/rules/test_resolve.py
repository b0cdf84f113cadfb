"""One check from a source of chance to its outcome, with a small system of the test's own."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from fairroll_rules import resolve as module
from fairroll_rules.decisions import Decisions, Option, Question, Who
from fairroll_rules.dice import Dice, Draw, Purpose
from fairroll_rules.errors import AnswerError
from fairroll_rules.given import GivenFaces
from fairroll_rules.resolve import Resolved
from fairroll_rules.systems import system_of


@dataclass(frozen=True, slots=True)
class PushCheck:
    """Roll a d6; the player may roll it again, as often as is asked."""

    questions: int = 1
    preset: str | None = "STAND"


@dataclass(frozen=True, slots=True)
class PushOutcome:
    """The last face, and the draw that shows it."""

    total: int
    draw: int


def resolve(dice: Dice, decisions: Decisions, check: PushCheck) -> tuple[int, PushOutcome]:
    face = dice.roll(6)
    options = (Option("STAND", "the face stands"), Option("PUSH", "the die is rolled again"))
    for _ in range(check.questions):
        (choice,) = decisions.ask(Question("PUSH_DIE", Who.PLAYER, options, check.preset, "FIXED"))
        if choice == "PUSH":
            face = dice.again(face, Purpose.REROLL)
    return int(face), PushOutcome(int(face), face.draw)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "systems", lambda: {"test_resolve": sys.modules[__name__]})


def run(check: PushCheck, faces: tuple[int, ...], answers: tuple[str, ...] = (), max_draws: int = 10) -> Resolved:
    return module.resolve(check, GivenFaces(faces), answers, max_draws)


def test_a_check_belongs_to_the_module_of_its_class() -> None:
    assert system_of(PushCheck()) == system_of(PushOutcome(1, 0)) == "test_resolve"


def test_a_check_resolves_to_value_outcome_draws_and_decisions() -> None:
    resolved = run(PushCheck(questions=2), (2, 5), ("PUSH",))
    assert (resolved.value, resolved.outcome, resolved.limit_reached) == (5, PushOutcome(5, 1), None)
    assert resolved.draws == (Draw(6, 2, Purpose.ROLL, None, ""), Draw(6, 5, Purpose.REROLL, 0, ""))
    assert [(each.id, each.option, each.policy) for each in resolved.decisions] == [
        (":0", "PUSH", ""),
        (":1", "STAND", "FIXED"),
    ]


def test_answers_left_over_are_refused() -> None:
    with pytest.raises(AnswerError) as refused:
        run(PushCheck(), (2, 5), ("PUSH", "STAND"))
    error = refused.value
    assert (error.reason, error.maximum, error.value) == ("ANSWERS_LEFT", 1, "2")


def test_an_open_question_is_refused() -> None:
    with pytest.raises(AnswerError) as refused:
        run(PushCheck(preset=None), (2,))
    assert refused.value.reason == "DECISION_OPEN"


def test_what_the_source_refuses_is_refused() -> None:
    with pytest.raises(AnswerError) as refused:
        run(PushCheck(), (2,), ("PUSH",))
    assert refused.value.reason == "FACES_MISSING"


def test_a_limit_reached_while_drawing_ends_without_a_total_and_the_draws_stand() -> None:
    resolved = run(PushCheck(questions=2), (2, 5, 3), ("PUSH", "PUSH"), max_draws=2)
    assert resolved.limit_reached is not None
    assert resolved.limit_reached.limit == "draws"
    assert (resolved.value, resolved.outcome) == (None, None)
    assert [draw.face for draw in resolved.draws] == [2, 5]
    assert [each.option for each in resolved.decisions] == ["PUSH", "PUSH"]


def test_a_limit_reached_is_no_reason_to_refuse_answers_that_came_too_late() -> None:
    assert run(PushCheck(questions=3), (2, 5), ("PUSH", "PUSH", "STAND"), max_draws=2).limit_reached is not None
