"""The guard: a seq is used once, in order; a pending receipt is answered once; on SQLite and on PostgreSQL alike."""

import asyncio
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Sequence
from pathlib import Path

import psycopg
import pytest

from fairroll.errors import ServiceError, UsedError
from fairroll.guard import Claim, Guard, guarded, postgresql, sqlite
from fairroll.guard.postgresql import PostgresqlGuard
from fairroll.guard.sqlite import SqliteGuard
from fairroll.settings import GuardPlace, parse_guard
from fairroll.v1 import roll_pb2
from fairroll.verify import verify
from tests.service.guards import guard, guard_at, place, postgres
from tests.service.postgres import Postgres
from tests.service.process import SOURCE_ROOTS
from tests.service.rolling import NOON, ROOT, TENANT, proofs_of, request, roller, service_keys
from tests.service.table_play import Table, bundle, is_pending, remove

__all__ = ["guard", "place", "postgres"]

SESSION = b"s" * 32
RACES = 200
"""Between two guards in one process; those of whole services are in test_guard_faults.py."""
ONE, OTHER = b"1" * 32, b"2" * 32


def claim(
    seq: int,
    request_digest: bytes = ONE,
    *,
    session: bytes = SESSION,
    parent_seq: int | None = None,
    closes: bool = False,
    chain: tuple[tuple[int, bytes], ...] = (),
) -> Claim:
    return Claim(session, seq, request_digest, "notation/1", parent_seq, closes, chain)


async def used(guard: Guard, claim: Claim) -> UsedError:
    with pytest.raises(UsedError) as refused:
        await guard.claim(claim)
    return refused.value


async def answer(guard: Guard, claim: Claim, digest: bytes) -> None:
    assert await guard.claim(claim) is None
    assert await guard.stand(claim, digest) == digest


# Rows


async def test_the_same_request_gets_the_digest_that_stands(guard: Guard) -> None:
    await answer(guard, claim(0), b"d" * 32)
    assert await guard.claim(claim(0)) == b"d" * 32


async def test_another_request_is_told_the_digest_that_stands(guard: Guard) -> None:
    await answer(guard, claim(0), b"d" * 32)
    error = await used(guard, claim(0, OTHER))
    assert (error.reason, error.field, error.value, error.digest) == ("SEQ_USED", "seq", "0", (b"d" * 32).hex())


async def test_a_claim_whose_answer_never_left_is_the_same_requests_and_nobody_elses(guard: Guard) -> None:
    assert await guard.claim(claim(0)) is None
    assert await guard.claim(claim(0)) is None
    error = await used(guard, claim(0, OTHER))
    assert (error.reason, error.digest) == ("SEQ_USED", "")


async def test_the_first_digest_stands(guard: Guard) -> None:
    assert await guard.claim(claim(0)) is None
    assert await guard.stand(claim(0), b"d" * 32) == b"d" * 32
    assert await guard.stand(claim(0), b"e" * 32) == b"d" * 32


@pytest.mark.parametrize("seq", [1, 7, 2**53 - 1])
async def test_a_gap_is_refused_and_leaves_nothing(guard: Guard, seq: int) -> None:
    assert (await used(guard, claim(seq))).reason == "SEQ_GAP"
    await answer(guard, claim(0), b"d" * 32)
    if seq > 1:
        assert (await used(guard, claim(seq))).reason == "SEQ_GAP"
    await answer(guard, claim(1), b"e" * 32)


async def test_sessions_do_not_touch_one_another(guard: Guard) -> None:
    await answer(guard, claim(0), b"d" * 32)
    await answer(guard, claim(0, OTHER, session=b"t" * 32), b"e" * 32)


async def test_nothing_follows_a_close_which_can_be_asked_again(guard: Guard) -> None:
    await answer(guard, claim(0), b"d" * 32)
    await answer(guard, claim(1, closes=True), b"e" * 32)
    assert await guard.claim(claim(1, closes=True)) == b"e" * 32
    assert (await used(guard, claim(2))).reason == "SESSION_CLOSED"


