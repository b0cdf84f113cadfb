"""uvicorn inside our process: it takes our sockets, and leaves signals to us."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn

from fairroll.errors import SettingsError
from fairroll.http_protocol import HttpProtocol
from fairroll.settings import Address

BACKLOG = 1024


class HttpListener(uvicorn.Server):
    """One uvicorn server that somebody else starts and stops.

    Attributes:
        address: where it listens, with the port that was taken.
    """

    def __init__(self, app: Any, wanted: Address, setting: str, stop_seconds: float) -> None:  # noqa: ANN401  any ASGI
        """Bind the port; nothing is answered before `run`.

        Raises:
            SettingsError: ADDRESS_IN_USE.
        """
        super().__init__(
            uvicorn.Config(
                app,
                http=HttpProtocol,
                lifespan="off",
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=max(1, round(stop_seconds)),
            )
        )
        self._socket = _bind(wanted, setting)
        self.address = Address(wanted.host, self._socket.getsockname()[1])

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none: the composition root does."""
        yield

    async def run_until_stopped(self) -> None:
        """Answer requests until `stop`; those under way then get their time."""
        await self.serve(sockets=[self._socket])

    def stop(self) -> None:
        """Take no new connection, and end when the requests under way are answered."""
        self.should_exit = True


def _bind(wanted: Address, setting: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in wanted.host else socket.AF_INET
    try:
        return socket.create_server((wanted.host, wanted.port), family=family, backlog=BACKLOG)
    except OSError:
        raise SettingsError("ADDRESS_IN_USE", f"cannot listen on {setting}={wanted}") from None
