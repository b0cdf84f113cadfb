"""The chances of dice of one kind: grown one by one, chosen by rank, counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, cast

import icepool

from fairroll.odds.chances import Chances, Work, added, certain, combined, either, extreme, times, too_much
from fairroll.odds.choosing import Choosing, Counted, Fixed, Ranked, Worth, compared, itself
from fairroll.odds.growth import Again, Burst, Growth, Limit, Score, Step, Test, UnsayableError
from fairroll.odds.unlike import OneByOne, Unlike, sets
from fairroll_rules.notation.exact import tester
from fairroll_rules.notation.tree import (
    Among,
    Clamp,
    Compare,
    Exact,
    Explode,
    Modifier,
    Rank,
    Reroll,
    Unique,
)

STEPS = 240
"""Steps of icepool for the price of one path of the rules, with numbers of some size."""

MOST_POOLED = 400
"""Values that one die of a pool of icepool's may have: it calls itself once for each."""

GROWING = (Explode, Reroll, Unique, Clamp, Among)
"""What is done to dice one by one, before any is chosen."""

Values = tuple[Exact, ...]
"""Values of several dice that may be kept or dropped, lowest first."""


class Pool:
    """Dice of one kind with their modifiers, of which one number is asked for."""

    def __init__(self, work: Work, levels: Sequence[Sequence[Modifier]], fixed: Fixed, number: Counted) -> None:
        """Sort the modifiers of each pair of parentheses, the innermost first.

        Raises:
            UnsayableError: dice grow after some were left out, or are rolled again together.
        """
        self._work = work
        self._fixed = fixed
        self._number = number
        self._growing: list[list[Modifier]] = []
        self.choosing = Choosing()
        for level in levels:
            growing: list[Modifier] = [each for each in level if isinstance(each, GROWING)]
            if growing and self.choosing.chooses:
                raise UnsayableError
            if any(isinstance(each, Among) for each in growing) and len(growing) > 1:
                raise UnsayableError
            self._growing.append(growing)
            for each in level:
                if not isinstance(each, GROWING) and not self.choosing.add(each, fixed):
                    raise UnsayableError

    def of(self, faces: Sequence[int], count: int) -> Chances:
        """Return the chances of so many dice with these faces.

        Raises:
            UnsayableError: they cannot be said like this.
            LimitReached: `odds_work`.
        """
        if self.choosing.match is not None and not self._number.marked:
            return self._matching(faces, count, self.choosing.match)
        unlike = [each for level in self._growing for each in level if isinstance(each, Unique)]
        if unlike:
            return self._unlike(faces, count, unlike)
        steps = self.steps(faces)
        if not self.choosing.ranks:
            return times(self._work, Growth(self._work, faces, steps, self._score(faces)).chances(), count)
        worth = self._worth(faces, steps)
        if self.bursts(faces):
            return self._of_bursts(faces, steps, count, worth)
        return chosen(self._work, self.die(faces, steps), count, self.choosing.places(count), worth)

    def bursts(self, faces: Sequence[int]) -> bool:
        """Tell whether a die may become several."""
        return any(isinstance(step, Burst) and not step.compound for step in self.steps(faces))

    def some(self, faces: Sequence[int], some: Some) -> Chances:
        """Return some of the values of one die, with all that it becomes."""
        steps = self.steps(faces)
        return Growth(self._work, faces, steps, lambda _natural, value: some.of((value,)), some.joined).chances()

    def die(self, faces: Sequence[int], steps: Sequence[Step]) -> Chances:
        """Return the value of one die before any is chosen."""
        return Growth(self._work, faces, steps, lambda _natural, value: value).chances()

    def steps(self, faces: Sequence[int]) -> list[Step]:
        """Return what is done with each die on its own."""
        steps: list[Step] = []
        for level in self._growing:
            until = False
            for modifier in level:
                step = self._step(modifier, faces)
                before = steps[-1] if steps else None
                if until and isinstance(step, Again) and not step.once and isinstance(before, Again):
                    # Several `rr` in a row: until none of them holds.
                    steps[-1] = Again((*before.tests, *step.tests), once=False, valued=before.valued)
                    continue
                steps.append(step)
                until = isinstance(step, Again) and not step.once
        return steps

    def _step(self, modifier: Modifier, faces: Sequence[int]) -> Step:
        match modifier:
            case Reroll(once, compare, valued=valued):
                return Again((self._test(compare, min(faces)),), once, valued)
            case Explode(compound, penetrate, once, cap, compare, valued=valued):
                most = None if cap is None else int(self._fixed(cap))
                if once:
                    most = 1 if most is None else min(most, 1)
                return Burst((self._test(compare, max(faces)),), most, compound, int(penetrate), valued)
            case Among(explode, again, points, None):
                if not points or any(isinstance(point, Rank) for point in points):
                    raise UnsayableError
                tests = tuple([compared(point, self._fixed) for point in points if isinstance(point, Compare)])
                if explode:
                    return Burst(tests, None if again else 1, compound=False, less=0, valued=True)
                return Again(tests, not again, valued=True)
            case Clamp(side, limit):
                return Limit(int(self._fixed(limit)), side == "max")
            case _:
                raise UnsayableError

    def _test(self, compare: Compare | None, face: int) -> Test:
        return tester("=", face) if compare is None else compared(compare, self._fixed)

    # What a die counts for

    def _score(self, faces: Sequence[int]) -> Score:
        """Return what a die counts for where none is left out by its place."""
        if not self._number.marked:
            worth = self.choosing.worth(self._number)
            return lambda _natural, value: worth(value)
        if self.choosing.sieves:
            raise UnsayableError
        marked = self._marked(faces)
        return lambda natural, _value: marked(natural)

    def _worth(self, faces: Sequence[int], steps: Sequence[Step]) -> Worth:
        """Return what the value of a die counts for, of which some are left out."""
        if self.choosing.sieves:
            raise UnsayableError
        if not self._number.marked:
            return self.choosing.worth(self._number)
        if any(isinstance(step, Limit) or (isinstance(step, Burst) and (step.compound or step.less)) for step in steps):
            raise UnsayableError  # the value does not say the natural face
        return self._marked(faces)

    def _marked(self, faces: Sequence[int]) -> Worth:
        fumbles = self._number is Counted.FUMBLES
        face = min(faces) if fumbles else max(faces)
        tests = [self._test(mark.compare, face) for mark in self.choosing.marks if mark.fumble == fumbles]
        return lambda value: int(any(test(value) for test in tests))

    # Dice that are not alike, explode, or match

    def _unlike(self, faces: Sequence[int], count: int, unlike: Sequence[Unique]) -> Chances:
        growing = [each for level in self._growing for each in level]
        (step, *more), limits = unlike, growing[:-1]
        if more or growing[-1] is not step or not all(isinstance(each, Clamp) for each in limits):
            raise UnsayableError
        clamps = [each for each in (self._step(limit, faces) for limit in limits) if isinstance(each, Limit)]
        worth = self._worth(faces, clamps) if self.choosing.ranks else self._plain_worth(faces, clamps)
        places = self.choosing.places(count)
        plain = not step.once and step.compare is None and not clamps and len(set(faces)) == len(faces)
        if plain:
            return sets(self._work, faces, count, lambda values: sum([worth(values[place]) for place in places]))
        rule = Unlike(step.once, None if step.compare is None else compared(step.compare, self._fixed), step.valued)
        if not self.choosing.ranks:
            dice = OneByOne(faces, rule, clamps, 0, lambda before, value: before + worth(value), itself)
        else:
            dice = OneByOne(
                faces,
                rule,
                clamps,
                (),
                lambda before, value: tuple(sorted((*before, value))),
                lambda values: sum([worth(values[place]) for place in places]),
            )
        return dice.chances(self._work, count)

    def _plain_worth(self, faces: Sequence[int], clamps: Sequence[Step]) -> Worth:
        """Return what the value of a die counts for where none is left out by its place."""
        return self._worth(faces, clamps) if self._number.marked else self.choosing.worth(self._number)

    def _of_bursts(self, faces: Sequence[int], steps: Sequence[Step], count: int, worth: Worth) -> Chances:
        """Return dice that explode into more, of which some are left out: only what may be is remembered of each."""
        (choice, *more) = self.choosing.ranks
        if more or not isinstance(choice, Ranked):
            raise UnsayableError
        some = Some(choice.highest, choice.count)
        if choice.keep:
            one = self.some(faces, some)
            found = certain(cast("Exact", ()))
            for _ in range(count):
                found = combined(self._work, found, one, some.joined)
            return found.map(lambda values: sum(map(worth, cast("Values", values))))
        if not choice.highest and choice.count <= count and self._apart(faces, steps):
            return self._without_lowest(faces, steps, count, worth)
        # What is dropped is taken from the sum of all.
        one = Growth(
            self._work,
            faces,
            steps,
            lambda _natural, value: (worth(value), some.of((value,))),
            lambda left, right: (left[0] + right[0], some.joined(left[1], right[1])),
        ).chances()
        return sum_without(self._work, one, count, some, worth)

    def _apart(self, faces: Sequence[int], steps: Sequence[Step]) -> bool:
        """Tell whether each chain ends with one die that is lower than all that explode."""
        (step, *more) = steps
        if more or not isinstance(step, Burst) or step.cap is not None or step.less:
            return False
        resting = [face for face in faces if not step.holds(face)]
        return all(face > max(resting) for face in faces if step.holds(face))

    def _without_lowest(self, faces: Sequence[int], steps: Sequence[Step], count: int, worth: Worth) -> Chances:
        """Return dice that explode without the lowest, which are among those that end the chains."""
        (step,) = [each for each in steps if isinstance(each, Burst)]
        resting = [face for face in faces if not step.holds(face)]
        burst = Growth(self._work, faces, steps, lambda face, value: worth(value) if step.holds(face) else 0).chances()
        last = self.die(resting, ())
        kept = chosen(self._work, last, count, self.choosing.places(count), worth)
        return added(self._work, times(self._work, burst, count), kept)

    def _matching(self, faces: Sequence[int], count: int, match: tuple[int, Test | None]) -> Chances:
        """Return how many values so many dice share, face by face: how many dice show it, and how many matched."""
        if any(self._growing) or self.choosing.chooses:
            raise UnsayableError
        if self._number is Counted.FAILURES:
            return certain(0)
        least, test = match
        ways: dict[tuple[int, int], int] = {(count, 0): 1}
        for face in dict.fromkeys(faces):
            alike = faces.count(face)
            self._work.spend(len(ways) * count / 16)
            following: dict[tuple[int, int], int] = {}
            for (left, matched), way in ways.items():
                for many in range(left + 1):
                    key = left - many, matched + (many >= least and (test is None or test(face)))
                    following[key] = following.get(key, 0) + way * comb(left, many) * alike**many
            ways = following
        weights: dict[Exact, int] = {}
        for (left, matched), way in ways.items():
            if left == 0:
                weights[matched] = weights.get(matched, 0) + way
        return Chances(weights, len(faces) ** count)


