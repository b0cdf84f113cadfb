"""Checks and a proof's beta to outcomes: what the service runs to roll and a verifier to roll again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fairroll.convert import asks, decision_members, draw_members, outcome_members, pending_members
from fairroll.stream import Stream
from fairroll.v1 import roll_pb2
from fairroll_rules.decisions import OpenDecision
from fairroll_rules.dice import Draw
from fairroll_rules.limits import MAX_DRAWS
from fairroll_rules.outcome import Text, again_words, one_line
from fairroll_rules.replay import Replay
from fairroll_rules.resolve import Resolved, resolve
from fairroll_rules.systems import system_of, systems

PREVIEWED = "No guard: the decider could have previewed this answer."
"""What every tool says of an answer that was given without a guard."""
CITED = "what is taken from that receipt is proved by it, not by this one"


def engine_of(name: str) -> str:
    """Return a system with the version of its engine that runs here, such as `notation/1`."""
    return f"{name}/{systems()[name].ENGINE}"


def resolve_check(check: object, beta: bytes, index: int, draws_before: int, actor: str = "") -> Resolved:
    """Resolve one check of a root from its own stream; one that may ask stops at its questions.

    Args:
        check: of any system.
        beta: 64 bytes.
        index: the check's place in its record, from 0.
        draws_before: what the checks before it drew; the record's draws are shared in order.
        actor: the check's.
    """
    source, max_draws = Stream(beta, index).face, MAX_DRAWS - draws_before
    if asks(check):
        return Replay(check, max_draws, actor).go(source)
    return resolve(check, source, max_draws=max_draws, actor=actor)


def outcome_message(check: object, resolved: Resolved) -> roll_pb2.CheckOutcome:
    """Return what a record holds of a resolved check."""
    return roll_pb2.CheckOutcome(**whole_outcome_members(check, resolved))


def whole_outcome_members(check: object, resolved: Resolved) -> dict[str, Any]:
    """Return what a record holds of a resolved check, as a CheckOutcome's constructor takes it."""
    members: dict[str, Any] = {
        "engine": engine_of(system_of(check)),
        "status": roll_pb2.CHECK_STATUS_LIMIT_REACHED,
        "draws": draw_members(resolved.draws),
        "decisions": decision_members(resolved.decisions) if resolved.decisions else [],
    }
    if resolved.earlier:
        members["earlier_draws"] = draw_members(resolved.earlier)
    if resolved.pending:
        members["status"] = roll_pb2.CHECK_STATUS_PENDING
        members["decisions"] += pending_members(resolved.pending)
    elif resolved.limit_reached is None:
        members["status"] = roll_pb2.CHECK_STATUS_RESOLVED
        members |= outcome_members(check, resolved.outcome)
    return members


def text_message(
    check: object, resolved: Resolved, *, cites: Iterable[str] = (), previewed: bool = False
) -> roll_pb2.OutcomeText:
    """Return a resolved check in words, as `text_members` does."""
    return roll_pb2.OutcomeText(**text_members(check, resolved, cites=cites, previewed=previewed))


def text_members(
    check: object, resolved: Resolved, *, cites: Iterable[str] = (), previewed: bool = False
) -> dict[str, str]:
    """Return a resolved check in words.

    Args:
        check: of any system.
        resolved: what it came to.
        cites: digests of the receipts that it builds on: one who reads must not take their word as proved here.
        previewed: whether it is an answer that was given without a guard.
    """
    if resolved.pending:
        text = _pending_text(check, resolved)
    elif resolved.limit_reached is None:
        draws = (*resolved.earlier, *resolved.draws)
        text = systems()[system_of(check)].text(check, resolved.outcome, draws)
    else:
        line = f"No outcome: {resolved.limit_reached.message} ({len(resolved.draws)} draws)"
        text = Text(line, ())
    for digest in cites:
        text = Text(text.line, (*text.steps, f"Cites {digest}: {CITED}"))
    if previewed:
        text = Text(text.line, (*text.steps, PREVIEWED))
    return {"line": one_line(text.line), "plain": text.plain(), "markdown": text.markdown()}


def _pending_text(check: object, resolved: Resolved) -> Text:
    """Return what a roll waits for: the dice and decisions so far, and what there is to decide."""
    steps = so_far(check, resolved)
    waits = []
    for each in resolved.pending:
        kind = kind_words(each)
        waits.append(kind)
        options = "; ".join(f"{option.id}: {option.meaning}" for option in each.question.options)
        about = f"{each.about}; " if each.about else ""
        steps.append(f"{kind} ({each.id}): {about}the {each.question.who.value} decides: {options}")
    line = f"Waits for {', '.join(waits)}"
    if len(resolved.pending) == 1 and resolved.pending[0].about:
        line += f": {resolved.pending[0].about}"
    return Text(line, tuple(steps))


def so_far(check: object, resolved: Resolved) -> list[str]:
    """Return how a roll stands that waits: everyone's dice and what became of each, then the decisions."""
    rows = getattr(systems()[system_of(check)], "rows", _rows)
    lines = list(rows(check, (*resolved.earlier, *resolved.draws)))
    return lines + [decided_words(each.kind, each.actor, each.option, each.policy) for each in resolved.decisions]


def kind_words(decision: OpenDecision) -> str:
    """Return what waits, and for whom where anybody is named: such as `REMOVE of Orc`."""
    return f"{decision.question.kind} of {decision.actor}" if decision.actor else decision.question.kind


def _rows(_: object, draws: Sequence[Draw]) -> Iterable[str]:
    """Return everyone's dice, such as `Dice of Ann: d6=5, d6=2 rerolled into 4`."""
    dice: dict[str, list[str]] = {}
    for index, words in again_words(draws).items():
        dice.setdefault(draws[index].actor, []).append(f"d{draws[index].sides}={words}")
    return [f"Dice{f' of {actor}' if actor else ''}: {', '.join(faces)}" for actor, faces in dice.items()]


def decided_words(kind: str, actor: str, option: str, policy: str) -> str:
    """Return who or what chose which option, such as `decided REMOVE of Orc: REMOVE_2 (policy LOWEST)`."""
    by = f"policy {policy}" if policy else "answered"
    return f"decided {kind}{f' of {actor}' if actor else ''}: {option} ({by})"
