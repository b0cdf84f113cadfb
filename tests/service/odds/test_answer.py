"""What an answer says, and what is refused: the limits and errors of a roll, and those of odds by name and value."""

from fractions import Fraction
from typing import Any

import pytest

from fairroll.errors import RequestError
from fairroll.odds import chances
from fairroll.odds.answer import MAX_FRACTION_DIGITS, MAX_ODDS_BYTES, decimal_digits
from tests.service.odds.known import answer, quantity_of, weights_of

BEYOND = {"meidlands": {"opposedRoll": {"attacker": {"pool": 4, "modifiers": [4]}, "defender": {"pool": 4}}}}


@pytest.fixture
def small_budget(monkeypatch: pytest.MonkeyPatch) -> int:
    """A budget that is used up at once; the service's own is seen through the doors."""
    monkeypatch.setattr(chances, "MAX_WORK", 1_000)
    return 1_000


def refused(check: dict[str, Any] | str, **more: Any) -> RequestError:  # noqa: ANN401  any JSON
    with pytest.raises(RequestError) as caught:
        answer(check, **more)
    return caught.value


def test_mean_variance_and_quantiles_of_two_dice() -> None:
    total = answer("2d6").odds.quantities[0]
    assert (total.mean.exact, total.variance.exact) == ("7", "35/6")
    assert {each.percent: each.value for each in total.quantiles} == {
        1: 2, 5: 3, 10: 4, 25: 5, 50: 7, 75: 9, 90: 10, 95: 11, 99: 12,
    }  # fmt: skip
    assert [each.at_least.exact for each in total.values][-3:] == ["1/6", "1/12", "1/36"]
    assert total.lost.exact == "0"
    assert not total.HasField("estimate")


def test_what_is_needed() -> None:
    """1d20+5 shows 15 or more on 10..20: 11 of 20; for 75% the die must do with 6 and more, 4 less."""
    target = answer("1d20+5", at_least=15).target
    assert (target.quantity, target.at_least, target.chance.exact) == ("total", 15, "11/20")
    assert {each.percent: each.bonus for each in target.needed} == {50: -1, 75: 4, 90: 7, 100: 9}


def test_two_checks_against_each_other() -> None:
    """Of two equal dice each is higher in 15 of 36."""
    compared = answer("1d6", against="1d6").comparison
    assert (compared.higher.exact, compared.equal.exact, compared.lower.exact) == ("5/12", "1/6", "5/12")
    both = answer("4d6kh3", against="3d6")
    mine, theirs = (weights_of(check.quantities[0]) for check in (both.odds, both.against))
    higher = sum([a * b for x, a in mine.items() for y, b in theirs.items() if x > y])
    assert Fraction(both.comparison.higher.exact) == higher


def test_the_quantity_that_was_asked_for_stands_first() -> None:
    check = {"crossroads": {"skillRoll": {"statistic": 2, "advantage": 1}}}
    answered = answer(check, quantity="critical", at_least=1)
    assert answered.odds.quantities[0].name == answered.target.quantity == "critical"
    error = refused(check, quantity="crit")
    assert (error.reason, error.field, error.value) == ("QUANTITY_UNKNOWN", "quantity", "crit")
    assert "critical" in error.expected


@pytest.mark.usefixtures("small_budget")
def test_what_is_beyond_the_budget_is_estimated_and_says_so() -> None:
    one, again = (answer(BEYOND, rolls=2_000, seed=7) for _ in range(2))
    assert one == again
    other = answer(BEYOND, rolls=2_000, seed=8)
    quantity = one.odds.quantities[0]
    estimate = quantity.estimate
    assert (estimate.rolls, estimate.seed, estimate.confidence_percent) == (2_000, 7, 95)
    assert estimate.mean.low < quantity.mean.value < estimate.mean.high
    assert "too much work" in estimate.why
    for value in quantity.values:
        assert value.interval.low < value.chance.value < value.interval.high
    assert weights_of(quantity) != weights_of(quantity_of(other.odds, quantity.name))


def test_estimates_can_be_refused(small_budget: int) -> None:
    error = refused(BEYOND, refuse_estimates=True)
    assert (error.reason, error.limit, error.maximum, error.field) == (
        "LIMIT_EXCEEDED",
        "odds_work",
        small_budget,
        "check",
    )


def test_fractions_of_too_many_digits_are_refused() -> None:
    error = refused("(600d19997>=19990)%2+(400d19997>=19990)%2")
    assert (error.reason, error.limit, error.maximum) == ("LIMIT_EXCEEDED", "fraction_digits", MAX_FRACTION_DIGITS)
    assert int(error.value) > MAX_FRACTION_DIGITS


def test_digits_are_counted_as_they_are_written() -> None:
    numbers = [1, 9, 10, 11, 99, 100, 2**64 - 1, 2**64, 10**300 - 1, 10**300, 10**4000 - 1, 10**4000]
    assert [decimal_digits(each) for each in numbers] == [len(str(each)) for each in numbers]


