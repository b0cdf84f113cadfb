"""What each part of the notation comes to on given faces; every expectation is worked out by hand."""

from fractions import Fraction

import pytest

from fairroll_rules.errors import LimitReached
from fairroll_rules.notation import Rounding
from fairroll_rules.outcome import Die, Fate
from fairroll_rules.resolve import resolve
from fairroll_rules.systems.notation import LabelTotal, NotationCheck, Variable, explain_tree, text
from tests.rules.notation.rolling import check, dice, outcome, resolved, total

TOTALS: list[tuple[str, list[int], int]] = [
    # dice
    ("d20", [7], 7),
    ("d%", [100], 100),
    ("4dF", [1, 2, 3, 3], 1),
    ("6dF.1", [1, 2, 3, 4, 5, 6], 0),
    ("3d{2,-5,9}", [1, 2, 3], 6),
    ("(1+2)d(2*3)", [1, 2, 3], 6),
    ("2d(1d4+2)", [2, 4, 1], 5),
    ("(1d4-1)d6", [1], 0),
    # precedence
    ("-2^2", [], -4),
    ("2^3^2", [], 512),
    ("(2^3)^2", [], 64),
    ("-3d6", [1, 2, 3], -6),
    ("2*-3", [], -6),
    ("2+3*4-5", [], 9),
    ("7%3", [], 1),
    ("-7%3", [], 2),
    ("7%-3", [], -2),
    ("d%%7", [50], 1),
    ("20/4/5", [], 1),
    ("1--1", [], 2),
    # exact arithmetic, rounded down at the end
    ("7/2", [], 3),
    ("-7/2", [], -4),
    ("1/3+1/3+1/3", [], 1),
    ("0.1+0.2-0.3", [], 0),
    ("1d6/2+1d6/2", [3, 3], 3),
    # functions
    ("floor(7/2)+ceil(7/2)+round(5/2)+round(-5/2)", [], 8),
    ("abs(1d6-6)", [2], 4),
    ("min(1d6, 1d8, 5)", [6, 7], 5),
    ("max(1d6, 1d8)", [6, 7], 7),
    # select
    ("4d6kh3", [5, 4, 3, 2], 12),
    ("4d6k3", [2, 3, 4, 5], 12),
    ("4d6kh", [2, 3, 4, 5], 5),
    ("4d6kl2", [2, 3, 4, 5], 5),
    ("4d6dh1", [2, 3, 4, 5], 9),
    ("4d6dl3", [2, 3, 4, 5], 5),
    ("4d6kh9", [2, 3, 4, 5], 14),
    ("4d6dl4", [2, 3, 4, 5], 0),
    ("4d6dh3dl3", [2, 3, 4, 5], 0),
    ("5d6kh4dl1", [1, 2, 3, 4, 5], 12),
    ("(5d6kh4)kl1", [1, 2, 3, 4, 5], 2),
    # generate
    ("2d6!p", [6, 6, 3, 4], 6 + 5 + 2 + 4),
    ("2d6!!p", [6, 6, 3, 4], 6 + 5 + 2 + 4),
    ("2d6!5", [5, 5, 1, 6], 17),
    ("2d6!~2", [6, 6, 6, 1], 19),
    ("2d6x5", [5, 1, 2], 8),
    ("2d6xo5", [5, 5, 2], 12),
    ("1d6!<>1", [2, 3, 1], 6),
    ("3d6rr", [1, 1, 4, 5, 6], 15),
    ("3d6r2r4", [2, 4, 2, 1, 4, 3, 6], 10),
    ("3d6ro<=2", [2, 1, 3, 1, 6], 10),
    ("2d6u", [3, 3, 3, 4], 7),
    ("2d6uo", [3, 3, 3], 6),
    ("2d6rr1u", [1, 5, 5, 2], 7),
    ("4d6min3", [1, 2, 3, 6], 15),
    ("4d6max3", [1, 2, 3, 6], 9),
    ("2d6!min4", [6, 1, 2], 14),
    ("2d6min4!", [6, 1, 2], 11),
    ("2d6!!max8", [6, 5, 2], 10),
    ("2d6rr6max3", [6, 5, 2], 5),
    ("dF!", [3, 3, 1], 1),
    # count
    ("5d10>=8", [7, 8, 9, 10, 1], 3),
    ("5d10>8", [7, 8, 9, 10, 1], 2),
    ("5d10=8", [7, 8, 9, 8, 1], 2),
    ("5d10<>8", [7, 8, 9, 8, 1], 3),
    ("5d10>=8f1", [7, 8, 9, 10, 1], 2),
    ("5d10>=8>=10:2f<=2:3", [7, 8, 9, 10, 1], 1),
    ("5d10>=8=1", [7, 8, 9, 10, 1], 4),
    ("5d10kh2>=9", [7, 8, 9, 10, 1], 2),
    ("5d6!>=5", [6, 6, 1, 5, 4, 3, 2, 1], 28),
    ("5d6>=5!", [6, 6, 1, 5, 4, 3, 2], 3),
    ("4d6min5>=5", [1, 2, 3, 6], 4),
    ("2*(5d10>=8)+1", [7, 8, 9, 10, 1], 7),
    # mark and sort change nothing
    ("4d6cscfsd", [6, 1, 3, 4], 14),
    # groups
    ("{2d6,1d12}kh1", [3, 4, 11], 11),
    ("{2d6,1d12}dh1", [3, 4, 11], 7),
    ("{3d6+5, 2d6, 10}>=10", [1, 1, 2, 5, 5], 2),
    ("{1d6, {1d8, 1d4}kh1}", [2, 3, 4], 6),
    ("{3d6}", [1, 2, 3], 6),
    ("{5d10>=8, 5d10>=8}kh1", [8, 1, 1, 1, 1, 9, 9, 1, 1, 1], 2),
    ("{1d6/2, 1d6}kl1", [5, 3], 2),
]


