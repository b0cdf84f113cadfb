"""What the originals take of their own notation: fairroll reads more of it than they do, and must not write that.

A tree is first made as plain as it can be without meaning anything else, then looked over for what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeVar, cast

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.limits import MAX_POOL
from fairroll_rules.notation.canonical import GENERATED, called, splits
from fairroll_rules.notation.dialects import FUDGE, Dialect, Trait, reading_of
from fairroll_rules.notation.exact import CALL, OPERATE, power
from fairroll_rules.notation.faults import refuse
from fairroll_rules.notation.limits import MAX_DIGITS, MAX_EXPONENT
from fairroll_rules.notation.picking import pools_of
from fairroll_rules.notation.tokens import HYPHENATED
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
    Match,
    Modified,
    Modifier,
    Negate,
    Node,
    Number,
    Pick,
    Power,
    Rank,
    Reroll,
    Sieve,
    Sort,
    Tally,
    Unique,
    Variable,
    children,
    operands,
)

_P = TypeVar("_P")

_SELECTS = (Keep, Drop, Sieve)
_COUNTS = (Count, Tally, Match)
_TAKING = (Compare, Clamp, Keep, Drop, Explode)
_PHASES: dict[type[Modifier], int] = {**dict.fromkeys(_SELECTS, 1), **dict.fromkeys(_COUNTS, 2), Mark: 3, Sort: 3}

_POOLS = (Dice, Modified, Group, Pick)


def plainer(root: Node, dialect: Dialect) -> Node:
    """Return a tree that means the same, as the dialect takes it: numbers for what is computed, pools in one piece."""
    traits = reading_of(dialect).traits
    if Trait.LITERAL_POINTS in traits:
        root = _counted_out(root, counts=Trait.FIXED_DICE in traits)
    if Trait.CLOSED in traits:
        root = _changed(root, _joined)
    return _changed(root, _kept) if Trait.NAMED_POOLS in traits else root


def _changed(part: _P, change: Callable[[Modified], Dice | Group | Modified]) -> _P:
    """Return a part of a tree in which each pool is changed, the inner ones first."""
    return cast("_P", _changed_in(part, change))


def _changed_in(part: Any, change: Callable[[Modified], Dice | Group | Modified]) -> Any:  # noqa: ANN401  as a tree is
    if isinstance(part, tuple):
        return tuple([_changed_in(each, change) for each in part])
    if not is_dataclass(part) or isinstance(part, type):
        return part
    changed: Any = {
        field.name: _changed_in(value, change)
        for field in fields(part)
        if isinstance(value := getattr(part, field.name), tuple) or is_dataclass(value)
    }
    part = replace(part, **changed)
    return change(part) if isinstance(part, Modified) else part


def _kept(part: Modified) -> Dice | Group | Modified:
    """Return a pool without what keeps all of its dice anyhow."""
    dice = part.source
    if not isinstance(dice, Dice) or any(isinstance(each, Explode) for each in part.modifiers):
        return part
    many = _known(dice.count)
    left = tuple([each for each in part.modifiers if not (isinstance(each, Keep) and _at_least(each.count, many))])
    return replace(part, modifiers=left) if left else dice


def _at_least(number: Node, least: Exact | None) -> bool:
    known = _known(number)
    return known is not None and least is not None and known >= least


def _joined(part: Modified) -> Dice | Group | Modified:
    """Return a pool whose modifiers behind parentheses stand with those inside, where that is the same."""
    if not isinstance(part.source, Modified):
        return part
    inner, outer = part.source.modifiers, part.modifiers
    # Dice that were left out do not grow, and what was counted is not selected from.
    if any(isinstance(each, GENERATED) for each in outer) or (
        any(isinstance(each, _COUNTS) for each in inner) and any(isinstance(each, _SELECTS) for each in outer)
    ):
        return part
    modifiers = tuple(sorted((*inner, *outer), key=lambda each: _PHASES.get(type(each), 0)))
    return replace(part, source=part.source.source, modifiers=modifiers)


def _counted_out(part: Any, *, counts: bool) -> Any:  # noqa: ANN401  whatever a tree is made of
    """Return a part in which what modifiers take, and with `counts` what pools take, is a number where it is known."""
    if isinstance(part, tuple):
        return tuple([_counted_out(each, counts=counts) for each in part])
    if not is_dataclass(part) or isinstance(part, type):
        return part
    known = counts and isinstance(part, Dice)
    changed: Any = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, Node) and (known or isinstance(part, _TAKING)):
            changed[field.name] = _literal(value)
        elif isinstance(value, tuple) or is_dataclass(value):
            changed[field.name] = _counted_out(value, counts=counts)
    return replace(part, **changed)


def _literal(node: Node) -> Node:
    """Return the number that an expression without dice and variables is, where it can be written."""
    value: Exact | None = _known(node)
    if value is None or isinstance(node, Number):
        return node
    number = Number(value if value >= 0 else -value, node.span)
    return number if value >= 0 else Negate(number, node.span)


def _known(node: Node) -> Exact | None:
    match node:
        case Number(value):
            return value
        case Negate() | Chain() | Power() | Call():
            values = [_known(each) for each in children(node)]
            known = [each for each in values if each is not None]
            found = _computed(node, known) if len(known) == len(values) else None
            return found if found is not None and _writable(found) else None
        case _:
            return None


def _computed(node: Negate | Chain | Power | Call, values: list[Exact]) -> Exact | None:
    first, *others = values
    try:
        match node:
            case Negate():
                return -first
            case Chain(_, operators):
                for operator, other in zip(operators, others, strict=True):
                    first = OPERATE[operator](first, other)
                return first
            case Power():
                exponent = others[0]
                small = exponent.denominator == 1 and 0 <= exponent <= MAX_EXPONENT
                return power(first, exponent) if small else None
            case Call(function):
                return None if function == "sqrt" else CALL[function](*values)
    except ZeroDivisionError:
        return None


def _writable(value: Exact) -> bool:
    """Tell whether a number is a literal: few digits, and a decimal."""
    scaled = Fraction(value) * 10**MAX_DIGITS
    return scaled.denominator == 1 and abs(scaled) < 10 ** (2 * MAX_DIGITS) and len(_digits(value)) <= MAX_DIGITS


def _digits(value: Exact) -> str:
    places = 0
    while (value * 10**places).denominator > 1:
        places += 1
    return str(abs(int(value * 10**places)))


def commented(root: Node, dialect: Dialect) -> bool:
    """Tell whether the original takes a comment behind a roll: behind its last dice, or anywhere."""
    if Trait.NAMED_POOLS not in reading_of(dialect).traits:
        return True
    while isinstance(root, Chain):
        last = root.operands[-1]
        if isinstance(last, Chain) and (root.operators[0] not in "+-" or last.operators[0] in "+-"):
            return False  # it stands in parentheses
        root = last
    return isinstance(root, (*_POOLS, Labelled))


def require_sayable(root: Node, dialect: Dialect) -> None:
    """Refuse what the original of a dialect does not take.

    Raises:
        CheckError: DIALECT_CANNOT_SAY, with the span of that part.
    """
    _Original(dialect).node(root, grouped=False)


def _dice_of(node: Node) -> Exact | None:
    """Return how many dice the pools of an expression roll at least."""
    many: Exact = 0
    for pool in pools_of(node) or []:
        dice: Node = pool
        while isinstance(dice, Modified):
            dice = dice.source
        known = _known(dice.count) if isinstance(dice, Dice) else None
        if known is None:
            return None
        many += known
    return many


class _Original:
    """Looks a tree over for one original."""

    def __init__(self, dialect: Dialect) -> None:
        self.reading = reading_of(dialect)
        self.traits = self.reading.traits

    def node(self, node: Node, *, grouped: bool) -> None:
        """Look at a node and at all below it; `grouped` inside a group."""
        named = Trait.NAMED_POOLS in self.traits
        if named and grouped and isinstance(node, (Pick, Group)):
            raise self._unsayable("a group inside a group", node.span)
        if named and isinstance(node, Labelled) and not isinstance(node.node, (*_POOLS, Labelled)):
            raise self._unsayable("a label on anything but dice and groups", node.span)
        match node:
            case Dice():
                self._dice(node)
            case Modified():
                self._modified(node)
            case Pick(inner, modifiers):
                for modifier in modifiers:
                    self._taken(modifier)
                self._counted(_dice_of(inner), modifiers)
            case Variable(name, span) if Trait.HYPHENS in self.traits and not HYPHENATED.fullmatch(name):
                raise self._unsayable("a variable of that name", span)
            case _:
                pass
        for child in children(node):
            self.node(child, grouped=grouped or isinstance(node, (Pick, Group)))

    def _dice(self, dice: Dice) -> None:
        if Trait.FIXED_DICE not in self.traits:
            return
        for number in (dice.count, dice.sides):
            if not isinstance(number, Faces) and not (isinstance(number, Number) and isinstance(number.value, int)):
                raise self._unsayable("a computed count or sides of dice", number.span)
        if isinstance(dice.count, Number) and dice.count.value >= MAX_POOL:
            raise self._unsayable(f"{MAX_POOL} dice", dice.count.span)

    def _modified(self, pool: Modified) -> None:
        source: Dice | Group | Modified = pool
        levels: list[tuple[Modifier, ...]] = []
        while isinstance(source, Modified):
            levels.insert(0, source.modifiers)
            source = source.source
        modifiers = [modifier for level in levels for modifier in level]
        ordered = Trait.IN_ORDER in self.traits
        if Trait.CLOSED in self.traits and not all(ordered and splits(*pair) for pair in pairwise(levels)):
            raise self._unsayable("a modifier behind parentheses", pool.modifiers[0].span)
        for modifier in modifiers:
            self._taken(modifier)
        if Trait.NAMED_POOLS in self.traits:
            self._grown(source, modifiers)
            self._counted(len(source.elements) if isinstance(source, Group) else _known(source.count), modifiers)
        if Trait.TALLIES in self.traits:
            self._tallied(modifiers)
            if isinstance(source, Dice) and isinstance(source.sides, Faces):
                self._named(source, source.sides.faces, modifiers)

    def _taken(self, modifier: Modifier) -> None:
        """Look at what a modifier takes."""
        if Trait.LITERAL_POINTS not in self.traits:
            return
        signed = Trait.NUMBERS_ALONE_NEGATE in self.traits
        for each in operands(modifier):
            number = each.operand if signed and isinstance(each, Negate) else each
            whole = signed or (isinstance(number, Number) and isinstance(number.value, int))
            if not (isinstance(number, Number) and whole) and not isinstance(each, Variable):
                raise self._unsayable("a computed number behind a modifier", each.span)

    def _grown(self, source: Dice | Group, modifiers: Sequence[Modifier]) -> None:
        """Look at dice with one face: nothing is rolled again there."""
        again = [each for each in modifiers if isinstance(each, (Explode, Reroll, Unique))]
        if again and isinstance(source, Dice) and source.sides == Number(1, source.span):
            raise self._unsayable("one-sided dice that are rolled again", again[0].span)

    def _counted(self, many: Exact | None, modifiers: Sequence[Modifier]) -> None:
        """Look at how many are chosen from the top: of more than there are, it takes some from the bottom."""
        for modifier in modifiers:
            ranks = [each for each in modifier.points if isinstance(each, Rank)] if isinstance(modifier, Sieve) else []
            high = [each.count for each in ranks if each.highest]
            if isinstance(modifier, (Keep, Drop)) and modifier.highest:
                high = [int(known) for known in (_known(modifier.count),) if known is not None]
            if many is not None and any(each > many for each in high):
                raise self._unsayable("a choice of more dice than are rolled", modifier.span)

    def _tallied(self, modifiers: list[Modifier]) -> None:
        """Look at counts: each looks at what a die shows, and the last one holds."""
        counts = [each for each in modifiers if isinstance(each, (Count, Tally))]
        if counts and any(isinstance(each, Clamp) for each in modifiers):
            raise self._unsayable("counts of clamped dice", counts[0].span)
        if len([each for each in counts if isinstance(each, Count)]) > 1:
            raise self._unsayable("several counts of one die", counts[1].span)

    def _named(self, dice: Dice, faces: tuple[int, ...], modifiers: list[Modifier]) -> None:
        """Look at the modifiers of coins and fudge dice: those have few."""
        for modifier in modifiers:
            match modifier:
                case Count(_, compare) | Tally("cs", compare) if called(dice, compare):
                    continue
                case _:
                    pass
            rerolls = isinstance(modifier, Reroll) and modifier.compare is not None
            if not (faces == FUDGE and (rerolls or isinstance(modifier, (Keep, Drop)))):
                raise self._unsayable("that modifier of such dice", modifier.span)

    def _unsayable(self, what: str, span: Span) -> CheckError:
        return refuse("DIALECT_CANNOT_SAY", f"{self.reading.title} cannot say {what}", span, value=what)
