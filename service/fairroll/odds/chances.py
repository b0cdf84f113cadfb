"""Chances in whole numbers: values with weights over one total, of which a part may be lost.

Sums are found by multiplying large integers, each holding one weight in every so many bits: that is the one
convolution which Python does at the speed of C, and it is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, gcd, lcm, log, prod
from typing import Any, TypeVar

from fairroll_rules.errors import LimitReached
from fairroll_rules.notation.tree import Exact

V = TypeVar("V")

NOTHING = Fraction(0)

MAX_WORK = 250_000
"""Paths of the rules, or as much other work, for the odds of one check: about two seconds. Beyond it they are
simulated."""

MAX_VALUES = 20_000
"""Values that one quantity may have."""

_MOST_BITS = 12_000_000
"""Bits of an integer that holds the weights of a sum: a multiplication of two takes about two seconds."""
_MOST_BITS_WORK = 325_000
"""What that multiplication costs, in paths of the rules. Python multiplies by Karatsuba: others by that power."""
FAR = 1e-15
"""The chance of sums that are left out where chains of explosions were cut already."""
_LEANS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2)
"""Where that bound is tried, in parts of what one value mostly is."""
_KARATSUBA = 1.585
_FEW = 4
"""Values with which every other one is paired sooner than multiplied."""
_PAIRS = 16
"""Pairs of values for the price of one path of the rules: each costs an operation and an addition."""


class Work:
    """What may still be spent on the odds of one check, in paths of the rules."""

    def __init__(self) -> None:
        self.left = float(MAX_WORK)

    def spend(self, amount: float) -> None:
        """Use up some of it.

        Raises:
            LimitReached: `odds_work`, so much is not left.
        """
        if amount > self.left:
            raise too_much()
        self.left -= amount


@dataclass(frozen=True, slots=True)
class Chances:
    """The weight of each value; what is missing to `total` is lost.

    `ended` is how much of it is lost to limits of the rules, which leave a roll without a value; the rest was cut.
    """

    weights: Mapping[Exact, int]
    total: int
    ended: Fraction = NOTHING

    @property
    def kept(self) -> int:
        """The weight of all values together."""
        return sum(self.weights.values())

    @property
    def lost(self) -> Fraction:
        """The chance that no value stands for."""
        return Fraction(self.total - self.kept, self.total)

    def map(self, function: Callable[[Exact], Exact]) -> Chances:
        """Return the chances of `function(value)`."""
        weights: dict[Exact, int] = {}
        for value, weight in self.weights.items():
            mapped = function(value)
            weights[mapped] = weights.get(mapped, 0) + weight
        return Chances(weights, self.total, self.ended)

    def ending(self, ended: Fraction) -> Chances:
        """Return the same where a part of all ends in a limit of the rules."""
        if not ended:
            return self
        kept = 1 - ended
        weights = {value: weight * kept.numerator for value, weight in self.weights.items()}
        return Chances(weights, self.total * kept.denominator, either(self.ended, ended))


def either(*ended: Fraction) -> Fraction:
    """Return the chance that one of several independent rolls ends in a limit of the rules."""
    kept = prod([1 - each for each in ended if each], start=Fraction(1))
    return 1 - kept


def certain(value: Exact) -> Chances:
    """Return the chances of what is known."""
    return Chances({value: 1}, 1)


def from_fractions(weights: Mapping[V, Fraction], number: Callable[[V], Exact], ended: Fraction = NOTHING) -> Chances:
    """Return the chances of one number of each value, from exact weights that add up to 1 at most."""
    total = lcm(*(weight.denominator for weight in weights.values()))
    added: dict[Exact, int] = {}
    for value, weight in weights.items():
        mapped = number(value)
        added[mapped] = added.get(mapped, 0) + weight.numerator * (total // weight.denominator)
    return Chances(added, total, ended)


def mixed(parts: Iterable[tuple[int, Chances]], total: int) -> Chances:
    """Return what comes of one of the parts, each with its weight over `total`; what is missing is lost."""
    kept = list(parts)
    common = lcm(*(part.total for _, part in kept)) if kept else 1
    ended = sum([Fraction(weight, total) * part.ended for weight, part in kept if part.ended], NOTHING)
    weights: dict[Exact, int] = {}
    for weight, part in kept:
        scale = weight * (common // part.total)
        for value, own in part.weights.items():
            weights[value] = weights.get(value, 0) + own * scale
    return reduced(Chances(weights, total * common, ended))


def reduced(chances: Chances) -> Chances:
    """Return the same with the smallest numbers."""
    divisor = gcd(chances.total, *chances.weights.values())
    if divisor == 1:
        return chances
    weights = {value: weight // divisor for value, weight in chances.weights.items()}
    return Chances(weights, chances.total // divisor, chances.ended)


def combined(work: Work, left: Chances, right: Chances, operate: Callable[[Any, Any], Any]) -> Chances:
    """Return the chances of `operate(a, b)` for independent a and b.

    Raises:
        LimitReached: `odds_work`, there are too many pairs.
    """
    work.spend(len(left.weights) * len(right.weights) / _PAIRS)
    weights: dict[Exact, int] = {}
    for a, weight_a in left.weights.items():
        for b, weight_b in right.weights.items():
            value = operate(a, b)
            weights[value] = weights.get(value, 0) + weight_a * weight_b
    return Chances(weights, left.total * right.total, either(left.ended, right.ended))


def added(work: Work, left: Chances, right: Chances) -> Chances:
    """Return the chances of the sum of independent a and b. Raises as `combined` does."""
    few = min(len(left.weights), len(right.weights))
    if few <= _FEW or not (_whole(left) and _whole(right)):
        return combined(work, left, right, lambda a, b: a + b)
    low = int(min(left.weights)) + int(min(right.weights))
    span = int(max(left.weights)) + int(max(right.weights)) - low + 1
    # A line with wide gaps, such as 100 times a die, is shorter as pairs.
    if span > 4 * len(left.weights) * len(right.weights):
        return combined(work, left, right, lambda a, b: a + b)
    bits = _bits(work, left.total * right.total, span)
    product = _packed(left, bits) * _packed(right, bits)
    return Chances(_unpacked(product, bits, low), left.total * right.total, either(left.ended, right.ended))


def times(work: Work, one: Chances, count: int) -> Chances:
    """Return the chances of the sum of `count` independent ones. Raises as `combined` does."""
    if count == 0 or not one.weights:
        return certain(0) if count == 0 else Chances({}, 1, either(*[one.ended] * count))
    if count == 1:
        return one
    if not _whole(one):
        half = times(work, one, count // 2)
        both = added(work, half, half)
        return added(work, both, one) if count % 2 else both
    low = int(min(one.weights))
    span = count * (int(max(one.weights)) - low) + 1
    multiplications = 1
    if one.lost > one.ended:
        # What is cut already may be cut once more, where a sum would otherwise grow long for next to nothing.
        far = _far(one, count) - low * count + 1
        if far < span:
            span, multiplications = far, 2 * count.bit_length()
    bits = _bits(work, one.total**count, span, multiplications)
    ended = either(*[one.ended] * count)
    return Chances(
        _unpacked(_power(_packed(one, bits), count, bits * span), bits, low * count), one.total**count, ended
    )


def _far(one: Chances, count: int) -> int:
    """Return a value that the sum of `count` hardly ever passes: less often than FAR, by H. Chernoff's bound (1952)."""
    low = int(min(one.weights))
    shares = [(int(value) - low, weight / one.total) for value, weight in one.weights.items()]
    spread = max(1.0, sum([share * value for value, share in shares]))
    widest = max([value for value, _ in shares])
    best = float(count * widest)
    for lean in _LEANS:
        slope = min(lean / spread, 600 / max(1, widest))
        grown = log(sum([share * exp(slope * value) for value, share in shares]))
        best = min(best, (count * grown - log(FAR)) / slope)
    return low * count + ceil(best)


