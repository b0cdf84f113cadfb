"""What a claim takes in a guard of ten million rows, beside one of ten thousand. Takes minutes and gigabytes."""

import asyncio
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path
from statistics import median

import psycopg

from bench.measure import Row
from fairroll.guard import Claim, Guard
from fairroll.guard.postgresql import PostgresqlGuard
from fairroll.guard.sqlite import SqliteGuard
from tests.service.postgres import Postgres, running_postgres

FEW, MANY = 10_000, 10_000_000
SEQS = 100
"""Rows a session."""
CLAIMS = 400

FILL_SQLITE = """
INSERT INTO fairroll_seqs (session_id, seq, request_digest, engines, receipt_digest, parent_seq, closes)
WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ? - 1)
SELECT session(n / 100), n % 100, randomblob(32), 'notation/1', randomblob(32),
    CASE n % 7 WHEN 3 THEN n % 100 - 1 END, 0
FROM numbers
"""
FILL_POSTGRESQL = """
INSERT INTO fairroll_seqs (session_id, seq, request_digest, engines, receipt_digest, parent_seq, closes)
SELECT sha256((n / 100)::text::bytea), n %% 100, sha256(n::text::bytea), 'notation/1', sha256(n::text::bytea),
    CASE n %% 7 WHEN 3 THEN n %% 100 - 1 END, false
FROM generate_series(0, %s - 1) AS n
"""


def session(number: int) -> bytes:
    """The id of a session that is there."""
    return sha256(str(number).encode()).digest()


def rows(rounds: int) -> list[Row]:
    """Fill, measure, and return a ratio for each guard and each thing that is asked of it."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, running_postgres() as postgres:
        for name, make in (
            ("SQLite", lambda count: _sqlite(Path(folder) / f"{count}.db", count)),
            ("PostgreSQL", lambda count: _postgresql(postgres, count)),
        ):
            few, many = (asyncio.run(_measure(make, count, rounds)) for count in (FEW, MANY))
            found += [Row(f"{name}: {what}", many[what], f"{FEW:,} rows", few[what]) for what in few]
    return found


async def _sqlite(path: Path, count: int) -> Guard:
    guard = SqliteGuard(path)
    await guard.open()
    connection = sqlite3.connect(path)
    connection.create_function("session", 1, session, deterministic=True)
    with connection:
        connection.execute(FILL_SQLITE, (count,))
    connection.close()
    return guard


async def _postgresql(postgres: Postgres, count: int) -> Guard:
    conninfo = postgres.make_database(f"rows_{count}")
    guard = PostgresqlGuard(conninfo)
    await guard.open()
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(FILL_POSTGRESQL, (count,))
        connection.execute("VACUUM ANALYZE fairroll_seqs")
    return guard


async def _measure(make: Callable[[int], Awaitable[Guard]], count: int, rounds: int) -> dict[str, float]:
    """Return the median wall time of each thing in microseconds, one call after another."""
    guard = await make(count)
    random_ = random.Random(count)
    taken: dict[str, list[float]] = {}

    async def timed(what: str, call: Awaitable[object]) -> None:
        start = time.perf_counter()
        await call
        taken.setdefault(what, []).append((time.perf_counter() - start) * 1e6)

    numbers = random_.sample(range(count // SEQS), min(CLAIMS * rounds, count // SEQS))
    for number in numbers:
        digest = os.urandom(32)
        following = Claim(session(number), SEQS, digest, "notation/1")
        await timed("a claim that is written", guard.claim(following))
        await timed("the digest of its receipt", guard.stand(following, digest))
        await timed("a claim that stands already", guard.claim(following))
    await guard.close()
    return {what: median(each) for what, each in taken.items()}
