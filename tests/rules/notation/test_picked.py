"""Dice of several pools that are chosen from together, `{3d6+1d8}kh4`: what they come to, and what is known before."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest

from fairroll.odds.quantities import quantities_of
from fairroll_rules.errors import CheckError
from fairroll_rules.given import GivenFaces
from fairroll_rules.notation import Dialect
from fairroll_rules.odds import distribution
from fairroll_rules.outcome import Fate
from fairroll_rules.resolve import resolve
from fairroll_rules.systems import notation
from fairroll_rules.systems.notation import NotationCheck, NotationOutcome

Worth = Callable[[int], int]


def rolled(text: str, faces: list[int]) -> NotationOutcome:
    given = GivenFaces(faces)
    outcome = resolve(NotationCheck(text, Dialect.RPG_DICE_ROLLER), given).outcome
    given.finish()
    assert isinstance(outcome, NotationOutcome)
    return outcome


COUNTED: list[tuple[str, list[int], int, int, int]] = [
    # The original's own totals; a die that is dropped counts nothing.
    ("{3d6>3+1d8}kh4", [2, 2, 5, 1], 2, 1, 0),
    ("{3d6>3f=1+1d8}kh4", [1, 4, 5, 8], 9, 2, 1),
    ("{3d6>3+1d8}kh2", [6, 5, 1, 4], 2, 2, 0),
    ("{3d6>3+1d8}dh1", [6, 5, 1, 4], 5, 1, 0),
    ("{1d6>3-1d8}kh1", [2, 5], -5, 0, 0),
    ("{2d6>3*1d4}kh2", [6, 5, 1], 0, 2, 0),
]


@pytest.mark.parametrize(("text", "faces", "total", "successes", "failures"), COUNTED, ids=[row[0] for row in COUNTED])
def test_pools_that_count_still_count(text: str, faces: list[int], total: int, successes: int, failures: int) -> None:
    found = rolled(text, faces)
    assert (found.total, found.successes, found.failures) == (total, successes, failures)


def test_dice_say_that_they_count_and_are_marked() -> None:
    found = rolled("{2d6>3+1d8cs=8}kh2", [5, 1, 8])
    assert [die.fates for die in found.dice] == [
        (Fate.KEPT, Fate.SUCCESS),
        (Fate.DROPPED,),
        (Fate.KEPT, Fate.CRITICAL),
    ]


@pytest.mark.parametrize(("text", "column"), [("{3d6>3+1d8}kh4", 12), ("{2d6mt+1d8}kh2", 12)])
def test_roll20_does_not_say_what_chosen_counts_are(text: str, column: int) -> None:
    with pytest.raises(CheckError) as caught:
        NotationCheck(text, Dialect.ROLL20)
    assert (caught.value.reason, caught.value.span and caught.value.span.start + 1) == ("COUNTED_ALREADY", column)


def above(point: int) -> Worth:
    return lambda face: int(face > point)


def itself(face: int) -> int:
    return face


WAYS: list[tuple[str, list[tuple[int, Worth]], int, int]] = [
    ("{3d6>3+1d8}kh4", [*[(6, above(3))] * 3, (8, itself)], 4, 0),
    ("{2d6>3+2d6>3}kh3", [(6, above(3))] * 4, 3, 0),
    ("{2d6>3+1d4>3}kh2+1", [*[(6, above(3))] * 2, (4, above(3))], 2, 1),
    ("{3d6+1d8}kh2", [*[(6, itself)] * 3, (8, itself)], 2, 0),
]  # fmt: skip


@pytest.mark.parametrize(("text", "dice", "keep", "shift"), WAYS, ids=[row[0] for row in WAYS])
def test_odds_are_those_of_every_way_to_fall(text: str, dice: list[tuple[int, Worth]], keep: int, shift: int) -> None:
    ways = list(product(*[range(1, sides + 1) for sides, _ in dice]))
    expected: dict[int, Fraction] = {}
    for faces in ways:
        kept = sorted(range(len(faces)), key=lambda index: -faces[index])[:keep]
        total = sum([dice[index][1](faces[index]) for index in kept]) + shift
        expected[total] = expected.get(total, Fraction()) + Fraction(1, len(ways))
    check = NotationCheck(text, Dialect.RPG_DICE_ROLLER)
    walked = distribution(notation.resolve, check).map(lambda value: value.total)
    chances = next(each for each in quantities_of(check) if each.name == "total").exact()
    told = {value: Fraction(weight, chances.total) for value, weight in chances.weights.items()}
    assert (dict(walked.weights), told) == (expected, expected)
    bounds = notation.program_of(check).bounds
    assert (bounds.minimum, bounds.maximum) == (min(expected), max(expected))


def test_each_die_is_one_draw_of_the_bound() -> None:
    text = f"{{{'+'.join(['1000d6'] * 6)}}}kh3"
    assert notation.program_of(NotationCheck(text, Dialect.ROLL20)).bounds.draws == 6_000
