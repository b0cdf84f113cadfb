"""How each dialect reads a text, and the text in the words of another: through both doors and on the command line."""

import json
from collections.abc import Callable
from typing import Any

import grpc
import pytest
from google.protobuf import json_format

from fairroll.v1.notation_pb2 import NotationCheck
from fairroll.v1.service_pb2 import ParseNotationRequest, ParseNotationResponse
from fairroll_rules.errors import CheckError
from fairroll_rules.notation import Dialect, parse
from fairroll_rules.notation.translate import translated
from tests.dialect_texts import totals
from tests.service.cli_run import Run, runner
from tests.service.grpc_door import refusal_of
from tests.service.process import ServiceProcess
from tests.service.test_two_doors import post

ALL = ("STANDARD", "ROLL20", "FOUNDRY", "AVRAE", "RPG_DICE_ROLLER")

# text, its dialect, which dialects accept it, and which of those read it differently
READ: list[tuple[str, str, set[str], set[str]]] = [
    ("4d6kh3", "STANDARD", set(ALL), set()),
    ("2d6+3", "ROLL20", set(ALL), set()),
    (
        "4d6r<2",
        "ROLL20",
        {"STANDARD", "ROLL20", "FOUNDRY", "RPG_DICE_ROLLER"},
        {"STANDARD", "FOUNDRY", "RPG_DICE_ROLLER"},
    ),
    ("4d6k3", "STANDARD", set(ALL), {"AVRAE"}),
    ("d%", "AVRAE", set(ALL), {"STANDARD", "ROLL20", "FOUNDRY", "RPG_DICE_ROLLER"}),
    ("4d6cs6", "STANDARD", {"STANDARD", "ROLL20", "FOUNDRY"}, {"FOUNDRY"}),
    ("1d6-3d4/2", "STANDARD", set(ALL), {"AVRAE"}),
    ("3d4/2", "STANDARD", set(ALL), set()),
    ("{3d20+5}>21", "ROLL20", {"ROLL20", "FOUNDRY", "RPG_DICE_ROLLER"}, {"FOUNDRY", "RPG_DICE_ROLLER"}),
    ("4d6mi2", "AVRAE", {"AVRAE"}, set()),
    ("4d6mi2", "STANDARD", {"AVRAE"}, set()),
    ("not dice", "STANDARD", set(), set()),
]

# text, its dialect, the dialect to write it in, and the text there, or what it cannot say
TRANSLATED: list[tuple[str, str, str, str | tuple[str, int, int]]] = [
    ("4d6r1kh3 # strength", "FOUNDRY", "AVRAE", "4d6ro1kh3 strength"),
    ("4d6r1kh3", "FOUNDRY", "ROLL20", "4d6ro1kh3"),
    ("8d6>5", "ROLL20", "FOUNDRY", "8d6cs>=5"),
    ("8d6>5", "ROLL20", "STANDARD", "8d6>=5"),
    ("8d6>=5", "STANDARD", "ROLL20", "8d6>5"),
    ("4d6e6", "AVRAE", "RPG_DICE_ROLLER", "4d6!=6"),
    ("2d6mi3", "AVRAE", "FOUNDRY", "2d6min3"),
    ("7//2", "AVRAE", "FOUNDRY", "floor(7/2)"),
    ("2d6**2", "ROLL20", "FOUNDRY", "pow(2d6, 2)"),
    ("1d20+5+2d6mt", "ROLL20", "AVRAE", ("matching dice", 10, 12)),
    ("1d20>10", "AVRAE", "STANDARD", ("a comparison of totals", 0, 7)),
    ("2d6!!", "STANDARD", "FOUNDRY", ("an explosion", 3, 5)),
    ("3x{4d6kh3}", "STANDARD", "AVRAE", "!rr 3 4d6kh3"),
    ("3x{4d6kh3}", "STANDARD", "FOUNDRY", ("a repeat", 0, 10)),
    ("4d6!", "ROLL20", "AVRAE", "4d6e6"),
    ("4d6rr<3", "STANDARD", "ROLL20", "4d6r<2"),
    ("2d6!>=5", "RPG_DICE_ROLLER", "AVRAE", "2d6e>4"),
    ("@{lvl}d6", "ROLL20", "FOUNDRY", "(@lvl)d6"),
    ("-7%3", "AVRAE", "ROLL20", ("a remainder with the sign of the divisor", 0, 4)),
    ("1 + 4d6pl1kh2 + 1d8", "AVRAE", "RPG_DICE_ROLLER", ("cannot say `4d6pl1kh2`", 4, 13)),
    ("(1d4-8)/2", "AVRAE", "FOUNDRY", "trunc((1d4-8)/2)"),
    ("(1d4-8)/2", "AVRAE", "STANDARD", "ceil((1d4-8)/2)"),
    ("(1d4-8)/2", "STANDARD", "AVRAE", "((1d4-8)/2)//1"),
    ("(1d20-8)/2", "AVRAE", "ROLL20", ("below zero and not whole", 0, 10)),
    ("((1d4-8)/2) [cold] + 1", "AVRAE", "STANDARD", ("below zero and not whole", 0, 18)),
    ("3d4/2", "AVRAE", "STANDARD", "3d4/2"),
    ("1d6-3d4/2", "STANDARD", "ROLL20", "1d6-3d4/2"),
]


