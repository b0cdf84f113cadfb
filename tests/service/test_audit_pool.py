"""The processes of an audit: how they are started, and what it says where one is lost."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from fairroll.audit.judging import Batch, Terms
from fairroll.audit.pool import Pool, start_method
from fairroll.audit.reading import Item
from fairroll.errors import ServiceError
from tests.service.audit_run import ROOT_KEY, bundles, play, write_lines
from tests.service.process import environment
from tests.service.rolling import ROOT

ASKED = """
import sys
from fairroll.audit import pool
from fairroll.cli import main
code = main(sys.argv[1:])
print(code, pool.start_method())
"""


def audited(folder: Path) -> list[str]:
    """The last words of an audit in a process of its own, on two cores."""
    lines = write_lines(folder / "scene.jsonl", bundles(play(300).receipts))
    arguments = ["audit", str(lines), "--root", ROOT_KEY, "--jobs", "2"]
    done = subprocess.run(
        [sys.executable, "-c", ASKED, *arguments], env=environment(folder), capture_output=True, text=True, check=True
    )
    assert "read      300 items: 300 receipts that hold, 0 that fail" in done.stdout
    last: str = done.stdout.splitlines()[-1]
    return last.split()


def test_a_process_without_other_threads_is_copied(tmp_path: Path) -> None:
    # Elsewhere nothing says how many threads there are.
    assert audited(tmp_path) == ["0", "fork" if sys.platform == "linux" else "spawn"]


def test_beside_a_thread_nothing_is_copied() -> None:
    end = Event()
    thread = Thread(target=end.wait)
    thread.start()
    try:
        assert start_method() == "spawn"
    finally:
        end.set()
        thread.join()


def killed(items: int) -> Iterator[Item]:
    """Items of which a batch ends the process that judges it."""
    for number in range(items):
        yield Item(f"{number}", Killing() if number == 300 else b"{}")


class Killing(bytes):
    """Text that no process survives."""

    def __reduce__(self) -> tuple[object, ...]:
        return exec, ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)",)


def test_a_process_that_is_ended_from_outside_ends_the_audit_with_its_word() -> None:
    with Pool(Terms(ROOT.public_key), 2) as pool, pytest.raises(ServiceError) as lost:
        list[Batch](pool.items(killed(1_000)))
    assert lost.value.reason == "WORKER_LOST"
