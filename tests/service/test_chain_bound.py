"""A roll that asks is refused at its root where its answers might outgrow a chain; every other one can be finished."""

import random
from collections.abc import Callable
from itertools import cycle

import pytest

from fairroll import checks, json_codec
from fairroll.errors import RequestError
from fairroll.v1 import roll_pb2, session_pb2
from tests.service.rolling import TENANT, proofs_of
from tests.service.table_play import CR, Table, falling, is_pending, waiting

CHAIN_BYTES = 262_144
"""Protocol section 5: "at most 32 and 256 KiB"."""
LONG = 100
"""The most bytes of a name."""
Made = Callable[[], roll_pb2.Check]


def name(number: int, size: int) -> str:
    return f"{number:03}".ljust(size, "x")


def group(members: int, size: int, advantage: int = 3) -> roll_pb2.Check:
    """A Crossroads group of which everyone is asked everything that can be asked."""
    asked = CR.GroupRoll(
        mode=CR.GROUP_MODE_ALL_TOGETHER,
        members=[
            CR.Member(
                name=name(number, size),
                advantage=advantage,
                removal=CR.REMOVAL_POLICY_ASK,
                change=CR.CHANGE_POLICY_ASK,
            )
            for number in range(members)
        ],
        zero_result=CR.ZERO_RESULT_POLICY_ASK,
        great_success=CR.GREAT_SUCCESS_POLICY_ASK,
    )
    return roll_pb2.Check(crossroads=CR(group_roll=asked), label="l" * LONG, actor="a" * LONG)


def peril() -> roll_pb2.Check:
    return parsed(
        """{"crossroads": {"skillRoll": {"advantage": 3, "removal": "REMOVAL_POLICY_ASK", "change": "CHANGE_POLICY_ASK",
        "zeroResult": "ZERO_RESULT_POLICY_ASK", "greatSuccess": "GREAT_SUCCESS_POLICY_ASK", "perilDie": {}}}}"""
    )


def opposed() -> roll_pb2.Check:
    return parsed(
        f"""{{"crossroads": {{"skillRoll": {{"advantage": 3, "removal": "REMOVAL_POLICY_ASK",
        "change": "CHANGE_POLICY_ASK", "zeroResult": "ZERO_RESULT_POLICY_ASK",
        "greatSuccess": "GREAT_SUCCESS_POLICY_ASK", "opposingRoll": {{"name": "{"o" * LONG}", "disadvantage": 3,
        "removal": "REMOVAL_POLICY_ASK", "change": "CHANGE_POLICY_ASK"}}}}}}}}"""
    )


def bonuses() -> roll_pb2.Check:
    return meidlands(6, 6)


def penalties() -> roll_pb2.Check:
    return meidlands(-3, 6)


def meidlands(attacker: int, defender: int) -> roll_pb2.Check:
    asked = '"rerolls": "REROLL_POLICY_ASK", "penalties": "PENALTY_POLICY_ASK"'
    return parsed(
        f"""{{"meidlands": {{"opposedRoll": {{
        "attacker": {{"name": "{"a" * LONG}", "pool": 7, "modifiers": [{attacker}], {asked}}},
        "defender": {{"name": "{"d" * LONG}", "pool": 7, "modifiers": [{defender}], {asked}}},
        "damage": "A/12", "armour": "L2/4", "usesCriticalDice": true, "pick": "PICK_POLICY_ASK"}}}}}}"""
    )


def ones() -> roll_pb2.Check:
    return parsed(
        '{"d6Dungeons": {"skillRoll": {"difficulty": 5, "skill": 60, "ones": "ONES_POLICY_ASK", "allowSplit": true}}}'
    )


def tie() -> roll_pb2.Check:
    bands = ", ".join(f'{{"atLeast": {number}, "name": "{name(number, LONG)}"}}' for number in range(-49, 51))
    return parsed(
        f"""{{"fortuneDoom": {{"resolutionRoll": {{"advantage": true, "condition": true, "fear": true, "hope": true,
        "tie": "TIE_CHOICE_ASK", "bands": [{bands}]}}}}}}"""
    )


def parsed(text: str) -> roll_pb2.Check:
    check = json_codec.loads(roll_pb2.Check, text.encode())
    check.label, check.actor = "l" * LONG, "a" * LONG
    return check


class FullTable(Table):
    """A session that is as large as one may be without a beacon's signature to check or a chain to reveal."""

    def request(self) -> roll_pb2.RollRequest:
        request = super().request()
        request.session.table = "t" * 200
        entropy = [session_pb2.Contribution(entropy=bytes([number] * 32)) for number in range(32)]
        request.session.contributions.extend(entropy)
        return request


