"""The answerer that stops at a question and goes on later: segments of one roll, each from a source of its own.

The rule is run from its start in every segment. Each part's path is fed the draws that were recorded for it, the
answers are given to the decisions that stopped the segment before, and only then the segment's own source is drawn
from. Feeding one flat list instead would give one actor another's dice as soon as several are asked at once.

A question that nobody answers ends the part that asks. Steps side by side (`parts`) all come to their end or their
question first and are then asked together; anything else stops the roll at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, TypeVar

from fairroll_rules.decisions import About, Decision, GivenAnswers, OpenDecision, Question, require_option
from fairroll_rules.dice import Draw, DrawnDice, Face, Part, Purpose, Source
from fairroll_rules.errors import AnswerError, LimitReached
from fairroll_rules.limits import MAX_DRAWS
from fairroll_rules.resolve import Resolved
from fairroll_rules.systems import system_of, systems

if TYPE_CHECKING:
    from typing import TypeAlias

    Path: TypeAlias = tuple[int, ...]

V = TypeVar("V")
D = TypeVar("D")


class Replay:
    """One roll in segments.

    Attributes:
        draws: all draws of the segments so far, in the order in which they were drawn.
        pending: the decisions that stopped the last segment; empty before the first and after the end.
    """

    def __init__(self, check: object, max_draws: int = MAX_DRAWS, actor: str = "") -> None:
        """Begin a roll of `check` by its `actor` that takes at most `max_draws` draws in all its segments."""
        self.draws: tuple[Draw, ...] = ()
        self.pending: tuple[OpenDecision, ...] = ()
        self._check = check
        self._max_draws = max_draws
        self._actor = actor
        self._paths: tuple[Path, ...] = ()
        self._answers: dict[str, str] = {}
        self._begun = False

    def require_answers(self, answers: Mapping[str, str]) -> None:
        """Refuse answers that are not one option for each pending decision; before the first segment there are none.

        Raises:
            AnswerError: NOT_PENDING, the roll has ended; DECISION_UNKNOWN, ANSWER_MISSING, OPTION_UNKNOWN.
        """
        if self._begun and not self.pending:
            raise AnswerError("NOT_PENDING", "the roll waits for no decision", field="answers")
        open_ids = tuple(decision.id for decision in self.pending)
        for place, decision_id in enumerate(answers):
            if decision_id not in open_ids:
                raise AnswerError(
                    "DECISION_UNKNOWN",
                    "the roll waits for no such decision",
                    field=f"answers[{place}].decision_id",
                    value=decision_id,
                    expected=open_ids,
                )
        for decision in self.pending:
            if decision.id not in answers:
                raise AnswerError(
                    "ANSWER_MISSING",
                    f"{decision.question.kind} has no answer: all that wait together are answered together",
                    field="answers",
                    value=decision.id,
                    expected=open_ids,
                )
            place = list(answers).index(decision.id)
            require_option(decision.question, answers[decision.id], given=True, field=f"answers[{place}].option_id")

    def go(self, source: Source, answers: Mapping[str, str] | None = None) -> Resolved:
        """Run the next segment with the answers to what is pending.

        Raises:
            AnswerError: as `require_answers`; DRAWS_DIFFER, the rule asks for other draws than before.
            RuleError: whatever the source raises.
        """
        self.require_answers(answers or {})
        self._answers |= answers or {}
        given = _GivenById(self._answers, self._actor)
        dice = _PausingDice(source, given, self._max_draws, self.draws, self._paths)
        value, outcome, reached = None, None, None
        self.pending = ()
        try:
            value, outcome = systems()[system_of(self._check)].resolve(dice, given, self._check)
        except LimitReached as error:
            reached = error
        except _Stopped as stopped:
            self.pending = stopped.pending
        if reached is None:
            dice.require_all_fed()
        earlier = self.draws
        self.draws, self._paths, self._begun = tuple(dice.log), tuple(dice.paths), True
        new = self.draws[len(earlier) :]
        return Resolved(new, tuple(given.log), value, outcome, reached, self.pending, earlier)

    def feed(self, draws: Sequence[Draw], answers: Mapping[str, str] | None = None) -> Resolved:
        """Run the next segment again from the draws that were recorded of it.

        Raises:
            AnswerError: as `go`; DRAWS_DIFFER, these are not the draws of the segment.
        """
        resolved = self.go(recorded_faces(draws), answers)
        if resolved.draws != tuple(draws):
            raise draws_differ(len(resolved.draws))
        return resolved


def recorded_faces(draws: Sequence[Draw]) -> Source:
    """Return a source of recorded faces, which are asked for with the same sides or not at all."""
    rest = enumerate(draws)

    def face(sides: int) -> int:
        index, draw = next(rest, (len(draws), None))
        if draw is None or draw.sides != sides or not 1 <= draw.face <= sides:
            raise draws_differ(index)
        return draw.face

    return face


def draws_differ(index: int) -> AnswerError:
    """Return the error for recorded draws that are not those that the rule asks for."""
    return AnswerError("DRAWS_DIFFER", "these are not the draws of this check", field=f"draws[{index}]")


class _Stopped(Exception):
    """A question that nobody answered ends the part that asked it."""

    def __init__(self, pending: tuple[OpenDecision, ...]) -> None:
        super().__init__()
        self.pending = pending


class _GivenById(GivenAnswers):
    """Answers by the ids of their decisions; where there is none the policies answer."""

    __slots__ = ("_by_id",)

    def __init__(self, by_id: Mapping[str, str], actor: str) -> None:
        super().__init__(actor=actor)
        self._by_id = by_id

    def ask(self, *questions: Question, about: About | None = None) -> tuple[str, ...]:
        position = self.position
        actor = position.actor or self.actor
        chosen: list[str] = []
        pending: list[OpenDecision] = []
        for question in questions:
            decision_id = position.question_id()
            given = self._by_id.get(decision_id)
            option = question.preset if given is None else given
            if option is None:
                pending.append(OpenDecision(decision_id, actor, question, "" if about is None else about()))
                continue
            require_option(question, option, given=given is not None)
            policy = question.policy if given is None else ""
            self.log.append(Decision(decision_id, question.kind, question.who, option, policy, actor))
            chosen.append(option)
        if pending:
            raise _Stopped(tuple(pending))
        return tuple(chosen)


class _PausingDice(DrawnDice):
    """Drawn dice that feed each path its recorded draws before they draw anew."""

    def __init__(
        self,
        source: Source,
        decisions: _GivenById,
        max_draws: int,
        recorded: Sequence[Draw],
        paths: Sequence[Path],
    ) -> None:
        super().__init__(source, decisions, max_draws)
        self.log = list(recorded)
        self.paths = list(paths)
        self._fed: dict[Path, deque[int]] = {}
        for index, path in enumerate(paths):
            self._fed.setdefault(path, deque()).append(index)

    def require_all_fed(self) -> None:
        left = [indexes[0] for indexes in self._fed.values() if indexes]
        if left:
            raise draws_differ(min(left))

    def pool(self, count: int, sides: int) -> tuple[Face, ...]:
        return tuple([self._draw(sides, Purpose.ROLL, None) for _ in range(count)])

    def parts(  # type: ignore[override]  # the two overloads of the door, answered by one body
        self,
        function: Part[V, D],
        args: Sequence[tuple[object, ...]],
        actors: Sequence[str] = (),
        merge: Callable[[V, V], V] | None = None,
    ) -> tuple[tuple[V, ...] | V, tuple[D, ...]]:
        names = actors or ("",) * len(args)
        results: list[tuple[V, D]] = []
        pending: list[OpenDecision] = []
        for each, name in zip(args, names, strict=True):
            try:
                results.append(self.part(function, *each, actor=name))
            except _Stopped as stopped:
                pending += stopped.pending
        if pending:
            raise _Stopped(tuple(pending))
        values = tuple([value for value, _ in results])
        details = tuple([detail for _, detail in results])
        return (values if merge is None else reduce(merge, values)), details

    def _draw(self, sides: int, purpose: Purpose, of: int | None) -> Face:
        position = self.decisions.position
        fed = self._fed.get(position.path)
        if not fed:
            face = super()._draw(sides, purpose, of)
            self.paths.append(position.path)
            return face
        index = fed.popleft()
        draw = self.log[index]
        if draw != (sides, draw.face, purpose, of, position.actor):
            raise draws_differ(index)
        return Face(draw.face, sides, index)
