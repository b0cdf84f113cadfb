"""Avrae and rpg-dice-roller against the originals themselves: what they accept, what they roll, how they fall."""

import csv
import json
import shutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from math import floor
from pathlib import Path
from typing import Any

import pytest

from fairroll_rules.decisions import GivenAnswers
from fairroll_rules.dice import DrawnDice, Face, Purpose
from fairroll_rules.errors import CheckError
from fairroll_rules.given import GivenFaces
from fairroll_rules.notation import Dialect, parse
from fairroll_rules.notation.dialects import reading_of
from fairroll_rules.notation.exact import ROUND
from fairroll_rules.notation.translate import translated
from fairroll_rules.outcome import Fate
from fairroll_rules.resolve import resolve
from fairroll_rules.systems import notation
from fairroll_rules.systems.notation import NotationCheck, NotationOutcome
from tests.dialect_differences import Difference, differences
from tests.dialect_texts import dialect_texts
from tests.exact_means import mean_between
from tests.node import NODE, packages, run
from tests.peers.fed import FedDice

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SEEDS = 20
DEPTH, MOST = 3, 800
"""Where walks through every way to fall are cut: rolls again of a way, and ways."""

DIALECTS = (Dialect.AVRAE, Dialect.RPG_DICE_ROLLER)

Ask = Callable[[Dialect, dict[str, Any]], list[Any]]