def _power(base: int, exponent: int, bits: int) -> int:
    """Return a power without what lies beyond so many bits."""
    if base.bit_length() * exponent <= bits:
        whole: int = base**exponent
        return whole
    mask, result = (1 << bits) - 1, 1
    while exponent:
        if exponent & 1:
            result = result * base & mask
        exponent >>= 1
        base = base * base & mask
    return result


def extreme(work: Work, ones: Iterable[Chances], *, highest: bool) -> Chances:
    """Return the chances of the highest, or the lowest, of independent ones, by their cumulated weights.

    Raises:
        LimitReached: `odds_work`, there are too many values of too many digits.
    """
    alike: dict[int, tuple[Chances, int]] = {}
    total = 1
    every = list(ones)
    for each in every:
        alike[id(each)] = each, alike.get(id(each), (each, 0))[1] + 1
        total *= each.total
    values = sorted({value for each, _ in alike.values() for value in each.weights}, reverse=not highest)
    _bits(work, total, len(values) * len(alike))
    running = dict.fromkeys(alike, 0)
    weights: dict[Exact, int] = {}
    before = 0
    for value in values:
        so_far = 1
        for key, (each, count) in alike.items():
            running[key] += each.weights.get(value, 0)
            so_far *= running[key] ** count
        if so_far > before:
            weights[value] = so_far - before
        before = so_far
    return Chances(weights, total, either(*[each.ended for each in every]))


def too_much() -> LimitReached:
    """Return the refusal of odds that would take too long."""
    return LimitReached("LIMIT_REACHED", "exact odds would take too much work", limit="odds_work", maximum=MAX_WORK)


def too_many_values(values: int) -> LimitReached:
    """Return the refusal of odds of more than MAX_VALUES values."""
    return LimitReached(
        "LIMIT_REACHED", "there are too many values", limit="odds_values", maximum=MAX_VALUES, value=str(values)
    )


def _whole(chances: Chances) -> bool:
    return all(isinstance(value, int) for value in chances.weights)


def _bits(work: Work, total: int, span: int, multiplications: int = 1) -> int:
    """Return how many bits a weight needs, in whole bytes, and spend what multiplying lines of them costs."""
    bits = (total.bit_length() + 8) // 8 * 8
    if bits * span > _MOST_BITS:
        raise too_much()
    work.spend(multiplications * _MOST_BITS_WORK * (bits * span / _MOST_BITS) ** _KARATSUBA + span / _PAIRS)
    return bits


def _packed(chances: Chances, bits: int) -> int:
    size, low = bits // 8, int(min(chances.weights))
    line = bytearray((int(max(chances.weights)) - low + 1) * size)
    for value, weight in chances.weights.items():
        start = (int(value) - low) * size
        line[start : start + size] = weight.to_bytes(size, "little")
    return int.from_bytes(line, "little")


def _unpacked(packed: int, bits: int, low: int) -> dict[Exact, int]:
    size = bits // 8
    line = packed.to_bytes((packed.bit_length() + 7) // 8 + size, "little")
    weights: dict[Exact, int] = {}
    for index in range(len(line) // size):
        weight = int.from_bytes(line[index * size : (index + 1) * size], "little")
        if weight:
            weights[low + index] = weight
    return weights
