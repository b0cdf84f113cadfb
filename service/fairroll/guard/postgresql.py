"""A guard in PostgreSQL: for a fleet of replicas.

A root is claimed by one statement, which writes the row only where nothing stands in its way; only where it did not
are the rows read that say why. The primary key and the unique index decide every race. Calls that come together send
their statements together, in one transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from fairroll.errors import ServiceError
from fairroll.guard.batches import Batches
from fairroll.guard.claims import Claim, Row, judge, unreachable, used
from fairroll.v1 import roll_pb2

CALL_SECONDS = 5.0
"""After so long a call that has not come back is given up."""
MAX_CONNECTIONS = 8
"""Of one replica: one for the batches, and some for what is looked at alone."""
MAX_TRIES = 5
MIGRATION_LOCK = 0x66616972726F6C6C
"""`fairroll` as a number: replicas that start together migrate one after another."""

MIGRATIONS = (
    """
    CREATE TABLE fairroll_seqs (
        session_id bytea NOT NULL,
        seq bigint NOT NULL,
        request_digest bytea NOT NULL,
        engines text NOT NULL,
        receipt_digest bytea,
        parent_seq bigint,
        closes boolean NOT NULL,
        claimed_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (session_id, seq)
    );
    CREATE UNIQUE INDEX fairroll_answers ON fairroll_seqs (session_id, parent_seq) WHERE parent_seq IS NOT NULL;
    """,
)
"""One script a version of the tables; those that ran are never changed."""

CLAIM = """
INSERT INTO fairroll_seqs (session_id, seq, request_digest, engines, parent_seq, closes)
SELECT %(session_id)s, %(seq)s::bigint, %(request_digest)s, %(engines)s, %(parent_seq)s::bigint, %(closes)s
WHERE (%(seq)s::bigint = 0 OR EXISTS (
    SELECT FROM fairroll_seqs WHERE session_id = %(session_id)s AND seq = %(seq)s::bigint - 1 AND NOT closes))
  AND NOT EXISTS (SELECT FROM fairroll_seqs WHERE session_id = %(session_id)s AND seq = -1)
ON CONFLICT DO NOTHING
"""
# One statement and so one moment: what is claimed in between is seen by both halves or by neither.
ROWS_AT = """
SELECT false, seq, request_digest, receipt_digest, closes FROM fairroll_seqs
WHERE session_id = %(session_id)s AND seq = ANY(%(seqs)s::bigint[])
UNION ALL
SELECT true, seq, request_digest, receipt_digest, closes FROM fairroll_seqs
WHERE session_id = %(session_id)s AND parent_seq = %(parent_seq)s::bigint
"""
STAND = """
UPDATE fairroll_seqs SET receipt_digest = %(receipt_digest)s, engines = %(engines)s
WHERE session_id = %(session_id)s AND seq = %(seq)s AND receipt_digest IS NULL
"""
IDLE = """
SELECT session_id FROM fairroll_seqs GROUP BY session_id
HAVING max(claimed_at) <= now() - make_interval(secs => %(idle_seconds)s) AND max(seq) > -1
"""
BURY = """
INSERT INTO fairroll_seqs (session_id, seq, request_digest, engines, closes)
SELECT %(session_id)s, -1, ''::bytea, '', true
WHERE NOT EXISTS (
    SELECT FROM fairroll_seqs WHERE session_id = %(session_id)s
    AND claimed_at > now() - make_interval(secs => %(idle_seconds)s))
