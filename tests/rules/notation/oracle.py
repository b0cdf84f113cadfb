"""An independent reading of STANDARD: a lark grammar (Earley), which shares no code with the parser under test.

It knows the grammar alone: limits, and which modifiers fit together, are not its business. `shape` and `shape_of`
write both readings down in the same nested tuples.
"""

from fractions import Fraction
from functools import cache
from typing import Any

from lark import Lark, Token, Transformer
from lark.exceptions import LarkError

from fairroll_rules.notation import tree as t

GRAMMAR = r"""
start: (repeat | sum) COMMENT?
repeat: WHOLE X "{" sum "}"

?sum: product (SUM_SIGN product)*
?product: signed (PRODUCT_SIGN signed)*
?signed: "+" signed | negated | power
negated: "-" signed
?power: operand | operand "^" signed -> raised

?operand: atom | operand LABEL -> labelled
?atom: NUMBER -> number | VARIABLE -> variable | "(" sum ")" | dice | group | reopened | call
call: FUNCTION "(" sum ("," sum)* ")"

dice: count? D sides mods | count? NAMED mods
?count: NUMBER -> number | VARIABLE -> variable | "(" sum ")"
?sides: NUMBER -> number | VARIABLE -> variable | "(" sum ")" | "{" face ("," face)* "}" -> faces
face: MINUS? WHOLE
group: "{" sum ("," sum)* "}" mods
reopened: "(" pool ")" first_mod mods
?pool: dice | group | reopened | "(" pool ")" | "+" pool

// A compare point after a bare explosion, reroll or mark belongs to it, so no success may follow one.
mods: _mods
_mods: | closed _mods | bare _after_bare
_after_bare: | closed_but_success _mods | bare _after_bare
first_mod: first_closed | first_bare
?first_closed: success | argued | unique | clamp | keep | drop_named | failure | sort
?first_bare: bare
?closed: success | closed_but_success
?closed_but_success: argued | unique | clamp | keep | drop | failure | sort
argued: EXPLODE cap? point | REROLL point | MARK point
bare: EXPLODE cap? | REROLL | MARK
cap: "~" factor
?point: compare | factor -> equals
compare: COMPARE factor
success: compare weight?
failure: F point weight?
weight: ":" WHOLE
unique: UNIQUE
clamp: CLAMP factor
keep: KEEP factor?
?drop: drop_named | DROP_BARE factor? -> drop_named
drop_named: DROP factor?
sort: SORT
?factor: NUMBER -> number | VARIABLE -> variable | "(" sum ")"

COMMENT: /#(.|\n)*/
SUM_SIGN: /[-+]/
PRODUCT_SIGN: /[*\/%]/
MINUS: "-"
X: /x/i
D: /d(?![a-z%])/i
NAMED: /d%|df(\.1(?![0-9]))?(?!\.1[0-9])/i
F: /f/i
NUMBER: /[0-9]+(\.[0-9]+)?/
WHOLE: /[0-9]+(?![0-9.])/
VARIABLE: /@([^\W\d]\w*(\.\w+)*|\{\s*[^{}\s][^{}]*\})/
LABEL: /\[\s*[^\[\]\s][^\[\]]*\]/
FUNCTION: /(floor|ceil|round|abs|min|max)/i
COMPARE: />=|<=|<>|[<>=]/
EXPLODE: /!!p?o?|!(?!!)p?o?|xo|x(?!o)/i
REROLL: /rr|ro|r(?![ro])/i
MARK: /cs|cf/i
UNIQUE: /uo|u(?!o)/i
CLAMP: /min|max/i
KEEP: /kh|kl|k(?![hl])/i
DROP: /dh|dl/i
DROP_BARE: /d(?![hl])/i
SORT: /sa|sd|s(?![ad])/i
%ignore /[ \t\r\n]+/
"""

PHASES = {
    "explode": 0,
    "reroll": 0,
    "unique": 0,
    "min": 0,
    "max": 0,
    "keep": 1,
    "drop": 1,
    "count": 2,
    "mark": 3,
    "sort": 3,
}

Shape = Any
"""Nested tuples, the first member a name."""


@cache
def _lark() -> Lark:
    return Lark(GRAMMAR, parser="earley", maybe_placeholders=False)


def shape(text: str) -> Shape | None:
    """Return how the oracle reads a text, None where it is not notation."""
    try:
        parsed = _lark().parse(text)
    except LarkError:
        return None
    return _Shapes().transform(parsed)


