"""A real process under callers that mean it ill, or no good. More of it with FAIRROLL_LONG."""

import asyncio
import os
import re
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import status_pb2

from fairroll.v1.notation_pb2 import NotationCheck
from fairroll.v1.odds_pb2 import GetOddsRequest
from fairroll.v1.roll_pb2 import Check, RollRequest
from fairroll.v1.service_pb2 import (
    ParseNotationRequest,
    SealRollRequest,
    StreamRollsRequest,
    StreamRollsResponse,
    VerifyReceiptRequest,
    VerifySessionRequest,
)
from tests.service.grpc_door import read_refusal
from tests.service.mutations import requests
from tests.service.process import ServiceProcess, start_service

LONG = bool(os.environ.get("FAIRROLL_LONG"))
MUTATED = 20_000 if LONG else 4_000
CANCELLED = 50_000 if LONG else 5_000
ASKED = 20_000 if LONG else 160
AT_ONCE = 50
MIB = 2**20
KINDS: dict[str, type[Message]] = {
    "Roll": RollRequest,
    "SealRoll": SealRollRequest,
    "VerifyReceipt": VerifyReceiptRequest,
    "VerifySession": VerifySessionRequest,
    "ParseNotation": ParseNotationRequest,
    "StreamRolls": StreamRollsRequest,
}
# What a caller can bring about by what it sends. INTERNAL and UNKNOWN are ours, and never an answer to bytes.
CODES = {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.PERMISSION_DENIED}

pytestmark = pytest.mark.slow


@pytest.fixture
def running(tmp_path: Path) -> Iterator[ServiceProcess]:
    with start_service(tmp_path) as service:
        yield service


def roll_request(checks: int = 1, text: str = "4d6kh3") -> RollRequest:
    return RollRequest(checks=[Check(notation=NotationCheck(text=text))] * checks)


def counted(service: ServiceProcess, name: str) -> int:
    """Return the sum of all series whose line begins so."""
    with urllib.request.urlopen(f"{service.admin}/metrics", timeout=10) as answer:  # noqa: S310  our own http address
        lines = answer.read().decode().splitlines()
    return round(sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name)))


async def test_damaged_requests_are_answered_or_refused_with_a_type(running: ServiceProcess) -> None:
    told: Counter[str] = Counter()
    async with grpc.aio.insecure_channel(running.grpc) as channel:
        calls: dict[str, Any] = {
            name: channel.unary_unary(f"/fairroll.v1.RollService/{name}") for name in KINDS if name != "StreamRolls"
        }
        stream: Any = channel.stream_stream("/fairroll.v1.RollService/StreamRolls")

        async def send(name: str, body: bytes) -> None:
            try:
                if name == "StreamRolls":
                    async for answer in stream(iter([body]), timeout=30):
                        told[f"item {StreamRollsResponse.FromString(answer).WhichOneof('answer')}"] += 1
                else:
                    await calls[name](body, timeout=30)
                    told[f"{name} answered"] += 1
            except grpc.aio.AioRpcError as error:
                # Without a status in the trailers this fails, as it should.
                trailers = dict(cast("Any", error.trailing_metadata()))
                refusal = read_refusal(status_pb2.Status.FromString(trailers["grpc-status-details-bin"]))
                assert refusal.code in CODES, (name, body, refusal)
                assert refusal.info.domain == "fairroll"
                assert re.fullmatch(r"[A-Z][A-Z0-9_]+", refusal.info.reason)
                told[refusal.info.reason] += 1

        asked = requests(20_261_129, KINDS, MUTATED)
        while batch := [send(*each) for each in islice(asked, AT_ONCE)]:
            await asyncio.gather(*batch)
    assert sum(told.values()) == MUTATED
    # They were not all refused at the gate: many kinds of refusals, and some were answered.
    assert len(told) > 12, told
    assert told["Roll answered"]
    assert told["item receipt"]
    assert running.process.poll() is None
    assert counted(running, 'fairroll_calls_total{code="INTERNAL"') == 0
    assert not [line for line in running.lines() if line["level"] == "ERROR"]


