"""The door's own behaviour, over a use case that does as it is told."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import grpc
import pytest
from google.rpc import status_pb2

from fairroll.callers import Callers
from fairroll.door import MAX_BODY_BYTES
from fairroll.errors import FairrollError, RequestError
from fairroll.grpc_server import GrpcDoor
from fairroll.metrics import Metrics
from fairroll.reasons import TABLE, Code
from fairroll.roll import Roller
from fairroll.v1.odds_pb2 import GetOddsRequest
from fairroll.v1.roll_pb2 import Check, RollRequest, RollResponse
from fairroll.v1.service_pb2 import (
    DESCRIPTOR,
    GetKeyListRequest,
    GetLimitsRequest,
    ListSystemsRequest,
    ParseNotationRequest,
    SealRollRequest,
    StreamRollsRequest,
    StreamRollsResponse,
    VerifyReceiptRequest,
    VerifySessionRequest,
)
from fairroll.v1.service_pb2_grpc import RollServiceStub
from fairroll.v1.session_pb2 import Session
from tests.service.grpc_door import (
    ROLL,
    STREAM_ROLLS,
    RunningDoor,
    ToldRoller,
    read_refusal,
    refusal_of,
    running_door,
)

UNKNOWN_FIELD_999 = b"\xba\x3e\x01x"
SECRET = "/var/keys/root.seed"


@pytest.fixture
def door() -> Iterator[RunningDoor]:
    with running_door(ToldRoller()) as running:
        yield running


def test_every_call_of_the_contract_has_a_handler(door: RunningDoor) -> None:
    with door.channel() as channel:
        stub = RollServiceStub(channel)
        assert stub.Roll(RollRequest(request_id="a")).digest == "a"
        assert stub.SealRoll(SealRollRequest(roll=RollRequest(session=Session(table="t")))).digest == ""
        assert stub.VerifyReceipt(VerifyReceiptRequest()).level == "L0"
        assert stub.VerifySession(VerifySessionRequest()).verified is True
        assert stub.GetOdds(GetOddsRequest(check=Check(label="c"))).odds.title == "c"
        parse = ParseNotationRequest()
        parse.check.text = "4d6"
        assert stub.ParseNotation(parse).canonical == "4d6"
        assert stub.ListSystems(ListSystemsRequest()).systems[0].name == "notation"
        assert stub.GetLimits(GetLimitsRequest()).limits[0].maximum == 10_000
        assert stub.GetKeyList(GetKeyListRequest()).root_key == b"root"
        assert [each.item_id for each in stub.StreamRolls(iter([item("1", "a")]))] == ["1"]
    names = [method.name for method in DESCRIPTOR.services_by_name["RollService"].methods]
    assert {name: door.calls(name, "OK") for name in names} == dict.fromkeys(names, 1)


def test_anonymous_callers_are_tenant_local(door: RunningDoor) -> None:
    door.call(ROLL, RollRequest(request_id="a").SerializeToString())
    assert door.roller.asked == [("a", "local")]


@pytest.mark.parametrize(
    ("body", "reason", "fields"),
    [
        pytest.param(b"\xff\xff\xff", "BODY_UNREADABLE", [], id="no protobuf"),
        pytest.param(b"\x2a\x02\xc3\x28", "BODY_UNREADABLE", [], id="text that is not UTF-8"),
        pytest.param(b"\x2a\x7fabc", "BODY_UNREADABLE", [], id="cut off"),
        pytest.param(UNKNOWN_FIELD_999, "UNKNOWN_FIELD", ["999"], id="unknown field"),
        pytest.param(b"\x32\x04" + UNKNOWN_FIELD_999, "UNKNOWN_FIELD", ["checks[0].999"], id="unknown field inside"),
    ],
)
def test_bytes_that_are_no_request_are_refused_typed(
    door: RunningDoor, body: bytes, reason: str, fields: list[str]
) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        door.call(ROLL, body)
    refusal = refusal_of(caught.value)
    assert (refusal.code, refusal.info.reason, refusal.info.domain) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        reason,
        "fairroll",
    )
    assert refusal.fields == fields
    assert door.roller.asked == []


def test_a_message_over_1_mib_is_refused_with_the_limit(door: RunningDoor) -> None:
    body = RollRequest(checks=[Check(label="x" * MAX_BODY_BYTES)]).SerializeToString()
    with pytest.raises(grpc.RpcError) as caught:
        door.call(ROLL, body)
    refusal = refusal_of(caught.value)
    assert (refusal.code, refusal.info.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "BODY_TOO_LARGE")
    assert refusal.limit is not None
    assert (refusal.limit.limit, refusal.limit.maximum, refusal.limit.value) == (
        "message_bytes",
        1_048_576,
        str(len(body)),
    )
    assert door.roller.asked == []


def test_a_message_over_4_mib_is_cut_off_before_it_is_held(door: RunningDoor) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        door.call(ROLL, b"x" * (4 * 1_048_576 + 1))
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_a_message_of_exactly_1_mib_is_read(door: RunningDoor) -> None:
    # Three bytes each for two tags and lengths of five digits in base 128, and the rest.
    body = RollRequest(checks=[Check(label="x" * (1_048_576 - 8))]).SerializeToString()
    assert len(body) == 1_048_576
    door.call(ROLL, body)
    assert len(door.roller.asked) == 1


@pytest.mark.parametrize("path", ["/fairroll.v1.RollService/Rol", "/fairroll.v2.RollService/Roll", "/"])
def test_a_method_that_does_not_exist_is_refused_under_one_label(door: RunningDoor, path: str) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        door.call(path, b"")
    refusal = refusal_of(caught.value)
    assert (refusal.code, refusal.info.reason) == (grpc.StatusCode.UNIMPLEMENTED, "METHOD_UNKNOWN")
    assert door.calls("unknown", "UNIMPLEMENTED") == 1


FOR_CALLERS = sorted({row.code: reason for reason, row in TABLE.items() if row.code is not Code.INTERNAL}.items())


@pytest.mark.parametrize(("code", "reason"), FOR_CALLERS, ids=[code.name for code, _ in FOR_CALLERS])
def test_each_code_reaches_the_caller_the_metrics_and_the_log(
    code: Code, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_: RollRequest) -> None:
        raise FairrollError(reason, "so it is", field="checks[0].label", limit="draws", maximum=3, value="4")

    caplog.set_level(logging.INFO, "fairroll.calls")
    with running_door(ToldRoller(refuse)) as door:
        with pytest.raises(grpc.RpcError) as caught:
            door.call(ROLL, RollRequest(request_id="a secret label").SerializeToString())
        refusal = refusal_of(caught.value)
        assert (refusal.code.name, refusal.message, refusal.info.reason) == (code.name, "so it is", reason)
        assert refusal.fields == ["checks[0].label"]
        assert refusal.limit is not None
        assert (refusal.limit.limit, refusal.limit.maximum, refusal.limit.value) == ("draws", 3, "4")
        assert not refusal.limit.HasField("minimum")
        assert door.calls("Roll", code.name) == 1
        assert door.calls("Roll", "OK") == 0
        assert door.count("fairroll_call_seconds_count", door="grpc", method="Roll") == 1
    [line] = [record.__dict__["fields"] for record in caplog.records if record.name == "fairroll.calls"]
    assert (line["door"], line["method"], line["code"], line["reason"]) == ("grpc", "Roll", code.name, reason)
    assert set(line) == {"door", "method", "code", "ms", "id", "reason"}


@pytest.mark.parametrize(
    "error",
    [
        ValueError(f"cannot read {SECRET}"),
        FairrollError("KEY_FILE_EXPOSED", f"{SECRET} is open to others", field=SECRET),
        FairrollError("NEVER_HEARD_OF", SECRET),
        RecursionError(SECRET),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_is_not_the_callers_business_is_answered_with_an_id_alone(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: RollRequest) -> None:
        raise error

    with running_door(ToldRoller(fail)) as door, pytest.raises(grpc.RpcError) as caught:
        door.call(ROLL, b"")
    refusal = refusal_of(caught.value)
    call_id = refusal.info.metadata["id"]
    assert (refusal.code, refusal.message) == (grpc.StatusCode.INTERNAL, f"internal error {call_id}")
    assert len(call_id) == 16
    assert SECRET not in repr(caught.value)
    [logged] = [record for record in caplog.records if record.name == "fairroll.door"]
    assert logged.__dict__["fields"] == {"id": call_id}
    assert logged.exc_info is not None
    assert logged.exc_info[1] is error


def test_an_answer_that_cannot_be_encoded_leaks_nothing() -> None:
    class Odd(ToldRoller):
        def roll(self, request: RollRequest, tenant: str) -> RollResponse:
            raise UnicodeEncodeError("utf-8", SECRET, 0, 1, "no")

    with running_door(Odd()) as door, pytest.raises(grpc.RpcError) as caught:
        door.call(ROLL, b"")
    assert refusal_of(caught.value).info.reason == "INTERNAL"
    assert SECRET not in repr(caught.value)


def test_the_longest_texts_fit_into_trailers() -> None:
    def refuse(_: RollRequest) -> None:
        raise RequestError(
            "OUT_OF_RANGE",
            "é" * 100_000,
            field="checks[0].notation.text",
            value="\ud800" * 100_000,
            maximum=1,
            expected=("x" * 1000,) * 1000,
            hint="h" * 100_000,
            span=(0, 4),
        )

    with running_door(ToldRoller(refuse)) as door, pytest.raises(grpc.RpcError) as caught:
        door.call(ROLL, b"")
    refusal = refusal_of(caught.value)
    assert refusal.info.reason == "OUT_OF_RANGE"
    assert refusal.notation is not None
    assert (refusal.notation.span.start, refusal.notation.span.end) == (0, 4)


def test_a_request_past_its_deadline_is_not_rolled() -> None:
    blocked, go_on = threading.Event(), threading.Event()

    def block(request: RollRequest) -> None:
        if request.request_id == "first":
            blocked.set()
            go_on.wait(10)

    with running_door(ToldRoller(block)) as door, door.channel() as channel:
        stub = RollServiceStub(channel)
        first = stub.Roll.future(RollRequest(request_id="first"))
        assert blocked.wait(10)
        with pytest.raises(grpc.RpcError) as caught:
            stub.Roll(RollRequest(request_id="late"), timeout=0.1)
        assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        # The server counts the same 0.1 s from when it reads the call, which on a busy machine is later.
        time.sleep(0.5)
        go_on.set()
        assert first.result(10).digest == "first"
        assert stub.Roll(RollRequest(request_id="next")).digest == "next"
        assert [name for name, _ in door.roller.asked] == ["first", "next"]


async def test_a_call_whose_turn_comes_too_late_says_so() -> None:
    roller = ToldRoller()
    context = LateContext()
    handler = GrpcDoor(cast("Roller", roller), Metrics(), Callers(None)).service(details(ROLL))
    with pytest.raises(Aborted):
        await cast("Any", handler).unary_unary(b"", context)
    refusal = read_refusal(status_pb2.Status.FromString(context.trailers["grpc-status-details-bin"]))
    assert (refusal.code, refusal.info.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "DEADLINE_PASSED")
    assert roller.asked == []


def test_streams_that_are_given_up_are_counted_as_cancelled(door: RunningDoor) -> None:
    """Nearly all of them: the library lets some look like streams that ended."""
    hold = threading.Event()

    def requests() -> Iterator[StreamRollsRequest]:
        yield item("1", "a")
        hold.wait(10)

    with door.channel() as channel:
        for _ in range(20):
            call = RollServiceStub(channel).StreamRolls(requests())
            assert next(call).item_id == "1"
            call.cancel()
        wait_until(lambda: door.calls("StreamRolls", "CANCELLED") + door.calls("StreamRolls", "OK") == 20)
        hold.set()
    assert door.calls("StreamRolls", "CANCELLED") > 10


async def test_a_call_that_is_cancelled_stays_cancelled_and_is_counted() -> None:
    class Patient:
        def time_remaining(self) -> None:
            return None

        async def read(self) -> bytes:
            raise asyncio.CancelledError

    metrics = Metrics()
    handler = GrpcDoor(cast("Roller", ToldRoller()), metrics, Callers(None)).service(details(STREAM_ROLLS))
    with pytest.raises(asyncio.CancelledError):
        await cast("Any", handler).stream_stream(None, Patient())
    labels = {"door": "grpc", "method": "StreamRolls", "code": "CANCELLED"}
    assert metrics.registry.get_sample_value("fairroll_calls_total", labels) == 1


def test_a_stream_answers_in_order_and_outlives_bad_items() -> None:
    def act(request: RollRequest) -> None:
        if request.request_id == "bad":
            raise RequestError("OUT_OF_RANGE", "too much", field="checks[1].label", maximum=1, value="2")
        if request.request_id == "leak":
            raise ValueError(SECRET)

    bodies = [
        item("1", "a").SerializeToString(),
        item("2", "bad").SerializeToString(),
        b"\xff\xff",
        StreamRollsRequest(item_id="4").SerializeToString(),
        item("5", "leak").SerializeToString(),
        item("6", "b").SerializeToString() + UNKNOWN_FIELD_999,
        item("7" * 101, "c").SerializeToString(),
        item("8", "d").SerializeToString(),
    ]
    with running_door(ToldRoller(act)) as door, door.channel() as channel:
        call = channel.stream_stream(STREAM_ROLLS, bytes, StreamRollsResponse.FromString)
        answers = list(call(iter(bodies)))
        assert door.calls("StreamRolls", "OK") == 1
        assert door.count("fairroll_stream_items_total", door="grpc", code="OK") == 2
        assert door.count("fairroll_stream_items_total", door="grpc", code="INTERNAL") == 1
        assert door.count("fairroll_stream_items_total", door="grpc", code="INVALID_ARGUMENT") == 5
    told = [
        (each.item_id, each.receipt.digest or read_refusal(each.status).info.reason, fields_of(each))
        for each in answers
    ]
    assert told == [
        ("1", "a", []),
        ("2", "OUT_OF_RANGE", ["request.checks[1].label"]),
        ("", "BODY_UNREADABLE", []),
        ("4", "REQUIRED", ["request"]),
        ("5", "INTERNAL", []),
        ("6", "UNKNOWN_FIELD", ["999"]),
        ("", "OUT_OF_RANGE", ["item_id"]),
        ("8", "d", []),
    ]
    assert SECRET not in str(answers)


def test_a_stream_may_send_as_it_reads(door: RunningDoor) -> None:
    """Each item is answered before the next is sent: nothing waits for a full batch."""
    answered = threading.Semaphore(1)

    def requests() -> Iterator[StreamRollsRequest]:
        for index in range(100):
            assert answered.acquire(timeout=10)
            yield item(str(index), f"r{index}")

    with door.channel() as channel:
        got = []
        for answer in RollServiceStub(channel).StreamRolls(requests()):
            got.append((answer.item_id, answer.receipt.digest))
            answered.release()
    assert got == [(str(index), f"r{index}") for index in range(100)]


def test_a_client_that_does_not_read_is_not_read_from_and_stops_nobody() -> None:
    many = 20_000

    class Long(ToldRoller):
        def roll(self, request: RollRequest, tenant: str) -> RollResponse:
            super().roll(request, tenant)
            return RollResponse(digest="x" * 4096)

    with running_door(Long()) as door, door.channel() as channel:
        stub = RollServiceStub(channel)
        deaf = stub.StreamRolls(item(str(index), "a") for index in range(many))
        before = -1
        while before != len(door.roller.asked):
            before = len(door.roller.asked)
            time.sleep(0.3)
        assert 0 < before < many
        with door.channel() as other:
            assert RollServiceStub(other).Roll(RollRequest(request_id="b"), timeout=5).digest
        deaf.cancel()


class Aborted(Exception):
    pass


class LateContext:
    def __init__(self) -> None:
        self.trailers: dict[str, bytes] = {}

    def time_remaining(self) -> float:
        return -0.001

    async def abort(self, _code: grpc.StatusCode, _message: str, trailers: tuple[tuple[str, bytes], ...]) -> None:
        self.trailers = dict(trailers)
        raise Aborted


def details(path: str) -> grpc.HandlerCallDetails:
    class Details:
        method = path
        invocation_metadata: tuple[tuple[str, str | bytes], ...] = ()

    return Details()


def item(item_id: str, request_id: str) -> StreamRollsRequest:
    return StreamRollsRequest(item_id=item_id, request=RollRequest(request_id=request_id))


def fields_of(answer: StreamRollsResponse) -> list[str]:
    return read_refusal(answer.status).fields if answer.HasField("status") else []


def wait_until(true: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.01)
