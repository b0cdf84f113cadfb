"""What is counted of the dice, in one pass in the order of sessions and in memory that does not grow with them.

Every draw is uniform, given all draws before it: also one that follows a reroll or an explosion. So sums over draws
of what has mean 0 given the past have mean 0, however many draws the rules asked for. What is kept here are such sums.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import sqrt

MAX_SIZES = 40
"""Die sizes that are counted by faces; the sizes seen first. Draws of others are only numbered."""
MAX_CLASSES = 120
"""Faces of larger dice are counted in so many classes of neighbours."""
GRID = 4096
"""Cells of the unit interval in which positions are counted for Kolmogorov-Smirnov."""
WINDOW_CHANCES = (1_000, 2**40)
"""Faces in a row make a window when two windows are equal with at most this chance, one in so many.

Many receipts from a few seeds repeat short windows too often; a long one is repeated by no chance at all.
"""
MAX_AGES = 400

Window = tuple[int, int, int]
"""Sides of the die, how many draws, and their faces as one number."""


def window_length(sides: int, ways: int) -> int:
    """Return how many draws of a die make a window that can fall in so many ways, or more."""
    length = 1
    while sides**length < ways:
        length += 1
    return length


@dataclass
class Windows:
    """Windows of some length, none of which overlap: so they are independent, and each way is as likely.

    One begins with a receipt's first draw of the size, unless the one before it is not full yet. That is known before
    its first face; so where windows begin tells nothing of what is in them.
    """

    length: int
    _faces: list[int] = field(default_factory=list)

    def add(self, face: int, sides: int, *, first: bool) -> int | None:
        """Take a draw; return the window that it fills, as one number."""
        if not (first or self._faces):
            return None
        self._faces.append(face)
        if len(self._faces) < self.length:
            return None
        code = 0
        for each in self._faces:
            code = code * sides + each - 1
        self._faces.clear()
        return code


def top_faces(sides: int) -> int:
    """Return how many faces count as "the top" in the gap test: one, or the top twentieth of a larger die."""
    return max(1, sides // 20)


@dataclass
class DieTally:
    """The draws of one die size, 2 sides at least.

    Attributes:
        counts: how often each face came up, or each class of neighbouring faces.
        grid: how many positions (face - 1 + v) / sides fell into each cell, with v uniform on 0..1.
        halves: neighbours of which none is the middle face, and how often one is low and the other high.
        serial: neighbours, and the sum of the products of their scores.
        equal: how often a face came up twice in a row.
        at_risk: draws by how many draws ago the top came up last, `marks` of them those that are the top.
    """

    sides: int
    drawn: int = 0
    counts: list[int] = field(default_factory=list)
    grid: array[int] = field(default_factory=lambda: array("q", bytes(8 * GRID)))
    halves: int = 0
    changes: int = 0
    pairs: int = 0
    serial: float = 0.0
    equal: int = 0
    at_risk: list[int] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    score_sum: float = 0.0

    def __post_init__(self) -> None:
        sides = self.sides
        self.counts = [0] * min(sides, MAX_CLASSES)
        self._centre = (sides + 1) / 2
        self._deviation = sqrt((sides * sides - 1) / 12)
        self._top = sides - top_faces(sides)
        ages = min(MAX_AGES, 5 * sides // top_faces(sides))
        self.at_risk, self.marks = [0] * ages, [0] * ages
        self._last_face = 0
        self._last_high: bool | None = None
        self._age = -1
        self._windows = [Windows(window_length(sides, ways)) for ways in WINDOW_CHANCES]

    def score(self, face: int) -> float:
        """Return a face with mean 0 and variance 1."""
        return (face - self._centre) / self._deviation

    def add(self, face: int, position: float, *, first: bool) -> list[tuple[int, int]]:
        """Count a draw; return the windows that it fills, as length and faces.

        Args:
            face: 1..sides.
            position: uniform on 0..1, independent of everything else.
            first: whether it is its receipt's first draw of this size.
        """
        sides = self.sides
        self.drawn += 1
        self.counts[(face - 1) * len(self.counts) // sides] += 1
        self.grid[int((face - 1 + position) / sides * GRID)] += 1
        score = self.score(face)
        self.score_sum += score
        if self._last_face:
            self.pairs += 1
            self.serial += self.score(self._last_face) * score
            self.equal += face == self._last_face
        self._last_face = face
        if 2 * face != sides + 1:
            high = 2 * face > sides + 1
            if self._last_high is not None:
                self.halves += 1
                self.changes += high is not self._last_high
            self._last_high = high
        top = face > self._top
        if self._age >= 0:
            age = min(self._age, len(self.at_risk) - 1)
            self.at_risk[age] += 1
            self.marks[age] += top
            self._age += 1
        if top:
            self._age = 0
        filled = [(windows.length, windows.add(face, sides, first=first)) for windows in self._windows]
        return [(length, faces) for length, faces in filled if faces is not None]


@dataclass
class Position:
    """Outcomes placed among what their own checks could have given: uniform on 0..1 if the odds are right.

    Attributes:
        checks: how many.
        total: sum of the positions with chance within an outcome: exactly uniform.
        middle: sum of the middles of the outcomes' places: what is shown, since nothing random is in it.
        grid: how many positions fell into each cell.
    """

    checks: int = 0
    total: float = 0.0
    middle: float = 0.0
    grid: array[int] = field(default_factory=lambda: array("q", bytes(8 * GRID)))

    def add(self, below: float, chance: float, position: float) -> None:
        """Count an outcome: the chance of lower ones, its own, and a number that is uniform on 0..1."""
        place = below + chance * position
        self.checks += 1
        self.total += place
        self.middle += below + chance / 2
        self.grid[min(GRID - 1, int(place * GRID))] += 1


@dataclass
class Named:
    """The rolls of one actor, or under one label."""

    checks: int = 0
    draws: int = 0
    score_sum: float = 0.0
    placed: int = 0
    total: float = 0.0
    middle: float = 0.0


@dataclass
class Interplay:
    """Neighbouring draws of a session that differ in size or actor: whether one tells anything about the other."""

    pairs: int = 0
    products: float = 0.0


MAX_NAMES = 2_000
OTHERS = None
"""Under this key are all names after the first ones."""


class Names:
    """Rolls by name: so many of them apart, the rest together."""

    def __init__(self) -> None:
        self.by_name: dict[str | None, Named] = {}

    def of(self, name: str) -> Named:
        """Return the one of that name."""
        known = self.by_name.get(name)
        if known is None:
            key = name if len(self.by_name) < MAX_NAMES else OTHERS
            known = self.by_name.setdefault(key, Named())
        return known


@dataclass
class Tally:
    """All that is counted."""

    sizes: dict[int, DieTally] = field(default_factory=dict)
    draws: int = 0
    constant: int = 0
    uncounted: int = 0
    interplay: Interplay = field(default_factory=Interplay)
    outcomes: Position = field(default_factory=Position)
    systems: dict[str, Position] = field(default_factory=dict)
    unplaced: int = 0
    actors: Names = field(default_factory=Names)
    labels: Names = field(default_factory=Names)

    def size(self, sides: int) -> DieTally | None:
        """Return the tally of a die size, if it is one of those that are counted by faces."""
        known = self.sizes.get(sides)
        if known is None and len(self.sizes) < MAX_SIZES:
            known = self.sizes[sides] = DieTally(sides)
        return known

    def place(self, system: str, names: tuple[str, str], below: float, chance: float, position: float) -> None:
        """Count an outcome of a check of a system, by an actor and under a label, as `Position.add` does."""
        self.outcomes.add(below, chance, position)
        self.systems.setdefault(system, Position()).add(below, chance, position)
        for of, name in zip((self.actors, self.labels), names, strict=True):
            if name:
                named = of.of(name)
                named.placed += 1
                named.total += below + chance * position
                named.middle += below + chance / 2

    def add_draws(
        self, draws: Iterable[tuple[int, int, str]], chance: Iterable[float], last: tuple[str, int, float] | None
    ) -> tuple[list[Window], list[float], tuple[str, int, float] | None]:
        """Count the draws of one receipt.

        Args:
            draws: sides, face and actor of each in order.
            chance: numbers uniform on 0..1, one for each.
            last: the session's draw before them, as it is returned.

        Returns:
            Windows that were filled; the score of each draw; the last draw.
        """
        windows: list[Window] = []
        scores: list[float] = []
        begun: set[int] = set()
        for (sides, face, actor), position in zip(draws, chance, strict=False):
            self.draws += 1
            if sides == 1:
                self.constant += 1
                continue
            die = self.size(sides)
            if die is None:
                self.uncounted += 1
                continue
            filled = die.add(face, position, first=sides not in begun)
            begun.add(sides)
            if filled:
                windows += [(sides, *each) for each in filled]
            score = die.score(face)
            scores.append(score)
            if last is not None and (last[0] != actor or last[1] != sides):
                self.interplay.pairs += 1
                self.interplay.products += last[2] * score
            last = (actor, sides, score)
        return windows, scores, last
