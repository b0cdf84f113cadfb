"""Values from other receipts: what a service holds a citation to, and what a verifier says of one."""

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import grpc
import pytest
from google.protobuf import json_format

from fairroll.errors import RequestError
from fairroll.v1 import crossroads_pb2, d6_dungeons_pb2, envelope_pb2, roll_pb2, service_pb2
from tests.service.grpc_door import refusal_of
from tests.service.process import ServiceProcess
from tests.service.rolling import TENANT, epoch_keys, proofs_of, request, roller, service_keys
from tests.service.test_two_doors import over_grpc, over_rest, post

FIELD = "checks[0].crossroads.skill_roll.opposing_value.success_value"
MADE_UP = "ab" * 32
ROLLER = roller()
NUMBERS = count()


def guards_roll() -> roll_pb2.RollResponse:
    return ROLLER.roll(one_off(skill_roll(crossroads_pb2.CrossroadsCheck.SkillRoll())), TENANT)


def one_off(check: roll_pb2.Check, cited: list[envelope_pb2.Envelope] | None = None) -> roll_pb2.RollRequest:
    """A roll in a session of its own."""
    return roll_pb2.RollRequest(checks=[check], cited=cited, request_id=str(next(NUMBERS)))


def skill_roll(roll: crossroads_pb2.CrossroadsCheck.SkillRoll) -> roll_pb2.Check:
    return roll_pb2.Check(crossroads=crossroads_pb2.CrossroadsCheck(skill_roll=roll))


def value_of(answer: roll_pb2.RollResponse) -> int:
    return answer.record.outcomes[0].crossroads.skill_roll.throw.success_value


def against(value: int, *cites: str, cited: list[envelope_pb2.Envelope] | None = None) -> roll_pb2.RollRequest:
    """A roll against a value that is said to stand in other receipts."""
    opposed = crossroads_pb2.CrossroadsCheck.OpposingValue(success_value=value)
    check = skill_roll(crossroads_pb2.CrossroadsCheck.SkillRoll(opposing_value=opposed))
    check.cites.extend(cites)
    return one_off(check, cited=cited)


def other_than(value: int) -> int:
    return 2 if value < 1 else -1


def refused(asked: roll_pb2.RollRequest) -> RequestError:
    before = proofs_of(ROLLER)
    with pytest.raises(RequestError) as found:
        ROLLER.roll(asked, TENANT)
    assert proofs_of(ROLLER) == before
    return found.value


# The service


def test_a_value_that_the_cited_receipt_says_is_rolled_against_and_the_receipt_is_not_copied() -> None:
    guard = guards_roll()
    answer = ROLLER.roll(against(value_of(guard), guard.digest, cited=[guard.envelope]), TENANT)
    assert list(answer.record.request.checks[0].cites) == [guard.digest]
    assert not answer.record.request.cited
    retold = answer.texts[0].plain.splitlines()
    assert retold[-1].endswith(
        f"Cites {guard.digest}: what is taken from that receipt is proved by it, not by this one"
    )
    assert "against a given " in answer.texts[0].line


def test_a_value_that_the_cited_receipt_does_not_say_is_refused() -> None:
    guard = guards_roll()
    error = refused(against(other_than(value_of(guard)), guard.digest, cited=[guard.envelope]))
    assert (error.reason, error.field) == ("CITED_DIFFERS", FIELD)


def test_what_is_not_shown_may_bear_the_value_out() -> None:
    guard = guards_roll()
    ROLLER.roll(against(other_than(value_of(guard)), guard.digest, MADE_UP, cited=[guard.envelope]), TENANT)


def test_a_receipt_of_another_game_bears_no_value_out() -> None:
    dice = ROLLER.roll(request("3d6"), TENANT)
    error = refused(against(0, dice.digest, cited=[dice.envelope]))
    assert (error.reason, error.field) == ("CITED_DIFFERS", FIELD)


def foreign() -> envelope_pb2.Envelope:
    other = roller(service_keys(epoch_keys(7)))
    return other.roll(request("d6"), TENANT).envelope


def tampered() -> envelope_pb2.Envelope:
    envelope = guards_roll().envelope
    envelope.payload = envelope.payload[:-1] + bytes([envelope.payload[-1] ^ 1])
    return envelope


