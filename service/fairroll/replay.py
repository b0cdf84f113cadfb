"""Checks and a proof's beta to outcomes: what the service runs to roll and a verifier to roll again."""

from __future__ import annotations

from typing import Any

from fairroll.convert import decision_members, draw_members, outcome_members
from fairroll.stream import Stream
from fairroll.v1 import roll_pb2
from fairroll_rules.limits import MAX_DRAWS
from fairroll_rules.outcome import Text
from fairroll_rules.resolve import Resolved, resolve
from fairroll_rules.systems import system_of, systems


def engine_of(name: str) -> str:
    """Return a system with the version of its engine that runs here, such as `notation/1`."""
    return f"{name}/{systems()[name].ENGINE}"


def resolve_check(check: object, beta: bytes, index: int, draws_before: int) -> Resolved:
    """Resolve one check of a record from its own stream.

    Args:
        check: of any system.
        beta: 64 bytes.
        index: the check's place in its record, from 0.
        draws_before: what the checks before it drew; the record's draws are shared in order.
    """
    return resolve(check, Stream(beta, index).face, max_draws=MAX_DRAWS - draws_before)


def outcome_message(check: object, resolved: Resolved) -> roll_pb2.CheckOutcome:
    """Return what a record holds of a resolved check."""
    members: dict[str, Any] = {
        "engine": engine_of(system_of(check)),
        "status": roll_pb2.CHECK_STATUS_LIMIT_REACHED,
        "draws": draw_members(resolved.draws),
        "decisions": decision_members(resolved.decisions),
    }
    if resolved.limit_reached is None:
        members["status"] = roll_pb2.CHECK_STATUS_RESOLVED
        members |= outcome_members(check, resolved.outcome)
    return roll_pb2.CheckOutcome(**members)


def text_message(check: object, resolved: Resolved) -> roll_pb2.OutcomeText:
    """Return a resolved check in words."""
    if resolved.limit_reached is None:
        text = systems()[system_of(check)].text(check, resolved.outcome)
    else:
        line = f"No outcome: {resolved.limit_reached.message} ({len(resolved.draws)} draws)"
        text = Text(line, ())
    return roll_pb2.OutcomeText(line=text.line, plain=text.plain(), markdown=text.markdown())
