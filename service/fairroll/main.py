"""The composition root: settings, keys, one use case, three listeners on one loop, and how all of it ends."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import FrameType

from fairroll import supervisor
from fairroll.admin import Readiness, make_admin
from fairroll.callers import Callers
from fairroll.errors import FairrollError, SettingsError
from fairroll.grpc_listener import GrpcListener
from fairroll.grpc_server import GrpcDoor
from fairroll.guard import Guard
from fairroll.guard.places import open_guard
from fairroll.guard.watch import GuardWatch
from fairroll.http_listener import HttpListener
from fairroll.keys import KEY_LIST_FILE, ServiceKeys, init_keys, load_keys
from fairroll.logs import set_up_logs
from fairroll.measured import MeasuredRoller
from fairroll.metrics import Metrics
from fairroll.odds.desk import OddsDesk
from fairroll.rest_gateway import make_app
from fairroll.settings import Settings, load_settings, refuse_beyond_loopback
from fairroll.v1.roll_pb2 import GUARD_MODE_NONE

EXIT_GOOD, EXIT_FAILED, EXIT_USE = 0, 1, 2
GC_OBJECTS = 20_000
"""How many more objects that could refer to each other make a collection worth its while: about 2 MB."""

_LOG = logging.getLogger("fairroll.main")


def serve(settings: Settings | None = None, *, as_json: bool = False) -> int:
    """Serve until a signal or a failure ends it, and return the exit code.

    Args:
        settings: read from the environment where none are given.
        as_json: log JSON lines whatever the settings say, and say refusals in one too.

    Returns:
        0 after a signal; 1 where a listener failed, or calls outlasted their time; 2 where settings or keys are
        refused, which is then said on stderr.
    """
    try:
        settings = settings if settings is not None else load_settings()
        set_up_logs("json" if as_json else settings.log_format)
        # Before keys are made that could not be used.
        refuse_beyond_loopback(settings, development=False)
        callers = Callers(settings.api_keys)
        keys, made = open_keys(settings)
        refuse_beyond_loopback(settings, development=keys.development)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            return runner.run(_serve(settings, keys, callers, keys_made=made))
    except FairrollError as error:
        line = f"fairroll: {error.message} ({error.reason})"
        if as_json:
            line = json.dumps({"error": {"code": error.reason, "message": error.message}})
        print(line, file=sys.stderr)  # noqa: T201  it speaks to the operator
        return EXIT_USE


def open_keys(settings: Settings) -> tuple[ServiceKeys, bool]:
    """Load the keys; return them, and whether development keys were made since there were none.

    Raises:
        KeyFileError: they are missing in part, exposed or contradict each other.
        SettingsError: ORIGIN_DIFFERS, where the key list is another service's.
    """
    directory = settings.keys
    missing = not (directory.is_dir() and any(directory.iterdir()))
    if missing:
        init_keys(directory, settings.origin, development=True)
    keys = load_keys(directory)
    if keys.origin != settings.origin:
        raise SettingsError(
            "ORIGIN_DIFFERS", f"FAIRROLL_ORIGIN={settings.origin}, and {KEY_LIST_FILE} is of {keys.origin}"
        )
    return keys, missing


@dataclass(frozen=True, slots=True)
class _Process:
    """All that listens."""

    settings: Settings
    readiness: Readiness
    guard: Guard | None
    odds: OddsDesk
    grpc: GrpcListener
    rest: HttpListener
    admin: HttpListener

    async def run(self, stop: asyncio.Event, announce: Callable[[], None]) -> int:
        """Answer until `stop` is set or a listener ends; return the exit code."""
        watch = GuardWatch(self.guard, self._tell_guard)
        await self.grpc.tell_health(serving=True)
        await watch.look()
        await self.grpc.start()
        tasks = supervisor.start(
            {
                "gRPC": self.grpc.run(),
                "REST": self.rest.run_until_stopped(),
                "admin": self.admin.run_until_stopped(),
                "signals": _wait(stop),
                "guard": watch.run(stop),
            }
        )
        self.readiness.state = "ready"
        announce()
        name, error = await supervisor.first_to_end(tasks)
        # Both end when `stop` is set, in whatever order the loop comes to them.
        wanted = name in ("signals", "guard") and error is None
        if wanted:
            await self._drain()
        else:
            _LOG.error("the %s listener ended, so the rest ends too", name, exc_info=error)
            stop.set()
        ended_well = await self._stop(tasks)
        return EXIT_GOOD if wanted and ended_well else EXIT_FAILED

    async def _tell_guard(self, reached: bool) -> None:  # noqa: FBT001  a callback's one argument
        """Let every probe know whether rolls can be guarded: all are refused while they cannot."""
        self.readiness.guard_reached = reached
        await self.grpc.tell_health(serving=reached)

    async def _drain(self) -> None:
        """Tell everyone to go elsewhere, and answer those who have not heard yet."""
        self.readiness.state = "draining"
        _LOG.info("draining for %s s", self.settings.drain_seconds)
        await self.grpc.refuse_health()
        await asyncio.sleep(self.settings.drain_seconds)

    async def _stop(self, tasks: dict[str, asyncio.Task[None]]) -> bool:
        self.readiness.state = "draining"
        self.rest.stop()
        await self.grpc.stop(self.settings.stop_seconds)
        await self.odds.close()
        if self.guard is not None:
            await self.guard.close()
        # The admin port outlives the others: it is where one sees what they do.
        self.admin.stop()
        return await supervisor.end(tasks, self.settings.stop_seconds)


async def _serve(settings: Settings, keys: ServiceKeys, callers: Callers, *, keys_made: bool) -> int:
    metrics = Metrics()
    readiness = Readiness()
    guard = open_guard(settings.guard)
    roller = MeasuredRoller(keys, metrics, guard_mode=GUARD_MODE_NONE if guard is None else guard.mode)

    odds = OddsDesk(settings.odds_workers)
    rest = make_app(roller, metrics, callers, settings.cors_origins, guard, odds=odds)
    grace = settings.stop_seconds
    process = _Process(
        settings,
        readiness,
        guard,
        odds,
        GrpcListener(GrpcDoor(roller, metrics, callers, guard, odds=odds), settings),
        HttpListener(rest, settings.rest_address, "FAIRROLL_REST_ADDRESS", grace),
        HttpListener(make_admin(metrics.registry, readiness), settings.admin_address, "FAIRROLL_ADMIN_ADDRESS", grace),
    )
    stop = asyncio.Event()
    _on_signals(stop)
    # What was imported stays for good: no collection need look at it again. One now would cost more than it finds.
    gc.freeze()
    # And hardly anything that a roll makes refers back to itself: looking for it as often as by default is a tenth of
    # the time that a call takes.
    gc.set_threshold(GC_OBJECTS, 10, 10)
    return await process.run(stop, lambda: _announce(process, keys, keys_made=keys_made))


def _announce(process: _Process, keys: ServiceKeys, *, keys_made: bool) -> None:
    fields = {
        "version": _version(),
        "origin": keys.origin,
        "grpc": str(process.grpc.address),
        "rest": f"http://{process.rest.address}",
        "admin": f"http://{process.admin.address}",
        "guard": str(process.settings.guard),
        "root_key": keys.root_public_key.hex(),
    }
    if process.readiness.guard_reached:
        _LOG.info("fairroll is ready", extra={"fields": fields})
    else:
        _LOG.warning("fairroll listens, and is not ready without its guard", extra={"fields": fields})
    if keys.development:
        made = "made just now" if keys_made else "found"
        _LOG.warning(
            "DEVELOPMENT KEYS, %s in %s: receipts under them prove nothing to others; see `fairroll keys --help`",
            made,
            process.settings.keys,
        )


def _on_signals(stop: asyncio.Event) -> None:
    """Let SIGTERM and SIGINT set `stop`; a second one ends the process at once, as without us."""
    loop = asyncio.get_running_loop()

    def note(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        loop.call_soon_threadsafe(stop.set)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, note)


def _version() -> str:
    try:
        return version("fairroll")
    except PackageNotFoundError:
        return "from source"


async def _wait(stop: asyncio.Event) -> None:
    await stop.wait()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop  # noqa: PLC0415  it does not exist for Windows
    except ModuleNotFoundError:
        return None
    return uvloop.new_event_loop


if __name__ == "__main__":
    sys.exit(serve())
