"""Notation from its tree: sums by multiplying, selections by icepool, and no walk over the ways in which dice fall.

What these cannot say raises UnsayableError, and the rules' own odds answer instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import cast

import icepool

from fairroll.odds.chances import MAX_VALUES, Chances, Work, added, certain, combined, extreme, mixed, too_many_values
from fairroll.odds.choosing import Choosing, Counted, Ranked, Worth
from fairroll.odds.growth import UnsayableError
from fairroll.odds.pools import STEPS, Pool, Some, summed
from fairroll_rules.notation.bounds import Analysis
from fairroll_rules.notation.exact import CALL, COMPARE, OPERATE, power
from fairroll_rules.notation.inlines import has_inline, inlines_of
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
    Power,
    Query,
    Rank,
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

_Kind = tuple[Pool, Sequence[int], int]
"""Dice of one kind: their modifiers, their faces and how many they are."""

_KNOWN: dict[type, str] = {
    Number: "value",
    Variable: "name default",
    Faces: "faces",
    Dice: "count sides",
    Group: "elements",
    Modified: "source modifiers",
    Pick: "node modifiers",
    Negate: "operand",
    Chain: "operands operators",
    Power: "base exponent",
    Comparison: "left operator right",
    Inline: "node",
    Query: "name labels options",
    Call: "function arguments",
    Labelled: "node label",
    Repeat: "times body",
    Explode: "compound penetrate once cap compare valued",
    Reroll: "once compare valued",
    Unique: "once compare valued",
    Among: "explode again points most",
    Clamp: "side limit",
    Keep: "highest count",
    Drop: "highest count bare",
    Sieve: "keep points",
    Count: "failure compare weight rest",
    Tally: "kind compare",
    Match: "total count compare",
    Mark: "fumble compare",
    Sort: "descending",
    Compare: "operator value",
    Rank: "highest count others",
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
    if isinstance(node, (Modified, Pick)):
        parts += node.modifiers
        parts += [point for each in node.modifiers if (point := getattr(each, "compare", None)) is not None]
        parts += [point for each in node.modifiers for point in getattr(each, "points", ())]
    if isinstance(node, Dice) and isinstance(node.sides, Faces):
        parts.append(node.sides)
    return all(map(_known, parts)) and all(_sayable(child) for child in children(node))


def _known(part: object) -> bool:
    new = _NEW_FIELDS.get(type(part))
    return new is not None and not any(getattr(part, name) for name in new)


class TreeOdds:
    """Finds the chances of the nodes of one tree."""

    def __init__(
        self, tree: Tree, variables: Mapping[str, Bound], work: Work, inlined: Mapping[int, Exact] | None = None
    ) -> None:
        """Look at the tree as rolling it does, and spend `work` on it; `inlined` are inline rolls that are known."""
        self._tree, self._variables, self._work = tree, variables, work
        self._found: dict[tuple[int, Counted], Chances] = {}
        self._inlined = inlined or {}
        self._rolled: dict[int, Exact] = {}
        analysis = Analysis(tree, variables, self._inlined)
        self._ranges = analysis.ranges
        self._chosen = analysis.chosen
        self._sayable = _sayable(tree.root)
        self._queried = bool(self._chosen) and has_inline(tree.root)

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

    def free(self, body: Node) -> Inline | None:
        """Return the first inline roll whose total is not known, if there is one."""
        return next((each for each in inlines_of(body) if id(each) not in self._inlined), None)

    def knowing(self, inline: Inline, total: Exact) -> TreeOdds:
        """Return the same for rolls in which an inline roll came to a total."""
        return TreeOdds(self._tree, self._variables, self._work, {**self._inlined, id(inline): total})

    def spend(self, amount: float) -> None:
        """Use up some of the work. Raises LimitReached, `odds_work`."""
        self._work.spend(amount)

    def below(self, node: Node) -> Iterable[Node]:
        """Return what is directly inside a node and rolled with it.

        Raises:
            UnsayableError: it is a choice, and the inline rolls of what was not chosen are rolled as well.
        """
        if not isinstance(node, Query):
            return children(node)
        if self._queried:
            raise UnsayableError
        return (self._chosen[id(node)],)

    def _of(self, node: Node, number: Counted) -> Chances:
        known = self._ranges[id(node)]
        if number is Counted.TOTAL and known.low == known.high and (id(node) in self._inlined or not has_dice(node)):
            return certain(known.low)
        if isinstance(node, (Dice, Modified, Group)):
            return self._thrown(node, number)
        if number is not Counted.TOTAL:
            if isinstance(node, Pick):
                raise UnsayableError
            return self._counted(list(self.below(node)), number)
        match node:
            case Labelled(inner) | Inline(inner):
                return self.of(inner)
            case Query():
                return self.of(self._chosen[id(node)])
            case Negate(operand):
                return self.of(operand).map(lambda value: -value)
            case Chain(operands, operators):
                return self._chain([self.of(each) for each in operands], operators)
            case Power(base, exponent):
                return combined(self._work, self.of(base), self.of(exponent), power)
            case Comparison(left, operator, right):
                return combined(self._work, self.of(left), self.of(right), COMPARE[operator])
            case Call(function, arguments):
                return self._called(function, [self.of(each) for each in arguments])
            case Pick():
                return self._picked(node)
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

    def _fixed(self, node: Node) -> Exact:
        """Return what an expression comes to in every roll, or in those that are looked at now."""
        rolled = self._rolled.get(id(node))
        if rolled is not None:
            return rolled
        known = self._ranges[id(node)]
        if known.low != known.high:
            raise UnsayableError
        return known.low

    # Pools

    def _thrown(self, node: Dice | Modified | Group, number: Counted) -> Chances:
        source: Node = node
        levels: list[tuple[Modifier, ...]] = []
        while isinstance(source, Modified):
            levels.insert(0, source.modifiers)
            source = source.source
        if isinstance(source, Group):
            return self._group(source, levels, number)
        if not isinstance(source, Dice):
            raise UnsayableError
        return self._pool(source, levels, number)

    def _pool(self, node: Dice, levels: Sequence[tuple[Modifier, ...]], number: Counted) -> Chances:
        for modifier in (each for level in levels for each in level if isinstance(each, (Keep, Drop))):
            if has_dice(modifier.count) and id(modifier.count) not in self._rolled:
                return self._in_turn(modifier.count, node, levels, number)
        pool = Pool(self._work, levels, self._fixed, number)
        inner = certain(0)
        if number is not Counted.TOTAL:
            # Of what the count or the sides are rolled with marks are shown, and successes are none of this pool's.
            parts = [node.count, *([] if isinstance(node.sides, Faces) else [node.sides])]
            if number.marked:
                inner = self._counted([part for part in parts if has_dice(part)], number)
            elif any(map(has_inline, parts)):
                raise UnsayableError
            if not (pool.choosing.marks if number.marked else pool.choosing.counting):
                return inner
        # A rolled count or rolled sides: each in turn, in the proportion in which they come.
        count, sides = self.of(node.count), self._sides(node.sides)
        if number is not Counted.TOTAL and (len(count.weights) > 1 or len(sides) > 1) and _something(inner):
            raise UnsayableError
        parts_of = [
            (weight * ways, pool.of(faces, int(many)))
            for faces, weight in sides
            for many, ways in count.weights.items()
        ]
        of_sides = self._sides_total(node.sides)
        ended = 1 - (1 - count.ended) * (1 - of_sides.ended)
        if len(parts_of) == 1 and parts_of[0][0] == of_sides.total * count.total:
            found = parts_of[0][1]
        else:
            found = mixed(parts_of, of_sides.total * count.total)
        found = Chances(found.weights, found.total, found.ended + ended)
        return added(self._work, inner, found) if _something(inner) else found

    def _in_turn(self, amount: Node, node: Dice, levels: Sequence[tuple[Modifier, ...]], number: Counted) -> Chances:
        """Return a pool of which a rolled number is kept or dropped: each in turn, in the proportion of its chance."""
        if number.marked or (number is not Counted.TOTAL and has_inline(amount)):
            raise UnsayableError
        rolled = self.of(amount)
        parts: list[tuple[int, Chances]] = []
        for value, weight in rolled.weights.items():
            self._rolled[id(amount)] = value
            parts.append((weight, self._pool(node, levels, number)))
        del self._rolled[id(amount)]
        found = mixed(parts, rolled.total)
        return Chances(found.weights, found.total, found.ended + rolled.ended)

    def _sides(self, sides: Node | Faces) -> list[tuple[tuple[int, ...] | range, int]]:
        if isinstance(sides, Faces):
            return [(sides.faces, 1)]
        most = int(self._ranges[id(sides)].high)
        if most > MAX_VALUES:
            raise too_many_values(most)
        return [(range(1, int(number) + 1), weight) for number, weight in self.of(sides).weights.items()]

    def _sides_total(self, sides: Node | Faces) -> Chances:
        return certain(0) if isinstance(sides, Faces) else self.of(sides)

    def _picked(self, node: Pick) -> Chances:
        """Return dice of several pools that are chosen from together, in a sum."""
        choosing = Choosing()
        if not all(choosing.add(modifier, self._fixed) for modifier in node.modifiers):
            raise UnsayableError
        if choosing.counting or choosing.sieves:
            raise UnsayableError
        shift, pools = self._terms(node.node)
        if any(pool.bursts(faces) for pool, faces, _ in pools):
            return self._picked_of_bursts(pools, choosing).map(lambda value: value + shift)
        dice = [die for pool, faces, count in pools for die in [pool.die(faces, pool.steps(faces))] * count]
        places = choosing.places(len(dice))
        kinds: dict[int, int] = {}
        for die in dice:
            if not die.weights:
                raise UnsayableError
            kinds[id(die)] = kinds.get(id(die), 0) + 1
        values, steps = len({value for die in dice for value in die.weights}), 1
        for many in kinds.values():
            steps *= many + 1
        self._work.spend(values * steps * steps * max(1, len(places)) * values / STEPS)
        if not places:
            return certain(shift)
        pool = icepool.Pool([icepool.Die(dict(die.weights)) for die in dice])
        return summed(pool, dice, places, choosing.worth(Counted.TOTAL)).map(lambda value: value + shift)

    def _picked_of_bursts(self, pools: Sequence[_Kind], choosing: Choosing) -> Chances:
        """Return the highest or the lowest of dice that explode into more: of all so far only those are remembered."""
        (choice, *more) = choosing.ranks
        if more or not isinstance(choice, Ranked) or not choice.keep:
            raise UnsayableError
        some = Some(choice.highest, choice.count)
        found = certain(cast("Exact", ()))
        for pool, faces, count in pools:
            one = pool.some(faces, some)
            for _ in range(count):
                found = combined(self._work, found, one, some.joined)
        return found.map(lambda values: sum(cast("Sequence[Exact]", values)))

    def _terms(self, node: Node) -> tuple[Exact, list[_Kind]]:
        """Return the constants of a sum, and its pools."""
        match node:
            case Labelled(inner):
                return self._terms(inner)
            case Chain(operands, operators) if set(operators) == {"+"}:
                terms = [self._terms(each) for each in operands]
                return sum([shift for shift, _ in terms]), [pool for _, pools in terms for pool in pools]
            case Dice() | Modified():
                return 0, [self._kind(node)]
            case _:
                return self._fixed(node), []

    def _kind(self, node: Dice | Modified) -> _Kind:
        source: Node = node
        levels: list[tuple[Modifier, ...]] = []
        while isinstance(source, Modified):
            levels.insert(0, source.modifiers)
            source = source.source
        if not isinstance(source, Dice):
            raise UnsayableError
        pool = Pool(self._work, levels, self._fixed, Counted.TOTAL)
        faces = source.sides.faces if isinstance(source.sides, Faces) else range(1, int(self._fixed(source.sides)) + 1)
        if pool.choosing.chooses or pool.choosing.counting:
            raise UnsayableError
        return pool, faces, int(self._fixed(source.count))

    # Groups

    def _group(self, node: Group, levels: Sequence[tuple[Modifier, ...]], number: Counted) -> Chances:
        choosing = Choosing()
        if not all(choosing.add(modifier, self._fixed) for level in levels for modifier in level) or choosing.match:
            raise UnsayableError
        places = choosing.places(len(node.elements))
        everything = len(places) == len(node.elements) and not choosing.sieves
        if number is not Counted.TOTAL and not (choosing.counting and not number.marked):
            return self._counted_inside(node, everything=everything, number=number)
        if number is not Counted.TOTAL and has_inline(node):
            raise UnsayableError  # their own successes count, too
        worth = choosing.worth(number)
        totals = [self.of(each) for each in node.elements]
        if len(places) == len(totals):
            found = certain(0)
            for each in totals:
                found = added(self._work, found, each.map(worth))
            return found
        if not places:
            return certain(0)
        if len(places) == 1 and places[0] in (0, len(totals) - 1):
            return extreme(self._work, totals, highest=places[0] > 0).map(worth)
        return self._some_totals(totals, choosing, worth)

    def _counted_inside(self, node: Group, *, everything: bool, number: Counted) -> Chances:
        if everything:
            return self._counted(node.elements, number)
        found = self._counted(node.elements, number)
        if _something(found):
            raise UnsayableError  # what is dropped counts nothing
        return found

    def _some_totals(self, totals: Sequence[Chances], choosing: Choosing, worth: Worth) -> Chances:
        """Return some of the highest or of the lowest totals: of those so far only what may stay is remembered."""
        (choice, *more) = choosing.ranks
        if more or not isinstance(choice, Ranked):
            raise UnsayableError
        kept = min(len(totals), choice.count if choice.keep else len(totals) - choice.count)
        ends = slice(-kept, None) if choice.highest == choice.keep else slice(kept)
        found = totals[0].map(lambda value: (value,))  # type: ignore[arg-type, return-value]  # several values
        for each in totals[1:]:
            found = combined(self._work, found, each, lambda left, right: tuple(sorted((*left, right))[ends]))
        return found.map(lambda values: sum(map(worth, values)))  # type: ignore[call-overload]  # the same


def total_of(odds: TreeOdds, body: Node) -> Chances:
    """Return the chances of the total of a tree, or of one result where it repeats.

    An inline roll on which something hangs that is not simply computed, such as how many dice are kept, takes each of
    its values in turn. Raises as `TreeOdds.of`.
    """
    try:
        return odds.of(body)
    except UnsayableError:
        free = odds.free(body)
        if free is None:
            raise
    first = odds.of(free.node)
    odds.spend(len(first.weights))
    parts = [(weight, total_of(odds.knowing(free, value), body)) for value, weight in first.weights.items()]
    found = mixed(parts, first.total)
    return Chances(found.weights, found.total, found.ended + first.ended)


def _something(chances: Chances) -> bool:
    return set(chances.weights) != {0}
