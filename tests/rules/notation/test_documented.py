"""Roll20 and Foundry, whose originals cannot be asked, against their documentation: a page stands beside each one.

Totals, ends and means were worked out from those pages by hand or by an enumeration that shares no code with this one.
The note is `slow` where exact odds by walking are too much work.
"""

import csv
from fractions import Fraction
from pathlib import Path

import pytest

from fairroll_rules.errors import CheckError
from fairroll_rules.given import GivenFaces
from fairroll_rules.notation import Dialect
from fairroll_rules.odds import distribution
from fairroll_rules.resolve import resolve
from fairroll_rules.systems import notation
from fairroll_rules.systems.notation import NotationCheck, NotationOutcome, Variable

HERE = Path(__file__).parent
VARIABLES = (Variable("abilities.str.mod", 3), Variable("prof", 2), Variable("lvl", 4), Variable("Strength Mod", 3))
DIALECTS = (Dialect.ROLL20, Dialect.FOUNDRY)


def rows(dialect: Dialect) -> list[dict[str, str]]:
    with (HERE / f"{dialect.name.lower()}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


ROWS = [(dialect, row) for dialect in DIALECTS for row in rows(dialect)]
NAMES = [f"{dialect.name}: {row['notation']} on {row['faces']}" for dialect, row in ROWS]
BOUNDED = [each for each in ROWS if each[1]["mean"]]


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


@pytest.mark.parametrize(("dialect", "row"), BOUNDED, ids=[f"{d.name}: {row['notation']}" for d, row in BOUNDED])
def test_its_bounds_and_its_mean(dialect: Dialect, row: dict[str, str]) -> None:
    program = notation.program_of(check(dialect, row))
    assert (program.bounds.minimum, program.bounds.maximum) == (int(row["least"]), int(row["most"]))
    if row["note"] == "slow":
        return
    found = distribution(notation.resolve, check(dialect, row))
    sums = [Fraction(value.total or 0) * weight for value, weight in found.weights.items()]
    mean = sum(sums, Fraction()) / sum(found.weights.values())
    assert abs(mean - Fraction(row["mean"])) <= found.lost * 10**6


def test_a_query_takes_the_choice_that_its_variable_counts() -> None:
    text = "/roll 1d20+?{Attack|Sword,2|Bow,1d4}"
    for choice, faces, total in ((1, [9], 11), (2, [9, 4], 13)):
        check = NotationCheck(text, Dialect.ROLL20, variables=(Variable("Attack", choice),))
        given = GivenFaces(faces)
        outcome = resolve(check, given).outcome
        given.finish()
        assert isinstance(outcome, NotationOutcome)
        assert outcome.total == total
    with pytest.raises(CheckError) as caught:
        NotationCheck(text, Dialect.ROLL20, variables=(Variable("Attack", 3),))
    assert (caught.value.reason, caught.value.minimum, caught.value.maximum) == ("OUT_OF_RANGE", 1, 2)
