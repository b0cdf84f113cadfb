"""Odds over gRPC and REST: one answer, one refusal, and no roll that waits for them."""

import json
from typing import Any

import grpc
import pytest

from fairroll import json_codec
from fairroll.odds.answer import get_odds
from fairroll.v1 import notation_pb2, odds_pb2, roll_pb2
from tests.service.grpc_door import refusal_of
from tests.service.odds.known import question
from tests.service.odds.test_desk import SLOW
from tests.service.process import ServiceProcess
from tests.service.test_two_doors import post


def over_rest(service: ServiceProcess, request: odds_pb2.GetOddsRequest) -> tuple[int, Any]:
    return post(service, "/v1/odds", json_codec.dumps(request))


ASKED = [
    question("4d6kh3", at_least=15),
    question("1d20+5", against="2d20kh1"),
    question({"crossroads": {"skillRoll": {"statistic": 2, "advantage": 1}}}, quantity="critical"),
]


@pytest.mark.parametrize("request_message", ASKED)
def test_both_doors_answer_what_the_function_answers(
    service: ServiceProcess, request_message: odds_pb2.GetOddsRequest
) -> None:
    expected = get_odds(request_message)
    for _ in range(2):  # worked out, then known
        with service.stub() as stub:
            assert stub.GetOdds(request_message) == expected
        status, answer = over_rest(service, request_message)
        assert status == 200
        assert answer == json.loads(json_codec.dumps(expected))


def test_both_doors_refuse_it_with_one_reason(service: ServiceProcess) -> None:
    request = question({"crossroads": {"skillRoll": {"change": "CHANGE_POLICY_ASK"}}})
    status, problem = over_rest(service, request)
    assert (status, problem["reason"], problem["field"]) == (400, "DECISION_OPEN", "check.crossroads.skill_roll.change")
    with service.stub() as stub, pytest.raises(grpc.RpcError) as caught:
        stub.GetOdds(request)
    assert refusal_of(caught.value).info.reason == "DECISION_OPEN"


def test_a_limit_comes_by_name_and_value(service: ServiceProcess) -> None:
    status, problem = over_rest(service, question("5d8umin4", refuse_estimates=True))
    assert (status, problem["limit"], problem["maximum"]) == (400, "odds_work", 250_000)


def test_a_roll_is_answered_while_odds_are_worked_out_and_the_deadline_holds(service: ServiceProcess) -> None:
    roll = roll_pb2.RollRequest(checks=[roll_pb2.Check(notation=notation_pb2.NotationCheck(text="4d6kh3"))])
    with service.stub() as stub:
        asked = stub.GetOdds.future(question(SLOW, rolls=50_000), timeout=1.5)
        assert stub.Roll(roll).digest
        assert not asked.done()
        with pytest.raises(grpc.RpcError) as late:
            asked.result()
    assert late.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