@pytest.mark.parametrize(("notation", "faces", "expected"), TOTALS, ids=[row[0] for row in TOTALS])
def test_total_on_given_faces(notation: str, faces: list[int], expected: int) -> None:
    assert total(notation, faces) == expected


FATES: list[tuple[str, list[int], list[tuple[int, str]]]] = [
    ("4d6kh3", [5, 4, 3, 2], [(5, "K"), (4, "K"), (3, "K"), (2, "D")]),
    ("3d6kh1", [4, 4, 4], [(4, "K"), (4, "D"), (4, "D")]),
    ("3d6dl2", [4, 4, 4], [(4, "K"), (4, "D"), (4, "D")]),
    ("3d6kl1", [4, 4, 4], [(4, "K"), (4, "D"), (4, "D")]),
    ("2d6!!", [6, 6, 2, 3], [(14, "EK"), (6, "AE"), (2, "A"), (3, "K")]),
    ("2d6!p", [6, 2, 3], [(6, "EK"), (1, "K"), (3, "K")]),
    ("2d6rr1", [1, 1, 2, 3], [(1, "R"), (1, "R"), (2, "K"), (3, "K")]),
    ("2d6!!rr6", [6, 1, 2, 3], [(7, "ER"), (1, "A"), (2, "K"), (3, "K")]),
    ("3d6min2max5", [1, 6, 3], [(2, "CK"), (5, "CK"), (3, "K")]),
    ("4d10>=8f1", [8, 1, 5, 10], [(8, "KS"), (1, "KF"), (5, "K"), (10, "KS")]),
    ("2d20cscf", [20, 1], [(20, "K*"), (1, "Kv")]),
    ("2d6min3cf1", [1, 2], [(3, "CKv"), (3, "CK")]),
    ("2d6!kh1", [6, 5, 2], [(6, "EK"), (5, "D"), (2, "D")]),
    ("{1d6!, 1d8}kl1", [6, 3, 4], [(6, "ED"), (3, "D"), (4, "K")]),
    ("{1d6rr1, 1d8}kl1", [1, 6, 4], [(1, "R"), (6, "D"), (4, "K")]),
    ("{1d6, 1d8}>=5", [3, 6], [(3, "K"), (6, "KS")]),
    ("(3d6kh2)!", [6, 1, 3, 2], [(6, "EK"), (1, "D"), (3, "K"), (2, "K")]),
    ("(1d2)d6kh1", [2, 3, 5], [(2, "K"), (3, "D"), (5, "K")]),
]


