"""The Meidlands without walking through both pools: of a pool only its highest die and what lies above a face counts.

It answers where no die is rerolled before the winner stands and no point is left after: a side's modifier is 0, or it
is a bonus that the side never uses.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import comb

from fairroll_rules.odds import Odds
from fairroll_rules.systems.meidlands import (
    CRITICAL_DICE,
    MANY_SUCCESSES,
    SIDES,
    OpposedRoll,
    OpposedValue,
    PickPolicy,
    RerollPolicy,
    Side,
    TieRule,
    Winner,
    best_pair,
    is_double,
    is_hard,
    notation,
    pool_of,
)

FACES = range(1, SIDES + 1)

Pair = tuple[int, int]

STRUCK_WAYS = SIDES ** (CRITICAL_DICE + 1)
"""Ways of the most dice that a hit rolls for its damage."""

_NOTHING: dict[int | None, int] = {None: STRUCK_WAYS}
"""No damage."""


def odds(check: OpposedRoll) -> Odds[OpposedValue] | None:
    """Return the exact odds of a check, or None where rerolls may change the dice."""
    if not (_still(check.attacker) and _still(check.defender)):
        return None
    if check.damage and check.pick is PickPolicy.ASK:
        return None
    attacker, defender = pool_of(check.attacker).dice, pool_of(check.defender).dice
    # Critical dice that mean the same are one case.
    mine = _alike(lambda pair: (is_double(pair), is_hard(pair), pair if check.damage else ()))
    theirs = _alike(lambda pair: (is_double(pair), is_hard(pair), _absorbed(check, pair)))
    counted: dict[OpposedValue, int] = {}
    for hard, their_hard in product((False, True), repeat=2):
        net = _net(attacker, defender, hard=hard, their_hard=their_hard)
        for (own, own_ways), (other, other_ways) in product(mine, theirs):
            if is_hard(own) != hard or is_hard(other) != their_hard:
                continue
            struck = {fierce: _struck(check, own, fierce=fierce) for fierce in (False, True)} if check.damage else {}
            for successes, ways in net.items():
                bases = struck.get(successes >= MANY_SUCCESSES, _NOTHING) if successes > 0 else _NOTHING
                for base, share in bases.items():
                    value = _value(check, successes, own, other, base)
                    counted[value] = counted.get(value, 0) + ways * own_ways * other_ways * share
    total = SIDES ** (attacker + defender + 2 * CRITICAL_DICE) * STRUCK_WAYS
    return Odds({value: Fraction(weight, total) for value, weight in counted.items()}, Fraction(0))


def _still(side: Side) -> bool:
    modifier = pool_of(side).modifier
    return modifier == 0 or (modifier > 0 and side.rerolls is RerollPolicy.NEVER)


def _alike(meaning: Callable[[Pair], object]) -> list[tuple[Pair, int]]:
    """Return two critical dice, sorted, for each meaning, and in how many orders all of that meaning can fall."""
    first: dict[object, Pair] = {}
    ways: dict[object, int] = {}
    for one, other in product(FACES, repeat=CRITICAL_DICE):
        pair = (min(one, other), max(one, other))
        means = meaning(pair)
        first.setdefault(means, pair)
        ways[means] = ways.get(means, 0) + 1
    return [(first[means], ways[means]) for means in first]


def _net(attacker: int, defender: int, *, hard: bool, their_hard: bool) -> dict[int, int]:
    """Return in how many ways of both pools each number of net successes comes: "who has the highest pool die"."""
    ways: dict[int, int] = {}

    def count(net: int, weight: int) -> None:
        if weight:
            ways[net] = ways.get(net, 0) + weight

    for face in FACES:
        # Both have this face as their highest: the difference of their numbers, a hard critical's die included.
        for mine, theirs in product(range(1, attacker + 1), range(1, defender + 1)):
            both = _exactly(attacker, mine, face) * _exactly(defender, theirs, face)
            count(mine + hard - theirs - their_hard, both)
        # One is lower, with this face as its highest.
        for net, weight in _over(attacker, face, defender, extra=hard, level=their_hard).items():
            count(net, weight)
        for net, weight in _over(defender, face, attacker, extra=their_hard, level=hard).items():
            count(-net, weight)
    return ways


def _over(higher: int, face: int, lower: int, *, extra: bool, level: bool) -> dict[int, int]:
    """Return the net successes of a pool over another whose highest die shows `face`.

    `extra`: the winning pool has a hard critical's die, of its own highest face. `level`: the other pool has that die,
    and so the same highest face, once.
    """
    ways: dict[int, int] = {}
    least = _below(lower, face + 1) - _below(lower, face)
    if level:
        for top in range(face + 1, SIDES + 1):
            for many in range(1, higher + 1):
                net = many + extra - 1
                ways[net] = ways.get(net, 0) + least * _exactly(higher, many, top)
        return ways
    for many in range(1, higher + 1):
        above = comb(higher, many) * (SIDES - face) ** many * face ** (higher - many)
        net = many + extra
        ways[net] = ways.get(net, 0) + least * above
    return ways


def _exactly(dice: int, many: int, face: int) -> int:
    """Return in how many ways so many of the dice show the face and all others less."""
    ways: int = (face - 1) ** (dice - many)
    return comb(dice, many) * ways


def _below(dice: int, face: int) -> int:
    """Return in how many ways all dice show less than the face."""
    ways: int = (face - 1) ** dice
    return ways


def _absorbed(check: OpposedRoll, theirs: Pair) -> int:
    return notation(check.armour).worth(theirs) if check.armour else 0


def _struck(check: OpposedRoll, mine: Pair, *, fierce: bool) -> dict[int | None, int]:
    """Return what the critical dice of a hit deal, out of STRUCK_WAYS.

    Both are rerolled after a hard critical, and there is one more after a fierce strike.
    """
    weapon = notation(check.damage)
    kept = () if is_hard(mine) else mine
    more = CRITICAL_DICE * is_hard(mine) + fierce
    dealt: dict[int | None, int] = {}
    for new in product(FACES, repeat=more):
        base = weapon.worth(best_pair(tuple(sorted((*kept, *new))), weapon))
        dealt[base] = dealt.get(base, 0) + STRUCK_WAYS // SIDES**more
    return dealt


def _value(check: OpposedRoll, net: int, mine: Pair, theirs: Pair, base: int | None) -> OpposedValue:
    winner = Winner.ATTACKER if net > 0 else Winner.DEFENDER
    if net == 0 and check.ties is TieRule.PARTIAL:
        winner = Winner.NEITHER
    criticals = (is_double(mine), is_hard(mine), is_double(theirs), is_hard(theirs))
    if base is None:
        return OpposedValue(winner.value, net, *criticals, 0, 0, 0)
    maximum = notation(check.damage).on_double if is_hard(mine) else 0
    damage, absorbed = maximum + base + check.attribute_modifier, _absorbed(check, theirs)
    return OpposedValue(winner.value, net, *criticals, damage, absorbed, max(damage - absorbed, 0))
