"""`fairroll roll` against a real service, and against what is none."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fairroll.cli.check_words import check_of
from fairroll.errors import WrongUseError
from tests.service.cli_run import Run, runner
from tests.service.process import ServiceProcess


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], service: ServiceProcess, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("FAIRROLL_SERVER", service.rest)
    return runner(capsys)


def test_a_roll_prints_the_dice_and_the_receipt(run: Run) -> None:
    done = run("roll", "4d6kh3")
    assert done.code == 0
    line, receipt, session = done.out.splitlines()
    assert line.startswith("4d6kh3: ")
    assert len(receipt.split()[1]) == 64
    assert session.split()[1].startswith("one-off/")


def test_what_is_saved_verifies_offline(run: Run, service: ServiceProcess, tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    done = run("roll", "4d6kh3", "1d20+@str", "--var", "str=3", "--actor", "Ann", "--label", "strength", "--save", path)
    assert done.code == 0
    assert f"saved     {path}" in done.out
    verified = run("verify", path, "--root", service.root_key, "--json").json["receipts"][0]
    assert verified["verified"] is True
    assert [check["actor"] for check in verified["record"]["request"]["checks"]] == ["Ann", "Ann"]
    assert verified["development"] is True
    for text in verified["texts"]:
        assert text["line"] in done.out


def test_the_whole_answer_is_there_as_json(run: Run) -> None:
    answer = run("roll", "2d6", "--json").json
    assert answer["texts"][0]["line"].startswith("2d6: ")
    assert answer["record"]["guardMode"] == "GUARD_MODE_NONE"


def test_a_request_id_gives_the_same_receipt_again(run: Run) -> None:
    first, second = (run("roll", "d100", "--request-id", "again").out for _ in range(2))
    assert first == second


def test_a_session_goes_on_from_its_last_receipt(run: Run) -> None:
    first = run("roll", "d20", "--table", "friday", "--json").json
    key = first["record"]["session"]["vrfKeyId"]
    command = ("roll", "d20", "--table", "friday", "--seq", "1", "--vrf-key-id", key, "--json")
    assert run(*command).json["error"]["field"] == "previous"
    second = run(*command, "--previous", first["digest"]).json
    assert second["record"]["request"]["previous"] == first["digest"]


def test_a_receipt_may_cite_another(run: Run) -> None:
    cited = run("roll", "d20", "--json").json["digest"]
    answer = run("roll", "d20", "--cite", cited, "--json").json
    assert answer["record"]["request"]["checks"][0]["cites"] == [cited]


def test_a_value_from_another_receipt_is_judged_by_it(run: Run, service: ServiceProcess, tmp_path: Path) -> None:
    guard, good, bad = (tmp_path / f"{name}.json" for name in ("guard", "good", "bad"))
    run("roll", "--system", "crossroads", "skill-roll", "statistic=1", "--actor", "guard", "--save", guard)
    judged = run("verify", guard, "--root", service.root_key, "--json").json["receipts"][0]
    throw = judged["record"]["outcomes"][0]["crossroads"]["skillRoll"]["throw"]
    value = int(throw["successValue"])
    for path, claimed in ((good, value), (bad, -1 if value > 0 else 2)):
        words = ("crossroads", "skill-roll", f"opposing_value.success_value={claimed}")
        assert run("roll", "--system", *words, "--cite", judged["digest"], "--save", path).code == 0
    done = run("verify", good, guard, "--root", service.root_key)
    assert done.code == 0
    assert f"cites {judged['digest']}" in done.out
    assert "shown and verified\n" in done.out
    done = run("verify", bad, guard, "--root", service.root_key, "--json")
    assert (done.code, done.json["verified"]) == (1, False)
    (citation,) = done.json["receipts"][0]["citations"]
    assert (citation["bearing"], citation["field"]) == ("CITATION_BEARING_DIFFERS", "opposing_value.success_value")
    assert "DOES NOT SAY what is taken from it" in run("verify", bad, guard, "--root", service.root_key).out
    alone = run("verify", bad, "--root", service.root_key)
    assert (alone.code, "not among the receipts shown: what is taken from it is NOT PROVED" in alone.out) == (0, True)


def test_a_receipt_in_a_file_is_cited_and_shown(run: Run, tmp_path: Path) -> None:
    guard = tmp_path / "guard.json"
    digest = run("roll", "--system", "crossroads", "skill-roll", "statistic=12", "--save", guard, "--json").json[
        "digest"
    ]
    words = ("roll", "--system", "crossroads", "skill-roll")
    answer = run(*words, "opposing_value.success_value=-1", "--cite", guard, "--json")
    assert (answer.code, answer.json["error"]["code"]) == (1, "CITED_DIFFERS")
    values = [run(*words, f"opposing_value.success_value={value}", "--cite", guard, "--json") for value in (0, 1, 2)]
    (good,) = [each.json for each in values if each.code == 0]
    assert good["record"]["request"]["checks"][0]["cites"] == [digest]


def test_a_check_as_json_may_hold_short_names(run: Run) -> None:
    check = '{"d6_dungeons":{"skill_roll":{"difficulty":5,"skill":2,"ones":"save"}}}'
    asked = run("roll", "--check", check, "--json").json["record"]["request"]["checks"][0]
    assert asked["d6Dungeons"]["skillRoll"]["ones"] == "ONES_POLICY_SAVE"


def test_a_system_is_named_in_any_spelling_and_its_only_roll_not_at_all(run: Run) -> None:
    assert run("roll", "--system", "Fortune-Doom", "attribute=2").out.startswith("Fortune ")
    command = ("roll", "--system", "MEIDLANDS", "attacker.pool=2", "defender.pool=1", "--json")
    assert run(*command).json["record"]["request"]["checks"][0]["meidlands"]["opposedRoll"]["attacker"]["pool"] == 2


def test_notation_may_begin_with_a_minus(run: Run) -> None:
    assert run("roll", "-2d6+1", "--label", "-x").out.startswith("-2d6+1: ")


def test_a_system_is_rolled_with_readable_words(run: Run) -> None:
    command = ("roll", "--system", "crossroads", "skill-roll", "statistic=2", "advantage=1", "removal=lowest")
    answer = run(*command, "opposing_roll.name=guard", "--json").json
    asked = answer["record"]["request"]["checks"][0]["crossroads"]["skillRoll"]
    assert (asked["statistic"], asked["advantage"], asked["removal"]) == (2, 1, "REMOVAL_POLICY_LOWEST")
    assert asked["opposingRoll"]["name"] == "guard"
    assert "3d6a1" in run(*command).out


@pytest.mark.parametrize(
    ("arguments", "reason", "field"),
    [
        (("4d6kh3)",), "NOTATION_SYNTAX", "checks[0].notation.text"),
        (("d6", "d0"), "", "checks[1].notation.text"),
        (("--system", "crossroads", "skill-roll", "statistic=100"), "OUT_OF_RANGE", "checks[0].crossroads.skill_roll."),
        (("--system", "crossroads", "skill-roll", "luck=1"), "UNKNOWN_FIELD", "checks[0].crossroads.skill_roll.luck"),
        (("d6", "--seq", "1"), "SEQ_OUT_OF_RANGE", "seq"),
    ],
)
def test_a_refused_roll_says_why_and_exits_with_1(
    run: Run, arguments: tuple[str, ...], reason: str, field: str
) -> None:
    done = run("roll", *arguments, "--json")
    assert done.code == 1
    error = done.json["error"]
    assert reason in error["code"]
    assert error["field"].startswith(field)
    text = run("roll", *arguments)
    assert (text.code, text.out) == (1, "")
    assert f"[{error['code']}]" in text.err


def test_a_caret_points_at_the_notation(run: Run) -> None:
    assert "  4d6kh3)\n        ^\n" in run("roll", "4d6kh3)").err


def test_nothing_to_roll_is_wrong_use(run: Run) -> None:
    assert run("roll").code == 2


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        ("http://127.0.0.1:1", "SERVICE_UNREACHABLE"),
        ("127.0.0.1:8080", "SERVER_INVALID"),
        ("file:///etc/passwd", "SERVER_INVALID"),
        ("http://", "SERVER_INVALID"),
        ("http://127.0.0.1:x", "SERVER_INVALID"),
        ("http://a b", "SERVER_INVALID"),
    ],
)
def test_no_service_is_wrong_use(run: Run, server: str, reason: str) -> None:
    done = run("roll", "d6", "--server", server, "--json")
    assert done.code == 2
    assert done.json["error"]["code"] == reason


def test_a_grpc_port_is_no_rest_port(run: Run, service: ServiceProcess) -> None:
    done = run("roll", "d6", "--server", f"http://{service.grpc}", "--json")
    assert done.code == 2
    assert done.json["error"]["code"] in ("SERVICE_UNREACHABLE", "SERVICE_UNREADABLE")


@contextmanager
def another_server(status: int, body: bytes, seen: list[dict[str, str]]) -> Iterator[str]:
    """A server that answers everything alike, and notes the headers that it got."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            seen.append({name.lower(): value for name, value in self.headers.items()})
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = answer  # noqa: N815  the name that http.server asks for
        do_POST = answer  # noqa: N815  as above

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (200, b"hello", "SERVICE_UNREADABLE"),
        (200, b"[]", "SERVICE_UNREADABLE"),
        (200, b"{}", "SERVICE_UNREADABLE"),
        (404, b"<html>", "SERVICE_UNREADABLE"),
        (400, b"[]", "SERVICE_UNREADABLE"),
        (500, b'{"reason":"INTERNAL","detail":"internal error 1"}', "INTERNAL"),
    ],
)
def test_whatever_else_answers_is_said_to_be_no_service(
    run: Run, tmp_path: Path, status: int, body: bytes, reason: str
) -> None:
    path = tmp_path / "receipt.json"
    with another_server(status, body, []) as server:
        done = run("roll", "d6", "--server", server, "--json")
        assert (done.code, done.json["error"]["code"]) == (2, reason)
        assert run("roll", "d6", "--server", server, "--save", path).code == 2
    assert not path.exists()


