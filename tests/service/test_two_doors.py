"""One table of cases through both doors of a real service: they accept the same, refuse the same, and say the same."""

import json
import re
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import json_format

from fairroll.v1.roll_pb2 import RollRequest, RollResponse
from tests.service.grpc_door import refusal_of
from tests.service.process import ServiceProcess, start_service

HEX = "ab" * 32


def notation(text: str, **more: object) -> dict[str, Any]:
    return {"notation": {"text": text, **more}}


def roll(*checks: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"checks": list(checks), **more}


def post(service: ServiceProcess, path: str, body: bytes, content_type: str = "application/json") -> tuple[int, Any]:
    request = urllib.request.Request(service.rest + path, body, {"content-type": content_type})  # noqa: S310  our own
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310  our own
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, {**json.load(error), "media_type": error.headers["content-type"]}


def raw(service: ServiceProcess, body: bytes) -> bytes:
    """What REST answers to a roll, as it stands."""
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{service.rest}/v1/rolls", body, headers)  # noqa: S310  our own
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310  our own
        read: bytes = answer.read()
        return read


def over_rest(service: ServiceProcess, request: dict[str, Any]) -> tuple[int, Any]:
    return post(service, "/v1/rolls", json.dumps(request).encode())


def over_grpc(service: ServiceProcess, request: dict[str, Any]) -> RollResponse:
    with service.stub() as stub:
        return stub.Roll(json_format.ParseDict(request, RollRequest()))


TABLE_42 = {"table": "table-42"}
ATTACKER, DEFENDER = "checks[0].meidlands.opposed_roll.attacker", {"pool": 2}


def attack(attacker: dict[str, Any], **more: object) -> dict[str, Any]:
    return roll({"meidlands": {"opposedRoll": {"attacker": attacker, "defender": DEFENDER, **more}}})


# name, request, reason, field, and the members that both doors must carry
REFUSED: list[tuple[str, dict[str, Any], str, str, dict[str, Any]]] = [
    ("nothing to roll", {}, "REQUIRED", "checks", {}),
    ("1,001 checks", roll(*[notation("d6")] * 1001), "LIMIT_EXCEEDED", "checks", {"limit": "checks", "maximum": 1000}),
    ("no system", roll({"label": "x"}), "REQUIRED", "checks[0].system", {}),
    ("no text", roll(notation("")), "NOTATION_SYNTAX", "checks[0].notation.text", {"span": (0, 0)}),
    ("bad text", roll(notation("4d6kh3(")), "NOTATION_SYNTAX", "checks[0].notation.text", {"span": (6, 7)}),
    ("a bad second check", roll(notation("d6"), notation("d0")), "SIDES_TOO_FEW", "checks[1].notation.text", {}),
    (
        "a long label",
        roll({**notation("d6"), "label": "é" * 51}),
        "LIMIT_EXCEEDED",
        "checks[0].label",
        {"limit": "label_bytes", "maximum": 100},
    ),
    (
        "too many draws in all",
        roll(*[notation("1000d6")] * 11),
        "LIMIT_EXCEEDED",
        "checks",
        {"limit": "draws", "maximum": 10_000},
    ),
    ("a one-off beyond 0", roll(notation("d6"), seq=1), "SEQ_OUT_OF_RANGE", "seq", {}),
    (
        "a request_id in a session",
        roll(notation("d6"), session=TABLE_42, requestId="a"),
        "REQUEST_ID_WITH_SESSION",
        "request_id",
        {},
    ),
    (
        "a reserved table",
        roll(notation("d6"), session={"table": "one-off/" + HEX}),
        "TABLE_RESERVED",
        "session.table",
        {},
    ),
    ("no table", roll(notation("d6"), session={}), "NAME_LENGTH", "session.table", {}),
    (
        "another tenant",
        roll(notation("d6"), session={**TABLE_42, "tenant": "acme"}),
        "TENANT_MISMATCH",
        "session.tenant",
        {},
    ),
    (
        "another origin",
        roll(notation("d6"), session={**TABLE_42, "origin": "x"}),
        "ORIGIN_MISMATCH",
        "session.origin",
        {},
    ),
    (
        "no key above 0",
        roll(notation("d6"), session=TABLE_42, seq=1, previous=HEX),
        "REQUIRED",
        "session.vrf_key_id",
        {},
    ),
    ("no previous above 0", roll(notation("d6"), session=TABLE_42, seq=1), "REQUIRED", "previous", {}),
    ("a previous at 0", roll(notation("d6"), session=TABLE_42, previous=HEX), "PREVIOUS_AT_START", "previous", {}),
    (
        "a digest in capitals",
        roll(notation("d6"), session=TABLE_42, seq=1, previous=HEX.upper()),
        "DIGEST_MALFORMED",
        "previous",
        {},
    ),
    ("a seq beyond 2^53", roll(notation("d6"), session=TABLE_42, seq=str(2**53)), "SEQ_OUT_OF_RANGE", "seq", {}),
    (
        "a key that is not held",
        roll(notation("d6"), session={**TABLE_42, "vrfKeyId": "A" * 43}),
        "VRF_KEY_NOT_HELD",
        "session.vrf_key_id",
        {},
    ),
    (
        "a short entropy",
        roll(notation("d6"), session={**TABLE_42, "contributions": [{"entropy": "AA=="}]}),
        "CONTRIBUTION_LENGTH",
        "session.contributions[0].entropy",
        {},
    ),
    ("a reveal too many", roll(notation("d6"), session=TABLE_42, reveals=["AA=="]), "REVEAL_COUNT", "reveals", {}),
    (
        "a policy that asks",
        roll({"crossroads": {"skillRoll": {"advantage": 1, "removal": "REMOVAL_POLICY_ASK"}}}),
        "SESSION_REQUIRED",
        "checks[0].crossroads.skill_roll.removal",
        {},
    ),
    (
        "a statistic out of range",
        roll({"crossroads": {"skillRoll": {"statistic": 1000}}}),
        "OUT_OF_RANGE",
        "checks[0].crossroads.skill_roll.statistic",
        {},
    ),
    (
        "a pool of 8",
        attack({"pool": 8}),
        "OUT_OF_RANGE",
        f"{ATTACKER}.pool",
        {"minimum": 0, "maximum": 7},
    ),
    (
        "an exchange below one die",
        attack({"pool": 2, "exchange": -2}),
        "OUT_OF_RANGE",
        f"{ATTACKER}.exchange",
        {"minimum": -1, "maximum": 5},
    ),
    (
        "an armour that is no notation",
        attack({"pool": 2}, damage="A/12", armour="H2/4"),
        "NOTATION_INVALID",
        "checks[0].meidlands.opposed_roll.armour",
        {},
    ),
    (
        "a difficulty of 0",
        roll({"d6Dungeons": {"skillRoll": {"difficulty": 0, "skill": 2}}}),
        "OUT_OF_RANGE",
        "checks[0].d6_dungeons.skill_roll.difficulty",
        {"minimum": 1, "maximum": 99},
    ),
    (
        "a helper of 6",
        roll({"fortuneDoom": {"resolutionRoll": {"help": [3, 6]}}}),
        "OUT_OF_RANGE",
        "checks[0].fortune_doom.resolution_roll.help[1]",
        {"minimum": 1, "maximum": 5},
    ),
    (
        "a policy that the roll does not have",
        attack({"pool": 2, "rerolls": 9}),
        "ENUM_UNKNOWN",
        f"{ATTACKER}.rerolls",
        {},
    ),
    ("an answer", roll(answers=[{"decisionId": "x", "optionId": "y"}]), "REQUIRED", "root", {}),
]