class _Shapes(Transformer[Token, Shape]):
    def start(self, children: list[Shape]) -> Shape:
        return children[0]

    def repeat(self, children: list[Shape]) -> Shape:
        return ("repeat", int(children[0]), children[2])

    def _chain(self, children: list[Shape]) -> Shape:
        return ("chain", tuple(children[::2]), tuple(map(str, children[1::2])))

    sum = _chain
    product = _chain

    def signed(self, children: list[Shape]) -> Shape:
        return children[0]

    def negated(self, children: list[Shape]) -> Shape:
        return ("negate", children[0])

    def raised(self, children: list[Shape]) -> Shape:
        return ("power", *children)

    def labelled(self, children: list[Shape]) -> Shape:
        return ("label", children[0], str(children[1])[1:-1].strip())

    def number(self, children: list[Shape]) -> Shape:
        return ("number", Fraction(str(children[0])))

    def variable(self, children: list[Shape]) -> Shape:
        return ("variable", str(children[0])[1:].strip("{}").strip())

    def call(self, children: list[Shape]) -> Shape:
        return ("call", str(children[0]).lower(), tuple(children[1:]))

    def face(self, children: list[Shape]) -> Shape:
        return int("".join(children))

    def faces(self, children: list[Shape]) -> Shape:
        return ("faces", tuple(children))

    def dice(self, children: list[Shape]) -> Shape:
        *front, mods = children
        at = next(index for index, each in enumerate(front) if isinstance(each, Token))
        count = front[0] if at else ("number", Fraction(1))
        named = str(front[at]).lower()
        sides = {
            "d%": ("number", Fraction(100)),
            "df": ("faces", (-1, 0, 1)),
            "df.1": ("faces", (-1, 0, 0, 0, 0, 1)),
        }.get(named) or front[at + 1]
        return _modified(("dice", count, sides), mods)

    def group(self, children: list[Shape]) -> Shape:
        return _modified(("group", tuple(children[:-1])), children[-1])

    def reopened(self, children: list[Shape]) -> Shape:
        pool, first, mods = children
        return _modified(pool, (first, *mods))

    def mods(self, children: list[Shape]) -> Shape:
        return tuple(children)

    def first_mod(self, children: list[Shape]) -> Shape:
        return children[0]

    def _opened(self, children: list[Shape]) -> Shape:
        name = str(children[0]).lower()
        cap = next((each[1] for each in children[1:] if each[0] == "cap"), None)
        point = next((each for each in children[1:] if each[0] == "compare"), None)
        if name[0] == "r":
            return ("reroll", name == "ro", point)
        if name[0] == "c":
            return ("mark", name == "cf", point)
        return ("explode", "!!" in name, "p" in name, "o" in name, cap, point)

    argued = _opened
    bare = _opened

    def cap(self, children: list[Shape]) -> Shape:
        return ("cap", children[0])

    def equals(self, children: list[Shape]) -> Shape:
        return ("compare", "=", children[0])

    def compare(self, children: list[Shape]) -> Shape:
        return ("compare", str(children[0]), children[1])

    def success(self, children: list[Shape]) -> Shape:
        return ("count", False, children[0], children[1] if len(children) > 1 else 1)

    def failure(self, children: list[Shape]) -> Shape:
        return ("count", True, children[1], children[2] if len(children) > 2 else 1)

    def weight(self, children: list[Shape]) -> Shape:
        return int(children[0])

    def unique(self, children: list[Shape]) -> Shape:
        return ("unique", str(children[0]).lower() == "uo")

    def clamp(self, children: list[Shape]) -> Shape:
        return (str(children[0]).lower(), children[1])

    def keep(self, children: list[Shape]) -> Shape:
        return ("keep", str(children[0]).lower() != "kl", *(children[1:] or [("number", Fraction(1))]))

    def drop_named(self, children: list[Shape]) -> Shape:
        return ("drop", str(children[0]).lower() == "dh", *(children[1:] or [("number", Fraction(1))]))

    def sort(self, children: list[Shape]) -> Shape:
        return ("sort", str(children[0]).lower() == "sd")


def _modified(source: Shape, mods: tuple[Shape, ...]) -> Shape:
    return ("modified", source, tuple(sorted(mods, key=lambda mod: PHASES[mod[0]]))) if mods else source


def shape_of(node: t.Node | t.Faces) -> Shape:
    """Return how the parser under test reads a text, in the oracle's words."""
    match node:
        case t.Number(value):
            return ("number", Fraction(value))
        case t.Variable(name):
            return ("variable", name)
        case t.Faces(faces):
            return ("faces", faces)
        case t.Dice(count, sides):
            return ("dice", shape_of(count), shape_of(sides))
        case t.Group(elements):
            return ("group", tuple(map(shape_of, elements)))
        case t.Modified(source, modifiers):
            return ("modified", shape_of(source), tuple(map(_modifier_shape, modifiers)))
        case t.Negate(operand):
            return ("negate", shape_of(operand))
        case t.Chain(operands, operators):
            return ("chain", tuple(map(shape_of, operands)), operators)
        case t.Power(base, exponent):
            return ("power", shape_of(base), shape_of(exponent))
        case t.Call(function, arguments):
            return ("call", function, tuple(map(shape_of, arguments)))
        case t.Labelled(inner, label):
            return ("label", shape_of(inner), label)
        case t.Repeat(times, body):
            return ("repeat", times, shape_of(body))
        case t.Pick() | t.Comparison() | t.Inline() | t.Query():
            raise AssertionError(f"STANDARD has no {node}")


def _modifier_shape(modifier: t.Modifier) -> Shape:
    match modifier:
        case t.Explode(compound, penetrate, once, cap, compare):
            return ("explode", compound, penetrate, once, None if cap is None else shape_of(cap), _point(compare))
        case t.Reroll(once, compare):
            return ("reroll", once, _point(compare))
        case t.Mark(fumble, compare):
            return ("mark", fumble, _point(compare))
        case t.Unique(once):
            return ("unique", once)
        case t.Clamp(side, limit):
            return (side, shape_of(limit))
        case t.Keep(highest, count):
            return ("keep", highest, shape_of(count))
        case t.Drop(highest, count):
            return ("drop", highest, shape_of(count))
        case t.Count(failure, compare, weight):
            return ("count", failure, _point(compare), weight)
        case t.Sort(descending):
            return ("sort", descending)
        case t.Among() | t.Sieve() | t.Tally() | t.Match():
            raise AssertionError(f"STANDARD has no {modifier}")


def _point(compare: t.Compare | None) -> Shape:
    return None if compare is None else ("compare", compare.operator, shape_of(compare.value))
