"""What broke other engines, row by row: `tests/vectors/peer_faults.tsv` says what we answer to each text."""

import csv
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import pytest

from fairroll_rules.errors import CheckError
from fairroll_rules.notation import analyse, parse
from fairroll_rules.odds import distribution
from fairroll_rules.systems import notation
from tests.rules.notation.rolling import check, dice, outcome, resolved, total

_FILE = Path(__file__).parents[2] / "vectors" / "peer_faults.tsv"
ROWS = {row["id"]: row for row in csv.DictReader(_FILE.read_text("utf-8").splitlines(), delimiter="\t")}

# Texts that the file describes in place of spelling them out.
WRITTEN_OUT = {"V3a": "(" * 3000 + "1" + ")" * 3000, "V3b": "+".join("1" * 3000), "V3c": "7" * 5000}


@dataclass(frozen=True)
class Refused:
    """Refused while parsing or analysing, so before any draw."""

    reason: str
    limit: str = ""
    value: str = ""
    hint: tuple[str, ...] = ()
    span: tuple[int, int] | None = None


@dataclass(frozen=True)
class Rolls:
    """Valid, with the bounds of its total and totals for given faces."""

    low: int
    high: int | None
    faces: dict[tuple[int, ...], int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    canonical: str = ""
    comment: str = ""


LIMIT = "LIMIT_EXCEEDED"

EXPECTED: dict[str, Refused | Rolls] = {
    "I1a": Refused("NEVER_ENDS"),
    "I1b": Refused("NEVER_ENDS"),
    "I3": Refused(LIMIT, "dice_per_pool", "99^99"),
    "I5a": Refused(LIMIT, "dice_per_pool", "999999999999"),
    "I5b": Refused(LIMIT, "dice_per_pool", "5000"),
    "I7": Refused(LIMIT, "dice_per_pool", "9999999", hint=("1000000 sides",)),
    "I9": Refused(LIMIT, "dice_per_pool", "100000"),
    "I15a": Rolls(6, 25, {(3, 17): 22, (20, 1): 25}),
    "I15b": Rolls(3, 13, {(1, 4, 6): 11}),
    "I15c": Rolls(1, 20, {(3, 17): 17}, ("DROP_LOWEST",), "2d20dl1"),
    "I17": Rolls(5, None, {(8, 9, 2, 10, 10, 1, 3, 4): 47}, ("MARK_ONLY",), "5d10!>=9cs>=8"),
    "I19": Rolls(6, 48, {(4, 4, 4, 1, 1, 2, 3, 4, 4): 27}),
    "I21": Rolls(0, 0, {(): 0}),
    "I23a": Rolls(-18, -3, {(1, 2, 3): -6}),
    "I23b": Refused("COUNT_NEGATIVE", value="-3"),
    "I25": Rolls(-4, 15, {(7,): 2}),
    "I27": Rolls(3, 41, {(3, 17, 1): 21}, ("ONE_SIDED_DIE",), "2d20+1d1"),
    "I29": Rolls(4, 19, {(1, 2, 3): 7}),
    "I31a": Rolls(0, 1, {(5,): 1, (6,): 0}),
    "I31b": Refused("NOT_WHOLE", value="1/2"),
    "I33": Refused("NOT_WHOLE", hint=("floor", "ceil", "round")),
    "I35": Rolls(4, None, {(10, 3, 9, 2, 2, 8, 1): 32}),
    "I37": Refused("UNKNOWN_FUNCTION", value="borf", span=(0, 4)),
    "I39": Rolls(6, 25, {(7,): 12}, comment="testing"),
    "I41": Rolls(6, 11, {(4,): 9}),
    "I43": Refused("COMPARES_TOTAL", hint=("outside", "pool"), span=(6, 8)),
    "I45a": Rolls(3, None, {(5, 6, 1, 4, 2): 18}, ("STRICT_COMPARISON",)),
    "I45b": Rolls(0, 10, {(1, 2, 3, 4, 5, 6, 7, 8, 9, 10): 3}),
    "V1a": Rolls(10, 60, {(1,) * 9 + (6,): 15}),
    "V1b": Refused("NOTATION_SYNTAX", span=(2, 3)),
    "V3a": Refused(LIMIT, "depth", "65"),
    "V3b": Refused(LIMIT, "nodes"),
    "V3c": Refused(LIMIT, "digits"),
    "V5": Rolls(2, 12, {(3, 3, 3, 3): 6, (6, 6, 1, 1): 7, (2, 2, 2, 5): 4}),
    "V7a": Refused("DIVISION_BY_ZERO"),
    "V7b": Refused("DIVISION_BY_ZERO"),
    "V7c": Refused(LIMIT, "exponent", "999"),
    "V9": Rolls(3, 18, {(5, 4, 3, 2): 12}),
    "V11a": Refused("NEVER_ENDS"),
    "V11b": Refused("NEVER_ENDS"),
    "V11c": Refused("UNIQUE_IMPOSSIBLE", value="7"),
    "V15": Rolls(20, 20, {(1, 2, 5, 6): 20}),
    "V17a": Rolls(-6, -1, {(3,): -3}),
    "V17b": Refused("SIDES_TOO_FEW", value="0"),
    "V17c": Refused("NEVER_ENDS"),
}


def test_every_row_of_the_file_has_its_case() -> None:
    assert list(EXPECTED) == list(ROWS)


@pytest.mark.parametrize("row_id", ROWS)
def test_answers_where_others_failed(row_id: str) -> None:
    text = WRITTEN_OUT.get(row_id, ROWS[row_id]["text"])
    expected = EXPECTED[row_id]
    if isinstance(expected, Refused):
        with pytest.raises(CheckError) as caught:
            check(text)
        error = caught.value
        assert (error.reason, error.limit) == (expected.reason, expected.limit)
        assert error.span is not None
        assert 0 <= error.span.start <= error.span.end <= len(text)
        assert expected.value in error.value
        assert all(word in error.hint for word in expected.hint)
        assert expected.span in (None, (error.span.start, error.span.end))
        if expected.limit:
            assert error.maximum is not None
    else:
        tree = parse(text)
        bounds = analyse(tree, {})
        assert bounds.minimum == expected.low
        assert expected.high in (None, bounds.maximum)
        assert tuple(warning.code for warning in tree.warnings) == expected.warnings
        assert expected.canonical in ("", tree.canonical)
        assert tree.comment == expected.comment
        for faces, result in expected.faces.items():
            assert total(text, list(faces)) == result


def test_i17_explosions_and_marks_do_not_depend_on_the_written_order() -> None:
    faces = [8, 9, 2, 10, 10, 1, 3, 4]
    assert dice("5d10!>=9cs>=8", faces) == dice("5d10cs>=8!>=9", faces)
    assert dice("5d10cs>=8!>=9", faces) == [
        (8, "K*"), (9, "EK*"), (2, "K"), (10, "EK*"), (10, "EK*"), (1, "K"), (3, "K"), (4, "K")
    ]  # fmt: skip


def test_i19_each_die_that_shows_four_explodes_exactly_once() -> None:
    thrown = dice("6d4!o4", [4, 4, 4, 1, 1, 2, 3, 4, 4])
    assert [fates for _, fates in thrown] == ["EK", "K", "EK", "K", "K", "K", "K", "EK", "K"]


def test_i41_the_label_is_on_the_node_and_its_total_is_reported() -> None:
    labels = outcome("(1d6+5)[fire]", [4]).labels
    assert [(each.label, each.exact, each.total) for each in labels] == [("fire", "9", 9)]
    tree = notation.explain_tree(check("(1d6+5)[fire]"), resolved("(1d6+5)[fire]", [4]).draws)
    assert [child.label for child in tree.children[0].children] == ["fire", "fire"]


def test_v1b_stays_refused_right_after_its_twin_without_the_space() -> None:
    assert total("10d6", [1] * 10) == 10
    with pytest.raises(CheckError):
        check("1 0d6")
    assert total("10d6", [1] * 10) == 10


def test_v5_both_ends_are_dropped_by_index_on_ties() -> None:
    assert [fates for _, fates in dice("4d6dh1dl1", [3, 3, 3, 3])].count("D") == 2


def test_v9_the_mean_is_exact() -> None:
    odds = distribution(notation.resolve, check("4d6kh3"))
    assert sum([weight * (value.total or 0) for value, weight in odds.weights.items()]) == Fraction(15869, 1296)
