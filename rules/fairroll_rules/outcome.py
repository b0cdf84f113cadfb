"""What the outcomes of all systems are made of: dice with their fates, and text for the table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairroll_rules.dice import Draw


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
        line, *steps = _single_lines((self.line, *self.steps))
        return "\n".join([line, *[f"  {number}. {step}" for number, step in enumerate(steps, 1)]])

    def markdown(self) -> str:
        """Return the line in bold and the steps as a numbered list, with Markdown's own signs escaped."""
        line, *steps = _escaped((self.line, *self.steps))
        numbered = [f"{number}. {step}" for number, step in enumerate(steps, 1)]
        return "\n".join([f"**{line}**", "", *numbered]).rstrip()


def again_words(draws: Sequence[Draw]) -> dict[int, str]:
    """Return each die that was rolled with what became of it, such as `5 rerolled into 2`, by its first draw."""
    words: dict[int, str] = {}
    first: dict[int, int] = {}
    for index, draw in enumerate(draws):
        if draw.of is None:
            words[index] = str(draw.face)
            continue
        first[index] = first.get(draw.of, draw.of)
        words[first[index]] += f" {_AGAIN[draw.purpose.name]} {draw.face}"
    return words


_AGAIN = {"REROLL": "rerolled into", "EXPLODE": "exploded into"}
_LINE_BREAKS = str.maketrans(dict.fromkeys("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))
_MARKDOWN_SIGNS = tuple((sign, f"\\{sign}") for sign in r"\`*_{}[]<>#|~!&")
"""Each sign, and how it is escaped: the backslash first, since it escapes the others."""
_LIST_MARK = re.compile(r"^([0-9]*)([-+.)])(?=\s|$)")
_LIST_STARTS = frozenset("0123456789-+.)")


def escape(text: str) -> str:
    """Return text on one line in which no sign has a meaning in Markdown."""
    (line,) = _escaped((text,))
    return line


def _escaped(texts: Sequence[str]) -> list[str]:
    """Return each text escaped: all at once, and looking before changing, since most have few signs or none."""
    lines = "\n".join([text.strip() for text in _single_lines(texts)])
    for sign, escaped in _MARKDOWN_SIGNS:
        if sign in lines:
            lines = lines.replace(sign, escaped)
    return [_LIST_MARK.sub(r"\1\\\2", line) if line[:1] in _LIST_STARTS else line for line in lines.split("\n")]


def _single_lines(texts: Sequence[str]) -> Sequence[str]:
    """Return each text on one line: judged all at once, since nearly none has a line break."""
    return texts if "".join(texts).isprintable() else [one_line(text) for text in texts]


def one_line(text: str) -> str:
    """Return text in which no line breaks: a name from outside must not make lines of its own."""
    return text if text.isprintable() else text.translate(_LINE_BREAKS)
