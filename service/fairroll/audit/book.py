"""The book of an audit: what came of each receipt, on disk, so that it can be read again in the order of sessions.

SQLite in a folder of its own that is gone at the end. Nothing in it is written for good: no journal, no sync. What
grows with the number of receipts is in here; a reader takes one row after another.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self

from fairroll.audit.judging import Fact, Failed, Held
from fairroll.audit.tally import Window
from fairroll.envelope import ROLL_RECORD_TYPE, Envelope, Signature
from fairroll.errors import KeyFileError

_CACHE_KIB = 4 * 1024

_TABLES = """
CREATE TABLE held (
    number INTEGER PRIMARY KEY, name TEXT, digest BLOB, session BLOB, seq INTEGER, previous BLOB, request BLOB,
    continues BLOB, facts INTEGER, unjudged TEXT, receipt_key TEXT, vrf_key TEXT, key_list BLOB, payload BLOB,
    keyid TEXT, sig BLOB);
CREATE TABLE failed (
    number INTEGER PRIMARY KEY, name TEXT, digest TEXT, step INTEGER, reason TEXT, message TEXT, field TEXT,
    place TEXT, seq INTEGER);
CREATE TABLE parent (digest BLOB PRIMARY KEY, seq INTEGER) WITHOUT ROWID;
CREATE TABLE check_asked (key BLOB PRIMARY KEY, body BLOB, rolls INTEGER) WITHOUT ROWID;
CREATE TABLE value (number INTEGER, check_index INTEGER, key BLOB, value TEXT, PRIMARY KEY (number, check_index))
    WITHOUT ROWID;
CREATE TABLE face_window (sides INTEGER, length INTEGER, faces INTEGER);
CREATE TABLE odds (key BLOB, value TEXT, place INTEGER, below REAL, chance REAL, PRIMARY KEY (key, value))
    WITHOUT ROWID;