def rss_of_children(service: ServiceProcess) -> int:
    """Return the memory of the processes that answer odds; one of them may be gone by now."""
    pages = 0
    for file in Path(f"/proc/{service.process.pid}/task").glob("*/children"):
        for child in file.read_text().split():
            with suppress(FileNotFoundError):
                pages += int(Path(f"/proc/{child}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def test_damaged_questions_about_odds_are_answered_or_refused_with_a_type(running: ServiceProcess) -> None:
    """As many at once as never wait too long: what is whole among them is worked on, whatever it is."""
    told: Counter[str] = Counter()
    asked = requests(20_261_130, {"GetOdds": GetOddsRequest}, ASKED)
    warm = [0]
    async with grpc.aio.insecure_channel(running.grpc) as channel:
        call: Any = channel.unary_unary("/fairroll.v1.RollService/GetOdds")

        async def ask_in_turn() -> None:
            for _, body in asked:
                try:
                    await call(body, timeout=40)
                    told["answered"] += 1
                except grpc.aio.AioRpcError as error:
                    trailers = dict(cast("Any", error.trailing_metadata()))
                    refusal = read_refusal(status_pb2.Status.FromString(trailers["grpc-status-details-bin"]))
                    late = refusal.code is grpc.StatusCode.DEADLINE_EXCEEDED
                    assert refusal.code in CODES or late, (body, refusal)
                    assert refusal.info.domain == "fairroll"
                    told[refusal.info.reason] += 1
                if sum(told.values()) == ASKED // 5:
                    warm[0] = running.rss_bytes() + rss_of_children(running)

        await asyncio.gather(*[ask_in_turn() for _ in range(8)])
        await call(GetOddsRequest(check=roll_request().checks[0]).SerializeToString(), timeout=30)
    assert sum(told.values()) == ASKED
    assert len(told) > 8, told
    # Many are whole and mean something, and what is too much is estimated in time.
    assert told["answered"] > ASKED / 20, told
    assert told["DEADLINE_PASSED"] <= ASKED / 100, told
    grown = running.rss_bytes() + rss_of_children(running) - warm[0]
    # Answers are remembered, 16 MiB of them, and a process keeps room for the largest that it gave.
    assert grown < 64 * MIB, f"{grown / MIB:.1f} MiB more after {ASKED} questions"
    assert counted(running, 'fairroll_calls_total{code="INTERNAL"') == 0
    assert not [line for line in running.lines() if line["level"] == "ERROR"]


def give_up(service: ServiceProcess, calls: int) -> None:
    """Start calls and streams and cancel them all, some at once and some under way."""
    with service.stub() as stub:
        for start in range(0, calls, AT_ONCE):
            under_way: list[Any] = [stub.Roll.future(roll_request(20)) for _ in range(AT_ONCE - 5)]
            items = [StreamRollsRequest(item_id="x", request=roll_request(20))] * 20
            under_way += [stub.StreamRolls(iter(items)) for _ in range(5)]
            time.sleep(start % 4 * 0.002)
            for call in under_way:
                call.cancel()


def test_memory_stays_flat_under_cancelled_calls(running: ServiceProcess) -> None:
    give_up(running, CANCELLED // 5)
    warm = running.rss_bytes()
    give_up(running, CANCELLED)
    with running.stub() as stub:
        stub.Roll(roll_request(), timeout=30)
    grown = running.rss_bytes() - warm
    # They reached the service as calls, and it saw that they were given up.
    assert counted(running, 'fairroll_calls_total{code="CANCELLED"') > CANCELLED / 100
    # Many calls at one moment leave the allocator with more or less room; a call by itself leaves nothing behind.
    assert grown < 8 * MIB + 256 * CANCELLED, f"{grown / MIB:.1f} MiB more after {CANCELLED} cancelled calls"
    assert not [line for line in running.lines() if line["level"] == "ERROR"]


def test_memory_stays_flat_under_refused_calls(running: ServiceProcess) -> None:
    def refused(calls: int) -> None:
        with running.stub() as stub:
            for _ in range(0, calls, AT_ONCE):
                under_way: list[Any] = [stub.Roll.future(roll_request(text="4d")) for _ in range(AT_ONCE)]
                assert {call.code() for call in under_way} == {grpc.StatusCode.INVALID_ARGUMENT}

    refused(CANCELLED // 5)
    warm = running.rss_bytes()
    refused(CANCELLED)
    assert running.rss_bytes() - warm < 8 * MIB


def test_clients_that_never_read_stop_nobody(running: ServiceProcess) -> None:
    over = threading.Event()

    def items() -> Iterator[StreamRollsRequest]:
        while not over.is_set():
            # A fiftieth of what a record may hold, so that ten unread answers at once are no memory to speak of.
            yield StreamRollsRequest(item_id="x", request=roll_request(2, "100d6"))

    def items_answered() -> int:
        return counted(running, "fairroll_stream_items_total")

    with running.channel() as channel, running.stub() as stub:
        before = running.rss_bytes()
        deaf: list[Any] = [
            channel.stream_stream("/fairroll.v1.RollService/StreamRolls", _written)(items()) for _ in range(10)
        ]
        try:
            end = time.monotonic() + 150
            answered = -1
            # Until the windows of all are full: then nothing more is read from them.
            while (now := items_answered()) != answered or now == 0:
                assert time.monotonic() < end, "it goes on answering clients that do not read"
                answered = now
                time.sleep(1)
            waited = []
            for _ in range(50):
                started = time.monotonic()
                stub.Roll(roll_request(), timeout=10)
                waited.append(time.monotonic() - started)
            assert sorted(waited)[25] < 0.5
            grown = running.rss_bytes() - before
            assert grown < 100 * MIB, f"{grown / MIB:.1f} MiB more under clients that do not read"
        finally:
            over.set()
            for call in deaf:
                call.cancel()


def _written(message: StreamRollsRequest) -> bytes:
    return message.SerializeToString()
