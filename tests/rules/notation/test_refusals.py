"""What is refused before any draw: the stable reason, the place, and the limit where one was passed."""

import pytest

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.notation import Dialect, analyse, caret, parse
from fairroll_rules.systems.notation import NotationCheck, Variable
from tests.rules.notation.rolling import check

# text, reason, what stands at the span
REFUSALS: list[tuple[str, str, str]] = [
    # not notation
    ("", "NOTATION_SYNTAX", ""),
    ("   ", "NOTATION_SYNTAX", ""),
    ("# only a comment", "NOTATION_SYNTAX", "#"),
    ("4d", "NOTATION_SYNTAX", ""),
    ("4d6 for luck", "NOTATION_SYNTAX", "for"),
    ("luck", "NOTATION_SYNTAX", "luck"),
    ("4d6+", "NOTATION_SYNTAX", ""),
    ("(4d6", "NOTATION_SYNTAX", ""),
    ("4d6)", "NOTATION_SYNTAX", ")"),
    ("1d6 1d6", "NOTATION_SYNTAX", "1"),
    ("2(3)", "NOTATION_SYNTAX", "("),
    ("{1d6", "NOTATION_SYNTAX", ""),
    ("{}", "NOTATION_SYNTAX", "}"),
    ("1d6[", "NOTATION_SYNTAX", ""),
    ("1d6[]", "NOTATION_SYNTAX", "[]"),
    ("1d6[a[b]]", "NOTATION_SYNTAX", ""),
    ("@", "NOTATION_SYNTAX", ""),
    ("@{}", "NOTATION_SYNTAX", "@{}"),
    ("@ str", "NOTATION_SYNTAX", " "),
    ("d{1,}", "NOTATION_SYNTAX", "}"),
    ("d{1.5}", "NOTATION_SYNTAX", "1.5"),
    ("d %", "NOTATION_SYNTAX", "%"),
    ("(1d4)drr", "NOTATION_SYNTAX", "drr"),
    ("1. 5", "NOTATION_SYNTAX", "."),
    (".5", "NOTATION_SYNTAX", "."),
    ("2**3", "TOKEN_OF_OTHER_DIALECT", "**"),
    ("10d10f1", "FAILURE_WITHOUT_SUCCESS", "f1"),
    ("10d10f1>=8", "FAILURE_WITHOUT_SUCCESS", "f1"),
    ("10d10>=8f", "NOTATION_SYNTAX", ""),
    ("10d10> =8", "NOTATION_SYNTAX", "="),
    ("4d6rr-1>=3", "COMPARES_TOTAL", ">="),
    ("4dF>=-1", "TOKEN_OF_OTHER_DIALECT", "-"),
    ("1d6\x07", "NOTATION_SYNTAX", "\x07"),
    ("1d6[\u202egnp]", "NOTATION_SYNTAX", "\u202e"),
    ("1d6 \ud800", "NOTATION_SYNTAX", "\ud800"),
    ("\u06331d6", "NOTATION_SYNTAX", "\u0633"),
    ("\u0661d6", "NOTATION_SYNTAX", "\u0661"),
    ("6x{1d6}+1", "NOTATION_SYNTAX", "+"),
    ("1+6x{1d6}", "NOTATION_SYNTAX", "x"),
    ("+6x{1d6}", "NOTATION_SYNTAX", "x"),
    ("6x{1d6}[stats]", "NOTATION_SYNTAX", "["),
    ("2x{2x{1d6}}", "NOTATION_SYNTAX", "x"),
    ("2x{1d6,1d8}", "NOTATION_SYNTAX", ","),
    # readings that conflict
    ("7//2", "DIALECT_CONFLICT", "//"),
    ("(1d6, 1d8)kh1", "TOKEN_OF_OTHER_DIALECT", ","),
    ("{4d6}kh3", "GROUP_OF_ONE", "kh3"),
    ("{3d20+5}>21", "GROUP_OF_ONE", ">21"),
    ("1d20+5>=15", "COMPARES_TOTAL", ">="),
    ("(1d20+5)>=15", "COMPARES_TOTAL", ">="),
    # modifiers
    ("(1d6+2d8)kh1", "MODIFIER_MISPLACED", "kh"),
    ("2d6[fire]kh1", "MODIFIER_MISPLACED", "kh"),
    ("(2d6[fire])!", "MODIFIER_MISPLACED", "!"),
    ("{1d6,1d8}!", "MODIFIER_MISPLACED", "!"),
    ("{1d6,1d8}rr1", "MODIFIER_MISPLACED", "rr1"),
    ("({1d6,1d8}kh1)cs", "MODIFIER_MISPLACED", "cs"),
    ("4d6kh3kl1", "TWO_KEEPS", "kl1"),
    ("(4d6>=3)kh2", "COUNTED_ALREADY", "kh2"),
    ("(4d6>=3)>=5", "COUNTED_ALREADY", ">=5"),
    ("4d6>=(1d4)", "DICE_IN_COMPARE", "1d4"),
    ("4d6!~(1d4)", "DICE_IN_COMPARE", "1d4"),
    ("4d6min(1d4)", "DICE_IN_COMPARE", "1d4"),
    ("floor(1, 2)", "ARGUMENT_COUNT", "floor(1, 2)"),
    ("floor()", "NOTATION_SYNTAX", ")"),
    ("floor 1", "NOTATION_SYNTAX", "1"),
    ("sqrt(4)", "UNKNOWN_FUNCTION", "sqrt"),
    ("log2(8)", "UNKNOWN_FUNCTION", "log2"),
    # by bounds and wholeness
    ("5/(1d6-3)", "DIVISION_BY_ZERO", "1d6-3"),
    ("5%(2d6-12)", "DIVISION_BY_ZERO", "2d6-12"),
    ("5/0d6", "DIVISION_BY_ZERO", "0d6"),
    ("(1d6-2)d6", "COUNT_NEGATIVE", "1d6-2"),
    ("2d6kh(1d4-2)", "COUNT_NEGATIVE", "1d4-2"),
    ("1d(1d6-1)", "SIDES_TOO_FEW", "1d6-1"),
    ("(1d6/2)d6", "NOT_WHOLE", "1d6/2"),
    ("1.5d6", "NOT_WHOLE", "1.5"),
    ("1d2.5", "NOT_WHOLE", "2.5"),
    ("2^(1d6/2)", "NOT_WHOLE", "1d6/2"),
    ("4d6min(5/2)", "NOT_WHOLE", "5/2"),
    ("4d6!~(5/2)", "NOT_WHOLE", "5/2"),
    ("4d6kh0.5", "NOT_WHOLE", "0.5"),
    ("2d6d2", "DROPS_ALL", "d2"),
    ("(1d3)d6d1", "DROPS_ALL", "d1"),
    ("d{3,3}!", "NEVER_ENDS", "!"),
    ("1d(1d6)!", "NEVER_ENDS", "!"),
    ("1d6!<=6", "NEVER_ENDS", "!<=6"),
    ("1d6!<>7", "NEVER_ENDS", "!<>7"),
    ("1d6!o>0", "NEVER_ENDS", "!o>0"),
    ("1d2rr1rr2", "NEVER_ENDS", "rr2"),
    ("1d6rr<=3rr>3", "NEVER_ENDS", "rr>3"),
    ("dFrr<2", "NEVER_ENDS", "rr<2"),
    ("4d{1,2,2,3}u", "UNIQUE_IMPOSSIBLE", "u"),
    ("2d6!u", "UNIQUE_IMPOSSIBLE", "u"),
    ("@missing", "VARIABLE_MISSING", "@missing"),
]