@dataclass(frozen=True, slots=True)
class Some:
    """The highest or the lowest of some values: all that is remembered of many."""

    highest: bool
    count: int

    def of(self, values: Sequence[Exact]) -> Values:
        """Return them, lowest first."""
        ordered = sorted(values)
        return tuple(ordered[max(0, len(ordered) - self.count) :] if self.highest else ordered[: self.count])

    def joined(self, left: Values, right: Values) -> Values:
        """Return those of two such together."""
        return self.of((*left, *right))


def sum_without(work: Work, one: Chances, count: int, some: Some, worth: Worth) -> Chances:
    """Return what so many dice count for without some of their values; `one` has both for one of them.

    For each group of values that would be left out there is a line of sums.
    """
    lines: dict[Values, dict[Exact, int]] = {}
    for key, weight in cast("Mapping[tuple[Exact, Values], int]", one.weights).items():
        lines.setdefault(key[1], {})[key[0]] = weight
    each = {values: Chances(sums, one.total) for values, sums in lines.items()}
    found: dict[Values, Chances] = {(): certain(0)}
    for _ in range(count):
        following: dict[Values, dict[Exact, int]] = {}
        total = one.total
        for before, sums in found.items():
            for values, more in each.items():
                both = added(work, sums, more)
                total = both.total
                line = following.setdefault(some.joined(before, values), {})
                for value, weight in both.weights.items():
                    line[value] = line.get(value, 0) + weight
        found = {values: Chances(sums, total) for values, sums in following.items()}
    weights: dict[Exact, int] = {}
    for values, sums in found.items():
        without = sum(map(worth, values))
        for value, weight in sums.weights.items():
            weights[value - without] = weights.get(value - without, 0) + weight
    return Chances(weights, one.total**count, either(*[one.ended] * count))


