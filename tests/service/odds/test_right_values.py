"""Whole distributions against closed forms, published numbers, icepool used directly, and every way to fall."""

import os
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import comb, sqrt
from random import Random
from typing import Any

import icepool
import pytest

from fairroll import json_codec
from fairroll.convert import read_check
from fairroll.odds.quantities import quantities_of
from fairroll.v1 import roll_pb2
from fairroll_rules.resolve import resolve
from fairroll_rules.simulate import random_faces
from tests.service.odds.known import Weights, answer, as_weights, exact_of, json_text, quantity_of, summed, total_of

LONG = bool(os.environ.get("FAIRROLL_LONG"))
NOTHING = Fraction(0)
"""What is lost where odds are exact to the end."""


def fallen(sides: list[int], worth: Callable[[tuple[int, ...]], int]) -> Weights:
    """Every way in which dice with these sides can fall, one by one."""
    counted = Counter(worth(faces) for faces in product(*[range(1, each + 1) for each in sides]))
    ways = sum(counted.values())
    return {value: Fraction(count, ways) for value, count in counted.items()}


# Closed forms


def test_4d6kh3_is_the_published_table() -> None:
    """The ways out of 1,296, as in every handbook on rolling characters."""
    ways = [1, 4, 10, 21, 38, 62, 91, 122, 148, 167, 172, 160, 131, 94, 54, 21]
    assert total_of("4d6kh3") == (
        dict(zip(range(3, 19), (Fraction(each, 1296) for each in ways), strict=True)),
        NOTHING,
    )
    total = quantity_of(answer("4d6kh3").odds, "total")
    assert (total.mean.exact, total.mean.value) == ("15869/1296", 15869 / 1296)


def test_2d20kl1() -> None:
    """P(lowest = k) = ((21 - k)^2 - (20 - k)^2) / 400."""
    expected = {k: Fraction((21 - k) ** 2 - (20 - k) ** 2, 400) for k in range(1, 21)}
    assert total_of("2d20kl1") == (expected, NOTHING)


def test_3d6_exploding_is_the_sum_of_geometric_chains() -> None:
    """One die: P(6k + f) = 6^-(k+1) for f = 1..5; mean 21/5 and variance 266/25."""
    one = {6 * chain + face: Fraction(1, 6 ** (chain + 1)) for chain in range(24) for face in range(1, 6)}
    expected = summed([one] * 3)
    weights, lost = total_of("3d6!")
    assert 0 < lost < Fraction(1, 10**12)
    assert sum(weights.values()) + lost == 1
    left_out = 1 - sum(expected.values())
    assert set(weights) <= set(expected)
    for value, chance in expected.items():
        assert abs(weights.get(value, Fraction(0)) - chance) <= lost + left_out
    total = quantity_of(answer("3d6!").odds, "total")
    assert abs(total.mean.value - 3 * 21 / 5) < 1e-9
    assert abs(total.variance.value - 3 * 266 / 25) < 1e-9


def test_dice_that_compound_and_then_explode_end_below_what_explodes() -> None:
    """Every chain of a d4 ends with 1, 2 or 3, and what stands before is 4 and more: two lowest of even thirds."""
    weights, lost = total_of("2d4!!!kl1")
    assert lost < Fraction(1, 10**12)
    for value, chance in {1: Fraction(5, 9), 2: Fraction(3, 9), 3: Fraction(1, 9)}.items():
        assert 0 <= chance - weights[value] <= lost


def test_10d10_successes_and_ones_are_multinomial() -> None:
    expected: Weights = {}
    for successes in range(11):
        for ones in range(11 - successes):
            ways = comb(10, successes) * comb(10 - successes, ones) * 3**successes * 6 ** (10 - successes - ones)
            net = successes - ones
            expected[net] = expected.get(net, Fraction(0)) + Fraction(ways, 10**10)
    assert total_of("10d10>=8f1") == (expected, NOTHING)
    found = exact_of("10d10>=8f1")
    binomial = {k: Fraction(comb(10, k) * 3**k * 7 ** (10 - k), 10**10) for k in range(11)}
    assert as_weights(found["successes"]) == binomial
    assert as_weights(found["failures"]) == {k: Fraction(comb(10, k) * 9 ** (10 - k), 10**10) for k in range(11)}


def test_4dF_is_trinomial() -> None:
    """The ways out of 81."""
    ways = [1, 4, 10, 16, 19, 16, 10, 4, 1]
    assert total_of("4dF") == (dict(zip(range(-4, 5), (Fraction(each, 81) for each in ways), strict=True)), NOTHING)


def test_a_rolled_count_mixes_pools() -> None:
    expected: Weights = {}
    for count in range(1, 5):
        for value, chance in fallen([6] * count, sum).items():
            expected[value] = expected.get(value, Fraction(0)) + chance / 4
    assert total_of("(1d4)d6") == (expected, NOTHING)


def test_the_higher_of_two_totals() -> None:
    expected = fallen([20, 20, 12], lambda faces: max(faces[0] + faces[1], faces[2]))
    assert total_of("{2d20,1d12}kh1") == (expected, NOTHING)


