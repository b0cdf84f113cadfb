"""An audit's memory does not grow with the number of receipts; the long run compares 20,000 lines with 200,000.

FAIRROLL_LONG=1 make pytest PYTEST='-n 0 --timeout 0 tests/service/test_audit_memory.py'
"""

import os
import subprocess
import sys
from itertools import cycle, islice
from pathlib import Path

from tests.service.audit_run import ROOT_KEY, bundles, play
from tests.service.process import environment

LONG = bool(os.environ.get("FAIRROLL_LONG"))
FEW, MANY = (20_000, 200_000) if LONG else (800, 6_400)
DISTINCT = FEW
"""So many receipts are different; further lines bring them again, and are judged and written all the same."""

MEASURED = """
import resource, sys
from fairroll.cli import main
code = main(sys.argv[1:])
print(code, *(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
"""


def peak_mib(folder: Path, lines: int, texts: list[bytes]) -> float:
    """The most that a process of an audit of so many lines held, with both reports."""
    path = folder / f"{lines}.jsonl"
    with path.open("wb") as file:
        file.writelines(text + b"\n" for text in islice(cycle(texts), lines))
    reports: list[str | Path] = ["--html", folder / f"{lines}.html", "--json", folder / f"{lines}.json"]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "audit", path, "--root", ROOT_KEY, "--jobs", "2", *reports],
        env=environment(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    code, *peaks = done.stdout.splitlines()[-1].split()
    assert code == "0", done.stdout
    assert f"{lines:,} items" in done.stdout
    return max(map(int, peaks)) / 1024


def test_ten_times_as_many_lines_need_no_more_memory(tmp_path: Path) -> None:
    tables = [play(DISTINCT // 5, f"table-{number}") for number in range(5)]
    texts = [text for table in tables for text in bundles(table.receipts)]
    few, many = peak_mib(tmp_path, FEW, texts), peak_mib(tmp_path, MANY, texts)
    # SQLite's cache of 4 MiB fills, and allocators keep some; 5,600 receipts more, held, would be 12 MiB and more.
    assert many < few + 8, f"{few:.0f} MiB, then {many:.0f} MiB"
