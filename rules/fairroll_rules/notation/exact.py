"""Exact arithmetic: ints where whole, Fractions only where needed, floats nowhere."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import ceil, floor

from fairroll_rules.notation.dialects import Rounding
from fairroll_rules.notation.tree import Exact

HALF = Fraction(1, 2)


def plain(value: Exact) -> Exact:
    """Return the value as an int where it is whole."""
    return value.numerator if value.denominator == 1 else value


def divide(left: Exact, right: Exact) -> Exact:
    """Return left / right, exactly."""
    if isinstance(left, int) and isinstance(right, int):
        return Fraction(left, right) if left % right else left // right
    return plain(Fraction(left) / right)


def power(base: Exact, exponent: Exact) -> Exact:
    """Return base ^ exponent; the exponent is whole and not negative."""
    result: Exact = plain(base) ** int(exponent)
    return result


def half_up(value: Exact) -> int:
    """Return the nearest integer, a half up."""
    return value if isinstance(value, int) else floor(value + HALF)


def toward_zero(value: Exact) -> int:
    """Return the value with its fraction cut off."""
    return int(value)


ROUND: dict[Rounding, Callable[[Exact], int]] = {
    Rounding.DOWN: floor,
    Rounding.UP: ceil,
    Rounding.NEAREST: half_up,
    Rounding.TOWARD_ZERO: toward_zero,
}
"""How each rounding makes an integer."""

OPERATE: dict[str, Callable[[Exact, Exact], Exact]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": divide,
    "%": lambda left, right: left % right,
}
"""What the operators of a chain do. Modulo has the sign of the divisor."""

CALL: dict[str, Callable[..., Exact]] = {
    "floor": floor,
    "ceil": ceil,
    "round": half_up,
    "abs": abs,
    "min": lambda *values: min(values),  # of one value, too
    "max": lambda *values: max(values),
}
"""What the functions do."""

_HELD_BY: dict[str, Callable[[Exact, Exact], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    ">": operator.lt,
    "<": operator.gt,
    ">=": operator.le,
    "<=": operator.ge,
}


def tester(sign: str, point: Exact) -> Callable[[Exact], bool]:
    """Return what tells whether a value holds at a compare point: `>` holds where the point is less than the value."""
    return partial(_HELD_BY[sign], point)
