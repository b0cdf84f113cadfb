"""The REST door: JSON in, the use case called in process, JSON out. No rule, no default, no second model."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, Response
from google.protobuf.message import Message
from starlette.exceptions import HTTPException

from fairroll import json_codec
from fairroll.errors import FairrollError, RequestError, StateError, code_of
from fairroll.problems import plain_problem, problem_response
from fairroll.reasons import HTTP, Code
from fairroll.v1 import notation_pb2, roll_pb2, service_pb2

JSON_TYPE = "application/json"
MAX_BODY_BYTES = 1024 * 1024
LOCAL_TENANT = "local"
"""Whose rolls those of callers without a credential are; on loopback only."""

_LOG = logging.getLogger("fairroll.rest")
_NO_STORE = {"cache-control": "no-store"}

Handler = Callable[[Request], Awaitable[Response]]
Observe = Callable[[str, str, float], None]
"""Counts a call: its method as in the contract, its gRPC code's name, its seconds."""


class UseCase(Protocol):
    """What the gateway calls: the same that the gRPC door calls."""

    def roll(self, request: roll_pb2.RollRequest, tenant: str) -> roll_pb2.RollResponse:
        """Roll."""

    def verify_receipt(self, request: service_pb2.VerifyReceiptRequest) -> service_pb2.VerifyReceiptResponse:
        """Verify a receipt."""

    def parse_notation(self, request: service_pb2.ParseNotationRequest) -> service_pb2.ParseNotationResponse:
        """Say what notation means."""

    def list_systems(self, request: service_pb2.ListSystemsRequest) -> service_pb2.ListSystemsResponse:
        """List the systems."""

    def get_limits(self, request: service_pb2.GetLimitsRequest) -> service_pb2.GetLimitsResponse:
        """Return the limits."""

    def get_key_list(self, request: service_pb2.GetKeyListRequest) -> service_pb2.GetKeyListResponse:
        """Return the key list."""


def make_app(use_case: UseCase, observe: Observe, is_draining: Callable[[], bool] = lambda: False) -> FastAPI:
    """Return the gateway as an ASGI application."""
    app = FastAPI(title="fairroll", openapi_url=None, docs_url=None, redoc_url=None)

    def roll(request: roll_pb2.RollRequest) -> roll_pb2.RollResponse:
        if is_draining():
            raise StateError("DRAINING", "the service is shutting down")
        return use_case.roll(request, LOCAL_TENANT)

    def add(path: str, verb: str, method: str, handler: Handler) -> None:
        app.add_api_route(path, _guarded(method, handler, observe), methods=[verb], response_model=None)

    def post(path: str, method: str, message: type[Message], call: Callable[[Any], Message]) -> None:
        add(path, "POST", method, _call_with_body(message, call))

    def get(path: str, method: str, call: Callable[[], Message]) -> None:
        add(path, "GET", method, _call_without_body(call))

    post("/v1/rolls", "Roll", roll_pb2.RollRequest, roll)
    post("/v1/rolls:verify", "VerifyReceipt", service_pb2.VerifyReceiptRequest, use_case.verify_receipt)
    post("/v1/notation:parse", "ParseNotation", service_pb2.ParseNotationRequest, use_case.parse_notation)
    get("/v1/systems", "ListSystems", lambda: use_case.list_systems(service_pb2.ListSystemsRequest()))
    get("/v1/limits", "GetLimits", lambda: use_case.get_limits(service_pb2.GetLimitsRequest()))
    get("/v1/keys", "GetKeyList", lambda: use_case.get_key_list(service_pb2.GetKeyListRequest()))
    get(
        "/.well-known/fairroll/keys",
        "GetKeyList",
        lambda: use_case.get_key_list(service_pb2.GetKeyListRequest()).envelope,
    )
    add("/v1/roll", "POST", "Roll", _line_for_people(roll))
    app.add_exception_handler(HTTPException, _starlette_problem)
    return app


def _call_with_body(message: type[Message], call: Callable[[Any], Message]) -> Handler:
    async def handle(request: Request) -> Response:
        _require_json(request)
        answer = call(json_codec.loads(message, await _body(request)))
        return Response(json_codec.dumps(answer), 200, _NO_STORE, JSON_TYPE)

    return handle


def _call_without_body(call: Callable[[], Message]) -> Handler:
    async def handle(_: Request) -> Response:
        return Response(json_codec.dumps(call()), 200, None, JSON_TYPE)

    return handle


def _line_for_people(roll: Callable[[roll_pb2.RollRequest], roll_pb2.RollResponse]) -> Handler:
    """`curl -d '4d6kh3' .../v1/roll`: the body is notation, whatever its type says; the answer is text."""

    async def handle(request: Request) -> Response:
        try:
            text = (await _body(request)).decode()
        except UnicodeDecodeError:
            raise RequestError("TEXT_INVALID", "the notation is not UTF-8", field="text") from None
        check = roll_pb2.Check(notation=notation_pb2.NotationCheck(text=text))
        answer = roll(roll_pb2.RollRequest(checks=[check]))
        if JSON_TYPE in request.headers.get("accept", ""):
            return Response(json_codec.dumps(answer), 200, _NO_STORE, JSON_TYPE)
        text = f"{answer.texts[0].plain}\nreceipt {answer.digest}\n"
        return PlainTextResponse(text, 200, _NO_STORE)

    return handle


def _guarded(method: str, handler: Handler, observe: Observe) -> Handler:
    """Wrap a handler: every error becomes a problem, every call is counted, and nothing leaks."""

    async def handle(request: Request) -> Response:
        started = time.perf_counter()
        code = Code.OK
        try:
            return await handler(request)
        except FairrollError as error:
            code = code_of(error)
            if code is not Code.INTERNAL:
                return problem_response(error)
            return _internal(error)
        except Exception as error:  # noqa: BLE001  the last guard: no text of an exception reaches a caller
            code = Code.INTERNAL
            return _internal(error)
        finally:
            observe(method, code.name, time.perf_counter() - started)

    return handle


def _internal(error: Exception) -> Response:
    call_id = secrets.token_hex(8)
    _LOG.error("internal error %s", call_id, exc_info=error)
    return plain_problem(HTTP[Code.INTERNAL], "INTERNAL", f"internal error {call_id}", id=call_id)


async def _starlette_problem(_: Request, error: Exception) -> Response:
    """Answer what Starlette refuses itself: an unknown route, another method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 405:
        response = plain_problem(status, "METHOD_NOT_ALLOWED", "this route takes another method")
        response.headers.update(getattr(error, "headers", None) or {})
        return response
    return plain_problem(status, "ROUTE_UNKNOWN", "there is no such route")


def _require_json(request: Request) -> None:
    kind = request.headers.get("content-type", JSON_TYPE).partition(";")[0].strip().lower()
    if kind != JSON_TYPE:
        raise RequestError("MEDIA_TYPE_UNSUPPORTED", f"send {JSON_TYPE}", value=kind)


async def _body(request: Request) -> bytes:
    """Read the body, at most MAX_BODY_BYTES of it."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            raise RequestError("BODY_TOO_LARGE", "the body is too large", limit="message_bytes", maximum=MAX_BODY_BYTES)
        chunks.append(chunk)
    return b"".join(chunks)
