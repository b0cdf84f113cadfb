"""Odds that are simulated, since their exact ones would take too much work: the same rules, random faces, a seed.

An estimate is marked as one, and proves nothing. The generator is Python's Mersenne Twister, so that the same seed
gives the same answer on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from random import Random
from statistics import NormalDist
from typing import Any

from fairroll.odds.chances import Chances
from fairroll.odds.quantities import Quantity
from fairroll_rules.limits import MAX_DRAWS
from fairroll_rules.notation.tree import Exact
from fairroll_rules.resolve import resolve
from fairroll_rules.simulate import random_faces
from fairroll_rules.systems import system_of, systems

MIN_ROLLS = 100
MAX_ROLLS = 200_000
DEFAULT_ROLLS = 20_000
MAX_SIMULATED_DRAWS = 1_000_000
"""Draws of one simulation, before any die is rolled again, and at which it ends: a few seconds."""
DEFAULT_DRAWS = 400_000
"""The same of a simulation whose length the caller does not say."""

CONFIDENCE_PERCENT = 95
_Z = NormalDist().inv_cdf((1 + CONFIDENCE_PERCENT / 100) / 2)


@dataclass(frozen=True, slots=True)
class Simulation:
    """How something was simulated."""

    rolls: int
    seed: int
    why: str


def default_rolls(check: Any) -> int:  # noqa: ANN401  each system has its own types
    """Return how often a check is rolled where the caller does not say: less often where it has many dice."""
    return max(MIN_ROLLS, min(DEFAULT_ROLLS, DEFAULT_DRAWS // draws_of(check)))


def draws_of(check: Any) -> int:  # noqa: ANN401  each system has its own types
    """Return the draws of one roll before any die is rolled again, at least 1."""
    return max(1, systems()[system_of(check)].draws(check))


def simulate(check: Any, quantities: Sequence[Quantity], rolls: int, seed: str, most: int) -> list[Chances]:  # noqa: ANN401  as above
    """Return what each quantity came to over `rolls`, or fewer: at `most` draws, but not before MIN_ROLLS, it ends.

    Rolls that end in a limit of the rules come to nothing.
    """
    source = random_faces(Random(seed).randrange)  # noqa: S311  no roll that counts
    counted: list[Counter[Exact]] = [Counter() for _ in quantities]
    reads = [quantity.read for quantity in quantities]
    drawn, done = 0, 0
    while done < rolls and (drawn < most or done < MIN_ROLLS):
        resolved = resolve(check, source, max_draws=MAX_DRAWS)
        drawn, done = drawn + len(resolved.draws), done + 1
        if resolved.limit_reached is None:
            for counter, read in zip(counted, reads, strict=True):
                counter[read(resolved.value, resolved.outcome)] += 1
    return [Chances(counter, done, Fraction(done - counter.total(), done)) for counter in counted]


def wilson(hits: int, rolls: int) -> tuple[float, float]:
    """Return Wilson's interval of a chance that came `hits` times in `rolls`.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    share, square = hits / rolls, _Z * _Z / rolls
    middle = (share + square / 2) / (1 + square)
    half = _Z / (1 + square) * sqrt(share * (1 - share) / rolls + square / (4 * rolls))
    return max(0.0, middle - half), min(1.0, middle + half)


def around(middle: float, variance: float) -> tuple[float, float]:
    """Return the interval of a mean whose own variance is known."""
    half = _Z * sqrt(max(0.0, variance))
    return middle - half, middle + half
