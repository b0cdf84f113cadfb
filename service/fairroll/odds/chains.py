"""What one die of a pool comes to: rerolls, clamps and explosions, and what each die that they make counts for.

Explosions are followed until what is left weighs less than CUT, or to the cap of the rules; the rest is lost. A die
that rerolls until something no longer holds is taken to its end, unless the rules' cap would show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import add
from typing import Any

from fairroll.odds.chances import Chances, Work
from fairroll_rules.limits import MAX_AGAIN
from fairroll_rules.notation.tree import Exact

CUT = Fraction(1, 10**17)
"""The chance of a chain that is no longer followed: of 10,000 dice that explode, the most there are, 10^-13 is lost."""

Test = Callable[[Exact], bool]
Score = Callable[[Exact], Exact]
Join = Callable[[Any, Any], Any]
"""Puts together what two dice of a chain count for."""


class UnsayableError(Exception):
    """This way of finding odds has no words for it; another one has. No caller sees it."""


@dataclass(frozen=True, slots=True)
class Again:
    """Roll again while any test holds, or once."""

    tests: tuple[Test, ...]
    once: bool


Clamps = Sequence[tuple[int, bool]]
"""Limits, and whether values are lowered to them."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Roll once more while the test holds, at most `cap` times; the value is `less` lower."""

    test: Test
    cap: int
    compound: bool
    less: int
    capped: bool


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one die comes about: rerolled, clamped, exploded, clamped, and what each die that stands then counts for."""

    agains: Sequence[Again]
    before: Clamps
    burst: Burst | None
    after: Clamps
    score: Score
    join: Join = add


def die(work: Work, faces: Sequence[int], recipe: Recipe) -> Chances:
    """Return what one die with these faces counts for.

    Raises:
        UnsayableError: it explodes after rerolls that the rules' cap may end.
        LimitReached: `odds_work`.
    """
    weights, total, lost = _rerolled(faces, recipe.agains)
    if recipe.burst is None:
        values: dict[Exact, int] = {}
        for face, weight in weights.items():
            value = recipe.score(_clamped(_clamped(face, recipe.before), recipe.after))
            values[value] = values.get(value, 0) + weight
        return Chances(values, total).losing(lost)
    if lost:
        raise UnsayableError
    return _exploded(work, (weights, total), faces, recipe, recipe.burst)


def _rerolled(faces: Sequence[int], agains: Sequence[Again]) -> tuple[dict[int, int], int, Fraction]:
    """Return the weights of the natural faces after all rerolls, their total, and what the rules' cap loses."""
    fresh: dict[int, int] = {}
    for face in faces:
        fresh[face] = fresh.get(face, 0) + 1
    weights, total, lost = dict(fresh), len(faces), Fraction(0)
    for again in agains:
        bad = {face for face in fresh if any(test(face) for test in again.tests)}
        moved = sum([weights[face] for face in bad if face in weights])
        if again.once:
            into, size = fresh, len(faces)
        else:
            into = {face: weight for face, weight in fresh.items() if face not in bad}
            size = sum(into.values())
            never = Fraction(moved, total) * (1 - Fraction(size, len(faces))) ** MAX_AGAIN
            if never >= CUT:
                if lost:
                    raise UnsayableError
                lost = never
        weights = {
            face: (0 if face in bad else weights.get(face, 0)) * size + moved * into.get(face, 0) for face in fresh
        }
        weights = {face: weight for face, weight in weights.items() if weight}
        total *= size
    return weights, total, lost


def _exploded(
    work: Work, start: tuple[dict[int, int], int], faces: Sequence[int], recipe: Recipe, burst: Burst
) -> Chances:
    """Return a die and its chain; `start` has the weights of its first face, and their total."""
    first, first_total = start
    before, after, score = recipe.before, recipe.after, recipe.score
    fresh: dict[int, int] = {}
    for face in faces:
        fresh[face] = fresh.get(face, 0) + 1
    chance = Fraction(sum([weight for face, weight in fresh.items() if burst.test(face)]), len(faces))
    depth = _depth(chance, burst)
    bursting = sum([burst.test(face) for face in fresh]) * depth * depth * len(fresh)
    work.spend(bursting / 10)

    # A compound die is one value in the end; otherwise each die counts by itself, and their worths add up.
    def worth(value: Exact) -> Exact:
        return value if burst.compound else score(_clamped(value, after))

    cut = burst.cap > depth or not burst.capped
    rest = Chances({}, 1)
    for extra in range(depth, 0, -1):
        ends = extra == depth and not cut
        rest = _one_more(
            fresh, len(faces), burst.test, lambda face: worth(face - burst.less), rest, join=recipe.join, ends=ends
        )
    ends = depth == 0 and not cut
    whole = _one_more(
        first, first_total, burst.test, lambda face: worth(_clamped(face, before)), rest, join=recipe.join, ends=ends
    )
    return whole.map(lambda value: score(_clamped(value, after))) if burst.compound else whole


def _one_more(
    weights: dict[int, int],
    total: int,
    test: Test,
    worth: Callable[[int], Exact],
    rest: Chances,
    *,
    join: Join,
    ends: bool,
) -> Chances:
    """Return a die and, where the test holds, the rest of its chain; at its end the die counts alone."""
    values: dict[Exact, int] = {}
    for face, weight in weights.items():
        own = worth(face)
        if ends or not test(face):
            values[own] = values.get(own, 0) + weight * rest.total
        else:
            for value, following in rest.weights.items():
                both = join(own, value)
                values[both] = values.get(both, 0) + weight * following
    return Chances(values, total * rest.total)


def _depth(chance: Fraction, burst: Burst) -> int:
    """Return how many extra rolls are followed."""
    depth, left = 0, Fraction(1)
    while depth < burst.cap and left * chance >= CUT:
        left *= chance
        depth += 1
    return depth


def _clamped(value: Exact, clamps: Clamps) -> Exact:
    for limit, lower in clamps:
        value = min(value, limit) if lower else max(value, limit)
    return value