@pytest.mark.parametrize(("notation", "faces", "expected"), FATES, ids=[row[0] for row in FATES])
def test_value_and_fates_of_each_die(notation: str, faces: list[int], expected: list[tuple[int, str]]) -> None:
    assert dice(notation, faces) == expected


def test_dice_values_and_fates_are_plain_values() -> None:
    assert outcome("1d6", [4]).dice == (Die(0, 4, (Fate.KEPT,)),)
    assert type(outcome("1d6", [4]).dice[0].value) is int


def test_successes_and_failures_stand_apart_from_the_total() -> None:
    counted = outcome("5d10>=8>=10:2f1+2d6", [7, 8, 9, 10, 1, 3, 4])
    assert (counted.exact, counted.total, counted.successes, counted.failures) == ("10", 10, 4, 1)
    kept = outcome("{5d10>=8, 1d4}kl1", [8, 8, 8, 1, 1, 2])
    assert (kept.total, kept.successes) == (2, 0)
    known = outcome("{5,1}>=3f=1+1d6", [4])
    assert (known.total, known.successes, known.failures) == (4, 1, 1)


def test_variables_are_bound_after_parsing() -> None:
    assert total("1d20+@str", [10], str=3) == 13
    assert total("@n d6", [1, 2], n=2) == 3
    spaced = NotationCheck("@{Strength Mod}+@a.b.c", variables=(Variable("Strength Mod", 2), Variable("a.b.c", -5)))
    assert resolve(spaced, lambda _: 1).outcome.total == -3
    assert total("4d6kh@k", [1, 2, 3, 4], k=2) == 7
    assert total("4d6>=@k", [1, 2, 3, 4], k=2) == 3


@pytest.mark.parametrize(
    ("rounding", "positive", "negative"),
    [
        (None, 3, -4),
        (Rounding.DOWN, 3, -4),
        (Rounding.UP, 4, -3),
        (Rounding.NEAREST, 4, -3),
        (Rounding.TOWARD_ZERO, 3, -3),
    ],
)
def test_the_total_alone_is_rounded(rounding: Rounding | None, positive: int, negative: int) -> None:
    for notation, expected, exact in (("7/2", positive, "7/2"), ("-7/2", negative, "-7/2")):
        result = resolve(NotationCheck(notation, rounding=rounding), lambda _: 1)
        assert (result.outcome.exact, result.outcome.total) == (exact, expected)
        assert result.value.total == expected


def test_a_label_is_inherited_and_has_a_total() -> None:
    labels = outcome("2d6[fire]+1d8[cold]+(1d4+@m)[fire]", [1, 2, 3, 4], m=1).labels
    assert labels == (LabelTotal("fire", "8", 8), LabelTotal("cold", "3", 3))
    assert outcome("(1d6[fire]/2)[fire]", [3]).labels == (LabelTotal("fire", "3/2", 1),)
    assert outcome("((1d6[fire])+2)[cold]", [3]).labels == (LabelTotal("fire", "3", 3), LabelTotal("cold", "5", 5))
    assert outcome("{1d6[fire], 1d8[cold]}kh1", [3, 4]).labels == (
        LabelTotal("fire", "0", 0),
        LabelTotal("cold", "4", 4),
    )


def test_a_repeat_has_results_and_no_total() -> None:
    result = resolved("2x{2d6kh1>=5}", [6, 1, 4, 4])
    assert (result.outcome.exact, result.outcome.total, result.outcome.dice) == ("", None, ())
    assert [(each.total, each.successes) for each in result.outcome.results] == [(1, 1), (0, 0)]
    assert [[die.draw for die in each.dice] for each in result.outcome.results] == [[0, 1], [2, 3]]
    assert [value.total for value in result.value.results] == [1, 0]


def test_a_die_that_explodes_for_ever_ends_in_a_limit_and_keeps_its_draws() -> None:
    result = resolve(check("1d6!"), lambda _: 6)
    assert isinstance(result.limit_reached, LimitReached)
    assert (result.limit_reached.limit, result.limit_reached.maximum) == ("again_per_die", 100)
    assert (result.outcome, len(result.draws)) == (None, 101)


