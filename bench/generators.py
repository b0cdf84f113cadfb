"""Load that does not limit what it measures: h2load for gRPC, wrk for REST. Only ever against loopback."""

import os
import re
import shutil
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

CONNECTIONS, STREAMS = 4, 8
ROLL = "/fairroll.v1.RollService/Roll"
STREAM_ROLLS = "/fairroll.v1.RollService/StreamRolls"
_PACKAGES = {"h2load": "nghttp2-client", "wrk": "wrk"}


def missing() -> list[str]:
    """Install what is not there, where that can be done unasked; return what is still not there."""
    absent = [name for name in _PACKAGES if not shutil.which(name)]
    apt = shutil.which("apt-get")
    if absent and apt and os.geteuid() == 0:
        print(f"Installing {' and '.join(_PACKAGES[name] for name in absent)} with apt-get", file=sys.stderr)
        for words in (
            ["update"],
            ["install", "--yes", "--no-install-recommends", *(_PACKAGES[name] for name in absent)],
        ):
            subprocess.run([apt, "-qq", *words], check=False, stdout=subprocess.DEVNULL, timeout=300)
    return [f"{name} (Debian's {_PACKAGES[name]})" for name in absent if not shutil.which(name)]


def framed(*messages: bytes) -> bytes:
    """Return messages as the body of a gRPC request."""
    return b"".join(b"\0" + struct.pack(">I", len(message)) + message for message in messages)


@dataclass(frozen=True, slots=True)
class Load:
    """What one generator sends: the same request over and over.

    Attributes:
        path: of the call.
        body: a file with what is sent.
        rest: JSON over HTTP/1.1; otherwise gRPC over HTTP/2.
    """

    path: str
    body: Path
    rest: bool = False

    def saturate(self, address: str, calls: int) -> tuple[int, float]:
        """Send so many calls as fast as they are answered; return how many were, and how many a second."""
        if self.rest:
            return self._wrk(address, calls)
        printed = self._h2load(address, "-n", str(calls))
        done = int(_find(r"(\d+) succeeded", printed))
        if done != calls:
            raise RuntimeError(f"h2load: {done} of {calls} calls succeeded\n{printed}")
        return done, float(_find(r"([\d.]+) req/s", printed))

    def latencies(self, address: str, rate: float, seconds: int, log: Path) -> tuple[float, float]:
        """Send so many calls a second, whatever is answered; return p50 and p99 in milliseconds."""
        each = max(1, round(rate / CONNECTIONS))
        self._h2load(address, "-n", str(each * CONNECTIONS * seconds), "--rps", str(each), f"--log-file={log}")
        micros = [int(line.split("\t")[2]) for line in log.read_text().splitlines()]
        log.unlink()
        cuts = quantiles(micros, n=100)
        return cuts[49] / 1000, cuts[98] / 1000

    def _h2load(self, address: str, *more: str) -> str:
        kind = ["--h1"] if self.rest else ["-m", str(STREAMS), "-w", "24", "-W", "26", "-H", "te: trailers"]
        words = ["h2load", *kind, "-c", str(CONNECTIONS), "-t", "1", "-d", str(self.body), *more]
        return _run([*words, "-H", f"content-type: {self._type}", f"http://{address}{self.path}"])

    def _wrk(self, address: str, calls: int) -> tuple[int, float]:
        # It knows seconds only: a short try tells how many are needed.
        script = self.body.with_suffix(".lua")
        body = self.body.read_text().replace("\\", "\\\\").replace("'", "\\'")
        script.write_text(f"wrk.method = 'POST'\nwrk.headers['content-type'] = '{self._type}'\nwrk.body = '{body}'\n")
        seconds, sent = 1, 0
        while True:
            words = ["wrk", "-t", "1", "-c", str(CONNECTIONS * 2), "-d", f"{seconds}s", "-s", str(script)]
            printed = _run([*words, f"http://{address}{self.path}"])
            if "Non-2xx" in printed or "Socket errors" in printed:
                raise RuntimeError(f"wrk: not all calls succeeded\n{printed}")
            done, rate = int(_find(r"(\d+) requests in", printed)), float(_find(r"Requests/sec:\s+([\d.]+)", printed))
            sent += done
            if sent >= calls:
                return sent, rate
            seconds = round((calls - sent) / rate) + 1

    @property
    def _type(self) -> str:
        return "application/json" if self.rest else "application/grpc"


def _find(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise RuntimeError(f"no {pattern} in:\n{text}")
    return found[1]


def _run(words: list[str]) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=300).stdout