def test_a_cap_ends_a_chain_exactly() -> None:
    def worth(faces: tuple[int, ...]) -> int:
        return faces[0] + (faces[1] + (faces[2] if faces[1] == 6 else 0) if faces[0] == 6 else 0)

    assert total_of("1d6!~2") == (fallen([6] * 3, worth), NOTHING)


def test_labels_and_repeats() -> None:
    found = exact_of("1d20+5+2d6[fire]-1d4[cold]")
    assert as_weights(found["label:fire"]) == fallen([6, 6], sum)
    assert as_weights(found["label:cold"]) == fallen([4], sum)
    repeated = exact_of("6x{4d6kh3}")
    one = as_weights(repeated["result"])
    assert one == total_of("4d6kh3")[0]
    up_to = {value: sum([chance for other, chance in one.items() if other <= value]) for value in one}
    assert as_weights(repeated["highest"]) == {
        value: up_to[value] ** 6 - up_to.get(value - 1, Fraction(0)) ** 6 for value in one
    }


def test_a_label_that_may_be_dropped_comes_to_nothing_then() -> None:
    found = exact_of("{1d6[fire],1d4}kh1")
    expected = fallen([6, 4], lambda faces: faces[0] if faces[0] >= faces[1] else 0)
    assert as_weights(found["label:fire"]) == expected


def test_criticals_and_fumbles_are_dice_that_count_and_show_the_face() -> None:
    assert as_weights(exact_of("1d20cs>=19")["critical"]) == {0: Fraction(9, 10), 1: Fraction(1, 10)}
    found = exact_of("2d20kh1cs>=19cf")
    # The higher one is 19 or 20; and it is 1 where both are.
    assert as_weights(found["critical"]) == fallen([20, 20], lambda faces: max(faces) >= 19)
    assert as_weights(found["fumble"]) == fallen([20, 20], lambda faces: faces == (1, 1))
    assert as_weights(exact_of("3d6cs")["critical"]) == fallen([6] * 3, lambda faces: faces.count(6))
    assert as_weights(exact_of("3d6min3cs=3")["critical"]) == fallen([6] * 3, lambda faces: faces.count(3))
    # A total that is dropped takes its marks along.
    marked = exact_of("{1d6cs,1d4cs}kh1")["critical"]
    assert as_weights(marked) == fallen([6, 4], lambda faces: faces[0] == 6 if faces[0] >= faces[1] else faces[1] == 4)
    assert "critical" not in exact_of("1d20")


def test_of_equal_values_the_die_drawn_first_is_kept_with_its_mark() -> None:
    found = exact_of("2d6kh1min3cs=1")["critical"]
    expected = fallen([6, 6], lambda faces: faces[0] == 1 and faces[1] <= 3)
    assert as_weights(found) == expected


