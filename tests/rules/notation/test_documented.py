"""Roll20 and Foundry, whose originals cannot be asked, against their documentation: a page stands beside each one.

Totals, ends and means were worked out from those pages by hand or by an enumeration that shares no code with this one.
"""

import csv
from fractions import Fraction
from pathlib import Path

import pytest

from fairroll_rules.errors import CheckError
from fairroll_rules.given import GivenFaces
from fairroll_rules.notation import Dialect
from fairroll_rules.resolve import resolve
from fairroll_rules.systems import notation
from fairroll_rules.systems.notation import NotationCheck, NotationOutcome, Variable
from tests.dialect_differences import Difference, differences
from tests.exact_means import mean_between

HERE = Path(__file__).parent
VARIABLES = (Variable("abilities.str.mod", 3), Variable("prof", 2), Variable("lvl", 4), Variable("Strength Mod", 3))
DIALECTS = (Dialect.ROLL20, Dialect.FOUNDRY)


def rows(dialect: Dialect) -> list[dict[str, str]]:
    with (HERE / f"{dialect.name.lower()}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


ROWS = [(dialect, row) for dialect in DIALECTS for row in rows(dialect)]
NAMES = [f"{dialect.name}: {row['notation']} on {row['faces']}" for dialect, row in ROWS]


def check(dialect: Dialect, row: dict[str, str]) -> NotationCheck:
    return NotationCheck(row["notation"], dialect, variables=VARIABLES)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_at_least_sixty_notations_are_from_the_documentation(dialect: Dialect) -> None:
    assert len({row["notation"] for row in rows(dialect)}) >= 60
    assert all(row["page"].startswith("https://") for row in rows(dialect))


@pytest.mark.parametrize(("dialect", "row"), ROWS, ids=NAMES)
def test_it_comes_to_what_the_page_says(dialect: Dialect, row: dict[str, str]) -> None:
    given = GivenFaces(int(face) for face in row["faces"].split())
    outcome = resolve(check(dialect, row), given).outcome
    given.finish()
    assert isinstance(outcome, NotationOutcome)
    assert outcome.total == int(row["total"])


@pytest.mark.parametrize(("dialect", "row"), ROWS, ids=NAMES)
def test_its_bounds_and_its_mean(dialect: Dialect, row: dict[str, str]) -> None:
    bounds = notation.program_of(check(dialect, row)).bounds
    assert (bounds.minimum, bounds.maximum) == (int(row["least"]), int(row["most"]))
    least, most = mean_between(check(dialect, row), cut=False)
    assert least <= Fraction(row["mean"]) <= most
    assert most - least < Fraction(1, 10**6)


@pytest.mark.parametrize("difference", [each for each in differences() if each.dialect in DIALECTS], ids=str)
def test_where_the_original_does_not_do_what_its_page_says_we_do(difference: Difference) -> None:
    given = GivenFaces(difference.faces)
    if difference.ours.startswith("refused"):
        with pytest.raises(CheckError) as caught:
            NotationCheck(difference.text, difference.dialect)
        assert difference.ours == f"refused: {caught.value.reason}"
        return
    outcome = resolve(NotationCheck(difference.text, difference.dialect), given).outcome
    given.finish()
    assert isinstance(outcome, NotationOutcome)
    assert outcome.total == int(difference.ours) != int(difference.theirs)
