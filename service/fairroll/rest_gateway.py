"""The REST door: JSON in, the use case called in process, JSON out. No rule, no default, no second model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, Response
from google.protobuf.message import Message
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from fairroll import json_codec
from fairroll.cached import cached_response
from fairroll.cors import Cors
from fairroll.documentation import add_documentation
from fairroll.door import MAX_BODY_BYTES, log_failure, new_call_id
from fairroll.errors import FairrollError, RequestError, code_of
from fairroll.guard import guarded
from fairroll.logs import log_call
from fairroll.metrics import UNKNOWN_METHOD
from fairroll.odds.desk import OddsDesk
from fairroll.odds.query import question_of
from fairroll.odds.worker import JSON, SVG
from fairroll.problems import plain_problem, problem_response
from fairroll.reasons import HTTP, Code
from fairroll.rest_stream import LINES_TYPE, StreamedRolls
from fairroll.sealed import sealing
from fairroll.v1 import notation_pb2, odds_pb2, roll_pb2, service_pb2

if TYPE_CHECKING:
    from fairroll.callers import Callers
    from fairroll.guard import Guard, Roll
    from fairroll.metrics import Metrics
    from fairroll.roll import Roller

DOOR = "rest"
JSON_TYPE = "application/json"
SVG_TYPE = "image/svg+xml"
API_KEY = "x-api-key"
FRESH_SECONDS = 60
"""How long a cache may show what seldom changes (keys, systems, limits) before it asks again by ETag."""
PICTURE_SECONDS = 3600
"""How long a cache may show a picture of odds."""

_NO_STORE = {"cache-control": "no-store"}
_FRESH = {"cache-control": f"public, max-age={FRESH_SECONDS}"}

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]
Use: TypeAlias = Callable[[Any, str], Awaitable[Message]]
"""A call made as a tenant: message and tenant in, message out."""


def make_app(
    roller: Roller,
    metrics: Metrics,
    callers: Callers,
    cors_origins: Sequence[str] = (),
    guard: Guard | None = None,
    *,
    odds: OddsDesk | None = None,
) -> FastAPI:
    """Return the gateway as an ASGI application.

    Args:
        roller: the use case.
        metrics: counts the calls.
        callers: who they may be.
        cors_origins: the origins of pages that may call, such as `https://table.example`.
        guard: lets a seq be used once, if there is one.
        odds: answers odds; one of its own where none is given.
    """
    desk = odds if odds is not None else OddsDesk()
    # A path with a slash too many is another path, which a redirect would hide from whoever sends a body.
    app = FastAPI(title="fairroll", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)

    def add(path: str, verb: str, method: str, handler: Handler) -> None:
        verbs = [verb, "HEAD"] if verb == "GET" else [verb]
        app.add_api_route(path, _answered(method, handler, metrics), methods=verbs, response_model=None, name=method)

    def post(path: str, method: str, message: type[Message], use: Use) -> None:
        add(path, "POST", method, _call_with_body(message, use, callers))

    def get(path: str, method: str, call: Callable[[], Message]) -> None:
        add(path, "GET", method, _call_without_body(call))

    def known(call: Callable[[Any], Message]) -> Use:
        async def use(request: Any, _: str) -> Message:  # noqa: ANN401  each call has its own message
            return call(request)

        return use

    def aside(call: Callable[[Any], Message]) -> Use:
        async def use(request: Any, _: str) -> Message:  # noqa: ANN401  as above
            return await asyncio.to_thread(call, request)

        return use

    roll = guarded(roller, guard)

    post("/v1/rolls", "Roll", roll_pb2.RollRequest, roll)
    post("/v1/rolls:seal", "SealRoll", service_pb2.SealRollRequest, sealing(roll))
    add("/v1/rolls:stream", "POST", "StreamRolls", _stream(roll, metrics, callers))
    post("/v1/rolls:verify", "VerifyReceipt", service_pb2.VerifyReceiptRequest, aside(roller.verify_receipt))
    post("/v1/sessions:verify", "VerifySession", service_pb2.VerifySessionRequest, aside(roller.verify_session))
    add("/v1/odds", "POST", "GetOdds", _odds(desk, callers))
    add("/v1/odds.svg", "GET", "GetOdds", _odds_picture(desk, callers))
    post("/v1/notation:parse", "ParseNotation", service_pb2.ParseNotationRequest, known(roller.parse_notation))
    get("/v1/systems", "ListSystems", lambda: roller.list_systems(service_pb2.ListSystemsRequest()))
    get("/v1/limits", "GetLimits", lambda: roller.get_limits(service_pb2.GetLimitsRequest()))
    get("/v1/keys", "GetKeyList", lambda: roller.get_key_list(service_pb2.GetKeyListRequest()))
    get(
        "/.well-known/fairroll/keys",
        "GetKeyList",
        lambda: roller.get_key_list(service_pb2.GetKeyListRequest()).envelope,
    )
    add("/v1/roll", "POST", "Roll", _line_for_people(roll, callers))
    add_documentation(app, roller, anonymous=callers.anonymous, guard=guard is not None)
    app.add_exception_handler(HTTPException, _starlette_problem(metrics))
    if cors_origins:
        app.add_middleware(Cors, allow_origins=cors_origins, allow_headers=["content-type", "if-none-match", API_KEY])
    return app


def _tenant(request: Request, callers: Callers) -> str:
    return callers.tenant_of(request.headers.get(API_KEY))


def _call_with_body(message: type[Message], use: Use, callers: Callers) -> Handler:
    async def handle(request: Request) -> Response:
        tenant = _tenant(request, callers)
        _require(request, JSON_TYPE)
        answer = await use(json_codec.loads(message, await _body(request)), tenant)
        return Response(json_codec.dumps(answer), 200, _NO_STORE, JSON_TYPE)

    return handle


def _odds(desk: OddsDesk, callers: Callers) -> Handler:
    async def handle(request: Request) -> Response:
        _tenant(request, callers)
        _require(request, JSON_TYPE)
        asked = json_codec.loads(odds_pb2.GetOddsRequest, await _body(request))
        return Response(await desk.ask(JSON, asked), 200, _NO_STORE, JSON_TYPE)

    return handle


def _odds_picture(desk: OddsDesk, callers: Callers) -> Handler:
    """Answer with a picture for pages and chat bots: the same question has the same picture."""
    kept = "public" if callers.anonymous else "private"
    headers = {"cache-control": f"{kept}, max-age={PICTURE_SECONDS}", "content-security-policy": "default-src 'none'"}

    async def handle(request: Request) -> Response:
        _tenant(request, callers)
        asked = question_of(request.query_params.multi_items())
        return cached_response(request, await desk.ask(SVG, asked), headers, SVG_TYPE)

    return handle


def _call_without_body(call: Callable[[], Message]) -> Handler:
    """Return the handler of a public call whose answer seldom changes: what an auditor asks."""

    async def handle(request: Request) -> Response:
        return cached_response(request, json_codec.dumps(call()), _FRESH, JSON_TYPE)

    return handle


def _stream(roll: Roll, metrics: Metrics, callers: Callers) -> Handler:
    async def handle(request: Request) -> Response:
        tenant = _tenant(request, callers)
        _require(request, LINES_TYPE, JSON_TYPE)
        return StreamedRolls(request, lambda asked: roll(asked, tenant), lambda code: metrics.observe_item(DOOR, code))

    return handle


def _line_for_people(roll: Roll, callers: Callers) -> Handler:
    """`curl -d '4d6kh3' .../v1/roll`: the body is notation, whatever its type says; the answer is text."""

    async def handle(request: Request) -> Response:
        tenant = _tenant(request, callers)
        _require_plain(request)
        try:
            text = (await _body(request)).decode()
        except UnicodeDecodeError:
            raise RequestError("TEXT_INVALID", "the notation is not UTF-8", field="checks[0].notation.text") from None
        check = roll_pb2.Check(notation=notation_pb2.NotationCheck(text=text))
        answer = await roll(roll_pb2.RollRequest(checks=[check]), tenant)
        if JSON_TYPE in request.headers.get("accept", ""):
            return Response(json_codec.dumps(answer), 200, _NO_STORE, JSON_TYPE)
        return PlainTextResponse(f"{answer.texts[0].plain}\nreceipt {answer.digest}\n", 200, _NO_STORE)

    return handle


def _answered(method: str, handler: Handler, metrics: Metrics) -> Handler:
    """Wrap a handler: every error becomes a problem, every call is counted, and nothing leaks."""

    async def handle(request: Request) -> Response:
        started = time.perf_counter()
        call_id = new_call_id()
        code, reason = Code.OK, ""
        try:
            return await handler(request)
        except ClientDisconnect:
            code = Code.CANCELLED
            return Response(status_code=HTTP[code])  # nobody is left to read it
        except Exception as error:  # noqa: BLE001  the last boundary: no text of an exception reaches a caller
            code = code_of(error) if isinstance(error, FairrollError) else Code.INTERNAL
            reason = error.reason if isinstance(error, FairrollError) else "INTERNAL"
            if isinstance(error, FairrollError) and code is not Code.INTERNAL:
                return problem_response(error)
            log_failure(error, call_id)
            return plain_problem(HTTP[code], "INTERNAL", f"internal error {call_id}", id=call_id)
        finally:
            seconds = time.perf_counter() - started
            metrics.observe_call(DOOR, method, code.name, seconds)
            log_call(DOOR, method, code.name, seconds, call_id, reason=reason)

    return handle


def _starlette_problem(metrics: Metrics) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return what answers where Starlette refuses: an unknown route, another method."""

    async def handle(_: Request, error: Exception) -> Response:
        metrics.observe_call(DOOR, UNKNOWN_METHOD, Code.UNIMPLEMENTED.name, 0.0)
        if isinstance(error, HTTPException) and error.status_code == 405:
            response = plain_problem(405, "METHOD_NOT_ALLOWED", "this route takes another method")
            response.headers.update(error.headers or {})
            return response
        return plain_problem(404, "ROUTE_UNKNOWN", "there is no such route")

    return handle


def _require(request: Request, *types: str) -> None:
    kind = request.headers.get("content-type", types[0]).partition(";")[0].strip().lower()
    if kind not in types:
        raise RequestError("MEDIA_TYPE_UNSUPPORTED", f"send {' or '.join(types)}", value=kind)
    _require_plain(request)


def _require_plain(request: Request) -> None:
    """Refuse a compressed body: what it grows to would be known too late."""
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise RequestError("MEDIA_TYPE_UNSUPPORTED", "send the body without a content-encoding", value=coding)


async def _body(request: Request) -> bytes:
    """Read the body, at most MAX_BODY_BYTES of it."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            given = request.headers.get("content-length") or f"{size} or more"
            raise RequestError(
                "BODY_TOO_LARGE", "the body is too large", limit="message_bytes", maximum=MAX_BODY_BYTES, value=given
            )
        chunks.append(chunk)
    return b"".join(chunks)
