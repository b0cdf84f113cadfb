"""Receipts of sessions as people keep them: a folder of files, or one file with a receipt a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from fairroll.bundle import Bundle
from fairroll.cli.output import read_file
from fairroll.cli.receipts import parse_receipt
from fairroll.errors import FairrollError, KeyFileError, RequestError

_LINES = ".jsonl"


def holds_sessions(name: str) -> bool:
    """Whether a name is that of a folder, or of a file with a receipt a line."""
    return name != "-" and (name.endswith(_LINES) or Path(name).is_dir())


def read_receipts(names: Sequence[str]) -> list[tuple[str, Bundle | FairrollError]]:
    """Return every receipt of files and folders with its name, or why it is none."""
    return [(name, _parsed(name, text)) for each in names for name, text in _texts(each)]


def _texts(name: str) -> Iterable[tuple[str, bytes | FairrollError]]:
    if name != "-" and Path(name).is_dir():
        files = sorted(path for path in Path(name).iterdir() if path.suffix in (".json", _LINES))
        if not files:
            yield name, KeyFileError("FILE_NOT_READ", f"{name} has no .json and no .jsonl file", field=name)
        for path in files:
            yield from _texts(str(path))
        return
    try:
        text = read_file(name)
    except KeyFileError as error:
        yield name, error
        return
    if not name.endswith(_LINES):
        yield name, text
        return
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        yield name, KeyFileError("FILE_NOT_READ", f"{name} has no receipt", field=name)
    for number, line in lines:
        yield f"{name}:{number}", line


def _parsed(name: str, text: bytes | FairrollError) -> Bundle | FairrollError:
    if isinstance(text, FairrollError):
        return text
    try:
        return parse_receipt(text)
    except RequestError as error:
        error.message = f"{name}: {error.message}"
        return error
