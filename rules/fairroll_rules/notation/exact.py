"""Exact arithmetic: ints where whole, Fractions only where needed, floats nowhere."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import ceil, floor, isqrt

from fairroll_rules.notation.dialects import Rounding
from fairroll_rules.notation.tree import Exact

HALF = Fraction(1, 2)

AWAY = "round away"
"""What `round` is in the tree where a half goes away from zero and the number can be negative."""


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


def half_away(value: Exact) -> int:
    """Return the nearest integer, a half away from zero."""
    return half_up(value) if value >= 0 else -half_up(-value)


def toward_zero(value: Exact) -> int:
    """Return the value with its fraction cut off."""
    return int(value)


def remainder(left: Exact, right: Exact) -> Exact:
    """Return what is left of a division whose quotient is cut off."""
    return plain(left - right * int(divide(left, right)))


def sign_of(value: Exact) -> int:
    """Return -1, 0 or 1."""
    return (value > 0) - (value < 0)


def root_of(value: Exact) -> Exact | None:
    """Return the square root, None where it is not an exact number."""
    if value < 0:
        return None
    root = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return plain(root) if root * root == value else None


def known_root(value: Exact) -> Exact:
    """Return the square root of a square."""
    root = root_of(value)
    if root is None:
        raise AssertionError("what has no exact root is refused before the roll")
    return root


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
    "rem": remainder,
}
"""What the operators of a chain do. Modulo has the sign of the divisor, rem that of what is divided."""

CALL: dict[str, Callable[..., Exact]] = {
    "floor": floor,
    "ceil": ceil,
    "round": half_up,
    AWAY: half_away,
    "abs": abs,
    "sign": sign_of,
    "trunc": toward_zero,
    "sqrt": known_root,
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


def _compared(sign: str, left: Exact, right: Exact) -> int:
    return int(_HELD_BY[sign](right, left))


COMPARE: dict[str, Callable[[Exact, Exact], Exact]] = {sign: partial(_compared, sign) for sign in _HELD_BY}
"""1 where a comparison of totals holds, else 0."""


def tester(sign: str, point: Exact) -> Callable[[Exact], bool]:
    """Return what tells whether a value holds at a compare point: `>` holds where the point is less than the value."""
    return partial(_HELD_BY[sign], point)
