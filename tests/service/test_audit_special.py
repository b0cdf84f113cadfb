"""What an audit says and passes over: whose doing evidence is, heads to compare, pipes, and what plots draw."""

import os
import re
from itertools import pairwise
from pathlib import Path

import pytest

from fairroll.audit.plots import Bar, bars
from fairroll.v1 import roll_pb2
from tests.service.audit_run import ROOT_KEY, bundles, notation_check, play, write_lines
from tests.service.cli_run import Run, runner
from tests.service.rolling import roller
from tests.service.table_play import Table


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


@pytest.mark.parametrize(
    ("mode", "guarded", "words"),
    [
        (roll_pb2.GUARD_MODE_NONE, "false", "No guard was in use"),
        (roll_pb2.GUARD_MODE_SQLITE, "true", "The operator's doing"),
    ],
)
def test_evidence_says_whose_doing_it_can_be(
    run: Run, tmp_path: Path, mode: roll_pb2.GuardMode.ValueType, guarded: str, words: str
) -> None:
    """Without a guard the service signs what it is asked, so whoever holds the credentials may have asked twice."""
    service = roller()
    service.guard_mode = mode
    table = play(3, service=service)
    again = Table(service=service, receipts=list(table.receipts[:2]))
    again.roll(notation_check("2d20"))
    lines = write_lines(tmp_path / "scene.jsonl", bundles([*table.receipts, again.receipts[2]]))
    html, report = tmp_path / "report.html", tmp_path / "report.json"
    done = run("audit", lines, "--root", ROOT_KEY, "--html", html, "--json", report)
    assert done.code == 1
    assert "In 1 place receipts are signed that exclude one another" in done.out
    assert f'"guarded":{guarded},"receipts"' in report.read_text()
    assert [each for each in ("No guard was in use", "The operator's doing") if each in html.read_text()] == [words]


def test_heads_of_whole_sessions_are_told_to_be_compared(run: Run, tmp_path: Path) -> None:
    first, second = play(3), play(2, "table-43")
    write_lines(tmp_path / "scene.jsonl", bundles([*first.receipts, *second.receipts]))
    told = run("audit", tmp_path, "--root", ROOT_KEY).out
    for table, count in ((first, 3), (second, 2)):
        assert f"  {table.name}: {count} receipts, head {table.receipts[-1].digest}\n" in told


@pytest.mark.parametrize("command", ["audit", "verify"])
def test_a_pipe_in_a_folder_is_passed_over(run: Run, tmp_path: Path, command: str) -> None:
    """Nobody may ever write to it, and an audit would wait for ever."""
    write_lines(tmp_path / "scene.jsonl", bundles(play(2).receipts))
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert run(command, tmp_path, "--root", ROOT_KEY).code == 0


def test_two_reports_need_two_files(run: Run, tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "scene.jsonl", bundles(play(1).receipts))
    path = tmp_path / "report"
    done = run("audit", lines, "--root", ROOT_KEY, "--html", path, "--json", tmp_path / "." / "report")
    assert (done.code, done.out) == (2, "")
    assert "[REPORTS_IN_ONE_FILE]" in done.err
    assert not path.exists()


def whisker_heights(svg: str) -> list[float]:
    """How far each whisker reaches, in units of the plot."""
    return [float(low) - float(high) for low, high in re.findall(r'class="whisker" d="M[\d.]+ ([\d.]+)V([\d.]+)"', svg)]


def test_whiskers_are_those_of_the_binomial_law() -> None:
    """Of 1,000 at 1/2, 99 of 100 fair counts lie in 459..541; of 10 at 1/100, in 0..1 (binomial tables)."""
    even, rare = bars("", [Bar("a", 600, 500.0)], 1000), bars("", [Bar("a", 10, 0.1)], 10)
    body = 150 - 22 - 10
    assert whisker_heights(even) == [pytest.approx(body * (541 - 459) / 600, abs=0.2)]
    assert whisker_heights(rare) == [pytest.approx(body * 1 / 10, abs=0.2)]


def test_labels_of_bars_stay_apart() -> None:
    svg = bars("", [Bar(f"{low}-{low + 49}", 1, 1.0) for low in range(1001, 2001, 50)], 20)
    places = [float(x) for x in re.findall(r'<text x="([\d.]+)" y="144"', svg)]
    assert len(places) > 5
    assert all(right - left >= 9 * 5 for left, right in pairwise(places))
