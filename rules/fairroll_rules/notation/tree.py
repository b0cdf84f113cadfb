"""The tree: what every dialect is parsed into. Nodes compare by meaning; a span points into the raw text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from fairroll_rules.errors import Span
from fairroll_rules.notation.dialects import Dialect

Exact = int | Fraction
"""An exact number: an int where it is whole."""

Bound = int | str
"""What a variable stands for: an integer, or the label of one of a query's options."""


@dataclass(frozen=True, slots=True)
class Number:
    """A literal, never negative."""

    value: Exact
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """`@name`, bound after parsing; `default` is what it is worth unbound, None where that is an error."""

    name: str
    span: Span = field(compare=False)
    default: int | None = None


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
    """`{a, b, c}`: a pool of totals. Empty, it is worth 0."""

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
    """Operands joined by operators of one precedence, applied from the left: `+ -` or `* / % rem`.

    `%` has the sign of the divisor, `rem` that of what is divided.
    """

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
class Comparison:
    """`left operator right` between totals: 1 where it holds, else 0. `operator` is as in a compare point."""

    left: Node
    operator: str
    right: Node
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Inline:
    """`[[node]]`: rolled before everything around it, the inner before the outer."""

    node: Node
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Query:
    """`?{name|label,node|..}`: one of several expressions, unbound the first.

    A variable takes the one whose label it chooses, or whose integer it is worth.
    """

    name: str
    labels: tuple[str, ...]
    options: tuple[Node, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Pick:
    """`{expression}kh3`: selects among the dice of all pools of an expression; what is dropped counts for nothing.

    The pools stand in sums, products, functions and signs, and no group does.
    """

    node: Node
    modifiers: tuple[Modifier, ...]
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


Node = (
    Number
    | Variable
    | Dice
    | Group
    | Modified
    | Pick
    | Negate
    | Chain
    | Power
    | Comparison
    | Call
    | Labelled
    | Inline
    | Query
    | Repeat
)


@dataclass(frozen=True, slots=True)
class Compare:
    """A compare point: `operator` is one of `= <> > < >= <=`; the value holds no dice."""

    operator: str
    value: Node
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Rank:
    """The `count` highest or lowest of what is left; with `others` all but those."""

    highest: bool
    count: int
    span: Span = field(compare=False)
    others: bool = False


Point = Compare | Rank
"""What chooses dice: their value, or their place among all."""


@dataclass(frozen=True, slots=True)
class Explode:
    """Roll once more and add; `compare` None is the highest face, `cap` the most extra rolls a die.

    `valued` looks at what a clamp before it made of the first roll, not at its natural face.
    """

    compound: bool
    penetrate: bool
    once: bool
    cap: Node | None
    compare: Compare | None
    span: Span = field(compare=False)
    valued: bool = False


@dataclass(frozen=True, slots=True)
class Reroll:
    """Roll again until the compare point no longer holds, or once; None is the lowest face. `valued` as in Explode."""

    once: bool
    compare: Compare | None
    span: Span = field(compare=False)
    valued: bool = False


@dataclass(frozen=True, slots=True)
class Unique:
    """Roll again while an earlier die shows the same face, or once; `compare` leaves other faces alone."""

    once: bool
    span: Span = field(compare=False)
    compare: Compare | None = None
    valued: bool = False


@dataclass(frozen=True, slots=True)
class Among:
    """Reroll or explode dice of the pool as a whole: those that any point chooses, `most` of them at most.

    A reroll falls once to each. `again` looks at the dice that an explosion brought, too. No point is the highest face
    for an explosion and the lowest for a reroll; `most` None is no bound. Dice are chosen by their values; `natural`
    by what they show, where a clamp before it makes that another number.
    """

    explode: bool
    again: bool
    points: tuple[Point, ...]
    most: int | None
    span: Span = field(compare=False)
    natural: bool = False


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
    """Drop the highest or lowest `count`; `bare` was spelled `d` in STANDARD, where that may not drop all."""

    highest: bool
    count: Node
    bare: bool = field(compare=False)
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Sieve:
    """Keep, or drop, every die that any of the points chooses; each point looks at all dice that are left."""

    keep: bool
    points: tuple[Point, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Count:
    """Count dice for which the compare point holds, as successes or as failures, `weight` each.

    A failure that is `rest` leaves a die alone that is a success; else such a die is both.
    """

    failure: bool
    compare: Compare
    weight: int
    span: Span = field(compare=False)
    rest: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """What each die counts for in place of its value; a later one overrules an earlier one.

    `cs cf even odd`: 1 where it holds, else 0. `df`: -1 where it holds, `sf`: less its value; without a compare point
    they hold for every die that is no success.
    """

    kind: str
    compare: Compare | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Match:
    """How many values at least `count` dice share, `compare` of those; only shown where not `total`."""

    total: bool
    count: int
    compare: Compare | None
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


Modifier = Explode | Reroll | Unique | Among | Clamp | Keep | Drop | Sieve | Count | Tally | Match | Mark | Sort


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
        case Pick(inner, modifiers):
            yield inner
            for modifier in modifiers:
                yield from operands(modifier)
        case Negate(inner) | Labelled(inner) | Inline(inner) | Repeat(_, inner):
            yield inner
        case Chain(inners) | Call(_, inners) | Query(_, _, inners):
            yield from inners
        case Power(first, second) | Comparison(first, _, second):
            yield first
            yield second
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
        case Reroll(compare=compare) | Mark(compare=compare) | Count(compare=compare) | Unique(compare=compare):
            if compare is not None:
                yield compare.value
        case Tally(compare=compare) | Match(compare=compare):
            if compare is not None:
                yield compare.value
        case Among(points=points) | Sieve(points=points):
            for point in points:
                if isinstance(point, Compare):
                    yield point.value
        case Sort():
            pass


def has_dice(node: Node) -> bool:
    """Tell whether evaluating a node can draw."""
    return isinstance(node, Dice) or any(has_dice(child) for child in children(node))


def never_negative(node: Node) -> bool:
    """Tell whether a node is plainly never negative: numbers, dice, and what adds, multiplies or divides those."""
    match node:
        case Number():
            return True
        case Dice(_, sides):
            return not isinstance(sides, Faces) or min(sides.faces) >= 0
        case Modified(source, modifiers):
            fine = (Keep, Drop, Sieve, Sort, Mark, Reroll, Unique, Among)
            return never_negative(source) and all(isinstance(each, fine) for each in modifiers)
        case Group(elements):
            return all(map(never_negative, elements))
        case Labelled(inner, _) | Inline(inner):
            return never_negative(inner)
        case Chain(operands, operators):
            return "-" not in operators and all(map(never_negative, operands))
        case _:
            return False
