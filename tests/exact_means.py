"""The mean of a notation's total from its exact odds, with what chains that are cut may still add to it."""

from fractions import Fraction

from fairroll.odds.quantities import quantities_of
from fairroll_rules.odds import distribution
from fairroll_rules.systems import notation
from fairroll_rules.systems.notation import NotationCheck

_CUT_GROWING, _CUT = Fraction(1, 10**7), Fraction(1, 10**4)
"""Where chains are cut that exact odds do not follow to the end: of explosions, whose totals are large, later."""


def mean_between(check: NotationCheck, *, cut: bool) -> tuple[Fraction, Fraction]:
    """Return the ends between which the mean lies: what was lost is worth something between the bounds.

    With `cut` the dice are walked through, for what is too much work for exact odds.
    """
    bounds = notation.program_of(check).bounds
    if cut:
        odds = distribution(notation.resolve, check, cut=_CUT_GROWING if bounds.grows else _CUT)
        kept = sum([(value.total or 0) * weight for value, weight in odds.weights.items()], Fraction())
        lost = odds.lost
    else:
        total = next(each for each in quantities_of(check) if each.name == "total")
        chances = total.exact()
        kept = sum([Fraction(value) * weight for value, weight in chances.weights.items()], Fraction()) / chances.total
        lost = chances.lost
    return kept + lost * bounds.minimum, kept + lost * bounds.maximum
