"""Groups of one, for dialects in which `{4d6+2d8}kh3` chooses among the dice inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.notation.dialects import Reading
from fairroll_rules.notation.faults import refuse
from fairroll_rules.notation.tree import (
    Call,
    Chain,
    Clamp,
    Count,
    Dice,
    Explode,
    Group,
    Inline,
    Labelled,
    Match,
    Modified,
    Modifier,
    Negate,
    Node,
    Pick,
    Power,
    Reroll,
    Sort,
    Tally,
    Unique,
    has_dice,
)

_COUNTS = (Count, Tally, Match)

Pool = Dice | Modified


def of_one(node: Modified, reading: Reading, count_node: Callable[[Span], None]) -> Node:
    """Return a group of one with its modifiers as the dialect means it; every other group as it is.

    Raises:
        CheckError: the dice to choose among stand where nothing can be chosen from.
    """
    group = node.source
    if not isinstance(group, Group) or len(group.elements) != 1:
        return node
    (inner,) = group.elements
    counts = tuple([each for each in node.modifiers if isinstance(each, _COUNTS)])
    selects = tuple([each for each in node.modifiers if not isinstance(each, (*_COUNTS, Sort))])
    result: Node = node
    if selects and reading.alone["select"] == "dice":
        result = _picked(inner, node, selects, reading)
        if counts and reading.alone["count"] != "dice":
            raise _nothing_to_choose(node)
    else:
        selects = ()
    if counts and reading.alone["count"] == "dice":
        result = _counted(result if selects else inner, node, counts)
    count_node(node.span)
    return result


def pools_of(node: Node) -> list[Pool] | None:
    """Return the pools of an expression, left to right; None where something else rolls or selects in it."""
    match node:
        case Dice():
            return [node]
        case Modified(source):
            while isinstance(source, Modified):
                source = source.source
            return [node] if isinstance(source, Dice) else None
        case Chain(operands) | Call(_, operands):
            return _all(operands)
        case Power(base, exponent):
            return _all((base, exponent))
        case Negate(inner) | Labelled(inner):
            return pools_of(inner)
        case Inline():
            return []
        case _:
            return None if has_dice(node) else []


def _all(nodes: tuple[Node, ...]) -> list[Pool] | None:
    found: list[Pool] = []
    for each in nodes:
        pools = pools_of(each)
        if pools is None:
            return None
        found += pools
    return found


def _picked(inner: Node, group: Modified, selects: tuple[Modifier, ...], reading: Reading) -> Node:
    pools = pools_of(inner)
    if not pools:
        raise _nothing_to_choose(group)
    if len(pools) == 1:
        (pool,) = pools
        return _replaced(inner, {id(pool): _selected(pool, selects, group.span)})
    if reading.alone["count"] == "dice" and any(map(_is_counted, pools)):
        # Where a group counts its dice itself, nobody says what choosing among counted dice comes to.
        raise refuse("COUNTED_ALREADY", "the dice in the group are counted already", selects[0].span)
    return Pick(inner, selects, group.span)


def _selected(pool: Pool, selects: tuple[Modifier, ...], span: Span) -> Modified:
    """Return a pool that is selected from before it is counted; one that is only rolled again stays one level."""
    if not isinstance(pool, Modified):
        return Modified(pool, selects, span)
    counts = tuple([each for each in pool.modifiers if isinstance(each, _COUNTS)])
    before = tuple([each for each in pool.modifiers if not isinstance(each, _COUNTS)])
    if all(isinstance(each, (Reroll, Explode, Clamp, Unique)) for each in before):
        return Modified(pool.source, (*before, *selects, *counts), span)
    return Modified(replace(pool, modifiers=before), (*selects, *counts), span)


def _counted(inner: Node, group: Modified, counts: tuple[Count | Tally | Match, ...]) -> Node:
    """Return the dice of a sum counted each, with the constants of the sum added to each die."""
    operands, operators = ((inner,), ()) if not isinstance(inner, Chain) else (inner.operands, inner.operators)
    pools: list[Pool] = []
    constants: list[tuple[str, Node]] = []
    for sign, operand in zip(("+", *operators), operands, strict=True):
        if isinstance(operand, (Dice, Modified)) and sign == "+" and pools_of(operand):
            if _is_counted(operand):
                raise refuse("COUNTED_ALREADY", "the dice in the group are counted already", counts[0].span)
            pools.append(operand)
        elif sign in "+-" and not has_dice(operand):
            constants.append((sign, operand))
        else:
            raise _nothing_to_choose(group)
    if not pools:
        raise _nothing_to_choose(group)
    shifted = tuple([_shifted(each, constants) for each in counts])
    counted = tuple([Modified(pool, shifted, group.span) for pool in pools])
    return counted[0] if len(counted) == 1 else Chain(counted, ("+",) * (len(counted) - 1), group.span)


def _is_counted(pool: Pool) -> bool:
    return isinstance(pool, Modified) and (
        any(isinstance(each, (Count, Tally)) or (isinstance(each, Match) and each.total) for each in pool.modifiers)
        or (isinstance(pool.source, Modified) and _is_counted(pool.source))
    )


def _shifted(count: Count | Tally | Match, constants: list[tuple[str, Node]]) -> Count | Tally | Match:
    compare = count.compare
    if compare is None or not constants:
        return count
    value = compare.value
    # What is added to each die is taken from what the die is compared with.
    against = Chain(
        (value, *[node for _, node in constants]),
        tuple(["-" if sign == "+" else "+" for sign, _ in constants]),
        value.span,
    )
    return replace(count, compare=replace(compare, value=against))


def _replaced(node: Node, by: dict[int, Node]) -> Node:
    if id(node) in by:
        return by[id(node)]
    match node:
        case Chain(operands):
            return replace(node, operands=tuple([_replaced(each, by) for each in operands]))
        case Call(_, arguments):
            return replace(node, arguments=tuple([_replaced(each, by) for each in arguments]))
        case Power(base, exponent):
            return replace(node, base=_replaced(base, by), exponent=_replaced(exponent, by))
        case Negate(operand):
            return replace(node, operand=_replaced(operand, by))
        case Labelled(inner):
            return replace(node, node=_replaced(inner, by))
        case _:
            return node


def _nothing_to_choose(group: Modified) -> CheckError:
    return refuse(
        "GROUP_OF_ONE",
        "a group of one chooses among the dice of a sum",
        group.span,
        hint="write the modifier directly behind the dice",
    )
