"""Queries of Roll20: what is bound is one of the options, by its number or by its label."""

import pytest

from fairroll_rules.errors import CheckError
from fairroll_rules.given import GivenFaces
from fairroll_rules.notation import Dialect, parse
from fairroll_rules.resolve import resolve
from fairroll_rules.systems.notation import NotationCheck, NotationOutcome, Variable

POWER = "1d20+?{Power?|No,0|Yes,6}"
COUNT = "?{How many?|1|2|4|8}d6"
SLOT = "?{Slot|3,8d6|4,9d6}"
BLESS = "1d20+?{Bless|No,0|Yes,1d4}"
SPEED = "?{Speed|1,2|2,4|3,6}"
ATTACK = "?{Attack|Melee,/roll 1d20+5|Ranged,/roll 1d20+3}"
INLINE = "?{A|x,[[1d4]]d6|y,2}"

# a text, its answer, the faces, and the total
ANSWERED: list[tuple[str, Variable | None, list[int], int]] = [
    (POWER, None, [5], 5),
    (POWER, Variable("Power?", 6), [5], 11),
    (POWER, Variable("Power?", 0), [5], 5),
    (POWER, Variable("Power?", 0, "Yes"), [5], 11),
    (POWER, Variable("Power?", 0, "No"), [5], 5),
    (COUNT, None, [3], 3),
    (COUNT, Variable("How many?", 4), [1, 2, 3, 4], 10),
    (COUNT, Variable("How many?", 0, "2"), [1, 2], 3),
    (SLOT, Variable("Slot", 4), [1] * 9, 9),
    (SLOT, Variable("Slot", 0, "3"), [1] * 8, 8),
    (BLESS, Variable("Bless", 0, "Yes"), [5, 3], 8),
    (BLESS, Variable("Bless", 0), [5], 5),
    (SPEED, Variable("Speed", 2), [], 2),
    (SPEED, Variable("Speed", 0, "2"), [], 4),
    (SPEED, Variable("Speed", 3), [], 6),
    (ATTACK, Variable("Attack", 0, "Ranged"), [5], 8),
    ("?{Attack|\nMelee,\n/roll 1d20|\nRanged,\n/roll 1d8}", Variable("Attack", 0, "Ranged"), [5], 5),
    (INLINE, Variable("A", 0, "x"), [2, 3, 4], 7),
    (INLINE, Variable("A", 0, "y"), [], 2),
    ("1d20+?{Bonus|2}", Variable("Bonus", 5), [1], 6),
    ("1d20+?{Bonus|2}", None, [1], 3),
    ("1d20+?{Bonus|1d4}", Variable("Bonus", -2), [5], 3),
    ("1d20+?{Bonus|1d4}", None, [5, 4], 9),
    ("1d20+?{Bonus}", Variable("Bonus", 5), [1], 6),
]


@pytest.mark.parametrize(("text", "answer", "faces", "total"), ANSWERED, ids=str)
def test_an_answer_is_one_of_the_options(text: str, answer: Variable | None, faces: list[int], total: int) -> None:
    given = GivenFaces(faces)
    variables = (answer,) if answer else ()
    outcome = resolve(NotationCheck(text, Dialect.ROLL20, variables=variables), given).outcome
    given.finish()
    assert isinstance(outcome, NotationOutcome)
    assert outcome.total == total


# a text, its answer, and the options that are named instead
REFUSED: list[tuple[str, Variable, tuple[str, ...]]] = [
    (POWER, Variable("Power?", 1), ("0 (No)", "6 (Yes)")),
    (POWER, Variable("Power?", 0, "Maybe"), ("0 (No)", "6 (Yes)")),
    (COUNT, Variable("How many?", 3), ("1", "2", "4", "8")),
    (SLOT, Variable("Slot", 1), ("3", "4")),
    (BLESS, Variable("Bless", 2), ("0 (No)", "Yes")),
    (ATTACK, Variable("Attack", 1), ("Melee", "Ranged")),
    ("1d20+?{Bonus|2}", Variable("Bonus", 0, "many"), ("a number",)),
    ("1d20+@{str}", Variable("str", 0, "high"), ("a number",)),
]


@pytest.mark.parametrize(("text", "answer", "options"), REFUSED, ids=str)
def test_any_other_answer_is_refused_with_the_options(text: str, answer: Variable, options: tuple[str, ...]) -> None:
    with pytest.raises(CheckError) as caught:
        NotationCheck(text, Dialect.ROLL20, variables=(answer,))
    error = caught.value
    assert (error.reason, error.field, error.value) == (
        "NO_SUCH_OPTION",
        "variables",
        answer.choice or str(answer.value),
    )
    assert error.expected == options


@pytest.mark.parametrize("text", [POWER, COUNT, SLOT, BLESS, SPEED, ATTACK, INLINE])
def test_the_canonical_text_keeps_all_options(text: str) -> None:
    tree = parse(text, Dialect.ROLL20)
    again = parse(tree.canonical, tree.canonical_dialect)
    assert again.root == tree.root
    assert all(word in tree.canonical for word in text.replace("/roll ", "").split("|")[1:-1])


def test_a_number_and_a_label_exclude_each_other() -> None:
    with pytest.raises(CheckError) as caught:
        Variable("Power?", 6, "Yes")
    assert (caught.value.reason, caught.value.field) == ("CONFLICT", "choice")


def test_a_query_that_is_asked_again_by_its_name_has_the_same_options() -> None:
    text = "?{Dice|one,1|two,2}d6 + ?{Dice}"
    variables = (Variable("Dice", 0, "two"),)
    outcome = resolve(NotationCheck(text, Dialect.ROLL20, variables=variables), GivenFaces([3, 4])).outcome
    assert isinstance(outcome, NotationOutcome)
    assert outcome.total == 9
