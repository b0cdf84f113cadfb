"""The phase generate: what rerolls, explosions, clamps and unique make of one die, directly after it was rolled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from fairroll_rules.decisions import Decisions
from fairroll_rules.dice import Dice, Face, Purpose
from fairroll_rules.notation.runners import Counts, Record, make_die
from fairroll_rules.notation.selection import KEPT, Phases, Test
from fairroll_rules.notation.tree import Exact
from fairroll_rules.outcome import Fate


class Item:
    """A die in the making: its face, the number on it, its value, what happened to it, and whether it still stands."""

    __slots__ = ("face", "fates", "natural", "standing", "value")

    def __init__(self, face: Face, named: tuple[int, ...]) -> None:
        self.face = face
        self.natural = named[face - 1] if named else int(face)
        self.value = self.natural
        self.fates: tuple[Fate, ...] = ()
        self.standing = True


class Seen:
    """Natural faces that have passed each `unique` of one pool."""

    __slots__ = ("faces",)

    def __init__(self, steps: int) -> None:
        self.faces: list[list[int]] = [[] for _ in range(steps)]


_UNSEEN = Seen(0)


class Step(ABC):
    """One modifier. `items` are one die and all that came from it, in draw order; new dice go to the end."""

    __slots__ = ()

    @abstractmethod
    def apply(self, dice: Dice, items: list[Item], named: tuple[int, ...], seen: Seen) -> None:
        """Change the items that stand."""

    @abstractmethod
    def rests(self, face: Exact) -> bool:
        """Tell whether the step leaves a new die alone that shows this natural face."""


class RerollStep(Step):
    """Roll again while any of the tests holds, or once; `valued` looks at the value that a die has at first."""

    __slots__ = ("once", "tests", "valued")

    def __init__(self, tests: Sequence[Test], *, once: bool, valued: bool = False) -> None:
        self.tests = tuple(tests)
        self.once = once
        self.valued = valued

    def apply(self, dice: Dice, items: list[Item], named: tuple[int, ...], seen: Seen) -> None:  # noqa: ARG002  one interface
        for item in tuple(items):
            current = item
            shown = item.value if self.valued else item.natural
            while current.standing and not self.rests(shown):
                current = rerolled(dice, items, current, named)
                if self.once:
                    break
                shown = current.natural

    def rests(self, face: Exact) -> bool:
        for test in self.tests:  # noqa: SIM110  a generator costs more than the tests
            if test(face):
                return False
        return True


class ExplodeStep(Step):
    """Roll once more while the test holds, at most `cap` times where there is one; `valued` as in a reroll."""

    __slots__ = ("cap", "compound", "penetrate", "test", "valued")

    def __init__(self, test: Test, cap: int | None, *, compound: bool, penetrate: bool, valued: bool = False) -> None:
        self.test = test
        self.cap = cap
        self.compound = compound
        self.penetrate = penetrate
        self.valued = valued

    def apply(self, dice: Dice, items: list[Item], named: tuple[int, ...], seen: Seen) -> None:  # noqa: ARG002  one interface
        for item in tuple(items):
            current, extra = item, 0
            shown = item.value if self.valued else item.natural
            while item.standing and self.test(shown) and extra != self.cap:
                current.fates += (Fate.EXPLODED,)
                current = Item(dice.again(current.face, Purpose.EXPLODE), named)
                shown = current.natural
                current.value -= self.penetrate
                items.append(current)
                extra += 1
                if self.compound:
                    item.value += current.value
                    current.fates = (Fate.ADDED,)
            if self.compound:
                for added in items[len(items) - extra :]:
                    added.standing = False

    def rests(self, face: Exact) -> bool:
        return not self.test(face)


class UniqueStep(Step):
    """Roll again while an earlier die shows the same face, or once; a `test` leaves other faces alone."""

    __slots__ = ("number", "once", "test", "valued")

    def __init__(self, number: int, *, once: bool, test: Test | None = None, valued: bool = False) -> None:
        self.number = number
        self.once = once
        self.test = test
        self.valued = valued

    def apply(self, dice: Dice, items: list[Item], named: tuple[int, ...], seen: Seen) -> None:
        faces = seen.faces[self.number]
        for item in tuple(items):
            current = item
            shown = item.value if self.valued else item.natural
            while current.standing and shown in faces and (self.test is None or self.test(shown)):
                current = rerolled(dice, items, current, named)
                shown = current.natural
                if self.once:
                    break
            if current.standing:
                faces.append(shown)

    def rests(self, face: Exact) -> bool:  # noqa: ARG002  it depends on the other dice
        return False


class ClampStep(Step):
    """Raise or lower values to a limit."""

    __slots__ = ("limit", "lower")

    def __init__(self, limit: int, *, lower: bool) -> None:
        self.limit = limit
        self.lower = lower

    def apply(self, dice: Dice, items: list[Item], named: tuple[int, ...], seen: Seen) -> None:  # noqa: ARG002  one interface
        for item in items:
            if item.standing and (item.value > self.limit if self.lower else item.value < self.limit):
                item.value = self.limit
                item.fates += (Fate.CLAMPED,)

    def rests(self, face: Exact) -> bool:
        return face <= self.limit if self.lower else face >= self.limit


def rerolled(dice: Dice, items: list[Item], item: Item, named: tuple[int, ...]) -> Item:
    """Return the die that takes the place of one that no longer stands."""
    item.standing = False
    item.fates += (Fate.REROLLED,)
    following = Item(dice.again(item.face, Purpose.REROLL), named)
    items.append(following)
    return following


StepsFor = Callable[[int], tuple[Step, ...]]
"""The steps of a die with so many sides: a bare explosion looks at the highest face."""


class Grower:
    """How each die of a pool grows. Together with its sides it is all that a part depends on; known by identity."""

    __slots__ = ("named", "phases", "rests", "steps_for")

    def __init__(self, named: tuple[int, ...], steps_for: StepsFor, phases: Phases, sides: int | None) -> None:
        """Keep what makes the steps; where the sides are known, also what tells that a face needs none."""
        self.named = named
        self.steps_for = steps_for
        self.phases = phases
        steps = () if sides is None or named else steps_for(sides)
        self.rests: Test | None = steps[0].rests if len(steps) == 1 else None

    def grow(self, dice: Dice, face: Face, steps: tuple[Step, ...]) -> list[Item]:
        """Apply the steps to a die that was just rolled."""
        items = [Item(face, self.named)]
        for step in steps:
            step.apply(dice, items, self.named, _UNSEEN)
        return items


def grow_summed(dice: Dice, _decisions: Decisions, grower: Grower, sides: int) -> tuple[int, list[Record] | None]:
    """Grow one die of a pool that is added up and has no later phase."""
    face = dice.roll(sides)
    rests = grower.rests
    if rests is not None and rests(face):
        value = int(face)
        return value, [make_die(face.draw, value, KEPT)]
    items = grower.grow(dice, face, grower.steps_for(sides))
    total = 0
    for item in items:
        if item.standing:
            total += item.value
            item.fates += KEPT
    return total, [make_die(item.face.draw, item.value, item.fates) for item in items]


def grow_marked(dice: Dice, _decisions: Decisions, grower: Grower, sides: int) -> tuple[int, list[Item] | None]:
    """Grow one die of a pool that is added up and marked."""
    items = grower.grow(dice, dice.roll(sides), grower.steps_for(sides))
    return sum([item.value for item in items if item.standing]), items


def grow_counted(dice: Dice, _decisions: Decisions, grower: Grower, sides: int) -> tuple[Counts, list[Item] | None]:
    """Grow one die of a pool that counts."""
    items = grower.grow(dice, dice.roll(sides), grower.steps_for(sides))
    successes = failures = 0
    for item in items:
        if item.standing:
            success, failure = grower.phases.score(item.value)
            successes += success
            failures += failure
    return (successes, failures), items


def grow_listed(
    dice: Dice, _decisions: Decisions, grower: Grower, sides: int
) -> tuple[tuple[int, ...], list[Item] | None]:
    """Grow one die of a pool that is selected from."""
    items = grower.grow(dice, dice.roll(sides), grower.steps_for(sides))
    return tuple(sorted([item.value for item in items if item.standing])), items


def add_counts_of_dice(left: Counts, right: Counts) -> Counts:
    """Merge the counts of two dice."""
    return left[0] + right[0], left[1] + right[1]


def merge_values(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    """Merge the values of two dice, lowest first."""
    return tuple(sorted(left + right))