@pytest.mark.parametrize(("notation", "reason", "at"), REFUSALS, ids=[ascii(row[0]) for row in REFUSALS])
def test_refused_with_a_reason_and_a_place(notation: str, reason: str, at: str) -> None:
    with pytest.raises(CheckError) as caught:
        check(notation)
    error = caught.value
    assert error.reason == reason
    assert error.span is not None
    assert notation[error.span.start : error.span.end] == at
    assert error.field == ("variables" if reason == "VARIABLE_MISSING" else "text")
    assert f"column {error.span.start + 1}" in error.message


# text, limit, its value, what was given
LIMITS: list[tuple[str, str, int, str]] = [
    ("1d6" + " " * 998, "characters", 1000, "1001"),
    ("(" * 65 + "1" + ")" * 65, "depth", 64, "65"),
    ("-" * 65 + "1", "depth", 64, "65"),
    ("{" * 65 + "1" + "}" * 65, "depth", 64, "65"),
    ("abs(" * 65 + "1" + ")" * 65, "depth", 64, "65"),
    ("1" + "^1" * 65, "depth", 64, "65"),
    ("1" + "+1" * 200, "nodes", 200, "201"),
    ("4d6" + "s" * 13, "modifiers", 12, "13"),
    ("12345678901", "digits", 10, "11 digits"),
    ("1.2345678901", "digits", 10, "11 digits"),
    ("1001d6", "dice_per_pool", 1000, "1001"),
    ("(1d1001)d6", "dice_per_pool", 1000, "1001"),
    ("1d1000001", "sides", 1_000_000, "1000001"),
    ("1d6!~101", "again_per_die", 100, "101"),
    ("2^65", "exponent", 64, "65"),
    ("2^-1", "exponent", 64, "-1"),
    ("101x{1d6}", "repeat", 100, "101"),
    ("0x{1d6}", "repeat", 100, "0"),
    ("4d6>=3:10", "weight", 9, "10"),
    ("4d6>=3:0", "weight", 9, "0"),
    ("+".join(["1000d6"] * 11), "draws", 10_000, "11000"),
    ("11x{1000d6}", "draws", 10_000, "11000"),
    ("2^63", "total", 2**63 - 1, str(2**63)),
    ("-2^63-1", "total", 2**63 - 1, str(-(2**63) - 1)),
    ("9999999999^2*1d6", "total", 2**63 - 1, str(6 * 9999999999**2)),
    ("9999999999^64", "number_bits", 1024, "2240"),
    ("(1d6/7)^64^2", "exponent", 64, "4096"),
    ("1d6[" + "x" * 101 + "]", "label_bytes", 100, "101 bytes"),
    ("@{" + "\u00e9" * 51 + "}", "variable_bytes", 100, "102 bytes"),
]