def test_what_is_too_long_together_is_estimated_like_what_is_too_long_alone() -> None:
    """901 values with fractions of 900 digits each: once they fit into 4 MB, not twice; no failures are one value."""
    told = answer("900d10>=8", rolls=200)
    assert [each.HasField("estimate") for each in told.odds.quantities] == [False, True, False]
    assert told.ByteSize() <= MAX_ODDS_BYTES
    error = refused("900d10>=8", refuse_estimates=True)
    assert (error.reason, error.limit, error.maximum) == ("LIMIT_EXCEEDED", "odds_bytes", MAX_ODDS_BYTES)
    assert int(error.value) > MAX_ODDS_BYTES


def test_dice_that_are_rolled_again_for_certain_are_estimated() -> None:
    """Of a hundred dice many find every face from 4 on taken: each is rolled to the limit, unless it falls below."""
    check = {"notation": {"text": "100d8u>=4", "dialect": "DIALECT_RPG_DICE_ROLLER"}}
    assert "number of draws" in answer(check, rolls=100).odds.quantities[0].estimate.why


def test_a_die_of_too_many_faces_is_refused_by_that_name() -> None:
    assert len(answer("1d20000", refuse_estimates=True).odds.quantities[0].values) == 20_000
    error = refused("1d20001", refuse_estimates=True)
    assert (error.limit, error.maximum, error.value) == ("odds_values", 20_000, "20001")


def test_ask_has_no_odds() -> None:
    error = refused({"crossroads": {"skillRoll": {"advantage": 1, "removal": "REMOVAL_POLICY_ASK"}}})
    assert (error.reason, error.field) == ("DECISION_OPEN", "check.crossroads.skill_roll.removal")
    error = refused("1d6", against={"crossroads": {"skillRoll": {"change": "CHANGE_POLICY_ASK"}}})
    assert error.field == "against.crossroads.skill_roll.change"


@pytest.mark.parametrize(
    ("check", "reason", "field"),
    [
        ({}, "REQUIRED", "check.system"),
        ("4d6kh3(", "NOTATION_SYNTAX", "check.notation.text"),
        ("1d1!", "NEVER_ENDS", "check.notation.text"),
        ({"crossroads": {"skillRoll": {"statistic": 1000}}}, "OUT_OF_RANGE", "check.crossroads.skill_roll.statistic"),
    ],
)
def test_what_a_roll_refuses_is_refused(check: dict[str, Any] | str, reason: str, field: str) -> None:
    error = refused(check)
    assert (error.reason, error.field) == (reason, field)


def test_rolls_of_a_simulation_are_bounded() -> None:
    error = refused("1d6", rolls=99)
    assert (error.reason, error.field, error.minimum, error.value) == ("OUT_OF_RANGE", "rolls", 100, "99")
    error = refused({"notation": {"text": "{1000d6!,1000d8!}kl1"}}, rolls=200_000)
    assert (error.reason, error.limit) == ("LIMIT_EXCEEDED", "simulated_draws")


@pytest.mark.parametrize(
    "text",
    ["20d6!", "1d2!", "3d6!p>=4", "10d4!!kh5", "8d6!kh3", "1d10!>=3", "1d6!>1", "6d6!+1d6!>1", "30d6!", "2d6!r<=2"],
)
def test_what_cut_chains_lose_is_stated_and_small(text: str) -> None:
    total = answer(text, refuse_estimates=True).odds.quantities[0]
    lost = Fraction(total.lost.exact)
    assert sum(weights_of(total).values()) + lost + Fraction(total.limit_reached.exact) == 1
    assert 0 <= lost < Fraction(1, 10**12)


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("1d6!>1", Fraction(5, 6)),
        ("1d10!>=3", Fraction(8, 10)),
        ("1d6!!>1", Fraction(5, 6)),
        ("1d20rr<20", Fraction(19, 20)),
    ],
)
def test_rolls_that_end_in_a_limit_are_stated_exactly(text: str, again: Fraction) -> None:
    """The first roll and 100 more all ask for another."""
    total = answer(text, refuse_estimates=True).odds.quantities[0]
    assert Fraction(total.limit_reached.exact) == again**101
    assert total.lost.exact == "0"


def test_a_limit_on_one_part_is_one_on_the_whole() -> None:
    total = answer("2d6!>1+1d4+1d8!>2", refuse_estimates=True).odds.quantities[0]
    kept = (1 - Fraction(5, 6) ** 101) ** 2 * (1 - Fraction(6, 8) ** 101)
    assert Fraction(total.limit_reached.exact) == 1 - kept
    assert total.lost.exact == "0"


@pytest.mark.parametrize("text", ["900d12!>1", "1000d20!>2", "100x{10d20!>1}"])
def test_odds_of_rolls_that_may_use_up_all_draws_are_estimates(text: str) -> None:
    error = refused(text, refuse_estimates=True)
    assert (error.reason, error.limit, error.maximum) == ("LIMIT_EXCEEDED", "draws", 10_000)
    total = answer(text, rolls=100).odds.quantities[0]
    assert "number of draws" in total.estimate.why
    # By chance, or hardly ever: some of these rolls came to nothing.
    assert total.limit_reached.value > 0
