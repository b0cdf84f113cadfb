"""Properties of all dialects: whatever stands in a text, the answer is a roll within its bounds or a typed refusal."""

import csv
import random
from fractions import Fraction
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from fairroll_rules.errors import CheckError
from fairroll_rules.notation import Dialect, parse
from fairroll_rules.notation.translate import translated
from fairroll_rules.resolve import resolve
from fairroll_rules.systems import notation
from fairroll_rules.systems.notation import NotationCheck, NotationOutcome, Variable
from tests.dialect_texts import totals
from tests.property.notations import LONG

TESTS = Path(__file__).parents[1]
FILES = sorted([*TESTS.glob("peers/*.tsv"), *TESTS.glob("rules/notation/*.tsv")])
TEXTS = [
    row["notation"]
    for file in FILES
    for row in csv.DictReader(file.read_text("utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
]
SIGNS = '0123456789dkhlrxeo!><=(){}[],+-*/% #@?|.pfmsuaci"'


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A notation of some dialect in which signs were added, removed or copied from another one."""
    text: str = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        if draw(st.booleans()):
            text = text[:at] + text[at + 1 :]
        else:
            text = text[:at] + draw(st.text(SIGNS, min_size=1, max_size=1) | st.sampled_from(TEXTS)) + text[at:]
    return text


@st.composite
def formulas(draw: st.DrawFn) -> str:
    """A sum or quotient that all dialects have words for, often a fraction below zero."""
    terms = ["1d4", "2d6kh1", "3", "8", "(1d4-8)", "3d4/2", "@str"]
    parts = draw(st.lists(st.sampled_from(terms), min_size=1, max_size=4))
    text = parts[0]
    for part in parts[1:]:
        text += draw(st.sampled_from("+-*")) + part
    if draw(st.booleans()):
        text = f"({text})/{draw(st.integers(2, 5))}"
    return text + draw(st.sampled_from(["", "", " [cold]", "-9"]))


@given(mutated(), st.sampled_from(Dialect))
@settings(max_examples=20_000 if LONG else 400, deadline=None)
def test_a_text_of_any_dialect_is_a_roll_within_its_bounds_or_a_typed_refusal(text: str, dialect: Dialect) -> None:
    try:
        tree = parse(text, dialect)
    except CheckError:
        return
    assert parse(tree.canonical, tree.canonical_dialect).root == tree.root
    try:
        check = NotationCheck(text, dialect, variables=tuple(Variable(name, 3) for name in tree.variables))
    except CheckError:
        return
    bounds = notation.program_of(check).bounds
    outcome = resolve(check, lambda sides: random.Random(f"{text} {sides}").randint(1, sides)).outcome
    if isinstance(outcome, NotationOutcome) and outcome.exact:
        assert bounds.minimum <= Fraction(outcome.exact) <= bounds.maximum


def _translated(text: str, dialect: Dialect, other: Dialect) -> str | None:
    try:
        return translated(parse(text, dialect), other)
    except CheckError:
        return None


@given(mutated(), st.sampled_from(Dialect), st.sampled_from(Dialect))
@settings(max_examples=20_000 if LONG else 400, deadline=None)
def test_what_is_translated_comes_to_the_same_on_the_same_faces(text: str, dialect: Dialect, other: Dialect) -> None:
    there = _translated(text, dialect, other)
    rolled = totals(text, dialect) if there is not None else ""
    if there is not None and not isinstance(rolled, str):
        assert totals(there, other) == rolled


@given(formulas(), st.sampled_from(Dialect), st.sampled_from(Dialect), st.integers(-9, 9))
@settings(max_examples=20_000 if LONG else 300, deadline=None)
def test_so_are_sums_and_fractions_below_zero(text: str, dialect: Dialect, other: Dialect, value: int) -> None:
    there = _translated(text, dialect, other)
    if there is not None:
        assert totals(there, other, value=value) == totals(text, dialect, value=value)
