"""Tests of what was counted, against what fair dice give. All of scipy that the project uses is in here.

Each null hypothesis is known whole: nothing is estimated from the dice that are judged. Approximations are used where
at least ten are expected in each class. One report makes many tests, and one in a hundred of fair ones is below 1 %:
so p-values are adjusted by Holm's method, and at 1 % at most one fair report of a hundred flags anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import sqrt
from typing import Any

from fairroll.audit.tally import GRID, DieTally, Interplay, Named, Position, Tally, top_faces
from fairroll.errors import WrongUseError

LEVEL = 0.01
"""The chance that a report on fair dice flags anything."""
MIN_EXPECTED = 10
MIN_HITS = 5
MANY_PAIRS = 100
MIN_MANY = 50
"""So few numbers are not judged by laws of large ones."""


def require_scipy() -> None:
    """Refuse reports where the extra is not installed, before any work is done.

    Raises:
        WrongUseError: SCIPY_NOT_INSTALLED.
    """
    _stats()


def central_counts(trials: int, chance: float) -> tuple[float, float]:
    """Return the counts between which at least 99 of 100 fair ones lie, by the binomial law."""
    low, high = _stats().binom.ppf((LEVEL / 2, 1 - LEVEL / 2), trials, chance)
    return float(low), float(high)


def _stats() -> Any:  # noqa: ANN401  scipy has no types
    try:
        from scipy import stats  # noqa: PLC0415  takes a second to load, and only reports need it
    except ImportError as error:
        raise WrongUseError(
            "SCIPY_NOT_INSTALLED",
            "reports need scipy; without --html and --json the audit itself does not",
            hint="pip install 'fairroll[audit]'",
        ) from error
    return stats


@dataclass(slots=True)
class Test:
    """One test.

    Attributes:
        subject: of what: `d6`, `outcomes`, `actor`, ..
        name: which test.
        count: of how many draws, pairs or checks.
        statistic: its value; what it is follows from the name.
        p: the chance that fair dice give as much or more; None where there is too little to judge.
        adjusted: p for the report as a whole, by Holm's method.
        of: the actor, the label or the check, where the subject is one.
    """

    subject: str
    name: str
    count: int
    statistic: float | None = None
    p: float | None = None
    adjusted: float | None = None
    of: str | None = None

    @property
    def flagged(self) -> bool:
        """Whether fair dice would hardly give it, even among so many tests."""
        return self.adjusted is not None and self.adjusted < LEVEL


def adjust(tests: Sequence[Test]) -> None:
    """Set the adjusted p-values of a family of tests: Holm 1979, step down, uniformly better than Bonferroni."""
    judged = sorted((test for test in tests if test.p is not None), key=lambda test: test.p or 0)
    highest = 0.0
    for index, test in enumerate(judged):
        highest = max(highest, min(1.0, (len(judged) - index) * (test.p or 0)))
        test.adjusted = highest


def family(tally: Tally, windows: Iterable[tuple[int, int, int, int]]) -> list[Test]:
    """Return the tests of all that was counted, not yet adjusted.

    Args:
        tally: what was counted.
        windows: of each kind: sides, length, how many windows of faces, and how many pairs of equal ones.
    """
    tests = [test for _, die in sorted(tally.sizes.items()) for test in die_tests(die)]
    tests += [repeat_test(*row) for row in windows]
    tests.append(interplay_test(tally.interplay))
    tests += outcome_tests("outcomes", tally.outcomes)
    if len(tally.systems) > 1:
        tests += [test for name in sorted(tally.systems) for test in outcome_tests(name, tally.systems[name])]
    for subject, names in (("actor", tally.actors), ("label", tally.labels)):
        tests += [test for name, named in names.by_name.items() for test in named_tests(subject, name, named)]
    return tests


def die_tests(die: DieTally) -> list[Test]:
    """Return the tests of one die size."""
    subject = f"d{die.sides}"
    return [
        _chi_square(subject, die),
        _kolmogorov(subject, die.grid, die.drawn),
        _binomial(subject, "runs", die.changes, die.halves, 0.5),
        _normal(subject, "serial correlation", die.serial, die.pairs),
        _gap(subject, die),
        _binomial(subject, "duplicates", die.equal, die.pairs, 1 / die.sides),
    ]


def interplay_test(interplay: Interplay) -> Test:
    """Return the test of neighbours of different dice or actors: the sum of products of scores has variance 1 each."""
    return _normal("all dice", "interplay correlation", interplay.products, interplay.pairs)


def repeat_test(sides: int, length: int, windows: int, pairs: int) -> Test:
    """Return the test of windows of faces that came again too often.

    Windows are independent and each way is as likely, so pairs are equal with one chance and pairwise independent:
    mean and variance are known, and the law is Poisson's where few are expected.
    """
    test = Test(f"d{sides}", f"repeated runs of {length} faces", windows)
    if windows > 1:
        chance = sides**-length
        expected = windows * (windows - 1) / 2 * chance
        test.statistic = float(pairs)
        if expected < MANY_PAIRS:
            test.p = float(_stats().poisson.sf(pairs - 1, expected))
        else:
            test.p = float(_stats().norm.sf((pairs - expected) / sqrt(expected * (1 - chance))))
    return test


def outcome_tests(subject: str, position: Position) -> list[Test]:
    """Return the tests of outcomes placed among what their checks could have given."""
    return [
        _kolmogorov(subject, position.grid, position.checks),
        _mean(subject, "luck", position.total, position.checks),
    ]


def named_tests(subject: str, name: str | None, named: Named) -> list[Test]:
    """Return the tests of one actor or label: outcomes against their odds, and faces."""
    tests = [
        _mean(subject, "luck", named.total, named.placed),
        _normal(subject, "faces", named.score_sum, named.draws),
    ]
    for test in tests:
        test.of = name
    return tests


def class_test(subject: str, name: str, observed: Sequence[int], chances: Sequence[float]) -> Test:
    """Return chi-square of counts against chances, neighbours put together until ten are expected in each class."""
    count = sum(observed)
    classes = merged(observed, [count * chance for chance in chances], MIN_EXPECTED)
    test = Test(subject, name, count)
    if len(classes) > 1:
        statistic, p = _stats().chisquare([each for each, _ in classes], _exactly(classes, count))
        test.statistic, test.p = float(statistic), float(p)
    return test


def merged(observed: Sequence[int], expected: Sequence[float], least: float) -> list[tuple[int, float]]:
    """Return counts with what is expected, neighbours put together until at least so many are expected."""
    classes: list[tuple[int, float]] = []
    seen, wanted = 0, 0.0
    for each, of in zip(observed, expected, strict=True):
        seen, wanted = seen + each, wanted + of
        if wanted >= least:
            classes.append((seen, wanted))
            seen, wanted = 0, 0.0
    if seen or wanted:
        last = classes.pop() if classes else (0, 0.0)
        classes.append((last[0] + seen, last[1] + wanted))
    return classes


def _exactly(classes: Sequence[tuple[int, float]], count: int) -> list[float]:
    """Return what is expected with the rounding of its sum taken out, on which scipy insists."""
    total = sum(wanted for _, wanted in classes)
    return [wanted * count / total for _, wanted in classes]


def face_chances(die: DieTally) -> list[float]:
    """Return the chance of each class of faces: all alike where each face is one."""
    classes = len(die.counts)
    edges = [-(-each * die.sides // classes) for each in range(classes + 1)]
    return [(high - low) / die.sides for low, high in pairwise(edges)]


def _chi_square(subject: str, die: DieTally) -> Test:
    return class_test(subject, "chi-square", die.counts, face_chances(die))


def _kolmogorov(subject: str, grid: Sequence[int], count: int) -> Test:
    """Compare positions with the uniform distribution at the edges of the grid.

    The greatest difference anywhere is at least that at the edges, so the p-value errs to the careful side, by less
    than a cell.
    """
    test = Test(subject, "Kolmogorov-Smirnov", count)
    if count >= MIN_MANY:
        below = accumulate(grid)
        test.statistic = max(abs(each / count - edge / GRID) for edge, each in enumerate(below, 1))
        test.p = float(_stats().kstwo.sf(test.statistic, count))
    return test


def _binomial(subject: str, name: str, hits: int, count: int, chance: float) -> Test:
    """Exact and two-sided."""
    test = Test(subject, name, count)
    if count * min(chance, 1 - chance) >= MIN_HITS:
        test.statistic = float(hits)
        test.p = float(_stats().binomtest(hits, count, chance).pvalue)
    return test


def _normal(subject: str, name: str, total: float, count: int) -> Test:
    """Test a sum of numbers of mean 0 and variance 1, two-sided."""
    test = Test(subject, name, count)
    if count >= MIN_MANY:
        test.statistic = total / sqrt(count)
        test.p = float(2 * _stats().norm.sf(abs(test.statistic)))
    return test


def _mean(subject: str, name: str, total: float, count: int) -> Test:
    """Test a sum of numbers uniform on 0..1: twelve of them are all but normal, so a few are enough."""
    return _normal_of_uniform(subject, name, total, count) if count >= 12 else Test(subject, name, count)


def _normal_of_uniform(subject: str, name: str, total: float, count: int) -> Test:
    statistic = (total - count / 2) / sqrt(count / 12)
    return Test(subject, name, count, statistic, float(2 * _stats().norm.sf(abs(statistic))))


def _gap(subject: str, die: DieTally) -> Test:
    """Test whether the top face waits: at each age since it came up last its chance is the same.

    Knuth's gap test (TAOCP 3.3.2 D) counts gaps that ended; counting draws at risk uses those that did not, too.
    Given the past each draw is the top with the same chance, so the classes' scores are independent in the limit.
    """
    chance = top_faces(die.sides) / die.sides
    test = Test(subject, "gap", sum(die.at_risk))
    classes = merged(die.marks, [at_risk * chance for at_risk in die.at_risk], MIN_EXPECTED)
    if classes and classes[0][1] >= MIN_EXPECTED:
        statistic = 0.0
        for marks, wanted in classes:
            # wanted is the number at risk times the chance; its variance once more times the chance of no mark.
            statistic += (marks - wanted) ** 2 / (wanted * (1 - chance))
        test.statistic = statistic
        test.p = float(_stats().chi2.sf(statistic, len(classes)))
    return test
