"""What all commands share: exit codes, printing, reading what a person names."""

import json
import re
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from fairroll.errors import FairrollError, KeyFileError, VerificationError
from fairroll.files import MAX_FILE_BYTES, read

EXIT_GOOD = 0
EXIT_NO = 1
EXIT_USE = 2

_ROOT_KEY_DIGITS = 64
_HEX = re.compile(r"[0-9A-Fa-f]{32,}")
"""What is meant as a key, though it may be one digit short, and is no file."""


def print_lines(lines: Iterable[str], file: TextIO | None = None) -> None:
    """Print lines in which a name from outside can neither break a line nor steer the terminal."""
    for line in lines:
        print(printable(line), file=file)


def printable(text: str) -> str:
    """Return text with every character that does not print written as an escape."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def print_json(value: object) -> None:
    """Print one JSON document, indented for people, stable for programs."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def print_error(error: FairrollError, *, as_json: bool, text: str = "") -> None:
    """Print an error: JSON on standard output where asked for, otherwise sentences on standard error.

    `text` is the notation that the span of the error points into.
    """
    if as_json:
        print_json({"error": error_value(error)})
        return
    sys.stdout.flush()
    for line in error_lines(error, text):
        print(line, file=sys.stderr)


def error_lines(error: FairrollError, text: str = "") -> list[str]:
    """Return an error for people: what, where in the notation, what was expected, a way out."""
    # An error about a file names it itself.
    where = f"{error.field}: " if error.field and not isinstance(error, KeyFileError) else ""
    lines = [printable(f"fairroll: {where}{error.message} [{error.reason}]")]
    if text and error.span is not None:
        lines += caret(text, *error.span)
    if error.expected:
        lines.append(printable(f"  expected: {', '.join(error.expected)}"))
    if error.hint:
        lines.append(printable(f"  hint: {error.hint}"))
    return lines


def error_value(error: FairrollError) -> dict[str, Any]:
    """Return the error as JSON, with those of its members that are set."""
    members: dict[str, Any] = {"code": error.reason, "message": error.message}
    if isinstance(error, VerificationError):
        members["step"] = int(error.step)
    if error.span is not None:
        members["span"] = {"start": error.span[0], "end": error.span[1]}
    for name in ("field", "limit", "minimum", "maximum", "value", "expected", "hint"):
        member = getattr(error, name)
        if member not in ("", None, ()):
            members[name] = member
    return members


def caret(text: str, start: int, end: int) -> list[str]:
    """Return the text and a line below it that points at the code points start..end."""
    shown = [each if each.isprintable() else " " for each in text]
    margin = " " * sum(map(_columns, shown[:start]))
    width = sum(map(_columns, shown[start:end]))
    return [f"  {''.join(shown)}", f"  {margin}{'^' * max(1, width)}"]


def _columns(character: str) -> int:
    """Return how many columns a terminal gives a character."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def read_file(name: str) -> bytes:
    """Read a file that a person named; `-` is standard input.

    Raises:
        KeyFileError: it cannot be read, or is larger than 4 MiB.
    """
    if name != "-":
        return read(Path(name))
    content = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise KeyFileError("FILE_TOO_LARGE", "standard input has more than 4 MiB", field="-")
    return content


def read_root_key(given: str) -> bytes:
    """Return the root public key that was given as 64 hex digits or as a file that holds them.

    Raises:
        KeyFileError: neither.
    """
    key = _root_key(given)
    if key is None and (given == "-" or Path(given).exists() or not _HEX.fullmatch(given)):
        key = _root_key(read_file(given).decode("ascii", "replace").strip())
    if key is None:
        raise KeyFileError("ROOT_KEY_INVALID", "a root key is 64 hex digits, or a file that holds them", field="--root")
    return key


def _root_key(text: str) -> bytes | None:
    if len(text) != _ROOT_KEY_DIGITS or not text.isascii() or not text.isalnum():
        return None
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None
