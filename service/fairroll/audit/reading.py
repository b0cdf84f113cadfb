"""The receipts of an audit as people keep them: folders, files with a receipt a line, single files, standard input.

One item after another, so that a file may be larger than memory. What cannot be read is an item too: it is named in
the report and ends nothing. Nothing here knows what a receipt is.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from fairroll.errors import KeyFileError

LINES = ".jsonl"
SUFFIXES = (".json", LINES)
STANDARD_INPUT = "-"
MAX_ITEM_BYTES = 4 * 2**20
"""A receipt is at most 1 MiB, and its chain 256 KiB; base64 makes a third more of both."""


REPORT = "fairroll audit"
"""What an audit's report in JSON says of itself, in its member `report`."""


def is_report(text: bytes) -> bool:
    """Whether a text is the report of an audit: one that lies beside the receipts is none of them."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("report") == REPORT


def is_cut(text: bytes) -> bool:
    """Whether a text that is no JSON begins as a receipt does and does not end as one does."""
    return text.lstrip().startswith(b"{") and not text.rstrip().endswith(b"}")


CUT = ("RECEIPT_CUT", "the file ends in the middle of a receipt: its tail is missing")
"""Reason and sentence for a file, or a last line without an end, that is no receipt."""


class Unread(NamedTuple):
    """Why there is nothing to judge: reason, sentence and place, as an error has them."""

    reason: str
    message: str
    field: str


class Item(NamedTuple):
    """What may be a receipt.

    Attributes:
        name: the file's, with the number of the line where it has lines.
        text: the bytes, or why there are none.
        whole: False for the last line of a file that does not end, and for a file that ends within a receipt: it may
            have been cut.
    """

    name: str
    text: bytes | Unread
    whole: bool = True


class _State(NamedTuple):
    size_bytes: int
    modified_ns: int


@dataclass
class Reading:
    """The items of the sources that were named, read once.

    Attributes:
        names: files, folders or `-`, as they were given.
        changed: after reading, the files that were added, taken away or written while it went on, and so may not be
            part of it as they are now.
        passed_over: how many files of folders have another suffix, or are pipes and the like, which may never end.
    """

    names: Sequence[str]
    changed: list[str] = field(default_factory=list)
    passed_over: int = 0

    def require_sources(self) -> None:
        """Refuse a name that is no file and no folder, before any work is done.

        Raises:
            KeyFileError: FILE_NOT_READ.
        """
        for name in self.names:
            if name != STANDARD_INPUT and not Path(name).exists():
                raise KeyFileError("FILE_NOT_READ", f"{name}: there is no such file or folder", field=name)

    def items(self) -> Iterator[Item]:
        """Yield the items of all sources in order; those of a folder by the names of its files."""
        for name in self.names:
            if name == STANDARD_INPUT:
                yield from _lines(sys.stdin.buffer, name)
            elif Path(name).is_dir():
                yield from self._folder(name)
            else:
                before = _state(name)
                yield from _file(name, before)
                self._compare({name: before}, {name: _state(name)})

    def _folder(self, folder: str) -> Iterator[Item]:
        before, passed_over = _listing(folder)
        self.passed_over += passed_over
        for name, state in before.items():
            yield from _file(name, state)
        self._compare(before, _listing(folder)[0])

    def _compare(self, before: dict[str, _State | None], after: dict[str, _State | None]) -> None:
        names = dict.fromkeys((*before, *after))
        self.changed += [name for name in names if before.get(name) != after.get(name)]


def _listing(folder: str) -> tuple[dict[str, _State | None], int]:
    """Return the files below a folder that may hold receipts, by name, and the number of others."""
    found: list[str] = []
    others = 0
    for where, folders, files in os.walk(folder):
        folders.sort()
        for name in files:
            if name.endswith(SUFFIXES) and Path(where, name).is_file():
                found.append(str(Path(where, name)))
            else:
                others += 1
    return {name: _state(name) for name in sorted(found)}, others


def _state(name: str) -> _State | None:
    try:
        status = Path(name).stat()
    except OSError:
        return None
    # A pipe has no size; what is read of it is what there is.
    return _State(status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else _State(-1, 0)


def _file(name: str, state: _State | None) -> Iterator[Item]:
    try:
        with Path(name).open("rb") as file:
            # A file that grows is read as far as it went when the folder was listed.
            limit = None if state is None or state.size_bytes < 0 else state.size_bytes
            if name.endswith(LINES):
                yield from _lines(file, name, limit)
            else:
                text = file.read(MAX_ITEM_BYTES + 1)
                yield Item(name, _bounded(text, name), whole=not is_cut(text))
    except OSError as error:
        yield Item(name, Unread("FILE_NOT_READ", f"{name}: {error.strerror}", name))


def _lines(file: BinaryIO, name: str, limit: int | None = None) -> Iterator[Item]:
    for number, (line, whole) in enumerate(_split(file, limit), 1):
        if line.strip():
            yield Item(f"{name}:{number}", _bounded(line, f"line {number}"), whole)


def _split(file: BinaryIO, limit: int | None) -> Iterable[tuple[bytes, bool]]:
    """Yield lines and whether each has its end; of one that is too long its beginning."""
    left = limit
    while True:
        size = MAX_ITEM_BYTES + 2 if left is None else min(left, MAX_ITEM_BYTES + 2)
        line = file.readline(size)
        if not line:
            return
        left = None if left is None else left - len(line)
        whole = line.endswith(b"\n")
        yield line, whole
        rest = line
        while len(line) > MAX_ITEM_BYTES and rest and not rest.endswith(b"\n"):
            rest = file.readline(MAX_ITEM_BYTES)
            left = None if left is None else max(0, left - len(rest))


def _bounded(text: bytes, name: str) -> bytes | Unread:
    if len(text.rstrip(b"\r\n")) > MAX_ITEM_BYTES:
        return Unread("LINE_TOO_LONG", f"{name} has more than {MAX_ITEM_BYTES} bytes: no receipt has", name)
    return text
