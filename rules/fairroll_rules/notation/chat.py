"""Messages of a chat window: what is said around a roll, and which roll it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.notation.dialects import Reading
from fairroll_rules.notation.faults import SEVERAL, SYNTAX, refuse

_BRACKETS = re.compile(r"\[\[|[\[\]]")
COMMAND = re.compile(r"\s*([/!][a-z]+)")
"""What a chat window takes for a command."""
_LINE = re.compile(r"\n[ \t]*(?=[/!][a-z])")
_WORD = r"[a-z]+(?![a-z(])(?!\s*[0-9%(])"
_WORDS = re.compile(rf"\s*(?:&\{{|@\{{[^{{}}]*\}}[\s:,]+{_WORD}|{_WORD})")
"""What a message begins with: a template, a name that is filled in, or a word that is no die and no function."""
_NAME = re.compile(r"\{\{\s*name\s*=\s*(.*?)\}\}")
_LABEL = re.compile(r"^\{(.*)\}$")
_GLUED_BEHIND = re.compile(r"[a-z0-9(@\[]|\s*[-+*/%^<>=]+\s*[0-9d(@\[]")
_GLUED_BEFORE = re.compile(r"[a-z0-9)\]}]$|[0-9)\]}]\s*[-+*/%^]\s*$")
"""What makes a roll in brackets part of an expression: no message, since another number was meant."""
_ROLLS_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Spoken:
    """Where the only roll of a message stands, and what is said around it."""

    start: int
    end: int
    said: str


def spoken(raw: str, folded: str, reading: Reading) -> Spoken | None:
    """Return the roll inside a message; None where the text is no message but a roll itself.

    Raises:
        CheckError: SEVERAL_ROLLS, it holds more than one; NOTATION_SYNTAX, its command rolls nothing.
    """
    if reading.speech is None:
        return None
    _require_one_line(folded)
    command = COMMAND.match(folded)
    if command and command[1] in (*reading.commands, *reading.repeats):
        return None
    found = inlines(folded)
    if command and not (found and command[1] in reading.speech):
        raise no_roll(command, reading)
    within = folded.lstrip().startswith("[[") and "[[" not in reading.tokens
    if not found or not (command or within or _WORDS.match(folded)):
        return None
    if len(found) > 1:
        raise _several([raw[each.start + 2 : each.end - 2].strip() for each in found], found[1])
    (only,) = found
    if _GLUED_BEHIND.match(folded, only.end) or _GLUED_BEFORE.search(folded, 0, only.start):
        return None
    return Spoken(only.start + 2, only.end - 2, _said(raw, only, command.end() if command else 0))


def no_roll(command: re.Match[str], reading: Reading) -> CheckError:
    """Return the error for a command that rolls nothing, or has no space and no roll behind it."""
    return refuse(
        SYNTAX,
        f"there is no roll behind {command[1][:40]}",
        Span(*command.span(1)),
        expected=reading.commands,
        hint=f"write {reading.commands[0]} 1d20, or the roll in [[ ]]",
        value=command[1][:40],
    )


def _require_one_line(folded: str) -> None:
    """Refuse lines that each roll; the lines of a query belong together."""
    if folded.lstrip().startswith("?{"):
        return
    lines = [line for line in _LINE.split(folded) if COMMAND.match(line) or "[[" in line]
    if len(lines) > 1:
        start = folded.index(lines[1], folded.index(lines[0]) + len(lines[0]))
        rolls = [line.strip() for line in lines]
        raise _several(rolls, Span(start, start + len(lines[1].rstrip())))


def require_one(folded: str, raw: str, start: int) -> None:
    """Refuse a roll in what is said behind a roll.

    Raises:
        CheckError: SEVERAL_ROLLS.
    """
    found = [each for each in inlines(folded) if each.start >= start]
    if found:
        rolls = [raw[:start].strip(), *[raw[each.start + 2 : each.end - 2].strip() for each in found]]
        raise _several(rolls, found[0])


def inlines(folded: str) -> list[Span]:
    """Return the places of the outermost `[[ ]]` of a text; a label inside may end where they do: `[[1d6[fire]]]`."""
    found: list[Span] = []
    opened: list[tuple[int, str]] = []
    done = 0
    for match in _BRACKETS.finditer(folded):
        at, sign = match.start(), match[0]
        if sign != "]":
            opened.append((at, sign))
        elif opened and at >= done and folded.startswith("]" * len(opened[-1][1]), at):
            start, opening = opened.pop()
            done = at + len(opening)
            if opening == "[[" and not any(sign == "[[" for _, sign in opened):
                found.append(Span(start, done))
    return found


def _said(raw: str, roll: Span, start: int) -> str:
    """Return what is said around a roll: the name of a template, a label in braces, or the words."""
    name = _NAME.search(raw)
    if name:
        return name[1].strip()
    label = _LABEL.match(raw[roll.end :].strip())
    words = [raw[start : roll.start], label[1] if label else raw[roll.end :]]
    return " ".join([word.strip() for word in words if word.strip()]).rstrip(": ")


def _several(rolls: list[str], span: Span) -> CheckError:
    shown = " and ".join([f"{each[:60]}" for each in rolls[:_ROLLS_SHOWN]])
    more = f" and {len(rolls) - _ROLLS_SHOWN} more" if len(rolls) > _ROLLS_SHOWN else ""
    return refuse(
        SEVERAL,
        f"the text holds {len(rolls)} rolls",
        span,
        hint=f"roll {shown}{more} as checks of one request",
        value=str(len(rolls)),
    )
