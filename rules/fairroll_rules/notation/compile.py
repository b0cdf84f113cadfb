"""From a tree, its ranges and its variables to runners. What is known before the roll is worked out here, once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import comb, prod

from fairroll_rules.notation.bounds import Analysis
from fairroll_rules.notation.exact import CALL, COMPARE, OPERATE, power, tester
from fairroll_rules.notation.growing import (
    ClampStep,
    ExplodeStep,
    Grower,
    RerollStep,
    Step,
    StepsFor,
    UniqueStep,
)
from fairroll_rules.notation.inlines import inlines_of
from fairroll_rules.notation.picking import pools_of
from fairroll_rules.notation.runners import (
    AsPart,
    Called,
    Constant,
    Folded,
    Labelling,
    LabelRecord,
    Minus,
    Record,
    Runner,
    Shifted,
    Summed,
    SummedParts,
)
from fairroll_rules.notation.selection import (
    Chooser,
    Counting,
    Marking,
    MatchPhases,
    Phases,
    Ranking,
    Selecting,
    Sieving,
    Tallying,
    TallyPhases,
    Test,
)
from fairroll_rules.notation.throws import (
    FallenPool,
    GroupThrow,
    GrownPool,
    InlinedThrow,
    KeptPool,
    Level,
    PickThrow,
    PlainPool,
    SteppedPool,
)
from fairroll_rules.notation.tree import (
    Among,
    Bound,
    Call,
    Chain,
    Clamp,
    Compare,
    Comparison,
    Count,
    Dice,
    Drop,
    Exact,
    Explode,
    Faces,
    Group,
    Inline,
    Keep,
    Labelled,
    Mark,
    Match,
    Modified,
    Modifier,
    Negate,
    Node,
    Number,
    Pick,
    Point,
    Power,
    Query,
    Rank,
    Repeat,
    Reroll,
    Sieve,
    Tally,
    Tree,
    Unique,
    Variable,
    children,
)
from fairroll_rules.notation.tree import (
    operands as operands_of,
)
from fairroll_rules.notation.whole_pool import AmongStep
from fairroll_rules.outcome import Fate

Wrap = Callable[[Node, Runner], Runner]
"""What to put around the runner of each node: nothing, or a note of what it came to."""


_FEW_WAYS = 500
"""Ways that odds walk through in a few milliseconds."""

_REMEMBERED_INLINES = 256
"""Runners of what stands around inline rolls, one for each of the numbers that they came to."""

_MANY_WAYS = 2_000
"""Ways of one pool that odds still walk through; beyond, the pool is a sum of smaller ones where it can be."""


def _counts(node: Node) -> bool:
    return isinstance(node, Modified) and any(
        isinstance(modifier, Count | Tally | Match) for modifier in node.modifiers
    )


class Compiler:
    """Makes the runners of one analysed tree."""

    def __init__(self, analysis: Analysis, wrap: Wrap | None = None) -> None:
        """Compile for rolling; with `wrap` nothing is left out, so that every node can be watched."""
        self._ranges = analysis.ranges
        self._inlined = analysis.inlined
        self._chosen = analysis.chosen
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
            case Comparison(left, operator, right):
                first, second = self._apart((left, right), labels)
                return Folded(first, [(COMPARE[operator], second)])
            case Pick():
                return self._pick(node, labels)
            case Inline():
                if id(node) not in self._inlined:
                    raise AssertionError("inline rolls are rolled before what they stand in")
                return Constant(self._inlined[id(node)])
            case Query():
                return self.runner(self._chosen[id(node)], labels)
            case Call(function, arguments):
                return Called(CALL[function], self._apart(arguments, labels))
            case Labelled(inner, label):
                runner = self.runner(inner, labels | {label})
                return runner if label in labels else Labelling(runner, label)
            case Repeat(_, body):
                return self.runner(body, labels)

    def _known(self, node: Node) -> tuple[bool, bool]:
        """Return whether a node rolls, and whether anything in it is noted beside its total: a label, or successes."""
        known = self._facts.get(id(node))
        if known is None:
            below = [self._known(child) for child in self._at_play(node)]
            rolls = isinstance(node, Dice) or any(rolls for rolls, _ in below)
            notes = isinstance(node, Labelled) or _counts(node) or any(notes for _, notes in below)
            known = self._facts[id(node)] = rolls, notes
        return known

    def _at_play(self, node: Node) -> Iterable[Node]:
        """Return what is rolled when a node is: of a query the choice, and of an inline roll nothing any more."""
        match node:
            case Query():
                return (self._chosen[id(node)],)
            case Inline():
                return ()
            case _:
                return children(node)

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
        growing_at_all = any(isinstance(modifier, (Explode, Reroll, Unique, Among)) for modifier in modifiers)
        if growing_at_all and (type(everything) is not Phases or any(isinstance(each, Among) for each in modifiers)):
            return self._stepped(count, sides, named, levels, everything)
        if not growing_at_all:
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
            selected = selected or any(isinstance(modifier, (Keep, Drop, Sieve)) for modifier in level)
        clamps = [
            (int(self._ranges[id(modifier.limit)].low), modifier.side == "max")
            for level in levels
            for modifier in level
            if isinstance(modifier, Clamp)
        ]
        together = phases.selections or isinstance(phases, MatchPhases)
        if isinstance(count, int) and isinstance(sides, int) and not together:
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
        plainly = not clamps and not phases.counting and phases.plain
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
    ) -> SteppedPool:
        steps: list[Level] = []
        for level in levels:
            among = [self._among(each) for each in level if isinstance(each, Among)]
            steps.append((among[0] if among else self._steps_for(level, sides, named), self._phases(level, named)))
        return SteppedPool(count, sides, named, steps, phases)

    def _among(self, modifier: Among) -> AmongStep:
        choosers = tuple([self._chooser(point) for point in modifier.points])
        return AmongStep(modifier.explode, modifier.again, choosers, modifier.most, modifier.natural)

    def _chooser(self, point: Point) -> Chooser:
        return Ranking(point.highest, point.count, point.others) if isinstance(point, Rank) else self._test(point)

    def _pick(self, pick: Pick, labels: frozenset[str]) -> Runner:
        """Return the runner of a choice among the dice of several pools, and of the sum they stand in."""
        pools = pools_of(pick.node) or []
        runners: list[SteppedPool] = []
        for pool in pools:
            levels: list[tuple[Modifier, ...]] = []
            node: Node = pool
            while isinstance(node, Modified):
                levels.insert(0, node.modifiers)
                node = node.source
            if not isinstance(node, Dice):
                raise AssertionError("the parser picks among dice alone")  # noqa: TRY004  as above
            named = node.sides.faces if isinstance(node.sides, Faces) else ()
            count = self._amount(node.count, labels)
            sides = len(named) if isinstance(node.sides, Faces) else self._amount(node.sides, labels)
            everything = self._phases([modifier for level in levels for modifier in level], named)
            runners.append(self._stepped(count, sides, named, levels or [()], everything))
        places = {id(pool): index for index, pool in enumerate(pools)}
        return PickThrow(runners, self._phases(pick.modifiers, ()), self._formula(pick.node, places, labels))

    def _formula(
        self, node: Node, places: Mapping[int, int], labels: frozenset[str]
    ) -> Callable[[Sequence[Exact], list[Record]], Exact]:
        """Return what makes the total of an expression from those of its pools, and notes what its labels come to."""
        if id(node) in places:
            place = places[id(node)]
            return lambda totals, _: totals[place]
        if not self._rolls(node):
            known = self._ranges[id(node)].low
            return lambda _totals, _: known
        if isinstance(node, Labelled):
            inside, label = self._formula(node.node, places, labels | {node.label}), node.label
            if label in labels:
                return inside

            def noted(totals: Sequence[Exact], records: list[Record]) -> Exact:
                total = inside(totals, records)
                records.append(LabelRecord(label, total))
                return total

            return noted
        below = [self._formula(child, places, labels) for child in children(node)]
        combine = _combining(node)
        return lambda totals, records: combine(*[each(totals, records) for each in below])

    def _amount(self, node: Node, labels: frozenset[str]) -> int | Runner:
        """Return a count or sides: the number itself where it is known, else the runner that rolls it."""
        if self._rolls(node) or self._notes(node):
            return self.runner(node, labels)
        return int(self._ranges[id(node)].low)

    def _phases(self, modifiers: Sequence[Modifier], named: tuple[int, ...]) -> Phases:
        selections: list[Selecting | Sieving] = []
        countings: list[Counting] = []
        markings: list[Marking] = []
        tallies: list[Tallying] = []
        match_of: tuple[int, Test | None] | None = None
        for modifier in modifiers:
            match modifier:
                case Keep(highest, count) | Drop(highest, count):
                    amount = self._amount(count, frozenset())
                    selections.append(Selecting(isinstance(modifier, Keep), highest, amount))
                case Sieve(keep, points):
                    selections.append(Sieving(keep, tuple([self._chooser(point) for point in points])))
                case Tally(kind, compare):
                    tallies.append(Tallying(kind, None if compare is None else self._test(compare)))
                case Match(True, least, compare):
                    match_of = (least, None if compare is None else self._test(compare))
                case Count(failure, compare, weight, rest=rest):
                    countings.append(Counting(failure, self._test(compare), weight, rest))
                case Mark(fumble, compare):
                    fate = Fate.FUMBLE if fumble else Fate.CRITICAL
                    test = None if compare is None else self._test(compare)
                    if test is None and named:
                        test = tester("=", min(named) if fumble else max(named))
                    markings.append(Marking(fate, test))
                case _:
                    pass
        chosen, counted, marked = tuple(selections), tuple(countings), tuple(markings)
        if tallies:
            return TallyPhases(chosen, counted, marked, tuple(tallies))
        if match_of is not None:
            return MatchPhases(chosen, counted, marked, *match_of)
        return Phases(chosen, counted, marked)

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
                case Reroll(once, compare, _, valued):
                    test = tester("=", lowest) if compare is None else self._test(compare)
                    if until is not None and not once:
                        # Several `rr` in a row: until none of them holds.
                        until.tests = (*until.tests, test)
                        continue
                    step = RerollStep((test,), once=once, valued=valued)
                    until = None if once else step
                    steps.append(step)
                    continue
                case Explode(compound, penetrate, once, cap, compare, _, valued):
                    test = tester("=", highest) if compare is None else self._test(compare)
                    most = None if cap is None else int(self._ranges[id(cap)].low)
                    if once:
                        most = 1 if most is None else min(most, 1)
                    steps.append(ExplodeStep(test, most, compound=compound, penetrate=penetrate, valued=valued))
                case Unique(once, _, compare, valued):
                    unless = None if compare is None else self._test(compare)
                    steps.append(UniqueStep(number, once=once, test=unless, valued=valued))
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


def _combining(node: Node) -> Callable[..., Exact]:
    """Return what makes the total of a node from those of its children."""
    match node:
        case Negate():
            return lambda value: -value
        case Chain(_, operators):
            operates = [OPERATE[name] for name in operators]

            def fold(first: Exact, *others: Exact) -> Exact:
                for operate, other in zip(operates, others, strict=True):
                    first = operate(first, other)
                return first

            return fold
        case Power():
            return power
        case Call(function):
            return CALL[function]
        case _:
            raise AssertionError("the parser picks among the dice of sums, products, functions and signs alone")


def runner_of_tree(
    tree: Tree, root: Node, variables: Mapping[str, Bound], analysis: Analysis, wrap: Wrap | None = None
) -> Runner:
    """Return the runner of a whole tree, its inline rolls before everything else."""
    # Those of options that were not chosen are nobody's.
    inlines = [each for each in inlines_of(root) if id(each) in analysis.ranges]
    if not inlines:
        return Compiler(analysis, wrap).runner(root)
    known: dict[tuple[Exact, ...], Runner] = {}

    def runner_of(values: tuple[Exact, ...]) -> Runner:
        runner = known.get(values)
        if runner is None:
            bound = {id(node): value for node, value in zip(inlines, values, strict=False)}
            node = inlines[len(values)].node if len(values) < len(inlines) else root
            if len(known) >= _REMEMBERED_INLINES:
                known.clear()
            runner = known[values] = Compiler(Analysis(tree, variables, bound), wrap).runner(node)
        return runner

    return InlinedThrow(len(inlines), runner_of)


def labels_of(node: Node) -> Iterator[str]:
    """Yield every label in the order in which they stand in the text."""
    for child in children(node):
        yield from labels_of(child)
    if isinstance(node, Labelled):
        yield node.label