def test_an_api_key_of_the_environment_is_sent(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRROLL_API_KEY", "frk_x")
    seen: list[dict[str, str]] = []
    with another_server(200, b"{}", seen) as server:
        run("roll", "d6", "--server", server)
    assert [headers["x-api-key"] for headers in seen] == ["frk_x"]


def test_words_become_the_contracts_json() -> None:
    assert check_of("crossroads", ["skillRoll", "perilDie.statistic=1"]) == {
        "crossroads": {"skill_roll": {"peril_die": {"statistic": 1}}}
    }
    assert check_of("d6-dungeons", ["team-roll", "difficulty=5", "members[1].name=7", "members[0].name=Ann"]) == {
        "d6_dungeons": {"team_roll": {"difficulty": 5, "members": [{"name": "Ann"}, {"name": "7"}]}}
    }
    assert check_of("fortune-doom", ["resolution-roll", "help=1,2", "hinder=[-3]", "hope=true", "tie=fortune"]) == {
        "fortune_doom": {"resolution_roll": {"help": [1, 2], "hinder": [-3], "hope": True, "tie": "TIE_CHOICE_FORTUNE"}}
    }
    assert check_of("notation", ["text=2d6=2", "rounding=up"]) == {
        "notation": {"text": "2d6=2", "rounding": "ROUNDING_UP"}
    }


@pytest.mark.parametrize(
    "words",
    [
        ["skill-roll", "statistic"],
        ["skill-roll", "=1"],
        ["skill-roll", "a..b=1"],
        ["skill-roll", "opposing_roll=1", "opposing_roll.name=x"],
        ["skill-roll", "advantage=1", "advantage=1"],
        ["group-roll", "members[0].name=x", "members[0].name=y"],
        ["skill-roll", "statistic[1000000].x=1"],
    ],
)
def test_words_that_make_no_field_are_refused(words: list[str]) -> None:
    with pytest.raises(WrongUseError):
        check_of("crossroads", words)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "NOTHING_TO_ROLL"),
        (("--system", "chess", "move"), "SYSTEM_UNKNOWN"),
        (("--system", "crossroads"), "ROLL_NOT_NAMED"),
        (("--system", "crossroads", "skill-roll", "statistic"), "FIELD_NOT_GIVEN"),
        (("--check", "d6"), "JSON_UNREADABLE"),
        (("d6", "--dialect", "klingon"), "WRONG_USE"),
        (("d6", "--var", "str"), "WRONG_USE"),
        (("d6", "--seq", "x"), "WRONG_USE"),
    ],
)
def test_a_command_line_that_is_none_exits_with_2(run: Run, arguments: tuple[str, ...], reason: str) -> None:
    done = run("roll", *arguments, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, reason)


def test_a_roll_takes_the_place_of_no_file(run: Run, tmp_path: Path) -> None:
    taken = tmp_path / "ann.json"
    taken.write_text("mine")
    done = run("roll", "d6", "--save", taken)
    assert (done.code, done.out) == (2, "")
    assert "[FILE_EXISTS]" in done.err
    assert taken.read_text() == "mine"


def test_a_roll_that_cannot_be_kept_is_not_made(run: Run, tmp_path: Path) -> None:
    done = run("roll", "d6", "--save", str(tmp_path / "missing" / "receipt.json"))
    assert (done.code, done.out) == (2, "")
    assert done.err.count("receipt.json") == 1
