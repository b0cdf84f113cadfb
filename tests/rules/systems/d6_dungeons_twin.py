"""D6 Dungeons once more, slow and obvious, written from the page alone: every roll counted."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

FACES = range(1, 7)


def skill_roll(skill: int, modifier: int, use: str, extra: int = 0) -> dict[tuple[int, ...], Fraction]:
    """Total, highest die, ones, those added, saved and given, and their chance."""
    odds: dict[tuple[int, ...], Fraction] = {}
    for roll in product(FACES, repeat=skill):
        # "compare the highest number rolled": put it apart, then look at the others.
        dice = sorted(roll)
        ones = dice.count(1)
        highest = dice.pop()
        total = highest + modifier + extra
        added = saved = given = 0
        if use == "ADD":
            added = dice.count(1)
        elif use == "SAVE":
            saved = ones
        else:
            given = ones
        key = total + added, highest, ones, added, saved, given
        odds[key] = odds.get(key, Fraction(0)) + Fraction(1, 6**skill)
    return odds


def team_roll(members: Sequence[tuple[int, int]]) -> dict[tuple[int, ...], Fraction]:
    """The total of a team of (dice, modifier), its highest, its ones and those added, and their chance."""
    owners = [modifier for count, modifier in members for _ in range(count)]
    odds: dict[tuple[int, ...], Fraction] = {}
    for roll in product(FACES, repeat=len(owners)):
        dice = list(zip(roll, owners, strict=True))
        # Whichever die is taken as the highest, the 1s of all the others are added to it.
        top = max(face + modifier for face, modifier in dice)
        total = max(
            top + sum(1 for other, (other_face, _) in enumerate(dice) if other != at and other_face == 1)
            for at, (face, modifier) in enumerate(dice)
            if face + modifier == top
        )
        key = total, top, roll.count(1), total - top
        odds[key] = odds.get(key, Fraction(0)) + Fraction(1, 6 ** len(owners))
    return odds
