"""What a tree can come to before anything is drawn: bounds, wholeness, the most draws; and every refusal they imply.

Each node has a `Range`: the least and the greatest value it can take, whether it is always whole, and how large its
numbers can grow. Dice are independent, so the bounds of sums and products are those of their parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.limits import MAX_DRAWS, MAX_POOL, MAX_SIDES
from fairroll_rules.notation.dialects import Trait, reading_of
from fairroll_rules.notation.exact import CALL, OPERATE, plain, power, root_of, tester
from fairroll_rules.notation.faults import NOT_WHOLE, beyond, refuse
from fairroll_rules.notation.limits import (
    MAX_EXPONENT,
    MAX_NUMBER_BITS,
    MAX_TOTAL,
    MAX_WORK,
    MIN_TOTAL,
)
from fairroll_rules.notation.picking import pools_of
from fairroll_rules.notation.pools import Faced, Pile, group_pile, modify
from fairroll_rules.notation.tree import (
    Bound,
    Call,
    Chain,
    Comparison,
    Dice,
    Exact,
    Faces,
    Group,
    Inline,
    Labelled,
    Modified,
    Negate,
    Node,
    Number,
    Pick,
    Power,
    Query,
    Repeat,
    Tree,
    Variable,
    children,
    has_dice,
)


class Range(NamedTuple):
    """The values a node can take: `low`..`high`, `whole` if all are, `bits` the most that one of them has."""

    low: Exact
    high: Exact
    whole: bool
    bits: int

    @property
    def fixed(self) -> bool:
        """Whether there is only one value."""
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is known of a roll before it is rolled.

    `minimum` and `maximum` are those of the exact total, of each result where the tree repeats; an explosion is
    counted up to its cap. `draws` is the most draws before any die is rolled again, `grows` whether one can explode,
    `whole` whether the exact total always is.
    """

    minimum: Exact
    maximum: Exact
    draws: int
    nodes: int
    grows: bool
    whole: bool


