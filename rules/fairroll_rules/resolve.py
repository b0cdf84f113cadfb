"""One check from a source of chance to its outcome: what the service, the verifier and `resolve` all run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairroll_rules.decisions import Decision, GivenAnswers, OpenDecision
from fairroll_rules.dice import Draw, DrawnDice, Source
from fairroll_rules.errors import AnswerError, LimitReached
from fairroll_rules.limits import MAX_DRAWS
from fairroll_rules.systems import system_of, systems

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a check resolved to.

    Outcome and value are None where a limit was reached while drawing, and where the roll waits: then `pending` has
    the decisions that it waits for. `earlier` are the draws of the segments before this one (see `replay`): indexes
    of draws count them first.
    """

    draws: tuple[Draw, ...]
    decisions: tuple[Decision, ...]
    value: Any
    outcome: Any
    limit_reached: LimitReached | None
    pending: tuple[OpenDecision, ...] = ()
    earlier: tuple[Draw, ...] = ()


def resolve(
    check: object, source: Source, answers: Sequence[str] = (), max_draws: int = MAX_DRAWS, actor: str = ""
) -> Resolved:
    """Resolve a check of any system.

    `answers` are given answers in the order of the questions; where they end, the policies of the check answer.
    `actor` is the check's: decisions name it where no step has a label of its own.

    Raises:
        AnswerError: an answer is not an option, an open question has no answer, or answers are left over.
        RuleError: whatever the source raises.
    """
    decisions = GivenAnswers(answers, actor=actor)
    dice = DrawnDice(source, decisions, max_draws)
    try:
        value, outcome = systems()[system_of(check)].resolve(dice, decisions, check)
    except LimitReached as reached:
        return Resolved(tuple(dice.log), tuple(decisions.log), None, None, reached)
    if decisions.used < len(answers):
        raise AnswerError(
            "ANSWERS_LEFT",
            f"the roll asked {decisions.used} questions, not {len(answers)}",
            maximum=decisions.used,
            value=str(len(answers)),
        )
    return Resolved(tuple(dice.log), tuple(decisions.log), value, outcome, None)
