"""A real process: how it starts, what it refuses, and how it goes away without failing anybody."""

import http.client
import json
import shutil
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # it ships no types
from grpc_reflection.v1alpha import (  # type: ignore[import-untyped]  # it ships no types
    reflection_pb2,
    reflection_pb2_grpc,
)

from fairroll.v1.roll_pb2 import Check, RollRequest
from fairroll.v1.service_pb2 import GetKeyListRequest, StreamRollsRequest, StreamRollsResponse
from tests.service.grpc_door import refusal_of
from tests.service.process import ServiceProcess, environment, run_service, start_service
from tests.service.raw_http2 import GOAWAY, PING, Http2Connection

SERVICE = "fairroll.v1.RollService"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def roll_request(text: str = "4d6kh3", request_id: str = "") -> RollRequest:
    check = Check(label="a label nobody need log")
    check.notation.text = text
    return RollRequest(checks=[check], request_id=request_id)


def wait_until(holds: Callable[[], bool], seconds: float) -> bool:
    """Return whether it came to hold in that time."""
    latest = time.monotonic() + seconds
    while not holds() and time.monotonic() < latest:
        time.sleep(0.02)
    return holds()


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310  always our own http address
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


# What it answers


def test_a_roll_over_grpc_has_a_receipt(service: ServiceProcess) -> None:
    with service.stub() as stub:
        response = stub.Roll(roll_request())
    assert len(response.envelope.signatures) == 1
    assert [draw.sides for draw in response.record.outcomes[0].draws] == [6] * 4
    assert len(response.record.proof) == 80


def test_what_the_rules_refuse_names_the_field(service: ServiceProcess) -> None:
    with service.stub() as stub, pytest.raises(grpc.RpcError) as caught:
        stub.Roll(RollRequest(checks=[*roll_request().checks, *roll_request("4d").checks]))
    refusal = refusal_of(caught.value)
    assert refusal.code == grpc.StatusCode.INVALID_ARGUMENT
    assert refusal.fields == ["checks[1].notation.text"]
    assert refusal.notation is not None


def test_a_stream_answers_each_item_in_order(service: ServiceProcess) -> None:
    items = [
        StreamRollsRequest(item_id=str(index), request=roll_request("1d20" if index % 3 else "1d0"))
        for index in range(60)
    ]
    with service.stub() as stub:
        answers = list(stub.StreamRolls(iter(items)))
    told = [(answer.item_id, answer.WhichOneof("answer")) for answer in answers]
    assert told == [(str(index), "receipt" if index % 3 else "status") for index in range(60)]


def test_health_is_serving_for_the_process_and_the_service(service: ServiceProcess) -> None:
    with service.channel() as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        for name in ("", SERVICE):
            assert stub.Check(health_pb2.HealthCheckRequest(service=name)).status == SERVING
        with pytest.raises(grpc.RpcError) as caught:
            stub.Check(health_pb2.HealthCheckRequest(service="another"))
        assert caught.value.code() == grpc.StatusCode.NOT_FOUND


def test_reflection_lists_the_services_and_hands_out_their_files(service: ServiceProcess) -> None:
    asked = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol=SERVICE),
    ]
    with service.channel() as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        listed, files = list(stub.ServerReflectionInfo(iter(asked)))
    assert {each.name for each in listed.list_services_response.service} == {
        SERVICE,
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    }
    names = [FileDescriptorProto.FromString(each).name for each in files.file_descriptor_response.file_descriptor_proto]
    assert "fairroll/v1/service.proto" in names


def test_metrics_and_probes_are_on_the_admin_port(service: ServiceProcess) -> None:
    def value(name: str) -> float:
        lines = get(f"{service.admin}/metrics")[1].splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))

    names = (
        'fairroll_calls_total{code="OK",door="grpc",method="Roll"}',
        'fairroll_rolls_total{system="notation"}',
        "fairroll_draws_total",
        "fairroll_vrf_seconds_count",
    )
    before = [value(name) for name in names]
    with service.stub() as stub:
        stub.Roll(roll_request("4d6kh3"))
    assert [value(name) - start for name, start in zip(names, before, strict=True)] == [1, 1, 4, 1]
    assert get(f"{service.admin}/livez") == (200, "alive\n")
    assert get(f"{service.admin}/readyz") == (200, "ready\n")


def test_rest_answers_beside_grpc_with_the_same_keys(service: ServiceProcess) -> None:
    with service.stub() as stub:
        envelope = stub.GetKeyList(GetKeyListRequest()).envelope
    status, body = get(f"{service.rest}/.well-known/fairroll/keys")
    assert (status, json.loads(body)["signatures"][0]["keyid"]) == (200, envelope.signatures[0].keyid)


