"""The only door to chance: dice, faces, and the log of draws.

A rule asks this door for faces; the source behind it is a proof's stream, given faces or a random source, and
`odds` answers the same calls with every face at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import Enum
from functools import reduce
from typing import NamedTuple, TypeVar, overload

from fairroll_rules.decisions import Decisions, GivenAnswers
from fairroll_rules.errors import LimitReached
from fairroll_rules.limits import MAX_AGAIN, MAX_DRAWS

V = TypeVar("V")
D = TypeVar("D")

Source = Callable[[int], int]
"""Answers a number of sides with a face, 1..sides."""

Part = Callable[..., tuple[V, D]]
"""`function(dice, decisions, *args) -> (value, detail)`: module-level, depends on its arguments alone."""


class Purpose(Enum):
    """Why a die was drawn."""

    ROLL = 1
    REROLL = 2
    EXPLODE = 3


class Face(int):
    """The number showing, 1..sides, which knows its die and its place in the log of draws."""

    sides: int
    draw: int

    def __new__(cls, number: int, sides: int, draw: int) -> Face:  # noqa: PYI034  Face is final in practice
        """Make a face of a die with `sides` sides, drawn as number `draw` of its check, from 0."""
        face = int.__new__(cls, number)
        face.sides = sides
        face.draw = draw
        return face


class Draw(NamedTuple):
    """One face asked for and answered; `of` is the draw that it follows, None for a first roll.

    A named tuple, since one is made for every die and a frozen dataclass costs three times as much.
    """

    sides: int
    face: int
    purpose: Purpose
    of: int | None
    actor: str


_ROLL = Purpose.ROLL
_new_face = int.__new__
_new_draw = tuple.__new__


class Dice(ABC):
    """The door. `pool` dice are interchangeable; a die that must be told from others is rolled on its own."""

    @abstractmethod
    def roll(self, sides: int) -> Face:
        """Roll one die, 1..sides.

        Raises:
            LimitReached: the draws of the record are used up.
        """

    @abstractmethod
    def pool(self, count: int, sides: int) -> tuple[Face, ...]:
        """Roll `count` interchangeable dice in a row. Raises as `roll` does."""

    @abstractmethod
    def again(self, face: Face, purpose: Purpose) -> Face:
        """Roll that die once more, to REROLL or EXPLODE it.

        Raises:
            LimitReached: this die was rolled again too often, or the draws of the record are used up.
        """

    @abstractmethod
    def part(self, function: Part[V, D], *args: object, actor: str = "") -> tuple[V, D]:
        """Run a step of its own, in sequence: its open question stops the roll."""

    @overload
    def parts(
        self, function: Part[V, D], args: Sequence[tuple[object, ...]], actors: Sequence[str] = (), merge: None = None
    ) -> tuple[tuple[V, ...], tuple[D, ...]]: ...

    @overload
    def parts(
        self,
        function: Part[V, D],
        args: Sequence[tuple[object, ...]],
        actors: Sequence[str] = (),
        *,
        merge: Callable[[V, V], V],
    ) -> tuple[V, tuple[D, ...]]: ...

    @abstractmethod
    def parts(
        self,
        function: Part[V, D],
        args: Sequence[tuple[object, ...]],
        actors: Sequence[str] = (),
        merge: Callable[[V, V], V] | None = None,
    ) -> tuple[tuple[V, ...] | V, tuple[D, ...]]:
        """Run steps side by side, one per tuple of arguments (at least one), and return their values and details.

        `merge` is associative and commutative and a module-level function; with it the values are folded to one.
        """


class DrawnDice(Dice):
    """Dice answered one face at a time by a source, with the log of what was drawn."""

    def __init__(self, source: Source, decisions: GivenAnswers | None = None, max_draws: int = MAX_DRAWS) -> None:
        """Draw from `source`, at most `max_draws` times; parts ask `decisions`."""
        self.decisions = decisions if decisions is not None else GivenAnswers()
        self.log: list[Draw] = []
        self._source = source
        self._max_draws = max_draws
        self._first: dict[int, int] = {}
        self._times_again: dict[int, int] = {}

    def roll(self, sides: int) -> Face:
        """Roll one die."""
        return self._draw(sides, _ROLL, None)

    def pool(self, count: int, sides: int) -> tuple[Face, ...]:
        """Roll `count` dice in a row."""
        log = self.log
        start = len(log)
        if start + count > self._max_draws:
            return tuple([self._draw(sides, _ROLL, None) for _ in range(count)])
        # `_draw` written out: most dice are rolled here, a quarter cheaper so.
        source, actor, faces = self._source, self.decisions.position.actor, []
        for index in range(start, start + count):
            number = source(sides)
            log.append(_new_draw(Draw, (sides, number, _ROLL, None, actor)))
            face = _new_face(Face, number)
            face.sides = sides
            face.draw = index
            faces.append(face)
        return tuple(faces)

    def again(self, face: Face, purpose: Purpose) -> Face:
        """Roll that die once more."""
        first = self._first.get(face.draw, face.draw)
        times = self._times_again.get(first, 0) + 1
        if times > MAX_AGAIN:
            raise LimitReached(
                "LIMIT_REACHED", "one die was rolled again too often", limit="again_per_die", maximum=MAX_AGAIN
            )
        following = self._draw(face.sides, purpose, face.draw)
        self._first[following.draw] = first
        self._times_again[first] = times
        return following

    def part(self, function: Part[V, D], *args: object, actor: str = "") -> tuple[V, D]:
        """Run a step at a path of its own."""
        decisions = self.decisions
        outer = decisions.position
        decisions.position = outer.inner(actor)
        try:
            return function(self, decisions, *args)
        finally:
            decisions.position = outer

    def parts(  # type: ignore[override]  # the two overloads of the door, answered by one body
        self,
        function: Part[V, D],
        args: Sequence[tuple[object, ...]],
        actors: Sequence[str] = (),
        merge: Callable[[V, V], V] | None = None,
    ) -> tuple[tuple[V, ...] | V, tuple[D, ...]]:
        """Run the steps in order, each at a path of its own."""
        names = actors or ("",) * len(args)
        decisions = self.decisions
        outer = decisions.position
        results = []
        try:  # `part` written out: exploding dice are parts each, a third cheaper so
            for each, name in zip(args, names, strict=True):
                decisions.position = outer.inner(name)
                results.append(function(self, decisions, *each))
        finally:
            decisions.position = outer
        values = tuple([value for value, _ in results])
        details = tuple([detail for _, detail in results])
        return (values if merge is None else reduce(merge, values)), details

    def _draw(self, sides: int, purpose: Purpose, of: int | None) -> Face:
        # Every die passes here, so no constructor written in Python.
        index = len(self.log)
        if index >= self._max_draws:
            raise LimitReached("LIMIT_REACHED", "the draws are used up", limit="draws", maximum=MAX_DRAWS)
        number = self._source(sides)
        self.log.append(_new_draw(Draw, (sides, number, purpose, of, self.decisions.position.actor)))
        face = _new_face(Face, number)
        face.sides = sides
        face.draw = index
        return face


__all__ = ["Decisions", "Dice", "Draw", "DrawnDice", "Face", "Part", "Purpose", "Source"]
