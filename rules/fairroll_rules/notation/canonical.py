"""The one spelling of a tree in STANDARD, which parses back to the same tree."""

from __future__ import annotations

import re

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
    Modified,
    Modifier,
    Negate,
    Node,
    Number,
    Power,
    Repeat,
    Reroll,
    Sort,
    Unique,
    Variable,
)

_PLAIN_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_NAMED_FACES = {(-1, 0, 1): "dF", (-1, 0, 0, 0, 0, 1): "dF.1"}


def canonical(node: Node) -> str:
    """Return the node as text."""
    match node:
        case Number(value):
            return _number(value)
        case Variable(name):
            return f"@{name}" if _PLAIN_NAME.fullmatch(name) else f"@{{{name}}}"
        case Dice(count, sides):
            return f"{_factor(count)}{_sides(sides)}"
        case Group(elements):
            return f"{{{', '.join(map(canonical, elements))}}}"
        case Modified(source, modifiers):
            inner = canonical(source)
            return (f"({inner})" if isinstance(source, Modified) else inner) + _modifiers(modifiers)
        case Negate(operand):
            return f"-{_wrapped(operand, Chain)}"
        case Chain(operands, operators):
            return _chain(operands, operators)
        case Power(base, exponent):
            return f"{_wrapped(base, Chain, Power, Negate)}^{_wrapped(exponent, Chain)}"
        case Call(function, arguments):
            return f"{function}({', '.join(map(canonical, arguments))})"
        case Labelled(inner_node, label):
            return f"{_wrapped(inner_node, Chain, Power, Negate)}[{label}]"
        case Repeat(times, body):
            return f"{times}x{{{canonical(body)}}}"


def _wrapped(node: Node, *kinds: type[Node]) -> str:
    text = canonical(node)
    return f"({text})" if isinstance(node, kinds) else text


def _chain(operands: tuple[Node, ...], operators: tuple[str, ...]) -> str:
    sums = operators[0] in "+-"
    parts: list[str] = []
    for operator, operand in zip(("", *operators), operands, strict=True):
        looser = isinstance(operand, Chain) and (sums <= (operand.operators[0] in "+-"))
        text = canonical(operand)
        parts += [operator, f"({text})" if looser else text]
    return "".join(parts)


def _factor(node: Node) -> str:
    match node:
        case Number(value):
            return _number(value)
        case Variable(name):
            return f"@{{{name}}}"
        case _:
            return f"({canonical(node)})"


def _number(value: Exact) -> str:
    if isinstance(value, int):
        return str(value)
    # A literal: its denominator divides a power of ten.
    places = 0
    while (value * 10**places).denominator > 1:
        places += 1
    whole, fraction = divmod(int(value * 10**places), 10**places)
    return f"{whole}.{fraction:0{places}}"


def _sides(sides: Node | Faces) -> str:
    if isinstance(sides, Faces):
        return _NAMED_FACES.get(sides.faces) or f"d{{{','.join(map(str, sides.faces))}}}"
    return f"d{_factor(sides)}"


def _modifiers(modifiers: tuple[Modifier, ...]) -> str:
    """Write modifiers so that each is read as itself: a bare explosion would swallow a success right behind it."""
    ordered = list(modifiers)
    first = next((index for index, each in enumerate(ordered) if isinstance(each, Count)), 0)
    if first and isinstance(before := ordered[first - 1], (Explode, Reroll)) and before.compare is None:
        counts = [each for each in ordered if isinstance(each, Count)]
        ordered = counts + [each for each in ordered if not isinstance(each, Count)]
    text = ""
    for modifier in ordered:
        spelled = _modifier(modifier)
        text += f" {spelled}" if text.endswith("!") and spelled.startswith("!") else spelled
    return text


def _modifier(modifier: Modifier) -> str:
    match modifier:
        case Explode(compound, penetrate, once, cap, compare):
            sign = "!!" if compound else "!"
            most = "" if cap is None else f"~{_factor(cap)}"
            # After a cap a bare number would be read as more of it.
            point = _point(compare, bare=not most)
            return f"{sign}{'p' * penetrate}{'o' * once}{most}{point}"
        case Reroll(once, compare):
            return f"{'ro' if once else 'rr'}{_point(compare)}"
        case Unique(once):
            return "uo" if once else "u"
        case Clamp(side, limit):
            return f"{side}{_factor(limit)}"
        case Keep(highest, count):
            return f"k{'h' if highest else 'l'}{_factor(count)}"
        case Drop(highest, count):
            return f"d{'h' if highest else 'l'}{_factor(count)}"
        case Count(failure, compare, weight):
            return f"{'f' * failure}{_point(compare, bare=failure)}{f':{weight}' if weight > 1 else ''}"
        case Mark(fumble, compare):
            return f"{'cf' if fumble else 'cs'}{_point(compare)}"
        case Sort(descending):
            return "sd" if descending else "sa"


def _point(compare: Compare | None, *, bare: bool = True) -> str:
    if compare is None:
        return ""
    operator = "" if bare and compare.operator == "=" else compare.operator
    return f"{operator}{_factor(compare.value)}"


def shown(value: Exact) -> str:
    """Return an exact number as `p` or `p/q`."""
    if value.denominator == 1:
        return str(value.numerator)
    return f"{value.numerator}/{value.denominator}"