async def test_a_parent_is_answered_once(guard: Guard) -> None:
    await answer(guard, claim(0), b"p" * 32)
    chain = ((0, b"p" * 32),)
    await answer(guard, claim(1, parent_seq=0, chain=chain), b"d" * 32)
    error = await used(guard, claim(2, OTHER, parent_seq=0, chain=chain))
    assert (error.reason, error.value, error.digest) == ("ANSWERED_ALREADY", "1", (b"d" * 32).hex())
    assert await guard.claim(claim(1, parent_seq=0, chain=chain)) == b"d" * 32


@pytest.mark.parametrize("chain", [((0, b"q" * 32),), ((0, b"p" * 32), (5, b"p" * 32))])
async def test_a_chain_of_receipts_that_do_not_stand_is_refused(guard: Guard, chain: tuple[tuple[int, bytes]]) -> None:
    await answer(guard, claim(0), b"p" * 32)
    error = await used(guard, claim(1, parent_seq=chain[-1][0], chain=chain))
    assert (error.reason, error.field) == ("CHAIN_NOT_STANDING", f"chain[{len(chain) - 1}]")


async def test_retention_leaves_one_row_and_the_session_closed(guard: Guard) -> None:
    for seq in range(3):
        await answer(guard, claim(seq), b"d" * 32)
    assert await guard.retain(3600) == 0
    assert await guard.retain(0) == 1
    assert await guard.retain(0) == 0
    for seq in range(5):
        assert (await used(guard, claim(seq))).reason == "SESSION_CLOSED"
    with pytest.raises(UsedError) as refused:
        await guard.stand(claim(1), b"d" * 32)
    assert refused.value.reason == "SESSION_CLOSED"
    await answer(guard, claim(0, session=b"t" * 32), b"d" * 32)


