"""What all commands share: exit codes, printing, reading what a person names."""

import json
import sys
from pathlib import Path
from typing import Any

from fairroll.errors import FairrollError, KeyFileError
from fairroll.files import read

EXIT_GOOD = 0
EXIT_NO = 1
EXIT_USE = 2


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
    print(f"fairroll: {error.field + ': ' if error.field else ''}{error.message} [{error.reason}]", file=sys.stderr)
    if text and error.span is not None:
        print(caret(text, *error.span), file=sys.stderr)
    if error.expected:
        print(f"  expected: {', '.join(error.expected)}", file=sys.stderr)
    if error.hint:
        print(f"  hint: {error.hint}", file=sys.stderr)


def error_value(error: FairrollError) -> dict[str, Any]:
    """Return the error as JSON, with those of its members that are set."""
    members: dict[str, Any] = {"code": error.reason, "message": error.message}
    if error.span is not None:
        members["span"] = {"start": error.span[0], "end": error.span[1]}
    for name in ("field", "limit", "minimum", "maximum", "value", "expected", "hint"):
        member = getattr(error, name)
        if member not in ("", None, ()):
            members[name] = member
    return members


def caret(text: str, start: int, end: int) -> str:
    """Return the text with a line below it that points at start..end."""
    shown = "".join(character if character.isprintable() else " " for character in text)
    return f"  {shown}\n  {' ' * start}{'^' * max(1, end - start)}"


def read_file(name: str) -> bytes:
    """Read a file that a person named; `-` is standard input.

    Raises:
        KeyFileError: it cannot be read.
    """
    if name == "-":
        return sys.stdin.buffer.read()
    return read(Path(name))


def read_root_key(given: str) -> bytes:
    """Return the root public key that was given as 64 hex digits or as a file that holds them.

    Raises:
        KeyFileError: neither.
    """
    text = given
    if len(given) != 64:
        text = read_file(given).decode("ascii", "replace").strip()
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != 32 or len(text) != 64:
        raise KeyFileError("ROOT_KEY_INVALID", "a root key is 64 hex digits, or a file that holds them", field="--root")
    return key
