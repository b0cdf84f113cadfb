"""`fairroll roll --ask` and `fairroll decide` against a real service: a Crossroads scene with decisions."""

import io
import json
from pathlib import Path

import pytest

from tests.service.cli_run import Run, runner
from tests.service.process import ServiceProcess

PREVIEWED = "No guard: the decider could have previewed this answer."
SKILL = ("--system", "crossroads", "skill-roll", "advantage=1")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], service: ServiceProcess, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("FAIRROLL_SERVER", service.rest)
    return runner(capsys)


def type_in(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_ask_shows_the_options_at_the_prompt_and_goes_on_to_the_end(
    run: Run, service: ServiceProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "scene.json"
    # Six dice, so that they are hardly ever all alike, when there is nothing to choose.
    type_in(monkeypatch, "what?\n0\n" + "1\n" * 20)
    done = run("roll", "--ask", *SKILL[:-1], "advantage=3", "--actor", "Ann", "--save", path)
    assert done.code == 0
    assert "REMOVE of Ann (0:0), the player decides:" in done.out
    assert "  1 " in done.out
    assert done.out.count("one of: 1..") == 2
    assert PREVIEWED in done.out
    verified = run("verify", path, "--root", service.root_key, "--json").json["receipts"][0]
    assert verified["verified"] is True
    outcome = verified["record"]["outcomes"][0]
    assert outcome["status"] == "CHECK_STATUS_RESOLVED"
    assert {decision["policy"] for decision in outcome["decisions"]} == {""}
    assert PREVIEWED in verified["restsOn"]


def test_what_is_left_open_is_decided_later(
    run: Run, service: ServiceProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pending, answered = tmp_path / "pending.json", tmp_path / "answered.json"
    type_in(monkeypatch, "")
    assert run("roll", "--ask", *SKILL, "change=never", "zero-result=undecided", "--save", pending).code == 0
    shown = run("decide", pending, "--json").json["decisions"]
    assert [each["kind"] for each in shown] == ["REMOVE"]
    option = shown[0]["options"][0]["id"]
    assert option in run("decide", pending).out
    done = run("decide", pending, "--option", option, "--save", answered)
    assert done.code == 0
    assert PREVIEWED in done.out
    assert "seq 1" in done.out
    assert run("verify", answered, "--root", service.root_key).code == 0
    assert len(json.loads(answered.read_text())["chain"]) == 1
    assert run("decide", answered, "--option", "KEEP", "--json").json["error"]["code"] == "NOT_PENDING"


def test_an_option_is_named_by_its_number_as_at_the_prompt_and_other_rolls_may_lie_between(
    run: Run, service: ServiceProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pending, between, answered = (tmp_path / f"{name}.json" for name in ("pending", "between", "answered"))
    type_in(monkeypatch, "")
    run("roll", "--ask", *SKILL, "change=never", "zero-result=undecided", "--save", pending)
    second = run("decide", pending, "--json").json["decisions"][0]["options"][1]["id"]
    assert run("roll", "d6", "--after", pending, "--save", between).code == 0
    done = run("decide", pending, "--option", "2", "--after", between, "--save", answered, "--json")
    request = done.json["record"]["request"]
    assert (request["seq"], request["answers"]) == ("2", [{"decisionId": "0:0", "optionId": second}])
    assert run("verify", answered, "--root", service.root_key).code == 0
    assert run("decide", pending, "--option", "99", "--json").json["error"]["code"] == "OPTION_UNKNOWN"


@pytest.mark.parametrize(
    ("options", "code"),
    [(("NONE_OF_THEM",), "OPTION_UNKNOWN"), (("0:0=KEEP", "MORE"), "ANSWERS_LEFT"), (("9:9=KEEP",), "ANSWERS_LEFT")],
)
def test_an_option_that_does_not_fit_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: tuple[str, ...], code: str
) -> None:
    pending = tmp_path / "pending.json"
    type_in(monkeypatch, "")
    run("roll", "--ask", *SKILL, "--save", pending)
    given = [word for option in options for word in ("--option", option)]
    done = run("decide", pending, *given, "--json")
    assert (done.code, done.json["error"]["code"]) == (1, code)


def test_a_policy_that_is_declared_is_not_asked_for(run: Run) -> None:
    done = run("roll", "--ask", *SKILL, "removal=lowest", "change=never", "zero-result=undecided", "--json")
    record = done.json["record"]
    assert record["outcomes"][0]["status"] == "CHECK_STATUS_RESOLVED"
    assert {each["policy"] for each in record["outcomes"][0]["decisions"]} <= {"LOWEST", "NEVER", "UNDECIDED"}