async def test_a_session_that_rolls_while_others_are_closed_is_left_open(
    place: GuardPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is found idle is everything, as if each had rolled again right after.
    monkeypatch.setattr(sqlite, "_idle", lambda *_: [SESSION])
    monkeypatch.setattr(postgresql, "IDLE", "SELECT session_id FROM fairroll_seqs WHERE %(idle_seconds)s > 0")
    guard = guard_at(place)
    await guard.open()
    await answer(guard, claim(0), b"d" * 32)
    assert await guard.retain(3600) == 0
    await answer(guard, claim(1), b"e" * 32)
    await guard.close()


def test_a_file_that_another_process_begins_at_the_same_time_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two processes that turn one new file to WAL together: SQLite tells one of them, once in some hundred times and at
    # once, that the file is locked. Its own wait does not cover that.
    locked = sqlite3.OperationalError("database is locked")
    locked.sqlite_errorcode = sqlite3.SQLITE_BUSY
    once = [locked]
    connect = sqlite3.connect

    def sometimes(*given: object, **more: object) -> sqlite3.Connection:
        if once:
            raise once.pop()
        return connect(*given, **more)  # type: ignore[call-overload, no-any-return]  # passes on what it is given

    monkeypatch.setattr(sqlite3, "connect", sometimes)
    connection, _ = sqlite.connect(tmp_path / "guard.db")
    connection.close()
    assert not once


async def test_what_was_claimed_outlives_the_process(place: GuardPlace) -> None:
    first = guard_at(place)
    await first.open()
    await answer(first, claim(0), b"d" * 32)
    await first.close()
    second = guard_at(place)
    await second.open()
    assert await second.claim(claim(0)) == b"d" * 32
    await second.close()


# Races


@pytest.mark.slow
async def test_of_two_replicas_that_claim_one_seq_exactly_one_wins(place: GuardPlace) -> None:
    replicas = [guard_at(place), guard_at(place)]
    await asyncio.gather(*(each.open() for each in replicas))
    for seq in range(RACES):
        races = [replicas[seq % 2].claim(claim(seq, ONE)), replicas[1 - seq % 2].claim(claim(seq, OTHER))]
        ends = await asyncio.gather(*races, return_exceptions=True)
        lost = [end for end in ends if end is not None]
        assert len(lost) == 1
        assert isinstance(lost[0], UsedError)
        assert lost[0].reason == "SEQ_USED"
    await asyncio.gather(*(each.close() for each in replicas))


@pytest.mark.slow
async def test_of_two_answers_to_one_pending_receipt_exactly_one_stands(place: GuardPlace) -> None:
    """Both the seq and the parent are raced for: one answer is at the next seq, the other wants the one after."""
    replicas = [guard_at(place), guard_at(place)]
    await asyncio.gather(*(each.open() for each in replicas))
    sessions = [number.to_bytes(32, "big") for number in range(RACES)]
    for seq, digest in ((0, b"p" * 32), (1, b"q" * 32)):
        await asyncio.gather(*(answer(replicas[0], claim(seq, session=each), digest) for each in sessions))
    for number, session in enumerate(sessions):
        chain = ((0, b"p" * 32),)
        races = [
            replicas[number % 2].claim(claim(2, ONE, session=session, parent_seq=0, chain=chain)),
            replicas[1 - number % 2].claim(claim(2 + number % 2, OTHER, session=session, parent_seq=0, chain=chain)),
        ]
        ends = await asyncio.gather(*races, return_exceptions=True)
        lost = [end for end in ends if end is not None]
        assert len(lost) == 1
        assert isinstance(lost[0], UsedError)
        assert lost[0].reason in ("SEQ_USED", "ANSWERED_ALREADY", "SEQ_GAP")
    await asyncio.gather(*(each.close() for each in replicas))


async def test_many_claims_at_once_are_each_answered(guard: Guard) -> None:
    sessions = [number.to_bytes(32, "big") for number in range(300)]
    assert await asyncio.gather(*(guard.claim(claim(0, session=each)) for each in sessions)) == [None] * 300
    digests = await asyncio.gather(*(guard.stand(claim(0, session=each), each) for each in sessions))
    assert digests == sessions


# Batches: what is asked at once is written together, and each is answered for itself.


async def at_once(*asked: Awaitable[bytes | None]) -> list[bytes | UsedError | None]:
    """Ask all in one turn of the loop, so that they are in one batch; return what each got."""
    ends = await asyncio.gather(*asked, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException) and not isinstance(end, UsedError):
            raise end
    return [end for end in ends if not isinstance(end, BaseException) or isinstance(end, UsedError)]


def reasons(ends: Sequence[bytes | UsedError | None]) -> list[str]:
    return [end.reason if isinstance(end, UsedError) else "" for end in ends]


async def test_of_rivals_for_one_seq_in_one_batch_exactly_one_wins(guard: Guard) -> None:
    rivals = [claim(0, bytes([number]) * 32) for number in range(8)]
    ends = await at_once(*(guard.claim(each) for each in rivals))
    assert sorted(reasons(ends)) == [""] + ["SEQ_USED"] * 7
    winner = rivals[reasons(ends).index("")]
    assert await guard.claim(winner) is None
    assert await guard.stand(winner, b"d" * 32) == b"d" * 32
    assert reasons(await at_once(*(guard.claim(each) for each in rivals))).count("SEQ_USED") == 7


async def test_of_two_answers_to_one_parent_in_one_batch_exactly_one_wins(guard: Guard) -> None:
    """At one seq, and at the next, where the later is an answer too many or has no seq before it yet."""
    for later in (0, 1):
        session = bytes([later]) * 32
        await answer(guard, claim(0, session=session), b"p" * 32)
        chain = ((0, b"p" * 32),)
        rivals = [
            claim(1 + later * number, bytes([number]) * 32, session=session, parent_seq=0, chain=chain)
            for number in range(2)
        ]
        for order in (rivals, rivals[::-1]):
            ends = await at_once(*(guard.claim(each) for each in order))
            assert reasons(ends).count("") == 1
            assert set(reasons(ends)) - {""} <= {"SEQ_USED", "ANSWERED_ALREADY", "SEQ_GAP"}


async def test_the_same_request_twice_in_one_batch_is_one_request(guard: Guard) -> None:
    assert await at_once(guard.claim(claim(0)), guard.claim(claim(0))) == [None, None]
    ends = await at_once(guard.stand(claim(0), b"d" * 32), guard.stand(claim(0), b"e" * 32))
    assert ends in ([b"d" * 32] * 2, [b"e" * 32] * 2)
    assert await guard.claim(claim(0)) == ends[0]


async def test_who_is_refused_in_a_batch_takes_nobody_along(guard: Guard) -> None:
    await answer(guard, claim(0), b"d" * 32)
    await answer(guard, claim(0, session=b"t" * 32, closes=True), b"e" * 32)
    asked = [
        claim(0, session=b"a" * 32),
        claim(0, OTHER),
        claim(0),
        claim(5, session=b"b" * 32),
        claim(1, session=b"t" * 32),
        claim(1, parent_seq=0, chain=((0, b"x" * 32),)),
        claim(0, session=b"z" * 32),
    ]
    ends = await at_once(*(guard.claim(each) for each in asked))
    assert reasons(ends) == ["", "SEQ_USED", "", "SEQ_GAP", "SESSION_CLOSED", "CHAIN_NOT_STANDING", ""]
    assert [ends[0], ends[2], ends[6]] == [None, b"d" * 32, None]


async def test_seqs_that_are_claimed_in_one_batch_come_in_order(guard: Guard) -> None:
    """A caller that does not wait for its answers: each seq finds the one before it."""
    ends = await at_once(*(guard.claim(claim(seq)) for seq in range(4)))
    assert reasons(ends) == [""] * 4


async def test_a_claim_whose_caller_has_gone_is_written_with_the_others(guard: Guard) -> None:
    gone = asyncio.ensure_future(guard.claim(claim(0)))
    stays = asyncio.ensure_future(guard.claim(claim(0, session=b"t" * 32)))
    await asyncio.sleep(0)
    gone.cancel()
    assert await stays is None
    assert (await used(guard, claim(0, OTHER))).reason == "SEQ_USED"


@pytest.mark.slow
async def test_batches_of_two_replicas_that_want_the_same_rows_do_not_hold_each_other_up(place: GuardPlace) -> None:
    """In opposite orders: each row has one winner, nobody waits in a circle, and so nobody is turned away."""
    replicas = [guard_at(place), guard_at(place)]
    await asyncio.gather(*(each.open() for each in replicas))
    winners: list[Claim] = []
    for number in range(30):
        sessions = [bytes([number, each]) * 16 for each in range(60)]
        claims = [[claim(0, digest, session=each) for each in sessions] for digest in (ONE, OTHER)]
        races = [replicas[0].claim(each) for each in claims[0]] + [replicas[1].claim(each) for each in claims[1][::-1]]
        # And with them the digests of the round before, which both replicas store, and its claims once more.
        stands = [replicas[0].stand(each, b"d" * 32) for each in winners]
        stands += [replicas[1].stand(each, b"d" * 32) for each in winners[::-1]]
        again = [replicas[index % 2].claim(each) for index, each in enumerate(winners)]
        ends = await at_once(*races, *stands, *again)
        won = [reasons(ends[:60]), reasons(ends[60:120])[::-1]]
        assert all(sorted(pair) == ["", "SEQ_USED"] for pair in zip(*won, strict=True))
        assert set(ends[120 : 120 + len(stands)]) <= {b"d" * 32}
        assert set(ends[120 + len(stands) :]) <= {None, b"d" * 32}
        winners = [claims[side][index] for index in range(60) for side in range(2) if won[side][index] == ""]
    await asyncio.gather(*(each.close() for each in replicas))


# Rolls


async def test_a_guarded_roll_says_so_and_the_same_request_gives_the_same_bytes(guard: Guard) -> None:
    service = roller()
    service.guard_mode = guard.mode
    roll = guarded(service, guard)
    first = await roll(request("d20"), TENANT)
    assert first.record.guard_mode == guard.mode
    assert (await roll(request("d20"), TENANT)).envelope == first.envelope
    with pytest.raises(UsedError) as refused:
        await roll(request("d20", "d6"), TENANT)
    assert (refused.value.reason, refused.value.digest) == ("SEQ_USED", first.digest)
    with pytest.raises(UsedError) as gap:
        await roll(request("d20", seq=2), TENANT)
    assert gap.value.reason == "SEQ_GAP"
    assert proofs_of(service) == 2


async def test_a_request_id_names_one_roll(guard: Guard) -> None:
    roll = guarded(roller(), guard)
    asked = request("d20")
    asked.ClearField("session")
    asked.request_id = "retry-1"
    first = await roll(asked, TENANT)
    assert (await roll(asked, TENANT)).envelope == first.envelope
    asked.checks[0].notation.text = "d6"
    with pytest.raises(UsedError):
        await roll(asked, TENANT)


async def test_a_pending_receipt_is_answered_once_and_nobody_could_preview_it(guard: Guard) -> None:
    service = roller()
    service.guard_mode = guard.mode
    roll = guarded(service, guard)
    table = Table(service)

    async def send(asked: roll_pb2.RollRequest) -> roll_pb2.RollResponse:
        table.receipts.append(await roll(asked, TENANT))
        return table.receipts[-1]

    asked = table.request()
    asked.checks.append(remove())
    root = await send(asked)
    assert is_pending(root)
    one, other = table.answering([root], 0), table.answering([root], 1)
    first = await send(one)
    verified = verify(bundle(root, first), ROOT.public_key)
    assert verified.complete
    assert not any("preview" in sentence for sentence in verified.rests_on)
    assert "preview" not in first.texts[0].plain
    with pytest.raises(UsedError) as refused:
        await send(other)
    assert (refused.value.reason, refused.value.digest) == ("SEQ_USED", first.digest)
    other.seq, other.previous = 2, first.digest
    with pytest.raises(UsedError) as branch:
        await send(other)
    assert (branch.value.reason, branch.value.digest) == ("ANSWERED_ALREADY", first.digest)


async def test_a_receipt_made_elsewhere_is_not_continued(guard: Guard) -> None:
    """A root that another, guardless replica signed: it is ours, and does not stand here."""
    roll = guarded(roller(), guard)
    table = Table()
    root = table.roll(remove())
    stood = await roll(request("d20"), TENANT)
    asked = table.answering([root])
    asked.previous = stood.digest
    with pytest.raises(UsedError) as refused:
        await roll(asked, TENANT)
    assert (refused.value.reason, refused.value.digest) == ("CHAIN_NOT_STANDING", stood.digest)


async def test_where_the_engine_changed_the_receipt_that_stands_is_named_and_no_second_is_given(
    guard: Guard,
) -> None:
    service = roller()
    prepared = service.prepare(request("d20"), TENANT)
    old = Claim(prepared.session_id, 0, prepared.request_digest, "notation/0")
    await answer(guard, old, b"d" * 32)
    with pytest.raises(UsedError) as refused:
        await guarded(service, guard)(request("d20"), TENANT)
    assert (refused.value.reason, refused.value.digest) == ("ENGINE_CHANGED", (b"d" * 32).hex())


@pytest.mark.parametrize("text", ["sqlite:{folder}/no/such/guard.db", "postgresql://127.0.0.1:1/x?connect_timeout=2"])
async def test_nothing_is_proved_where_the_guard_is_not_reached(text: str, tmp_path: Path) -> None:
    guard = guard_at(parse_guard(text.format(folder=tmp_path)))
    service = roller()
    for call in (guard.open, lambda: guarded(service, guard)(request("d20"), TENANT)):
        with pytest.raises(ServiceError) as refused:
            await call()
        assert refused.value.reason == "GUARD_UNREACHABLE"
    assert proofs_of(service) == 0
    await guard.close()


# Stores


async def test_every_lookup_of_sqlite_is_by_key(tmp_path: Path) -> None:
    path = tmp_path / "guard.db"
    guard = SqliteGuard(path)
    await guard.open()
    await guard.close()
    with sqlite3.connect(path) as connection:
        for statement, looked_up in (
            (sqlite.rows_statement(3), 1),
            (sqlite.ANSWER_TO, 1),
            (sqlite.stand_statement(1), 1),
            (sqlite.stand_statement(200), 1),
            (sqlite.claim_statement(1), 2),
            (sqlite.claim_statement(200), 2),
            (sqlite.STILL_IDLE, 1),
            (sqlite.REMOVE, 1),
        ):
            plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", (b"",) * statement.count("?"))
            # Beside the table itself, what is asked is gone through, row by row.
            own = r"SCAN (asked|given)|SCAN (\d+ )?CONSTANT ROWS?"
            lines = [row[3] for row in plan if re.match(r"SCAN|SEARCH", row[3]) and not re.fullmatch(own, row[3])]
            assert len(lines) == looked_up
            by_key = (
                r"SEARCH (fairroll_seqs|row) USING (PRIMARY KEY|INDEX fairroll_answers) \(session_id=\?( AND .*=\?)?\)"
            )
            assert all(re.fullmatch(by_key, line) for line in lines), lines
    connection.close()


def test_sqlite_writes_to_the_disk_before_it_answers(tmp_path: Path) -> None:
    connection, _ = sqlite.connect(tmp_path / "guard.db")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    full = 2
    assert connection.execute("PRAGMA synchronous").fetchone() == (full,)
    connection.close()


def test_a_batch_is_one_statement_for_its_claims_and_one_for_its_receipts(tmp_path: Path) -> None:
    connection, _ = sqlite.connect(tmp_path / "guard.db")
    statements: list[str] = []
    connection.set_trace_callback(lambda text: statements.append(text.split()[0]))
    claims = [claim(0, session=bytes([number]) * 32) for number in range(100)]
    asked = [sqlite.Asked(each) for each in claims]
    assert sqlite.write(connection, asked) == [None] * 100
    digests = [sqlite.Asked(each, ONE) for each in claims]
    assert (
        sqlite.write(connection, [*digests, sqlite.Asked(claim(1, session=claims[0].session_id))])[:100] == [ONE] * 100
    )
    assert statements == ["INSERT", "INSERT", "UPDATE"]
    connection.close()


@pytest.mark.slow
async def test_every_lookup_of_postgresql_is_by_key(postgres: Postgres) -> None:
    """With enough rows that reading the table would be a choice, and one that costs."""
    conninfo = postgres.make_database("plans")
    guard = PostgresqlGuard(conninfo)
    await guard.open()
    await guard.close()
    fill = """
        INSERT INTO fairroll_seqs (session_id, seq, request_digest, engines, receipt_digest, parent_seq, closes)
        SELECT sha256(int8send(n / 100)), n % 100, 'r', 'x/1', 'd', CASE WHEN n % 7 = 3 THEN n % 100 - 1 END, false
        FROM generate_series(0, 99999) AS n"""
    parameters = {
        "session_id": b"s" * 32,
        "seq": 5,
        "seqs": [5, 4, -1],
        "request_digest": b"r",
        "engines": "x/1",
        "parent_seq": 4,
        "closes": False,
        "receipt_digest": b"d",
        "idle_seconds": 60,
    }
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(fill)
        connection.execute("ANALYZE fairroll_seqs")
        for statement in (
            postgresql.CLAIM,
            postgresql.ROWS_AT,
            postgresql.STAND,
            postgresql.BURY,
            postgresql.REMOVE,
        ):
            plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN {statement}".encode(), parameters))
            scans = [line for line in plan.splitlines() if "Scan" in line and "fairroll_" in line]
            assert scans, plan
            by_key = r".*Index (Only )?Scan using (fairroll_seqs_pkey|fairroll_answers) on fairroll_seqs.*"
            by_keys = r".*(Bitmap Heap Scan on fairroll_seqs|Bitmap Index Scan on fairroll_(seqs_pkey|answers)).*"
            assert all(re.fullmatch(f"{by_key}|{by_keys}", line) for line in scans), plan


async def test_tables_that_are_newer_are_left_alone(place: GuardPlace) -> None:
    guard = guard_at(place)
    await guard.open()
    await guard.close()
    if place.kind == "sqlite":
        with sqlite3.connect(place.place) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
    else:
        with psycopg.connect(place.place, autocommit=True) as server:
            server.execute("INSERT INTO fairroll_schema VALUES (99)")
    newer = guard_at(place)
    with pytest.raises(ServiceError) as refused:
        await newer.open()
    assert refused.value.reason == "GUARD_UNREACHABLE"
    await newer.close()


async def test_a_server_that_does_not_write_before_it_answers_is_refused(postgres: Postgres) -> None:
    conninfo = postgres.make_database("careless")
    with psycopg.connect(conninfo, autocommit=True) as server:
        server.execute("ALTER DATABASE careless SET synchronous_commit = off")
    guard = PostgresqlGuard(conninfo)
    with pytest.raises(ServiceError) as refused:
        await guard.open()
    assert "synchronous_commit" in refused.value.message
    await guard.close()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("none", "none"),
        ("sqlite:/var/lib/guard.db", "sqlite:/var/lib/guard.db"),
        ("postgresql://u:p@h/d", "postgresql"),
    ],
)
def test_a_guard_is_named_by_its_place_and_shown_without_its_password(text: str, shown: str) -> None:
    assert str(parse_guard(text)) == shown