def worst(check: roll_pb2.Check) -> int:
    """What the service thinks that the answers of a check may come to, as it says where nothing is allowed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "MAX_CHAIN_BYTES", 0)
        with pytest.raises(RequestError) as refused:
            FullTable().roll(check)
    assert refused.value.limit == "chain_bytes"
    return int(refused.value.value)


def played(check: roll_pb2.Check, choose: random.Random) -> list[roll_pb2.RollResponse]:
    table = FullTable()
    chain = [table.roll(check)]
    while is_pending(chain[-1]):
        request = table.answering(chain)
        for answer, decision in zip(request.answers, waiting(chain[-1]), strict=True):
            answer.option_id = choose.choice(decision.options).id
        chain.append(table.send(request))
    return chain


def require_parts_within(response: roll_pb2.RollResponse) -> None:
    """No part of a record that waits is larger than it was thought to be; a part in a message has a head of 2..3."""
    record = response.record
    outcome = record.outcomes[0]
    draws = [*outcome.earlier_draws, *outcome.draws]
    for draw in draws:
        assert draw.ByteSize() + 3 <= checks._WAITING_DRAW_BYTES + len(draw.actor)
    for decision in outcome.decisions:
        options = sum(option.ByteSize() + 3 for option in decision.options)
        texts = sum(len(option.id) + len(option.meaning) for option in decision.options)
        assert options <= len(decision.options) * checks._OPTION_BYTES + texts
        assert decision.ByteSize() - options + 3 <= checks._DECISION_BYTES + len(decision.actor)
    for answer in record.request.answers:
        assert answer.ByteSize() + 2 <= checks._ANSWER_BYTES
    parts = [*draws, *outcome.decisions, *record.request.answers, *record.request.checks, record.session]
    assert len(response.envelope.payload) - sum(part.ByteSize() + 2 for part in parts) <= checks._WAITING_BYTES


FACES = (
    (1, 2, 3, 4, 5, 6),
    (2, 2, 3, 4, 5, 6),
    (1, 1, 2),
    (5, 6, 5, 6, 1),
    (6, 6, 6, 6, 6, 6, 6, 6, 6, 1, 2, 1, 2),
    (1,),
    (3, 3, 4, 5, 1, 6),
)
"""Dice that ask much: many to choose from, doubles to change, and ones and twos that are rolled again and again."""


def largest_group() -> roll_pb2.Check:
    """The longest names with which a hundred members may be asked everything."""
    sizes = [size for size in range(3, LONG + 1) if worst(group(100, size)) <= CHAIN_BYTES]
    return group(100, max(sizes))


@pytest.mark.parametrize("made", [largest_group, peril, opposed, bonuses, penalties, ones, tie])
def test_the_largest_rolls_that_are_begun_are_finished_and_no_chain_is_larger_than_was_thought(made: Made) -> None:
    check = made()
    most = worst(check)
    assert most <= CHAIN_BYTES
    largest, longest = 0, 0
    for number in range(len(FACES) if made is largest_group else 40):
        with pytest.MonkeyPatch.context() as patch:
            falling(cycle(FACES[number % len(FACES)]), patch)
            *parents, last = played(check, random.Random(number))
        assert not is_pending(last)
        for each in parents:
            require_parts_within(each)
        largest = max(largest, sum(len(each.envelope.payload) for each in parents))
        longest = max(longest, len(parents))
    assert 0 < largest <= most
    assert longest <= 32


@pytest.mark.parametrize("size", [92, 100])
def test_a_group_whose_answers_could_not_be_sent_is_refused_before_anything_is_proved(size: int) -> None:
    table = Table()
    proofs = proofs_of(table.service)
    request = table.request()
    request.checks.append(group(100, size))
    with pytest.raises(RequestError) as refused:
        table.service.roll(request, TENANT)
    error = refused.value
    assert (error.reason, error.limit, error.maximum, error.field) == (
        "LIMIT_EXCEEDED",
        "chain_bytes",
        CHAIN_BYTES,
        "checks[0]",
    )
    assert int(error.value) > CHAIN_BYTES
    assert "shorter names" in error.hint
    assert proofs_of(table.service) == proofs


def test_a_group_that_would_pass_the_limit_is_rolled_where_policies_decide() -> None:
    asking = group(100, 92)
    for member in asking.crossroads.group_roll.members:
        member.removal, member.change = CR.REMOVAL_POLICY_LOWEST, CR.CHANGE_POLICY_LOWEST
    Table().finish(asking)


@pytest.mark.parametrize(("members", "size", "advantage"), [(20, 20, 3), (40, 100, 3), (100, 20, 3)])
def test_an_ordinary_group_is_asked_everything(members: int, size: int, advantage: int) -> None:
    chain = FullTable().finish(group(members, size, advantage))
    assert len(chain) > 1
    assert not is_pending(chain[-1])


def test_what_is_thought_grows_with_the_session_that_every_record_repeats() -> None:
    check = group(6, 10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "MAX_CHAIN_BYTES", 0)
        with pytest.raises(RequestError) as refused:
            Table().roll(check)
    assert worst(check) - int(refused.value.value) >= 3 * 32 * 34