class Analysis:
    """One pass over a tree with its variables. `ranges` has the range of every expression by its node's identity."""

    def __init__(self, tree: Tree, variables: Mapping[str, Bound], inlined: Mapping[int, Exact] | None = None) -> None:
        """Look at the whole tree; `inlined` are inline rolls, by their identity, of which the total is known.

        Raises:
            CheckError: whatever some faces would make impossible, and every limit that could be passed.
        """
        self.ranges: dict[int, Range] = {}
        self.inlined: Mapping[int, Exact] = inlined or {}
        self.chosen: dict[int, Node] = {}
        self._variables = variables
        self._functions = reading_of(tree.dialect).functions
        self._hyphens = Trait.HYPHENS in reading_of(tree.dialect).traits
        self._draws = 0
        self._work = 0
        self._grows = False
        root = tree.root
        body, times = (root.body, root.times) if isinstance(root, Repeat) else (root, 1)
        total = self.range(body)
        self._fits_total(total, body.span)
        draws = self._draws * times
        if draws > MAX_DRAWS:
            raise beyond("draws", MAX_DRAWS, str(draws), root.span)
        if self._work * times > MAX_WORK:
            raise beyond("work", MAX_WORK, str(self._work * times), root.span)
        self.bounds = Bounds(total.low, total.high, draws, tree.nodes, self._grows, total.whole)

    def range(self, node: Node) -> Range:
        """Return the range of a node, after refusing what it could make impossible."""
        known = self.ranges.get(id(node))
        if known is not None:
            return known
        found = self._range(node)
        if found.bits > MAX_NUMBER_BITS:
            raise beyond("number_bits", MAX_NUMBER_BITS, str(found.bits), node.span)
        self.ranges[id(node)] = found
        return found

    def fixed(self, node: Node) -> Exact:
        """Return the value of a node without dice."""
        return self.range(node).low

    def whole(self, node: Node, what: str) -> Range:
        """Return the range of a node that must be whole."""
        found = self.range(node)
        if not found.whole:
            raise refuse(
                NOT_WHOLE,
                f"{what} must be whole",
                node.span,
                expected=("a whole number",),
                hint="make it whole with floor, ceil or round",
                value=str(found.low) if found.fixed else "",
            )
        return found

    def count(self, node: Node, what: str) -> tuple[int, int]:
        """Return the least and the greatest value of a count, which is whole and never negative."""
        found = self.whole(node, what)
        if found.low < 0:
            raise refuse(
                "COUNT_NEGATIVE",
                f"{what} can be {found.low}",
                node.span,
                hint=self._limited("keep it from falling below zero", 0),
                value=str(found.low),
            )
        return int(found.low), int(found.high)

    def _limited(self, advice: str, least: int) -> str:
        """Return advice with the function that does it, where the dialect has that."""
        return f"{advice}: max(.., {least})" if "max" in self._functions else advice

    def worked(self, dice: int) -> None:
        """Note that a modifier looks at so many dice."""
        self._work += dice

    def grown(self) -> None:
        """Note that a die can explode."""
        self._grows = True

    def pile(self, node: Dice | Group | Modified) -> Pile:
        """Return what is known of the dice of a pool, or of the totals of a group."""
        if isinstance(node, Dice):
            return self._dice(node)
        if isinstance(node, Group):
            ranges = [self.range(element) for element in node.elements]
            if not ranges:
                return Pile(0, 0, 0, 0, None, ranked=((), ()))
            return group_pile([(each.low, each.high, each.whole) for each in ranges])
        pile = self.pile(node.source)
        return modify(self, pile, node.modifiers)

    def _range(self, node: Node) -> Range:
        match node:
            case Number(value):
                return _exactly(value)
            case Variable(name, span, default):
                return self._variable(name, span, default)
            case Dice() | Group() | Modified():
                return self._of_pile(node, self.pile(node))
            case Negate(operand):
                inside = self.range(operand)
                return Range(-inside.high, -inside.low, inside.whole, inside.bits)
            case Chain(operands_, operators):
                return self._chain(operands_, operators)
            case Power(base, exponent):
                return self._power(base, exponent)
            case Comparison(left, operator, right):
                return _comparison(operator, self.range(left), self.range(right))
            case Pick():
                return self._pick(node)
            case Inline(inner):
                found = self.range(inner)
                known = self.inlined.get(id(node))
                return found if known is None else _exactly(known)
            case Query():
                return self._query(node)
            case Call(function, arguments):
                return _call(function, [self.range(argument) for argument in arguments], node.span)
            case Labelled(inner_node, _, span):
                inside = self.range(inner_node)
                self._fits_total(inside, span)
                return inside
            case Repeat(_, body):
                return self.range(body)

    def _of_pile(self, node: Dice | Group | Modified, pile: Pile) -> Range:
        low, high, whole = pile.total()
        return Range(low, high, whole, _bits(low, high, whole, self._element_bits(node)))

    def _query(self, node: Query) -> Range:
        answer = self._variables.get(node.name)
        chosen = self.chosen[id(node)] = node.options[0] if answer is None else self._answered(node, answer)
        return self.range(chosen)

    def _answered(self, node: Query, answer: Bound) -> Node:
        """Return the option that an answer takes: by the integer that it is, or else by its label.

        A query with nothing but a default asks for any number.
        """
        if isinstance(answer, int) and len(node.options) == 1:
            number = Number(abs(answer), node.span)
            return number if answer >= 0 else Negate(number, node.span)
        worth = [_integer(each) for each in node.options]
        if answer in worth:
            return node.options[worth.index(answer)]
        if str(answer) in node.labels:
            return node.options[node.labels.index(str(answer))]
        raise CheckError(
            "NO_SUCH_OPTION",
            f"{node.name} has no option {answer!r} (column {node.span.start + 1})",
            field="variables",
            value=str(answer),
            span=node.span,
            expected=tuple(
                [
                    label if number is None or label == str(number) else f"{number} ({label})"
                    for label, number in zip(node.labels, worth, strict=True)
                ]
            ),
            hint="give the number or the label of an option",
        )

    def _pick(self, node: Pick) -> Range:
        """Return the range of a choice among the dice of several pools.

        Of a sum of pools the dice are ranked together; elsewhere any dice of a pool may be dropped.
        """
        pools = pools_of(node.node) or []
        piles = [self.pile(pool) for pool in pools]
        for pool, pile in zip(pools, piles, strict=True):
            # Each pool is rolled once: what stands around it asks for its range only.
            self.ranges[id(pool)] = self._of_pile(pool, pile)
        whole = self.range(node.node)
        shift = self._shift(node.node, pools)
        by_die = shift is not None and all(pile.least == pile.most and pile.chains is None for pile in piles)
        counted = any(pile.counted is not None for pile in piles)
        dice = _together(piles, ranked=by_die and not counted)
        left = modify(self, dice, node.modifiers)
        if left.least == dice.most:
            return whole
        if shift is not None and by_die:
            low, high = _any_of(piles, left) if counted else left.total()[:2]
            low, high = low + shift, high + shift
            return Range(low, high, whole.whole, max(_bits(low, high, whole.whole, 0), whole.bits))
        for pool, pile in zip(pools, piles, strict=True):
            low, high, _ = pile.total()
            if pile.counted is None:
                low = min(low, pile.low * pile.most)
            # Whatever is dropped counts for nothing.
            self.ranges[id(pool)] = Range(min(low, 0), max(high, 0), True, self.ranges[id(pool)].bits)
        for each in _between(node.node, pools):
            self.ranges.pop(id(each), None)
        return self.range(node.node)

    def _shift(self, node: Node, pools: Sequence[Node]) -> Exact | None:
        """Return what a sum of pools adds to them; None where it is no such sum."""
        if any(node is pool for pool in pools):
            return 0
        if isinstance(node, Labelled):
            return self._shift(node.node, pools)
        if not has_dice(node):
            return self.range(node).low
        if not isinstance(node, Chain) or node.operators[0] not in "+-":
            return None
        shift: Exact = 0
        for operator, operand in zip(("+", *node.operators), node.operands, strict=True):
            inside = self._shift(operand, pools)
            if inside is None or (operator == "-" and has_dice(operand)):
                return None
            shift += inside if operator == "+" else -inside
        return shift

    def _element_bits(self, node: Dice | Group | Modified) -> int:
        while isinstance(node, Modified):
            node = node.source
        return sum([self.ranges[id(each)].bits + 1 for each in node.elements]) if isinstance(node, Group) else 0

    def _variable(self, name: str, span: Span, default: int | None) -> Range:
        value = self._variables.get(name, default)
        if isinstance(value, str):
            raise CheckError(
                "NO_SUCH_OPTION",
                f"the variable {name} is a number, not one of several options (column {span.start + 1})",
                field="variables",
                value=value,
                span=span,
                expected=("a number",),
            )
        if value is None:
            raise CheckError(
                "VARIABLE_MISSING",
                f"the variable {name} has no value (column {span.start + 1})",
                field="variables",
                value=name,
                span=span,
                expected=(name,),
                hint=f"bind it: {name}=0 if it is to count for nothing{self._subtracting(name)}",
            )
        return _exactly(value)

    def _subtracting(self, name: str) -> str:
        """Return how to subtract, where what was meant for a minus is part of a name."""
        before, hyphen, after = name.rpartition("-")
        return f"; to subtract write @{before} - {after}" if hyphen and before and self._hyphens else ""

    def _dice(self, node: Dice) -> Pile:
        sides = node.sides
        count_low, count_high = self._dice_count(node)
        if isinstance(sides, Faces):
            faced = Faced(sides.faces, 0, 0)
        else:
            found = self.whole(sides, "the number of sides")
            if found.low < 1:
                raise refuse(
                    "SIDES_TOO_FEW",
                    f"a die has at least 1 side, not {found.low}",
                    sides.span,
                    hint=self._limited("keep it from falling below one", 1),
                    value=str(found.low),
                )
            if found.high > MAX_SIDES:
                raise beyond("sides", MAX_SIDES, str(found.high), sides.span, minimum=1)
            faced = Faced((), int(found.low), int(found.high))
        self._draws += count_high
        low, high = faced.ends()
        return Pile(count_low, count_high, low, high, faced)

    def _dice_count(self, node: Dice) -> tuple[int, int]:
        count, sides = node.count, node.sides
        if isinstance(count, Power) and self._too_large(count):
            raise self._too_many_dice(f"{_literal(count)}", count.span, sides)
        low, high = self.count(count, "the number of dice")
        if high > MAX_POOL:
            raise self._too_many_dice(str(high), count.span, sides)
        return low, high

    def _too_large(self, node: Power) -> bool:
        """Tell whether a power is beyond any number of dice: its own limit would say less."""
        return self.range(node.base).low >= 2 and self.range(node.exponent).low > MAX_EXPONENT

    def _too_many_dice(self, value: str, span: Span, sides: Node | Faces) -> CheckError:
        many = not isinstance(sides, Faces) and self.range(sides).high > MAX_SIDES
        hint = f"a die has at most {MAX_SIDES} sides, too" if many else ""
        return beyond("dice_per_pool", MAX_POOL, value, span, hint=hint)

    def _chain(self, operands: tuple[Node, ...], operators: tuple[str, ...]) -> Range:
        result = self.range(operands[0])
        for operator, operand in zip(operators, operands[1:], strict=True):
            right = self.range(operand)
            if operator in ("/", "%", "rem") and right.low <= 0 <= right.high:
                always = "is" if right.fixed else "can be"
                raise refuse(
                    "DIVISION_BY_ZERO",
                    f"the divisor {always} 0",
                    operand.span,
                    hint="" if right.fixed else self._limited("keep it from zero", 1),
                )
            result = _operate(operator, result, right)
            if result.bits > MAX_NUMBER_BITS:
                raise beyond("number_bits", MAX_NUMBER_BITS, str(result.bits), operand.span)
        return result

    def _power(self, base: Node, exponent: Node) -> Range:
        left = self.range(base)
        right = self.whole(exponent, "an exponent")
        if right.low < 0 or right.high > MAX_EXPONENT:
            outside = right.low if right.low < 0 else right.high
            raise beyond("exponent", MAX_EXPONENT, str(outside), exponent.span, minimum=0)
        bits = left.bits * max(1, int(right.high))
        if bits > MAX_NUMBER_BITS:
            raise beyond("number_bits", MAX_NUMBER_BITS, str(bits), base.span)
        exponents = {right.low, right.high, min(right.low + 1, right.high), max(right.high - 1, right.low)}
        corners = [power(value, each) for value in (left.low, left.high) for each in sorted(exponents)]
        if left.low < 0 < left.high:
            corners.append(0 if right.high > 0 else 1)
        low, high = min(corners), max(corners)
        return Range(low, high, left.whole or low == high == int(low), max(bits, 1))

    def _fits_total(self, total: Range, span: Span) -> None:
        low, high = floor(total.low), ceil(total.high)
        if low < MIN_TOTAL or high > MAX_TOTAL:
            value = low if low < MIN_TOTAL else high
            raise beyond("total", MAX_TOTAL, str(value), span, minimum=MIN_TOTAL)


