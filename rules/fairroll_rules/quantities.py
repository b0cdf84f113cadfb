"""The numbers that a check comes to, by name, and what their values are called: what odds are told of.

A system that says nothing has those of its value's fields. One that knows better has a function `quantities(check)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, get_type_hints

Words = Mapping[int, str]
"""What values are called; empty for plain numbers."""

Quantities = Mapping[str, Words]
"""The numbers of a check by the names of fields or properties of its value, in order."""

YES_NO: Words = {0: "no", 1: "yes"}


def fields_of(value: type[Any]) -> dict[str, Words]:
    """Return the fields of a value's NamedTuple, those that are true or false as yes and no."""
    hints = get_type_hints(value)
    return {name: YES_NO if hints[name] is bool else {} for name in value._fields}


def words_of(kind: type[Enum]) -> Words:
    """Return the names of an enumeration whose numbers stand in a value."""
    return {member.value: member.name for member in kind}
