"""What the outcomes of all systems are made of: dice with their fates, and text for the table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Fate(Enum):
    """What happened to a die."""

    KEPT = 1
    DROPPED = 2
    REROLLED = 3
    EXPLODED = 4
    CLAMPED = 5
    SUCCESS = 6
    FAILURE = 7
    CRITICAL = 8
    FUMBLE = 9
    ADDED = 10
    SAVED = 11
    GIVEN = 12


@dataclass(frozen=True, slots=True)
class Die:
    """One die of an outcome: its draw's index in the check, its value by the rule, and its fates in order."""

    draw: int
    value: int
    fates: tuple[Fate, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """The outcome in words: one line for the table, and the explanation step by step. Never signed."""

    line: str
    steps: tuple[str, ...]

    def plain(self) -> str:
        """Return the line and the numbered steps as plain text, one line each, whatever a label holds."""
        steps = (f"  {number}. {one_line(step)}" for number, step in enumerate(self.steps, 1))
        return "\n".join((one_line(self.line), *steps))

    def markdown(self) -> str:
        """Return the line in bold and the steps as a numbered list, with Markdown's own signs escaped."""
        line, *steps = _escaped((self.line, *self.steps))
        numbered = (f"{number}. {step}" for number, step in enumerate(steps, 1))
        return "\n".join((f"**{line}**", "", *numbered)).rstrip()


_LINE_BREAKS = str.maketrans(dict.fromkeys("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))
_MARKDOWN_SIGNS = r"\`*_{}[]<>#|~!&"
"""The backslash first, since it escapes the others."""
_MARKDOWN_SIGN = re.compile(r"[\\`*_{}\[\]<>#|~!&]")
_LIST_MARK = re.compile(r"^([0-9]*)([-+.)])(?=\s|$)")
_LIST_STARTS = frozenset("0123456789-+.)")


def escape(text: str) -> str:
    """Return text on one line in which no sign has a meaning in Markdown."""
    (line,) = _escaped((text,))
    return line


def _escaped(texts: Iterable[str]) -> list[str]:
    """Return each text escaped: all at once, and looking before changing, since most have few signs or none."""
    lines = "\n".join([one_line(text).strip() for text in texts])
    if _MARKDOWN_SIGN.search(lines):
        for sign in _MARKDOWN_SIGNS:
            lines = lines.replace(sign, f"\\{sign}")
    return [_LIST_MARK.sub(r"\1\\\2", line) if line[:1] in _LIST_STARTS else line for line in lines.split("\n")]


def one_line(text: str) -> str:
    """Return text in which no line breaks: a name from outside must not make lines of its own."""
    return text if text.isprintable() else text.translate(_LINE_BREAKS)
