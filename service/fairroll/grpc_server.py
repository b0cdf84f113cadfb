"""The gRPC door: bytes in, the use case called in process, bytes out.

Handlers take and give bytes, since what the library's own decoding and encoding raise goes around every interceptor,
with its text. That boundary stands in each handler for the same reason.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message
from grpc.aio import EOF

from fairroll.door import decode, new_call_id, status_of
from fairroll.errors import FairrollError, RequestError, ServiceError
from fairroll.guard import guarded
from fairroll.logs import log_call
from fairroll.metrics import UNKNOWN_METHOD
from fairroll.odds.desk import OddsDesk
from fairroll.odds.worker import PROTO
from fairroll.reasons import Code
from fairroll.sealed import sealing
from fairroll.stream_items import answer_item
from fairroll.v1.odds_pb2 import GetOddsRequest
from fairroll.v1.roll_pb2 import RollRequest
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

if TYPE_CHECKING:
    from grpc.aio import ServicerContext

    from fairroll.callers import Callers
    from fairroll.guard import Guard
    from fairroll.metrics import Metrics
    from fairroll.roll import Roller

    Context: TypeAlias = ServicerContext[bytes, bytes]

Q = TypeVar("Q", bound=Message)

DOOR = "grpc"
SERVICE = DESCRIPTOR.services_by_name["RollService"].full_name
API_KEY = "x-api-key"
TURNS_TO_CANCEL = 3
STATUS_DETAILS = "grpc-status-details-bin"

_END: Any = EOF  # the stubs leave out that reading may end
_CODES = {code.value[0]: code for code in grpc.StatusCode}


class GrpcDoor(grpc.GenericRpcHandler):
    """The handlers of RollService, and of every method that does not exist.

    Attributes:
        streams_end: when streams are asked to go elsewhere, in the loop's time; None until the process drains.
    """

    def __init__(
        self,
        roller: Roller,
        metrics: Metrics,
        callers: Callers,
        guard: Guard | None = None,
        *,
        odds: OddsDesk | None = None,
    ) -> None:
        """Call `roller` for `callers` under `guard`, if there is one; count with `metrics`; ask `odds` for odds."""
        self.streams_end: float | None = None
        self._roll = guarded(roller, guard)
        self._metrics = metrics
        self._callers = callers
        self._odds = odds if odds is not None else OddsDesk()
        unary = {
            "Roll": self._unary("Roll", RollRequest, self._roll),
            "SealRoll": self._unary("SealRoll", SealRollRequest, sealing(self._roll)),
            "VerifyReceipt": self._unary("VerifyReceipt", VerifyReceiptRequest, _aside(roller.verify_receipt)),
            "VerifySession": self._unary("VerifySession", VerifySessionRequest, _aside(roller.verify_session)),
            "GetOdds": self._answered("GetOdds", self._get_odds),
            "ParseNotation": self._unary("ParseNotation", ParseNotationRequest, _known(roller.parse_notation)),
            "ListSystems": self._public("ListSystems", ListSystemsRequest, roller.list_systems),
            "GetLimits": self._public("GetLimits", GetLimitsRequest, roller.get_limits),
            "GetKeyList": self._public("GetKeyList", GetKeyListRequest, roller.get_key_list),
        }
        self._handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            f"/{SERVICE}/{name}": grpc.unary_unary_rpc_method_handler(handler) for name, handler in unary.items()
        }
        self._handlers[f"/{SERVICE}/StreamRolls"] = grpc.stream_stream_rpc_method_handler(
            self._answered("StreamRolls", self._stream_rolls)
        )
        # As a stream it answers callers of any kind.
        self._no_handler: grpc.RpcMethodHandler[Any, Any] = grpc.stream_stream_rpc_method_handler(
            self._answered(UNKNOWN_METHOD, _unknown)
        )

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any]:
        """Return the handler of a method; where there is no such method, one that says so."""
        return self._handlers.get(handler_call_details.method, self._no_handler)

    def _unary(
        self, method: str, message_class: type[Q], use: Callable[[Q, str], Awaitable[Message]]
    ) -> Callable[[bytes, Context], Awaitable[bytes]]:
        """Return the handler of a call that is made as a tenant."""

        async def answer(body: bytes, context: Context) -> bytes:
            _refuse_late(context)
            tenant = self._tenant(context)
            return (await use(decode(message_class, body), tenant)).SerializeToString()

        return self._answered(method, answer)

    def _public(
        self, method: str, message_class: type[Q], use: Callable[[Q], Message]
    ) -> Callable[[bytes, Context], Awaitable[bytes]]:
        """Return the handler of a call that needs no credential: what an auditor asks."""

        async def answer(body: bytes, context: Context) -> bytes:
            _refuse_late(context)
            return use(decode(message_class, body)).SerializeToString()

        return self._answered(method, answer)

    def _tenant(self, context: Context) -> str:
        if self._callers.anonymous:
            return self._callers.tenant_of(None)
        shown = dict(context.invocation_metadata() or ()).get(API_KEY)
        return self._callers.tenant_of(shown if isinstance(shown, str) else None)

    def _answered(
        self, method: str, answer: Callable[[Any, Context], Awaitable[Any]]
    ) -> Callable[[Any, Context], Awaitable[Any]]:
        """Wrap a handler: what it raises becomes a status, the call is counted and logged, and nothing leaks."""

        async def handle(request: Any, context: Context) -> Any:  # noqa: ANN401  bytes, or an iterator of them
            started = time.perf_counter()
            call_id = new_call_id()
            code, reason = Code.OK, ""
            try:
                return await answer(request, context)
            except asyncio.CancelledError:
                code = Code.DEADLINE_EXCEEDED if _is_late(context) else Code.CANCELLED
                raise
            except Exception as error:  # noqa: BLE001  the last boundary: no text of an exception reaches a caller
                status = status_of(error, call_id)
                code = Code(status.code)
                reason = error.reason if isinstance(error, FairrollError) else "INTERNAL"
            finally:
                seconds = time.perf_counter() - started
                self._metrics.observe_call(DOOR, method, code.name, seconds)
                log_call(DOOR, method, code.name, seconds, call_id, reason=reason)
            details = ((STATUS_DETAILS, status.SerializeToString()),)
            return await context.abort(_CODES[status.code], status.message, details)

        return handle

    async def _get_odds(self, body: bytes, context: Context) -> bytes:
        """Answer from what is known, or by a process that is ended when the deadline passes."""
        _refuse_late(context)
        self._tenant(context)
        remaining: float | None = context.time_remaining()
        return await self._odds.ask(PROTO, decode(GetOddsRequest, body), remaining)

    async def _stream_rolls(self, _requests: object, context: Context) -> None:
        """Answer items one after another: in order by nature, and a client that does not read is not read from."""
        tenant = self._tenant(context)
        while (body := await context.read()) is not _END:
            _refuse_late(context)
            await context.write((await self._answer_item(body, tenant)).SerializeToString())
            if self.streams_end is not None and asyncio.get_running_loop().time() > self.streams_end:
                raise ServiceError("DRAINING", "the process is shutting down; ask the rest again elsewhere")
        # A call that was given up looks like one that has ended, until the loop has turned: count it as what it is.
        for _ in range(TURNS_TO_CANCEL):
            await asyncio.sleep(0)
        _refuse_late(context)

    async def _answer_item(self, body: bytes, tenant: str) -> StreamRollsResponse:
        answer, code = await answer_item(
            lambda: decode(StreamRollsRequest, body), lambda request: self._roll(request, tenant), lambda: _called(body)
        )
        self._metrics.observe_item(DOOR, code.name)
        return answer


def _called(body: bytes) -> str:
    """Return what bytes that are no item call themselves, where that can be read."""
    try:
        return StreamRollsRequest.FromString(body).item_id
    except DecodeError:
        return ""


def _known(use: Callable[[Q], Message]) -> Callable[[Q, str], Awaitable[Message]]:
    """Return a use that any known caller may have, whatever the tenant."""

    async def answer(request: Q, _: str) -> Message:
        return use(request)

    return answer


def _aside(use: Callable[[Q], Message]) -> Callable[[Q, str], Awaitable[Message]]:
    """Return a use that any known caller may have, in a thread, since it takes long."""

    async def answer(request: Q, _: str) -> Message:
        return await asyncio.to_thread(use, request)

    return answer


async def _unknown(_requests: object, _context: Context) -> None:
    raise RequestError("METHOD_UNKNOWN", f"{SERVICE} has no such method")


def _is_late(context: Context) -> bool:
    # The stubs leave out that there may be no deadline.
    remaining: float | None = context.time_remaining()
    return remaining is not None and remaining <= 0


def _refuse_late(context: Context) -> None:
    """Return if the caller still waits for an answer.

    Raises:
        ServiceError: DEADLINE_PASSED; a roll that nobody waits for is not made.
    """
    if _is_late(context):
        raise ServiceError("DEADLINE_PASSED", "the deadline had passed before the call's turn came")