@pytest.mark.parametrize(("notation", "limit", "maximum", "value"), LIMITS, ids=[row[0][:20] for row in LIMITS])
def test_every_limit_names_itself_its_value_and_what_was_given(
    notation: str, limit: str, maximum: int, value: str
) -> None:
    with pytest.raises(CheckError) as caught:
        check(notation)
    error = caught.value
    assert (error.reason, error.limit, error.maximum, error.value) == ("LIMIT_EXCEEDED", limit, maximum, value)
    assert error.span is not None


AT_THE_LIMIT = [
    "1d6" + " " * 997,
    "(" * 64 + "1" + ")" * 64,
    "1" + "^1" * 64,
    "1" + "+1" * 198,
    "4d6" + "s" * 12,
    "9999999999",
    "1000d6",
    "1d1000000",
    "1d6!~100",
    "2^62",
    "-2^63",
    "100x{1d6}",
    "4d6>=3:9",
    "10x{1000d6}",
    "6d6u",
    "1d6[" + "x" * 100 + "]",
]


@pytest.mark.parametrize("notation", AT_THE_LIMIT, ids=[text[:20] for text in AT_THE_LIMIT])
def test_at_the_limit_it_is_accepted(notation: str) -> None:
    check(notation)


def test_sorting_and_selecting_have_a_budget_of_work() -> None:
    sorts = "s" * 12
    nested = "(" * 8 + "1000d6" + sorts + (")" + sorts) * 8
    check(nested)
    with pytest.raises(CheckError) as caught:
        check("2x{" + nested + "}")
    assert (caught.value.limit, caught.value.maximum) == ("work", 200_000)


UNSAYABLE = "as Avrae reads it, Roll20 cannot say a comparison of totals"
FOREIGN = [
    (Dialect.FOUNDRY, "4d6!", (3, 4), "!", {"STANDARD", "ROLL20", "RPG_DICE_ROLLER"}, "write 4d6x"),
    (Dialect.FOUNDRY, "4d6e6", (3, 4), "e", {"AVRAE"}, "write 4d6x6"),
    (
        Dialect.AVRAE,
        "4d6r1",
        (3, 4),
        "r",
        {"STANDARD", "ROLL20", "FOUNDRY", "RPG_DICE_ROLLER"},
        "as Standard and Roll20 read it, write 4d6rr1; as Foundry reads it, write 4d6ro1",
    ),
    (Dialect.AVRAE, "2d6mt", (3, 5), "mt", {"ROLL20"}, "Avrae cannot say matching dice"),
    (Dialect.STANDARD, "4d6even", (3, 7), "even", {"FOUNDRY"}, "Standard cannot say what even counts"),
    (Dialect.STANDARD, "4d6mi2", (3, 5), "mi", {"AVRAE"}, "write 4d6min2"),
    (Dialect.ROLL20, "4d6u", (3, 4), "u", {"STANDARD", "RPG_DICE_ROLLER"}, "Roll20 cannot say unique dice"),
    (Dialect.ROLL20, "2^3", (1, 2), "^", {"STANDARD", "RPG_DICE_ROLLER"}, "write 2**3"),
    (
        Dialect.ROLL20,
        "3d6>=5",
        (3, 5),
        ">=",
        {"STANDARD", "FOUNDRY", "AVRAE", "RPG_DICE_ROLLER"},
        f"as Standard, Foundry and rpg-dice-roller read it, write 3d6>5; {UNSAYABLE}",
    ),
    (Dialect.RPG_DICE_ROLLER, "2d6x", (3, 4), "x", {"STANDARD", "FOUNDRY"}, "write 2d6!"),
]


