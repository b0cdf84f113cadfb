"""Faults that a guarded service survives, each real: a killed process, a stopped database, a full disk."""

import resource
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # it ships no types

from fairroll.grpc_server import SERVICE
from fairroll.settings import GuardPlace
from fairroll.v1 import notation_pb2, roll_pb2, session_pb2
from fairroll.v1.service_pb2_grpc import RollServiceStub
from tests.service.grpc_door import refusal_of
from tests.service.guards import place, postgres
from tests.service.postgres import Postgres
from tests.service.process import ServiceProcess, start_service

__all__ = ["place", "postgres"]

pytestmark = pytest.mark.slow

PLAYERS = 6


class Player:
    """One session: rolls one after another until told to stop or until nothing answers; keeps all that it asked."""

    def __init__(self, number: int) -> None:
        self.table = f"table {number}"
        self.asked: list[tuple[roll_pb2.RollRequest, roll_pb2.RollResponse | None]] = []
        self.key_id = ""
        self.refused: list[str] = []

    def request(self, text: str = "3d6") -> roll_pb2.RollRequest:
        seq = len(self.asked)
        last = self.asked[-1][1] if self.asked else None
        session = session_pb2.Session(table=self.table, vrf_key_id=self.key_id)
        check = roll_pb2.Check(notation=notation_pb2.NotationCheck(text=text))
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
            for request, response in player.asked:
                again = stub.Roll(request, timeout=10)
                if response is not None:
                    assert again.envelope == response.envelope
                other = roll_pb2.RollRequest()
                other.CopyFrom(request)
                other.checks[0].notation.text = "d100"
                with pytest.raises(grpc.RpcError) as refused:
                    stub.Roll(other, timeout=10)
                refusal = refusal_of(refused.value)
                assert (refusal.code, refusal.info.reason) == (grpc.StatusCode.ALREADY_EXISTS, "SEQ_USED")
                assert refusal.info.metadata["digest"] == again.digest


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
    with start_service(tmp_path, guard=setting(place)) as restarted:
        ask_all_again(restarted, players)


def test_two_replicas_racing_for_a_seq_give_one_receipt_over_both_doors(place: GuardPlace, tmp_path: Path) -> None:
    with (
        start_service(tmp_path, guard=setting(place)) as one,
        start_service(tmp_path, guard=setting(place)) as other,
        one.stub() as first,
        other.stub() as second,
    ):
        player = Player(0)
        for _ in range(100):
            requests = [player.request("d20"), player.request("d12")]
            calls = [stub.Roll.future(asked, timeout=10) for stub, asked in zip((first, second), requests, strict=True)]
            errors = [call.exception() for call in calls]
            assert errors.count(None) == 1
            winner = errors.index(None)
            (lost,) = [error for error in errors if error is not None]
            assert isinstance(lost, grpc.RpcError)
            refusal = refusal_of(lost)
            assert (refusal.code, refusal.info.reason) == (grpc.StatusCode.ALREADY_EXISTS, "SEQ_USED")
            player.asked.append((requests[winner], calls[winner].result()))
            player.key_id = calls[winner].result().record.session.vrf_key_id


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
        folder.mkdir()
        until(lambda: healthy(service) == {True})
        assert readiness(service) == (200, "ready")


def test_a_full_disk_refuses_rolls_and_proves_nothing_until_there_is_room(tmp_path: Path) -> None:
    """A limit on the size of files fails the guard's writes as a full disk does."""
    path = tmp_path / "guard.db"
    with start_service(tmp_path, guard=f"sqlite:{path}") as service, service.stub() as stub:
        player = Player(0)
        enough = time.monotonic() + 0.5
        player.play(stub, lambda: time.monotonic() > enough)
        _, most = resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (1024, most))
        request = player.request()
        with pytest.raises(grpc.RpcError) as refused:
            stub.Roll(request, timeout=10)
        refusal = refusal_of(refused.value)
        assert (refusal.code, refusal.info.reason) == (grpc.StatusCode.UNAVAILABLE, "GUARD_UNREACHABLE")
        until(lambda: readiness(service) == (503, "guard unreachable"))
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (most, most))
        until(lambda: readiness(service) == (200, "ready"))
        player.asked.append((request, stub.Roll(request, timeout=10)))
        ask_all_again(service, [player])
