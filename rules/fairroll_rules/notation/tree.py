"""The tree: what every dialect is parsed into. Nodes compare by meaning; a span points into the raw text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from fairroll_rules.errors import Span
from fairroll_rules.notation.dialects import Dialect

Exact = int | Fraction
"""An exact number: an int where it is whole."""


@dataclass(frozen=True, slots=True)
class Number:
    """A literal, never negative."""

    value: Exact
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """`@name`, bound after parsing."""

    name: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Faces:
    """Named faces of a die, integers in the order of its natural faces 1, 2, ..: `{2,3,5}`, `F`, `F.1`."""

    faces: tuple[int, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Dice:
    """`count d sides`."""

    count: Node
    sides: Node | Faces
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Group:
    """`{a, b, c}`: a pool of totals."""

    elements: tuple[Node, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Modified:
    """A pool or group and its modifiers, in the order in which they are applied."""

    source: Dice | Group | Modified
    modifiers: tuple[Modifier, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Negate:
    """`-operand`."""

    operand: Node
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Chain:
    """Operands joined by operators of one precedence, applied from the left: `+ -` or `* / %`."""

    operands: tuple[Node, ...]
    operators: tuple[str, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Power:
    """`base ^ exponent`."""

    base: Node
    exponent: Node
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function of numbers: `floor(x)`."""

    function: str
    arguments: tuple[Node, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Labelled:
    """`node[label]`; the children inherit the label."""

    node: Node
    label: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Repeat:
    """`times x {body}`: separate results, no total. Only as the whole input."""

    times: int
    body: Node
    span: Span = field(compare=False)


Node = Number | Variable | Dice | Group | Modified | Negate | Chain | Power | Call | Labelled | Repeat


@dataclass(frozen=True, slots=True)
class Compare:
    """A compare point: `operator` is one of `= <> > < >= <=`; the value holds no dice."""

    operator: str
    value: Node
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Explode:
    """Roll once more and add; `compare` None is the highest face, `cap` the most extra rolls a die."""

    compound: bool
    penetrate: bool
    once: bool
    cap: Node | None
    compare: Compare | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Reroll:
    """Roll again until the compare point no longer holds, or once; None is the lowest face."""

    once: bool
    compare: Compare | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Unique:
    """Roll again while an earlier die shows the same face, or once."""

    once: bool
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Clamp:
    """Raise values below `limit` to it (`side` is min), or lower those above it (max)."""

    side: str
    limit: Node
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep the highest or lowest `count`."""

    highest: bool
    count: Node
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Drop:
    """Drop the highest or lowest `count`; `bare` was spelled `d`, which may not drop all."""

    highest: bool
    count: Node
    bare: bool = field(compare=False)
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Count:
    """Count dice for which the compare point holds, as successes or as failures, `weight` each."""

    failure: bool
    compare: Compare
    weight: int
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark dice as critical or fumble; None is the highest or the lowest face. Never changes the total."""

    fumble: bool
    compare: Compare | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Sort:
    """Show the dice in ascending or descending order. Never changes the total."""

    descending: bool
    span: Span = field(compare=False)


Modifier = Explode | Reroll | Unique | Clamp | Keep | Drop | Count | Mark | Sort


@dataclass(frozen=True, slots=True)
class ReadingWarning:
    """Another dialect would read this stretch differently, or it is likely not what was meant."""

    code: str
    message: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A parsed text. `nodes` counts all nodes; `variables` are the names used, in order of first use."""

    text: str
    dialect: Dialect
    root: Node
    warnings: tuple[ReadingWarning, ...]
    comment: str
    canonical: str
    canonical_dialect: Dialect
    nodes: int
    variables: tuple[str, ...]


def children(node: Node) -> Iterator[Node]:
    """Yield the nodes directly inside a node, left to right, those of its modifiers included."""
    match node:
        case Dice(count, sides):
            yield count
            if not isinstance(sides, Faces):
                yield sides
        case Group(elements):
            yield from elements
        case Modified(source, modifiers):
            yield source
            for modifier in modifiers:
                yield from operands(modifier)
        case Negate(inner) | Labelled(inner) | Repeat(_, inner):
            yield inner
        case Chain(inners) | Call(_, inners):
            yield from inners
        case Power(base, exponent):
            yield base
            yield exponent
        case Number() | Variable():
            pass


def operands(modifier: Modifier) -> Iterator[Node]:
    """Yield the expressions inside a modifier, left to right."""
    match modifier:
        case Keep(_, count) | Drop(_, count):
            yield count
        case Clamp(_, limit):
            yield limit
        case Explode(cap=cap, compare=compare):
            if cap is not None:
                yield cap
            if compare is not None:
                yield compare.value
        case Reroll(compare=compare) | Mark(compare=compare) | Count(compare=compare):
            if compare is not None:
                yield compare.value
        case Unique() | Sort():
            pass


def has_dice(node: Node) -> bool:
    """Tell whether evaluating a node can draw."""
    return isinstance(node, Dice) or any(has_dice(child) for child in children(node))
