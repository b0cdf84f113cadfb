"""The gRPC door over less than the whole use case, so that what is left out shows as the difference of two servers.

    python -m bench.part_server PART KEYS

Each PART does what the one before it does, and more:
door    the call read, an answer kept ready written;
told    the call is counted, and its log line written to stderr;
proved  a proof and a signature as a roll has them, thrown away;
judged  the request judged, its session, record and envelope made, proved and signed, but no check is resolved;
rolled  all of a roll: the dice, the outcome, its text.
Prints its address on stdout.
"""

import asyncio
import logging
import sys
from pathlib import Path

import grpc
import uvloop

from bench.load import one_roll, prove_and_sign
from fairroll.callers import Callers
from fairroll.grpc_server import GrpcDoor
from fairroll.keys import ServiceKeys, load_keys
from fairroll.logs import set_up_logs
from fairroll.measured import MeasuredRoller
from fairroll.metrics import Metrics
from fairroll.roll import Prepared, Roller
from fairroll.v1.roll_pb2 import RollRequest, RollResponse

PARTS = ("door", "told", "proved", "judged", "rolled")


class _Untold(Metrics):
    """Counts nothing."""

    def observe_call(self, *_: object) -> None:
        """Leave the call uncounted."""


class _Ready(Roller):
    """Gives one answer to all."""

    def __init__(self, keys: ServiceKeys) -> None:
        super().__init__(keys)
        self._answer = super().roll(one_roll(1), "local")

    def roll(self, _request: RollRequest, _tenant: str) -> RollResponse:
        """Return it."""
        return self._answer


class _Proving(_Ready):
    """Gives one answer to all, and proves and signs for each."""

    def __init__(self, keys: ServiceKeys) -> None:
        super().__init__(keys)
        self._work = prove_and_sign(len(self._answer.envelope.payload))

    def roll(self, _request: RollRequest, _tenant: str) -> RollResponse:
        """Return it, after the work."""
        self._work()
        return self._answer


class _Judging(MeasuredRoller):
    """Rolls, but resolves no check."""

    def _resolve(self, prepared: Prepared, beta: bytes) -> None:
        pass


def _door(part: str, keys: ServiceKeys) -> GrpcDoor:
    metrics = _Untold() if part == "door" else Metrics()
    rollers = {"judged": _Judging, "rolled": MeasuredRoller}
    if part in rollers:
        roller: Roller = rollers[part](keys, metrics)
    else:
        roller = _Proving(keys) if part == "proved" else _Ready(keys)
    return GrpcDoor(roller, metrics, Callers(None))


async def _serve(part: str, keys: ServiceKeys) -> None:
    set_up_logs("json")
    if part == "door":
        logging.disable()
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((_door(part, keys),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(sys.argv[1], load_keys(Path(sys.argv[2]))))
