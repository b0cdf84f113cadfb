"""Whether a roll may use up the draws of a record: what then comes to nothing is in no odds that are exact here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import exp, log

from fairroll.odds.chances import Work
from fairroll.odds.choosing import Counted
from fairroll.odds.growth import CUT, Again, Burst, UnsayableError, steps_again
from fairroll.odds.pools import GROWING, Pool
from fairroll_rules.limits import MAX_AGAIN, MAX_DRAWS
from fairroll_rules.notation.bounds import Analysis
from fairroll_rules.notation.tree import (
    Bound,
    Dice,
    Exact,
    Faces,
    Modified,
    Modifier,
    Node,
    Repeat,
    Tree,
    Unique,
    children,
)

Pools = Iterator[tuple[float, float]]
"""Dice, and the chance that one of them is rolled again each time."""

_LEANS = (0.1, 0.25, 0.5, 0.75, 0.9, 0.97)
"""Where Chernoff's bound is tried, between no lean and the most that the dice allow."""


def may_run_out(tree: Tree, variables: Mapping[str, Bound], draws: int) -> bool:
    """Tell whether more than MAX_DRAWS draws come more often than chains of explosions are cut; `draws` come at least.

    H. Chernoff's bound (1952) on the sum of geometric numbers of draws: where it is not small, they are taken to come.
    """
    if draws * (MAX_AGAIN + 1) <= MAX_DRAWS:
        return False
    analysis = Analysis(tree, variables)
    try:
        pools = list(_pools(tree.root, analysis, 1))
    except UnsayableError:
        return True
    most = max([again for _, again in pools], default=0.0)
    if most in (0, 1):
        return most == 1  # a die that is rolled again for certain has no bound
    return min(_bound(pools, 1 + lean * (1 / most - 1)) for lean in _LEANS) >= float(CUT)


def _bound(pools: list[tuple[float, float]], lean: float) -> float:
    summed = sum([many * (log(lean) + log(1 - again) - log(1 - again * lean)) for many, again in pools])
    return exp(min(0.0, summed - (MAX_DRAWS + 1) * log(lean)))


def _pools(node: Node, analysis: Analysis, times: int) -> Pools:
    if isinstance(node, Repeat):
        times, node = times * node.times, node.body
    source: Node = node
    levels: list[tuple[Modifier, ...]] = []
    while isinstance(source, Modified):
        levels.insert(0, source.modifiers)
        source = source.source
    if isinstance(source, Dice):
        yield from _dice(source, levels, analysis, times)
    for child in children(source):
        yield from _pools(child, analysis, times)


def _dice(node: Dice, levels: list[tuple[Modifier, ...]], analysis: Analysis, times: int) -> Pools:
    def fixed(inner: Node) -> Exact:
        known = analysis.ranges[id(inner)]
        if known.low != known.high:
            raise UnsayableError
        return known.low

    count = int(analysis.ranges[id(node.count)].high)
    growing = [[each for each in level if isinstance(each, GROWING)] for level in levels]
    pool = Pool(Work(), growing, fixed, Counted.TOTAL)
    if not any(growing):
        yield float(times * count), 0.0
        return
    faces = node.sides.faces if isinstance(node.sides, Faces) else range(1, int(fixed(node.sides)) + 1)
    if any(isinstance(each, Unique) for level in levels for each in level):
        # Each die is rolled again while it shows what one of those before it does.
        yield from ((float(times), min(1.0, taken / len(set(faces)))) for taken in range(count))
        return
    steps: list[Again | Burst] = steps_again(pool.steps(faces))
    if len(steps) > 1:
        raise UnsayableError
    yield float(times * count), sum([step.holds(face) for step in steps for face in faces]) / len(faces)
