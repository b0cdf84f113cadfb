"""Crossroads MVP once more, slow and obvious, written from the page and its tables alone: every roll counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import product

FACES = range(1, 7)
NAMES = {-1: "Miss", 0: "Weak Hit", 1: "Hit", 2: "Strong Hit"}
# The chart, written out: every total that three dice and a statistic of -3..5 can make.
CHART = (
    dict.fromkeys(range(-10, 8), -1)
    | dict.fromkeys(range(8, 12), 0)
    | dict.fromkeys(range(12, 16), 1)
    | dict.fromkeys(range(16, 40), 2)
)
# Peril Die, the table with its line breaks undone: statistic to (Hit, Strong Hit).
PERIL_TABLE = {-2: (0, 0), -1: (1, 0), 0: (2, 0), 1: (3, 0), 2: (4, 1), 3: (5, 2), 4: (6, 3)}

Kept = tuple[int, int, int]
Side = tuple[int, bool, int, int]
"""Success Value, a six among the final dice, Temporary Fate Dice, total."""
Value = tuple[int, int, int, int, bool, int, int]
"""Result, difference, both Success Values, critical, total, Temporary Fate Dice."""


@cache
def kept_rolls(net: int) -> Mapping[Kept, int]:
    """Every roll of 3 and |net| dice, by the three that stay; Advantage loses the lowest, Disadvantage the highest."""
    ways: Counter[Kept] = Counter()
    for roll in product(FACES, repeat=3 + abs(net)):
        ordered = sorted(roll, reverse=net > 0)
        ways[ordered[0], ordered[1], ordered[2]] += 1
    return ways


def effect(kept: Kept) -> tuple[str, bool]:
    face, count = Counter(kept).most_common(1)[0]
    if count == 1:
        return "", False
    return {1: "misstep", 6: "fateful"}.get(face, "change"), count == 3


def success_value(kept: Kept, statistic: int) -> int:
    value = CHART[sum(kept) + statistic]
    name, _ = effect(kept)
    if name == "misstep" and value > -1:
        value -= 1
    if name == "fateful" and value < 2:
        value += 1
    return value


def ends(kept: Kept, *, reroll_lowest: bool) -> Iterator[tuple[Kept, int, Fraction]]:
    """The final dice, the Temporary Fate Dice and their chance, with or without the reroll of a Change."""
    name, triple = effect(kept)
    if name != "change" or not reroll_lowest:
        yield kept, int(triple), Fraction(1)
        return
    _, middle, high = sorted(kept)
    for face in FACES:
        after = (face, middle, high)
        yield after, int(triple or effect(after)[1]), Fraction(1, 6)


@cache
def side(net: int, statistic: int, *, reroll_lowest: bool = False) -> Mapping[Side, Fraction]:
    odds: dict[Side, Fraction] = {}
    whole = 6 ** (3 + abs(net))
    for kept, ways in kept_rolls(net).items():
        for final, fate_dice, chance in ends(kept, reroll_lowest=reroll_lowest):
            key = success_value(final, statistic), 6 in final, fate_dice, sum(final) + statistic
            odds[key] = odds.get(key, Fraction(0)) + Fraction(ways, whole) * chance
    return odds


def value(own: Side, opposing: int) -> Value:
    difference = own[0] - opposing
    result = sorted((-1, difference, 2))[1]
    return result, difference, own[0], opposing, own[1] and result >= 1, own[3], own[2]


def against_value(own: Mapping[Side, Fraction], opposing: int) -> dict[Value, Fraction]:
    odds: dict[Value, Fraction] = {}
    for each, chance in own.items():
        key = value(each, opposing)
        odds[key] = odds.get(key, Fraction(0)) + chance
    return odds


def against_roll(own: Mapping[Side, Fraction], other: Mapping[Side, Fraction]) -> dict[Value, Fraction]:
    odds: dict[Value, Fraction] = {}
    for (mine, chance), (theirs, other_chance) in product(own.items(), other.items()):
        key = value(mine, theirs[0])
        odds[key] = odds.get(key, Fraction(0)) + chance * other_chance
    return odds


def peril_value(face: int, opponent: int, moved: int) -> int:
    hit, strong = PERIL_TABLE[opponent]
    if strong + moved > 0 and face <= strong + moved and opponent + moved >= 2:
        return 2
    return 1 if opponent == 4 or face <= hit + moved else 0


@cache
def peril_ends(net: int, *, reroll_lowest: bool) -> Mapping[tuple[Kept, int, int], Fraction]:
    """Every roll, the Peril Die first, by the final dice, the Temporary Fate Dice and the face that is read.

    The Peril Die is read even where it goes, is the last of equals to go, and is read anew if it is rerolled.
    """
    odds: dict[tuple[Kept, int, int], Fraction] = {}
    for roll in product(FACES, repeat=3 + abs(net)):
        marked = [(face, place == 0) for place, face in enumerate(roll)]
        if net > 0:
            marked.sort(key=lambda die: (die[0], die[1]))
        else:
            marked.sort(key=lambda die: (-die[0], die[1]))
        (low, low_is_peril), (middle, _), (high, _) = sorted(marked[abs(net) :])
        name, triple = effect((low, middle, high))
        rerolls = FACES if name == "change" and reroll_lowest else (low,)
        for new in rerolls:
            # The lowest; of equals one that is not the Peril Die, which sorts behind them.
            peril = new if low_is_peril and name == "change" and reroll_lowest else roll[0]
            final = (new, middle, high)
            key = final, int(triple or effect(final)[1]), peril
            odds[key] = odds.get(key, Fraction(0)) + Fraction(1, 6 ** len(roll) * len(rerolls))
    return odds


def with_peril(net: int, statistic: int, opponent: int, moved: int, *, reroll_lowest: bool) -> dict[Value, Fraction]:
    odds: dict[Value, Fraction] = {}
    for (final, fate_dice, peril), chance in peril_ends(net, reroll_lowest=reroll_lowest).items():
        own = success_value(final, statistic), 6 in final, fate_dice, sum(final) + statistic
        key = value(own, peril_value(peril, opponent, moved))
        odds[key] = odds.get(key, Fraction(0)) + chance
    return odds


def group_result(values: list[int]) -> tuple[list[int], int]:
    """Cancel with the cards on the table, one Miss after another."""
    left = sorted(values)
    while -1 in left and 1 in left:
        left.remove(-1)
        left.remove(1)
    while -1 in left and 2 in left:
        left.remove(-1)
        if -1 in left:
            left.remove(-1)
        left.remove(2)
    if -1 in left:
        return left, -1
    most = max((left.count(each) for each in left), default=0)
    return left, max((each for each in left if left.count(each) == most), default=0)


def group(sides: list[Mapping[Side, Fraction]]) -> dict[int, Fraction]:
    odds: dict[int, Fraction] = {}
    for members in product(*[side_odds.items() for side_odds in map(by_value, sides)]):
        _, result = group_result([each for each, _ in members])
        chance = Fraction(1)
        for _, one in members:
            chance *= one
        odds[result] = odds.get(result, Fraction(0)) + chance
    return odds


def by_value(side_odds: Mapping[Side, Fraction]) -> dict[int, Fraction]:
    odds: dict[int, Fraction] = {}
    for (success, *_), chance in side_odds.items():
        odds[success] = odds.get(success, Fraction(0)) + chance
    return odds