@pytest.mark.parametrize(
    ("dialect", "text", "span", "token", "known", "hint"), FOREIGN, ids=[row[1] for row in FOREIGN]
)
def test_a_token_of_other_dialects_is_named_with_those_and_the_way_out(  # noqa: PLR0917  columns of a table
    dialect: Dialect,
    text: str,
    span: tuple[int, int],
    token: str,
    known: set[str],
    hint: str,
) -> None:
    with pytest.raises(CheckError) as caught:
        NotationCheck(text, dialect)
    error = caught.value
    assert (error.reason, error.value) == ("TOKEN_OF_OTHER_DIALECT", token)
    assert error.span == Span(*span)
    assert set(error.expected) == known
    assert error.hint == hint


@pytest.mark.parametrize("dialect", list(Dialect))
def test_all_dialects_are_held_to_the_same_limits(dialect: Dialect) -> None:
    deep = "(" * 65 + "1" + ")" * 65
    for text, limit in (
        ("1001d6", "dice_per_pool"),
        ("1d1000001", "sides"),
        (deep, "depth"),
        ("1+" * 600 + "1", "nodes"),
    ):
        with pytest.raises(CheckError) as caught:
            NotationCheck(text, dialect)
        assert (caught.value.reason, caught.value.limit) == ("LIMIT_EXCEEDED", limit)


def test_variables_are_refused_one_by_one() -> None:
    with pytest.raises(CheckError) as caught:
        NotationCheck("@a", variables=(Variable("a", 1), Variable("a", 1)))
    assert (caught.value.reason, caught.value.field) == ("VARIABLE_REPEATED", "variables[1].name")
    with pytest.raises(CheckError) as caught:
        Variable("a", 2**63)
    assert (caught.value.reason, caught.value.field) == ("OUT_OF_RANGE", "value")
    with pytest.raises(CheckError) as caught:
        Variable("", 1)
    assert caught.value.field == "name"
    with pytest.raises(CheckError) as caught:
        NotationCheck("1", variables=tuple(Variable(str(number), 1) for number in range(201)))
    assert (caught.value.limit, caught.value.maximum) == ("variables", 200)


def test_a_variable_can_make_a_text_impossible() -> None:
    check("(@n)d6", n=3)
    for value, reason in ((-1, "COUNT_NEGATIVE"), (1001, "LIMIT_EXCEEDED")):
        with pytest.raises(CheckError) as caught:
            check("(@n)d6", n=value)
        assert caught.value.reason == reason


def test_the_caret_points_at_the_raw_text() -> None:
    notation = "1d6 \u00d7\u00a0borf(1)"
    with pytest.raises(CheckError) as caught:
        check(notation)
    assert caught.value.span is not None
    assert caret(notation, caught.value.span) == "1d6 \u00d7 borf(1)\n      ^^^^"


@pytest.mark.parametrize(
    ("notation", "minimum", "maximum"),
    [
        ("1d20rr<10", 10, 20),
        ("3d6rr=6", 3, 15),
        ("3d6ro=6", 3, 18),
        ("2d6!p~2", 2, 32),
        ("1d6!", 1, 605),
        ("1d6!o1", 2, 7),
        ("1d6!!~1", 1, 12),
        ("4dF", -4, 4),
        ("4dFkl2", -2, 2),
        ("5d10>=8>=10:3f1:2", -10, 15),
        ("5d10>=0", 5, 5),
        ("5d10>10", 0, 0),
        ("{2d6, 1d20, 5}kh2", 7, 32),
        ("{2d6, 1d20, 5}dl1", 7, 32),
        ("{2d6, 1d20}>=13", 0, 1),
        ("(1d4)d6", 1, 24),
        ("(1d4)d6kh2", 1, 12),
        ("4d6kh(1d2)", 1, 12),
        ("2d6*-3", -36, -6),
        ("(1d6-3)*(1d6-3)", -6, 9),
        ("(1d6-3)^2", 0, 9),
        ("10/1d4", "5/2", 10),
        ("abs(1d6-4)", 0, 3),
        ("7-1d6%4", 4, 7),
        ("-1d6%4", 0, 3),
        ("1d6%-4", -3, 0),
        ("round(1d6/4)", 0, 2),
        ("2d6max3", 2, 6),
        ("4d6min3u", 4, 24),
        ("2d6rr1u", 3, 11),
        ("2d6!!~1rr1", 2, 24),
    ],
)
def test_bounds_worked_out_by_hand(notation: str, minimum: int | str, maximum: int | str) -> None:
    bounds = analyse(parse(notation), {})
    assert (str(bounds.minimum), str(bounds.maximum)) == (str(minimum), str(maximum))


def test_the_most_draws_leave_out_what_is_rolled_again() -> None:
    assert analyse(parse("3d6!+(1d4)d6+2d(1d8)+{1d6,2d6}kh1"), {}).draws == 3 + 1 + 4 + 1 + 2 + 3
    assert analyse(parse("6x{4d6}"), {}).draws == 24
