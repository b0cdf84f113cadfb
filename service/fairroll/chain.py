"""The chain of an answer: the receipts from its root to the one it continues, and the roll that they began.

The service follows it before it proves, a verifier in step 8; what is wrong is a RequestError to either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fairroll.convert import join_path, read_check, read_draws, request_error
from fairroll.errors import RequestError
from fairroll.v1 import roll_pb2, session_pb2
from fairroll_rules.errors import RuleError
from fairroll_rules.replay import Replay
from fairroll_rules.resolve import Resolved


@dataclass(frozen=True, slots=True)
class Parent:
    """A receipt of a chain, once its signature and its record were judged.

    Attributes:
        digest: what the answer calls it, 64 hex digits.
        record: what was signed.
    """

    digest: str
    record: roll_pb2.RollRecord

    @property
    def seq(self) -> int:
        """Its number in the session."""
        return self.record.request.seq

    @property
    def outcome(self) -> roll_pb2.CheckOutcome:
        """What its one check gave."""
        return self.record.outcomes[0]


def is_answer(request: roll_pb2.RollRequest) -> bool:
    """Whether a request, or that of a record, continues a roll."""
    return bool(request.root or request.continues or request.answers or request.chain)


def check_kind(request: roll_pb2.RollRequest) -> None:
    """Return if a request is a root, an answer or a close, and no mixture of them.

    Raises:
        RequestError: CONFLICT or REQUIRED.
    """
    answer = ("root", "continues", "answers", "chain")
    if request.close:
        _refuse(request, ("checks", "cited", *answer), "a close has neither checks nor answers")
    elif is_answer(request):
        _refuse(request, ("checks", "cited"), "an answer has no checks: its root has them")
        for name in ("root", "continues", "answers"):
            if not getattr(request, name):
                raise RequestError("REQUIRED", f"an answer names its {name}", field=name)


def check_links(request: roll_pb2.RollRequest, session: session_pb2.Session, parents: Sequence[Parent]) -> None:
    """Return if these receipts are the ones that an answer continues, and wait.

    Args:
        request: the answer's, as it stands in its record or with its chain.
        session: the answer's, as it is used.
        parents: root first.

    Raises:
        RequestError: REQUIRED, CHAIN_DIFFERS, BRANCH, PARENT_SESSION, CHAIN_ORDER, NOT_PENDING or ENGINE_DIFFERS.
    """
    if not parents:
        raise RequestError("REQUIRED", "an answer brings the receipts that it continues", field="chain")
    root = parents[0]
    if is_answer(root.record.request) or len(root.record.request.checks) != 1:
        raise RequestError("CHAIN_DIFFERS", "the first receipt of a chain asks one check", field="chain[0]")
    digests = [parent.digest for parent in parents]
    for index, parent in enumerate(parents):
        field = f"chain[{index}]"
        if parent.record.session != session:
            raise RequestError("PARENT_SESSION", "the receipt is of another session", field=field)
        if index:
            _check_link(parent.record.request, digests[:index], f"{field}.")
        following = parents[index + 1].seq if index + 1 < len(parents) else request.seq
        if following <= parent.seq:
            raise RequestError("CHAIN_ORDER", "an answer comes later than what it answers", field=field)
        if len(parent.record.outcomes) != 1 or parent.outcome.status != roll_pb2.CHECK_STATUS_PENDING:
            raise RequestError("NOT_PENDING", "the receipt waits for no decision", field=field, value=parent.digest)
        if parent.outcome.engine != root.outcome.engine:
            raise RequestError(
                "ENGINE_DIFFERS", "all receipts of a roll have one engine", field=field, value=parent.outcome.engine
            )
    _check_link(request, digests, "")


@dataclass(frozen=True, slots=True)
class Begun:
    """A roll as it stood after the last receipt of its chain.

    Attributes:
        check: what its root asked.
        replay: to go on with.
        segments: what the rules gave for each receipt.
    """

    check: Any
    replay: Replay
    segments: tuple[Resolved, ...]


def begin_again(parents: Sequence[Parent]) -> Begun:
    """Run the roll of a chain again, from the draws and answers that its receipts record.

    Raises:
        RequestError: the check, an answer or a draw is refused, or the roll did not stop there.
    """
    request = parents[0].record.request
    try:
        check = read_check(request.checks[0])
    except RequestError as error:
        error.field = join_path("chain[0].checks[0]", error.field)
        raise
    replay = Replay(check, actor=request.checks[0].actor)
    segments: list[Resolved] = []
    for index, parent in enumerate(parents):
        try:
            answers = read_answers(parent.record.request)
            segments.append(replay.feed(read_draws(parent.outcome.draws), answers))
        except RuleError as error:
            raise request_error(error, f"chain[{index}]") from error
        except RequestError as error:
            error.field = join_path(f"chain[{index}]", error.field)
            raise
        if not replay.pending:
            raise RequestError("NOT_PENDING", "the rules do not stop there", field=f"chain[{index}]")
    return Begun(check, replay, tuple(segments))


def read_answers(request: roll_pb2.RollRequest) -> dict[str, str]:
    """Return the answers of a request by the ids of their decisions.

    Raises:
        RequestError: CONFLICT, a decision is answered twice.
    """
    answers: dict[str, str] = {}
    for index, answer in enumerate(request.answers):
        if answer.decision_id in answers:
            raise RequestError(
                "CONFLICT",
                "the decision is answered twice",
                field=f"answers[{index}].decision_id",
                value=answer.decision_id,
            )
        answers[answer.decision_id] = answer.option_id
    return answers


def _check_link(request: roll_pb2.RollRequest, before: Sequence[str], prefix: str) -> None:
    """Compare what an answer names with the digests of the receipts before it, root first."""
    if request.root != before[0]:
        raise RequestError("CHAIN_DIFFERS", "another receipt is its root", field=f"{prefix}root", value=request.root)
    if request.continues != before[-1]:
        field = f"{prefix}continues"
        if request.continues in before:
            raise RequestError("BRANCH", "the receipt that it continues was answered already", field=field)
        raise RequestError("CHAIN_DIFFERS", "it continues another receipt", field=field, value=request.continues)


def _refuse(request: roll_pb2.RollRequest, names: Sequence[str], message: str) -> None:
    for name in names:
        if getattr(request, name):
            raise RequestError("CONFLICT", message, field=name)
