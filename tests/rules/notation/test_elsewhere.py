"""A text that a dialect refuses names those that read it, and is shown as this dialect writes it."""

import re
from collections.abc import Iterator

import pytest

from fairroll_rules.errors import CheckError
from fairroll_rules.notation import Dialect, parse
from fairroll_rules.notation.dialects import TABLE
from tests.dialect_texts import dialect_texts, totals

OWN_LIMITS = {"LIMIT_EXCEEDED"}
PAIRS = [(own, text, other) for own, text in dialect_texts() for other in Dialect if other is not own]

BESIDE = re.compile(r"^.*?reads? it(?: as free text)?: ")
WRITTEN = re.compile(r"(?:^|(?:^|; )as (?P<of>[^;]+?) reads? it, )write (?P<text>.+?)(?=; as |$)")


def refused(text: str, dialect: Dialect) -> CheckError | None:
    try:
        parse(text, dialect)
    except CheckError as error:
        return error
    return None


REFUSED = [(own, text, other, error) for own, text, other in PAIRS if (error := refused(text, other))]


def test_there_is_enough_to_ask() -> None:
    assert len(REFUSED) > 1_200


def test_each_refusal_names_the_dialect_that_reads_the_text_and_where_it_does_not() -> None:
    for own, text, other, error in REFUSED:
        assert error.span is not None
        assert 0 <= error.span.start <= error.span.end <= len(text)
        told = own.name in error.expected or TABLE[own].title in error.hint
        assert told or error.reason in OWN_LIMITS, (own, text, other, error.reason, error.message, error.hint)


def hinted(hint: str, readers: list[Dialect]) -> Iterator[tuple[Dialect, str]]:
    """Yield each spelling of a hint with a dialect that reads the text so."""
    titles = {TABLE[each].title: each for each in Dialect}
    for match in WRITTEN.finditer(hint):
        names = re.split(r", | and ", match["of"]) if match["of"] else []
        yield titles[names[0]] if names else readers[0], match["text"]


def test_each_hinted_spelling_is_valid_there_and_rolls_the_same() -> None:
    seen = 0
    for own, text, other, error in REFUSED:
        readers = [own, *[each for each in Dialect if each not in (own, other) and refused(text, each) is None]]
        told = error.reason in ("TOKEN_OF_OTHER_DIALECT", "DIALECT_CONFLICT") or BESIDE.search(error.hint)
        for reader, spelled in hinted(BESIDE.sub("", error.hint), readers) if told else ():
            assert (own, text, other, totals(spelled, other)) == (own, text, other, totals(text, reader))
            seen += 1
    assert seen > 600


# a text, a dialect that refuses it, and what its hint must not lead to
LIES = [
    ("4d6x2=6", Dialect.ROLL20),
    ("4d6xo", Dialect.ROLL20),
    ("4d6!p", Dialect.FOUNDRY),
    ("4d6!!", Dialect.FOUNDRY),
    ("4d6!!p", Dialect.FOUNDRY),
    ("4d6!p", Dialect.AVRAE),
    ("4d6xo", Dialect.AVRAE),
    ("4d6!!p", Dialect.AVRAE),
    ("6x{4d6kh3}", Dialect.FOUNDRY),
]


@pytest.mark.parametrize(("text", "dialect"), LIES, ids=str)
def test_what_a_dialect_cannot_say_is_said_to_be_so(text: str, dialect: Dialect) -> None:
    error = refused(text, dialect)
    assert error is not None
    assert error.reason == "TOKEN_OF_OTHER_DIALECT"
    assert f"{TABLE[dialect].title} cannot say" in error.hint
    for reader, spelled in hinted(error.hint, [Dialect.STANDARD]):
        assert totals(spelled, dialect) == totals(text, reader)


UNSAYABLE = "as Avrae reads it, Foundry cannot say a comparison of totals"

# a text, the dialect that refuses it, its token, and the hint
NAMED = [
    ("4d6!o", Dialect.FOUNDRY, "!o", "write 4d6xo"),
    ("4d6!", Dialect.AVRAE, "!", "write 4d6e6"),
    ("4d6e6", Dialect.RPG_DICE_ROLLER, "e", "write 4d6!=6"),
    (
        "1d20!=5",
        Dialect.FOUNDRY,
        "!=",
        f"as Standard, Roll20 and rpg-dice-roller read it, write 1d20x5; {UNSAYABLE}",
    ),
    ("1d20 // hi", Dialect.FOUNDRY, "//", "write 1d20 # hi"),
    ("1d20 // hi", Dialect.ROLL20, "//", "write 1d20 hi"),
    ("7//2", Dialect.ROLL20, "//", "as Avrae reads it, write floor(7/2); as rpg-dice-roller reads it, write 7 # 2"),
    ("[[1d4]]d6", Dialect.STANDARD, "[[", "write (1d4)d6"),
    ("[[1d4]]d6", Dialect.AVRAE, "[[", "Avrae cannot say a computed count or sides of dice"),
    ("?{Dice|3}d6", Dialect.STANDARD, "?{", "Standard cannot say a default for a variable"),
    ("1d20 adv", Dialect.STANDARD, "adv", "write 2d20kh1"),
    ("3dc", Dialect.STANDARD, "dc", "write 3d{0,1}"),
    ("4dF.1", Dialect.ROLL20, "df.1", "Roll20 cannot say a die with faces of its own"),
    ("3d{1,2,5}", Dialect.AVRAE, "d{", "Avrae cannot say a die with faces of its own"),
    ("(1d6,1d8)kh1", Dialect.ROLL20, ",", "write {1d6, 1d8}kh1"),
    ("1d6 /* x */", Dialect.AVRAE, "/*", "write 1d6 x"),
    ("/roll 1d20", Dialect.STANDARD, "/roll", "write 1d20"),
    ("/r 1d20", Dialect.AVRAE, "/r", "write 1d20"),
    ("!r 1d20", Dialect.ROLL20, "!r", "write 1d20"),
    ("1d20<>5", Dialect.AVRAE, "<>", "Avrae cannot say successes"),
    ("2**3", Dialect.STANDARD, "**", "write 2^3"),
    ("4d6cs>4df1", Dialect.STANDARD, "df", "Standard cannot say what cs counts"),
    ("1d20ms>3", Dialect.ROLL20, "ms", "write 1d20-3"),
    ("!rr 3 1d20+5", Dialect.STANDARD, "!rr", "write 3x{1d20+5}"),
    ("3x{1d20+5}", Dialect.AVRAE, "x{", "write !rr 3 1d20+5"),
]


