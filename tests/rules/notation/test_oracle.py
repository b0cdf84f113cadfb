"""The parser against the independent grammar on every text that the other tests have by hand."""

import pytest

from fairroll_rules.errors import CheckError
from fairroll_rules.notation import parse
from tests.rules.notation.oracle import shape, shape_of
from tests.rules.notation.test_evaluation import FATES, LINES, TOTALS
from tests.rules.notation.test_parsing import CANONICAL, WARNINGS
from tests.rules.notation.test_refusals import REFUSALS

BY_HAND = [row[0] for rows in (TOTALS, FATES, LINES, CANONICAL, WARNINGS) for row in rows]
READ = sorted(text for text in set(BY_HAND) if text.isascii() and text != "4d6f1")
SYNTAX = {"NOTATION_SYNTAX", "TOKEN_OF_OTHER_DIALECT", "COMPARES_TOTAL", "DIALECT_CONFLICT", "UNKNOWN_FUNCTION"}
UNREAD = sorted(text for text, reason, _ in REFUSALS if reason in SYNTAX and text.isascii())


@pytest.mark.parametrize("text", READ)
def test_both_read_the_same_tree(text: str) -> None:
    assert shape(text) == shape_of(parse(text).root)


@pytest.mark.parametrize("text", UNREAD)
def test_neither_reads_it(text: str) -> None:
    assert shape(text) is None
    with pytest.raises(CheckError):
        parse(text)


def test_the_oracle_can_tell_trees_apart() -> None:
    assert shape("-2^2") != shape("(-2)^2")
    assert shape("4d6!>=5") != shape("4d6>=5!")
    assert shape("1+2*3") != shape("(1+2)*3")