@pytest.mark.parametrize("make", [foreign, tampered])
def test_a_receipt_that_this_service_did_not_sign_is_refused(make: Callable[[], envelope_pb2.Envelope]) -> None:
    from fairroll.receipt import read_envelope

    envelope = make()
    error = refused(against(0, read_envelope(envelope).digest, cited=[envelope]))
    assert error.reason in ("UNKNOWN_KEY", "SIGNATURE_INVALID")
    assert error.field.startswith("cited[0]")


def test_a_receipt_that_no_check_cites_is_refused() -> None:
    guard = guards_roll()
    error = refused(against(0, MADE_UP, cited=[guard.envelope]))
    assert (error.reason, error.field, error.value) == ("CITED_BY_NONE", "cited[0]", guard.digest)


def test_more_than_a_record_may_cite_is_refused() -> None:
    guard = guards_roll()
    error = refused(against(0, guard.digest, cited=[guard.envelope] * 33))
    assert (error.reason, error.field, error.limit, error.maximum) == ("LIMIT_EXCEEDED", "cited", "cited", 32)
    large = envelope_pb2.Envelope(payload=bytes(256 * 1024 + 1))
    error = refused(against(0, guard.digest, cited=[large]))
    assert (error.reason, error.limit, error.maximum) == ("LIMIT_EXCEEDED", "cited_bytes", 256 * 1024)


@pytest.mark.parametrize("members", [{"close": True}, {"root": MADE_UP, "continues": MADE_UP}])
def test_an_answer_and_a_close_cite_nothing(members: dict[str, Any]) -> None:
    asked = roll_pb2.RollRequest(cited=[guards_roll().envelope], **members)
    asked.session.table = "t"
    error = refused(asked)
    assert (error.reason, error.field) == ("CONFLICT", "cited")


def ones(roll: d6_dungeons_pb2.D6DungeonsCheck.SkillRoll) -> roll_pb2.Check:
    roll.difficulty = 5
    return roll_pb2.Check(d6_dungeons=d6_dungeons_pb2.D6DungeonsCheck(skill_roll=roll))


def with_ones(policy: d6_dungeons_pb2.D6DungeonsCheck.OnesPolicy.ValueType) -> tuple[roll_pb2.RollResponse, int]:
    """A roll of many dice, and how many ones it saved or gave."""
    answer = ROLLER.roll(one_off(ones(d6_dungeons_pb2.D6DungeonsCheck.SkillRoll(skill=30, ones=policy))), TENANT)
    outcome = answer.record.outcomes[0].d6_dungeons.skill_roll
    return answer, outcome.ones_saved + outcome.ones_given


def test_ones_that_are_spent_were_saved_or_given_in_the_cited_rolls() -> None:
    saving, saved = with_ones(d6_dungeons_pb2.D6DungeonsCheck.ONES_POLICY_SAVE)
    giving, given = with_ones(d6_dungeons_pb2.D6DungeonsCheck.ONES_POLICY_GIVE)
    assert min(saved, given) > 0
    shown = [saving.envelope, giving.envelope]
    for spent, from_allies, field in (
        (saved, given, ""),
        (saved + 1, 0, "saved_ones_spent"),
        (0, given + 1, "ones_from_allies"),
    ):
        roll = d6_dungeons_pb2.D6DungeonsCheck.SkillRoll(saved_ones_spent=spent, ones_from_allies=from_allies)
        check = ones(roll)
        check.cites.extend([saving.digest, giving.digest])
        if not field:
            assert ROLLER.roll(one_off(check, shown), TENANT).digest
            continue
        error = refused(one_off(check, shown))
        assert (error.reason, error.field) == ("CITED_DIFFERS", f"checks[0].d6_dungeons.skill_roll.{field}")


# The verifier


def verified(*answers: roll_pb2.RollResponse) -> service_pb2.VerifySessionResponse:
    bundles = [envelope_pb2.Bundle(envelope=answer.envelope) for answer in answers]
    return ROLLER.verify_session(service_pb2.VerifySessionRequest(bundles=bundles))


