"""`fairroll resolve`: given faces, given answers, and the plain word that nothing was rolled."""

import io
import json
import sys

import pytest

from tests.service.cli_run import Run, runner
from tests.service.resolve_examples import EXAMPLES, ROWS, Example, found, with_dice


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_a_worked_example_comes_out_as_its_page_says(run: Run, example: Example) -> None:
    answers = ["--answers", example.answers] if example.answers else []
    check = json.dumps({example.system: {example.roll: example.check}})
    done = run("resolve", check, "--faces", example.faces, *answers, "--json")
    assert done.code == 0, done.out
    outcome = done.json["outcome"][example.system][example.roll]
    expected = {name: example.expect[name] for name in example.places}
    assert {name: found(outcome, place) for name, place in example.places.items()} == expected
    assert [draw["face"] for draw in done.json["outcome"]["draws"]] == [int(face) for face in example.faces.split(",")]


def test_every_worked_example_with_dice_is_resolved() -> None:
    assert [example.id for example in EXAMPLES] == [id_ for id_ in ROWS if id_ in with_dice()]
    assert len(EXAMPLES) == 56


@pytest.mark.parametrize(
    ("faces", "tens", "units", "result"),
    [
        ("10,10", 0, 0, 100),
        ("100", 0, 0, 100),
        ("9,10", 90, 0, 90),
        ("90", 90, 0, 90),
        ("10,7", 0, 7, 7),
        ("7", 0, 7, 7),
        ("7,3", 70, 3, 73),
        ("73", 70, 3, 73),
        ("1", 0, 1, 1),
    ],
)
def test_a_percentile_roll_is_two_faces_or_what_they_read(
    run: Run, faces: str, tens: int, units: int, result: int
) -> None:
    """MSF High: a dt10 and a d10, "if the total comes up as 0, it is read as 100"."""
    outcome = run("resolve", '{"msfHigh":{"percentileRoll":{}}}', "--faces", faces, "--json").json["outcome"]
    roll = outcome["msfHigh"]["percentileRoll"]
    assert (roll["tens"], roll["units"], roll["result"]) == (tens, units, result)
    assert [draw["sides"] for draw in outcome["draws"]] == [10, 10]


@pytest.mark.parametrize(
    ("faces", "reason"),
    [("101", "FACE_OUT_OF_RANGE"), ("0", "FACE_OUT_OF_RANGE"), ("90,0", "FACE_OUT_OF_RANGE"), ("", "FACES_MISSING")],
)
def test_other_percentile_faces_are_refused(run: Run, faces: str, reason: str) -> None:
    answer = run("resolve", '{"msfHigh":{"percentileRoll":{}}}', "--faces", faces, "--json")
    assert (answer.code, answer.json["error"]["code"]) == (1, reason)


def test_it_says_plainly_that_nothing_was_rolled(run: Run) -> None:
    check = '{"notation":{"text":"4d6kh3"}}'
    done = run("resolve", check, "--faces", "5,4,3,2")
    assert done.code == 0
    assert "4d6kh3: 5 4 3 (2) = 12" in done.out
    assert "Nothing was rolled" in done.out
    answer = run("resolve", check, "--faces", "5,4,3,2", "--json").json
    assert answer["rolled"] is False
    assert answer["note"].startswith("Nothing was rolled")
    assert "envelope" not in answer
    assert answer["outcome"]["status"] == "CHECK_STATUS_RESOLVED"
    assert answer["outcome"]["notation"]["total"] == "12"
    assert [draw["face"] for draw in answer["outcome"]["draws"]] == [5, 4, 3, 2]
    assert answer["text"]["line"] in done.out


@pytest.mark.parametrize("policy", ["lowest", "LOWEST", "CHANGE_POLICY_LOWEST"])
def test_a_choice_may_stand_under_its_short_name(run: Run, policy: str) -> None:
    member = {"name": "Ann", "change": policy}
    check = {"crossroads": {"groupRoll": {"mode": "all-together", "members": [member]}}}
    done = run("resolve", json.dumps(check), "--faces", "4,3,3,6", "--json")
    assert done.json["outcome"]["decisions"][0]["optionId"] == "REROLL_3"


def test_a_short_name_that_is_none_is_refused(run: Run) -> None:
    check = '{"crossroads":{"skillRoll":{"change":"sometimes"}}}'
    assert run("resolve", check, "--faces", "4,3,3", "--json").json["error"]["code"] == "ENUM_UNKNOWN"


