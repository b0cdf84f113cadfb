"""A real service in a process of its own, on free ports and with fresh development keys."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from grpc import Channel, insecure_channel

import fairroll
import fairroll_rules
from fairroll.reasons import GROUPS, TABLE
from fairroll.v1.service_pb2_grpc import RollServiceStub

SOURCE_ROOTS = [str(Path(next(iter(package.__path__))).parent) for package in (fairroll, fairroll_rules)]
START_SECONDS = 30
FREE = "127.0.0.1:0"


@dataclass
class ServiceProcess:
    """A service that runs; leaving it as a context stops it.

    Attributes:
        grpc: where gRPC listens, host:port.
        rest: the address of REST with its scheme.
        admin: the address of the admin port with its scheme.
        root_key: the root public key, 64 hex digits.
        keys: the key directory.
        log: the file with what it wrote on stderr, one JSON object a line.
    """

    process: subprocess.Popen[bytes]
    grpc: str
    rest: str
    admin: str
    root_key: str
    keys: Path
    log: Path

    def rss_bytes(self) -> int:
        """Return the memory of the process that is really there."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
        assert found
        return int(found[1]) * 1024

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        # Whatever test asked it: each refusal is one that the table says of the call, and so the documentation.
        assert undeclared(self.lines()) == set()

    def stop(self, signal_number: int = signal.SIGTERM, seconds: float = 30) -> int:
        """Send the signal if it still runs, and return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        try:
            return self.process.wait(seconds)
        finally:
            self.process.kill()

    @contextmanager
    def channel(self, *options: tuple[str, int | str]) -> Iterator[Channel]:
        """Open a gRPC channel to it."""
        with insecure_channel(self.grpc, options=options) as channel:
            yield channel

    @contextmanager
    def stub(self) -> Iterator[RollServiceStub]:
        """Open a channel to it and call RollService over it."""
        with self.channel() as channel:
            yield RollServiceStub(channel)

    def lines(self) -> list[dict[str, Any]]:
        """Return what it logged so far."""
        return read_lines(self.log)


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """Return the environment of a service: only what it needs, free ports, keys in `folder`, short drains."""
    chosen = {
        "keys": str(folder / "keys"),
        "grpc_address": FREE,
        "rest_address": FREE,
        "admin_address": FREE,
        "log_format": "json",
        "drain_seconds": "0",
        **settings,
    }
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(SOURCE_ROOTS),
        **{f"FAIRROLL_{name.upper()}": value for name, value in chosen.items()},
    }


def run_service(folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a service that is expected to end by itself, and return how."""
    command = [sys.executable, "-m", "fairroll.main"]
    return subprocess.run(
        command,
        env=environment(folder, **settings),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
        check=False,
    )


def start_service(folder: Path, *, under: Sequence[str] = (), **settings: str) -> ServiceProcess:
    """Start a service and wait until it is ready.

    Args:
        folder: an empty folder for its keys and its log.
        under: a command that becomes the one that is given to it, after what it does first.
        settings: FAIRROLL_ settings by the lower-case rest of their names.
    """
    log = folder / f"service-{time.monotonic_ns()}.log"
    variables = environment(folder, **settings)
    with log.open("wb") as stderr:
        command = [*under, sys.executable, "-m", "fairroll.main"]
        process = subprocess.Popen(command, env=variables, cwd=folder, stderr=stderr)
    latest = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < latest:
        for line in read_lines(log):
            if line["message"] in ("fairroll is ready", "fairroll listens, and is not ready without its guard"):
                addresses = {name: line[name] for name in ("grpc", "rest", "admin", "root_key")}
                return ServiceProcess(process, keys=Path(variables["FAIRROLL_KEYS"]), log=log, **addresses)
        time.sleep(0.02)
    process.kill()
    raise RuntimeError(f"the service did not start:\n{log.read_text()}")


OF_DOORS = {"The message", "The size", "The credential", "The route", "The time", "The service"}
"""Groups of reasons that the doors themselves give."""


def undeclared(lines: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Return call and reason of the logged refusals that the table of reasons does not know of the call."""
    doors = {reason for group in GROUPS if group.title in OF_DOORS for reason in group.reasons}
    # Where a number of JSON is out of the range of its type, and where a process ends under a stream.
    doors |= {"OUT_OF_RANGE", "DRAINING"}
    refused = {(line["method"], line["reason"]) for line in lines if line["message"] == "call" and "reason" in line}
    return {(method, reason) for method, reason in refused if reason not in doors and method not in TABLE[reason].calls}


def read_lines(log: Path) -> list[dict[str, Any]]:
    """Return the whole lines of a JSON log."""
    *whole, _ = log.read_text().split("\n")
    return [json.loads(line) for line in whole if line.startswith("{")]
