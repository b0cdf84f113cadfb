"""Odds of any notation: those from its tree equal those of its rules, path by path."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from fairroll.odds.chances import Chances, Work
from fairroll.odds.growth import UnsayableError
from fairroll.odds.labels import label_chances, label_totals
from fairroll.odds.quantities import quantities_of
from fairroll.odds.tree import TreeOdds
from fairroll_rules.errors import CheckError, LimitReached
from fairroll_rules.odds import distribution
from fairroll_rules.systems import notation
from fairroll_rules.systems.notation import NotationCheck, Variable
from tests.property.notations import EXPRESSIONS, LONG, VARIABLES

PATHS = 20_000 if LONG else 2_000
EXAMPLES = 5_000 if LONG else 250


def check_of(text: str) -> NotationCheck:
    """The check, if it would be rolled."""
    try:
        return NotationCheck(text, variables=tuple(Variable(name, value) for name, value in VARIABLES.items()))
    except CheckError:
        assume(False)
        raise


def exact(find: Callable[[], Any]) -> Any:  # noqa: ANN401  whatever it finds
    """What it finds, if that is little work."""
    try:
        return find()
    except LimitReached:
        assume(False)
        raise


def assert_alike(text: str, found: Chances, walked: Any, number: Callable[[Any], Any]) -> None:  # noqa: ANN401  odds of any value
    """Equal; where chains were cut, apart by no more than what both lost."""
    expected = walked.map(number)
    apart = found.lost + expected.lost
    for value in {*found.weights, *expected.weights}:
        own = Fraction(found.weights.get(value, 0), found.total)
        assert abs(own - expected.weights.get(value, Fraction(0))) <= apart, (text, value)
    assert found.kept <= found.total


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS)
def test_odds_from_the_tree_equal_those_of_the_rules(text: str) -> None:
    check = check_of(text)
    assume(notation.program_of(check).times is None)
    walked = exact(lambda: distribution(notation.resolve, check, budget=PATHS))
    found = {quantity.name: quantity for quantity in quantities_of(check)}
    for name in ("total", "successes", "failures"):
        if name in found:
            chances = exact(found[name].exact)
            assert_alike(text, chances, walked, attrgetter(name))


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS)
def test_labels_from_the_tree_equal_those_of_the_rules(text: str) -> None:
    check = check_of(text)
    program = notation.program_of(check)
    assume(program.times is None and program.labels)
    walked = exact(lambda: distribution(label_totals, program.runner, program.labels, budget=PATHS))
    work = Work()
    tree = TreeOdds(program.tree, VARIABLES, work)
    for place, label in enumerate(program.labels):
        try:
            chances = exact(partial(label_chances, tree, program.tree.root, label, work))
        except UnsayableError:
            continue
        assert_alike(text, chances, walked, itemgetter(place))