def test_given_answers_stand_in_the_outcome_as_a_persons(run: Run) -> None:
    check = '{"d6Dungeons":{"skillRoll":{"difficulty":5,"skill":2,"ones":"ONES_POLICY_ASK"}}}'
    done = run("resolve", check, "--faces", "4,1", "--answers", "GIVE", "--json")
    (decision,) = done.json["outcome"]["decisions"]
    assert (decision["kind"], decision["optionId"], decision["policy"]) == ("ONES", "GIVE", "")
    assert "decided ONES: GIVE (answered)" in run("resolve", check, "--faces", "4,1", "--answers", "GIVE").out


@pytest.mark.parametrize(
    ("check", "faces", "answers", "reason"),
    [
        ('{"notation":{"text":"4d6"}}', "1,2,3", "", "FACES_MISSING"),
        ('{"notation":{"text":"4d6"}}', "", "", "FACES_MISSING"),
        ('{"notation":{"text":"4d6"}}', "1,2,3,4,5", "", "FACES_LEFT"),
        ('{"notation":{"text":"4d6"}}', "1,2,3,7", "", "FACE_OUT_OF_RANGE"),
        ('{"notation":{"text":"4d6"}}', "1,2,3,-4", "", "FACE_OUT_OF_RANGE"),
        ('{"notation":{"text":"4d6"}}', "1,2,3,4", "KEEP", "ANSWERS_LEFT"),
        ('{"d6Dungeons":{"skillRoll":{"difficulty":5,"skill":2}}}', "4,1", "EAT", "OPTION_UNKNOWN"),
        ('{"d6Dungeons":{"skillRoll":{"difficulty":5,"ones":"ONES_POLICY_ASK","skill":1}}}', "1", "", "DECISION_OPEN"),
        ('{"d6Dungeons":{"skillRoll":{"difficulty":0}}}', "1", "", "OUT_OF_RANGE"),
        ('{"notation":{"text":"4d6","x":1}}', "1,2,3,4", "", "UNKNOWN_FIELD"),
        ('{"notation":{"text":"4d6kh3)"}}', "1,2,3,4", "", "NOTATION_SYNTAX"),
        ("{}", "", "", "REQUIRED"),
        ('{"crossroads":{}}', "", "", "REQUIRED"),
        ('{"notation":{"text":"\\ud800"}}', "", "", "JSON_UNREADABLE"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_reason(
    run: Run, check: str, faces: str, answers: str, reason: str
) -> None:
    command = ("resolve", check, "--faces", faces, "--answers", answers)
    done = run(*command, "--json")
    assert done.code == 1
    assert done.json["error"]["code"] == reason
    text = run(*command)
    assert (text.code, text.out) == (1, "")
    assert f"[{reason}]" in text.err


def test_a_field_is_named_by_its_whole_path(run: Run) -> None:
    check = '{"d6Dungeons":{"teamRoll":{"difficulty":5,"members":[{"name":"Ann"},{"name":"Bob","skill":101}]}}}'
    error = run("resolve", check, "--faces", "", "--json").json["error"]
    assert error == {
        "code": "OUT_OF_RANGE",
        "message": error["message"],
        "field": "d6_dungeons.team_roll.members[1].skill",
        "minimum": -100,
        "maximum": 100,
        "value": "101",
    }


def test_a_caret_points_at_the_notation(run: Run) -> None:
    done = run("resolve", '{"notation":{"text":"4d6kh3)"}}', "--faces", "")
    assert "  4d6kh3)\n        ^\n" in done.err


@pytest.mark.parametrize("faces", ["x", "1;2", "1,,2", "1.5", "٣"])
def test_faces_are_integers(run: Run, faces: str) -> None:
    assert run("resolve", '{"notation":{"text":"d6"}}', "--faces", faces).code == 2
    error = run("resolve", '{"notation":{"text":"d6"}}', "--faces", faces, "--json").json["error"]
    assert error["code"] == "WRONG_USE"


def test_a_check_may_come_over_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"notation":{"text":"d6"}}')))
    assert run("resolve", "-", "--faces", "4").code == 0


def test_a_check_that_is_not_json_is_wrong_use(run: Run) -> None:
    done = run("resolve", "4d6kh3", "--faces", "1,2,3,4", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "JSON_UNREADABLE")
