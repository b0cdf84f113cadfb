"""Trees compared by what they do: a compare point that stands for the highest or lowest face is that face."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from fairroll_rules.notation.tree import Compare, Dice, Explode, Faces, Modified, Number, Reroll

_P = TypeVar("_P")


def explicit(part: _P) -> _P:
    """Return a part of a tree in which explosions and rerolls of dice with known faces say on which they happen."""
    return cast("_P", _explicit(part, None))


def _explicit(part: Any, dice: Dice | None) -> Any:  # noqa: ANN401  whatever a tree is made of
    if isinstance(part, tuple):
        return tuple([_explicit(each, dice) for each in part])
    if not is_dataclass(part) or isinstance(part, type):
        return part
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


def _face(dice: Dice, *, highest: bool) -> int | None:
    match dice.sides:
        case Faces(faces):
            face = max(faces) if highest else min(faces)
            return face if face >= 0 else None
        case Number(int(sides)):
            return sides if highest else 1
        case _:
            return None
