"""A guard in a SQLite file: for one machine.

All claims of a process go through one thread with one connection, a batch a transaction, since a write to disk costs
the same for one row as for a hundred.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from fairroll.errors import UsedError
from fairroll.guard.batches import Batches
from fairroll.guard.claims import Claim, Row, judge, unreachable, used
from fairroll.v1 import roll_pb2

BUSY_SECONDS = 5.0
RETRY_SECONDS = 0.02
RETAINED_AT_ONCE = 100
"""Sessions that one transaction closes: claims wait for no longer than that."""

T = TypeVar("T")
Work: TypeAlias = Callable[[sqlite3.Connection], T]

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

ROWS_AT = (
    "SELECT seq, request_digest, receipt_digest, closes FROM fairroll_seqs WHERE session_id = ? AND seq IN ({seqs})"
)
ANSWER_TO = (
    "SELECT seq, request_digest, receipt_digest, closes FROM fairroll_seqs WHERE session_id = ? AND parent_seq = ?"
)
CLAIM = """
INSERT INTO fairroll_seqs (session_id, seq, request_digest, engines, parent_seq, closes)
WITH asked (session_id, seq, request_digest, engines, parent_seq, closes) AS (VALUES {rows})
SELECT * FROM asked
WHERE (asked.seq = 0 OR EXISTS (
    SELECT 1 FROM fairroll_seqs AS row
    WHERE row.session_id = asked.session_id AND row.seq = asked.seq - 1 AND NOT row.closes))
  AND NOT EXISTS (SELECT 1 FROM fairroll_seqs AS row WHERE row.session_id = asked.session_id AND row.seq = -1)
ON CONFLICT DO NOTHING
"""
"""Writes each row that nothing stands in the way of."""
BURY = "INSERT INTO fairroll_seqs (session_id, seq, request_digest, engines, closes) VALUES (?, -1, x'', '', 1)"
REMOVE = "DELETE FROM fairroll_seqs WHERE session_id = ?"
STAND = """
UPDATE fairroll_seqs SET receipt_digest = asked.receipt_digest, engines = asked.engines
FROM (WITH given (session_id, seq, receipt_digest, engines) AS (VALUES {rows}) SELECT * FROM given) AS asked
WHERE fairroll_seqs.session_id = asked.session_id AND fairroll_seqs.seq = asked.seq
  AND fairroll_seqs.receipt_digest IS NULL
"""
IDLE = (
    "SELECT session_id FROM fairroll_seqs GROUP BY session_id"
    " HAVING max(claimed_at) <= CAST(strftime('%s', 'now') AS INTEGER) - ? AND max(seq) > -1"
)
STILL_IDLE = (
    "SELECT max(claimed_at) <= CAST(strftime('%s', 'now') AS INTEGER) - ? FROM fairroll_seqs WHERE session_id = ?"
)


@cache
def claim_statement(count: int) -> str:
    """Return CLAIM for so many rows, always the same text, by which SQLite knows what it has compiled."""
    return CLAIM.format(rows=", ".join(["(?, ?, ?, ?, ?, ?)"] * count))


@cache
def rows_statement(count: int) -> str:
    """Return ROWS_AT for so many seqs, as above."""
    return ROWS_AT.format(seqs=", ".join("?" * count))


@cache
def stand_statement(count: int) -> str:
    """Return STAND for so many rows, as above."""
    return STAND.format(rows=", ".join(["(?, ?, ?, ?)"] * count))


Inode: TypeAlias = tuple[int, int]


class Files(NamedTuple):
    """The files that a connection has opened.

    Attributes:
        path: of the first.
        file: which file it is.
        log: which file its write-ahead log is.
    """

    path: Path
    file: Inode
    log: Inode

    def require(self) -> None:
        """Return if they are where they were: what is written to a file that was removed is lost when it is closed.

        Raises:
            OSError: one was removed or another is in its place.
        """
        require(self.path, self.file)
        require(_log(self.path), self.log)


def inode(path: Path | str) -> Inode:
    """Return which file is at a path; 0, 0 where none is."""
    try:
        found = os.stat(path)  # noqa: PTH116  the same, and asked for every batch
    except FileNotFoundError:
        return 0, 0
    return found.st_dev, found.st_ino


def require(path: Path | str, known: Inode) -> None:
    """Return if a file is at a path.

    Raises:
        OSError: it was removed, or another is in its place.
    """
    if inode(path) != known:
        raise FileNotFoundError(f"{path} was removed or replaced: put it back, or start anew with what is there")


def _log(path: Path) -> str:
    return f"{path}-wal"


class Asked(NamedTuple):
    """A claim, or the digest of the receipt that is to stand for one."""

    claim: Claim
    receipt_digest: bytes | None = None


class SqliteGuard:
    """A guard in the file at `path`, made where there is none."""

    mode = roll_pb2.GUARD_MODE_SQLITE

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._files: Files | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._batches: Batches[Asked, bytes | None] = Batches(self._write)

    async def open(self) -> None:
        """Start the thread, which opens the file; make or migrate the tables."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "guard")
        await self._do(lambda _: None)

    async def claim(self, claim: Claim) -> bytes | None:
        """Claim a seq."""
        return await self._batches.ask(Asked(claim))

    async def stand(self, claim: Claim, receipt_digest: bytes) -> bytes:
        """Store the digest of a receipt."""
        standing = await self._batches.ask(Asked(claim, receipt_digest))
        return receipt_digest if standing is None else standing

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
        if self._thread is None:
            return
        await self._batches.drain()
        await self._in_thread(self._disconnect)
        self._thread.shutdown()
        self._thread = None

    async def _write(self, batch: list[Asked]) -> Sequence[bytes | Exception | None]:
        return await self._do(lambda connection: write(connection, batch))

    async def _do(self, work: Work[T]) -> T:
        return await self._in_thread(partial(self._transact, work))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._thread is None:
            raise unreachable(RuntimeError("the guard is not open"))
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _transact(self, work: Work[T]) -> T:
        """Do some work in one transaction; whatever goes wrong, the next begins with a new connection."""
        try:
            if self._connection is None or self._files is None:
                known = None if self._files is None else self._files.file
                self._connection, self._files = connect(self._path, known)
            else:
                self._files.require()
            self._connection.execute("BEGIN IMMEDIATE")
            done = work(self._connection)
            self._connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            self._disconnect()
            raise unreachable(error) from error
        return done

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def connect(path: Path, known: Inode | None = None) -> tuple[sqlite3.Connection, Files]:
    """Open the file, and bring its tables to the version of this program.

    Args:
        path: where it is; made there where there is none and none is known.
        known: which file it has to be.

    Raises:
        sqlite3.Error: it cannot be opened, or is of a newer version; or it is busy for longer than BUSY_SECONDS.
        OSError: the known file is no longer there.
    """
    latest = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return _connect(path, known)
        except sqlite3.OperationalError as error:
            # Turning a file to WAL takes it for itself, and does not wait for another process that does the same.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > latest:
                raise
            time.sleep(RETRY_SECONDS)


