"""Decisions that were taken in a roll, for people."""

from __future__ import annotations

from collections.abc import Iterable

from fairroll.replay import decided_words
from fairroll.v1 import roll_pb2


def decided_lines(decisions: Iterable[roll_pb2.Decision]) -> Iterable[str]:
    """Return a line for each that was taken."""
    for each in decisions:
        if each.option_id:
            yield decided_words(each.kind, each.actor, each.option_id, each.policy)
