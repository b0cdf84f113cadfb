"""The exact odds of a check, as the places of its values on 0..1: what lets different rolls be pooled.

The values of a check stand in one order, by their numbers from the first on; the first is the result or the total.
A value of chance c with chance b below it covers b..b+c. Whatever the check, a number drawn uniformly from what the
outcome covers is uniform on 0..1 (the randomised probability integral transform; Brockwell 2007).
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from fairroll.convert import read_check
from fairroll.v1 import roll_pb2
from fairroll_rules.errors import RuleError
from fairroll_rules.odds import distribution
from fairroll_rules.systems import system_of, systems

WORK = 20_000
"""How much work a check is worth, of the rules' own measure: a fraction of a second."""
MAX_LOST = 1e-9
"""Odds that lose more than this to chains that were cut are not used."""
MAX_VALUES = 20_000

Row = tuple[str, int, float, float]
"""A value as JSON, its place in order, the chance of what is below it, and its own."""


def check_of(body: bytes) -> roll_pb2.Check:
    """Return the check that `judging.Value` has as bytes: the system's name, a space, its message."""
    system, _, message = body.partition(b" ")
    check = roll_pb2.Check()
    arm = getattr(check, system.decode())
    arm.SetInParent()
    arm.MergeFromString(message)
    return check


def odds_rows(task: tuple[bytes, bytes]) -> tuple[bytes, list[Row]]:
    """Return the key of a check with the rows of its values; none where its odds are not found exactly here."""
    key, body = task
    check = read_check(check_of(body))
    try:
        odds = distribution(systems()[system_of(check)].resolve, check, budget=WORK)
    except RuleError:
        return key, []
    if odds.lost > MAX_LOST or len(odds.weights) > MAX_VALUES:
        return key, []
    rows: list[Row] = []
    below = 0.0
    for place, value in enumerate(sorted(odds.weights, key=_order)):
        chance = float(odds.weights[value])
        rows.append((json.dumps(value, separators=(",", ":")), place, min(1.0, below), chance))
        below += chance
    return key, rows


def _order(value: object) -> tuple[object, ...]:
    """Return what values are compared by: numbers in turn, nothing before any number."""
    if isinstance(value, Iterable):
        return (1, *map(_order, value))
    return (0,) if value is None else (0, value)
