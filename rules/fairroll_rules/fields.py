"""What the fields of a check may hold: declared in their type hints, judged when a check is made, told in schemas.

skill: Annotated[int, Range(-100, 100)]
target: Annotated[int, Range(0, 9)] | None = None
help: Annotated[tuple[Annotated[int, Range(1, 5)], ...], Entries(0, 100)] = ()
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints

from fairroll_rules.errors import CheckError, require_range
from fairroll_rules.limits import MAX_ACTORS, MAX_NAME_BYTES


@dataclass(frozen=True, slots=True)
class Range:
    """An integer from `minimum` to `maximum`."""

    minimum: int
    maximum: int

    def require(self, field: str, value: int) -> None:
        """Refuse an integer outside: OUT_OF_RANGE."""
        if not self.minimum <= value <= self.maximum:  # asked here too: every number of every check is
            require_range(field, value, self.minimum, self.maximum)


@dataclass(frozen=True, slots=True)
class Entries:
    """A list of `minimum` to `maximum` entries; `limit` is the maximum's name among the limits."""

    minimum: int
    maximum: int
    limit: str = ""

    def require(self, field: str, value: tuple[object, ...]) -> None:
        """Refuse a list with fewer or more: OUT_OF_RANGE."""
        _require_size(self, field, "entries", len(value), "OUT_OF_RANGE")


@dataclass(frozen=True, slots=True)
class Utf8:
    """Text of `minimum` to `maximum` bytes of UTF-8; `limit` is the maximum's name among the limits."""

    minimum: int
    maximum: int
    limit: str
    reason: str = "OUT_OF_RANGE"

    def require(self, field: str, value: str) -> None:
        """Refuse a text that is shorter or longer: OUT_OF_RANGE, or the reason that was declared."""
        _require_size(self, field, "bytes of UTF-8", len(value.encode("utf-8", "surrogatepass")), self.reason)


@dataclass(frozen=True, slots=True)
class Written:
    """Text that matches a pattern as a whole, or is empty where the field may be left out.

    Attributes:
        pattern: a regular expression that Python and ECMAScript read alike, without anchors.
        words: how it is written, for people.
        examples: texts that match.
    """

    pattern: str
    words: str
    examples: tuple[str, ...]

    def require(self, field: str, value: str) -> None:
        """Refuse another text: NOTATION_INVALID, with the examples as what could have stood there."""
        if value and not re.fullmatch(self.pattern, value):
            raise CheckError(
                "NOTATION_INVALID",
                f"{field} is written {self.words}",
                field=field,
                value=value[:100],
                expected=self.examples,
            )


@dataclass(frozen=True, slots=True)
class Characters:
    """Notation of `minimum` to `maximum` code points. Only told: its parser judges it, and says where it is wrong."""

    minimum: int
    maximum: int


Constraint: TypeAlias = Range | Entries | Utf8 | Written | Characters

Name: TypeAlias = Annotated[str, Utf8(1, MAX_NAME_BYTES, "name_bytes")]
"""The name of an actor, or of a row of a table."""

SomeActors = Entries(1, MAX_ACTORS, "actors")
"""At least one."""


class Allowed(NamedTuple):
    """What a field may hold: itself, and each of its entries where it is a list; None where anything goes."""

    whole: Constraint | None
    each: Constraint | None


@cache
def allowed(kind: type) -> dict[str, Allowed]:
    """Return what each field of a dataclass may hold, for those that say so."""
    hints = get_type_hints(kind, include_extras=True)
    found = {field.name: _allowed(hints[field.name]) for field in fields(kind)}
    return {name: each for name, each in found.items() if each != (None, None)}


def require_fields(check: object) -> None:
    """Refuse a check, or a part of one, in which a field holds what its type hint does not allow.

    Raises:
        CheckError: OUT_OF_RANGE with the field and its range, NOTATION_INVALID, or the reason that was declared.
    """
    kind: type = type(check)
    for name, require in _judges(kind):
        value = getattr(check, name)
        if value is not None:
            require(name, value)


def require_different_names(field: str, names: Sequence[str]) -> None:
    """Refuse a list of actors in which two have one name: draws and decisions name their actor.

    Raises:
        CheckError: CONFLICT, at the name of the second one.
    """
    if len(set(names)) == len(names):
        return
    index = next(index for index, name in enumerate(names) if name in names[:index])
    place = f"{field}[{index}].name"
    raise CheckError("CONFLICT", f"{field} have different names", field=place, value=names[index])


@cache
def _judges(kind: type) -> tuple[tuple[str, Callable[[str, Any], None]], ...]:
    """Return what judges each field, by its name; made once, since checks are made for each roll."""
    judges: list[tuple[str, Callable[[str, Any], None]]] = []
    for name, (whole, each) in allowed(kind).items():
        if whole is not None and not isinstance(whole, Characters):
            judges.append((name, whole.require))
        if each is not None and not isinstance(each, Characters):
            judges.append((name, _each(each.require)))
    return tuple(judges)


def _each(require: Callable[[str, Any], None]) -> Callable[[str, Any], None]:
    def require_each(field: str, values: tuple[Any, ...]) -> None:
        for index, value in enumerate(values):
            require(f"{field}[{index}]", value)

    return require_each


def _allowed(hint: Any) -> Allowed:  # noqa: ANN401  type hints have no type
    whole = _constraint(hint)
    plain = get_args(hint)[0] if whole is not None else hint
    if get_origin(plain) is tuple:
        return Allowed(whole, _constraint(get_args(plain)[0]))
    if whole is None:  # of `Annotated[..] | None`
        whole = next((found for each in get_args(plain) if (found := _constraint(each))), None)
    return Allowed(whole, None)


def _constraint(hint: Any) -> Constraint | None:  # noqa: ANN401  type hints have no type
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((note for note in notes if isinstance(note, Constraint)), None)


def _require_size(allowed: Entries | Utf8, field: str, unit: str, size: int, reason: str) -> None:
    if not allowed.minimum <= size <= allowed.maximum:
        raise CheckError(
            reason,
            f"{field} must have {allowed.minimum}..{allowed.maximum} {unit}, not {size}",
            field=field,
            limit=allowed.limit,
            minimum=allowed.minimum,
            maximum=allowed.maximum,
            value=str(size),
        )
