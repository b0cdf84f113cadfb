"""A check in words, short enough for the head of a picture: what differs from the defaults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any

from fairroll_rules.systems import notation, system_of, systems

MAX_CHARACTERS = 100
_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")


def title_of(check: Any, label: str = "") -> str:  # noqa: ANN401  each system has its own types
    """Return the label, or such as `4d6kh3` or `Crossroads MVP: skill roll, statistic 2, advantage 1`."""
    if label:
        return label
    if isinstance(check, notation.NotationCheck):
        return _cut(notation.program_of(check).head)
    roll = _WORD_START.sub(" ", type(check).__name__).lower()
    return _cut(", ".join((f"{systems()[system_of(check)].TITLE}: {roll}", *_given(check))))


def _given(value: Any) -> Iterator[str]:  # noqa: ANN401  as above
    """Yield each number, text and policy that is given and is not the default, those inside a field after its name."""
    for field in fields(value):
        content = getattr(value, field.name)
        if field.default is not MISSING and content == field.default:
            continue
        name = field.name.replace("_", " ")
        if isinstance(content, Enum):
            yield f"{name} {content.name.replace('_', ' ').lower()}"
        elif content is True:
            yield name
        elif isinstance(content, int | str):
            yield f"{name} {content}"
        elif is_dataclass(content):
            yield from (f"{name} {inner}" for inner in _given(content))
        elif content and isinstance(content, tuple):
            numbers = all(isinstance(each, int) for each in content)
            yield f"{name} {' '.join(map(str, content))}" if numbers else f"{len(content)} {name}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 2]}.."
