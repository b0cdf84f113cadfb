"""`fairroll odds`: lines and bars for people, JSON for programs; nothing is rolled, and no service is asked."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.service.cli_run import Run, runner


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


def test_a_chart_in_the_terminal(run: Run) -> None:
    done = run("odds", "2d6")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:2] == ["2d6", "  total: mean 7, standard deviation 2.415, half of all 5 .. 9, all 2 .. 12"]
    shares = [line.split()[:3] for line in lines[3:]]
    assert shares[0] == ["2", "2.78%", "100.00%"]
    assert shares[5] == ["7", "16.67%", "58.33%"]
    bars = [line.count("█") for line in lines[3:]]
    assert bars[:6] == sorted(bars[:6])
    assert bars == bars[::-1]


def test_what_do_i_need(run: Run) -> None:
    out = run("odds", "1d20+5", "--at-least", "15").out
    assert "  total at least 15: 55.00% (11/20)\n" in out
    assert "  what you need: for 50% -1, for 75% +4, for 90% +7, to be certain +9\n" in out


def test_two_checks(run: Run) -> None:
    out = run("odds", "1d6", "--against", "1d6").out
    assert "1d6 (total) against 1d6 (total)\n" in out
    assert "  higher    41.67% (5/12)\n" in out


def test_a_rule_system_in_its_own_words(run: Run) -> None:
    done = run("odds", "--system", "crossroads", "skill-roll", "statistic=2", "advantage=1", "--quantity", "critical")
    assert done.out.startswith("Crossroads MVP: skill roll, statistic 2, advantage 1\n  critical: ")


def test_a_target_below_nothing_is_a_number(run: Run) -> None:
    assert "  total at least -1: 66.67% (2/3)\n" in run("odds", "1d6-4", "--at-least", "-1").out
    refused = run("odds", "1d6", "--at-least", "-x")
    assert refused.code == 2
    assert refused.err.endswith("error: argument --at-least: invalid int value: '-x'\n")


def test_two_charts_have_one_scale(run: Run) -> None:
    """A bar of 1d20 is 5% long beside one of 1d4 that is 25%."""
    lines = run("odds", "1d4", "--against", "1d20").out.splitlines()
    bars = [line.count("█") for line in lines if "█" in line]
    assert bars == [48] * 4 + [9] * 20


def test_large_numbers_are_written_out_and_an_estimate_is_no_fraction(run: Run) -> None:
    out = run("odds", "100d1000000", "--rolls", "100").out
    assert re.search(r"total: mean [45][0-9]{7}, standard deviation [23][0-9]{6}, ", out)
    assert "e+" not in out
    assert "mean 7.5 (15/2)" in run("odds", "1d14").out


@pytest.mark.parametrize(
    "rest",
    [
        ("--check", '{"notation": {"text": "1d6"}}', "--var", "x=1"),
        ("--system", "crossroads", "skill-roll", "--dialect", "roll20"),
        ("--check", '{"notation": {"text": "1d6"}}', "--against", '{"notation": {"text": "1d6"}}', "--rounding", "up"),
    ],
)
def test_a_reading_that_changes_nothing_is_refused(run: Run, rest: tuple[str, ...]) -> None:
    done = run("odds", *rest)
    assert done.code == 2
    assert "[FIELD_CONFLICT]" in done.err


def test_policies_have_short_names_in_json_too(run: Run) -> None:
    check = '{"crossroads": {"skillRoll": {"advantage": 1, "removal": "LOWEST"}}}'
    assert run("odds", "--check", check).out.startswith("Crossroads MVP: skill roll, advantage 1, removal lowest\n")


def test_a_picture_is_written_to_what_is_named(run: Run, tmp_path: Path) -> None:
    """Through a link, and into a pipe, which both stay what they are; a file is replaced as a whole."""
    plain, link, pipe = (tmp_path / name for name in ("-plain.svg", "link", "pipe"))
    link.symlink_to(plain)
    os.mkfifo(pipe)
    assert run("odds", "1d6", "--plot", str(link)).code == 0
    assert link.is_symlink()
    assert plain.read_text().startswith("<svg ")
    with ThreadPoolExecutor() as reader:
        read = reader.submit(pipe.read_text)
        assert run("odds", "1d6", "--plot", str(pipe)).code == 0
        assert read.result(20) == plain.read_text()
    assert pipe.is_fifo()
    refused = run("odds", "1d6", "--plot", str(tmp_path))
    assert (refused.code, "FILE_NOT_WRITTEN" in refused.err) == (2, True)


def test_a_dash_begins_a_file_name_too(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("odds", "1d6", "--plot", "-x.svg").code == 0
    assert (tmp_path / "-x.svg").is_file()


def test_json_is_what_the_service_answers(run: Run) -> None:
    answer = run("odds", "4d6kh3", "--json").json
    assert answer["odds"]["quantities"][0]["mean"]["exact"] == "15869/1296"


def test_an_estimate_is_marked_and_can_be_refused(run: Run) -> None:
    done = run("odds", "2d1000000", "--rolls", "500", "--seed", "3")
    assert "ESTIMATE, not exact: 500 simulated rolls, seed 3; with 95% confidence" in done.out
    refused = run("odds", "5d8umin4", "--exact")
    assert refused.code == 1
    assert "limit odds_work of 250000" in refused.err
    refused = run("odds", "1d20001", "--exact")
    assert refused.code == 1
    assert "limit odds_values of 20000" in refused.err


def test_a_fault_has_its_caret_and_nothing_to_ask_is_wrong_use(run: Run) -> None:
    done = run("odds", "4d6kh3(")
    assert done.code == 1
    assert "\n  4d6kh3(\n" in done.err
    assert run("odds").code == 2
    assert run("odds", "--check", "[]").code == 2
