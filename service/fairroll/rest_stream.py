"""`POST /v1/rolls:stream`: one JSON a line, both ways, in order.

A client may send all and then read: lines that wait for their answer are kept, up to MAX_WAITING_BYTES; beyond that the
service reads on as the client does.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

from fastapi import Request
from fastapi.responses import Response
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from fairroll import json_codec
from fairroll.door import MAX_BODY_BYTES
from fairroll.errors import RequestError
from fairroll.stream_items import answer_item
from fairroll.v1.roll_pb2 import RollRequest, RollResponse
from fairroll.v1.service_pb2 import StreamRollsRequest

LINES_TYPE = "application/x-ndjson"
MAX_WAITING_BYTES = 8 * 1024 * 1024


class _Lines:
    """The lines of a body, read ahead of whoever takes them."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._ended = False
        self._changed = asyncio.Condition()

    async def read(self) -> None:
        """Read the body to its end; to be run beside `take`."""
        try:
            rest = b""
            async for chunk in self._request.stream():
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    await self._put(line)
                # Of a line that is too large no more is kept than shows it.
                rest = rest[: MAX_BODY_BYTES + 1]
            await self._put(rest)
        except ClientDisconnect:
            await self._end(gone=True)
            return
        await self._end(gone=False)
        # All is read; what comes now can only be that the client goes away.
        await self._request.receive()
        await self._end(gone=True)

    async def _end(self, *, gone: bool) -> None:
        async with self._changed:
            self._ended = True
            if gone:
                self._waiting.clear()
            self._changed.notify_all()

    async def _put(self, line: bytes) -> None:
        if not line.strip():
            return
        async with self._changed:
            await self._changed.wait_for(lambda: self._waiting_bytes < MAX_WAITING_BYTES)
            self._waiting.append(line)
            self._waiting_bytes += len(line)
            self._changed.notify_all()

    async def take(self) -> AsyncIterator[bytes]:
        """Yield the lines that are not blank."""
        while True:
            async with self._changed:
                await self._changed.wait_for(lambda: self._waiting or self._ended)
                if not self._waiting:
                    return
                line = self._waiting.popleft()
                self._waiting_bytes -= len(line)
                self._changed.notify_all()
            yield line


class StreamedRolls(Response):
    """The answer to a stream: each line of the body is answered with a line, while the body still comes.

    Starlette's own streaming response takes what comes in for itself, to see the client go.
    """

    media_type = LINES_TYPE

    def __init__(
        self,
        request: Request,
        roll: Callable[[RollRequest], Awaitable[RollResponse]],
        observe_item: Callable[[str], None],
    ) -> None:
        """Answer the lines of `request` with `roll`; `observe_item` is told the code of each."""
        # A proxy passes on each line as it comes.
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._lines = _Lines(request)
        self._roll = roll
        self._observe_item = observe_item

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  the request receives
        """Send the answers."""
        reading = asyncio.create_task(self._lines.read())
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async for line in self._lines.take():
                await send({"type": "http.response.body", "body": await self._answer(line), "more_body": True})
                # Other calls have their turn between two rolls of a stream.
                await asyncio.sleep(0)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            reading.cancel()

    async def _answer(self, line: bytes) -> bytes:
        answer, code = await answer_item(partial(_read, line), self._roll, partial(_called, line))
        self._observe_item(code.name)
        return json_codec.dumps(answer) + b"\n"


def _read(line: bytes) -> StreamRollsRequest:
    if len(line) > MAX_BODY_BYTES:
        raise RequestError("BODY_TOO_LARGE", "the line is too large", limit="message_bytes", maximum=MAX_BODY_BYTES)
    return json_codec.loads(StreamRollsRequest, line)


def _called(line: bytes) -> str:
    """Return what a line that is no item calls itself, where that can be read."""
    try:
        value = json_codec.parse(line) if len(line) <= MAX_BODY_BYTES else None
    except RequestError:
        return ""
    name = value.get("itemId", value.get("item_id")) if isinstance(value, dict) else None
    return name if type(name) is str else ""  # a number is kept as a text of its own kind
