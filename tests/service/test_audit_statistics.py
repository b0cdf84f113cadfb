"""The statistics of an audit against scipy's own, textbooks' values, and dice that are and are not fair."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import accumulate, count, pairwise
from math import comb, exp, sqrt
from random import Random

import pytest
from scipy import stats

from fairroll.audit import statistics
from fairroll.audit.odds import check_of, odds_rows
from fairroll.audit.statistics import Test as Judged
from fairroll.audit.tally import (
    GRID,
    MAX_CLASSES,
    WINDOW_CHANCES,
    DieTally,
    Tally,
    Window,
    Windows,
    top_faces,
    window_length,
)
from tests.service.audit_run import notation_check
from tests.service.sample_checks import SAMPLES, Sample

Roll = Callable[[Random, int], int]


def fair(random: Random, sides: int) -> int:
    return random.randrange(sides) + 1


def die_of(sides: int, faces: Iterable[int], seed: int = 1) -> DieTally:
    die, random = DieTally(sides), Random(seed)
    for face in faces:
        die.add(face, random.random(), first=False)
    return die


def judged(die: DieTally) -> dict[str, Judged]:
    return {test.name: test for test in statistics.die_tests(die)}


# One test after another


def test_chi_square_is_the_textbooks() -> None:
    """The example of Wikipedia's article on Pearson's test, "fairness of dice": 13.4 with 5 degrees of freedom."""
    counts = (5, 8, 9, 8, 10, 20)
    die = die_of(6, [face for face, count in enumerate(counts, 1) for _ in range(count)])
    test = judged(die)["chi-square"]
    assert test.statistic == pytest.approx(13.4)
    assert 0.01 < (test.p or 0) < 0.05  # above the critical value 11.070 of 5 %, below 15.086 of 1 %
    assert test.p == pytest.approx(stats.chi2.sf(13.4, 5))


def test_chi_square_puts_faces_together_until_ten_are_expected() -> None:
    faces = [face for face in range(1, 21) for _ in range(3)]
    test = judged(die_of(20, faces))["chi-square"]  # 60 draws of 20 faces: 5 classes of 4 faces, 12 in each
    assert (test.statistic, test.p) == (0, 1)
    lopsided = faces[:30] + [1] * 30
    by_hand = [3 * 4 + 30, 3 * 4, 3 * 2, 0, 0]
    assert judged(die_of(20, lopsided))["chi-square"].statistic == pytest.approx(stats.chisquare(by_hand).statistic)


@pytest.mark.parametrize("sides", [121, 250, 1000, 4097])
def test_faces_of_large_dice_are_counted_in_classes_with_exact_chances(sides: int) -> None:
    die = die_of(sides, range(1, sides + 1))
    assert len(die.counts) == MAX_CLASSES
    assert [chance * sides for chance in statistics.face_chances(die)] == pytest.approx(die.counts)


@pytest.mark.parametrize(("sides", "draws"), [(2, 300), (6, 1000), (20, 777), (100, 5000)])
def test_kolmogorov_smirnov_is_scipys_but_for_the_grid(sides: int, draws: int) -> None:
    random, positions = Random(7), list[float]()
    die = DieTally(sides)
    for _ in range(draws):
        face, position = (
            max(fair(random, sides), fair(random, sides)) if random.random() < 0.1 else fair(random, sides),
            random.random(),
        )
        positions.append((face - 1 + position) / sides)
        die.add(face, position, first=False)
    ours, theirs = judged(die)["Kolmogorov-Smirnov"], stats.kstest(positions, "uniform")
    assert theirs.statistic - 1 / GRID <= (ours.statistic or 0) <= theirs.statistic
    assert theirs.pvalue <= (ours.p or 0) <= stats.kstwo.sf(theirs.statistic - 1 / GRID, draws)


def test_runs_count_changes_between_low_and_high_and_leave_out_the_middle() -> None:
    test = judged(die_of(7, [1, 4, 7, 4, 2, 6, 3, 5, 1, 7, 2, 7, 3, 5, 4]))["runs"]
    assert (test.statistic, test.count) == (11, 11)  # low high low high ..: each of eleven neighbours differs
    assert test.p == pytest.approx(2 / 2**11)


def two_sided(hits: int, trials: int, chance: Fraction) -> float:
    """The exact binomial test by its definition: all that is no likelier than what was seen."""
    ways = [comb(trials, each) * chance**each * (1 - chance) ** (trials - each) for each in range(trials + 1)]
    return float(sum(way for way in ways if way <= ways[hits]))


@pytest.mark.parametrize(
    ("faces", "hits"), [([1, 2, 3, 4, 5, 6] * 10, 0), ([1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6] * 5, 30)]
)
def test_duplicates_are_judged_exactly(faces: list[int], hits: int) -> None:
    test = judged(die_of(6, faces))["duplicates"]
    assert (test.statistic, test.count) == (hits, 59)
    assert test.p == pytest.approx(two_sided(hits, 59, Fraction(1, 6)))


def test_serial_correlation_is_pearsons_with_known_mean_and_variance() -> None:
    random = Random(3)
    faces = [fair(random, 20)]
    for _ in range(4000):
        faces.append(faces[-1] if random.random() < 0.3 else fair(random, 20))
    test = judged(die_of(20, faces))["serial correlation"]
    assert (test.statistic or 0) / sqrt(test.count) == pytest.approx(
        stats.pearsonr(faces[:-1], faces[1:]).statistic, rel=0.03
    )
    by_hand = sum((a - 10.5) * (b - 10.5) for a, b in pairwise(faces)) / ((20 * 20 - 1) / 12) / sqrt(4000)
    assert test.statistic == pytest.approx(by_hand)


def test_gaps_are_judged_at_each_age_by_chi_square_of_top_and_not() -> None:
    random = Random(5)
    faces = [fair(random, 6) for _ in range(3000)]
    die = die_of(6, faces)
    ages: Counter[tuple[int, bool]] = Counter()
    age = None
    for face in faces:
        if age is not None:
            ages[min(age, 29), face == 6] += 1
        age = 0 if face == 6 else None if age is None else age + 1
    assert die.marks == [ages[at, True] for at in range(30)]
    assert die.at_risk == [ages[at, True] + ages[at, False] for at in range(30)]
    classes = statistics.merged(die.marks, [each / 6 for each in die.at_risk], 10)
    sums = [stats.chisquare([m, w * 6 - m], [w, w * 5]).statistic for m, w in classes if (m, w) == (m, w)]
    test = judged(die)["gap"]
    assert test.statistic == pytest.approx(sum(sums))
    assert test.p == pytest.approx(stats.chi2.sf(sum(sums), len(classes)))


def test_windows_that_came_again_are_judged_as_birthdays() -> None:
    assert [window_length(6, ways) for ways in WINDOW_CHANCES] == [4, 16]
    expected = 1_000_000 * 999_999 / 2 / 6**16
    assert statistics.repeat_test(6, 16, 1_000_000, 1).p == pytest.approx(1 - exp(-expected))
    assert statistics.repeat_test(6, 16, 1_000_000, 0).p == 1
    assert (statistics.repeat_test(6, 16, 1_000, 1).p or 0) < 1e-6


def test_many_equal_windows_are_judged_by_their_exact_variance() -> None:
    """Pairs of one throw in 1,296 of 2,000 throws: simulated, the variance is that of independent pairs."""
    random, seen = Random(1), list[int]()
    for _ in range(400):
        counts = Counter(random.randrange(1296) for _ in range(2000))
        seen.append(sum(n * (n - 1) // 2 for n in counts.values()))
    expected = 2000 * 1999 / 2 / 1296
    assert sum(seen) / 400 == pytest.approx(expected, rel=0.01)
    assert stats.tvar(seen) == pytest.approx(expected * (1 - 1 / 1296), rel=0.2)
    assert statistics.repeat_test(6, 4, 2000, round(expected)).p == pytest.approx(0.5, abs=0.02)


def test_windows_begin_with_receipts_and_do_not_overlap() -> None:
    windows = Windows(3)
    firsts = [True, False, True, True, False, False, False, True, True, False]
    filled = [windows.add(face, 10, first=first) for face, first in enumerate(firsts, 1)]
    assert filled == [None, None, 12, None, None, 345, None, None, None, 789]


def test_adjusting_is_holms() -> None:
    """The four hypotheses of Wikipedia's article on Holm's method."""
    tests = [Judged("", "", 1, p=p) for p in (0.01, 0.04, 0.03, 0.005)] + [Judged("", "", 1)]
    statistics.adjust(tests)
    assert [test.adjusted for test in tests] == [
        pytest.approx(p) if p else None for p in (0.03, 0.06, 0.06, 0.02, None)
    ]


def test_top_faces_are_one_or_a_twentieth() -> None:
    assert [top_faces(sides) for sides in (2, 6, 20, 39, 100, 1000)] == [1, 1, 1, 1, 5, 50]


def test_too_little_is_not_judged() -> None:
    assert {test.p for test in statistics.die_tests(die_of(6, [1, 2, 3]))} == {None}
    assert {test.p for test in statistics.outcome_tests("outcomes", Tally().outcomes)} == {None}


# Outcomes among their exact odds


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.name}-{sample.roll}")
def test_what_values_cover_fills_the_unit_interval(sample: Sample) -> None:
    message = sample.message()
    body = f"{sample.name} ".encode() + getattr(message, sample.name).SerializeToString(deterministic=True)
    assert check_of(body) == message
    _, rows = odds_rows((b"key", body))
    edges = [0.0, *accumulate(chance for *_, chance in rows)]
    assert [below for *_, below, _ in rows] == pytest.approx(edges[:-1])
    assert not rows or edges[-1] == pytest.approx(1)
    assert [place for _, place, _, _ in rows] == list(range(len(rows)))


def rows_of(text: str) -> dict[int, tuple[float, float]]:
    _, rows = odds_rows((b"", b"notation " + notation_check(text).notation.SerializeToString()))
    return {int(value.strip("[]").split(",")[0]): (below, chance) for value, _, below, chance in rows}


def test_odds_are_the_textbooks_and_stand_by_total() -> None:
    """Two dice: 1/36 .. 6/36 .. 1/36."""
    rows = rows_of("2d6")
    assert [chance * 36 for _, chance in rows.values()] == pytest.approx([1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1])
    assert list(rows) == list(range(2, 13))
    assert rows[7][0] == pytest.approx(15 / 36)


def test_heavy_checks_have_no_odds_here_rather_than_wrong_ones() -> None:
    assert not rows_of("100d100kh37!")


# Whole reports


def simulate(seed: int, rolls: int, roll: Roll, lucky: str = "") -> list[Judged]:
    """The tests of a report on so many rolls of four checks, some of which explode, by three actors."""
    random, tally = Random(seed), Tally()
    windows: Counter[Window] = Counter()
    odds = {text: rows_of(text) for text in ("2d6", "1d20", "3d8", "1d100")}
    last = None
    for number in range(rolls):
        actor, label = ("Ann", "Bob", "Cid")[number % 3], ("attack", "defence")[random.random() < 0.4]
        text = random.choice(list(odds))
        dice, sides = map(int, text.split("d"))
        tries = [[roll(random, sides) for _ in range(dice)] for _ in range(2 if actor == lucky else 1)]
        faces = max(tries, key=sum)
        if text == "2d6":  # somebody else rolls a d6 until it is no 6: draws whose number depends on draws
            faces = [*faces, roll(random, 6)]
            while faces[-1] == 6:
                faces.append(roll(random, 6))
        ended, scores, last = tally.add_draws([(sides, face, actor) for face in faces], iter(random.random, -1.0), last)
        windows.update(ended)
        below, chance = odds[text][sum(faces[:dice])]
        tally.place("notation", (actor, label), below, chance, random.random())
        for names, name in ((tally.actors, actor), (tally.labels, label)):
            named = names.of(name)
            named.checks, named.draws, named.score_sum = (
                named.checks + 1,
                named.draws + len(scores),
                named.score_sum + sum(scores),
            )
    tests = statistics.family(tally, pairs_of(windows))
    statistics.adjust(tests)
    return tests


def pairs_of(windows: Counter[Window]) -> Iterator[tuple[int, int, int, int]]:
    for kind in sorted({window[:2] for window in windows}):
        counts = [n for window, n in windows.items() if window[:2] == kind]
        yield *kind, sum(counts), sum(n * (n - 1) // 2 for n in counts)


def flagged(tests: Iterable[Judged]) -> set[tuple[str, str]]:
    return {(test.of or test.subject, test.name) for test in tests if test.flagged}


@pytest.mark.slow
def test_fair_dice_are_flagged_about_as_often_as_promised() -> None:
    """In at most one report of a hundred anything; and each test gives p below 5 % in about one case of twenty."""
    reports = [simulate(seed, 600, fair) for seed in range(150)]
    false = sum(bool(flagged(tests)) for tests in reports)
    assert false <= stats.binom.ppf(0.999, len(reports), statistics.LEVEL)
    low: Counter[str] = Counter()
    made: Counter[str] = Counter()
    for test in (test for tests in reports for test in tests if test.p is not None):
        made[test.name] += 1
        low[test.name] += (test.p or 0) < 0.05
    for name in (
        "chi-square",
        "Kolmogorov-Smirnov",
        "serial correlation",
        "gap",
        "interplay correlation",
        "luck",
        "faces",
    ):
        assert made[name] >= len(reports)
        # Tests of one report share draws; so the bounds are wide: a fifth of them false would be far outside.
        assert 0.02 < low[name] / made[name] < 0.09, name


def loaded(random: Random, sides: int) -> int:
    """A d6 that shows six in one of four; all others are fair."""
    return 6 if sides == 6 and random.random() < 0.1 else fair(random, sides)


def alternating() -> Roll:
    """A d6 on which low and high take turns, and each face comes equally often."""
    low = count()
    return lambda random, sides: fair(random, sides) if sides != 6 else random.randrange(3) + 1 + 3 * (next(low) % 2)


def few_seeds() -> Roll:
    """Dice of a generator that is seeded anew every 16 draws, with one of 300 seeds."""
    place, sources = count(), [Random(0)]

    def roll(random: Random, sides: int) -> int:
        if next(place) % 16 == 0:
            sources[0] = Random(random.randrange(300))
        return fair(sources[0], sides)

    return roll


def test_a_loaded_die_is_flagged_and_no_other() -> None:
    seen = flagged(simulate(1, 3000, loaded))
    assert {("d6", "chi-square"), ("d6", "Kolmogorov-Smirnov")} <= seen
    assert not {subject for subject, _ in seen} & {"d8", "d20", "d100", "Ann", "Bob", "Cid"} - {"Ann", "Bob", "Cid"}


def test_dice_that_take_turns_are_flagged_though_each_face_comes_equally_often() -> None:
    seen = flagged(simulate(2, 3000, alternating()))
    assert {("d6", "runs"), ("d6", "serial correlation"), ("d6", "duplicates")} <= seen
    assert ("d6", "chi-square") not in seen


def test_dice_that_come_again_are_flagged_though_each_is_fair() -> None:
    random, roll, tally = Random(5), few_seeds(), Tally()
    windows: Counter[Window] = Counter()
    for _ in range(2000):
        filled, _, _ = tally.add_draws([(6, roll(random, 6), "") for _ in range(16)], iter(random.random, -1.0), None)
        windows.update(filled)
    tests = statistics.family(tally, pairs_of(windows))
    statistics.adjust(tests)
    assert flagged(tests) >= {("d6", "repeated runs of 4 faces"), ("d6", "repeated runs of 16 faces")}


def test_an_actor_who_rolls_twice_and_shows_the_better_is_flagged_and_the_others_are_not() -> None:
    seen = flagged(simulate(4, 1500, fair, lucky="Bob"))
    assert ("Bob", "luck") in seen
    assert not {"Ann", "Cid"} & {subject for subject, _ in seen}


def test_neighbours_that_tell_of_one_another_are_flagged_across_sizes_and_actors() -> None:
    tally, random = Tally(), Random(6)
    last = None
    for _ in range(1000):
        part = random.random()
        draws = [(6, int(part * 6) + 1, "Ann"), (20, int(part * 20) + 1, "Bob")]
        _, _, last = tally.add_draws(draws, iter(random.random, -1.0), last)
    tests = statistics.family(tally, [])
    statistics.adjust(tests)
    assert ("all dice", "interplay correlation") in flagged(tests)
    assert ("d6", "serial correlation") not in flagged(tests)
