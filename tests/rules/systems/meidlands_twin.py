"""The Meidlands once more, slow and plain, from the original's text and our rulings: the judge of the rule's code.

Lists of numbers, no sorting, no shared code; `roll(n)` gives n faces. Only the policies that need no person.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import factorial

from fairroll_rules.systems.meidlands import OpposedRoll, PenaltyPolicy, RerollPolicy, Side, TieRule

Roll = Callable[[int], list[int]]


@dataclass
class Hand:
    pool: list[int]
    red: list[int]
    points: int


def check_of(side: Side) -> tuple[int, int]:
    dice, modifier = side.pool, sum(side.modifiers)
    if dice == 0:
        dice, modifier = 1, modifier - 3
    for _ in range(side.exchange):
        dice, modifier = dice + 1, modifier - 4
    for _ in range(-side.exchange):
        dice, modifier = dice - 1, modifier + 4
    modifier = min(modifier, 6)
    modifier = max(modifier, -3)
    return dice, modifier


def throw(roll: Roll, side: Side) -> Hand:
    dice, modifier = check_of(side)
    hand = Hand(roll(dice), roll(2), modifier)
    while hand.points < 0:
        hand.points += 1
        high_first = side.penalties is PenaltyPolicy.HIGHEST
        for face in (6, 5) if high_first else (5, 6):
            if face in hand.pool:
                hand.pool[hand.pool.index(face)] = roll(1)[0]
                break
            if face in hand.red:
                hand.red[hand.red.index(face)] = roll(1)[0]
                break
    return hand


def score(a: Hand, d: Hand) -> int:
    best = max(a.pool + d.pool)
    mine = a.pool + ([best] if a.red == [6, 6] else [])
    theirs = d.pool + ([best] if d.red == [6, 6] else [])
    if max(mine) == max(theirs):
        return mine.count(max(mine)) - theirs.count(max(theirs))
    if max(mine) > max(theirs):
        return len([face for face in mine if face > max(theirs)])
    return -len([face for face in theirs if face > max(mine)])


def wants(hand: Hand, side: Side, *, wins: bool, uses: bool, red_only: bool) -> tuple[str, int] | None:
    if hand.points < 1 or side.rerolls is RerollPolicy.NEVER:
        return None
    if not wins:
        for face in (1, 2):
            if face in hand.pool:
                return "pool", face
        for face in (1, 2):
            if face in hand.red:
                return "red", face
        return None
    if (uses or red_only) and len(set(hand.red)) == len(hand.red):
        for face in (1, 2):
            if face in hand.red:
                return "red", face
    return None


def take_turns(roll: Roll, check: OpposedRoll, a: Hand, d: Hand, *, red_only: bool = False) -> None:
    uses = check.uses_critical_dice or check.damage != ""
    in_a_row = 0
    attackers_turn = True
    while in_a_row < 2:
        hand, side = (a, check.attacker) if attackers_turn else (d, check.defender)
        attacker_wins = score(a, d) > 0
        wins = red_only or (attacker_wins if attackers_turn else not attacker_wins)
        wanted = wants(hand, side, wins=wins, uses=uses, red_only=red_only)
        if wanted is None:
            in_a_row += 1
        else:
            in_a_row = 0
            dice = hand.pool if wanted[0] == "pool" else hand.red
            dice[dice.index(wanted[1])] = roll(1)[0]
            hand.points -= 1
        attackers_turn = not attackers_turn


def worth(written: str, one: int, other: int) -> int:
    before, after = written.split("/")
    if one == other:
        return int(after)
    value = {"A": [0, 0, 0, 2, 2, 3, 3, 4, 4, 5, 5, 6][one + other], "L": min(other, one)}[before[0]]
    if before[1:] and value > int(before[1:]):
        return int(before[1:])
    return value


def play(roll: Roll, check: OpposedRoll) -> tuple[int, ...]:
    a = throw(roll, check.attacker)
    d = throw(roll, check.defender)
    take_turns(roll, check, a, d)
    net = score(a, d)
    partial = net == 0 and check.ties is TieRule.PARTIAL
    winner = 1 if net > 0 else 3 if partial else 2
    shown = [int(d_[0] == d_[1]) for d_ in (a.red, d.red)], [int(d_ == [6, 6]) for d_ in (a.red, d.red)]
    damage = absorbed = final = 0
    if winner == 1 and check.damage:
        hard, fierce = a.red == [6, 6], net >= 3
        if hard:
            damage += int(check.damage.split("/")[1])
            a.red = roll(2)
        if fierce:
            a.red = a.red + roll(1)
        if hard or fierce:
            take_turns(roll, check, a, d, red_only=True)
        choices = [(0, 1)] if len(a.red) == 2 else [(0, 1), (0, 2), (1, 2)]
        damage += max(worth(check.damage, a.red[i], a.red[j]) for i, j in choices)
        damage += check.attribute_modifier
        absorbed = worth(check.armour, d.red[0], d.red[1]) if check.armour else 0
        final = damage - absorbed if damage > absorbed else 0
    return (winner, net, shown[0][0], shown[1][0], shown[0][1], shown[1][1], damage, absorbed, final)


class Explorer:
    """Plays every way the dice can fall; n dice of one roll are a multiset, weighted by its orders."""

    def __init__(self) -> None:
        self.path: list[tuple[list[tuple[list[int], int]], int]] = []
        self.at = self.dice = 0
        self.orders = 1

    def roll(self, count: int) -> list[int]:
        if self.at == len(self.path):
            self.path.append((ways(count), 0))
        choices, chosen = self.path[self.at]
        faces, orders = choices[chosen]
        self.at += 1
        self.orders *= orders
        self.dice += count
        return list(faces)

    def all(self, play_once: Callable[[Roll], tuple[int, ...]]) -> dict[tuple[int, ...], Fraction]:
        counted: dict[tuple[tuple[int, ...], int], int] = {}
        while True:
            self.at, self.orders, self.dice = 0, 1, 0
            value = play_once(self.roll)
            counted[value, self.dice] = counted.get((value, self.dice), 0) + self.orders
            while self.path and self.path[-1][1] + 1 == len(self.path[-1][0]):
                self.path.pop()
            if not self.path:
                break
            self.path[-1] = (self.path[-1][0], self.path[-1][1] + 1)
        weights: dict[tuple[int, ...], Fraction] = {}
        for (value, dice), orders in counted.items():
            weights[value] = weights.get(value, Fraction(0)) + Fraction(orders, 6**dice)
        return weights


@cache
def ways(count: int) -> list[tuple[list[int], int]]:
    """Return each multiset of faces, and in how many orders it can fall."""
    found = []
    for faces in combinations_with_replacement(range(1, 7), count):
        orders = factorial(count)
        for face in set(faces):
            orders //= factorial(faces.count(face))
        found.append((list(faces), orders))
    return found


def exact(check: OpposedRoll) -> dict[tuple[int, ...], Fraction]:
    """Return the odds of every value of a check."""
    return Explorer().all(lambda roll: play(roll, check))


def faces_of(source: Callable[[int], int]) -> Roll:
    """Return a roll of d6 from a source of single faces."""
    return lambda count: [source(6) for _ in range(count)]