@cache
def corpus(dialect: Dialect) -> tuple[dict[str, str], ...]:
    """Notations with the ends and the mean of their totals, both empty where they are refused.

    The note is `refused` where we alone refuse, and `cut` where exact odds are too much work and dice are walked
    through until little is left.
    """
    with (HERE / f"{dialect.name.lower()}.tsv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="session")
def ask(pytestconfig: pytest.Config) -> Ask:
    run(["sh", ROOT / "tools/venv.sh", ".venv-peers", "peers"])

    def asked(dialect: Dialect, request: dict[str, Any]) -> list[Any]:
        if dialect is Dialect.AVRAE:
            command: list[str | Path] = [ROOT / ".venv-peers/bin/python", HERE / "d20_rolls.py"]
        else:
            folder = packages(pytestconfig, HERE)
            command = [NODE, shutil.copy(HERE / "rpg_rolls.mjs", folder)]
        answers: list[Any] = json.loads(run(command, given=json.dumps(request)))
        return answers

    return asked


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_corpus_is_large(dialect: Dialect) -> None:
    texts = [row["notation"] for row in corpus(dialect)]
    assert len(set(texts)) == len(texts) >= 150


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_valid_and_what_it_comes_to_is_as_in_the_original(dialect: Dialect, ask: Ask) -> None:
    texts = [row["notation"] for row in corpus(dialect)]
    listed = {each.text for each in differences() if each.dialect is dialect}
    rolled = 0
    for text, rolls in zip(texts, ask(dialect, {"texts": texts, "seeds": SEEDS}), strict=True):
        if text in listed:
            continue
        if "error" in rolls:
            with pytest.raises(CheckError):
                NotationCheck(text, dialect)
            continue
        for theirs in rolls:
            assert ours_on(text, dialect, theirs["draws"]) == (text, theirs["total"], theirs["kept"])
            rolled += 1
    assert rolled > 150 * SEEDS


def ours_on(text: str, dialect: Dialect, draws: list[dict[str, Any]]) -> tuple[str, float, list[int]]:
    """Return the text, its total as the original would write it, and the values of the dice that count."""
    dice = FedDice(draws)
    _, outcome = notation.resolve(dice, GivenAnswers(()), NotationCheck(text, dialect))
    assert not dice.unused, text
    return text, written(outcome, dialect), kept(outcome)


def written(outcome: NotationOutcome, dialect: Dialect) -> float:
    """The original shows what is not whole with two decimals."""
    assert outcome.total is not None
    return outcome.total if dialect is Dialect.AVRAE else round(float(Fraction(outcome.exact)), 2)


def kept(outcome: NotationOutcome) -> list[int]:
    return sorted(die.value for die in outcome.dice if Fate.KEPT in die.fates)


LISTED = [each for each in differences() if each.dialect in DIALECTS]


@pytest.fixture(scope="session")
def listed(ask: Ask) -> dict[Difference, dict[str, Any]]:
    """What the originals answer to all listed differences."""
    answers: dict[Difference, dict[str, Any]] = {}
    for dialect in DIALECTS:
        asked = [each for each in LISTED if each.dialect is dialect]
        request = {"texts": [each.text for each in asked], "faces": [each.faces for each in asked]}
        answers |= dict(zip(asked, ask(dialect, request), strict=True))
    return answers


@pytest.mark.parametrize("difference", LISTED, ids=str)
def test_each_listed_difference_is_one(difference: Difference, listed: dict[Difference, dict[str, Any]]) -> None:
    theirs = listed[difference]
    if difference.theirs == "refused":
        assert "error" in theirs
    else:
        assert (theirs["total"], theirs["kept"]) == (float(difference.theirs), list(difference.their_kept))
    if difference.ours.startswith("refused"):
        with pytest.raises(CheckError) as caught:
            NotationCheck(difference.text, difference.dialect)
        assert difference.ours == f"refused: {caught.value.reason}"
    else:
        if "draws" in theirs:
            _, total, values = ours_on(difference.text, difference.dialect, theirs["draws"])
        else:
            outcome = resolve(NotationCheck(difference.text, difference.dialect), GivenFaces(difference.faces)).outcome
            total, values = written(outcome, difference.dialect), kept(outcome)
        assert (total, values) == (float(difference.ours), list(difference.our_kept))


WRITTEN = (
    "1d20+5 # attack", "1d20 # attack", "2*(1d6+2) # hit", "1d4+2*1d8 # hit", "(4d6kh3)!", "(4d6!)kh3",
    "(2d6kh1)min4", "(4d6kh3)>=4", "(4d6dh1)dl1", "(4d6kh3)kl1", "1d6[a]+2[b]", "1d6[a]+1d4[b]", "(1d6+2)[b]",
    "1d6[a][b]", "max(1d6[a], 2)", "{1d6[a], 1d8[b]}kh1", "{1d6, 1d8}kh1[c]+1", "3d20>=(21-5)", "3d6>=(7/2)",
    "3d6>=(7/3)", "4dF=(-1)", "4dF>(0-1)", "4d6kh(1+1)", "4d6min(6/3)", "3d6ro=(2^1)", "(1+2)d6", "2d(3)",
    "2d(2*3)", "(3)d6", "(1d4)d6", "0d6", "1000d6kh1", "{{1d6, 1d8}kh1, 1d10}kh1", "{1d6+{1d4, 1d8}}",
    "floor({1d6, 1d8}kh1/2)", "-1d6", "-(1d6)", "-2^2", "2*-3", "2^(1+1)", "7%3", "1d20%7", "max(1d6, 1d8, 2)",
    "min(1d6, 2)", "round(1d6/4)", "abs(1d6-4)", "2^3^2", "0.5*3d6", "{2d6, 1d8}dl1", "4d6cs>4cf", "4d6sd", "4d6!!",
    "4d6!p", "4d6!!p>=5", "6d6u", "3d6uo", "4d6rr1", "4d6ro<3", "10d10>=8f1", "4d6dh1dl1", "d%", "4dF", "4dF.1",
    "2d20kl1", "3d6kh5", "3d6!kh5", "3d6<>2", "4d6min2max5", "4d6 # [x]", "4d6 # a ] b", "1d20+1d4 # it's",
)  # fmt: skip
"""What one dialect has words for and another takes in other places, or nowhere."""


def translations(dialect: Dialect) -> Iterator[tuple[Dialect, str, str]]:
    """Yield notations with what they are in another dialect, where it can say them."""
    listed = {each.text for each in differences() if each.dialect is dialect}
    for own, text in (*[(Dialect.STANDARD, text) for text in WRITTEN], *dialect_texts()):
        try:
            there = translated(parse(text, own), dialect)
        except CheckError:
            continue
        # The package reads rolls, and not the commands of its chat.
        if there not in listed and not parse(text, own).variables and not there.startswith("!"):
            yield own, text, there


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_original_takes_what_is_translated_and_comes_to_the_same(dialect: Dialect, ask: Ask) -> None:
    found = list(translations(dialect))
    texts = [there for _, _, there in found]
    for (own, text, there), rolls in zip(found, ask(dialect, {"texts": texts, "seeds": 3}), strict=True):
        assert "error" not in rolls, (own, text, there)
        for theirs in rolls:
            _, total, _ = ours_on(text, own, theirs["draws"])
            # What shows fractions rounds nothing.
            assert (text, there, floor(total)) == (text, there, floor(theirs["total"]))
    assert len(found) > 300


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_all_ways_to_fall_weigh_the_same_as_in_the_original(dialect: Dialect, ask: Ask) -> None:
    listed = {each.text for each in differences() if each.dialect is dialect}
    texts = [row["notation"] for row in corpus(dialect) if row["least"] and row["notation"] not in listed]
    compared = 0
    for text, theirs in zip(texts, ask(dialect, {"texts": texts, "depth": DEPTH, "most": MOST}), strict=True):
        if theirs is None:
            continue
        weights = {
            total: sum((Fraction(count) / Fraction(ways) for ways, count in counts), Fraction())
            for total, counts in theirs["totals"]
        }
        assert (text, weights) == (text, walked(text, dialect))
        compared += 1
    assert compared > 120


def walked(text: str, dialect: Dialect) -> dict[float, Fraction]:
    """The weights of all totals, as the workers find them: faces tried one by one, cut at DEPTH rolls again."""
    check = NotationCheck(text, dialect)
    weights: dict[float, Fraction] = {}
    stack: list[tuple[tuple[int, ...], Fraction, int]] = [((), Fraction(1), 0)]
    while stack:
        faces, weight, chain = stack.pop()
        dice = Scripted(faces)
        try:
            _, outcome = notation.resolve(dice, GivenAnswers(()), check)
        except More as more:
            if more.again and chain == DEPTH:
                continue
            longer = chain + more.again
            stack += [((*faces, face), weight / more.sides, longer) for face in range(1, more.sides + 1)]
            continue
        total = written(outcome, dialect)
        weights[total] = weights.get(total, Fraction()) + weight
    return weights


class More(Exception):
    def __init__(self, sides: int, *, again: bool) -> None:
        super().__init__(sides)
        self.sides, self.again = sides, again


class Scripted(DrawnDice):
    """Dice that fall as scripted, and ask for more where the script ends."""

    def __init__(self, faces: tuple[int, ...]) -> None:
        super().__init__(self._next)
        self.left: Iterator[int] = iter(faces)
        self.rolling_again = False

    def _next(self, sides: int) -> int:
        face = next(self.left, None)
        if face is None:
            raise More(sides, again=self.rolling_again)
        self.rolling_again = False
        return face

    def again(self, face: Face, purpose: Purpose) -> Face:
        self.rolling_again = True
        return super().again(face, purpose)


ROWS = [(dialect, row) for dialect in DIALECTS for row in corpus(dialect) if row["least"]]
NAMES = [f"{dialect.name}: {row['notation']}" for dialect, row in ROWS]


@pytest.mark.parametrize(("dialect", "row"), ROWS, ids=NAMES)
def test_bounds_hold_and_are_reached(dialect: Dialect, row: dict[str, str]) -> None:
    bounds = notation.program_of(NotationCheck(row["notation"], dialect)).bounds
    whole = ROUND[reading_of(dialect).rounding]
    least, most = whole(bounds.minimum), whole(bounds.maximum)
    assert (least, most) == (int(row["least"]), int(row["most"]))


@pytest.mark.parametrize(("dialect", "row"), ROWS, ids=NAMES)
def test_the_mean_is_exact(dialect: Dialect, row: dict[str, str]) -> None:
    cut = row["note"] == "cut"
    least, most = mean_between(NotationCheck(row["notation"], dialect), cut=cut)
    assert least <= Fraction(row["mean"]) <= most
    assert most - least < (1 if cut else Fraction(1, 10**4))
