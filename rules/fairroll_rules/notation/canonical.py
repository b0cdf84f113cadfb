"""The one spelling of a tree in each dialect: in STANDARD it parses back to the same tree.

Other dialects do not say everything; what they cannot say is an error that names the node.
"""

from __future__ import annotations

import re

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.notation.dialects import COIN, PERCENT, Dialect, Reading, Trait, reading_of
from fairroll_rules.notation.exact import AWAY
from fairroll_rules.notation.faults import refuse
from fairroll_rules.notation.tokens import HYPHENATED
from fairroll_rules.notation.tree import (
    Among,
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
    Sort,
    Tally,
    Unique,
    Variable,
    has_dice,
    never_negative,
)

_NAMED = re.compile(r"@[a-z0-9._-]+$", re.IGNORECASE)
_PLAIN_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_NEIGHBOUR = {">": (">=", 1), ">=": (">", -1), "<": ("<=", -1), "<=": ("<", 1)}
GENERATED = (Explode, Reroll, Unique, Clamp, Among)
"""What makes the dice, before they are chosen from."""
_KEPT = {"keep": "k", "drop": "p"}


def canonical(node: Node, dialect: Dialect = Dialect.STANDARD) -> str:
    """Return the node as text.

    Raises:
        CheckError: DIALECT_CANNOT_SAY, with the span of the part that the dialect has no words for.
    """
    return _WRITERS[dialect].node(node)


