"""Notation from its tree: sums by multiplying, selections by icepool, and no walk over the ways in which dice fall.

What these cannot say raises UnsayableError, and the rules' own odds answer instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from itertools import combinations
from math import comb, prod
from operator import add
from typing import Any, cast

import icepool

from fairroll.odds.chains import CUT, Again, Burst, Join, Recipe, Score, Test, UnsayableError, die
from fairroll.odds.chances import (
    MAX_VALUES,
    Chances,
    Work,
    added,
    certain,
    combined,
    extreme,
    mixed,
    times,
    too_much,
)
from fairroll_rules.limits import MAX_AGAIN
from fairroll_rules.notation.bounds import Analysis
from fairroll_rules.notation.exact import CALL, OPERATE, power, tester
from fairroll_rules.notation.tree import (
    Among,
    Bound,
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
    Match,
    Modified,
    Modifier,
    Negate,
    Node,
    Number,
    Power,
    Repeat,
    Reroll,
    Sieve,
    Sort,
    Tally,
    Tree,
    Unique,
    Variable,
    children,
    has_dice,
)

_STEPS = 4
"""Steps of icepool for the price of one path of the rules, with numbers of some size."""

_KNOWN: dict[type, str] = {
    Number: "value",
    Variable: "name",
    Faces: "faces",
    Dice: "count sides",
    Group: "elements",
    Modified: "source modifiers",
    Negate: "operand",
    Chain: "operands operators",
    Power: "base exponent",
    Call: "function arguments",
    Labelled: "node label",
    Repeat: "times body",
    Explode: "compound penetrate once cap compare",
    Reroll: "once compare",
    Unique: "once",
    Clamp: "side limit",
    Keep: "highest count",
    Drop: "highest count bare",
    Count: "failure compare weight",
    Mark: "fumble compare",
    Sort: "descending",
    Compare: "operator value",
}
"""What a tree is made of, as far as this file knows: each class and its fields."""


def _names(kind: type) -> list[str]:
    return [field.name for field in fields(kind) if field.name != "span"]


_NEW_FIELDS: dict[type, list[str]] = {
    kind: [name for name in _names(kind) if name not in known.split()]
    for kind, known in _KNOWN.items()
    if set(known.split()) <= set(_names(kind))
}
"""The fields that came after this file, of each class that still has all those it knows."""


def _sayable(node: Node) -> bool:
    """Tell whether a node, its modifiers and all below are of known classes, and use no field that is new."""
    parts: list[object] = [node]
    if isinstance(node, Modified):
        parts += node.modifiers
        parts += [point for each in node.modifiers if (point := getattr(each, "compare", None)) is not None]
    if isinstance(node, Dice) and isinstance(node.sides, Faces):
        parts.append(node.sides)
    return all(map(_known, parts)) and all(_sayable(child) for child in children(node))


def _known(part: object) -> bool:
    new = _NEW_FIELDS.get(type(part))
    return new is not None and not any(getattr(part, name) for name in new)


class Counted(Enum):
    """Which number of a node is asked for."""

    TOTAL = "total"
    SUCCESSES = "successes"
    FAILURES = "failures"


class TreeOdds:
    """Finds the chances of the nodes of one tree."""

    def __init__(self, tree: Tree, variables: Mapping[str, Bound], work: Work) -> None:
        """Look at the tree as rolling it does, and spend `work` on it."""
        self._work = work
        self._found: dict[tuple[int, Counted], Chances] = {}
        self._ranges = Analysis(tree, variables).ranges
        self._sayable = _sayable(tree.root)

    def of(self, node: Node, number: Counted = Counted.TOTAL) -> Chances:
        """Return the chances of a number of a node.

        Raises:
            UnsayableError: they cannot be said like this.
            LimitReached: `odds_work`.
        """
        if not self._sayable:
            raise UnsayableError
        key = id(node), number
        if key not in self._found:
            self._found[key] = self._of(node, number)
        return self._found[key]

    def _of(self, node: Node, number: Counted) -> Chances:
        known = self._ranges[id(node)]
        if number is Counted.TOTAL and not has_dice(node) and known.low == known.high:
            return certain(known.low)
        if isinstance(node, (Labelled, Repeat)):
            return self.of(node.node if isinstance(node, Labelled) else node.body, number)
        if isinstance(node, (Dice, Modified, Group)):
            return self._pool(node, number)
        if number is not Counted.TOTAL:
            return self._counted(list(children(node)), number)
        match node:
            case Negate(operand):
                return self.of(operand).map(lambda value: -value)
            case Chain(operands, operators):
                return self._chain([self.of(each) for each in operands], operators)
            case Power(base, exponent):
                return combined(self._work, self.of(base), self.of(exponent), power)
            case Call(function, arguments):
                return self._called(function, [self.of(each) for each in arguments])
            case _:  # what has no dice was answered above
                raise UnsayableError

    def _counted(self, nodes: Sequence[Node], number: Counted) -> Chances:
        """Return successes or failures of several nodes together, whatever is computed with their totals."""
        found = certain(0)
        for node in nodes:
            found = added(self._work, found, self.of(node, number))
        return found

    def _chain(self, operands: list[Chances], operators: Sequence[str]) -> Chances:
        found = operands[0]
        for operator, operand in zip(operators, operands[1:], strict=True):
            if operator == "+":
                found = added(self._work, found, operand)
            elif operator == "-":
                found = added(self._work, found, operand.map(lambda value: -value))
            else:
                found = combined(self._work, found, operand, OPERATE[operator])
        return found

    def _called(self, function: str, arguments: list[Chances]) -> Chances:
        operate = CALL[function]
        if len(arguments) == 1:
            return arguments[0].map(operate)
        if function in ("min", "max"):
            return extreme(self._work, arguments, highest=function == "max")
        raise UnsayableError

    # Pools

    def _pool(self, node: Dice | Modified | Group, number: Counted) -> Chances:
        levels: list[tuple[Modifier, ...]] = []
        while isinstance(node, Modified):
            levels.insert(0, node.modifiers)
            node = node.source
        modifiers = [modifier for level in levels for modifier in level]
        if isinstance(node, Group):
            return self._group(node, modifiers, number)
        counts = [each for each in modifiers if isinstance(each, Count)]
        if number is not Counted.TOTAL and not counts:
            inner = [each for each in children(node) if has_dice(each)]
            return self._counted(inner, number) if inner else certain(0)
        score = self._score(counts, number)
        if any(isinstance(each, Unique) for each in modifiers):
            return self._unlike(node, modifiers, score)
        if self._bursts_apart(modifiers):
            return self._kept_of_bursts(node, modifiers, score)
        # A rolled count or rolled sides: each in turn, in the proportion in which they come.
        count, sides = self.of(node.count), self._sides(node.sides)
        if number is not Counted.TOTAL and (len(count.weights) > 1 or len(sides) > 1):
            raise UnsayableError
        parts: list[tuple[int, Chances]] = []
        of_sides = sum([weight for _, weight in sides]) if isinstance(node.sides, Faces) else self.of(node.sides).total
        for faces, weight in sides:
            one = self._die(faces, modifiers, score)
            parts += [
                (weight * ways, self._selected(one, int(many), modifiers, score))
                for many, ways in count.weights.items()
            ]
        if len(parts) == 1 and parts[0][0] == of_sides * count.total:
            return parts[0][1]
        return mixed(parts, of_sides * count.total)

    def _sides(self, sides: Node | Faces) -> list[tuple[tuple[int, ...] | range, int]]:
        if isinstance(sides, Faces):
            return [(sides.faces, 1)]
        if self._ranges[id(sides)].high > MAX_VALUES:
            raise too_much()
        return [(range(1, int(number) + 1), weight) for number, weight in self.of(sides).weights.items()]

    def _die(self, faces: Sequence[int], modifiers: Sequence[Modifier], score: Score, join: Join = add) -> Chances:
        """Return one die of a pool; scored at once, unless a selection looks at it first."""
        agains: list[Again] = []
        before: list[tuple[int, bool]] = []
        after: list[tuple[int, bool]] = []
        burst: Burst | None = None
        selected = any(isinstance(each, (Keep, Drop)) for each in modifiers)
        chosen = False
        for modifier in modifiers:
            match modifier:
                case Reroll() if not (before or after or burst or chosen):
                    self._again(agains, modifier, faces)
                case Explode() if burst is None and not chosen and (modifier.compound or not selected):
                    burst = self._burst(modifier, faces)
                case Clamp(side, limit) if not chosen:
                    (before if burst is None else after).append((int(self._ranges[id(limit)].low), side == "max"))
                case Keep() | Drop():
                    chosen = True
                case Count() | Mark() | Sort():
                    pass
                case Reroll() | Explode() | Clamp() | Unique() | Among() | Sieve() | Tally() | Match():
                    raise UnsayableError
        return die(self._work, faces, Recipe(agains, before, burst, after, _itself if selected else score, join))

    def _unlike(self, node: Dice, modifiers: Sequence[Modifier], score: Score) -> Chances:
        """Return dice that reroll until all differ: every set of faces is as likely as any other."""
        count, sides = self.of(node.count), self._sides(node.sides)
        plain = all(isinstance(each, (Keep, Drop, Count, Mark, Sort, Unique)) for each in modifiers)
        once = any(isinstance(each, Unique) and each.once for each in modifiers)
        if not plain or once or len(count.weights) > 1 or len(sides) > 1:
            raise UnsayableError
        faces, many = sorted(sides[0][0]), int(next(iter(count.weights)))
        if len(set(faces)) < len(faces):
            raise UnsayableError
        self._work.spend(comb(len(faces), many) / 10)
        low, high = self._ranks(many, modifiers)
        weights: dict[Exact, int] = {}
        for drawn in combinations(faces, many):
            value = sum(map(score, drawn[low:high]))
            weights[value] = weights.get(value, 0) + 1
        lost = 1 - prod(
            [1 - Fraction(taken, len(faces)) ** (MAX_AGAIN + 1) for taken in range(many)], start=Fraction(1)
        )
        return Chances(weights, comb(len(faces), many)).losing(lost if lost >= CUT else Fraction(0))

    def _bursts_apart(self, modifiers: Sequence[Modifier]) -> bool:
        """Tell whether explosions add dice of which some are kept then; to keep first is another roll."""
        chosen = [place for place, each in enumerate(modifiers) if isinstance(each, (Keep, Drop))]
        made = [place for place, each in enumerate(modifiers) if isinstance(each, (Explode, Reroll, Clamp))]
        apart = any(isinstance(each, Explode) and not each.compound for each in modifiers)
        return apart and len(chosen) == 1 and isinstance(modifiers[chosen[0]], Keep) and chosen[0] > made[-1]

    def _kept_of_bursts(self, node: Dice, modifiers: Sequence[Modifier], score: Score) -> Chances:
        """Return the kept of dice that explode into more: of each die only what may still be kept is remembered."""
        keep = next(each for each in modifiers if isinstance(each, Keep))
        count, sides = self.of(node.count), self._sides(node.sides)
        if has_dice(keep.count) or len(count.weights) > 1 or len(sides) > 1:
            raise UnsayableError
        kept = int(self._ranges[id(keep.count)].low)
        ranks = slice(-kept, None) if keep.highest else slice(kept)

        def best(values: Any) -> Any:  # noqa: ANN401  values of several dice, where chances have one number
            return tuple(sorted(values)[ranks]) if kept else ()

        generating = [each for each in modifiers if not isinstance(each, (Keep, Count))]
        one = self._die(sides[0][0], generating, _alone, lambda left, right: best(left + right)).map(best)
        found: Any = Chances(cast("Any", {(): 1}), 1)
        for _ in range(int(next(iter(count.weights)))):
            found = combined(self._work, found, one, lambda left, right: best(left + right))
        summed: Chances = found.map(lambda values: sum(map(score, values)))
        return summed

    def _again(self, agains: list[Again], modifier: Reroll, faces: Sequence[int]) -> None:
        test = tester("=", min(faces)) if modifier.compare is None else self._test(modifier.compare)
        if agains and not modifier.once and not agains[-1].once:
            agains[-1] = Again((*agains[-1].tests, test), once=False)
        else:
            agains.append(Again((test,), modifier.once))

    def _burst(self, modifier: Explode, faces: Sequence[int]) -> Burst:
        test = tester("=", max(faces)) if modifier.compare is None else self._test(modifier.compare)
        cap = MAX_AGAIN if modifier.cap is None else int(self._ranges[id(modifier.cap)].low)
        capped = modifier.once or modifier.cap is not None
        return Burst(test, min(cap, 1) if modifier.once else cap, modifier.compound, int(modifier.penetrate), capped)

    def _test(self, compare: Compare) -> Test:
        return tester(compare.operator, self._ranges[id(compare.value)].low)

    def _score(self, counts: Sequence[Count], number: Counted) -> Score:
        """Return what one die counts for."""
        if not counts:
            return _itself
        tests = [(each.failure, self._test(each.compare), each.weight) for each in counts]

        def score(value: Exact) -> Exact:
            success = max([weight for failure, test, weight in tests if not failure and test(value)], default=0)
            failed = max([weight for failure, test, weight in tests if failure and test(value)], default=0)
            return {Counted.TOTAL: success - failed, Counted.SUCCESSES: success, Counted.FAILURES: failed}[number]

        return score

    def _selected(self, one: Chances, count: int, modifiers: Sequence[Modifier], score: Score) -> Chances:
        """Return what the dice of a pool that are kept count for together."""
        low, high = self._ranks(count, modifiers)
        if high - low == count:
            scored = one if not any(isinstance(each, (Keep, Drop)) for each in modifiers) else one.map(score)
            return times(self._work, scored, count)
        if high == low:
            return certain(0)
        if high - low == 1 and low in (0, count - 1):
            return extreme(self._work, [one] * count, highest=low > 0).map(score)
        values = len(one.weights)
        if not one.weights:
            raise UnsayableError
        # icepool goes through the values from one end and keeps the sums so far: at most so many steps.
        kept = high - low
        self._work.spend(values * count * min(kept * values, comb(kept + values, kept)) / _STEPS)
        pool = icepool.Die(dict(one.weights)).pool(count)[low:high]
        summed = pool.sum() if score is _itself else pool.sum(map=score)
        # A common divisor may be gone from icepool's weights.
        scale, rest = divmod(one.kept**count, summed.denominator())
        if rest:
            raise UnsayableError
        return Chances({value: weight * scale for value, weight in summed.items()}, one.total**count)

    def _ranks(self, count: int, modifiers: Sequence[Modifier]) -> tuple[int, int]:
        """Return which ranks stay, from the lowest on."""
        low, high = 0, count
        for modifier in modifiers:
            if isinstance(modifier, (Keep, Drop)):
                if has_dice(modifier.count):
                    raise UnsayableError
                amount = int(self._ranges[id(modifier.count)].low)
                kept = max(0, min(high - low, amount if isinstance(modifier, Keep) else high - low - amount))
                if modifier.highest == isinstance(modifier, Keep):
                    low = high - kept
                else:
                    high = low + kept
        return low, high

    # Groups

    def _group(self, node: Group, modifiers: Sequence[Modifier], number: Counted) -> Chances:
        counts = [each for each in modifiers if isinstance(each, Count)]
        low, high = self._ranks(len(node.elements), modifiers)
        everything = high - low == len(node.elements)
        if number is not Counted.TOTAL and not counts:
            if not everything and any(_counts(each) for each in node.elements):
                raise UnsayableError
            return self._counted(node.elements, number) if everything else certain(0)
        score = self._score(counts, number)
        totals = [self.of(each) for each in node.elements]
        if everything:
            found = certain(0)
            for each in totals:
                found = added(self._work, found, each.map(score))
            return found
        if high == low:
            return certain(0)
        if high - low == 1 and low in (0, len(totals) - 1):
            return extreme(self._work, totals, highest=low > 0).map(score)
        raise UnsayableError


def _alone(value: Exact) -> Any:  # noqa: ANN401  see its use
    return (value,)


def _itself(value: Exact) -> Exact:
    return value


def _counts(node: Node) -> bool:
    own = isinstance(node, Modified) and any(isinstance(each, Count) for each in node.modifiers)
    return own or any(_counts(child) for child in children(node))