def _connect(path: Path, known: Inode | None) -> tuple[sqlite3.Connection, Files]:
    if known is None:
        path.touch()
        known = inode(path)
    require(path, known)  # before SQLite would make another
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
        require(path, known)  # still, so that this is what was opened
        return connection, Files(path, known, inode(_log(path)))
    except BaseException:
        connection.close()
        raise


def write(connection: sqlite3.Connection, batch: Sequence[Asked]) -> list[bytes | Exception | None]:
    """Write what is asked, all in few statements, since each waits anew for the interpreter; answer each for itself."""
    claims = [asked.claim for asked in batch if asked.receipt_digest is None]
    stands = [(asked.claim, asked.receipt_digest) for asked in batch if asked.receipt_digest is not None]
    claimed = iter(_claim_all(connection, claims)) if claims else iter(())
    stood = iter(_stand_all(connection, stands)) if stands else iter(())
    return [next(claimed if asked.receipt_digest is None else stood) for asked in batch]


def _claim_all(connection: sqlite3.Connection, claims: Sequence[Claim]) -> list[bytes | Exception | None]:
    answers: list[bytes | Exception | None] = [None] * len(claims)
    free: list[int] = []
    for index, claim in enumerate(claims):
        # Whether the receipts of a chain stand is not looked at by the statement.
        if not claim.chain or _judge(connection, claim, answers, index):
            free.append(index)
    if free and _insert(connection, [claims[index] for index in free]) < len(free):
        for index in free:
            if _judge(connection, claims[index], answers, index) and not _insert(connection, [claims[index]]):
                raise sqlite3.DatabaseError("a claim was not written, though nothing stands in its way")
    return answers


def _judge(connection: sqlite3.Connection, claim: Claim, answers: list[bytes | Exception | None], index: int) -> bool:
    """Say whether a claim is free to be written; where it is not, note its answer."""
    try:
        free, answers[index] = judge(claim, *_read(connection, claim))
    except UsedError as error:
        free, answers[index] = False, error
    return free


def _insert(connection: sqlite3.Connection, claims: Sequence[Claim]) -> int:
    values: list[object] = []
    for claim in claims:
        values += claim.session_id, claim.seq, claim.request_digest, claim.engines, claim.parent_seq, claim.closes
    return connection.execute(claim_statement(len(claims)), values).rowcount


def _read(connection: sqlite3.Connection, claim: Claim) -> tuple[dict[int, Row], Row | None]:
    """Return what stands at the seqs that decide about a claim, and what answers the same parent."""
    seqs = claim.looked_up
    found = connection.execute(rows_statement(len(seqs)), (claim.session_id, *seqs)).fetchall()
    rows = {row[0]: _row(row) for row in found}
    if claim.parent_seq is None:
        return rows, None
    answer = connection.execute(ANSWER_TO, (claim.session_id, claim.parent_seq)).fetchone()
    return rows, _row(answer) if answer else None


def _stand_all(connection: sqlite3.Connection, stands: Sequence[tuple[Claim, bytes]]) -> list[bytes | Exception | None]:
    values: list[object] = []
    for claim, receipt_digest in stands:
        values += claim.session_id, claim.seq, receipt_digest, claim.engines
    if connection.execute(stand_statement(len(stands)), values).rowcount == len(stands):
        return [digest for _, digest in stands]
    return [_standing(connection, claim) for claim, _ in stands]


def _standing(connection: sqlite3.Connection, claim: Claim) -> bytes | Exception | None:
    found = connection.execute(rows_statement(1), (claim.session_id, claim.seq)).fetchone()
    if found is None:
        return used("SESSION_CLOSED", "the session was closed", "seq", None, claim.seq)
    return _row(found).receipt_digest


def _idle(path: Path, idle_seconds: int) -> list[bytes]:
    connection, _ = connect(path)
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
            connection.execute(REMOVE, (session_id,))
            connection.execute(BURY, (session_id,))
            closed += 1
    return closed


def _row(found: tuple[int, bytes, bytes | None, int]) -> Row:
    seq, request_digest, receipt_digest, closes = found
    return Row(seq, request_digest, receipt_digest, bool(closes))
