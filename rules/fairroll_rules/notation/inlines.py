"""Parts of a tree that stand first: what an inline roll or an advantage word behind the roll is about."""

from __future__ import annotations

from dataclasses import replace

from fairroll_rules.notation.tree import (
    Call,
    Chain,
    Comparison,
    Dice,
    Group,
    Inline,
    Keep,
    Labelled,
    Modified,
    Negate,
    Node,
    Number,
    Power,
    children,
)


def with_advantage(node: Node, *, highest: bool) -> Node:
    """Return a roll whose leading 1d20 is rolled twice, of which the highest or lowest counts."""
    match node:
        case Dice(Number(1), Number(20), span):
            twice = replace(node, count=Number(2, node.count.span))
            return Modified(twice, (Keep(highest, Number(1, span), span),), span)
        case Modified(source):
            inside = with_advantage(source, highest=highest)
            return replace(node, source=inside) if isinstance(inside, (Dice, Group, Modified)) else node
        case Chain(operands) if operands:
            return replace(node, operands=(with_advantage(operands[0], highest=highest), *operands[1:]))
        case Comparison(left):
            return replace(node, left=with_advantage(left, highest=highest))
        case Group(elements) if elements:
            return replace(node, elements=(with_advantage(elements[0], highest=highest), *elements[1:]))
        case Call(_, arguments):
            return replace(node, arguments=(with_advantage(arguments[0], highest=highest), *arguments[1:]))
        case Negate(operand):
            return replace(node, operand=with_advantage(operand, highest=highest))
        case Labelled(inner):
            return replace(node, node=with_advantage(inner, highest=highest))
        case _:
            return node


def without_first_inline(node: Node) -> Node:
    """Return a tree in which an inline roll that is rolled first anyhow is what stands in it."""
    match node:
        case Inline(inner):
            return without_first_inline(inner)
        case Dice(count):
            return replace(node, count=without_first_inline(count))
        case Modified(source):
            inside = without_first_inline(source)
            return replace(node, source=inside) if isinstance(inside, (Dice, Group, Modified)) else node
        case Chain(operands) if not any(map(has_inline, operands[1:])):
            return replace(node, operands=(without_first_inline(operands[0]), *operands[1:]))
        case Call(_, arguments) if not any(map(has_inline, arguments[1:])):
            return replace(node, arguments=(without_first_inline(arguments[0]), *arguments[1:]))
        case Power(base, exponent) if not has_inline(exponent):
            return replace(node, base=without_first_inline(base))
        case Negate(operand):
            return replace(node, operand=without_first_inline(operand))
        case Labelled(inner):
            return replace(node, node=without_first_inline(inner))
        case _:
            return node


def has_inline(node: Node) -> bool:
    """Tell whether an inline roll stands anywhere in a node."""
    return isinstance(node, Inline) or any(map(has_inline, children(node)))


def inlines_of(node: Node) -> list[Inline]:
    """Return the inline rolls of a tree in the order in which they are rolled: inner ones first, then as written."""
    found = [each for child in children(node) for each in inlines_of(child)]
    return [*found, node] if isinstance(node, Inline) else found