class _Writer:
    """Writes trees in one dialect."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.signs: dict[str, str] = {}
        for sign, operator in reading.compares.items():
            self.signs.setdefault(operator, sign)
        self.named: dict[tuple[int, ...], str] = {}
        for name, faces in reading.dice.items():
            self.named.setdefault(faces, name)

    def node(self, node: Node) -> str:
        """Return the node as text."""
        match node:
            case Number(value):
                return _number(value)
            case Variable():
                return self._variable(node)
            case Dice(count, sides, span):
                self._plain_dice(count, sides, span)
                number = self._factor(count)
                apart = isinstance(count, Variable) and number[-1].isalnum()
                return f"({number}){self._sides(sides, span)}" if apart else f"{number}{self._sides(sides, span)}"
            case Group(elements, span):
                return self._group(elements, span)
            case Modified(source, modifiers):
                inner = self.node(source)
                apart = isinstance(source, Modified) and self._apart(source, modifiers)
                return (f"({inner})" if apart else inner) + self._modifiers(modifiers, _pool_of(source))
            case Pick(inner_node, modifiers, span):
                self._needs(self.reading.alone["select"] == "dice", "a choice among the dice of several pools", span)
                return f"{{{self.node(inner_node)}}}{self._modifiers(modifiers, None)}"
            case Negate(operand, span):
                first = operand.base if isinstance(operand, Power) else operand
                fine = not self.has(Trait.NUMBERS_ALONE_NEGATE) or isinstance(first, Number)
                self._needs(fine, "a minus sign before anything but a number", span)
                return f"-{self._wrapped(operand, Chain, Comparison)}"
            case Chain(operands, operators):
                return self._chain(operands, operators, node.span)
            case Power(base, exponent, span):
                return self._power(base, exponent, span)
            case Comparison(left, operator, right, span):
                self._needs("==" in self.reading.tokens, "a comparison of totals", span)
                spelled = {"=": "==", "<>": "!="}.get(operator, operator)
                return f"{self.node(left)} {spelled} {self._wrapped(right, Comparison)}"
            case Call(function, arguments, span):
                return self._call(function, arguments, span)
            case Labelled(inner_node, label, span):
                self._token("[", "a label", span)
                return f"{self._wrapped(inner_node, Chain, Power, Negate, Comparison)}[{label}]"
            case Inline(inner_node, span):
                self._token("[[", "a roll before all others", span)
                return f"[[{self.node(inner_node)}]]"
            case Query(name, labels, options, span):
                self._token("?{", "a query", span)
                texts = [self.node(each) for each in options]
                if len(texts) > 1:
                    pairs = zip(labels, texts, strict=True)
                    texts = [text if label == text else f"{label},{text}" for label, text in pairs]
                return f"?{{{'|'.join((name, *texts))}}}"
            case Repeat(times, body, span):
                if self.reading.repeats:
                    return f"{self.reading.repeats[0]} {times} {self.node(body)}"
                self._token("x{", "a repeat", span)
                return f"{times}x{{{self.node(body)}}}"

    def _apart(self, source: Modified, modifiers: tuple[Modifier, ...]) -> bool:
        """Tell whether parentheses part two levels: else they would be sorted, or be selectors of one modifier."""
        last, first = source.modifiers[-1], modifiers[0]
        if self.has(Trait.SELECTORS) and _keeps(last) is not None and _keeps(last) == _keeps(first):
            return True
        return not (splits(source.modifiers, modifiers) and self.has(Trait.IN_ORDER))

    def has(self, trait: Trait) -> bool:
        """Tell whether the dialect has a trait."""
        return trait in self.reading.traits

    def _needs(self, fine: object, what: str, span: Span) -> None:
        if not fine:
            raise self.unsayable(what, span)

    def unsayable(self, what: str, span: Span) -> CheckError:
        """Return the error for a part that the dialect has no words for."""
        return refuse("DIALECT_CANNOT_SAY", f"{self.reading.title} cannot say {what}", span, value=what)

    def _token(self, token: str, what: str, span: Span) -> None:
        self._needs(token in self.reading.tokens, what, span)

    def _plain_dice(self, count: Node, sides: Node | Faces, span: Span) -> None:
        parts = (count,) if isinstance(sides, Faces) else (count, sides)
        literal = all(isinstance(each, Number) and isinstance(each.value, int) for each in parts)
        self._needs(literal or not self.has(Trait.LITERAL_DICE), "a computed count or sides of dice", span)
        self._needs(not (self.has(Trait.FIXED_DICE) and any(map(has_dice, parts))), "dice in a count or sides", span)

    def _variable(self, node: Variable) -> str:
        if node.default is not None:
            self._token("?{", "a default for a variable", node.span)
            return f"?{{{node.name}|{node.default}}}"
        self._token("@", "a variable", node.span)
        name = HYPHENATED if self.has(Trait.HYPHENS) else _PLAIN_NAME
        plain = name.fullmatch(node.name) and "[[" not in self.reading.tokens
        return f"@{node.name}" if plain else f"@{{{node.name}}}"

    def _group(self, elements: tuple[Node, ...], span: Span) -> str:
        texts = [self.node(each) for each in elements]
        if "(," in self.reading.tokens:
            return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"
        self._needs(texts and "{" in self.reading.tokens, "a set", span)
        return f"{{{', '.join(texts)}}}"

    def _call(self, function: str, arguments: tuple[Node, ...], span: Span) -> str:
        away = self.has(Trait.ROUNDS_AWAY)
        if function == AWAY:
            self._needs(away, "a half rounded away from zero", span)
            function = "round"
        elif function == "round":
            self._needs(not away or never_negative(arguments[0]), "a half that is rounded up", span)
        least, most = self.reading.functions.get(function, (0, 0))
        if least <= len(arguments) <= most:
            return f"{function}({', '.join(map(self.node, arguments))})"
        inner = arguments[0]
        if not (function == "floor" and isinstance(inner, Chain) and inner.operators[-1] == "/") or (
            "//" not in self.reading.tokens or self.reading.functions
        ):
            raise self.unsayable(f"{function}()", span)
        return self._chain(inner.operands, (*inner.operators[:-1], "//"), span)

    def _power(self, base: Node, exponent: Node, span: Span) -> str:
        if "pow" in self.reading.functions and not {"^", "**"} & self.reading.tokens:
            return f"pow({self.node(base)}, {self.node(exponent)})"
        self._needs({"^", "**"} & self.reading.tokens, "a power", span)
        sign = "^" if "^" in self.reading.tokens else "**"
        return f"{self._wrapped(base, Chain, Power, Negate, Comparison)}{sign}{self._wrapped(exponent, Chain)}"

    def _wrapped(self, node: Node, *kinds: type[Node]) -> str:
        text = self.node(node)
        return f"({text})" if isinstance(node, kinds) else text

    def _chain(self, operands: tuple[Node, ...], operators: tuple[str, ...], span: Span) -> str:
        sums = operators[0] in "+-"
        parts: list[str] = []
        for operator, operand in zip(("", *operators), operands, strict=True):
            if operator == "rem":
                self._needs(self.has(Trait.REMAINDER), "a remainder with the sign of what is divided", span)
            if operator == "%" and self.has(Trait.REMAINDER):
                fine = "-" not in operators and all(map(never_negative, operands))
                self._needs(fine, "a remainder with the sign of the divisor", span)
            looser = isinstance(operand, Comparison) or (
                isinstance(operand, Chain) and (sums <= (operand.operators[0] in "+-"))
            )
            # A percent sign before a minus sign is a hundredth where minus signs belong to numbers.
            looser |= operator == "%" and isinstance(operand, Negate) and self.has(Trait.NUMBERS_ALONE_NEGATE)
            text = self.node(operand)
            joined = operator == "-" and self.has(Trait.HYPHENS) and _NAMED.search(parts[-1])
            sign = " - " if joined else "%" if operator == "rem" else operator
            parts += [sign, f"({text})" if looser else text]
        return "".join(parts)

    def _factor(self, node: Node) -> str:
        match node:
            case Number(value):
                return _number(value)
            case Variable(name, _, None) if "@" in self.reading.tokens and "{" in self.reading.tokens:
                plain = self.reading.tokens.isdisjoint(("d{", "[["))
                return self.node(node) if plain else f"@{{{name}}}"
            case Variable() | Inline() | Query():
                return self.node(node)
            case Negate(Number(value)) if self.has(Trait.NUMBERS_ALONE_NEGATE):
                return f"-{_number(value)}"
            case _:
                return f"({self.node(node)})"

    def _sides(self, sides: Node | Faces, span: Span) -> str:
        if not isinstance(sides, Faces):
            return f"d{self._factor(sides)}"
        name = self.named.get(sides.faces)
        if name is not None and sides.faces != PERCENT:
            return name.replace("f", "F")
        self._token("d{", "a die with faces of its own", span)
        return f"d{{{','.join(map(str, sides.faces))}}}"

    # Modifiers

    def _modifiers(self, modifiers: tuple[Modifier, ...], dice: Dice | None) -> str:
        """Write modifiers so that each is read as itself: what may have a compare point would swallow a success."""
        ordered = list(modifiers)
        first = next((index for index, each in enumerate(ordered) if isinstance(each, Count)), 0)
        before = ordered[first - 1] if first else None
        if isinstance(before, (Explode, Reroll, Unique)) and before.compare is None and not self.has(Trait.TALLIES):
            counts = [each for each in ordered if isinstance(each, Count)]
            ordered = counts + [each for each in ordered if not isinstance(each, Count)]
        several = sum([isinstance(each, Count) for each in ordered]) > 1
        text = ""
        for modifier in ordered:
            spelled = self._modifier(modifier, dice)
            if several and isinstance(modifier, Count) and self.has(Trait.TALLIES):
                # Of several `cs` the last one would hold; bare compare points add up.
                spelled = self._point(modifier.compare, dice, bare=False)
            text += f" {spelled}" if text.endswith("!") and spelled.startswith("!") else spelled
        return text

    def _modifier(self, modifier: Modifier, dice: Dice | None) -> str:
        match modifier:
            case Explode():
                return self._explode(modifier, dice)
            case Reroll(once, compare, span, valued):
                self._needs(valued <= self.has(Trait.BY_VALUE), "a reroll of a clamped value", span)
                own = "ro" if once else "rr"
                return f"{self._own(own, 'a reroll', span)}{self._point_or_face(compare, dice, 'rr', span)}"
            case Unique(once, span, compare, valued):
                self._needs(valued <= self.has(Trait.BY_VALUE), "unique values after a clamp", span)
                self._needs(compare is None or "!=" in self.reading.compares, "unique with a compare point", span)
                return f"{self._own('uo' if once else 'u', 'unique dice', span)}{self._point(compare, dice)}"
            case Among():
                return self._among(modifier, dice)
            case Clamp(side, limit, span):
                return f"{self._own(side, 'a clamp', span)}{self._factor(limit)}"
            case Keep(highest, count, span) | Drop(highest, count, span=span):
                return self._ranked(modifier, highest=highest, count=count, span=span)
            case Sieve(keep, points, span):
                return self._sieve(points, dice, span, keep=keep)
            case Count(failure, compare, weight, span, rest):
                self._needs(not rest or self.has(Trait.SUCCESS_FIRST), "failures among dice that are no success", span)
                return self._count(compare, weight, dice, span, failure=failure)
            case Tally(kind, compare, span):
                self._needs(self.has(Trait.TALLIES), f"what {kind} counts", span)
                if kind == "cs" and (call := called(dice, compare)):
                    return call
                return f"{kind}{self._point(compare, dice)}"
            case Match(total, count, compare, span):
                name = self._own("mt" if total else "m", "matching dice", span)
                return f"{name}{count if count > 2 else ''}{self._point(compare, dice, bare=False)}"
            case Mark(fumble, compare, span):
                name = self._own("cf" if fumble else "cs", "a mark that counts nothing", span)
                return f"{name}{self._point(compare, dice)}"
            case Sort(descending, span):
                return self._own("sd" if descending else "sa", "sorted dice", span)

    def _own(self, own: str, what: str, span: Span) -> str:
        """Return how the dialect spells a modifier: its own name where it has that."""
        spellings = [spelling for spelling, name in self.reading.modifiers.items() if name == own]
        self._needs(spellings, what, span)
        return own if own in spellings else spellings[0]

    def _explode(self, modifier: Explode, dice: Dice | None) -> str:
        span = modifier.span
        self._needs(modifier.valued <= self.has(Trait.BY_VALUE), "an explosion of a clamped value", span)
        name = "!!" if modifier.compound else "!"
        name += "p" * modifier.penetrate + "o" * modifier.once
        if name not in self.reading.modifiers:
            name = {"!": self._own("!", "an explosion", span), "!o": "xo"}.get(name, name)
            kinds = {"compounds": modifier.compound, "penetrates": modifier.penetrate, "happens once": modifier.once}
            what = f"an explosion that {' and '.join([kind for kind, holds in kinds.items() if holds])}"
            self._needs(self.reading.modifiers.get(name) == "!", what, span)
        most = ""
        if modifier.cap is not None:
            self._token("~", "a cap on the explosions of a die", span)
            most = f"~{self._factor(modifier.cap)}"
        # After a cap a bare number would be read as more of it.
        return f"{name}{most}{self._point_or_face(modifier.compare, dice, '!', span, bare=not most)}"

    def _among(self, modifier: Among, dice: Dice | None) -> str:
        span, points = modifier.span, modifier.points
        if self.has(Trait.SELECTORS):
            once = modifier.explode and not modifier.again and modifier.most == 1
            known = once or (modifier.most is None and modifier.explode == modifier.again)
            self._needs(known and points, "a bound on the dice that are rolled again", span)
            name = "ra" if once else "e" if modifier.explode else "ro"
            return "".join([name + self._selector(each, dice) for each in points])
        compare = points[0] if len(points) == 1 else None
        fine = self.has(Trait.AT_MOST) and isinstance(compare, Compare) and modifier.most is not None
        self._needs(fine, "dice of the pool chosen to be rolled again", span)
        name = ("x" if modifier.again else "xo") if modifier.explode else ("rr" if modifier.again else "r")
        point = self._point(compare if isinstance(compare, Compare) else None, dice, bare=False)
        return f"{name}{modifier.most}{point}"

    def _ranked(self, modifier: Modifier, *, highest: bool, count: Node, span: Span) -> str:
        keep = isinstance(modifier, Keep)
        end = "h" if highest else "l"
        if self.has(Trait.SELECTORS) or self.has(Trait.COUNTS_WRITTEN):
            self._needs(isinstance(count, Number), "a computed number of dice to keep", span)
        name = _KEPT["keep" if keep else "drop"] if self.has(Trait.SELECTORS) else "k" if keep else "d"
        return f"{name}{end}{self._factor(count)}"

    def _sieve(self, points: tuple[Point, ...], dice: Dice | None, span: Span, *, keep: bool) -> str:
        if self.has(Trait.SELECTORS):
            name = _KEPT["keep" if keep else "drop"]
            return "".join([name + self._selector(each, dice) for each in points])
        ranks = [each for each in points if isinstance(each, Rank)]
        fine = self.has(Trait.WHOLE_POOL) and not keep and len(ranks) == len(points)
        self._needs(fine, "a choice of dice by value, or by several places", span)
        return "".join([f"{'k' if each.others else 'd'}{'h' if each.highest else 'l'}{each.count}" for each in ranks])

    def _selector(self, point: Point, dice: Dice | None) -> str:
        if isinstance(point, Rank):
            self._needs(not point.others, "all but some dice", point.span)
            return f"{'h' if point.highest else 'l'}{point.count}"
        return self._point(point, dice)

    def _count(self, compare: Compare, weight: int, dice: Dice | None, span: Span, *, failure: bool) -> str:
        if self.has(Trait.TALLIES):
            self._needs(not failure and weight == 1, "failures beside successes, or weights", span)
            if call := called(dice, compare):
                return call
            return f"cs{self._point(compare, dice)}"
        self._needs("f" in self.reading.modifiers, "successes", span)
        if weight > 1:
            self._token(":", "a weight", span)
        bare = failure and self.has(Trait.BARE_POINT)
        return f"{'f' * failure}{self._point(compare, dice, bare=bare)}{f':{weight}' if weight > 1 else ''}"

    def _point_or_face(
        self, compare: Compare | None, dice: Dice | None, own: str, span: Span, *, bare: bool = True
    ) -> str:
        """Write a compare point; where the dialect has no default for it, the face that the default is."""
        if compare is None and self.has(Trait.SELECTORS):
            sides = dice.sides if dice else None
            face: Exact | None = None
            if isinstance(sides, Faces):
                face = max(sides.faces) if own == "!" else min(sides.faces)
            elif own != "!":
                face = 1
            elif isinstance(sides, Number):
                face = sides.value
            if face is None or face < 0:
                raise self.unsayable("the highest face of dice whose sides vary", span)
            return _number(face)
        return self._point(compare, dice, bare=bare)

    def _point(self, compare: Compare | None, dice: Dice | None, *, bare: bool = True) -> str:
        if compare is None:
            return ""
        operator, value = compare.operator, compare.value
        if operator == "=" and bare and self.has(Trait.BARE_POINT):
            return self._factor(value)
        sign = self.signs.get(operator)
        if sign is None and operator in _NEIGHBOUR and dice is not None:
            # Dice show whole numbers: at least 5 is more than 4.
            operator, step = _NEIGHBOUR[operator]
            sign = self.signs.get(operator)
            if sign and isinstance(value, Number) and isinstance(value.value, int) and value.value + step >= 0:
                return f"{sign}{value.value + step}"
            sign = None
        if sign is None:
            raise self.unsayable(f"the compare sign {compare.operator}", compare.span)
        if isinstance(value, (Number, Negate)) or not self.has(Trait.SELECTORS):
            return f"{sign}{self._factor(value)}"
        raise self.unsayable("a computed compare point", compare.span)


def splits(inner: tuple[Modifier, ...], outer: tuple[Modifier, ...]) -> bool:
    """Tell whether modifiers that are applied as written are two levels without parentheses, too."""
    last, first = inner[-1], outer[0]
    rolled = isinstance(first, GENERATED) and any(not isinstance(each, GENERATED) for each in inner)
    return rolled or isinstance(last, Among) or isinstance(first, Among)


def _number(value: Exact) -> str:
    if isinstance(value, int):
        return str(value)
    # A literal: its denominator divides a power of ten.
    places = 0
    while (value * 10**places).denominator > 1:
        places += 1
    whole, fraction = divmod(int(value * 10**places), 10**places)
    return f"{whole}.{fraction:0{places}}"


def called(dice: Dice | None, compare: Compare | None) -> str:
    """Return how coins are called, `c1`; the empty string for other dice and for what is no call."""
    coins = dice is not None and isinstance(dice.sides, Faces) and dice.sides.faces == COIN
    match compare:
        case Compare("=", Number(value)) if coins and value in COIN:
            return f"c{value}"
        case _:
            return ""


def _keeps(modifier: Modifier) -> bool | None:
    """Return whether a selection keeps, None for every other modifier."""
    match modifier:
        case Keep():
            return True
        case Drop():
            return False
        case Sieve(keep):
            return keep
        case _:
            return None


def _pool_of(source: Dice | Group | Modified) -> Dice | None:
    while isinstance(source, Modified):
        source = source.source
    return source if isinstance(source, Dice) else None


_WRITERS = {dialect: _Writer(reading_of(dialect)) for dialect in Dialect}


def shown(value: Exact) -> str:
    """Return an exact number as `p` or `p/q`."""
    if value.denominator == 1:
        return str(value.numerator)
    return f"{value.numerator}/{value.denominator}"
