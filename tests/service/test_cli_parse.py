"""`fairroll parse`: what notation means, for people with a caret and for programs as JSON."""

import io
import sys

import pytest

from tests.service.cli_run import Run, runner


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


@pytest.mark.parametrize(
    ("text", "minimum", "maximum", "canonical"),
    [
        ("4d6kh3", 3, 18, "4d6kh3"),
        ("2d20kh1+5", 6, 25, "2d20kh1 + 5"),
        ("-3d6", -18, -3, "-3d6"),
        ("-2^2", -4, -4, "-2^2"),
        ("D%", 1, 100, "1d100"),
        ("7/2", 3, 3, "7 / 2"),
    ],
)
def test_valid_notation_has_its_bounds_as_numbers(
    run: Run, text: str, minimum: int, maximum: int, canonical: str
) -> None:
    done = run("parse", text, "--json")
    assert done.code == 0
    answer = done.json
    assert answer["valid"] is True
    assert (answer["min"], answer["max"]) == (minimum, maximum)
    assert answer["canonical"].replace(" ", "") == canonical.replace(" ", "")
    assert answer["tree"][0]["span"]["start"] == 0
    assert "error" not in answer


def test_people_get_the_same_as_text(run: Run) -> None:
    done = run("parse", "4d6kh3 + 1[bonus]")
    assert (done.code, done.err) == (0, "")
    assert "total      4 .. 19" in done.out
    assert "draws      4 " in done.out
    assert "[bonus]" in done.out


def test_a_repeat_has_no_bounds(run: Run) -> None:
    answer = run("parse", "6x{4d6kh3}", "--json").json
    assert answer["valid"] is True
    assert not {"min", "max"} & answer.keys()
    assert "none, it repeats" in run("parse", "6x{4d6kh3}").out


def test_a_warning_points_at_what_it_is_about(run: Run) -> None:
    done = run("parse", "4d6d1")
    assert done.code == 0
    assert "\nwarning: " in done.out
    assert "  4d6d1\n     ^" in done.out
    (warning,) = run("parse", "4d6d1", "--json").json["warnings"]
    assert warning["span"]["start"] == 3
    assert warning["code"]


@pytest.mark.parametrize(
    ("text", "start"),
    [("4d6kh3)", 6), ("", 0), ("1d20+5>=15", 6), ("2d6 //2", 4), ("d6 hello", 3)],
)
def test_what_is_not_valid_says_where_and_exits_with_1(run: Run, text: str, start: int) -> None:
    done = run("parse", text, "--json")
    assert done.code == 1
    answer = done.json
    assert answer["valid"] is False
    assert answer["error"]["code"]
    assert answer["error"]["message"]
    assert answer["error"]["span"]["start"] == start
    assert answer["error"]["span"]["end"] >= start
    assert not {"min", "max"} & answer.keys()


def test_the_caret_stands_below_the_place(run: Run) -> None:
    done = run("parse", "4d6kh3)")
    assert done.code == 1
    assert done.out.splitlines()[1:3] == ["  4d6kh3)", "        ^"]


def test_the_caret_counts_wide_characters_as_terminals_do(run: Run) -> None:
    _, _, pointer = run("parse", "d6[火] )").out.splitlines()[:3]
    assert pointer == "  " + " " * len("d6[") + "  " + " " * len("] ") + "^"


def test_a_limit_is_named_with_its_value(run: Run) -> None:
    error = run("parse", "100000d6", "--json").json["error"]
    assert error["limit"]["maximum"] == 1000
    assert error["limit"]["value"] == "100000"


def test_variables_are_bound(run: Run) -> None:
    command = ("parse", "1d20+@str", "--var", "str=3", "--json")
    answer = run(*command).json
    assert (answer["min"], answer["max"]) == (4, 23)
    assert run("parse", "1d20+@{a=b}", "--var", "a=b=3", "--json").code == 0
    assert run("parse", "d6", "--var", "str", "--json").code == 2
    assert run("parse", "d6", "--var", "str=1.5", "--json").code == 2


def test_rounding_is_the_callers(run: Run) -> None:
    assert run("parse", "7/2", "--rounding", "up", "--json").json["min"] == 4
    assert run("parse", "-7/2", "--rounding", "toward-zero", "--json").json["min"] == -3


def test_a_dialect_is_named_shortly(run: Run) -> None:
    assert run("parse", "d6", "--dialect", "standard").code == 0
    assert run("parse", "d6", "--dialect", "STANDARD").code == 0
    assert run("parse", "4d6r1", "--dialect", "foundry", "--json").json["canonical"] == "4d6ro1"
    assert run("parse", "4d6!", "--dialect", "foundry", "--json").json["error"]["code"] == "TOKEN_OF_OTHER_DIALECT"
    done = run("parse", "d6", "--dialect", "klingon", "--json")
    assert done.code == 2
    assert done.json["error"]["code"] == "WRONG_USE"
    assert "rpg-dice-roller" in done.json["error"]["message"]
    assert run("parse", "d6", "--rounding", "sideways").code == 2


@pytest.mark.parametrize("text", ["\udc80", "d6\udc80", "\x00", "d6\x1b[2J", "٣d٦", "d" * 5000, "(" * 999, "🎲"])
def test_whatever_the_bytes_the_answer_is_typed(run: Run, text: str) -> None:
    done = run("parse", text, "--json")
    assert done.code == 1
    answer = done.json
    assert answer["error"]["code"]
    shown = run("parse", text)
    assert shown.code == 1
    assert "\x1b" not in shown.out + shown.err


def test_notation_may_come_over_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"2d6\n")))
    assert run("parse", "-", "--json").json["max"] == 12
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    assert run("parse", "-", "--json").json["error"]["code"] == "TEXT_INVALID"


def test_a_query_is_answered_by_a_number_or_a_label(run: Run) -> None:
    command = ("parse", "1d20+?{Power?|No,0|Yes,6}", "--dialect", "roll20", "--json")
    for answer in ("Power?=6", "Power?=Yes"):
        parsed = run(*command, "--var", answer).json
        assert (parsed["min"], parsed["max"]) == (7, 26)
    error = run(*command, "--var", "Power?=3").json["error"]
    assert (error["code"], error["expected"]) == ("NO_SUCH_OPTION", ["0 (No)", "6 (Yes)"])
