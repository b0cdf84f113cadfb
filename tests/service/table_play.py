"""A table that plays a session: rolls, answers and closes, each at the next seq, as people send them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from fairroll import replay, roll
from fairroll.bundle import Bundle
from fairroll.receipt import read_envelope
from fairroll.roll import Roller
from fairroll.v1 import crossroads_pb2, envelope_pb2, notation_pb2, roll_pb2, session_pb2
from tests.service.rolling import TENANT, epoch_keys, roller, service_keys

CR = crossroads_pb2.CrossroadsCheck


def group(*names: str, zero: bool = False) -> roll_pb2.Check:
    """A Crossroads group whose members are asked about their Changes."""
    members = [CR.Member(name=name, change=CR.CHANGE_POLICY_ASK) for name in names]
    asked = CR.GroupRoll(mode=CR.GROUP_MODE_ALL_TOGETHER, members=members)
    if zero:
        asked.zero_result = CR.ZERO_RESULT_POLICY_ASK
    return roll_pb2.Check(crossroads=crossroads_pb2.CrossroadsCheck(group_roll=asked), label="climb")


def remove() -> roll_pb2.Check:
    """A Crossroads skill roll that always asks: which die Advantage removes."""
    skill = CR.SkillRoll(
        advantage=1,
        removal=CR.REMOVAL_POLICY_ASK,
        change=CR.CHANGE_POLICY_ASK,
        zero_result=CR.ZERO_RESULT_POLICY_ASK,
    )
    return roll_pb2.Check(crossroads=crossroads_pb2.CrossroadsCheck(skill_roll=skill), actor="Ann")


@dataclass
class Table:
    """One session.

    Attributes:
        service: who rolls.
        name: the session's table.
        receipts: the answers so far; the seq of the next is their number.
    """

    service: Roller = field(default_factory=roller)
    name: str = "table-42"
    receipts: list[roll_pb2.RollResponse] = field(default_factory=list)

    def request(self) -> roll_pb2.RollRequest:
        """The frame of the next request."""
        seq = len(self.receipts)
        session = session_pb2.Session(table=self.name, vrf_key_id=epoch_keys().vrf_key_id)
        return roll_pb2.RollRequest(
            session=session, seq=seq, previous=self.receipts[-1].digest if self.receipts else ""
        )

    def send(self, request: roll_pb2.RollRequest) -> roll_pb2.RollResponse:
        """Roll, and keep the receipt."""
        self.receipts.append(self.service.roll(request, TENANT))
        return self.receipts[-1]

    def roll(self, check: roll_pb2.Check | None = None) -> roll_pb2.RollResponse:
        """Roll a check, or some dice."""
        request = self.request()
        request.checks.append(check or roll_pb2.Check(notation=notation_pb2.NotationCheck(text="d20")))
        return self.send(request)

    def answering(self, chain: Sequence[roll_pb2.RollResponse], option: int = 0) -> roll_pb2.RollRequest:
        """The request that answers everything that waits in the last of `chain`, with each one's option number."""
        request = self.request()
        request.root, request.continues = chain[0].digest, chain[-1].digest
        request.chain.extend(each.envelope for each in chain)
        for decision in waiting(chain[-1]):
            chosen = decision.options[option % len(decision.options)]
            request.answers.add(decision_id=decision.id, option_id=chosen.id)
        return request

    def finish(self, check: roll_pb2.Check, option: int = 0) -> list[roll_pb2.RollResponse]:
        """Roll a check and answer until nothing waits."""
        chain = [self.roll(check)]
        while is_pending(chain[-1]):
            chain.append(self.send(self.answering(chain, option)))
        return chain


def waiting(response: roll_pb2.RollResponse) -> list[roll_pb2.Decision]:
    """The decisions that wait."""
    return [each for each in response.record.outcomes[0].decisions if each.options]


def is_pending(response: roll_pb2.RollResponse) -> bool:
    """Whether a roll waits."""
    return response.record.outcomes[0].status == roll_pb2.CHECK_STATUS_PENDING


def bundle(*chain: roll_pb2.RollResponse) -> Bundle:
    """The last receipt with those before it."""
    *parents, last = [read_envelope(each.envelope) for each in chain]
    return Bundle(last, tuple(parents), service_keys().envelope)


def envelopes(*responses: roll_pb2.RollResponse) -> list[envelope_pb2.Envelope]:
    """Their envelopes."""
    return [each.envelope for each in responses]


def falling(faces: Iterator[int], patch: pytest.MonkeyPatch) -> None:
    """Let dice show these faces, one after another, in place of what the proofs give."""

    class Scripted:
        def __init__(self, _: bytes, __: int) -> None: ...

        def face(self, sides: int) -> int:
            return (next(faces) - 1) % sides + 1

    patch.setattr(roll, "Stream", Scripted)
    patch.setattr(replay, "Stream", Scripted)
