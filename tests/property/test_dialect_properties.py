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


@given(mutated(), st.sampled_from(Dialect), st.sampled_from(Dialect))
@settings(max_examples=20_000 if LONG else 400, deadline=None)
def test_what_is_translated_is_read_as_the_same_tree(text: str, dialect: Dialect, other: Dialect) -> None:
    try:
        tree = parse(text, dialect)
        there = translated(tree, other)
    except CheckError:
        return
    assert parse(there, other).root == tree.root