"""
_INDEXES = """
CREATE INDEX held_order ON held (session, seq, digest, number);
CREATE INDEX held_digest ON held (digest);
CREATE INDEX held_continues ON held (session, continues) WHERE length(continues) > 0;
"""


class Entry(NamedTuple):
    """A receipt that holds, without its bytes: as `judging.Held` has it."""

    number: int
    name: str
    digest: bytes
    seq: int
    previous: bytes
    request_digest: bytes
    continues: bytes
    facts: int
    unjudged: str


_ENTRY = "number, name, digest, seq, previous, request, continues, facts, unjudged"


class Book:
    """One audit's book. A context: at its end the file is gone."""

    def __init__(self) -> None:
        # Named for whoever finds it after a crash.
        self._folder = TemporaryDirectory(prefix="fairroll-audit-")
        self._base = sqlite3.connect(Path(self._folder.name) / "book.sqlite", isolation_level=None)
        self._base.executescript(
            f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -{_CACHE_KIB};"
            f"PRAGMA temp_store = FILE; PRAGMA locking_mode = EXCLUSIVE; {_TABLES} BEGIN"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()
        self._folder.cleanup()

    def add(self, held: Iterable[Held], failed: Iterable[Failed]) -> None:
        """Write what came of some receipts; one that was there is written over."""
        rows, parents, asked, values = (
            [],
            list[tuple[bytes, int]](),
            list[tuple[bytes, bytes]](),
            list[tuple[Any, ...]](),
        )
        for each in held:
            rows.append((*each[:13], each.payload, each.signature.keyid, each.signature.sig))
            parents += each.parents
            for value in each.values:
                asked.append((value.key, value.check))
                values.append((each.number, value.check_index, value.key, value.value))
        self._many(f"INSERT OR REPLACE INTO held VALUES ({', '.join('?' * 16)})", rows)
        self._many("INSERT INTO failed VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", failed)
        self._many("INSERT OR IGNORE INTO parent VALUES (?, ?)", parents)
        self._many("INSERT INTO check_asked VALUES (?, ?, 1) ON CONFLICT (key) DO UPDATE SET rolls = rolls + 1", asked)
        self._many("INSERT OR REPLACE INTO value VALUES (?, ?, ?, ?)", values)

    def put_in_order(self) -> None:
        """Make what reading by session, seq and digest needs; after the last receipt was added."""
        self._run(_INDEXES)

    # What is asked of it

    def count(self, what: str, *arguments: object) -> int:
        """Return the one number that a SELECT gives."""
        (number,) = self._base.execute(f"SELECT {what}", arguments).fetchone()
        return number or 0

    def rows(self, select: str, *arguments: object) -> Iterator[Any]:
        """Yield the rows of a SELECT, one after another."""
        yield from self._base.execute(f"SELECT {select}", arguments)

    def sessions(self) -> Iterator[tuple[bytes, int, int]]:
        """Yield each session's id, the number of its first receipt and whether it is a one-off, by that number."""
        yield from self.rows(f"session, min(number), max(facts) & {Fact.ONE_OFF} FROM held GROUP BY session ORDER BY 2")

    def entries(self, session: bytes) -> Iterator[Entry]:
        """Yield the receipts of a session by seq; of copies of one receipt the first."""
        last = b""
        for row in self.rows(f"{_ENTRY} FROM held WHERE session = ? ORDER BY seq, digest, number", session):
            if row[2] != last:
                yield Entry(*row)
            last = row[2]

    def answers(self, session: bytes) -> Iterator[tuple[int, int]]:
        """Yield the seq of each pending receipt with that of an answer to it; chains hold answered ones too."""
        for parent, answer, _ in self.rows(
            "DISTINCT coalesce(a.seq, parent.seq), b.seq, b.digest FROM held b"
            " LEFT JOIN held a ON a.digest = b.continues LEFT JOIN parent ON parent.digest = b.continues"
            " WHERE b.session = ? AND length(b.continues) > 0 AND coalesce(a.seq, parent.seq) IS NOT NULL"
            " ORDER BY 1, 2",
            session,
        ):
            yield parent, answer

    def entry_of(self, digest: bytes) -> Entry | None:
        """Return the receipt of that digest, if it is here and holds."""
        row = next(self.rows(f"{_ENTRY} FROM held WHERE digest = ? ORDER BY number LIMIT 1", digest), None)
        return None if row is None else Entry(*row)

    def without_chain(self, after: int) -> Iterator[tuple[int, str, bytes, bytes]]:
        """Yield answers that could not be judged, after a number: number, name, what they continue, key list."""
        yield from self.rows(
            f"number, name, continues, key_list FROM held WHERE number > ? AND facts & {Fact.ANSWER}"
            f" AND NOT facts & {Fact.COMPLETE} ORDER BY number",
            after,
        )

    def take_out(self, numbers: Iterable[int]) -> None:
        """Forget receipts: what comes of them now is added anew."""
        self._many("DELETE FROM held WHERE number = ?", [(number,) for number in numbers])

    def envelope(self, number: int) -> Envelope:
        """Return the receipt itself."""
        payload, keyid, sig = next(self.rows("payload, keyid, sig FROM held WHERE number = ?", number))
        return Envelope(payload, ROLL_RECORD_TYPE, (Signature(keyid, sig),))

    def refuse(self, condition: str, arguments: tuple[object, ...], step: int, reason: str, message: str) -> int:
        """Move receipts that held so far to those that failed; return how many."""
        moved = (
            "INSERT INTO failed SELECT number, name, lower(hex(digest)), ?, ?, ?, '', '', seq FROM held"
            f" WHERE {condition}"
        )
        self._execute(moved, step, reason, message, *arguments)
        self._execute(f"DELETE FROM value WHERE number IN (SELECT number FROM held WHERE {condition})", *arguments)
        return self._execute(f"DELETE FROM held WHERE {condition}", *arguments)

    def add_odds(self, rows: Iterable[tuple[bytes, str, int, float, float]]) -> None:
        """Write exact odds: key of the check, value, its place in order, chance of what is below it, its own."""
        self._many("INSERT OR IGNORE INTO odds VALUES (?, ?, ?, ?, ?)", rows)

    def add_windows(self, rows: Iterable[Window]) -> None:
        """Write which faces followed one another."""
        self._many("INSERT INTO face_window VALUES (?, ?, ?)", rows)

    def windows(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield sides and length of each kind of windows, how many there are, and how many pairs are equal."""
        yield from self.rows(
            "sides, length, sum(n), sum(n * (n - 1) / 2) FROM"
            " (SELECT sides, length, count(*) AS n FROM face_window GROUP BY sides, length, faces)"
            " GROUP BY sides, length ORDER BY sides, length"
        )

    def values_of(self, number: int) -> list[tuple[int, bytes, str, float | None, float | None]]:
        """Return the values of a receipt's checks, each with the chance of what is below it and its own, if known."""
        return list(
            self.rows(
                "check_index, key, value, below, chance FROM value LEFT JOIN odds USING (key, value)"
                " WHERE number = ? ORDER BY check_index",
                number,
            )
        )

    def _many(self, statement: str, rows: Iterable[Any]) -> None:
        try:
            self._base.executemany(statement, rows)
        except sqlite3.OperationalError as error:
            raise _full(error) from error

    def _execute(self, statement: str, *arguments: object) -> int:
        try:
            return self._base.execute(statement, arguments).rowcount
        except sqlite3.OperationalError as error:
            raise _full(error) from error

    def _run(self, script: str) -> None:
        # `executescript` would end the transaction, and write everything.
        for statement in filter(str.strip, script.split(";")):
            self._execute(statement)


def _full(error: sqlite3.OperationalError) -> KeyFileError:
    return KeyFileError("FILE_NOT_WRITTEN", f"the audit's own folder for what it reads: {error}", field="TMPDIR")
