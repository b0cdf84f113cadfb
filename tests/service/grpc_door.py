"""The gRPC door alone, in this process, over a use case that does as it is told."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import grpc
from google.rpc import error_details_pb2, status_pb2

from fairroll.callers import Callers
from fairroll.grpc_listener import GrpcListener
from fairroll.grpc_server import GrpcDoor
from fairroll.metrics import Metrics
from fairroll.odds.desk import OddsDesk
from fairroll.roll import Roller
from fairroll.settings import Address, Settings
from fairroll.v1 import errors_pb2, odds_pb2, roll_pb2, service_pb2

ROLL = "/fairroll.v1.RollService/Roll"
STREAM_ROLLS = "/fairroll.v1.RollService/StreamRolls"


@dataclass
class ToldRoller:
    """Answers each roll with its request_id as digest, or does what `act` does first."""

    act: Callable[[roll_pb2.RollRequest], None] = lambda _: None
    asked: list[tuple[str, str]] = field(default_factory=list)

    def roll(self, request: roll_pb2.RollRequest, tenant: str) -> roll_pb2.RollResponse:
        self.asked.append((request.request_id, tenant))
        self.act(request)
        return roll_pb2.RollResponse(digest=request.request_id)

    def verify_receipt(self, _: service_pb2.VerifyReceiptRequest) -> service_pb2.VerifyReceiptResponse:
        return service_pb2.VerifyReceiptResponse(level="L0")

    def verify_session(self, _: service_pb2.VerifySessionRequest) -> service_pb2.VerifySessionResponse:
        return service_pb2.VerifySessionResponse(verified=True)

    def parse_notation(self, request: service_pb2.ParseNotationRequest) -> service_pb2.ParseNotationResponse:
        return service_pb2.ParseNotationResponse(canonical=request.check.text)

    def list_systems(self, _: service_pb2.ListSystemsRequest) -> service_pb2.ListSystemsResponse:
        return service_pb2.ListSystemsResponse(systems=[service_pb2.SystemInfo(name="notation")])

    def get_limits(self, _: service_pb2.GetLimitsRequest) -> service_pb2.GetLimitsResponse:
        return service_pb2.GetLimitsResponse(limits=[service_pb2.Limit(name="draws", maximum=10_000)])

    def get_key_list(self, _: service_pb2.GetKeyListRequest) -> service_pb2.GetKeyListResponse:
        return service_pb2.GetKeyListResponse(root_key=b"root")


class ToldDesk:
    """Answers each question about odds with the label of its check."""

    async def ask(self, _: int, request: odds_pb2.GetOddsRequest, seconds: float | None = None) -> bytes:
        answer = odds_pb2.GetOddsResponse(odds=odds_pb2.CheckOdds(title=request.check.label))
        return answer.SerializeToString()


@dataclass
class RunningDoor:
    """A door that answers, what it asks, and what it counted."""

    address: str
    roller: ToldRoller
    metrics: Metrics

    def count(self, name: str, **labels: str) -> float:
        """Return the value of one series, 0 where there is none."""
        return self.metrics.registry.get_sample_value(name, labels) or 0

    def calls(self, method: str, code: str) -> float:
        """Return how many calls of a method were answered with a code."""
        return self.count("fairroll_calls_total", door="grpc", method=method, code=code)

    @contextmanager
    def channel(self) -> Iterator[grpc.Channel]:
        with grpc.insecure_channel(self.address) as channel:
            yield channel

    def call(self, path: str, body: bytes, seconds: float | None = 10) -> bytes:
        """Call a unary method with raw bytes."""
        with self.channel() as channel:
            answer: bytes = channel.unary_unary(path, bytes, bytes)(body, timeout=seconds)
            return answer


@contextmanager
def running_door(roller: ToldRoller) -> Iterator[RunningDoor]:
    """Serve the door on a loop in a thread, so that blocking clients can call it."""
    metrics = Metrics()
    loop = asyncio.new_event_loop()

    async def open_door() -> GrpcListener:
        settings = Settings(grpc_address=Address("127.0.0.1", 0))
        door = GrpcDoor(cast("Roller", roller), metrics, Callers(None), odds=cast("OddsDesk", ToldDesk()))
        listener = GrpcListener(door, settings)
        await listener.start()
        return listener

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    listener = asyncio.run_coroutine_threadsafe(open_door(), loop).result(10)
    try:
        yield RunningDoor(str(listener.address), roller, metrics)
    finally:
        asyncio.run_coroutine_threadsafe(listener.stop(0), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


@dataclass
class Refusal:
    """What an error told the caller."""

    code: grpc.StatusCode
    message: str
    info: error_details_pb2.ErrorInfo
    fields: list[str]
    limit: errors_pb2.LimitViolation | None
    notation: errors_pb2.NotationViolation | None


def read_refusal(status: status_pb2.Status) -> Refusal:
    """Unpack the details of a status."""
    codes = {code.value[0]: code for code in grpc.StatusCode}
    kinds: list[Any] = [
        error_details_pb2.ErrorInfo,
        error_details_pb2.BadRequest,
        errors_pb2.LimitViolation,
        errors_pb2.NotationViolation,
    ]
    found: dict[Any, Any] = {}
    for kind in kinds:
        for detail in status.details:
            if detail.Is(kind.DESCRIPTOR):
                found[kind] = kind.FromString(detail.value)
    violations = found.get(error_details_pb2.BadRequest, error_details_pb2.BadRequest()).field_violations
    return Refusal(
        codes[status.code],
        status.message,
        found[error_details_pb2.ErrorInfo],
        [violation.field for violation in violations],
        found.get(errors_pb2.LimitViolation),
        found.get(errors_pb2.NotationViolation),
    )


def refusal_of(error: grpc.RpcError) -> Refusal:
    """Return what the error of a real call told, from its trailers, and check that both places agree."""
    call = cast("grpc.Call", error)
    trailers = {each.key: each.value for each in cast("Any", call.trailing_metadata())}
    refusal = read_refusal(status_pb2.Status.FromString(trailers["grpc-status-details-bin"]))
    assert (call.code(), call.details()) == (refusal.code, refusal.message)
    return refusal
