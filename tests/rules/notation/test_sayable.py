"""What is written in a dialect is what its original takes: the readers of fairroll are wider than those are.

rpg-dice-roller and Avrae are asked themselves in tests/peers; Foundry's parts are those of its API documentation:
https://foundryvtt.com/api/v11/classes/client.Coin.html (MODIFIERS_REGEXP_STRING: anything until a space, group symbol,
or arithmetic operator), https://foundryvtt.com/api/v9/FateDie.html (MODIFIERS: r, rr, k, kh, kl, d, dh, dl).
"""

import pytest

from fairroll_rules.errors import CheckError
from fairroll_rules.notation import Dialect, parse
from fairroll_rules.notation.translate import translated
from fairroll_rules.systems.notation import NotationCheck

STANDARD, FOUNDRY, RPG = Dialect.STANDARD, Dialect.FOUNDRY, Dialect.RPG_DICE_ROLLER

SAID: list[tuple[str, Dialect, Dialect, str]] = [
    ("1d20+5 # attack", STANDARD, RPG, "1d20+5"),
    ("5+1d20 # attack", STANDARD, RPG, "5+1d20 # attack"),
    ("2*(1d6+2) # hit", STANDARD, RPG, "2*(1d6+2)"),
    ("(4d6kh3)>=4", STANDARD, RPG, "4d6kh3>=4"),
    ("(4d6dh1)dl1", STANDARD, RPG, "4d6dh1dl1"),
    ("3d20>=(21-5)", STANDARD, RPG, "3d20>=16"),
    ("3d6>=(7/2)", STANDARD, RPG, "3d6>=3.5"),
    ("4d6kh(1+1)", STANDARD, RPG, "4d6kh2"),
    ("4d6min(0-1)", STANDARD, RPG, "4d6min-1"),
    ("(1+2)d(2*3)", STANDARD, RPG, "3d6"),
    ("3d6kh5", STANDARD, RPG, "3d6"),
    ("7%-3", STANDARD, RPG, "7%(-3)"),
    ("1d6[a]+1d4[b]", STANDARD, RPG, "1d6[a]+1d4[b]"),
    ("3d20>=(21-5)", STANDARD, FOUNDRY, "3d20cs>=16"),
    ("(4d6kh3)>=4", STANDARD, FOUNDRY, "4d6kh3cs>=4"),
    ("(4d6kh3)!", STANDARD, FOUNDRY, "4d6kh3x"),
    ("3d{0,1}=1", STANDARD, FOUNDRY, "3dcc1"),
    ("3dFkh2", STANDARD, FOUNDRY, "3dFkh2"),
    ("1d20+@str-2", STANDARD, FOUNDRY, "1d20+@str - 2"),
    ("1d20+@{long-bow}", STANDARD, FOUNDRY, "1d20+@long-bow"),
    ("1d20+@long-bow", FOUNDRY, STANDARD, "1d20+@{long-bow}"),
    ("3dcc0", FOUNDRY, STANDARD, "3d{0,1}=0"),
]


@pytest.mark.parametrize(("text", "own", "other", "expected"), SAID, ids=[f"{row[0]} in {row[2].name}" for row in SAID])
def test_what_can_be_said_is_said_as_the_original_takes_it(
    text: str, own: Dialect, other: Dialect, expected: str
) -> None:
    assert translated(parse(text, own), other) == expected


UNSAID: list[tuple[str, Dialect, int, str]] = [
    ("(4d6kh3)!", RPG, 9, "a modifier behind parentheses"),
    ("(2d6kh1)min4", RPG, 9, "a modifier behind parentheses"),
    ("1d6[a]+2[b]", RPG, 8, "a label on anything but dice and groups"),
    ("(1d6+2)[b]", RPG, 1, "a label on anything but dice and groups"),
    ("{{1d6,1d8}kh1,1d10}kh1", RPG, 2, "a group inside a group"),
    ("3d6>=(7/3)", RPG, 7, "a computed number behind a modifier"),
    ("1000d6kh1", RPG, 1, "1000 dice"),
    ("3d6!kh5", RPG, 5, "a choice of more dice than are rolled"),
    ("{1d6,1d8}kh3", RPG, 10, "a choice of more dice than are rolled"),
    ("2d1ro1", RPG, 4, "one-sided dice that are rolled again"),
    ("4dF=(-1)", FOUNDRY, 6, "a computed number behind a modifier"),
    ("4dF>=0", FOUNDRY, 4, "that modifier of such dice"),
    ("3d{0,1}kh1", FOUNDRY, 8, "that modifier of such dice"),
    ("(4d6!)rr1", FOUNDRY, 7, "a modifier behind parentheses"),
    ("4d6min3>=4", FOUNDRY, 8, "counts of clamped dice"),
    ("4d6>=3>=5", FOUNDRY, 7, "several counts of one die"),
    ("@{Strength Mod}", FOUNDRY, 1, "a variable of that name"),
]


@pytest.mark.parametrize(
    ("text", "other", "column", "part"), UNSAID, ids=[f"{row[0]} in {row[1].name}" for row in UNSAID]
)
def test_what_the_original_refuses_is_named(text: str, other: Dialect, column: int, part: str) -> None:
    with pytest.raises(CheckError) as caught:
        translated(parse(text), other)
    error = caught.value
    assert (error.reason, error.value, error.span and error.span.start + 1) == ("DIALECT_CANNOT_SAY", part, column)


def test_a_hyphen_is_part_of_a_name_in_foundry_and_said_to_be() -> None:
    tree = parse("1d20 + @str-2", FOUNDRY)
    assert tree.variables == ("str-2",)
    assert [each.code for each in tree.warnings] == ["HYPHEN_IN_NAME"]
    with pytest.raises(CheckError) as caught:
        NotationCheck("1d20 + @str-2", FOUNDRY)
    assert (caught.value.reason, caught.value.hint.split("; ")[1]) == (
        "VARIABLE_MISSING",
        "to subtract write @str - 2",
    )
    assert parse("1d20 + @str - 2", FOUNDRY).variables == parse("1d20+@str-2").variables == ("str",)


@pytest.mark.parametrize("text", ["3dcc2", "3dcc", "4d6c1", "{1dc}c1"])
def test_only_coins_are_called_and_by_their_sides(text: str) -> None:
    with pytest.raises(CheckError):
        NotationCheck(text, FOUNDRY)
