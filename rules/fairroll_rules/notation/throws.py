"""Runners of pools and groups: dice that simply fall, dice that grow, dice that are looked at again, and totals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count as count_from
from operator import add

from fairroll_rules.dice import Dice, Face
from fairroll_rules.notation.growing import (
    Grower,
    Item,
    Seen,
    Step,
    StepsFor,
    UniqueStep,
    add_counts_of_dice,
    grow_counted,
    grow_listed,
    grow_marked,
    grow_summed,
    merge_values,
)
from fairroll_rules.notation.runners import (
    Counts,
    Record,
    Result,
    Runner,
    add_counts,
    ask,
    dropped,
    make_die,
)
from fairroll_rules.notation.selection import DROPPED, KEPT, Phases
from fairroll_rules.notation.tree import Exact
from fairroll_rules.notation.whole_pool import AmongStep
from fairroll_rules.outcome import Die, Fate


class PlainPool(Runner):
    """Dice that fall and count, as most do."""

    __slots__ = ("count", "named", "sides")

    def __init__(self, count: int, sides: int, named: tuple[int, ...]) -> None:
        self.count = count
        self.sides = sides
        self.named = named

    def run(self, dice: Dice) -> Result:
        faces = dice.pool(self.count, self.sides)
        values = _values(faces, self.named)
        # The dice of a pool are drawn in a row.
        return sum(values), None, [make_die(draw, value, KEPT) for draw, value in enumerate(values, _first(faces))]


class KeptPool(Runner):
    """Dice that fall, of which the `kept` highest (`top`) or lowest count."""

    __slots__ = ("count", "kept", "named", "sides", "top")

    def __init__(self, count: int, sides: int, named: tuple[int, ...], kept: int, *, top: bool) -> None:
        self.count = count
        self.sides = sides
        self.named = named
        self.kept = kept
        self.top = top

    def run(self, dice: Dice) -> Result:
        faces = dice.pool(self.count, self.sides)
        values = _values(faces, self.named)
        fates = [DROPPED] * self.count
        total = 0
        # The sort is stable in reverse too: of equals the die drawn earlier counts.
        for index in sorted(range(self.count), key=values.__getitem__, reverse=self.top)[: self.kept]:
            fates[index] = KEPT
            total += values[index]
        return total, None, list(map(make_die, count_from(_first(faces)), values, fates))


class FallenPool(Runner):
    """Dice that fall, of which some are clamped, selected, counted or marked.

    Count and sides may themselves be rolled. `clamps` are pairs of a limit and whether values are lowered to it.
    """

    __slots__ = ("clamps", "count", "named", "phases", "sides")

    def __init__(
        self,
        count: int | Runner,
        sides: int | Runner,
        named: tuple[int, ...],
        clamps: Sequence[tuple[int, bool]],
        phases: Phases,
    ) -> None:
        self.count = count
        self.sides = sides
        self.named = named
        self.clamps = tuple(clamps)
        self.phases = phases

    def run(self, dice: Dice) -> Result:
        records: list[Record] = []
        count = ask(self.count, dice, records)
        sides = ask(self.sides, dice, records)
        faces = dice.pool(count, sides)
        phases = self.phases
        naturals = values = _values(faces, self.named)
        for limit, lower in self.clamps:
            values = [min(value, limit) if lower else max(value, limit) for value in values]
        after: list[Record] = []
        live = phases.live(values, phases.amounts(dice, after))
        total, counts = phases.worth(values if len(live) == count else [values[index] for index in live])
        plainly = phases.plain
        fates = [DROPPED] * count
        for index in live:
            fates[index] = KEPT if plainly else phases.fates(values[index], naturals[index], sides)
        if self.clamps:
            fates = [
                fate if natural == value else (Fate.CLAMPED, *fate)
                for natural, value, fate in zip(naturals, values, fates, strict=True)
            ]
        records += map(make_die, count_from(_first(faces)), values, fates)
        records += after
        return total, counts, records


class GrownPool(Runner):
    """Dice that grow each on its own: parts side by side, merged as the later phases allow."""

    __slots__ = ("count", "grower", "sides")

    def __init__(self, count: int | Runner, sides: int | Runner, grower: Grower) -> None:
        self.count = count
        self.sides = sides
        self.grower = grower

    def run(self, dice: Dice) -> Result:
        records: list[Record] = []
        count = ask(self.count, dice, records)
        sides = ask(self.sides, dice, records)
        phases = self.grower.phases
        if phases.empty and count:
            summed, details = dice.parts(grow_summed, [(self.grower, sides)] * count, merge=add)
            for detail in details:
                if detail is not None:
                    records += detail
            return summed, None, records
        grown: Sequence[list[Item] | None] = ()
        total: Exact = 0
        counts: Counts | None = (0, 0) if phases.countings else None
        amounts: list[int] = []
        after: list[Record] = []
        if count:
            args = [(self.grower, sides)] * count
            if phases.selections:
                values, grown = dice.parts(grow_listed, args, merge=merge_values)
                amounts = phases.amounts(dice, after)
                total, counts = phases.worth([values[index] for index in phases.live(values, amounts)])
            elif phases.countings:
                counted, grown = dice.parts(grow_counted, args, merge=add_counts_of_dice)
                total, counts = counted[0] - counted[1], counted
            else:
                total, grown = dice.parts(grow_marked, args, merge=add)
        else:
            amounts = phases.amounts(dice, after)
        items = [item for each in grown if each is not None for item in each]
        records += finished(items, phases, amounts)
        records += after
        return total, counts, records


Level = tuple[StepsFor | AmongStep | None, Phases]
"""What one pair of parentheses does: its steps, die by die or to all dice together, and its selections."""


class SteppedPool(Runner):
    """Dice that grow one after another: those that must differ from each other, or the dice of an inner pool.

    Each level is a pair of parentheses: its steps, on the dice that the level inside left, and its selections.
    """

    __slots__ = ("count", "levels", "named", "phases", "sides")

    def __init__(
        self,
        count: int | Runner,
        sides: int | Runner,
        named: tuple[int, ...],
        levels: Sequence[Level],
        phases: Phases,
    ) -> None:
        self.count = count
        self.sides = sides
        self.named = named
        self.levels = tuple(levels)
        self.phases = phases

    def run(self, dice: Dice) -> Result:
        records: list[Record] = []
        items = self.thrown(dice, records)
        standing = [item for item in items if item.standing]
        total, counts = self.phases.worth([item.value for item in standing])
        for item in standing:
            item.fates += self.phases.fates(item.value, item.natural, item.face.sides)
        records += [make_die(item.face.draw, item.value, item.fates) for item in items]
        records.sort(key=_drawn)
        return total, counts, records

    def thrown(self, dice: Dice, records: list[Record]) -> list[Item]:
        """Return all dice after every level; `records` gets what was rolled for the count and the sides."""
        count = ask(self.count, dice, records)
        sides = ask(self.sides, dice, records)
        items: list[Item] = []
        for depth, (steps_for, phases) in enumerate(self.levels):
            if isinstance(steps_for, AmongStep):
                items = steps_for.apply(dice, items if depth else self._roll(dice, count, sides, ()), self.named)
            else:
                steps = () if steps_for is None else steps_for(sides)
                items = self._grow(dice, items, steps) if depth else self._roll(dice, count, sides, steps)
            self._select(dice, items, phases, records)
        return items

    def _roll(self, dice: Dice, count: int, sides: int, steps: tuple[Step, ...]) -> list[Item]:
        if not steps:
            return [Item(face, self.named) for face in dice.pool(count, sides)]
        items: list[Item] = []
        seen = _seen(steps)
        for _ in range(count):
            items += _stepped(dice, Item(dice.roll(sides), self.named), steps, self.named, seen)
        return items

    def _grow(self, dice: Dice, items: list[Item], steps: tuple[Step, ...]) -> list[Item]:
        seen = _seen(steps)
        grown: list[Item] = []
        for item in items:
            grown += _stepped(dice, item, steps, self.named, seen) if item.standing else (item,)
        return grown

    def _select(self, dice: Dice, items: list[Item], phases: Phases, records: list[Record]) -> None:
        if phases.selections:
            standing = [item for item in items if item.standing]
            live = phases.live([item.value for item in standing], phases.amounts(dice, records))
            for item in standing:
                item.standing = False
            for index in live:
                standing[index].standing = True
            for item in standing:
                if not item.standing:
                    item.fates += DROPPED


class PickThrow(Runner):
    """Dice of several pools, of which some are selected together; `formula` makes the total of those of the pools.

    Selecting looks at the values of the dice; a pool that counts is then worth what it counts among those left.
    """

    __slots__ = ("formula", "phases", "pools")

    def __init__(
        self, pools: Sequence[SteppedPool], phases: Phases, formula: Callable[[Sequence[Exact], list[Record]], Exact]
    ) -> None:
        self.pools = tuple(pools)
        self.phases = phases
        self.formula = formula

    def run(self, dice: Dice) -> Result:
        records: list[Record] = []
        thrown = [pool.thrown(dice, records) for pool in self.pools]
        standing = [(number, item) for number, items in enumerate(thrown) for item in items if item.standing]
        live = frozenset(self.phases.live([item.value for _, item in standing], self.phases.amounts(dice, records)))
        left: list[list[Exact]] = [[] for _ in thrown]
        for index, (number, item) in enumerate(standing):
            if index in live:
                left[number].append(item.value)
                item.fates += self.pools[number].phases.fates(item.value, item.natural, item.face.sides)
            else:
                item.fates += DROPPED
        totals: list[Exact] = []
        counts: Counts | None = None
        for pool, values in zip(self.pools, left, strict=True):
            total, own = pool.phases.worth(values)
            totals.append(total)
            counts = add_counts(counts, own)
        records += [make_die(item.face.draw, item.value, item.fates) for items in thrown for item in items]
        records.sort(key=_drawn)
        return self.formula(totals, records), counts, records


class InlinedThrow(Runner):
    """A roll with inline rolls: those are rolled first, and stand in the rest as the numbers that they came to.

    `runner_of` makes the runner of the inline roll with that index, or, behind the last, of the whole, from what the
    inline rolls before it came to; it remembers.
    """

    __slots__ = ("count", "runner_of")

    def __init__(self, count: int, runner_of: Callable[[tuple[Exact, ...]], Runner]) -> None:
        self.count = count
        self.runner_of = runner_of

    def run(self, dice: Dice) -> Result:
        values: tuple[Exact, ...] = ()
        counts: Counts | None = None
        records: list[Record] = []
        for _ in range(self.count + 1):
            total, own, more = self.runner_of(values).run(dice)
            counts = add_counts(counts, own)
            records += more
            values = (*values, total)
        return values[-1], counts, records


class GroupThrow(Runner):
    """Totals of which some are selected or counted."""

    __slots__ = ("elements", "phases")

    def __init__(self, elements: Sequence[Runner], phases: Phases) -> None:
        self.elements = tuple(elements)
        self.phases = phases

    def run(self, dice: Dice) -> Result:
        results = [element.run(dice) for element in self.elements]
        after: list[Record] = []
        phases = self.phases
        values = [total for total, _, _ in results]
        live = phases.live(values, phases.amounts(dice, after))
        total, counts = phases.worth([values[index] for index in live])
        records: list[Record] = []
        for index, (value, own, inner) in enumerate(results):
            if index not in live:
                records += dropped(inner)
                continue
            records += _scored(inner, phases, value) if phases.counting else inner
            if not phases.counting:
                counts = add_counts(counts, own)
        return total, counts, records + after


def _values(faces: Sequence[Face], named: tuple[int, ...]) -> list[int]:
    return [named[face - 1] for face in faces] if named else list(map(int, faces))


def _first(faces: Sequence[Face]) -> int:
    return faces[0].draw if faces else 0


def finished(items: Sequence[Item], phases: Phases, amounts: Sequence[int]) -> list[Record]:
    """Return the dice of a pool with all their fates, by the same phases that made its total."""
    standing = [item for item in items if item.standing]
    after = [DROPPED] * len(standing)
    plainly = phases.plain
    for index in phases.live([item.value for item in standing], amounts):
        item = standing[index]
        after[index] = KEPT if plainly else phases.fates(item.value, item.natural, item.face.sides)
    for item, fates in zip(standing, after, strict=True):
        item.fates += fates
    return [make_die(item.face.draw, item.value, item.fates) for item in items]


def _scored(records: Sequence[Record], phases: Phases, value: Exact) -> list[Record]:
    """Return the records of a total that was counted: what it counts for, on each die that made it."""
    success, failure = phases.score(value)
    fates = (Fate.SUCCESS,) * bool(success) + (Fate.FAILURE,) * bool(failure)
    return [
        Die(each.draw, each.value, each.fates + fates) if isinstance(each, Die) and Fate.KEPT in each.fates else each
        for each in records
    ]


def _stepped(dice: Dice, item: Item, steps: tuple[Step, ...], named: tuple[int, ...], seen: Seen) -> list[Item]:
    items = [item]
    for step in steps:
        step.apply(dice, items, named, seen)
    return items


def _seen(steps: tuple[Step, ...]) -> Seen:
    return Seen(sum([isinstance(step, UniqueStep) for step in steps]))


def _drawn(record: Record) -> int:
    # Labels and dice of counts stay together with what they belong to; only the draws are in order.
    return record.draw if isinstance(record, Die) else -1
