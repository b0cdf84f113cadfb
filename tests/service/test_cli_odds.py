"""`fairroll odds`: lines and bars for people, JSON for programs; nothing is rolled, and no service is asked."""

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


def test_json_is_what_the_service_answers(run: Run) -> None:
    answer = run("odds", "4d6kh3", "--json").json
    assert answer["odds"]["quantities"][0]["mean"]["exact"] == "15869/1296"


def test_an_estimate_is_marked_and_can_be_refused(run: Run) -> None:
    done = run("odds", "2d1000000", "--rolls", "500", "--seed", "3")
    assert "ESTIMATE, not exact: 500 simulated rolls, seed 3; with 95% confidence" in done.out
    refused = run("odds", "2d1000000", "--exact")
    assert refused.code == 1
    assert "limit odds_work of 250000" in refused.err


def test_a_fault_has_its_caret_and_nothing_to_ask_is_wrong_use(run: Run) -> None:
    done = run("odds", "4d6kh3(")
    assert done.code == 1
    assert "\n  4d6kh3(\n" in done.err
    assert run("odds").code == 2
    assert run("odds", "--check", "[]").code == 2
