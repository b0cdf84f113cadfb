"""The parser: a Pratt loop over operators, and one function for each kind of operand. Each docstring is grammar.

input := (repeat | expression) comment?
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TypeVar

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.limits import MAX_POOL
from fairroll_rules.notation.chat import COMMAND, Spoken, no_roll, require_one, spoken
from fairroll_rules.notation.dialects import INEXACT, PERCENT, TABLE, Dialect, Reading, Trait, knowing, words_of
from fairroll_rules.notation.exact import AWAY
from fairroll_rules.notation.faults import FREE, SYNTAX, beyond, refuse
from fairroll_rules.notation.inlines import with_advantage, without_first_inline
from fairroll_rules.notation.limits import MAX_DEPTH, MAX_REPEAT, MAX_TREE_NODES
from fairroll_rules.notation.modifiers import ModifierParser, settled, with_margin
from fairroll_rules.notation.picking import of_one
from fairroll_rules.notation.tokens import Scanner
from fairroll_rules.notation.tree import (
    Call,
    Chain,
    Comparison,
    Dice,
    Drop,
    Faces,
    Group,
    Inline,
    Keep,
    Labelled,
    Modified,
    Negate,
    Node,
    Number,
    Power,
    Query,
    ReadingWarning,
    Repeat,
    Sieve,
    Variable,
    has_dice,
    never_negative,
)

_N = TypeVar("_N", bound=Node)

_BARE_DROP = re.compile(r"d(?![hl])")
_REPEATS = re.compile(r"x\s*\{")
_BINDING = {"+": 10, "-": 10, "*": 20, "/": 20, "%": 20, "^": 40}
_COMPARING = 5
_SIGN_BINDING = 30
_COMPARISONS = {"==": "=", ">=": ">=", "<=": "<=", "!=": "<>", ">": ">", "<": "<"}
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,10}")
_ESCAPED = re.compile(r"&(?:amp;)*#x?[0-9a-f]+;")
_NUMBERED = re.compile(r"[a-z]+[0-9][a-z0-9]*(?=\s*\()")
_ENRICHER = re.compile(
    r"(?:@(?:uuid|check|damage|template|localize|embed|compendium|actor|item|journalentry|rolltable|scene|macro)"
    r"|&reference)\["
)
"""What stands in a journal for something else, which the table puts there."""
_NO_TEXT = "+-*/%^)]}<>=!{["


class Parser(ModifierParser):
    """One run over one text."""

    def __init__(self, text: str, reading: Reading) -> None:
        self.scan = Scanner(text, reading)
        self.reading = reading
        self.warnings: list[ReadingWarning] = []
        self.variables: list[str] = []
        self.comment = ""
        self.free = len(text) + 1
        """Where text begins that stands behind the roll and is free; beyond the end where none does."""
        self.nodes = 0
        self._depth = 0
        self._asked: dict[str, Query | Variable] = {}
        self._beginning = self.scan.at

    def input(self) -> Node:
        """`input := command? (repeat | expression) comment?`, or a message with one roll between `[[` and `]]`."""
        scan = self.scan
        message = spoken(scan.raw, scan.folded, self.reading)
        if message is not None:
            return self._spoken(message)
        if (times := self._repeated()) is not None:
            root: Node = self._body(times, scan.at)
        else:
            self._command()
            self._beginning = scan.at
            if not scan.peek() or scan.peek() == "#":
                macro = scan.peek() and "?{" in self.reading.tokens
                hint = "write what the macro says in its place" if macro else ""
                raise scan.unexpected("the beginning", "dice, a number or (", hint=hint)
            root = self.expression(0)
        if scan.peek() == "#" and "#" in self.reading.tokens:
            self.comment = scan.comment()
        elif scan.peek() and self.has(Trait.FREE_TEXT) and scan.spaced() and scan.peek() not in _NO_TEXT:
            self._refuse_filled_in()
            self._require_one()
            self.free = scan.at
            self.comment = scan.rest(scan.peek() == "\\").lstrip("# \t")
        if scan.peek():
            if isinstance(root, Repeat):
                raise scan.unexpected("a repeat", "the end", hint="a repeat is the whole input; labels go inside it")
            raise self._no_operator()
        if scan.advantage:
            root = with_advantage(root, highest=scan.advantage == "adv")
        if scan.comments:
            self.comment = "; ".join(filter(None, [*scan.comments, self.comment]))
        return without_first_inline(root)

    def _command(self) -> None:
        """Take what stands before a roll in a chat window."""
        scan = self.scan
        for command in self.reading.commands:
            if scan.ahead(command) and scan.folded[scan.at + len(command) :][:1].isspace():
                scan.take(command)
                return
        found = COMMAND.match(scan.folded, scan.at)
        if found and self.reading.commands:
            raise no_roll(found, self.reading)

    def _spoken(self, message: Spoken) -> Node:
        """`message := text "[[" command? expression ("#" text)? "]]" text`."""
        scan = self.scan
        scan.at = scan.token_end = message.start
        scan.space()
        self._command()
        self._beginning = scan.at
        root = self.expression(0)
        self._flag()
        said = [message.said]
        if scan.peek() == "#" and "#" in self.reading.tokens:
            said.append(scan.raw[scan.at + 1 : message.end].strip())
        elif scan.at < message.end:
            raise self._no_operator("]]")
        self.comment = " ".join(filter(None, said))
        return without_first_inline(root)

    def _repeated(self) -> tuple[int, Span] | None:
        """`repeated := ("!rr" | "!multiroll") whole`: 1..100, None where no such command comes first."""
        scan = self.scan
        for command in self.reading.repeats:
            if scan.ahead(f"{command} "):
                scan.take(command)
                at = scan.at
                times = scan.whole(command), scan.since(at)
                if not scan.spaced():
                    raise scan.unexpected("a number of rolls", "a space and a roll", hint=f"write {command} 3 1d20")
                return times
        return None

    def _require_one(self) -> None:
        """Refuse a second roll between `[[` and `]]` behind a roll."""
        if self.reading.speech is not None:
            require_one(self.scan.folded, self.scan.raw, self.scan.at)

    def _refuse_filled_in(self) -> None:
        """Refuse what a chat window fills in before it rolls, where no operator joins it to the roll."""
        scan = self.scan
        for sign in ("?{", "@{", "%{"):
            if scan.ahead(sign) and "?{" in self.reading.tokens:
                raise scan.unexpected("a roll", "an operator", hint=f"write an operator before it: + {sign}..}}")

    def expression(self, floor: int) -> Node:
        """`expression := signed (("+" | "-") signed | ("*" | "/" | "%") signed | "^" expression)*`."""
        scan = self.scan
        start = scan.at
        left = self.signed()
        if isinstance(left, Repeat):
            return left
        while True:
            sign, operator, binding = self._operator()
            if binding <= floor:
                return left
            if binding == _BINDING["^"]:
                scan.take(sign)
                with_depth = self.enter(start)
                exponent = self.expression(binding - 1)
                self._depth = with_depth
                left = self.node(Power(left, exponent, scan.since(start)))
            elif binding == _COMPARING:
                self.warn("total", Span(scan.at, scan.at + len(sign)))
                scan.take(sign)
                right = self.expression(binding)
                left = self.node(Comparison(left, operator, right, scan.since(start)))
            else:
                left = self._chain(left, start, binding)

    def _operator(self) -> tuple[str, str, int]:
        """`operator := "+" | "-" | "*" | "/" | "//" | "%" | "^" | "**" | "==" | ..`: sign, name and binding."""
        scan, tokens = self.scan, self.reading.tokens
        sign = scan.peek()
        if sign == "*" and scan.ahead("**") and "**" in tokens:
            return "**", "^", _BINDING["^"]
        if sign == "/" and scan.ahead("//") and "//" in tokens:
            return "//", "//", _BINDING["/"]
        if sign == "%" and self.has(Trait.REMAINDER):
            return sign, "rem", _BINDING["%"]
        if "==" in tokens and sign and sign in "<>=!":
            for spelling, operator in _COMPARISONS.items():
                if scan.ahead(spelling):
                    return spelling, operator, _COMPARING
        if sign == "^" and "^" not in tokens:
            hint = "write **" if "**" in tokens else "write pow(a, b)" if "pow" in self.reading.functions else ""
            raise self.lacking("^", Span(scan.at, scan.at + 1), hint)
        return sign, sign, _BINDING.get(sign, 0)

    def _chain(self, first: Node, start: int, binding: int) -> Node:
        """`chain := expression (operator expression)+`: all of one precedence."""
        scan = self.scan
        operands: list[Node] = [first]
        operators: list[str] = []
        while (found := self._operator())[2] == binding:
            sign, operator, _ = found
            self._refuse_double(sign)
            scan.take(sign)
            self._doubt_one_sided(operator)
            right = self.expression(binding)
            if operator == "//":
                # Integer division: what came so far is one dividend.
                quotient = self.node(Chain((*operands, right), (*operators, "/"), scan.since(start)))
                operands, operators = [self.node(Call("floor", (quotient,), scan.since(start)))], []
                continue
            if operator == "rem" and all(map(never_negative, (*operands, right))) and "-" not in operators:
                operator = "%"
            operators.append(operator)
            operands.append(right)
        return self.node(Chain(tuple(operands), tuple(operators), scan.since(start))) if operators else operands[0]

    def signed(self) -> Node:
        """`signed := "+"* ("-" expression | operand)`: a sign binds tighter than * and looser than ^."""
        scan = self.scan
        literal = self.has(Trait.NUMBERS_ALONE_NEGATE)
        if literal and scan.peek() == "+":
            raise scan.unexpected("an operator" if scan.at else "the beginning", "dice, a number or (")
        while scan.take("+"):
            pass
        start = scan.at
        if not scan.take("-"):
            return self.operand()
        if literal and not scan.peek().isdigit():
            raise scan.unexpected("-", "a number", hint="write 0 - (..)")
        depth = self.enter(start)
        operand = self.expression(_SIGN_BINDING)
        self._depth = depth
        if literal and isinstance(operand, (Dice, Modified)):
            raise refuse(SYNTAX, "a minus sign stands before a number, not before dice", scan.since(start))
        return self.node(Negate(operand, scan.since(start)))

    def operand(self) -> Node:
        """`operand := (number | number? dice | variable dice? | "(" expression ")" dice? | group | call) label*`."""
        scan, tokens = self.scan, self.reading.tokens
        start, sign = scan.at, scan.peek()
        node: Node
        if sign.isdigit() and sign.isascii():
            node = self._after_number(start)
        elif sign == "(":
            node = self._parenthesised(start)
        elif sign == "{":
            node = self._grouped(start)
        elif sign == "@":
            node = self._dice_or(self.variable(), start)
        elif sign == "[" and scan.ahead("[[") and "[[" in tokens:
            node = self._dice_or(self._inline(start), start)
        elif sign == "?" and "?{" in tokens:
            node = self._dice_or(self._query(start), start)
        elif name := scan.dice():
            node = self._dice(self.node(Number(1, Span(start, start))), name, start)
        else:
            node = self._call(start)
        while scan.peek() == "[" and not isinstance(node, Repeat):
            if scan.ahead("[["):
                self._require_one()
            label = scan.label()
            node = self.node(Labelled(node, label, scan.since(start)))
        return node

    def pooled(self, source: Dice | Group | Modified, start: int) -> Node:
        """`pooled := modifier* margin?`: a pool or group with what follows it directly."""
        node = settled(self.modifiers(source, start))
        margin, self.margin = self.margin, None
        if margin is not None:
            return self.node(with_margin(node, margin, self.scan.since(start)))
        return node

    def _grouped(self, start: int) -> Node:
        """`grouped := group modifier*`: a group of one may choose among the dice inside it."""
        if "{" not in self.reading.tokens:
            raise self.lacking("{", Span(start, start + 1), self.shown("set", "a set is written in parentheses: "))
        node = self.pooled(self._group(start), start)
        return of_one(node, self.reading, self.count_node) if isinstance(node, Modified) else node

    def _inline(self, start: int) -> Node:
        """`inline := "[[" expression "]]"`: rolled before everything around it."""
        scan = self.scan
        scan.take("[[")
        depth = self.enter(start)
        inner = self.expression(0)
        self._depth = depth
        self._flag()
        if not scan.ahead("]]"):
            raise self._no_operator("]]")
        scan.take("]]")
        return self.node(Inline(inner, scan.since(start)))

    def _flag(self) -> None:
        """`flag := ("&{" any sign "}")*`: what a table does with a roll, such as `&{tracker}`."""
        scan = self.scan
        while scan.ahead("&{") and "?{" in self.reading.tokens:
            scan.take("&{")
            end = scan.close_of("{", "}")
            if end < 0:
                raise scan.unexpected("&{", "}")
            scan.at = end
            scan.take("}")

    def _query(self, start: int) -> Node:
        """`query := "?{" name ("|" default | ("|" label ("," expression)?){2,})? "}"`: an integer is for a variable.

        Asked again by its name alone, it is the query that was asked before.
        """
        scan = self.scan
        if not scan.take("?{"):
            raise scan.unexpected("?", "{")
        end = scan.close_of("{", "}")
        if escaped := _ESCAPED.search(scan.folded, scan.at, end if end >= 0 else len(scan.folded)):
            raise refuse(
                SYNTAX,
                "an escaped sign is no part of a roll",
                Span(*escaped.span()),
                hint="write the signs themselves: | for &#124;, } for &#125;, a comma for &#44;",
                value=escaped[0],
            )
        if end < 0:
            raise refuse(SYNTAX, "expected } after a query", Span(len(scan.folded), len(scan.folded)), expected=("}",))
        name, *choices = _split(scan.raw, scan.at, end)
        span = Span(start, end + 1)
        title = scan.raw[name[0] : name[1]].strip()
        if not title:
            raise refuse(SYNTAX, "expected a name after ?{", span, expected=("a name",))
        self.variables.append(title)
        labels: list[str] = []
        places: list[tuple[int, int]] = []
        for first, last in choices:
            comma = scan.raw.find(",", first, last) if len(choices) > 1 else -1
            labels.append(scan.raw[first : last if comma < 0 else comma].strip() if len(choices) > 1 else "")
            places.append((first if comma < 0 else comma + 1, last))
        values = [scan.folded[first:last].strip() for first, last in places]
        node: Node
        if not choices and (asked := self._asked.get(title)):
            node = replace(asked, span=span)
        elif not values or (len(values) == 1 and _WHOLE_NUMBER.fullmatch(values[0])):
            node = self._asked[title] = Variable(title, span, int(values[0]) if values else None)
        else:
            depth = self.enter(start)
            whole = start == self._beginning and end + 1 == len(scan.folded.rstrip())
            options = tuple([self._option(first, last, command=whole) for first, last in places])
            self._depth = depth
            node = self._asked[title] = Query(title, tuple(labels), options, span)
        scan.at = end
        scan.take("}")
        return self.node(node)

    def _option(self, first: int, last: int, *, command: bool) -> Node:
        """`option := command? expression`: a command where the query is the whole text."""
        scan = self.scan
        scan.at = scan.token_end = first
        scan.space()
        if command:
            self._command()
        node = self.expression(0)
        if scan.at < last:
            raise self._no_operator("|", "}")
        return node

    def _after_number(self, start: int) -> Node:
        """`number := digits dice? | digits "x" "{" expression "}"`: the latter only as the whole input."""
        scan = self.scan
        value = scan.number()
        span = scan.since(start)
        if scan.peek() == "x" and start == self._beginning and "x{" in self.reading.tokens:
            return self._repeat(span, start)
        if scan.ahead("t[") and "?{" in self.reading.tokens:
            raise refuse(
                SYNTAX,
                "a rollable table stands in a campaign",
                Span(scan.at, scan.at + 1),
                expected=("d and sides", "an operator"),
                hint="roll a die with a side for each row: 1d6",
                value="t[",
            )
        return self._dice_or(self.node(Number(value, span)), start)

    def _repeat(self, span: Span, start: int) -> Node:
        """`repeat := whole "x" "{" expression "}"`: whole is 1..100."""
        scan = self.scan
        scan.take("x")
        if not scan.take("{"):
            raise scan.unexpected(f"{scan.raw[start : scan.ended()]}", "{", hint="repeat is 6x{4d6kh3}; times is *")
        given = scan.folded[span.start : span.end]
        repeat = self._body((int(given) if given.isdigit() else 0, span), start)
        if scan.peek() == ",":
            raise scan.unexpected("the body of a repeat", "}", hint="to repeat a group, write its own braces inside")
        if not scan.take("}"):
            raise self._no_operator("}")
        return Repeat(repeat.times, repeat.body, scan.since(start))

    def _body(self, times: tuple[int, Span], start: int) -> Repeat:
        """`body := expression`: what is repeated, 1..100 times."""
        number, span = times
        if not 1 <= number <= MAX_REPEAT:
            raise beyond("repeat", MAX_REPEAT, self.scan.folded[span.start : span.end], span, minimum=1)
        depth = self.enter(start)
        self.nodes += 1
        body = self.expression(0)
        self._depth = depth
        return Repeat(number, body, self.scan.since(start))

    def _parenthesised(self, start: int) -> Node:
        """`parenthesised := "(" expression ")" (dice | modifier*)`: modifiers after a pool or a group alone."""
        scan = self.scan
        sets = "(," in self.reading.tokens
        scan.take("(")
        depth = self.enter(start)
        if sets and scan.take(")"):
            self._depth = depth
            return self.node(Group((), scan.since(start)))
        inner = self.expression(0)
        if sets and scan.peek() == ",":
            inner = self._set(inner, start)
        elif scan.peek() == ",":
            raise scan.unexpected("an expression", ")", hint=self.shown("set", "a set of totals is a group: "))
        elif not scan.take(")"):
            raise self._no_operator(")")
        self._depth = depth
        if not sets and (name := scan.dice()):
            return self._dice(inner, name, start)
        if not sets and _BARE_DROP.match(scan.folded, scan.at):
            # After parentheses d is always dice, so that `(4d6)d1` and `(4d6)drr` do not part ways.
            raise scan.unexpected("a count in parentheses", "d and sides", hint="to drop the lowest dice write dl")
        if isinstance(inner, (Dice, Group, Modified)):
            chosen = self.pooled(inner, start)
            if sets:
                self._only_selects(chosen, inner)
            return chosen
        if sets:
            # What is no pool is chosen from as a whole.
            whole = Group((inner,), scan.since(start))
            chosen = self.modifiers(whole, start)
            return inner if chosen is whole else chosen
        return inner

    def _only_selects(self, node: Node, inner: Node) -> None:
        """Refuse what rolls again behind parentheses: a set is only selected from."""
        while isinstance(node, Modified) and node is not inner:
            for modifier in node.modifiers:
                if not isinstance(modifier, (Keep, Drop, Sieve)):
                    raise refuse(
                        "MODIFIER_MISPLACED",
                        "a set takes k and p only",
                        modifier.span,
                        expected=("k", "p"),
                        hint="write the modifier directly behind the dice",
                    )
            node = node.source

    def _set(self, first: Node, start: int) -> Group:
        """`set := "(" expression "," (expression ("," expression)* ","?)? ")"`: a pool of totals."""
        scan = self.scan
        elements = [first]
        while scan.take(","):
            if scan.peek() == ")":
                break
            elements.append(self.expression(0))
        if not scan.take(")"):
            raise self._no_operator(",", ")")
        return self.node(Group(tuple(elements), scan.since(start)))

    def _dice_or(self, node: Node, start: int) -> Node:
        """Return the dice whose count was parsed, or the node itself where no die follows."""
        scan = self.scan
        apart, at = scan.spaced(), scan.at
        name = scan.dice()
        if name and apart and self.has(Trait.LITERAL_DICE):
            raise refuse(
                SYNTAX,
                f"{self.reading.title} reads the number alone, and the dice behind the space as free text",
                Span(at, scan.ended()),
                expected=("an operator", "the end"),
                hint="write the dice without the space: 2d6",
            )
        return self._dice(node, name, start) if name else node

    def _dice(self, count: Node, name: str, start: int) -> Node:
        """`dice := count? ("d" (factor | faces) | "d%" | "dF" | "dF.1") modifier*`."""
        scan = self.scan
        end = scan.ended()
        at = Span(end - len(name) + 1, end)
        sides: Node | Faces
        self._simple_enough(count)
        if self.has(Trait.COUNTS_WRITTEN) and isinstance(count, Number) and not count.value:
            raise beyond("dice_per_pool", MAX_POOL, "0", count.span, minimum=1)
        if name != "d" and (faces := self.reading.dice[name]) != PERCENT:
            if name == "d%":
                self.warn("d%", Span(at.start - 1, end))
            sides = Faces(faces, at)
        elif name == "d%":
            self.warn("d%", Span(at.start - 1, end))
            sides = self.node(Number(100, at))
        elif scan.peek() == "{" and "d{" in self.reading.tokens:
            sides = self._faces()
        else:
            if self.has(Trait.LITERAL_DICE) and (scan.spaced() or not scan.peek().isdigit()):
                raise scan.unexpected("d", "sides")
            sides = self.factor("d", "sides", "faces in braces")
            self._simple_enough(sides)
        return self.pooled(self.node(Dice(count, sides, scan.since(start))), start)

    def _simple_enough(self, node: Node) -> None:
        """Refuse a count or sides that a dialect with plain dice does not compute."""
        title = self.reading.title
        if self.has(Trait.LITERAL_DICE) and not (isinstance(node, Number) and isinstance(node.value, int)):
            raise refuse(SYNTAX, f"{title} takes a whole number there", node.span, expected=("a whole number",))
        if self.has(Trait.FIXED_DICE) and has_dice(node):
            raise refuse(SYNTAX, f"{title} rolls no dice for a count or sides", node.span, expected=("a number",))

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
        self._refuse_enricher()
        if numbered := _NUMBERED.match(scan.folded, start):
            scan.at = numbered.end()
            scan.space()
            raise self._unknown(numbered[0], Span(*numbered.span()))
        name = scan.word()
        span = scan.since(start)
        if not name and scan.ahead("%{") and "?{" in self.reading.tokens:
            end = scan.close_of("{", "}")
            raise refuse(
                SYNTAX,
                "an ability stands on a character sheet",
                Span(start, start + 2),
                expected=("dice, a number or (",),
                hint="write the roll that the ability makes",
                value=scan.raw[start : max(end + 1, start + 2)],
            )
        if not name:
            raise scan.unexpected("an operator" if start else "the beginning", "dice, a number or (")
        if name not in self.reading.functions:
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
        least, most = self.reading.functions[name]
        if not least <= len(arguments) <= most:
            raise refuse(
                "ARGUMENT_COUNT",
                f"{name} takes {least} argument{'s' * (least > 1)}, not {len(arguments)}",
                scan.since(start),
                value=str(len(arguments)),
            )
        if name == "pow":
            return self.node(Power(arguments[0], arguments[1], scan.since(start)))
        if name == "round" and self.has(Trait.ROUNDS_AWAY) and not never_negative(arguments[0]):
            name = AWAY
        return self.node(Call(name, tuple(arguments), scan.since(start)))

    def factor(self, after: str, *what: str) -> Node:
        """`factor := number | variable | "(" expression ")"`."""
        scan = self.scan
        start, sign = scan.at, scan.peek()
        if sign.isdigit() and sign.isascii():
            return self.node(Number(scan.number(), scan.since(start)))
        if sign == "@":
            return self.variable()
        if sign == "[" and scan.ahead("[[") and "[[" in self.reading.tokens:
            return self._inline(start)
        if sign == "?" and "?{" in self.reading.tokens:
            return self._query(start)
        if not scan.take("("):
            fine = sign == "-" and not self.has(Trait.SELECTORS)
            hint = "write a negative number in parentheses: (-1)" if fine else ""
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
        if "@" not in self.reading.tokens:
            raise self.lacking("@", Span(start, start + 1))
        self._refuse_enricher()
        name = self.scan.variable()
        self.variables.append(name)
        variable = Variable(name, self.scan.since(start))
        if "-" in name and self.has(Trait.HYPHENS):
            self.warn("@-", variable.span)
        self.node(variable)
        return variable

    def _refuse_enricher(self) -> None:
        scan = self.scan
        enricher = _ENRICHER.match(scan.folded, scan.at) if self.has(Trait.HYPHENS) else None
        if enricher:
            raise refuse(
                SYNTAX,
                f"{scan.raw[enricher.start() : enricher.end() - 1]} stands for what a table fills in",
                Span(enricher.start(), enricher.end() - 1),
                expected=("dice, a number or (",),
                hint="write the roll that it makes",
                value=scan.raw[enricher.start() : enricher.end() - 1],
            )

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
            if self.reading is not TABLE[Dialect.STANDARD]:
                raise self.lacking("//", span, "write floor(a / b)" if self.reading.functions else "")
            raise refuse(
                "DIALECT_CONFLICT",
                "// is integer division in Avrae and a comment in rpg-dice-roller",
                span,
                hint="write floor(a / b), or # for a comment",
                value="//",
            )
        if operator == "*" and "^" not in self.reading.tokens:
            raise self.lacking("**", span, "write pow(a, b)" if "pow" in self.reading.functions else "")
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
            known = knowing(name) if any(name in reading.functions for reading in TABLE.values()) else ()
            said = f"there is no function {name[:40]}"
            if known:
                said = f"{self.reading.title} has no function {name[:40]}"
            elif name in INEXACT:
                said = f"{name} has no exact values"
            return refuse(
                "UNKNOWN_FUNCTION",
                said,
                span,
                expected=known or tuple(self.reading.functions),
                value=name[:40],
            )
        first = span.start == self._beginning
        hint = "begin with the roll: 1d20" if first else self._free_text()
        if "@" in self.reading.tokens:
            hint = f"{hint}; for a variable write @name"
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
        foreign = scan.foreign()
        if foreign and not self._known(foreign) and knowing(foreign) and not scan.spaced():
            return self.lacking(foreign, Span(start, start + len(foreign)))
        comparison = scan.compare()
        if comparison:
            return refuse(
                "COMPARES_TOTAL",
                f"{comparison} compares the dice of a pool, not a total",
                Span(start, start + len(comparison)),
                hint=f"compare outside the roll{self.shown('count', ', or count on the pool itself: ')}",
                value=comparison,
            )
        if _REPEATS.match(scan.folded, scan.at):
            return scan.unexpected("an operand", "an operator", hint="a repeat is the whole input: 6x{4d6kh3}")
        for sign in ("//", "#", "[[", "{", "~", ":"):
            if scan.ahead(sign) and sign not in self.reading.tokens and knowing(sign):
                hint = self._free_text() if sign == ":" else ""
                return self.lacking(sign, Span(start, start + len(sign)), hint)
        if scan.peek() == "!" or self.reading.modifiers.get(_longest(scan)):
            return refuse(
                "MODIFIER_MISPLACED",
                f"{scan.next_text()} must directly follow a pool or a group",
                scan.next_span(),
                expected=("an operator", *closing),
                hint=self.shown("set", "a label goes after the modifiers; a set of totals is a group: "),
            )
        hint = self._free_text() if scan.peek().isalpha() else ""
        return scan.unexpected("an operand", "an operator", *(closing or ("the end",)), hint=hint)

    def _free_text(self) -> str:
        """Return how the dialect takes free text: after a sign, or after a space."""
        behind = "write # comment" if "#" in self.reading.tokens else "leave a space before it"
        return f"{FREE}{behind}, or write [label] after a part"

    def _known(self, token: str) -> bool:
        return token in words_of(self.reading)


def _split(raw: str, first: int, last: int) -> list[tuple[int, int]]:
    """Return the places of the parts of a query: between bars that stand in no inner brackets."""
    parts: list[tuple[int, int]] = []
    depth, begin = 0, first
    for at in range(first, last):
        sign = raw[at]
        depth += (sign in "{([") - (sign in "})]")
        if sign == "|" and not depth:
            parts.append((begin, at))
            begin = at + 1
    return [*parts, (begin, last)]


def _longest(scan: Scanner) -> str:
    at, end = scan.at, scan.token_end
    modifier = scan.modifier()
    scan.at, scan.token_end = at, end
    return modifier
