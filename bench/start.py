"""From starting the process to the first answered roll, against importing the same libraries and nothing else."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from http.client import HTTPConnection, HTTPException
from time import perf_counter, sleep

from bench.measure import Row, in_turns

AIM = 1.5
# What the service loads that is neither Python's nor ours, in the order in which it loads it.
LIBRARIES = """
import json, sys
import fairroll.main, uvloop, uvicorn.protocols.http.httptools_impl
ours = sys.stdlib_module_names | {"fairroll", "fairroll_rules", "__main__", "__mp_main__"}
print(json.dumps([name for name in sys.modules if name.partition(".")[0] not in ours]))
"""
IMPORT_THEM = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError:
        pass  # a module that made itself up
"""


def _libraries() -> list[str]:
    names: list[str] = json.loads(subprocess.check_output([sys.executable, "-c", LIBRARIES]))
    return names


def _import_seconds(names: list[str]) -> float:
    start = perf_counter()
    subprocess.run([sys.executable, "-c", IMPORT_THEM, *names], check=True)
    return perf_counter() - start


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _answered(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("POST", "/v1/roll", "4d6kh3", {"content-type": "text/plain"})
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _roll_seconds(folder: str) -> float:
    """Seconds until a roll is answered; keys are made before the first measured start."""
    port = _free_port()
    environment = {
        **os.environ,
        "FAIRROLL_KEYS": f"{folder}/keys",
        "FAIRROLL_REST_ADDRESS": f"127.0.0.1:{port}",
        "FAIRROLL_GRPC_ADDRESS": "127.0.0.1:0",
        "FAIRROLL_ADMIN_ADDRESS": "127.0.0.1:0",
        "FAIRROLL_DRAIN_SECONDS": "0",
    }
    start = perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "fairroll.cli", "serve"], env=environment, stderr=subprocess.DEVNULL
    ) as service:
        try:
            while not _answered(port):
                if service.poll() is not None or perf_counter() - start > 60:
                    raise RuntimeError("the service did not answer a roll; start it by hand to see why")
                sleep(0.002)
            return perf_counter() - start
        finally:
            service.terminate()


def rows(rounds: int) -> list[Row]:
    """What a start costs."""
    names = _libraries()
    with tempfile.TemporaryDirectory() as folder:
        took = in_turns(
            {"imports": lambda: _import_seconds(names), "first roll": lambda: _roll_seconds(folder)}, rounds
        )
    return [Row("start to first roll", took["first roll"], "importing the same libraries", took["imports"], AIM)]