def test_a_made_up_citation_is_said_not_to_be_proved() -> None:
    answer = ROLLER.roll(against(1, MADE_UP), TENANT)
    alone = ROLLER.verify_receipt(
        service_pb2.VerifyReceiptRequest(bundle=envelope_pb2.Bundle(envelope=answer.envelope))
    )
    assert alone.verified
    (citation,) = alone.citations
    assert (citation.check, citation.cited) == (0, MADE_UP)
    assert citation.bearing == service_pb2.CITATION_BEARING_NOT_SHOWN
    assert "proved by it, not by this one" in alone.texts[0].plain


@pytest.mark.parametrize(
    ("change", "bearing"),
    [
        (lambda value: value, service_pb2.CITATION_BEARING_SHOWN),
        (other_than, service_pb2.CITATION_BEARING_DIFFERS),
    ],
)
def test_receipts_that_are_shown_together_bear_each_other_out_or_do_not(
    change: Callable[[int], int], bearing: int
) -> None:
    guard = guards_roll()
    answer = ROLLER.roll(against(change(value_of(guard)), guard.digest), TENANT)
    found = verified(answer, guard, answer)
    good = bearing == service_pb2.CITATION_BEARING_SHOWN
    assert found.verified is good
    (citation,) = found.receipts[0].citations
    assert citation.bearing == bearing
    assert citation.field == ("" if good else "opposing_value.success_value")
    assert not found.receipts[1].citations


def test_one_citation_that_is_not_shown_leaves_the_value_open() -> None:
    guard = guards_roll()
    answer = ROLLER.roll(against(other_than(value_of(guard)), guard.digest, MADE_UP), TENANT)
    found = verified(answer, guard)
    assert found.verified
    assert [each.bearing for each in found.receipts[0].citations] == [
        service_pb2.CITATION_BEARING_SHOWN,
        service_pb2.CITATION_BEARING_NOT_SHOWN,
    ]


# Both doors


GUARDS: dict[str, Any] = {"checks": [{"actor": "guard", "crossroads": {"skillRoll": {"statistic": 1}}}]}


def opposed(value: int, digest: str, envelope: object) -> dict[str, Any]:
    check = {"crossroads": {"skillRoll": {"opposingValue": {"successValue": value}}}, "cites": [digest]}
    return {"checks": [check], "cited": [envelope]}


def test_both_doors_hold_a_roll_to_the_receipt_that_it_cites(service: ServiceProcess) -> None:
    status, guard = over_rest(service, GUARDS)
    assert status == 200
    value = guard["record"]["outcomes"][0]["crossroads"]["skillRoll"]["throw"]["successValue"]
    good = opposed(value, guard["digest"], guard["envelope"])
    status, answer = over_rest(service, good)
    assert status == 200
    assert "cited" not in answer["record"]["request"] or not answer["record"]["request"]["cited"]
    same = over_grpc(service, good)
    assert list(same.record.request.checks[0].cites) == [guard["digest"]]

    bad = opposed(other_than(value), guard["digest"], guard["envelope"])
    status, problem = over_rest(service, bad)
    assert (status, problem["reason"], problem["field"]) == (400, "CITED_DIFFERS", FIELD)
    with pytest.raises(grpc.RpcError) as caught:
        over_grpc(service, bad)
    told = refusal_of(caught.value)
    assert (told.info.reason, told.fields) == ("CITED_DIFFERS", [FIELD])


def test_both_doors_verify_what_is_cited(service: ServiceProcess) -> None:
    _, guard = over_rest(service, GUARDS)
    value = guard["record"]["outcomes"][0]["crossroads"]["skillRoll"]["throw"]["successValue"]
    claimed = {**opposed(other_than(value), guard["digest"], guard["envelope"]), "cited": []}
    _, answer = over_rest(service, claimed)
    asked = {"bundles": [{"envelope": answer["envelope"]}, {"envelope": guard["envelope"]}]}
    status, found = post(service, "/v1/sessions:verify", json.dumps(asked).encode())
    assert (status, found["verified"]) == (200, False)
    with service.stub() as stub:
        same = stub.VerifySession(json_format.ParseDict(asked, service_pb2.VerifySessionRequest()))
    assert not same.verified
    for bearing in (found["receipts"][0]["citations"][0]["bearing"], name_of(same.receipts[0].citations[0].bearing)):
        assert bearing == "CITATION_BEARING_DIFFERS"


def name_of(bearing: service_pb2.CitationBearing.ValueType) -> str:
    return service_pb2.CitationBearing.Name(bearing)