@pytest.mark.parametrize("text", ["", "sqlite", "sqlite:", "mysql://h/d", "NONE", "postgresql"])
def test_a_guard_that_is_none_of_the_three_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="none, sqlite:PATH or postgresql"):
        parse_guard(text)


def test_the_clock_is_no_part_of_what_is_claimed() -> None:
    first, second = roller(service_keys()), roller(service_keys())
    second._clock = lambda: NOON.replace(year=2030)
    one, other = first.prepare(request("d6"), TENANT), second.prepare(request("d6"), TENANT)
    assert one.request_digest == other.request_digest


# The command


async def test_the_command_closes_idle_sessions(place: GuardPlace) -> None:
    guard = guard_at(place)
    await guard.open()
    await answer(guard, claim(0), b"d" * 32)
    for days, closed in (("1", 0), ("0", 1)):
        done = await asyncio.to_thread(command, "guard", "retain", "--idle-days", days, "--guard", text_of(place))
        assert (done.returncode, done.stdout) == (0, f"closed {closed} sessions\n")
    assert (await used(guard, claim(1))).reason == "SESSION_CLOSED"
    await guard.close()


@pytest.mark.parametrize("given", ["none", "", "mysql://h/d"])
def test_the_command_needs_a_guard(given: str) -> None:
    done = command("guard", "retain", "--idle-days", "1", "--guard", given)
    assert done.returncode == 2
    assert "SETTINGS_INVALID" in done.stderr


def test_the_command_makes_no_guard_where_there_is_none(tmp_path: Path) -> None:
    file = tmp_path / "nothere.db"
    done = command("guard", "retain", "--idle-days", "1", "--guard", f"sqlite:{file}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothere.db: there is no guard in such a file [FILE_NOT_READ]" in done.stderr
    assert not file.exists()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_command_says_once_why_the_guard_is_not_reached(kind: str, tmp_path: Path) -> None:
    """No word of rolls, of which there are none here, and none of the driver's lines."""
    file = tmp_path / "guard.db"
    file.write_bytes(b"no database, though a file of that name" * 100)
    given = f"sqlite:{file}" if kind == "sqlite" else "postgresql://nobody@127.0.0.1:1/none"
    done = command("guard", "retain", "--idle-days", "1", "--guard", given)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "the guard cannot be reached, and not every idle session was closed: " in line
    assert "rolled" not in line
    assert not line.endswith(": [GUARD_UNREACHABLE]")


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fairroll.cli", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": os.pathsep.join(SOURCE_ROOTS)},
    )


def text_of(place: GuardPlace) -> str:
    return f"sqlite:{place.place}" if place.kind == "sqlite" else place.place
