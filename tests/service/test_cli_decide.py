"""`fairroll roll --ask` and `fairroll decide` against a real service: a Crossroads scene with decisions."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fairroll.bundle import parse_bundle
from fairroll.receipt import parse_record
from tests.service.cli_run import Run, runner
from tests.service.process import SOURCE_ROOTS, ServiceProcess

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
    assert "REMOVE of Ann (0:0), the player decides:\n  1 " in done.err
    assert done.err.count("one of: 1..") == 2
    assert "> " not in done.out
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
    declared = ("change=never", "zero-result=undecided", "great-success=benefit")
    assert run("roll", "--ask", *SKILL[:-1], "advantage=3", *declared, "--save", pending).code == 0
    shown = run("decide", pending, "--json").json["decisions"]
    assert [each["kind"] for each in shown] == ["REMOVE"]
    option = shown[0]["options"][0]["id"]
    told = run("decide", pending).out.splitlines()
    faces = pending_faces(pending)
    assert told[0] == f"Dice: {', '.join(f'd6={face}' for face in faces)}"
    assert told[1] == f"REMOVE: 3d6a3 rolled {' '.join(map(str, faces))}"
    assert told[2:4] == ["REMOVE (0:0), the player decides:", f"  1 {option}: remove {option[7:].replace('_', ' ')}"]
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


def pending_faces(path: Path) -> list[int]:
    """The faces of the one check of a bundle."""
    record = parse_record(parse_bundle(path.read_bytes()).envelope.payload)
    return [draw.face for draw in record.outcomes[0].draws]


def test_what_was_decided_so_far_is_told_before_the_options(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pending = tmp_path / "pending.json"
    for _ in range(200):  # until a double was left, of which one die may change
        type_in(monkeypatch, "1\n")
        pending.unlink(missing_ok=True)
        run("roll", "--ask", *SKILL[:-1], "advantage=3", "zero-result=undecided", "--save", pending)
        if run("decide", pending).code == 0:
            break
    lines = run("decide", pending).out.splitlines()
    assert re.fullmatch(r"decided REMOVE: REMOVE_\d_\d_\d \(answered\)", lines[1])
    assert lines[-4].startswith("CHANGE (") or lines[-3].startswith("CHANGE (")


def test_an_answer_that_could_not_be_kept_is_not_given(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pending = tmp_path / "pending.json"
    type_in(monkeypatch, "")
    run("roll", "--ask", *SKILL, "change=never", "zero-result=undecided", "--save", pending)
    asked: list[str] = []
    monkeypatch.setattr("fairroll.cli.decide.call", lambda _, path, __: asked.append(path))
    done = run("decide", pending, "--option", "1", "--save", tmp_path / "nowhere" / "answer.json", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "FILE_NOT_WRITTEN")
    assert asked == []


def test_a_file_that_is_no_receipt_is_named(run: Run, tmp_path: Path) -> None:
    note = tmp_path / "note.json"
    note.write_text("no receipt")
    for arguments in (("decide", note), ("roll", "d20", "--after", note), ("roll", "d20", "--cite", note)):
        assert f"{note}: not JSON as it is required here [JSON_INVALID]" in run(*arguments).err


def test_whoever_leaves_the_prompt_is_told_how_to_go_on(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for saved, told in (
        ((), "`fairroll decide`, from a receipt kept by --save"),
        (("--save", tmp_path / "a.json"), f"`fairroll decide {tmp_path / 'a.json'}`"),
    ):
        type_in(monkeypatch, "")
        done = run("roll", "--ask", *SKILL[:-1], "advantage=3", *saved)
        assert done.code == 0
        assert f"nobody answered, and the roll waits: {told}" in done.err


def test_a_script_reads_a_document_for_each_receipt_from_standard_output(service: ServiceProcess) -> None:
    """A real process with pipes: whatever is said to a person stands on standard error alone."""
    command = [sys.executable, "-m", "fairroll.cli", "roll", "--ask", "--json", *SKILL[:-1], "advantage=3"]
    variables = {"PYTHONPATH": os.pathsep.join(SOURCE_ROOTS), "FAIRROLL_SERVER": service.rest}
    done = subprocess.run(
        command, input="nonsense\n" + "1\n" * 20, capture_output=True, text=True, timeout=60, check=True, env=variables
    )
    documents, rest = [], done.stdout
    while rest:
        document, end = json.JSONDecoder().raw_decode(rest)
        documents.append(document)
        rest = rest[end:].lstrip("\n")
    statuses = [each["record"]["outcomes"][0]["status"] for each in documents]
    assert len(documents) > 1
    assert set(statuses[:-1]) == {"CHECK_STATUS_PENDING"}
    assert statuses[-1] == "CHECK_STATUS_RESOLVED"
    assert "Dice: d6=" in done.stderr
    assert "REMOVE (0:0), the player decides:\n  1 REMOVE_" in done.stderr
    assert done.stderr.count("> ") == len(documents)


@pytest.mark.parametrize(
    ("given", "way"),
    [
        ((), "--session FILE, or later with --after BUNDLE"),
        (("--table", "t"), "--session FILE, or later with --after BUNDLE"),
        (("--table", "t", "--seq", "3", "--previous", "ab" * 32, "--vrf-key-id", "A" * 43), "--after and the receipt"),
    ],
)
def test_what_is_announced_belongs_to_a_whole_session(
    run: Run, tmp_path: Path, given: tuple[str, ...], way: str
) -> None:
    done = run("roll", "d20", *given, "--announce", tmp_path / "request.json", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "SESSION_NOT_WHOLE")
    assert way in done.json["error"]["message"]
    assert not (tmp_path / "request.json").exists()
