"""Trees compared by what they do, for dialects that have other words for it.

A compare point that stands for the highest or lowest face is that face; dice show whole numbers, so more than 4 is at
least 5.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from fairroll_rules.notation.tree import Compare, Dice, Explode, Faces, Modified, Negate, Number, Reroll

_P = TypeVar("_P")

_STRICT = {">": (">=", 1), "<": ("<=", -1)}


def explicit(part: _P) -> _P:
    """Return a part of a tree in which what is done to dice is said in one way; to be compared and nothing else."""
    return cast("_P", _explicit(part, None))


def _explicit(part: Any, dice: Dice | None) -> Any:  # noqa: ANN401  whatever a tree is made of
    if isinstance(part, tuple):
        return tuple([_explicit(each, dice) for each in part])
    if not is_dataclass(part) or isinstance(part, type):
        return part
    if isinstance(part, Compare) and dice is not None:
        return _inclusive(part)
    if isinstance(part, Modified):
        source: object = part.source
        while isinstance(source, Modified):
            source = source.source
        dice = source if isinstance(source, Dice) else None
    changed: Any = {
        field.name: _explicit(value, dice)
        for field in fields(part)
        if isinstance(value := getattr(part, field.name), tuple) or is_dataclass(value)
    }
    if isinstance(part, (Explode, Reroll)) and part.compare is None and dice is not None:
        face = _face(dice, highest=isinstance(part, Explode))
        if face is not None:
            changed["compare"] = Compare("=", Number(face, part.span), part.span)
    return replace(part, **changed)


def parting(own: Any, other: Any) -> Any:  # noqa: ANN401  parts of trees
    """Return the smallest part of a tree that is another one in the other tree; both differ."""
    if type(own) is not type(other):
        return own
    mine, theirs = _parts(own), _parts(other)
    apart = [pair for pair in zip(mine, theirs, strict=False) if explicit(pair[0]) != explicit(pair[1])]
    if len(mine) != len(theirs) or len(apart) != 1:
        return own
    return parting(*apart[0])


def _parts(part: Any) -> list[Any]:  # noqa: ANN401  parts of trees
    """Return the parts of a part that have a place in the text."""
    found = []
    for field in fields(part):
        value = getattr(part, field.name)
        found += [each for each in (value if isinstance(value, tuple) else (value,)) if hasattr(each, "span")]
    return found


def _inclusive(compare: Compare) -> Compare:
    """Return a compare point with a whole literal without `>` and `<`."""
    value = compare.value
    number = -value.operand.value if isinstance(value, Negate) and isinstance(value.operand, Number) else None
    number = value.value if isinstance(value, Number) else number
    if not isinstance(number, int):
        return compare
    operator, step = _STRICT.get(compare.operator, (compare.operator, 0))
    return Compare(operator, Number(number + step, value.span), compare.span)


def _face(dice: Dice, *, highest: bool) -> int | None:
    match dice.sides:
        case Faces(faces):
            return max(faces) if highest else min(faces)
        case Number(int(sides)):
            return sides if highest else 1
        case _:
            return None