def chosen(work: Work, one: Chances, count: int, places: Sequence[int], worth: Worth) -> Chances:
    """Return what those at some places count for together, of so many dice with one distribution, lowest first."""
    if len(places) == count:
        return times(work, one.map(worth), count)
    if not places:
        return certain(0)
    if len(places) == 1 and places[0] in (0, count - 1):
        return extreme(work, [one] * count, highest=places[0] > 0).map(worth)
    values, kept = len(one.weights), len(places)
    if not one.weights:
        raise UnsayableError
    # icepool goes through the values from one end: how many dice of those left show it, and the sums so far.
    work.spend(values * count * count * min(kept * values, comb(kept + values, kept)) / STEPS)
    return summed(icepool.Die(dict(one.weights)).pool(count), [one] * count, places, worth)


def summed(pool: Any, dice: Sequence[Chances], places: Sequence[int], worth: Worth) -> Chances:  # noqa: ANN401  icepool's types are its own
    """Return what the dice of icepool's pool count for that stand at some places, lowest first."""
    kept = pool[[int(place in places) for place in range(len(dice))]]
    if len({value for die in {id(die): die for die in dice}.values() for value in die.weights}) > MOST_POOLED:
        raise too_much()
    total, whole = 1, 1
    for die in dice:
        total *= die.kept
        whole *= die.total
    found = kept.sum() if worth is itself else kept.sum(map=worth)
    # A common divisor may be gone from icepool's weights.
    scale, rest = divmod(total, found.denominator())
    if rest:
        raise UnsayableError
    ended = either(*[die.ended for die in dice])
    return Chances({value: weight * scale for value, weight in found.items()}, whole, ended)
