"""The only door to a person's choice: questions, options, and who answers them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from fairroll_rules.errors import AnswerError


class Who(Enum):
    """Who decides a question."""

    PLAYER = "player"
    GAME_MASTER = "game master"


@dataclass(frozen=True, slots=True)
class Option:
    """One possible answer: `id` in upper snake case, unique in its question, and what it means in a sentence."""

    id: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Question:
    """A choice after seeing faces.

    `kind` names the choice in upper snake case (`REMOVE`, `CHANGE`); `preset` is the id of the option that the
    declared `policy` picks, None where the policy is ASK.
    """

    kind: str
    who: Who
    options: tuple[Option, ...]
    preset: str | None
    policy: str


@dataclass(frozen=True, slots=True)
class Decision:
    """A question that was answered: `id` is its place in the roll, `policy` is empty where a person answered."""

    id: str
    kind: str
    who: Who
    option: str
    policy: str
    actor: str


@dataclass(frozen=True, slots=True)
class OpenDecision:
    """A question that waits for a person: `id` is its place in the roll, `actor` who it is about.

    `about` is what stands on the table for it, in the game's words; never signed.
    """

    id: str
    actor: str
    question: Question
    about: str = ""


class MostAsked(NamedTuple):
    """What the decisions of a roll come to at most, told before a die is rolled.

    `rounds` holds, for each time that the roll may wait, the decisions that are new by then, each as the most options
    that a person is shown: none where a policy decides. `again` is how many dice are rolled once more.
    """

    rounds: tuple[tuple[tuple[Option, ...], ...], ...]
    again: int


@dataclass(slots=True)
class Position:
    """Where a roll stands: the call counters that lead to the running part, and its innermost label.

    The path names a part by counters alone, so that a label never changes which draws a part is fed.
    """

    path: tuple[int, ...] = ()
    actor: str = ""
    calls: int = 0
    questions: int = 0

    def inner(self, actor: str) -> Position:
        """Return the position of the next part called from here."""
        self.calls += 1
        return Position((*self.path, self.calls - 1), actor or self.actor)

    def question_id(self) -> str:
        """Return the id of the next question asked here: path and number, such as `0.2:1`."""
        self.questions += 1
        return f"{'.'.join(map(str, self.path))}:{self.questions - 1}"


About = Callable[[], str]
"""Says what a person decides by, such as `rolled 5 4 3 2`."""


class Decisions(ABC):
    """The door: a rule asks, someone else answers."""

    @abstractmethod
    def ask(self, *questions: Question, about: About | None = None) -> tuple[str, ...]:
        """Return the id of the chosen option for each question; all are asked at once.

        Args:
            questions: with their options.
            about: says what stands on the table for them; called only where a person is asked.

        Raises:
            AnswerError: no policy answers (ASK) and nobody else does, or a given answer is not an option.
        """


def decision_open(question: Question) -> AnswerError:
    """Return the error for a question that nobody answers."""
    return AnswerError(
        "DECISION_OPEN",
        f"nobody answers {question.kind}: its policy is ASK",
        value=question.kind,
        expected=_ids(question),
    )


def require_option(question: Question, option: str, *, given: bool, field: str = "") -> None:
    """Refuse an answer that is not an option.

    Raises:
        AnswerError: OPTION_UNKNOWN, a person gave it.
        ValueError: a policy picked it, which is the rule's fault.
    """
    for known in question.options:
        if known.id == option:
            return
    if not given:
        raise ValueError(f"the policy {question.policy} of {question.kind} picks {option}, not an option")
    raise AnswerError(
        "OPTION_UNKNOWN",
        f"{question.kind} has no such option",
        field=field,
        value=option,
        expected=_ids(question),
    )


def _ids(question: Question) -> tuple[str, ...]:
    return tuple(option.id for option in question.options)


@dataclass(slots=True)
class GivenAnswers(Decisions):
    """Answers given in the order of the questions; where they end, the policies answer.

    `actor` is the check's: who decides where a step has no label of its own.
    """

    answers: Sequence[str] = ()
    position: Position = field(default_factory=Position)
    log: list[Decision] = field(default_factory=list)
    used: int = 0
    actor: str = ""

    def ask(self, *questions: Question, about: About | None = None) -> tuple[str, ...]:  # noqa: ARG002  nobody reads it
        """Answer each question from what was given, then from its preset."""
        return tuple([self._answer(question) for question in questions])

    def _answer(self, question: Question) -> str:
        given = self.used < len(self.answers)
        option = self.answers[self.used] if given else question.preset
        if option is None:
            raise decision_open(question)
        require_option(question, option, given=given)
        self.used += given
        policy = "" if given else question.policy
        position = self.position
        actor = position.actor or self.actor
        self.log.append(Decision(position.question_id(), question.kind, question.who, option, policy, actor))
        return option