def test_each_call_is_a_line_of_the_log_with_nothing_secret(service: ServiceProcess) -> None:
    with service.stub() as stub:
        stub.Roll(roll_request())
    with service.stub() as stub, pytest.raises(grpc.RpcError):
        stub.Roll(RollRequest())
    calls = [line for line in service.lines() if line["logger"] == "fairroll.calls"]
    rolls = [(line["code"], line.get("reason")) for line in calls if (line["door"], line["method"]) == ("grpc", "Roll")]
    assert rolls[-2:] == [("OK", None), ("INVALID_ARGUMENT", "REQUIRED")]
    assert {name for line in calls for name in line} == {
        *("time", "level", "logger", "message"),
        *("door", "method", "code", "ms", "id", "reason"),
    }
    log = service.log.read_text()
    assert "nobody need log" not in log
    for seed in service.keys.glob("*.seed"):
        assert seed.read_text().strip() not in log


# Keys


def test_the_first_start_makes_development_keys_and_the_next_one_uses_them(tmp_path: Path) -> None:
    with start_service(tmp_path) as first, first.stub() as stub:
        before = stub.Roll(roll_request(request_id="again"))
        listed = stub.GetKeyList(GetKeyListRequest())
    assert [key.development for key in listed.key_list.keys] == [True, True]
    assert listed.root_key.hex() == first.root_key
    with start_service(tmp_path) as second, second.stub() as stub:
        after = stub.Roll(roll_request(request_id="again"))
    assert second.root_key == first.root_key
    assert after.envelope == before.envelope
    said = [line["message"] for each in (first, second) for line in each.lines() if line["level"] == "WARNING"]
    assert ["made just now" in text for text in said] == [True, False]
    assert all(text.startswith("DEVELOPMENT KEYS") for text in said)


def test_two_processes_with_the_same_keys_give_the_same_bytes(tmp_path: Path, service: ServiceProcess) -> None:
    keys = shutil.copytree(service.keys, tmp_path / "copied")
    with start_service(tmp_path, keys=str(keys)) as other, other.stub() as there, service.stub() as here:
        for index in range(20):
            request = roll_request("6d6!", f"retry {index}")
            assert there.Roll(request).envelope == here.Roll(request).envelope


# What it refuses


def test_it_refuses_to_listen_beyond_loopback(tmp_path: Path) -> None:
    ended = run_service(tmp_path, grpc_address="0.0.0.0:0")
    assert (ended.returncode, "NOT_LOOPBACK" in ended.stderr) == (2, True)
    assert "FAIRROLL_GRPC_ADDRESS=0.0.0.0:0" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("name", ["grpc", "rest", "admin"])
def test_it_refuses_an_address_that_another_process_holds(tmp_path: Path, name: str, service: ServiceProcess) -> None:
    held = str(getattr(service, name)).removeprefix("http://")
    ended = run_service(tmp_path, **{f"{name}_address": held})
    assert (ended.returncode, "ADDRESS_IN_USE" in ended.stderr) == (2, True)
    assert f"FAIRROLL_{name.upper()}_ADDRESS={held}" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_it_refuses_settings_that_cannot_be_read(tmp_path: Path) -> None:
    ended = run_service(tmp_path, drain_seconds="soon")
    assert (ended.returncode, "FAIRROLL_DRAIN_SECONDS" in ended.stderr) == (2, True)


def test_it_refuses_keys_that_others_can_read(tmp_path: Path) -> None:
    with start_service(tmp_path) as running:
        pass
    (running.keys / "vrf-1.seed").chmod(0o644)
    ended = run_service(tmp_path)
    assert (ended.returncode, "KEY_FILE_EXPOSED" in ended.stderr) == (2, True)


def test_it_refuses_the_keys_of_another_origin(tmp_path: Path) -> None:
    with start_service(tmp_path):
        pass
    ended = run_service(tmp_path, origin="rolls.example/v1")
    assert (ended.returncode, "ORIGIN_DIFFERS" in ended.stderr) == (2, True)


def test_it_makes_no_keys_beside_what_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    folder.mkdir(mode=0o700)
    (folder / "root.pub").write_text("00" * 32)
    ended = run_service(tmp_path)
    assert ended.returncode == 2
    assert [path.name for path in folder.iterdir()] == ["root.pub"]


# Connections


def test_a_client_may_ping_as_often_as_the_settings_say(tmp_path: Path) -> None:
    """The short version of a client that pings every 10 s; the library's own limit is 5 minutes."""
    with start_service(tmp_path, ping_seconds="0.3") as running, Http2Connection(running.grpc) as connection:
        kinds = []
        for _ in range(8):
            connection.ping()
            kinds += [frame.kind for frame in connection.frames(0.4)]
    assert kinds.count(PING) == 8
    assert GOAWAY not in kinds


def test_a_client_that_pings_without_pause_is_sent_away(tmp_path: Path) -> None:
    with start_service(tmp_path, ping_seconds="0.3") as running, Http2Connection(running.grpc) as connection:
        for _ in range(8):
            connection.ping()
        frames = connection.frames(2)
    assert [b"too_many_pings" in frame.payload for frame in frames if frame.kind == GOAWAY] == [True]