def test_the_draws_of_a_record_end_in_a_limit() -> None:
    result = resolve(check("1000d2!"), lambda _: 2)
    assert result.outcome is None
    many = resolve(check("+".join(["1000d6!o"] * 6)), lambda _: 6)
    assert many.limit_reached is not None
    assert (many.limit_reached.limit, len(many.draws)) == ("draws", 10_000)


LINES: list[tuple[str, list[int], str]] = [
    ("4d6kh3", [5, 4, 3, 2], "4d6kh3: 5 4 3 (2) = 12"),
    ("2+3", [], "2+3 = 5"),
    ("d20+5 # attack", [7], "1d20+5 # attack: 7 = 12"),
    ("3d6!", [6, 1, 2, 3], "3d6!: 6! 1 2 3 = 12"),
    ("2d6rr1", [1, 4, 5], "2d6rr1: (1r) 4 5 = 9"),
    ("2d6!!", [6, 1, 2], "2d6!!: 7! (1) 2 = 9"),
    ("3d10>=8", [8, 1, 9], "3d10>=8: 8\u2713 1 9\u2713 = 2 successes"),
    ("3d10>=8f1", [8, 1, 4], "3d10>=8f1: 8\u2713 1\u2717 4 = 0 (1 success, 1 failure)"),
    ("1d6/2", [3], "1d6/2: 3 = 1 (3/2 rounded)"),
    ("2d6[fire]+1", [3, 4], "2d6[fire]+1: 3 4 = 8 (fire 7)"),
    ("3d6sd", [2, 6, 4], "3d6sd: 6 4 2 = 12"),
    ("3d6s", [2, 6, 4], "3d6sa: 2 4 6 = 12"),
    ("2x{1d6}", [2, 6], "2x{1d6}: 2 = 2; 6 = 6"),
]


@pytest.mark.parametrize(("notation", "faces", "line"), LINES, ids=[row[0] for row in LINES])
def test_the_line_for_the_table(notation: str, faces: list[int], line: str) -> None:
    assert text(check(notation), outcome(notation, faces), ()).line == line


def test_the_steps_say_what_happened_to_which_dice() -> None:
    notation = "4d6rr1kh3"
    steps = text(check(notation), outcome(notation, [5, 1, 4, 3, 2]), ()).steps
    assert steps == ("rerolled (r): 1", "dropped: 2")


def test_the_derived_tree_has_a_total_and_a_span_at_each_node() -> None:
    notation = "2*(2d6kh1 + 3) - 1d4[x]"
    tree = explain_tree(check(notation), resolved(notation, [2, 5, 3]).draws)
    assert (tree.kind, tree.total, tree.draws) == ("chain", "13", (0, 1, 2))
    product, label = tree.children
    assert (product.total, notation[product.span.start : product.span.end]) == ("16", "2*(2d6kh1 + 3)")
    pool = product.children[1].children[0]
    assert (pool.text, pool.total, pool.draws) == ("2d6kh1", "5", (0, 1))
    assert notation[pool.span.start : pool.span.end] == "2d6kh1"
    assert (label.total, label.label, label.children[0].label) == ("3", "x", "x")


def test_the_derived_tree_of_a_repeat_has_a_child_for_each_result() -> None:
    tree = explain_tree(check("2x{1d6/2}"), resolved("2x{1d6/2}", [3, 4]).draws)
    assert (tree.kind, tree.total, [child.total for child in tree.children]) == ("repeat", "", ["3/2", "2"])


def test_the_derived_tree_refuses_the_draws_of_another_roll() -> None:
    from fairroll_rules.errors import AnswerError

    for notation in ("1d6", "3d6", "2d8"):
        with pytest.raises(AnswerError, match="not the draws"):
            explain_tree(check(notation), resolved("2d6", [1, 2]).draws)


def test_an_exact_total_is_no_float_away_from_the_truth() -> None:
    big = outcome("9999999999*900000000/7", [])
    assert big.exact == str(Fraction(9999999999 * 900000000, 7))
    assert big.total == 9999999999 * 900000000 // 7
