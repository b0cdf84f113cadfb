"""Faults that a guarded service survives, each real: a killed process, a stopped database, a full disk."""

import resource
import shutil
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # it ships no types

from fairroll.grpc_server import SERVICE
from fairroll.settings import GuardPlace
from fairroll.v1 import notation_pb2, roll_pb2, session_pb2
from fairroll.v1.service_pb2_grpc import RollServiceStub
from tests.service.grpc_door import Refusal, refusal_of
from tests.service.guards import place, postgres
from tests.service.postgres import Postgres
from tests.service.process import ServiceProcess, start_service
from tests.service.table_play import is_pending, remove, waiting

__all__ = ["place", "postgres"]

pytestmark = pytest.mark.slow

PLAYERS = 6


class Player:
    """One session: rolls one after another until told to stop or until nothing answers; keeps all that it asked.

    Every third roll of a player with an odd number asks which die Advantage removes, and the next request answers.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.table = f"table {number}"
        self.asked: list[tuple[roll_pb2.RollRequest, roll_pb2.RollResponse | None]] = []
        self.key_id = ""
        self.refused: list[str] = []

    def request(self, text: str = "3d6") -> roll_pb2.RollRequest:
        seq = len(self.asked)
        last = self.asked[-1][1] if self.asked else None
        if last is not None and is_pending(last):
            return answering(last, seq, seq, last.digest)
        session = session_pb2.Session(table=self.table, vrf_key_id=self.key_id)
        check = roll_pb2.Check(notation=notation_pb2.NotationCheck(text=text))
        if self.number % 2 and seq % 3 == 0:
            check = remove()
            for policy in ("change", "zero_result"):
                check.crossroads.skill_roll.ClearField(policy)
        return roll_pb2.RollRequest(session=session, seq=seq, previous=last.digest if last else "", checks=[check])

    def play(self, stub: RollServiceStub, stop: Callable[[], bool], *, go_on: bool = False) -> None:
        while not stop():
            request = self.request()
            try:
                response = stub.Roll(request, timeout=10)
            except grpc.RpcError as error:
                if go_on:  # ask the same again
                    self.refused.append(refusal_of(error).info.reason)
                    continue
                self.asked.append((request, None))
                return
            self.asked.append((request, response))
            self.key_id = response.record.session.vrf_key_id


def answering(root: roll_pb2.RollResponse, option: int, seq: int, previous: str) -> roll_pb2.RollRequest:
    """An answer to the first receipt of a session."""
    request = roll_pb2.RollRequest(session=root.record.session, seq=seq, previous=previous, chain=[root.envelope])
    request.root = request.continues = root.digest
    (decision,) = waiting(root)
    request.answers.add(decision_id=decision.id, option_id=decision.options[option % len(decision.options)].id)
    return request


def play_all(service: ServiceProcess, players: list[Player], stop: Callable[[], bool], *, go_on: bool = False) -> None:
    """Let all players play at once, each over a channel of its own."""

    def one(player: Player) -> None:
        with service.stub() as stub:
            player.play(stub, stop, go_on=go_on)

    threads = [threading.Thread(target=one, args=(player,)) for player in players]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def ask_all_again(service: ServiceProcess, players: list[Player]) -> None:
    """Every request gets the bytes that it got, an unanswered one gets some; no other request gets any."""
    with service.stub() as stub:
        for player in players:
            before = roll_pb2.RollResponse()
            for seq, (request, response) in enumerate(player.asked):
                again = stub.Roll(request, timeout=10)
                if response is not None:
                    assert again.envelope == response.envelope
                other = roll_pb2.RollRequest()
                other.CopyFrom(request)
                if request.answers:
                    other.CopyFrom(answering(before, seq + 1, seq, before.digest))
                else:
                    other.checks[0].label = "another"
                with pytest.raises(grpc.RpcError) as refused:
                    stub.Roll(other, timeout=10)
                refusal = refusal_of(refused.value)
                assert (refusal.code, refusal.info.reason) == (grpc.StatusCode.ALREADY_EXISTS, "SEQ_USED")
                assert refusal.info.metadata["digest"] == again.digest
                before = again


def setting(place: GuardPlace) -> str:
    return f"sqlite:{place.place}" if place.kind == "sqlite" else place.place


def readiness(service: ServiceProcess) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"{service.admin}/readyz", timeout=10) as answer:  # noqa: S310  our own
            return answer.status, answer.read().decode().strip()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode().strip()


def healthy(service: ServiceProcess) -> set[bool]:
    """What gRPC health says of the process and of the service."""
    with service.channel() as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        answers = [stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=10) for name in ("", SERVICE)]
    return {answer.status == health_pb2.HealthCheckResponse.SERVING for answer in answers}


def until(holds: Callable[[], bool], seconds: float = 30) -> None:
    latest = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < latest
        time.sleep(0.05)


def test_a_service_killed_under_load_answers_every_request_in_one_way(place: GuardPlace, tmp_path: Path) -> None:
    players = [Player(number) for number in range(PLAYERS)]
    service = start_service(tmp_path, guard=setting(place))
    killer = threading.Timer(1.5, service.process.kill)
    killer.start()
    play_all(service, players, lambda: False)
    service.process.wait(10)
    assert any(player.asked[-1][1] is None for player in players)
    assert sum(len(player.asked) for player in players) > PLAYERS
    assert any(request.answers for player in players for request, _ in player.asked)
    with start_service(tmp_path, guard=setting(place)) as restarted:
        ask_all_again(restarted, players)


RACES, TABLES = 1000, 8


def race(one: RollServiceStub, other: RollServiceStub, requests: Sequence[roll_pb2.RollRequest]) -> tuple[int, Refusal]:
    """Send a request to each replica at once; return which of the two won, and how the other was refused."""
    calls = [stub.Roll.future(asked, timeout=30) for stub, asked in zip((one, other), requests, strict=True)]
    errors = [call.exception() for call in calls]
    assert errors.count(None) == 1
    winner = errors.index(None)
    lost = errors[1 - winner]
    assert isinstance(lost, grpc.RpcError)
    refusal = refusal_of(lost)
    # The winner's claim stands from the first; the digest of its receipt, once that was made.
    assert refusal.info.metadata.get("digest", "") in ("", calls[winner].result().digest)
    return winner, refusal


def race_at_tables(
    services: Sequence[ServiceProcess], at_table: Callable[[int, Sequence[RollServiceStub]], None]
) -> None:
    """Let races run at several tables at once, each with channels of its own to both replicas."""

    def at(table: int) -> None:
        with ExitStack() as stack:
            at_table(table, [stack.enter_context(each.stub()) for each in services])

    with ThreadPoolExecutor(TABLES) as pool:
        for done in [pool.submit(at, table) for table in range(TABLES)]:
            done.result()


def test_of_two_replicas_that_race_for_a_seq_exactly_one_gives_a_receipt(place: GuardPlace, tmp_path: Path) -> None:
    raced = []

    def at_table(table: int, stubs: Sequence[RollServiceStub]) -> None:
        player = Player(2 * table)  # even: none of its rolls asks, whatever its dice
        for number in range(RACES // TABLES):
            requests = [player.request("d20"), player.request("d12")]
            first = number % 2
            winner, refusal = race(stubs[first], stubs[1 - first], requests)
            assert (refusal.code, refusal.info.reason) == (grpc.StatusCode.ALREADY_EXISTS, "SEQ_USED")
            # What stands is given by either replica, and is the winner's.
            response = stubs[number % 3 % 2].Roll(requests[winner], timeout=30)
            player.asked.append((requests[winner], response))
            player.key_id = response.record.session.vrf_key_id
            raced.append(winner)

    with (
        start_service(tmp_path, guard=setting(place)) as one,
        start_service(tmp_path, guard=setting(place)) as other,
    ):
        race_at_tables((one, other), at_table)
    assert len(raced) == RACES
    assert len(set(raced)) == 2


def pending(stub: RollServiceStub, table: str) -> roll_pb2.RollResponse:
    """A roll that stops: which die does Advantage remove? Four dice alike leave nothing to decide."""
    for number in count():
        session = session_pb2.Session(table=f"{table}, {number}")
        root = stub.Roll(roll_pb2.RollRequest(session=session, checks=[remove()]), timeout=30)
        if is_pending(root) and len(waiting(root)[0].options) > 1:
            return root
    raise AssertionError("count() ended")


def test_of_two_answers_to_one_pending_receipt_exactly_one_is_given(place: GuardPlace, tmp_path: Path) -> None:
    """At one seq with two options; and at two seqs, where the later one can only come too early or too late."""
    lost: list[tuple[grpc.StatusCode, str]] = []

    def at_table(table: int, stubs: Sequence[RollServiceStub]) -> None:
        for number in range(RACES // TABLES):
            root = pending(stubs[number % 2], f"table {table}, {number}")
            later = number % 2
            requests = [answering(root, 0, 1, root.digest), answering(root, 1, 1 + later, root.digest)]
            first = number // 2 % 2
            winner, refusal = race(stubs[first], stubs[1 - first], requests)
            lost.append((refusal.code, refusal.info.reason))
            assert refusal.info.reason in (("ANSWERED_ALREADY", "SEQ_GAP") if later else ("SEQ_USED",))
            given = stubs[1 - number % 2].Roll(requests[winner], timeout=30)
            # Now that one stands, the other comes too late wherever it asks.
            requests[1 - winner].seq, requests[1 - winner].previous = 2, given.digest
            with pytest.raises(grpc.RpcError) as refused:
                stubs[number % 2].Roll(requests[1 - winner], timeout=30)
            again = refusal_of(refused.value)
            assert (again.code, again.info.reason) == (grpc.StatusCode.ALREADY_EXISTS, "ANSWERED_ALREADY")
            assert again.info.metadata["digest"] == given.digest

    with (
        start_service(tmp_path, guard=setting(place)) as one,
        start_service(tmp_path, guard=setting(place)) as other,
    ):
        race_at_tables((one, other), at_table)
    assert len(lost) == RACES
    assert set(lost) <= {
        (grpc.StatusCode.ALREADY_EXISTS, "SEQ_USED"),
        (grpc.StatusCode.ALREADY_EXISTS, "ANSWERED_ALREADY"),
        (grpc.StatusCode.FAILED_PRECONDITION, "SEQ_GAP"),
    }


def test_postgresql_stopped_and_started_under_load_loses_nothing(postgres: Postgres, tmp_path: Path) -> None:
    with start_service(tmp_path, guard=postgres.make_database("stopped")) as service:
        assert readiness(service) == (200, "ready")
        assert healthy(service) == {True}
        players = [Player(number) for number in range(PLAYERS)]
        end = time.monotonic() + 12
        outage = threading.Thread(target=_stop_and_start, args=(postgres, service))
        outage.start()
        play_all(service, players, lambda: not outage.is_alive() and time.monotonic() > end - 9, go_on=True)
        outage.join()
        assert {reason for player in players for reason in player.refused} == {"GUARD_UNREACHABLE"}
        until(lambda: readiness(service)[0] == 200)
        until(lambda: healthy(service) == {True})
        before = [len(player.asked) for player in players]
        stop = time.monotonic() + 1
        play_all(service, players, lambda: time.monotonic() > stop, go_on=True)
        assert all(len(player.asked) > count for player, count in zip(players, before, strict=True))
        ask_all_again(service, players)


def _stop_and_start(postgres: Postgres, service: ServiceProcess) -> None:
    time.sleep(1)
    postgres.stop(signal.SIGQUIT)
    until(lambda: readiness(service) == (503, "guard unreachable"))
    until(lambda: healthy(service) == {False})
    postgres.start()


def test_a_service_that_starts_without_its_guard_is_not_serving_until_it_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    with start_service(tmp_path, guard=f"sqlite:{folder / 'guard.db'}") as service:
        assert healthy(service) == {False}
        assert readiness(service) == (503, "guard unreachable")
        messages = [line["message"] for line in service.lines() if line["level"] != "INFO"]
        assert messages[0].startswith("the guard cannot be reached, so nothing is rolled: ")
        assert not messages[0].endswith(": ")
        assert "fairroll listens, and is not ready without its guard" in messages
        assert "fairroll is ready" not in {line["message"] for line in service.lines()}
        folder.mkdir()
        until(lambda: healthy(service) == {True})
        assert readiness(service) == (200, "ready")


def refused(service: ServiceProcess, request: roll_pb2.RollRequest) -> bool:
    """Whether a roll is refused since the guard is not reached, and nobody is told that rolls are answered."""
    with service.stub() as stub, pytest.raises(grpc.RpcError) as raised:
        stub.Roll(request, timeout=10)
    refusal = refusal_of(raised.value)
    until(lambda: readiness(service) == (503, "guard unreachable"))
    until(lambda: healthy(service) == {False})
    return (refusal.code, refusal.info.reason) == (grpc.StatusCode.UNAVAILABLE, "GUARD_UNREACHABLE")


@pytest.mark.parametrize("replaced", [False, True], ids=["removed", "replaced"])
def test_a_file_that_is_no_longer_there_refuses_rolls_until_it_is_back(tmp_path: Path, *, replaced: bool) -> None:
    """What is written to a file without a name is gone when the process ends, and its seqs would be used again."""
    file, away = tmp_path / "guard.db", tmp_path / "away.db"
    with start_service(tmp_path, guard=f"sqlite:{file}") as service:
        player = Player(0)
        with service.stub() as stub:
            player.play(stub, lambda: len(player.asked) == 3)
        file.rename(away)
        if replaced:
            shutil.copy(away, file)
        request = player.request()
        assert refused(service, request)
        assert refused(service, player.asked[0][0])
        assert file.exists() is replaced
        away.replace(file)
        until(lambda: readiness(service) == (200, "ready"))
        with service.stub() as stub:
            player.asked.append((request, stub.Roll(request, timeout=10)))
        ask_all_again(service, [player])


def test_a_log_that_is_removed_loses_no_seq(tmp_path: Path) -> None:
    """SQLite's write-ahead log, in which the latest claims stand until they are moved to the file."""
    with start_service(tmp_path, guard=f"sqlite:{tmp_path / 'guard.db'}") as service:
        player = Player(0)
        with service.stub() as stub:
            player.play(stub, lambda: len(player.asked) == 3)
            (tmp_path / "guard.db-wal").unlink()
            player.play(stub, lambda: len(player.asked) == 6, go_on=True)
        assert set(player.refused) <= {"GUARD_UNREACHABLE"}
        service.process.kill()
        service.process.wait(10)
    with start_service(tmp_path, guard=f"sqlite:{tmp_path / 'guard.db'}") as restarted:
        with restarted.stub() as stub:
            for request, response in player.asked:
                other = roll_pb2.RollRequest()
                other.CopyFrom(request)
                other.checks[0].label = "another"
                with pytest.raises(grpc.RpcError) as raised:
                    stub.Roll(other, timeout=10)
                assert response is not None
                assert refusal_of(raised.value).info.metadata["digest"] == response.digest
        ask_all_again(restarted, [player])


