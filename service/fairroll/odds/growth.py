"""What one die of a pool comes to, with all that it is rolled again for: rerolls, explosions and clamps, in any order.

Explosions are followed until what is left weighs less than CUT, or to the limit of the rules, at which a roll ends. A
die that rerolls until something no longer holds is taken to its end, unless it comes to that limit more often.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import add
from typing import Any

from fairroll.odds.chances import NOTHING, Chances, Work, added, certain, combined, mixed
from fairroll_rules.limits import MAX_AGAIN
from fairroll_rules.notation.tree import Exact

CUT = Fraction(1, 10**17)
"""The chance of a chain that is no longer followed: of 10,000 dice that explode, the most there are, 10^-13 is lost."""

Test = Callable[[Exact], bool]
Score = Callable[[int, Exact], Any]
"""What a die counts for, from its natural face and its value."""

Join = Callable[[Any, Any], Any]
"""Puts together what two dice count for."""


class UnsayableError(Exception):
    """This way of finding odds has no words for it; another one has. No caller sees it."""


@dataclass(frozen=True, slots=True)
class Again:
    """Roll again while any test holds, or once. `valued`: the first look is at the value, not at the natural face."""

    tests: tuple[Test, ...]
    once: bool
    valued: bool

    def holds(self, face: Exact) -> bool:
        """Tell whether a face is rolled again."""
        return any(test(face) for test in self.tests)


@dataclass(frozen=True, slots=True)
class Burst:
    """Roll once more while a test holds, at most `cap` times where there is one; each of those is `less` lower."""

    tests: tuple[Test, ...]
    cap: int | None
    compound: bool
    less: int
    valued: bool

    def holds(self, face: Exact) -> bool:
        """Tell whether a face explodes."""
        return any(test(face) for test in self.tests)


@dataclass(frozen=True, slots=True)
class Limit:
    """Lower the value to a limit, or raise it."""

    limit: int
    lower: bool

    def of(self, value: Exact) -> Exact:
        """Return the value within the limit."""
        return min(value, self.limit) if self.lower else max(value, self.limit)


Step = Again | Burst | Limit


def steps_again(steps: Sequence[Step]) -> list[Again | Burst]:
    """Return the steps that roll a die again."""
    return [step for step in steps if not isinstance(step, Limit)]


class Growth:
    """A die with its steps. What it counts for is its score, joined with the scores of the dice that it brought."""

    def __init__(self, work: Work, faces: Sequence[int], steps: Sequence[Step], score: Score, join: Join = add) -> None:
        """Make ready; nothing is worked out yet."""
        self._work = work
        self._steps = tuple(steps)
        self._score = score
        self._join = join
        self._size = len(faces)
        self._fresh: dict[int, int] = {}
        for face in faces:
            self._fresh[face] = self._fresh.get(face, 0) + 1
        self._known: dict[tuple[int, int, Exact], Chances] = {}
        self._chains: dict[int, Chances] = {}
        self._patient = [step for step in steps_again(steps) if self._comes_to_the_limit(step)]

    def chances(self) -> Chances:
        """Return what the die counts for.

        Raises:
            UnsayableError: the limit on rolls of one die counts those of several steps together, and would show.
            LimitReached: `odds_work`.
        """
        if self._patient and len(steps_again(self._steps)) > 1:
            raise UnsayableError
        return self._mixed({face: (ways, face) for face, ways in self._fresh.items()}, 0, self._size)

    def _mixed(self, faces: dict[int, tuple[int, Exact]], at: int, size: int) -> Chances:
        """Return what a die counts for that has one of some faces, by weight and value, from one of its steps on."""
        if at == len(self._steps):
            weights: dict[Exact, int] = {}
            for natural, (ways, value) in faces.items():
                scored = self._score(natural, value)
                weights[scored] = weights.get(scored, 0) + ways
            return Chances(weights, size)
        return mixed([(ways, self._from(at, face, value)) for face, (ways, value) in faces.items()], size)

    def _from(self, at: int, natural: int, value: Exact) -> Chances:
        """Return what a die counts for from one of its steps on."""
        if at == len(self._steps):
            return certain(self._score(natural, value))
        key = at, natural, value
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._stepped(at, natural, value)
            self._work.spend(0.1)
        return known

    def _stepped(self, at: int, natural: int, value: Exact) -> Chances:
        step = self._steps[at]
        if isinstance(step, Limit):
            return self._from(at + 1, natural, step.of(value))
        if not step.holds(value if step.valued else natural) or (isinstance(step, Burst) and step.cap == 0):
            return self._from(at + 1, natural, value)
        if isinstance(step, Again):
            return self._rerolled(at, step)
        chain = self._chain(at, step)
        if not step.compound:
            return self._joined(self._from(at + 1, natural, value), chain)
        parts = [(weight, self._from(at + 1, natural, value + more)) for more, weight in chain.weights.items()]
        whole = mixed(parts, chain.total)
        return Chances(whole.weights, whole.total, whole.ended + chain.ended)

    def _rerolled(self, at: int, step: Again) -> Chances:
        """Return a die that is rolled again, found once for each step."""
        if at not in self._chains:
            good = {face: ways for face, ways in self._fresh.items() if step.once or not step.holds(face)}
            size = sum(good.values())
            ended = NOTHING if step not in self._patient else (1 - Fraction(size, self._size)) ** MAX_AGAIN
            rolled = self._mixed({face: (ways, face) for face, ways in good.items()}, at + 1, size)
            self._chains[at] = rolled.ending(ended)
        return self._chains[at]

    def _chain(self, at: int, step: Burst) -> Chances:
        """Return what the dice of an explosion count for together, or, of a compound one, what they add."""
        if at in self._chains:
            return self._chains[at]
        bursting = {face: ways for face, ways in self._fresh.items() if step.holds(face)}
        resting = {face: ways for face, ways in self._fresh.items() if face not in bursting}
        # How often the chain begins is known of a first step alone.
        most, ends = self._depth(step, Fraction(1) if at else self._chance(step))
        # The last die stands alone where the cap ends a chain; a limit of the rules, or the cut, loses it.
        rest, every = self._alone(at, step, resting), self._alone(at, step, self._fresh)
        burst = self._alone(at, step, bursting)
        found = every if ends else rest
        for _ in range(most - 1):
            longer = added(self._work, burst, found) if step.compound else self._joined(burst, found)
            found = _together(longer, rest)
        if step in self._patient:
            lost = Fraction(sum(bursting.values()), self._size) ** most
            found = Chances(found.weights, found.total, lost)
        self._chains[at] = found
        return found

    def _alone(self, at: int, step: Burst, faces: dict[int, int]) -> Chances:
        """Return what one extra die counts for that has one of some faces, out of all."""
        if step.compound:
            return Chances({face - step.less: ways for face, ways in faces.items()}, self._size)
        return self._mixed({face: (ways, face - step.less) for face, ways in faces.items()}, at + 1, self._size)

    def _joined(self, left: Chances, right: Chances) -> Chances:
        return added(self._work, left, right) if self._join is add else combined(self._work, left, right, self._join)

    def _depth(self, step: Burst, left: Fraction) -> tuple[int, bool]:
        """Return how many extra rolls are followed, at least 1, and whether the step's own cap ends them there."""
        cap = MAX_AGAIN if step.cap is None else step.cap
        chance, depth = self._chance(step), 1
        while depth < cap and left * chance >= CUT:
            left *= chance
            depth += 1
        return depth, step.cap is not None and depth == cap

    def _comes_to_the_limit(self, step: Again | Burst) -> bool:
        """Tell whether a die is rolled again to the limit of the rules more often than chains are cut."""
        if step.once if isinstance(step, Again) else step.cap is not None:
            return False
        return self._chance(step) ** MAX_AGAIN >= CUT

    def _chance(self, step: Again | Burst) -> Fraction:
        return Fraction(sum([ways for face, ways in self._fresh.items() if step.holds(face)]), self._size)


def _together(left: Chances, right: Chances) -> Chances:
    """Return what is one or the other; each has a part of all."""
    total = lcm(left.total, right.total)
    weights = {value: weight * (total // left.total) for value, weight in left.weights.items()}
    scale = total // right.total
    for value, weight in right.weights.items():
        weights[value] = weights.get(value, 0) + weight * scale
    return Chances(weights, total)