def test_rounding_is_the_checks_own() -> None:
    half = fallen([6], lambda faces: -(-faces[0] // 2))
    request = {"notation": {"text": "1d6/2", "rounding": "ROUNDING_UP"}}
    total = answer(request).odds.quantities[0]
    assert {each.value: Fraction(each.chance.exact) for each in total.values} == half


# icepool, used directly: what it is asked here shares nothing with how notation is compiled

D4, D6, D8, D10, D12, D20 = (icepool.d(sides) for sides in (4, 6, 8, 10, 12, 20))

ICEPOOL: list[tuple[str, Any]] = [
    ("4d6kh3", D6.highest(4, 3)),
    ("2d20kl1", D20.lowest(2)),
    ("20d6kh10", D6.highest(20, 10)),
    ("5d6dh1dl1", D6.pool(5)[1:-1].sum()),
    ("7d10kl4", D10.lowest(7, 4)),
    ("10d10>=8f1", 10 @ D10.map(lambda face: (face >= 8) - (face == 1))),
    ("6d10>=10:2>=7", 6 @ D10.map(lambda face: 2 if face == 10 else face >= 7)),
    ("4dF", 4 @ icepool.Die([-1, 0, 1])),
    ("(1d4)d6", D4 @ D6),
    ("(1d4)d6kh2", icepool.Die([D6.highest(count, 2) for count in range(1, 5)])),
    ("{2d20,1d12}kh1", icepool.highest(2 @ D20, D12)),
    ("{3d6,2d8,1d20}kl1", icepool.lowest(3 @ D6, 2 @ D8, D20)),
    ("2d20kh1+1d4+3", D20.highest(2) + D4 + 3),
    ("3d6*2-1d8", 2 * (3 @ D6) - D8),
    ("4d6ro=1kh3", D6.reroll([1], depth=1).highest(4, 3)),
    ("4d6rr<3", 4 @ D6.reroll([1, 2], depth="inf")),
    ("3d6min3max5", 3 @ D6.clip(3, 5)),
    ("4d6!~3", 4 @ D6.explode(depth=3)),
    ("4d6!!~2kh2", D6.explode(depth=2).highest(4, 2)),
    ("max(1d6,1d8,2)", icepool.highest(D6, D8, icepool.Die([2]))),
    ("1d20%6", D20 % 6),
    ("100d6", 100 @ D6),
]


@pytest.mark.parametrize(("text", "die"), ICEPOOL, ids=[text for text, _ in ICEPOOL])
def test_icepool_says_the_same(text: str, die: Any) -> None:  # noqa: ANN401  its types are its own
    expected = {int(value): Fraction(weight, die.denominator()) for value, weight in die.items()}
    assert total_of(text) == (expected, NOTHING)


# What has no closed form: the same rules, rolled

SIMULATED: list[tuple[str, Any]] = [
    ("exploding dice, the highest kept", {"notation": {"text": "4d6!kh3"}}),
    ("unlike dice", {"notation": {"text": "4d6u"}}),
    ("unlike dice, once", {"notation": {"text": "4d6uo"}}),
    ("compound, penetrating", {"notation": {"text": "3d6!!p~4>=5"}}),
    ("a group with an exploding one", {"notation": {"text": "{1d6!,1d8[fire]}kh1"}}),
    ("a rolled number of sides", {"notation": {"text": "2d(1d4+2)kh1"}}),
    ("criticals of dice that explode", {"notation": {"text": "4d6!kh3cs>=5cf"}}),
    ("bursts without their lowest", {"notation": {"text": "6d10!dl2"}}),
    ("bursts without their highest", {"notation": {"text": "5d6!dh2"}}),
    ("two kinds of explosion", {"notation": {"text": "4d6e1e6", "dialect": "DIALECT_AVRAE"}}),
    ("explosions that reroll", {"notation": {"text": "5d6!r<=2kh3", "dialect": "DIALECT_RPG_DICE_ROLLER"}}),
    ("unlike dice of some faces", {"notation": {"text": "6d6u>2", "dialect": "DIALECT_RPG_DICE_ROLLER"}}),
    ("unlike dice with a least value", {"notation": {"text": "4d6min2u", "dialect": "DIALECT_RPG_DICE_ROLLER"}}),
    ("dice of two pools together", {"notation": {"text": "{4d6+3d8+2}kh4", "dialect": "DIALECT_ROLL20"}}),
    (
        "dice of two pools together, of which some explode",
        {"notation": {"text": "{3d6!+2d8}kh3", "dialect": "DIALECT_ROLL20"}},
    ),
    ("as many as an inline roll says", {"notation": {"text": "6d6kh([[1d4]])+[[1d6]]", "dialect": "DIALECT_ROLL20"}}),
    ("values that dice share", {"notation": {"text": "10d8mt3", "dialect": "DIALECT_ROLL20"}}),
    ("dice that count for what they are", {"notation": {"text": "8d6even", "dialect": "DIALECT_FOUNDRY"}}),
    ("dice sieved by their values", {"notation": {"text": "8d6k>4", "dialect": "DIALECT_FOUNDRY"}}),
    (
        "Crossroads, a Change and a Peril Die",
        {"crossroads": {"skillRoll": {"disadvantage": 1, "change": "CHANGE_POLICY_LOWEST", "perilDie": {}}}},
    ),
    (
        "D6 Dungeons, a team",
        {"d6Dungeons": {"teamRoll": {"difficulty": 9, "members": [{"name": "a", "skill": 3}, {"name": "b"}]}}},
    ),
    ("MSF High, exploding", {"msfHigh": {"skillRoll": {"skill": 5, "statistic": 12, "target": 9}}}),
    (
        "Fortune and Doom",
        {"fortuneDoom": {"resolutionRoll": {"advantage": True, "fear": True, "hope": True, "condition": True}}},
    ),
    (
        "The Meidlands",
        {"meidlands": {"opposedRoll": {"attacker": {"pool": 3}, "defender": {"pool": 2}, "damage": "A/12"}}},
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "body"), SIMULATED, ids=[name for name, _ in SIMULATED])
def test_exact_odds_are_what_simulated_rolls_come_to(name: str, body: dict[str, Any]) -> None:
    """A million rolls in the long run; every cell of every quantity within five standard deviations."""
    rolls = 1_000_000 if LONG else 8_000
    check = read_check(json_codec.from_value(roll_pb2.Check, json_codec.parse(json_text(body))))
    quantities = quantities_of(check)
    counted: list[Counter[int]] = [Counter() for _ in quantities]
    source = random_faces(Random(name).randrange)
    for _ in range(rolls):
        resolved = resolve(check, source)
        for counter, quantity in zip(counted, quantities, strict=True):
            counter[quantity.read(resolved.value, resolved.outcome)] += 1
    for counter, quantity in zip(counted, quantities, strict=True):
        exact = as_weights(quantity.exact())
        assert set(counter) <= set(exact), quantity.name
        for value, chance in exact.items():
            # A cell that is expected less than once comes a handful of times at most.
            allowed = 5 * sqrt(float(chance * (1 - chance)) / rolls) + 5 / rolls
            assert abs(counter[value] / rolls - chance) <= allowed, (quantity.name, value)