def refuse_until_there_is_room(service: ServiceProcess, fill: Callable[[], None], empty: Callable[[], None]) -> None:
    with service.stub() as stub:
        player = Player(0)
        enough = time.monotonic() + 0.5
        player.play(stub, lambda: time.monotonic() > enough)
        fill()
        player.play(stub, lambda: len(player.refused) > 0, go_on=True)  # what is in the file already has room for some
        request = player.request()
        with pytest.raises(grpc.RpcError) as refused:
            stub.Roll(request, timeout=10)
        refusal = refusal_of(refused.value)
        assert (refusal.code, refusal.info.reason) == (grpc.StatusCode.UNAVAILABLE, "GUARD_UNREACHABLE")
        assert set(player.refused) == {"GUARD_UNREACHABLE"}
        empty()
        until(lambda: readiness(service) == (200, "ready"))
        player.asked.append((request, stub.Roll(request, timeout=10)))
        ask_all_again(service, [player])


def test_a_limit_on_the_size_of_files_refuses_rolls_until_it_is_lifted(tmp_path: Path) -> None:
    with start_service(tmp_path, guard=f"sqlite:{tmp_path / 'guard.db'}") as service:
        pid = service.process.pid
        _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)

        def fill() -> None:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (1024, most))

        def empty() -> None:
            until(lambda: readiness(service) == (503, "guard unreachable"))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))

        refuse_until_there_is_room(service, fill, empty)


def own_mounts() -> list[str]:
    """What gives a process mounts of its own; nothing where this machine lets nobody have them."""
    for words in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
        mounting = [*words, "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/mnt"]
        if shutil.which("unshare") and subprocess.run(mounting, capture_output=True, check=False).returncode == 0:
            return words
    return []


@pytest.mark.parametrize("unshare", [words] if (words := own_mounts()) else [])
def test_a_full_disk_refuses_rolls_until_there_is_room(tmp_path: Path, unshare: list[str]) -> None:
    """A file system of 16 MiB that only the service sees, and another file that takes all the rest of it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounting = 'mount -t tmpfs -o size=16m tmpfs "$0" && exec "$@"'
    guard = f"sqlite:{disk / 'guard.db'}"
    with start_service(tmp_path, under=[*unshare, "sh", "-c", mounting, str(disk)], guard=guard) as service:
        other = Path(f"/proc/{service.process.pid}/root{disk}/other")

        def fill() -> None:
            with pytest.raises(OSError, match="No space left"):
                other.write_bytes(bytes(16 * 1024 * 1024))

        refuse_until_there_is_room(service, fill, other.unlink)