ON CONFLICT DO NOTHING
"""
"""Once more only where nothing was rolled in the meantime: others were closed before this one."""
REMOVE = """
DELETE FROM fairroll_seqs WHERE session_id = %(session_id)s AND seq > -1
AND EXISTS (SELECT FROM fairroll_seqs WHERE session_id = %(session_id)s AND seq = -1)
"""

_FAILURES = (psycopg.Error, PoolTimeout, PoolClosed, TooManyRequests, OSError, TimeoutError)

Connection = psycopg.AsyncConnection[Any]
Parameters: TypeAlias = dict[str, Any]


class PostgresqlGuard:
    """A guard in the database that `conninfo` names: `postgresql://user@host/database`."""

    mode = roll_pb2.GUARD_MODE_POSTGRESQL

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._migrated = False
        self._batches = Batches(self._write)

    async def open(self) -> None:
        """Open the pool and migrate the tables; once that is done, read a row that is not there."""
        if self._pool is None:
            self._pool = AsyncConnectionPool(
                self._conninfo,
                min_size=1,
                max_size=MAX_CONNECTIONS,
                open=False,
                timeout=CALL_SECONDS,
                reconnect_timeout=CALL_SECONDS,
                kwargs={"autocommit": True, "connect_timeout": int(CALL_SECONDS)},
                check=None,
            )
            await self._pool.open()
        async with self._connected() as connection:
            if not self._migrated:
                await migrate(connection)
            self._migrated = True
            await _read(connection, b"", (0,))

    async def claim(self, claim: Claim) -> bytes | None:
        """Claim a seq: together with others, and where that does not write it alone, which finds out why."""
        parameters = {
            "session_id": claim.session_id,
            "seq": claim.seq,
            "request_digest": claim.request_digest,
            "engines": claim.engines,
            "parent_seq": claim.parent_seq,
            "closes": claim.closes,
        }
        # Whether the receipts of a chain stand is not looked at by the statement. They never change, so that looking at
        # them before the row is written is soon enough.
        if not claim.chain and await self._batches.ask(parameters):
            return None
        async with self._connected() as connection:
            for _ in range(MAX_TRIES):
                free, standing = judge(
                    claim, *await _read(connection, claim.session_id, claim.looked_up, claim.parent_seq)
                )
                if not free:
                    return standing
                if (await connection.execute(CLAIM, parameters, prepare=True)).rowcount:
                    return None
                # Something came in between.
        raise unreachable(TimeoutError("a claim found no end"))

    async def stand(self, claim: Claim, receipt_digest: bytes) -> bytes:
        """Store the digest of a receipt."""
        parameters = {
            "session_id": claim.session_id,
            "seq": claim.seq,
            "receipt_digest": receipt_digest,
            "engines": claim.engines,
        }
        if await self._batches.ask(parameters):
            return receipt_digest
        async with self._connected() as connection:
            rows, _ = await _read(connection, claim.session_id, (claim.seq,))
        if claim.seq not in rows:
            raise used("SESSION_CLOSED", "the session was closed", "seq", None, claim.seq)
        return rows[claim.seq].receipt_digest or receipt_digest

    async def retain(self, idle_seconds: int) -> int:
        """Close idle sessions, each by itself: claims under way see either all of its rows or that it is closed."""
        async with self._connected(seconds=None) as connection:
            found = await connection.execute(IDLE, {"idle_seconds": idle_seconds})
            closed = 0
            for (session_id,) in await found.fetchall():
                # The stone first: whoever claims from now on sees it, so that nothing follows what is then removed.
                await connection.execute(BURY, {"session_id": session_id, "idle_seconds": idle_seconds})
                removed = await connection.execute(REMOVE, {"session_id": session_id})
                closed += removed.rowcount > 0
        return closed

    async def close(self) -> None:
        """Close the pool."""
        if self._pool is not None:
            await self._batches.drain()
            await self._pool.close()
            self._pool = None

    async def _write(self, batch: Sequence[Parameters]) -> Sequence[bool]:
        """Run all in one transaction and one turn to the server; say of each whether it surely wrote.

        Replicas wait for one another's rows, but never in a circle: each goes through its claims in one order and then
        through its digests in the same order; rows that were only claimed are waited for by claims alone.
        """
        ordered = sorted(batch, key=lambda each: (each["session_id"], each["seq"]))
        claims = [each for each in ordered if "receipt_digest" not in each]
        stands = [each for each in ordered if "receipt_digest" in each]
        async with self._connected() as connection, connection.pipeline():
            claiming, standing = connection.cursor(), connection.cursor()
            await claiming.executemany(CLAIM, claims)
            await standing.executemany(STAND, stands)
        claimed, stood = claiming.rowcount == len(claims), standing.rowcount == len(stands)
        return [stood if "receipt_digest" in each else claimed for each in batch]

    @asynccontextmanager
    async def _connected(self, seconds: float | None = CALL_SECONDS) -> AsyncIterator[Connection]:
        try:
            if self._pool is None:
                raise PoolClosed("the guard is not open")
            async with asyncio.timeout(seconds), self._pool.connection() as connection:
                yield connection
        except _FAILURES as error:
            raise unreachable(error) from error


async def migrate(connection: Connection) -> None:
    """Bring the tables to the version of this program, in one transaction.

    Raises:
        ServiceError: the tables are newer than this program, or the server does not write to disk before it answers.
    """
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
        await connection.execute("CREATE TABLE IF NOT EXISTS fairroll_schema (version integer NOT NULL)")
        found = await (await connection.execute("SELECT max(version) FROM fairroll_schema")).fetchone()
        version = (found[0] if found else None) or 0
        if version > len(MIGRATIONS):
            raise ServiceError("GUARD_UNREACHABLE", f"the guard's tables are of version {version}, newer than this")
        for number, script in enumerate(MIGRATIONS[version:], version + 1):
            await connection.execute(script.encode())
            await connection.execute("INSERT INTO fairroll_schema VALUES (%s)", (number,))
        for setting in ("fsync", "synchronous_commit"):
            shown = await (await connection.execute(f"SHOW {setting}".encode())).fetchone()
            if shown is None or shown[0] == "off":
                message = f"the guard's server has {setting} off: it forgets claims when it fails"
                raise ServiceError("GUARD_UNREACHABLE", message)


async def _read(
    connection: Connection, session_id: bytes, seqs: Sequence[int], parent_seq: int | None = None
) -> tuple[dict[int, Row], Row | None]:
    """Return what stands at these seqs, and what answers that parent."""
    parameters = {"session_id": session_id, "seqs": list(seqs), "parent_seq": parent_seq}
    found = await (await connection.execute(ROWS_AT, parameters, prepare=True)).fetchall()
    rows = {row[1]: Row(*row[1:]) for row in found if not row[0]}
    return rows, next((Row(*row[1:]) for row in found if row[0]), None)


__all__ = ["PostgresqlGuard", "migrate"]