def _integer(node: Node) -> Bound | None:
    """Return the integer that an option is, None where it is something else."""
    match node:
        case Number(int(value)):
            return value
        case Negate(Number(int(value))):
            return -value
        case _:
            return None


def _exactly(value: Exact) -> Range:
    return Range(value, value, value.denominator == 1, value.numerator.bit_length() + value.denominator.bit_length())


def _bits(low: Exact, high: Exact, whole: bool, otherwise: int) -> int:  # noqa: FBT001  a fact of the range
    if not whole:
        return otherwise
    return max(int(low).bit_length(), int(high).bit_length()) + 1


def _operate(operator: str, left: Range, right: Range) -> Range:
    bits = left.bits + right.bits + 1
    if left.fixed and right.fixed and bits <= MAX_NUMBER_BITS:
        return _exactly(OPERATE[operator](left.low, right.low))
    whole = left.whole and right.whole
    if operator == "+":
        low, high = left.low + right.low, left.high + right.high
    elif operator == "-":
        low, high = left.low - right.high, left.high - right.low
    elif operator == "%":
        low, high = _modulo(left, right)
    elif operator == "rem":
        low, high = _remainder(left, right)
    else:
        whole = whole and operator == "*"
        corners = [OPERATE[operator](a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
        low, high = min(corners), max(corners)
    return Range(low, high, whole, _bits(low, high, whole, bits))


def _modulo(left: Range, right: Range) -> tuple[Exact, Exact]:
    """Return the ends of left % right: the sign of the divisor, and less than it."""
    if right.low < 0:
        low, high = _modulo(Range(-left.high, -left.low, left.whole, 0), Range(-right.high, -right.low, right.whole, 0))
        return -high, -low
    if left.low >= 0 and left.high < right.low:
        return left.low, left.high
    below = right.high - 1 if left.whole and right.whole else right.high
    return 0, min(below, left.high) if left.low >= 0 else below


def _remainder(left: Range, right: Range) -> tuple[Exact, Exact]:
    """Return the ends of what is left of a division: the sign of what is divided."""
    most = max(right.high, -right.low)
    below = most - 1 if left.whole and right.whole else most
    return (
        0 if left.low >= 0 else -min(below, -left.low),
        0 if left.high <= 0 else min(below, left.high),
    )


def _comparison(operator: str, left: Range, right: Range) -> Range:
    """Return the range of a comparison of totals: known where the ends already decide it."""
    low, high = left.low - right.high, left.high - right.low
    test = tester(operator, 0)
    inner = [each for each in (0, low, high, -1, 1) if low <= each <= high]
    held = [test(each) for each in inner]
    return Range(int(all(held)), int(any(held)), True, 2)


def _together(piles: Sequence[Pile], *, ranked: bool) -> Pile:
    """Return the dice of several pools as one pile; `ranked` where each has its own bounds."""
    together = Pile(sum([each.least for each in piles]), sum([each.most for each in piles]), 0, 0, None)
    if not ranked:
        return together
    lows = sorted([pile.low for pile in piles for _ in range(pile.most)])
    highs = sorted([pile.high for pile in piles for _ in range(pile.most)])
    return replace(together, low=min(lows, default=0), high=max(highs, default=0), ranked=(tuple(lows), tuple(highs)))


def _any_of(piles: Sequence[Pile], left: Pile) -> tuple[Exact, Exact]:
    """Return the ends of what some of the dice are worth, whichever are left: a count has other ends than a value."""
    ends: list[tuple[Exact, Exact]] = []
    for pile in piles:
        low, high, _ = pile.total()
        ends += [(Fraction(low) / pile.most, Fraction(high) / pile.most)] * pile.most
    lows, highs = sorted([low for low, _ in ends]), sorted([high for _, high in ends], reverse=True)
    sums = [(sum(lows[:many]), sum(highs[:many])) for many in range(left.least, left.most + 1)]
    return plain(min([low for low, _ in sums])), plain(max([high for _, high in sums]))


def _between(node: Node, pools: Sequence[Node]) -> Iterator[Node]:
    """Yield the nodes of an expression that hold pools and are none."""
    if has_dice(node) and not any(node is pool for pool in pools):
        yield node
        for child in children(node):
            yield from _between(child, pools)


def _call(function: str, arguments: list[Range], span: Span) -> Range:
    whole = all(each.whole for each in arguments)
    bits = max([each.bits for each in arguments])
    if function in ("min", "max"):
        low = CALL[function](*[each.low for each in arguments])
        high = CALL[function](*[each.high for each in arguments])
        return Range(low, high, whole, bits)
    only = arguments[0]
    if function == "sqrt":
        root = root_of(only.low) if only.fixed else None
        if root is None:
            raise refuse(
                "NOT_EXACT",
                "sqrt has an exact value only of a square that is known before the roll",
                span,
                hint="compare with the square instead",
            )
        return _exactly(root)
    if function == "abs":
        low, high = max(only.low, -only.high, 0), max(only.high, -only.low)
        return Range(low, high, whole, bits)
    return Range(CALL[function](only.low), CALL[function](only.high), True, bits + 1)


def _literal(node: Power) -> str:
    """Return a power of literals as text: the number itself would be longer than any message."""
    base, exponent = node.base, node.exponent
    if isinstance(base, Number) and isinstance(exponent, Number):
        return f"{base.value}^{exponent.value}"
    return "a number beyond all limits"