@pytest.mark.parametrize(("text", "dialect", "token", "hint"), NAMED, ids=[f"{d.name} {t}" for t, d, _, _ in NAMED])
def test_a_token_of_other_dialects_is_named(text: str, dialect: Dialect, token: str, hint: str) -> None:
    error = refused(text, dialect)
    assert error is not None
    assert (error.reason, error.value, error.hint) == ("TOKEN_OF_OTHER_DIALECT", token, hint)
    assert error.span is not None
    assert text[error.span.start : error.span.end].lower() == token


def test_free_text_is_shown_where_this_dialect_takes_it() -> None:
    error = refused("4d6 for luck", Dialect.STANDARD)
    assert error is not None
    assert (error.reason, error.hint) == (
        "NOTATION_SYNTAX",
        "Roll20 and Avrae read it as free text: write 4d6 # for luck",
    )


def test_a_token_in_what_nobody_reads_is_shown_by_an_example() -> None:
    error = refused("4d6mi2 + zz(", Dialect.FOUNDRY)
    assert error is not None
    assert (error.expected, error.hint) == (("AVRAE",), "Avrae's 4d6mi6 is 4d6min6 here")


def test_the_examples_of_all_dialects_are_one_roll() -> None:
    kinds = {kind for reading in TABLE.values() for kind in reading.examples}
    assert kinds >= {"count", "failure", "set"}
    for kind in kinds:
        written = {dialect: reading.examples[kind] for dialect, reading in TABLE.items() if kind in reading.examples}
        rolls = [totals(text, dialect) for dialect, text in written.items()]
        assert all(each == rolls[0] for each in rolls), kind


@pytest.mark.parametrize("dialect", list(Dialect))
def test_hints_show_the_dialects_own_spelling(dialect: Dialect) -> None:
    error = refused("1d20+5>15", dialect)
    if error is not None:
        assert TABLE[dialect].examples["count"] in error.hint
    error = refused("4d6f<2", dialect)
    if error is not None and error.reason == "FAILURE_WITHOUT_SUCCESS":
        assert TABLE[dialect].examples["failure"] in error.hint


SPELLED = [
    ("-2^2+2d6u=3", Dialect.RPG_DICE_ROLLER),
    ("(3d6dl1)kh1 + {2d6+1}kh1", Dialect.FOUNDRY),
    ("{4d6d1>3}kh1", Dialect.ROLL20),
    ("{4d6d1>3}kh1", Dialect.RPG_DICE_ROLLER),
    ("3d6>1=5f<=2", Dialect.RPG_DICE_ROLLER),
]


@pytest.mark.parametrize(("text", "dialect"), SPELLED, ids=str)
def test_what_is_read_has_a_canonical_text_that_is_read_as_the_same(text: str, dialect: Dialect) -> None:
    tree = parse(text, dialect)
    assert parse(tree.canonical, tree.canonical_dialect).root == tree.root


def test_dice_are_counted_once() -> None:
    error = refused("{{4d6}>5}>5", Dialect.ROLL20)
    assert error is not None
    assert error.reason == "COUNTED_ALREADY"


@pytest.mark.parametrize(
    ("text", "advised"), [("4d6r2", "4d6rr2"), ("4d6d1", "4d6dl1"), ("4d6k2", "4d6kh2"), ("4d6!=3", "4d6!3")]
)
def test_what_a_warning_says_to_write_rolls_the_same(text: str, advised: str) -> None:
    (warning,) = parse(text).warnings
    spelling = advised.removeprefix("4d6").rstrip("123").replace("!", "!N")
    assert re.search(rf"\bWrite (\w+ or )?{re.escape(spelling)}|Write {re.escape(spelling)}", warning.message)
    assert not parse(advised).warnings
    assert totals(advised, Dialect.STANDARD) == totals(text, Dialect.STANDARD)


def test_a_long_text_is_not_shown_in_a_hint() -> None:
    error = refused(f"1d6[{'x' * 99}]+" * 3 + "4d6e6", Dialect.FOUNDRY)
    assert error is not None
    assert (error.value, error.hint) == ("e", "let ParseNotation translate it")
    several = refused("/roll 1d20" + " [[1d6]]" * 100, Dialect.ROLL20)
    assert several is not None
    assert len(several.hint) < 400
