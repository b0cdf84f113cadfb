"""The gRPC listener: options, health, reflection, and how it goes away."""

from __future__ import annotations

import asyncio

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # it ships no types
from grpc_reflection.v1alpha import reflection  # type: ignore[import-untyped]  # it ships no types

from fairroll.door import MAX_BODY_BYTES
from fairroll.errors import SettingsError
from fairroll.grpc_server import SERVICE, GrpcDoor
from fairroll.settings import Address, Settings

MAX_CALLS_PER_CONNECTION = 1000
_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def options(settings: Settings) -> list[tuple[str, int]]:
    """Return the channel arguments. Unknown ones are ignored without a word, so each has a test of what it does."""
    chosen = [
        # Up to here the door refuses with details; beyond, the library cuts off.
        ("grpc.max_receive_message_length", 4 * MAX_BODY_BYTES),
        ("grpc.max_concurrent_streams", MAX_CALLS_PER_CONNECTION),
        # A second process on the port is a mistake to be told of, not a share of the load.
        ("grpc.so_reuseport", 0),
        # The option with `recv` in its name does nothing.
        ("grpc.http2.min_ping_interval_without_data_ms", round(settings.ping_seconds * 1000)),
        ("grpc.keepalive_permit_without_calls", 1),
    ]
    if settings.connection_age_seconds:
        age_ms = max(1, round(settings.connection_age_seconds * 1000))
        chosen += [("grpc.max_connection_age_ms", age_ms), ("grpc.max_connection_age_grace_ms", age_ms)]
    return chosen


class GrpcListener:
    """One grpc.aio server with the door, health and reflection.

    Attributes:
        address: where it listens, with the port that was taken.
    """

    def __init__(self, door: GrpcDoor, settings: Settings) -> None:
        """Bind the port; nothing is answered before `start`.

        Raises:
            SettingsError: ADDRESS_IN_USE.
        """
        self._door = door
        self._server = grpc.aio.server(options=options(settings))
        self._health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), self._server)
        # Last, since it also answers for what does not exist.
        self._server.add_generic_rpc_handlers((door,))
        wanted = settings.grpc_address
        try:
            port = self._server.add_insecure_port(str(wanted))
        except RuntimeError:
            raise SettingsError("ADDRESS_IN_USE", f"cannot listen on FAIRROLL_GRPC_ADDRESS={wanted}") from None
        self.address = Address(wanted.host, port)

    async def start(self) -> None:
        """Answer calls."""
        await self._server.start()

    async def run(self) -> None:
        """Return when the server has stopped."""
        await self._server.wait_for_termination()

    async def tell_health(self, *, serving: bool) -> None:
        """Tell whoever asks, for the service and the process as a whole, whether calls are answered.

        Nothing is told of the service before; after `refuse_health` it makes no difference.
        """
        for name in (SERVICE, health.OVERALL_HEALTH):
            await self._health.set(name, _SERVING if serving else _NOT_SERVING)

    async def refuse_health(self) -> None:
        """Tell whoever asks that this process goes away, and answer calls as before."""
        await self._health.enter_graceful_shutdown()

    async def stop(self, grace_seconds: float) -> None:
        """Take no new call and give those under way their time; streams are told before it is over."""
        self._door.streams_end = asyncio.get_running_loop().time() + grace_seconds / 2
        await self._server.stop(grace_seconds)
