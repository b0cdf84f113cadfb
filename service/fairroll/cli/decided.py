"""Decisions that were taken in a roll, for people."""

from __future__ import annotations

from collections.abc import Iterable

from fairroll.v1 import roll_pb2


def decided_lines(decisions: Iterable[roll_pb2.Decision]) -> Iterable[str]:
    """Return who or what chose which option, such as `decided REMOVE of Orc: REMOVE_2 (policy LOWEST)`."""
    for decision in decisions:
        if decision.option_id:
            of = f" of {decision.actor}" if decision.actor else ""
            by = f"policy {decision.policy}" if decision.policy else "answered"
            yield f"decided {decision.kind}{of}: {decision.option_id} ({by})"
