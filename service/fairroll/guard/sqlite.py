"""A guard in a SQLite file: for one machine.

All claims of a process go through one thread with one connection. What waits when it turns to the next ones is
written in one transaction, since a write to disk costs the same for one row as for a hundred.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

from fairroll.guard.claims import Claim, Row, judge, unreachable, used
from fairroll.v1 import roll_pb2

BUSY_SECONDS = 5.0
RETRY_SECONDS = 0.02
MAX_BATCH = 256
RETAINED_AT_ONCE = 100
"""Sessions that one transaction closes: claims wait for no longer than that."""

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

MIGRATIONS = (
    """
    CREATE TABLE fairroll_seqs (
        session_id BLOB NOT NULL,
        seq INTEGER NOT NULL,
        request_digest BLOB NOT NULL,
        engines TEXT NOT NULL,
        receipt_digest BLOB,
        parent_seq INTEGER,
        closes INTEGER NOT NULL,
        claimed_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER)),
        PRIMARY KEY (session_id, seq)
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX fairroll_answers ON fairroll_seqs (session_id, parent_seq) WHERE parent_seq IS NOT NULL;
    """,
)
"""One script a version of the tables; those that ran are never changed."""

ROW_AT = "SELECT seq, request_digest, receipt_digest, closes FROM fairroll_seqs WHERE session_id = ? AND seq = ?"
ANSWER_TO = (
    "SELECT seq, request_digest, receipt_digest, closes FROM fairroll_seqs WHERE session_id = ? AND parent_seq = ?"
)
CLAIM = """
INSERT INTO fairroll_seqs (session_id, seq, request_digest, engines, parent_seq, closes)
SELECT :session_id, :seq, :request_digest, :engines, :parent_seq, :closes
WHERE (:seq = 0 OR EXISTS (
    SELECT 1 FROM fairroll_seqs WHERE session_id = :session_id AND seq = :seq - 1 AND NOT closes))
  AND NOT EXISTS (SELECT 1 FROM fairroll_seqs WHERE session_id = :session_id AND seq = -1)
ON CONFLICT DO NOTHING
"""
"""Writes the row where nothing stands in its way; one statement, since each waits anew for the interpreter."""
BURY = "INSERT INTO fairroll_seqs (session_id, seq, request_digest, engines, closes) VALUES (?, -1, x'', '', 1)"
STAND = (
    "UPDATE fairroll_seqs SET receipt_digest = ?, engines = ?"
    " WHERE session_id = ? AND seq = ? AND receipt_digest IS NULL"
)
IDLE = (
    "SELECT session_id FROM fairroll_seqs GROUP BY session_id"
    " HAVING max(claimed_at) <= CAST(strftime('%s', 'now') AS INTEGER) - ? AND max(seq) > -1"
)
STILL_IDLE = (
    "SELECT max(claimed_at) <= CAST(strftime('%s', 'now') AS INTEGER) - ? FROM fairroll_seqs WHERE session_id = ?"
)


class _Waiting(NamedTuple):
    work: Work[Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class SqliteGuard:
    """A guard in the file at `path`, made where there is none."""

    mode = roll_pb2.GUARD_MODE_SQLITE

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    async def open(self) -> None:
        """Start the thread, which opens the file; make or migrate the tables."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="guard", daemon=True)
            self._thread.start()
        await self._do(lambda _: None)

    async def claim(self, claim: Claim) -> bytes | None:
        """Claim a seq."""
        return await self._do(lambda connection: _claim(connection, claim))

    async def stand(self, claim: Claim, receipt_digest: bytes) -> bytes:
        """Store the digest of a receipt."""
        return await self._do(lambda connection: _stand(connection, claim, receipt_digest))

    async def retain(self, idle_seconds: int) -> int:
        """Close idle sessions, some at a time; what is idle is found beside the claims, which it would hold up."""
        try:
            idle = await asyncio.to_thread(_idle, self._path, idle_seconds)
        except (sqlite3.Error, OSError) as error:
            raise unreachable(error) from error
        closed = 0
        for first in range(0, len(idle), RETAINED_AT_ONCE):
            some = idle[first : first + RETAINED_AT_ONCE]
            closed += await self._do(partial(_retain, sessions=some, idle_seconds=idle_seconds))
        return closed

    async def close(self) -> None:
        """End the thread, after what waits."""
        if self._thread is not None:
            self._waiting.put(None)
            await asyncio.to_thread(self._thread.join)
            self._thread = None

    async def _do(self, work: Work[T]) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._waiting.put(_Waiting(work, loop, future))
        return await future

    def _run(self) -> None:
        """Take what waits, a transaction at a time, until told to end."""
        connection: sqlite3.Connection | None = None
        ending = False
        while not ending:
            batch: list[_Waiting] = []
            first = self._waiting.get()
            while first is not None:
                batch.append(first)
                if len(batch) == MAX_BATCH or self._waiting.empty():
                    break
                first = self._waiting.get()
            ending = first is None
            if not batch:
                break
            try:
                connection = connection if connection is not None else connect(self._path)
                answers = _transact(connection, batch)
            except (sqlite3.Error, OSError) as error:
                # Whatever went wrong, the next batch begins with a new connection.
                if connection is not None:
                    connection.close()
                connection = None
                answers = [(waiting, None, unreachable(error)) for waiting in batch]
            _deliver(answers)
        if connection is not None:
            connection.close()