Door = Callable[[ServiceProcess, dict[str, Any]], ParseNotationResponse]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


def request(text: str, dialect: str, translate_to: str = "") -> dict[str, Any]:
    asked: dict[str, Any] = {"check": {"text": text, "dialect": f"DIALECT_{dialect}"}}
    return {**asked, "translateTo": f"DIALECT_{translate_to}"} if translate_to else asked


def over_rest(service: ServiceProcess, asked: dict[str, Any]) -> ParseNotationResponse:
    status, answer = post(service, "/v1/notation:parse", json.dumps(asked).encode())
    assert status == 200
    return json_format.ParseDict(answer, ParseNotationResponse())


def over_grpc(service: ServiceProcess, asked: dict[str, Any]) -> ParseNotationResponse:
    with service.stub() as stub:
        return stub.ParseNotation(json_format.ParseDict(asked, ParseNotationRequest()))


@pytest.mark.parametrize("door", [over_rest, over_grpc])
def test_each_dialect_says_how_it_reads_a_text(service: ServiceProcess, door: Door) -> None:
    for text, dialect, accepted, differing in READ:
        answer = door(service, request(text, dialect))
        names = [NotationCheck.Dialect.Name(each.dialect).removeprefix("DIALECT_") for each in answer.readings]
        assert names == list(ALL)
        found = dict(zip(names, answer.readings, strict=True))
        assert (text, {name for name in ALL if found[name].valid}) == (text, accepted)
        assert (text, {name for name in ALL if found[name].differs}) == (text, differing)
        assert answer.valid == found[dialect].valid
        for reading in found.values():
            assert bool(reading.error.code) != reading.valid == bool(reading.canonical)


@pytest.mark.parametrize("door", [over_rest, over_grpc])
def test_a_text_is_written_in_another_dialect_or_what_that_lacks_is_named(service: ServiceProcess, door: Door) -> None:
    for text, dialect, other, expected in TRANSLATED:
        answer = door(service, request(text, dialect, other))
        if isinstance(expected, str):
            assert (answer.translation.text, answer.translation.error.code) == (expected, "")
        else:
            error = answer.translation.error
            assert (answer.translation.text, error.code) == ("", "DIALECT_CANNOT_SAY")
            assert expected[0] in error.message
            assert (error.span.start, error.span.end) == expected[1:]


def test_a_dialect_that_is_none_is_refused(service: ServiceProcess) -> None:
    with service.stub() as stub:
        asked = ParseNotationRequest(check=NotationCheck(text="d6"), translate_to=9)  # type: ignore[arg-type]  # any number
        with pytest.raises(grpc.RpcError) as caught:
            stub.ParseNotation(asked)
    assert refusal_of(caught.value).info.reason == "ENUM_UNKNOWN"
    status, _ = post(service, "/v1/notation:parse", json.dumps(request("d6", "STANDARD", "KLINGON")).encode())
    assert status == 400


def test_without_a_tree_there_is_no_translation(service: ServiceProcess) -> None:
    assert not over_rest(service, request("4d6 oops", "STANDARD", "AVRAE")).HasField("translation")
    assert not over_rest(service, request("4d6", "STANDARD")).HasField("translation")


@pytest.mark.parametrize("dialect", list(Dialect))
def test_what_is_translated_means_the_same_there(dialect: Dialect) -> None:
    said = 0
    for text, own, _, _ in [*READ, *TRANSLATED]:
        try:
            tree = parse(text, Dialect[own])
            there = translated(tree, dialect)
        except CheckError:
            continue
        assert totals(there, dialect) == totals(text, Dialect[own])
        said += 1
    assert said >= 8


def test_the_command_line_says_both(run: Run) -> None:
    done = run("parse", "4d6r1kh3", "--dialect", "foundry", "--translate-to", "avrae", "--readings")
    assert done.code == 0
    assert "translated 4d6ro1kh3" in done.out
    assert "  standard: differs: 4d6rr1kh3" in done.out
    assert "  avrae: refused: Avrae has no `r`; " in done.out
    answer = run("parse", "1d20>10", "--dialect", "avrae", "--translate-to", "foundry", "--json").json
    assert answer["translation"]["error"]["code"] == "DIALECT_CANNOT_SAY"
    assert "cannot be translated" in run("parse", "1d20>10", "--dialect", "avrae", "--translate-to", "foundry").out
    assert run("parse", "d6", "--translate-to", "klingon", "--json").code == 2
    assert [each["valid"] for each in run("parse", "4d6mi2", "--json").json["readings"]] == [False] * 3 + [True, False]
