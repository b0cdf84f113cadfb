"""The operator's port: `/metrics`, `/livez` and `/readyz`, as one small ASGI application."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]

TEXT = "text/plain; charset=utf-8"


class Readiness:
    """Whether this process wants new calls; the composition root says so, probes ask.

    Attributes:
        state: `starting`, `ready` or `draining`.
        guard_reached: whether the guard answers; nothing is rolled while it does not.
    """

    def __init__(self) -> None:
        self.state = "starting"
        self.guard_reached = True

    @property
    def shown(self) -> str:
        """The state as probes see it."""
        return "guard unreachable" if self.state == "ready" and not self.guard_reached else self.state


def make_admin(registry: CollectorRegistry, readiness: Readiness) -> Asgi:
    """Return the application of the admin port."""

    async def answer(path: str) -> tuple[int, str, bytes]:
        match path:
            case "/metrics":
                # 1-2 ms during which the loop would answer nobody.
                return 200, CONTENT_TYPE_LATEST, await asyncio.to_thread(generate_latest, registry)
            case "/livez":
                return 200, TEXT, b"alive\n"
            case "/readyz":
                return 200 if readiness.shown == "ready" else 503, TEXT, f"{readiness.shown}\n".encode()
            case _:
                return 404, TEXT, b"not found: try /metrics, /livez or /readyz\n"

    async def admin(scope: Message, _receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["method"] in ("GET", "HEAD"):
            status, content_type, body = await answer(scope["path"])
            headers = []
        else:
            status, content_type, body, headers = 405, TEXT, b"only GET and HEAD\n", [(b"allow", b"GET, HEAD")]
        headers += [
            (b"content-type", content_type.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    return admin