_Answer = tuple[_Waiting, Any, Exception | None]


def connect(path: Path) -> sqlite3.Connection:
    """Open the file, and bring its tables to the version of this program.

    Raises:
        sqlite3.Error: it cannot be opened, or is of a newer version; or it is busy for longer than BUSY_SECONDS.
    """
    latest = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return _connect(path)
        except sqlite3.OperationalError as error:
            # Turning a file to WAL takes it for itself, and does not wait for another process that does the same.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > latest:
                raise
            time.sleep(RETRY_SECONDS)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            raise sqlite3.DatabaseError(f"the tables are of version {version}, newer than this program")
        for script in MIGRATIONS[version:]:
            for statement in filter(str.strip, script.split(";")):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _transact(connection: sqlite3.Connection, batch: list[_Waiting]) -> list[_Answer]:
    """Do what waits in one transaction; what is refused has written nothing, and spoils nothing for the others."""
    answers: list[_Answer] = []
    connection.execute("BEGIN IMMEDIATE")
    for waiting in batch:
        try:
            answers.append((waiting, waiting.work(connection), None))
        except (sqlite3.Error, OSError):
            raise
        except Exception as error:  # noqa: BLE001  it is whoever asked who gets it
            answers.append((waiting, None, error))
    connection.execute("COMMIT")
    return answers


def _deliver(answers: list[_Answer]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[_Answer]] = {}
    for answer in answers:
        by_loop.setdefault(answer[0].loop, []).append(answer)
    for loop, own in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, own)


def _settle(answers: list[_Answer]) -> None:
    for waiting, answer, error in answers:
        if waiting.future.done():
            continue  # whoever asked has gone
        if error is not None:
            waiting.future.set_exception(error)
        else:
            waiting.future.set_result(answer)


def _claim(connection: sqlite3.Connection, claim: Claim) -> bytes | None:
    if claim.chain:  # its receipts are to stand, which the statement does not look at
        free, standing = judge(claim, *_read(connection, claim))
        if not free:
            return standing
    if connection.execute(CLAIM, _values(claim)).rowcount:
        return None
    free, standing = judge(claim, *_read(connection, claim))
    if free:
        raise sqlite3.DatabaseError("a claim was not written, though nothing stands in its way")
    return standing


def _values(claim: Claim) -> dict[str, bytes | int | str | None]:
    return {
        "session_id": claim.session_id,
        "seq": claim.seq,
        "request_digest": claim.request_digest,
        "engines": claim.engines,
        "parent_seq": claim.parent_seq,
        "closes": claim.closes,
    }


def _read(connection: sqlite3.Connection, claim: Claim) -> tuple[dict[int, Row], Row | None]:
    """Return what stands at the seqs that decide about a claim, and what answers the same parent."""
    rows: dict[int, Row] = {}
    for seq in claim.looked_up:
        if found := connection.execute(ROW_AT, (claim.session_id, seq)).fetchone():
            rows[seq] = _row(found)
    if claim.parent_seq is None:
        return rows, None
    found = connection.execute(ANSWER_TO, (claim.session_id, claim.parent_seq)).fetchone()
    return rows, _row(found) if found else None


def _stand(connection: sqlite3.Connection, claim: Claim, receipt_digest: bytes) -> bytes:
    where = (claim.session_id, claim.seq)
    if connection.execute(STAND, (receipt_digest, claim.engines, *where)).rowcount:
        return receipt_digest
    found = connection.execute(ROW_AT, where).fetchone()
    if found is None:
        raise used("SESSION_CLOSED", "the session was closed", "seq", None, claim.seq)
    standing = _row(found).receipt_digest
    return receipt_digest if standing is None else standing


def _idle(path: Path, idle_seconds: int) -> list[bytes]:
    connection = connect(path)
    try:
        return [session_id for (session_id,) in connection.execute(IDLE, (idle_seconds,)).fetchall()]
    finally:
        connection.close()


def _retain(connection: sqlite3.Connection, sessions: Sequence[bytes], idle_seconds: int) -> int:
    """Close those of the sessions where nothing was rolled in the meantime, and return how many."""
    closed = 0
    for session_id in sessions:
        (idle,) = connection.execute(STILL_IDLE, (idle_seconds, session_id)).fetchone()
        if idle:
            connection.execute("DELETE FROM fairroll_seqs WHERE session_id = ?", (session_id,))
            connection.execute(BURY, (session_id,))
            closed += 1
    return closed


def _row(found: tuple[int, bytes, bytes | None, int]) -> Row:
    seq, request_digest, receipt_digest, closes = found
    return Row(seq, request_digest, receipt_digest, bool(closes))