def test_pings_every_10_seconds_are_within_what_is_allowed(tmp_path: Path) -> None:
    assert "FAIRROLL_PING_SECONDS" not in environment(tmp_path)
    from fairroll.settings import Settings

    assert Settings().ping_seconds < 10


def test_old_connections_are_renewed_without_a_failed_call(tmp_path: Path) -> None:
    with start_service(tmp_path, connection_age_seconds="0.3") as running:
        with Http2Connection(running.grpc) as connection:
            assert GOAWAY in [frame.kind for frame in connection.frames(2)]
        with running.stub() as stub:
            end = time.monotonic() + 1.5
            while time.monotonic() < end:
                stub.Roll(roll_request("1d6"))


# The end


class Caller(threading.Thread):
    """Rolls without pause until health says no, as a client behind a load balancer does; keeps what failed."""

    def __init__(self, running: ServiceProcess) -> None:
        super().__init__(daemon=True)  # it must not outlive a test that fails
        self._running = running
        self.calls = 0
        self.failed: list[Any] = []
        self.told = threading.Event()

    def run(self) -> None:
        with self._running.stub() as stub:
            while not self.told.is_set():
                try:
                    stub.Roll(roll_request("20d6"))
                    self.calls += 1
                except grpc.RpcError as error:
                    self.failed.append((error.code(), error.details()))


class RestCaller(Caller):
    """The same over REST, on one connection; who reads readyz goes elsewhere."""

    def run(self) -> None:
        connection = http.client.HTTPConnection(self._running.rest.removeprefix("http://"), timeout=10)
        while not self.told.is_set():
            try:
                connection.request("POST", "/v1/roll", body="20d6")
                answer = connection.getresponse()
                answer.read()
                self.calls += 1
                if answer.status != 200:
                    self.failed.append(answer.status)
            except OSError as error:
                self.failed.append(repr(error))
        connection.close()


def test_sigterm_under_load_fails_no_call(tmp_path: Path) -> None:
    running = start_service(tmp_path, drain_seconds="3")
    callers = [Caller(running) for _ in range(4)] + [RestCaller(running) for _ in range(2)]
    with running, running.channel() as channel:
        for caller in callers:
            caller.start()
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(service=SERVICE), timeout=30)
        assert next(watch).status == SERVING
        time.sleep(0.3)
        running.process.send_signal(signal.SIGTERM)
        assert next(watch).status == NOT_SERVING
        assert get(f"{running.admin}/readyz") == (503, "draining\n")
        assert get(f"{running.admin}/livez")[0] == 200
        # Each is answered once more while the service drains; how often depends on the machine.
        told = [caller.calls for caller in callers]
        answered = wait_until(
            lambda: all(caller.calls > before for caller, before in zip(callers, told, strict=True)), seconds=2
        )
        for caller in callers:
            caller.told.set()
        for caller in callers:
            caller.join(10)
        watch.cancel()
        assert running.process.wait(20) == 0
    assert answered
    assert [caller.failed for caller in callers] == [[]] * 6
    assert not [line for line in running.lines() if line["level"] == "ERROR"]


def test_a_stream_under_way_is_answered_to_its_end(tmp_path: Path) -> None:
    go_on = threading.Event()

    def items() -> Iterator[StreamRollsRequest]:
        for index in range(50):
            if index == 10:
                go_on.wait(10)
            yield StreamRollsRequest(item_id=str(index), request=roll_request())

    with start_service(tmp_path, drain_seconds="0", stop_seconds="10") as running, running.stub() as stub:
        answers: list[StreamRollsResponse] = []
        call = stub.StreamRolls(items(), timeout=20)
        answers += [next(call) for _ in range(10)]
        running.process.send_signal(signal.SIGTERM)
        wait_for(running, "draining")
        time.sleep(0.2)
        go_on.set()
        answers += list(call)
        assert running.process.wait(20) == 0
    assert [answer.item_id for answer in answers if answer.HasField("receipt")] == [str(index) for index in range(50)]


def test_a_stream_without_end_is_told_to_go_elsewhere(tmp_path: Path) -> None:
    def items() -> Iterator[StreamRollsRequest]:
        while True:
            time.sleep(0.01)
            yield StreamRollsRequest(item_id="x", request=roll_request())

    with start_service(tmp_path, drain_seconds="0", stop_seconds="2") as running, running.stub() as stub:
        call = stub.StreamRolls(items(), timeout=20)
        next(call)
        running.process.send_signal(signal.SIGTERM)
        with pytest.raises(grpc.RpcError) as caught:
            for _ in call:
                pass
        refusal = refusal_of(caught.value)
        assert (refusal.code, refusal.info.reason) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")
        assert running.process.wait(20) == 0


def test_an_idle_service_ends_at_once_on_either_signal(tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with start_service(tmp_path) as running:
            started = time.monotonic()
            assert running.stop(number) == 0
            assert time.monotonic() - started < 5


def wait_for(running: ServiceProcess, text: str, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not any(text in line["message"] for line in running.lines()):
        assert time.monotonic() < end, f"the log never said {text!r}"
        time.sleep(0.02)
