"""Servers in processes of their own, with the processor time that each has taken."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

START_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Server:
    """One that listens on loopback.

    Attributes:
        address: where, host:port.
    """

    address: str
    pid: int

    def cpu_seconds(self) -> float:
        """Time on a processor of all its threads so far; they live as long as the server does."""
        # In nanoseconds, where /proc/PID/stat counts in ticks of a hundredth of a second.
        threads = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


@contextmanager
def echo(kind: str, size: int) -> Iterator[Server]:
    """Run bench/echo.py."""
    with _started("bench.echo", kind, str(size), stderr=None) as server:
        yield server


@contextmanager
def part(kind: str, folder: Path) -> Iterator[Server]:
    """Run bench/part_server.py with the keys in the folder; what it logs is written there as well."""
    with (
        (folder / f"log-{kind}").open("wb") as log,
        _started("bench.part_server", kind, str(folder / "keys"), stderr=log) as server,
    ):
        yield server


@contextmanager
def _started(module: str, *words: str, stderr: IO[bytes] | None) -> Iterator[Server]:
    command = [sys.executable, "-m", module, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as process:
        try:
            assert process.stdout is not None
            yield Server(process.stdout.readline().strip(), process.pid)
        finally:
            process.terminate()


@contextmanager
def fairroll(folder: Path, guard: str = "none") -> Iterator[tuple[Server, Server]]:
    """Run the service, with metrics and a JSON line a call; give it as its gRPC and its REST server."""
    log = folder / f"log-{time.monotonic_ns()}"
    environment = {
        **os.environ,
        **{f"FAIRROLL_{name}_ADDRESS": "127.0.0.1:0" for name in ("GRPC", "REST", "ADMIN")},
        "FAIRROLL_KEYS": str(folder / "keys"),
        "FAIRROLL_GUARD": guard,
        "FAIRROLL_LOG_FORMAT": "json",
        "FAIRROLL_DRAIN_SECONDS": "0",
    }
    command = [sys.executable, "-m", "fairroll.cli", "serve"]
    with log.open("wb") as stderr, subprocess.Popen(command, env=environment, cwd=folder, stderr=stderr) as process:
        try:
            ready = _ready(process, log)
            yield Server(ready["grpc"], process.pid), Server(ready["rest"].removeprefix("http://"), process.pid)
        finally:
            process.terminate()


def _ready(process: "subprocess.Popen[bytes]", log: Path) -> dict[str, str]:
    end = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        for line in log.read_text().splitlines(keepends=True):
            if line.endswith("\n") and '"fairroll is ready"' in line:
                found: dict[str, str] = json.loads(line)
                return found
        time.sleep(0.02)
    raise RuntimeError(f"the service did not start:\n{log.read_text()}")
