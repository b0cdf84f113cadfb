"""From a tree, its ranges and its variables to runners. What is known before the roll is worked out here, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import comb, prod

from fairroll_rules.notation.bounds import Analysis
from fairroll_rules.notation.exact import CALL, OPERATE, power, tester
from fairroll_rules.notation.growing import (
    ClampStep,
    ExplodeStep,
    Grower,
    RerollStep,
    Step,
    StepsFor,
    UniqueStep,
)
from fairroll_rules.notation.runners import (
    AsPart,
    Called,
    Constant,
    Folded,
    Labelling,
    Minus,
    Runner,
    Shifted,
    Summed,
    SummedParts,
)
from fairroll_rules.notation.selection import Counting, Marking, Phases, Selecting, Test
from fairroll_rules.notation.throws import FallenPool, GroupThrow, GrownPool, KeptPool, PlainPool, SteppedPool
from fairroll_rules.notation.tree import (
    Call,
    Chain,
    Clamp,
    Compare,
    Count,
    Dice,
    Drop,
    Exact,
    Explode,
    Faces,
    Group,
    Keep,
    Labelled,
    Mark,
    Modified,
    Modifier,
    Negate,
    Node,
    Number,
    Power,
    Repeat,
    Reroll,
    Unique,
    Variable,
    children,
)
from fairroll_rules.notation.tree import (
    operands as operands_of,
)
from fairroll_rules.outcome import Fate

Wrap = Callable[[Node, Runner], Runner]
"""What to put around the runner of each node: nothing, or a note of what it came to."""


_FEW_WAYS = 500
"""Ways that odds walk through in a few milliseconds."""

_MANY_WAYS = 2_000
"""Ways of one pool that odds still walk through; beyond, the pool is a sum of smaller ones where it can be."""


class Compiler:
    """Makes the runners of one analysed tree."""

    def __init__(self, analysis: Analysis, wrap: Wrap | None = None) -> None:
        """Compile for rolling; with `wrap` nothing is left out, so that every node can be watched."""
        self._ranges = analysis.ranges
        self._wrap = wrap
        self._facts: dict[int, tuple[bool, bool]] = {}

    def runner(self, node: Node, labels: frozenset[str] = frozenset()) -> Runner:
        """Return the runner of a node inside the given labels."""
        if self._wrap is not None:
            return self._wrap(node, self._made(node, labels))
        if not self._rolls(node) and not self._notes(node):
            return Constant(self._ranges[id(node)].low)
        return self._made(node, labels)

    def _made(self, node: Node, labels: frozenset[str]) -> Runner:
        match node:
            case Number() | Variable():
                return Constant(self._ranges[id(node)].low)
            case Dice() | Group() | Modified():
                return self._pool(node, labels)
            case Negate(operand):
                return Minus(self.runner(operand, labels))
            case Chain(operands, operators):
                return self._chain(operands, operators, labels)
            case Power(base, exponent):
                first, second = self._apart((base, exponent), labels)
                return Folded(first, [(power, second)])
            case Call(function, arguments):
                return Called(CALL[function], self._apart(arguments, labels))
            case Labelled(inner, label):
                runner = self.runner(inner, labels | {label})
                return runner if label in labels else Labelling(runner, label)
            case Repeat(_, body):
                return self.runner(body, labels)

    def _known(self, node: Node) -> tuple[bool, bool]:
        """Return whether a node rolls, and whether a label in it notes its total."""
        known = self._facts.get(id(node))
        if known is None:
            below = [self._known(child) for child in children(node)]
            rolls = isinstance(node, Dice) or any(rolls for rolls, _ in below)
            notes = isinstance(node, Labelled) or any(notes for _, notes in below)
            known = self._facts[id(node)] = rolls, notes
        return known

    def _rolls(self, node: Node) -> bool:
        return self._known(node)[0]

    def _notes(self, node: Node) -> bool:
        return self._known(node)[1]

    def _apart(self, operands: Sequence[Node], labels: frozenset[str]) -> list[Runner]:
        """Return the runners of operands; where several roll, each is a part."""
        several = sum([self._rolls(each) for each in operands]) > 1
        runners = [self.runner(each, labels) for each in operands]
        return [
            AsPart(runner) if several and self._rolls(each) else runner
            for each, runner in zip(operands, runners, strict=True)
        ]

    def _chain(self, operands: tuple[Node, ...], operators: tuple[str, ...], labels: frozenset[str]) -> Runner:
        if operators[0] not in "+-":
            first, *others = self._apart(operands, labels)
            return Folded(first, [(OPERATE[name], each) for name, each in zip(operators, others, strict=True)])
        shift: Exact = 0
        terms: list[Runner] = []
        for operator, operand in zip(("+", *operators), operands, strict=True):
            runner = self.runner(operand, labels)
            if isinstance(runner, Constant):
                shift += runner.value if operator == "+" else -runner.value
            else:
                terms.append(runner if operator == "+" else Minus(runner))
        if len(terms) == 1:
            return Shifted(terms[0], shift)
        # Parts cost the roll a little and save the odds a product, so they are for sums of many ways.
        ways = prod([self._ways(operand) for operand in operands])
        return Summed(terms, shift) if ways <= _FEW_WAYS else SummedParts(terms, shift)

    def _ways(self, node: Node) -> int:
        """Return in how many ways a node can fall, as odds count them; more than a few where that is not plain."""
        if not self._rolls(node):
            return 1
        match node:
            case Dice(Number(count), Number(sides)) if isinstance(count, int) and isinstance(sides, int):
                return comb(count + sides - 1, count)
            case Modified(source, modifiers) if all(isinstance(each, (Keep, Drop, Clamp)) for each in modifiers):
                return prod([self._ways(each) for each in (source, *[n for m in modifiers for n in operands_of(m)])])
            case Labelled(inner, _) | Negate(inner):
                return self._ways(inner)
            case _:
                return _FEW_WAYS + 1

    # Pools and groups

    def _pool(self, node: Dice | Group | Modified, labels: frozenset[str]) -> Runner:
        levels: list[tuple[Modifier, ...]] = []
        while isinstance(node, Modified):
            levels.insert(0, node.modifiers)
            node = node.source
        named = node.sides.faces if isinstance(node, Dice) and isinstance(node.sides, Faces) else ()
        everything = self._phases([modifier for level in levels for modifier in level], named)
        if isinstance(node, Group):
            return GroupThrow(self._apart(node.elements, labels), everything)
        count = self._amount(node.count, labels)
        sides = len(named) if isinstance(node.sides, Faces) else self._amount(node.sides, labels)
        modifiers = [modifier for level in levels for modifier in level]
        if not any(isinstance(modifier, (Explode, Reroll, Unique)) for modifier in modifiers):
            return self._fallen(count, sides, named, levels, everything)
        steps = [self._steps_for(level, sides, named) for level in levels]
        growing = [index for index, each in enumerate(steps) if each is not None]
        unique = any(isinstance(modifier, Unique) for modifier in modifiers)
        only = steps[0]
        if growing == [0] and only is not None and not unique:
            return GrownPool(count, sides, Grower(named, only, everything, sides if isinstance(sides, int) else None))
        return self._stepped(count, sides, named, levels, everything)

    def _fallen(
        self,
        count: int | Runner,
        sides: int | Runner,
        named: tuple[int, ...],
        levels: Sequence[tuple[Modifier, ...]],
        phases: Phases,
    ) -> Runner:
        """Return the runner of dice that are rolled once each."""
        selected = False
        for level in levels:
            clamping = any(isinstance(modifier, Clamp) for modifier in level)
            if clamping and selected:
                return self._stepped(count, sides, named, levels, phases)
            selected = selected or any(isinstance(modifier, (Keep, Drop)) for modifier in level)
        clamps = [
            (int(self._ranges[id(modifier.limit)].low), modifier.side == "max")
            for level in levels
            for modifier in level
            if isinstance(modifier, Clamp)
        ]
        if isinstance(count, int) and isinstance(sides, int) and not phases.selections:
            chunk = _chunk(count, sides)
            if chunk < count:
                several = [self._one_fallen(chunk, sides, named, clamps, phases)] * (count // chunk)
                rest = [self._one_fallen(count % chunk, sides, named, clamps, phases)] if count % chunk else []
                return SummedParts([*several, *rest], 0)
        return self._one_fallen(count, sides, named, clamps, phases)

    def _one_fallen(
        self,
        count: int | Runner,
        sides: int | Runner,
        named: tuple[int, ...],
        clamps: Sequence[tuple[int, bool]],
        phases: Phases,
    ) -> Runner:
        plainly = not (clamps or phases.countings or phases.markings)
        if isinstance(count, int) and isinstance(sides, int) and plainly:
            match phases.selections:
                case ():
                    return PlainPool(count, sides, named)
                case (Selecting(count=int(amount)) as only,):
                    kept, top = only.kept_of(count, amount)
                    return KeptPool(count, sides, named, kept, top=top)
                case _:
                    pass
        return FallenPool(count, sides, named, clamps, phases)

    def _stepped(
        self,
        count: int | Runner,
        sides: int | Runner,
        named: tuple[int, ...],
        levels: Sequence[tuple[Modifier, ...]],
        phases: Phases,
    ) -> Runner:
        each = [(self._steps_for(level, sides, named), self._phases(level, named)) for level in levels]
        return SteppedPool(count, sides, named, each, phases)

    def _amount(self, node: Node, labels: frozenset[str]) -> int | Runner:
        """Return a count or sides: the number itself where it is known, else the runner that rolls it."""
        if self._rolls(node) or self._notes(node):
            return self.runner(node, labels)
        return int(self._ranges[id(node)].low)

    def _phases(self, modifiers: Sequence[Modifier], named: tuple[int, ...]) -> Phases:
        selections, countings, markings = [], [], []
        for modifier in modifiers:
            match modifier:
                case Keep(highest, count) | Drop(highest, count):
                    amount = self._amount(count, frozenset())
                    selections.append(Selecting(isinstance(modifier, Keep), highest, amount))
                case Count(failure, compare, weight):
                    countings.append(Counting(failure, self._test(compare), weight))
                case Mark(fumble, compare):
                    fate = Fate.FUMBLE if fumble else Fate.CRITICAL
                    test = None if compare is None else self._test(compare)
                    if test is None and named:
                        test = tester("=", min(named) if fumble else max(named))
                    markings.append(Marking(fate, test))
                case _:
                    pass
        return Phases(tuple(selections), tuple(countings), tuple(markings))

    def _test(self, compare: Compare) -> Test:
        return tester(compare.operator, self._ranges[id(compare.value)].low)

    def _steps_for(self, modifiers: Sequence[Modifier], sides: int | Runner, named: tuple[int, ...]) -> StepsFor | None:
        """Return what makes the steps of a die from its sides; None where nothing grows."""
        growing = [each for each in modifiers if isinstance(each, (Explode, Reroll, Unique, Clamp))]
        if not growing:
            return None

        def steps_for(sides: int) -> tuple[Step, ...]:
            return self._steps(growing, max(named, default=sides), min(named, default=1))

        if not isinstance(sides, int):
            return steps_for
        known = steps_for(sides)
        return lambda _sides: known

    def _steps(
        self, growing: Sequence[Explode | Reroll | Unique | Clamp], highest: int, lowest: int
    ) -> tuple[Step, ...]:
        steps: list[Step] = []
        number = 0
        until: RerollStep | None = None
        for modifier in growing:
            match modifier:
                case Reroll(once, compare):
                    test = tester("=", lowest) if compare is None else self._test(compare)
                    if until is not None and not once:
                        # Several `rr` in a row: until none of them holds.
                        until.tests = (*until.tests, test)
                        continue
                    step = RerollStep((test,), once=once)
                    until = None if once else step
                    steps.append(step)
                    continue
                case Explode(compound, penetrate, once, cap, compare):
                    test = tester("=", highest) if compare is None else self._test(compare)
                    most = None if cap is None else int(self._ranges[id(cap)].low)
                    if once:
                        most = 1 if most is None else min(most, 1)
                    steps.append(ExplodeStep(test, most, compound=compound, penetrate=penetrate))
                case Unique(once):
                    steps.append(UniqueStep(number, once=once))
                    number += 1
                case Clamp(side, limit):
                    steps.append(ClampStep(int(self._ranges[id(limit)].low), lower=side == "max"))
            until = None
        return tuple(steps)


def _chunk(count: int, sides: int) -> int:
    """Return how many dice to roll as one part where no selection looks at all of them.

    A pool that falls in many ways is added up chunk by chunk: the dice are the same, and odds need only its chunks.
    """
    if comb(count + sides - 1, count) <= _MANY_WAYS:
        return count
    chunk = 1
    while comb(chunk + sides, chunk + 1) <= _MANY_WAYS // 2:
        chunk += 1
    return chunk


def labels_of(node: Node) -> Iterator[str]:
    """Yield every label in the order in which they stand in the text."""
    for child in children(node):
        yield from labels_of(child)
    if isinstance(node, Labelled):
        yield node.label
