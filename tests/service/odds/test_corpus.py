"""Every notation that is known of other tables has exact odds, quickly, and they are those of the rules themselves."""

import csv
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fairroll.odds.labels import label_totals, marks
from fairroll.odds.quantities import LABEL, quantities_of
from fairroll_rules.errors import CheckError, LimitReached
from fairroll_rules.notation import Dialect
from fairroll_rules.odds import Odds, distribution
from fairroll_rules.systems import notation
from fairroll_rules.systems.notation import NotationCheck, Variable
from tests.service.odds.known import as_weights

TESTS = Path(__file__).parents[2]
FILES = {
    Dialect.AVRAE: "peers/avrae.tsv",
    Dialect.RPG_DICE_ROLLER: "peers/rpg_dice_roller.tsv",
    Dialect.ROLL20: "rules/notation/roll20.tsv",
    Dialect.FOUNDRY: "rules/notation/foundry.tsv",
}
VARIABLES = tuple([Variable(name, 3) for name in ("Strength Mod", "lvl", "abilities.str.mod", "prof")])
MOST_WORK = 40_000
"""A sixth of what odds may cost: about a third of a second, and hardly one notation needs a tenth of that."""
PATHS = 1_500
"""What the walk through the rules may cost here."""

MORE: dict[Dialect, list[str]] = {
    Dialect.STANDARD: [
        "4d6!kh3+1d8rr1-2d4",
        "8d6!kh4",
        "6d10!dl2",
        "3d6u+2d8",
        "2d20kh1cs>=19cf",
        "{2d20cs,1d12}kh1",
        "(1d3)d6cs>4",
        "6d10!dh1",
        "{8d6,8d6,8d6}kh2",
        "20d10>=8f1",
        "3d6!>2",
        "10d10kh(1d4)",
        "100d6kh(1d4)",
        "60d6!kh3",
    ],
    Dialect.ROLL20: [
        "{4d6r<2}kh3 + [[1d4]] + 3",
        "4d6!kh3+[[1d4]]",
        "[[1d4]]d6!+[[2d6]]",
        "{8d6+8d8+4}kh5",
        "{6d6!+4d8}kh3",
        "10d10cs>8cf1+[[1d6]]",
        "5d6kh([[1d4]])",
        "[[1d4]]d[[1d6]]",
        "20d10mt3",
    ],
    Dialect.FOUNDRY: ["20d10cs>=8", "8d6x6kh4", "20d6even", "30d10k>4", "12d10ms>=60", "10d10sf<3"],
    Dialect.AVRAE: ["8d6e6kh4", "20d6k>4", "10d10rr<3e10", "8d6ro<3mi2", "1d20+1d4>15", "1d6e1e6"],
    Dialect.RPG_DICE_ROLLER: [
        "4d6r<=2kh3!",
        "8d10!r<=2",
        "6d6u>2",
        "6d6uo",
        "{4d6+2d8}kh3",
        "10d10>=8f=1",
        "8d6!!min2r=1",
        "1d6!<>3",
    ],
}
"""Notations at which a walk through all ways of the dice would be long, and what dialects add."""


def texts(dialect: Dialect) -> Iterator[str]:
    if dialect in FILES:
        with (TESTS / FILES[dialect]).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                yield row["notation"]
    yield from MORE[dialect]


@cache
def checks(dialect: Dialect) -> tuple[NotationCheck, ...]:
    """Those that are rolled; what is refused is a matter of other tests."""
    found = []
    for text in texts(dialect):
        try:
            found.append(NotationCheck(text, dialect, VARIABLES))
        except CheckError:
            continue
    return tuple(found)


def walked(check: NotationCheck, function: Callable[..., Any], *arguments: object) -> Odds[Any] | None:
    """What the rules say, path by path, if there are few; None otherwise."""
    try:
        return distribution(function, *arguments, budget=PATHS)
    except LimitReached:
        return None


def readings(check: NotationCheck) -> dict[str, tuple[Callable[..., Any], tuple[object, ...], Callable[[Any], int]]]:
    """How the rules are asked for each quantity: the function, its arguments, and where its value has it."""
    program = notation.program_of(check)
    whole = notation.resolve, (check,)
    found: dict[str, Any] = {
        name: (*whole, lambda value, name=name: getattr(value, name)) for name in ("total", "successes", "failures")
    }
    for place, name in enumerate(("critical", "fumble")):
        found[name] = marks, (program.runner,), lambda value, place=place: value[place]
    for place, label in enumerate(program.labels):
        run = label_totals, (program.runner, program.labels)
        found[LABEL + label] = (*run, lambda value, place=place: int(value[place] // 1))
    return found


@pytest.mark.parametrize("dialect", Dialect)
def test_there_are_many(dialect: Dialect) -> None:
    known = {check.text for check in checks(dialect)}
    assert known >= set(MORE[dialect])
    assert dialect not in FILES or len(known) > 60


@pytest.mark.slow
@pytest.mark.parametrize("dialect", Dialect)
def test_none_is_estimated_and_each_says_what_the_rules_say(dialect: Dialect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairroll.odds.chances.MAX_WORK", MOST_WORK)
    compared = 0
    for check in checks(dialect):
        asked = readings(check)
        for quantity in quantities_of(check):
            chances = quantity.exact()
            if quantity.name not in asked:
                continue
            function, arguments, number = asked[quantity.name]
            rules = walked(check, function, *arguments)
            if rules is None:
                continue
            compared += 1
            mine, theirs = as_weights(chances), rules.map(number)
            # Cut chains are cut at different lengths.
            allowed = chances.lost + theirs.lost
            for value in {*mine, *theirs.weights}:
                apart = abs(mine.get(value, Fraction(0)) - theirs.weights.get(value, Fraction(0)))
                assert apart <= allowed, (check.text, quantity.name, value)
    assert compared > len(checks(dialect)) // 2
