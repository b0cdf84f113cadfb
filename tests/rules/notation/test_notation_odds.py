"""Exact odds of notation against an enumeration by hand that shares no code with it."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import factorial

import pytest

from fairroll_rules.odds import distribution
from fairroll_rules.systems import notation
from tests.rules.notation.rolling import check

Weights = dict[int, Fraction]


def odds(text: str) -> tuple[Weights, Fraction]:
    found = distribution(notation.resolve, check(text))
    totals = found.map(lambda value: 0 if value.total is None else value.total)
    return dict(totals.weights), totals.lost


def enumerated(sides: list[int], worth: Callable[[tuple[int, ...]], int]) -> Weights:
    """Every way in which dice with these sides can fall, one by one."""
    counted = Counter(worth(faces) for faces in product(*[range(1, each + 1) for each in sides]))
    ways = sum(counted.values())
    return {value: Fraction(count, ways) for value, count in counted.items()}


def summed(left: Weights, right: Weights) -> Weights:
    both: Weights = {}
    for a, weight_a in left.items():
        for b, weight_b in right.items():
            both[a + b] = both.get(a + b, Fraction(0)) + weight_a * weight_b
    return both


EXACT: list[tuple[str, list[int], Callable[[tuple[int, ...]], int]]] = [
    ("4d6kh3", [6] * 4, lambda faces: sum(faces) - min(faces)),
    ("2d20kl1", [20] * 2, min),
    ("4dF", [3] * 4, lambda faces: sum(faces) - 8),
    ("{2d20, 1d12}kh1", [20, 20, 12], lambda faces: max(faces[0] + faces[1], faces[2])),
    ("4d10>=8f1", [10] * 4, lambda faces: sum(face >= 8 for face in faces) - faces.count(1)),
    ("5d6dh1dl1", [6] * 5, lambda faces: sum(faces) - max(faces) - min(faces)),
    ("3d6max4min2", [6] * 3, lambda faces: sum(min(max(face, 2), 4) for face in faces)),
    ("2d6ro1kh1", [6] * 4, lambda faces: max(faces[2 * (faces[0] == 1)], faces[1 + 2 * (faces[1] == 1)])),
    ("2d6!o", [6] * 4, lambda faces: faces[0] + faces[1] + faces[2] * (faces[0] == 6) + faces[3] * (faces[1] == 6)),
    ("1d20+2d6*2-1d4", [20, 6, 6, 4], lambda faces: faces[0] + 2 * (faces[1] + faces[2]) - faces[3]),
    ("max(1d6, 1d8)/2", [6, 8], lambda faces: max(faces) // 2),
    ("1d4%3^(1d2)", [4, 2], lambda faces: faces[0] % 3 ** faces[1]),
    ("9d3", [3] * 9, sum),
    ("9d3>=3", [3] * 9, lambda faces: faces.count(3)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sides", "worth"), EXACT, ids=[row[0] for row in EXACT])
def test_the_whole_distribution_equals_every_way_to_fall(
    text: str, sides: list[int], worth: Callable[[tuple[int, ...]], int]
) -> None:
    weights, lost = odds(text)
    assert lost == 0
    assert weights == enumerated(sides, worth)


def test_ten_d10_count_as_a_sum_of_ten_dice() -> None:
    one = {1: Fraction(3, 10), 0: Fraction(6, 10), -1: Fraction(1, 10)}
    expected: Weights = {0: Fraction(1)}
    for _ in range(10):
        expected = summed(expected, one)
    assert odds("10d10>=8f1") == (expected, Fraction(0))


def test_successes_and_failures_are_known_together() -> None:
    found = distribution(notation.resolve, check("3d10>=8f1")).weights
    for successes, failures in product(range(4), range(4)):
        neither = 3 - successes - failures
        if neither >= 0:
            orders = 6 // (factorial(successes) * factorial(failures) * factorial(neither))
            value = notation.NotationValue(successes - failures, successes, failures, ())
            assert found[value] == Fraction(orders * 3**successes * 6**neither, 1000)
    assert len(found) == 10


def test_a_count_that_is_rolled_mixes_pools() -> None:
    expected: Weights = {}
    for count in range(1, 5):
        for value, weight in enumerated([6] * count, sum).items():
            expected[value] = expected.get(value, Fraction(0)) + weight / 4
    assert odds("(1d4)d6") == (expected, Fraction(0))


def test_exploding_dice_by_their_own_law() -> None:
    one = {6 * chain + face: Fraction(1, 6 ** (chain + 1)) for chain in range(30) for face in range(1, 6)}
    three = summed(summed(one, one), one)
    weights, lost = odds("3d6!")
    assert 0 < lost < Fraction(1, 10**14)
    assert sum(weights.values(), lost) == 1
    for value in range(3, 40):
        assert abs(weights[value] - three[value]) <= lost
    mean = sum([value * weight for value, weight in weights.items()])
    assert abs(mean - Fraction(126, 10)) < Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("text", "mean"),
    [
        ("4d6kh3", Fraction(15869, 1296)),
        ("2d20kh1", Fraction(553, 40)),
        ("2d20kl1", Fraction(287, 40)),
        ("40d6", Fraction(140)),
        ("1d20+1d4/2", Fraction(21, 2) + Fraction(0 + 1 + 1 + 2, 4)),
    ],
)
def test_exact_means(text: str, mean: Fraction) -> None:
    weights, lost = odds(text)
    assert lost == 0
    assert sum([value * weight for value, weight in weights.items()]) == mean