@pytest.mark.parametrize(
    ("request_json", "reason", "field", "members"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_both_doors_refuse_it_with_one_reason(
    service: ServiceProcess, request_json: dict[str, Any], reason: str, field: str, members: dict[str, Any]
) -> None:
    status, problem = over_rest(service, request_json)
    assert (problem["reason"], problem["field"]) == (reason, field)
    assert (problem["status"], problem["media_type"]) == (status, "application/problem+json")
    with pytest.raises(grpc.RpcError) as caught:
        over_grpc(service, request_json)
    refusal = refusal_of(caught.value)
    assert (refusal.info.reason, refusal.fields) == (reason, [field])
    for name, expected in members.items():
        if name == "span":
            assert (problem["span"]["start"], problem["span"]["end"]) == expected
            assert refusal.notation is not None
            assert (refusal.notation.span.start, refusal.notation.span.end) == expected
        else:
            assert problem[name] == expected
            assert getattr(refusal.limit, name) == expected


ACCEPTED = {
    "one check": roll(notation("4d6kh3"), session=TABLE_42),
    "three checks of two systems": roll(
        {**notation("1d20+5"), "label": "to hit", "actor": "Ann"},
        {"crossroads": {"skillRoll": {"statistic": 2, "advantage": 1}}},
        notation("2d6!"),
        session={"table": "Ünïcode 🎲"},
    ),
    "a later seq": roll(notation("d100"), session=TABLE_42, seq=0),
    "a one-off with a request_id": roll(notation("4dF"), requestId="retry-1"),
    "a contribution": roll(notation("d20"), session={**TABLE_42, "contributions": [{"entropy": "AQ" * 21 + "E="}]}),
}


@pytest.mark.parametrize("guarded", [False, True], ids=["no guard", "guarded"])
def test_the_same_request_once_more_gets_the_same_bytes_but_for_the_time(
    service: ServiceProcess, tmp_path: Path, *, guarded: bool
) -> None:
    """Over either door, whichever was asked first: every byte of both answers, where the time of each is taken out."""
    with ExitStack() as stack:
        if guarded:
            service = stack.enter_context(start_service(tmp_path, guard=f"sqlite:{tmp_path / 'guard.db'}"))
        stub = stack.enter_context(service.stub())
        for asked in (roll(notation("4d6kh3"), session={"table": "again"}), roll(notation("d20"), requestId="again")):
            message = json_format.ParseDict(asked, RollRequest())
            rest, grpc_bytes, response, answer = [], [], RollResponse(), b""
            for _ in range(2):
                answer = raw(service, json.dumps(asked).encode())
                rest.append(re.sub(rb'"issuedAt":"[0-9T:.Z-]{24}"', b"", answer))
                assert len(rest[-1]) == len(answer) - len('"issuedAt":"2026-01-01T00:00:00.000Z"')
                response = stub.Roll(message)
                response.ClearField("issued_at")
                grpc_bytes.append(response.SerializeToString(deterministic=True))
            assert len(set(rest)) == len(set(grpc_bytes)) == 1
            assert json_format.Parse(answer, RollResponse()).envelope == response.envelope


@pytest.mark.parametrize("request_json", ACCEPTED.values(), ids=ACCEPTED)
def test_both_doors_give_the_same_bytes(service: ServiceProcess, request_json: dict[str, Any]) -> None:
    status, answer = over_rest(service, request_json)
    assert status == 200
    over = over_grpc(service, request_json)
    assert json_format.ParseDict(answer, RollResponse()).envelope == over.envelope
    assert answer["digest"] == over.digest
    assert [text["line"] for text in answer["texts"]] == [text.line for text in over.texts]
