"""The parser: a Pratt loop over operators, and one function for each kind of operand. Each docstring is grammar.

input := (repeat | expression) comment?
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TypeVar

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.notation.canonical import canonical
from fairroll_rules.notation.dialects import Dialect, Reading, reading_of
from fairroll_rules.notation.faults import LIMIT, SYNTAX, beyond, refuse
from fairroll_rules.notation.limits import MAX_CHARACTERS, MAX_DEPTH, MAX_REPEAT, MAX_TREE_NODES
from fairroll_rules.notation.modifiers import ModifierParser
from fairroll_rules.notation.tokens import Scanner
from fairroll_rules.notation.tree import (
    Call,
    Chain,
    Dice,
    Faces,
    Group,
    Labelled,
    Modified,
    Negate,
    Node,
    Number,
    Power,
    ReadingWarning,
    Repeat,
    Tree,
    Variable,
)

GRAMMAR_VERSION = 1
"""Grows with every change of what a text means; part of the key under which trees are remembered."""

FUNCTIONS = {"floor": (1, 1), "ceil": (1, 1), "round": (1, 1), "abs": (1, 1), "min": (1, 99), "max": (1, 99)}
"""Functions, and how many arguments each takes, from and to."""

FUDGE = (-1, 0, 1)
FUDGE_ONE = (-1, 0, 0, 0, 0, 1)

_N = TypeVar("_N", bound=Node)

_BARE_DROP = re.compile(r"d(?![hl])")
_REPEATS = re.compile(r"x\s*\{")
_BINDING = {"+": 10, "-": 10, "*": 20, "/": 20, "%": 20, "^": 40}
_SIGN_BINDING = 30
_REMEMBERED = 1_024


def parse(text: str, dialect: Dialect = Dialect.STANDARD) -> Tree:
    """Return the tree of a text. Variables are bound later.

    Raises:
        CheckError: with reason, span, what was expected, a hint, and the limit where one was passed.
    """
    return _remembered(text, dialect, GRAMMAR_VERSION)


@lru_cache(maxsize=_REMEMBERED)
def _remembered(text: str, dialect: Dialect, _version: int) -> Tree:
    reading = reading_of(dialect)
    if len(text) > MAX_CHARACTERS:
        raise _too_long(text, reading)
    parser = _Parser(text, reading)
    root = parser.input()
    return Tree(
        text=text,
        dialect=dialect,
        root=root,
        warnings=tuple(parser.warnings),
        comment=parser.comment,
        canonical=canonical(root),
        canonical_dialect=Dialect.STANDARD,
        nodes=parser.nodes,
        variables=tuple(dict.fromkeys(parser.variables)),
    )


def _too_long(text: str, reading: Reading) -> CheckError:
    """Return the error for a text that is too long, or for a narrower limit that its beginning passes already."""
    try:
        _Parser(text[:MAX_CHARACTERS], reading).input()
    except CheckError as error:
        if error.reason == LIMIT:
            return error
    return beyond("characters", MAX_CHARACTERS, str(len(text)), Span(MAX_CHARACTERS, len(text)))


class _Parser(ModifierParser):
    """One run over one text."""

    def __init__(self, text: str, reading: Reading) -> None:
        self.scan = Scanner(text)
        self.reading = reading
        self.warnings: list[ReadingWarning] = []
        self.variables: list[str] = []
        self.comment = ""
        self.nodes = 0
        self._depth = 0
        self._beginning = self.scan.at

    def input(self) -> Node:
        """`input := (repeat | expression) comment?`."""
        scan = self.scan
        if not scan.peek() or scan.peek() == "#":
            raise scan.unexpected("the beginning", "dice, a number or (")
        root = self.expression(0)
        self.comment = scan.comment()
        if scan.peek():
            if isinstance(root, Repeat):
                raise scan.unexpected("a repeat", "the end", hint="a repeat is the whole input; labels go inside it")
            raise self._no_operator()
        return root

    def expression(self, floor: int) -> Node:
        """`expression := signed (("+" | "-") signed | ("*" | "/" | "%") signed | "^" expression)*`."""
        scan = self.scan
        start = scan.at
        left = self.signed()
        if isinstance(left, Repeat):
            return left
        while (binding := _BINDING.get(scan.peek(), 0)) > floor:
            if binding == _BINDING["^"]:
                scan.take("^")
                with_depth = self.enter(start)
                exponent = self.expression(binding - 1)
                self._depth = with_depth
                left = self.node(Power(left, exponent, scan.since(start)))
            else:
                left = self._chain(left, start, binding)
        return left

    def _chain(self, first: Node, start: int, binding: int) -> Node:
        """`chain := expression (operator expression)+`: all of one precedence."""
        scan = self.scan
        operands, operators = [first], []
        while _BINDING.get(operator := scan.peek(), 0) == binding:
            self._refuse_double(operator)
            scan.take(operator)
            operators.append(operator)
            self._doubt_one_sided(operator)
            operands.append(self.expression(binding))
        return self.node(Chain(tuple(operands), tuple(operators), scan.since(start)))

    def signed(self) -> Node:
        """`signed := "+"* ("-" expression | operand)`: a sign binds tighter than * and looser than ^."""
        scan = self.scan
        while scan.take("+"):
            pass
        start = scan.at
        if not scan.take("-"):
            return self.operand()
        depth = self.enter(start)
        operand = self.expression(_SIGN_BINDING)
        self._depth = depth
        return self.node(Negate(operand, scan.since(start)))

    def operand(self) -> Node:
        """`operand := (number | number? dice | variable dice? | "(" expression ")" dice? | group | call) label*`."""
        scan = self.scan
        start, sign = scan.at, scan.peek()
        node: Node
        if sign.isdigit() and sign.isascii():
            node = self._after_number(start)
        elif sign == "(":
            node = self._parenthesised(start)
        elif sign == "{":
            node = self.modifiers(self._group(start), start)
        elif sign == "@":
            node = self._dice_or(self.variable(), start)
        elif name := scan.dice():
            node = self._dice(self.node(Number(1, Span(start, start))), name, start)
        else:
            node = self._call(start)
        while scan.peek() == "[" and not isinstance(node, Repeat):
            label = scan.label()
            node = self.node(Labelled(node, label, scan.since(start)))
        return node

    def _after_number(self, start: int) -> Node:
        """`number := digits dice? | digits "x" "{" expression "}"`: the latter only as the whole input."""
        scan = self.scan
        value = scan.number()
        span = scan.since(start)
        if scan.peek() == "x" and start == self._beginning:
            return self._repeat(span, start)
        return self._dice_or(self.node(Number(value, span)), start)

    def _repeat(self, span: Span, start: int) -> Node:
        """`repeat := whole "x" "{" expression "}"`: whole is 1..100."""
        scan = self.scan
        scan.take("x")
        if not scan.take("{"):
            raise scan.unexpected(f"{scan.raw[start : scan.ended()]}", "{", hint="repeat is 6x{4d6kh3}; times is *")
        given = scan.folded[span.start : span.end]
        times = int(given) if given.isdigit() else 0
        if not 1 <= times <= MAX_REPEAT:
            raise beyond("repeat", MAX_REPEAT, given, span, minimum=1)
        depth = self.enter(start)
        self.nodes += 1
        body = self.expression(0)
        self._depth = depth
        if scan.peek() == ",":
            raise scan.unexpected("the body of a repeat", "}", hint="to repeat a group, write its own braces inside")
        if not scan.take("}"):
            raise self._no_operator("}")
        return Repeat(times, body, scan.since(start))

    def _parenthesised(self, start: int) -> Node:
        """`parenthesised := "(" expression ")" (dice | modifier*)`: modifiers after a pool or a group alone."""
        scan = self.scan
        scan.take("(")
        depth = self.enter(start)
        inner = self.expression(0)
        self._depth = depth
        if scan.peek() == ",":
            raise scan.unexpected("an expression", ")", hint="a set of totals is a group: {a, b}kh1")
        if not scan.take(")"):
            raise self._no_operator(")")
        if name := scan.dice():
            return self._dice(inner, name, start)
        if _BARE_DROP.match(scan.folded, scan.at):
            # After parentheses d is always dice, so that `(4d6)d1` and `(4d6)drr` do not part ways.
            raise scan.unexpected("a count in parentheses", "d and sides", hint="to drop the lowest dice write dl")
        if isinstance(inner, (Dice, Group, Modified)):
            return self.modifiers(inner, start)
        return inner

    def _dice_or(self, node: Node, start: int) -> Node:
        """Return the dice whose count was parsed, or the node itself where no die follows."""
        name = self.scan.dice()
        return self._dice(node, name, start) if name else node

    def _dice(self, count: Node, name: str, start: int) -> Node:
        """`dice := count? ("d" (factor | faces) | "d%" | "dF" | "dF.1") modifier*`."""
        scan = self.scan
        end = scan.ended()
        at = Span(end - len(name) + 1, end)
        sides: Node | Faces
        if name == "d%":
            self.warn("d%", Span(at.start - 1, end))
            sides = self.node(Number(100, at))
        elif name == "d":
            sides = self._faces() if scan.peek() == "{" else self.factor("d", "sides", "faces in braces")
        else:
            sides = Faces(FUDGE if name == "df" else FUDGE_ONE, at)
        return self.modifiers(self.node(Dice(count, sides, scan.since(start))), start)

    def _faces(self) -> Faces:
        """`faces := "{" "-"? whole ("," "-"? whole)* "}"`: a die with these faces."""
        scan = self.scan
        start = scan.at
        scan.take("{")
        faces: list[int] = []
        while not faces or scan.take(","):
            negative = scan.take("-")
            face = scan.whole("{ or , of a die's faces")
            faces.append(-face if negative else face)
        if not scan.take("}"):
            raise scan.unexpected("a face", ",", "}")
        return Faces(tuple(faces), scan.since(start))

    def _group(self, start: int) -> Group:
        """`group := "{" expression ("," expression)* "}"`: a pool of totals."""
        scan = self.scan
        scan.take("{")
        depth = self.enter(start)
        elements = [self.expression(0)]
        while scan.take(","):
            elements.append(self.expression(0))
        self._depth = depth
        if not scan.take("}"):
            raise self._no_operator(",", "}")
        return self.node(Group(tuple(elements), scan.since(start)))

    def _call(self, start: int) -> Node:
        """`call := ("floor" | "ceil" | "round" | "abs" | "min" | "max") "(" expression ("," expression)* ")"`."""
        scan = self.scan
        name = scan.word()
        span = scan.since(start)
        if not name:
            raise scan.unexpected("an operator" if start else "the beginning", "dice, a number or (")
        if name not in FUNCTIONS:
            raise self._unknown(name, span)
        if not scan.take("("):
            raise scan.unexpected(name, "(", hint=f"{name} is a function here: {name}(..)")
        depth = self.enter(start)
        arguments = [self.expression(0)]
        while scan.take(","):
            arguments.append(self.expression(0))
        self._depth = depth
        if not scan.take(")"):
            raise self._no_operator(",", ")")
        least, most = FUNCTIONS[name]
        if not least <= len(arguments) <= most:
            raise refuse(
                "ARGUMENT_COUNT",
                f"{name} takes {least} argument, not {len(arguments)}",
                scan.since(start),
                value=str(len(arguments)),
            )
        return self.node(Call(name, tuple(arguments), scan.since(start)))

    def factor(self, after: str, *what: str) -> Node:
        """`factor := number | variable | "(" expression ")"`."""
        scan = self.scan
        start, sign = scan.at, scan.peek()
        if sign.isdigit() and sign.isascii():
            return self.node(Number(scan.number(), scan.since(start)))
        if sign == "@":
            return self.variable()
        if not scan.take("("):
            hint = "write a negative number in parentheses: (-1)" if sign == "-" else ""
            raise scan.unexpected(after, *what, hint=hint)
        depth = self.enter(start)
        inner = self.expression(0)
        self._depth = depth
        if not scan.take(")"):
            raise self._no_operator(")")
        return inner

    def variable(self) -> Variable:
        """`variable := "@" name | "@{" name "}"`."""
        start = self.scan.at
        name = self.scan.variable()
        self.variables.append(name)
        variable = Variable(name, self.scan.since(start))
        self.node(variable)
        return variable

    # Limits and errors

    def node(self, node: _N) -> _N:
        """Count a node, and refuse the one that is too many."""
        self.count_node(node.span)
        return node

    def enter(self, start: int) -> int:
        """Go one level deeper; the caller puts back the depth that is returned."""
        depth = self._depth
        if depth >= MAX_DEPTH:
            raise beyond("depth", MAX_DEPTH, str(depth + 1), Span(start, start + 1))
        self._depth = depth + 1
        return depth

    def count_node(self, span: Span) -> None:
        """Count one node of the tree."""
        self.nodes += 1
        if self.nodes > MAX_TREE_NODES:
            raise beyond("nodes", MAX_TREE_NODES, str(self.nodes), span)

    def _refuse_double(self, operator: str) -> None:
        scan = self.scan
        if not scan.folded.startswith(operator * 2, scan.at) or operator in "+-":
            return
        span = Span(scan.at, scan.at + 2)
        if operator == "/":
            raise refuse(
                "DIALECT_CONFLICT",
                "// is integer division in Avrae and a comment in rpg-dice-roller",
                span,
                hint="write floor(a / b), or # for a comment",
                value="//",
            )
        hint = "write ^ for a power" if operator == "*" else ""
        raise refuse(SYNTAX, f"expected an operand after {operator}, found {operator}", span, hint=hint)

    def _doubt_one_sided(self, operator: str) -> None:
        """Warn of `+d1`, which is likely a drop that was meant for the pool before it."""
        scan = self.scan
        following = scan.folded[scan.at + 2 : scan.at + 3]
        if operator in "+-" and scan.folded.startswith("d1", scan.at) and not following.isdigit():
            self.warn("d1", Span(scan.at, scan.at + 2))

    def _unknown(self, name: str, span: Span) -> CheckError:
        scan = self.scan
        if scan.peek() == "(":
            return refuse(
                "UNKNOWN_FUNCTION",
                f"there is no function {name[:40]}",
                span,
                expected=tuple(FUNCTIONS),
                value=name[:40],
            )
        hint = "for free text write # comment, or [label] after a part; for a variable write @name"
        return refuse(
            SYNTAX,
            f"expected dice, a number or (, found `{name[:40]}`",
            span,
            expected=("dice, a number or (",),
            hint=hint,
            value=name[:40],
        )

    def _no_operator(self, *closing: str) -> CheckError:
        """Return the error for what can follow no operand."""
        scan = self.scan
        start = scan.at
        comparison = scan.compare()
        if comparison:
            return refuse(
                "COMPARES_TOTAL",
                f"{comparison} compares the dice of a pool, not a total",
                Span(start, start + len(comparison)),
                hint="compare outside the roll, or count on the pool itself: 10d10>=8",
                value=comparison,
            )
        if _REPEATS.match(scan.folded, scan.at):
            return scan.unexpected("an operand", "an operator", hint="a repeat is the whole input: 6x{4d6kh3}")
        if scan.peek() == "!" or self.reading.modifiers.get(_longest(scan)):
            return refuse(
                "MODIFIER_MISPLACED",
                f"{scan.next_text()} must directly follow a pool or a group",
                scan.next_span(),
                expected=("an operator", *closing),
                hint="a label goes after the modifiers; a set of totals is a group: {a, b}kh1",
            )
        hint = "for free text write # comment, or [label] after a part" if scan.peek().isalpha() else ""
        return scan.unexpected("an operand", "an operator", *(closing or ("the end",)), hint=hint)


def _longest(scan: Scanner) -> str:
    at = scan.at
    modifier = scan.modifier()
    scan.at = at
    return modifier
