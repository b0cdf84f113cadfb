"""Receipts of sessions as people keep them: a folder of files, or one file with a receipt a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from fairroll.audit.reading import CUT, is_cut, is_report
from fairroll.bundle import Bundle
from fairroll.cli.output import read_file
from fairroll.cli.receipts import parse_receipt
from fairroll.errors import FairrollError, KeyFileError, RequestError

_LINES = ".jsonl"
_NUMBER = re.compile(r"([0-9]+)")


def holds_sessions(name: str) -> bool:
    """Whether a name is that of a folder, or of a file with a receipt a line."""
    return name != "-" and (name.endswith(_LINES) or Path(name).is_dir())


def read_receipts(names: Sequence[str]) -> list[tuple[str, Bundle | FairrollError | None]]:
    """Return every receipt of files and folders with its name, why it is none, or None for the report of an audit."""
    found = [(name, _parsed(name, text, whole=whole)) for each in names for name, text, whole in _texts(each)]
    if all(receipt is None for _, receipt in found):
        found.append((names[0], KeyFileError("FILE_NOT_READ", f"{names[0]} has no receipt", field=names[0])))
    return found


def _texts(name: str) -> Iterable[tuple[str, bytes | FairrollError, bool]]:
    """Yield names and texts, and whether a text has its end: a last line without one may have been cut."""
    if name != "-" and Path(name).is_dir():
        held = (path for path in Path(name).iterdir() if path.suffix in (".json", _LINES) and path.is_file())
        files = sorted(held, key=_by_number)
        if not files:
            yield name, KeyFileError("FILE_NOT_READ", f"{name} has no .json and no .jsonl file", field=name), True
        for path in files:
            yield from _texts(str(path))
        return
    try:
        text = read_file(name)
    except KeyFileError as error:
        if error.reason == "FILE_TOO_LARGE":
            error.message += ": `fairroll audit` reads files of any size"
        yield name, error, True
        return
    if not name.endswith(_LINES):
        yield name, text, not is_cut(text)
        return
    lines = [(number, line) for number, line in enumerate(text.splitlines(keepends=True), 1) if line.strip()]
    if not lines:
        yield name, KeyFileError("FILE_NOT_READ", f"{name} has no receipt", field=name), True
    for number, line in lines:
        yield f"{name}:{number}", line, line.endswith(b"\n")


def _by_number(path: Path) -> tuple[list[tuple[int, str]], str]:
    """Order names as people count: 2.json is before 10.json."""
    parts = [(int(part), "") if _NUMBER.fullmatch(part) else (-1, part) for part in _NUMBER.split(path.name)]
    return parts, path.name


def _parsed(name: str, text: bytes | FairrollError, *, whole: bool) -> Bundle | FairrollError | None:
    if isinstance(text, FairrollError):
        return text
    try:
        return parse_receipt(text)
    except RequestError as error:
        if is_report(text):
            return None
        if not whole:
            reason, sentence = CUT
            return RequestError(reason, f"{name}: {sentence}")
        error.message = f"{name}: {error.message}"
        return error
