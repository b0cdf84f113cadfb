"""What texts are read as: canonical spellings, warnings, comments, folding, spans."""

import pytest

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.notation import Dialect, parse
from fairroll_rules.notation.tree import Chain, Dice, Drop, Explode, Keep, Labelled, Modified, Number, Sort, Variable

# text, canonical spelling
CANONICAL: list[tuple[str, str]] = [
    ("4D6KH3", "4d6kh3"),
    ("d20", "1d20"),
    ("d%", "1d100"),
    ("4DF", "4dF"),
    ("4df.1", "4dF.1"),
    ("d{-1,0,1}", "1dF"),
    ("d{ 1 , 2 }", "1d{1,2}"),
    ("4d6k", "4d6kh1"),
    ("4d6d1", "4d6dl1"),
    ("4d6r1", "4d6rr1"),
    ("4d6x", "4d6!"),
    ("4d6xo~3>=5", "4d6!o~3>=5"),
    ("4d6!po", "4d6!po"),
    ("4d6!!=5", "4d6!!5"),
    ("4d6!~3=5", "4d6!~3=5"),
    ("4d6s", "4d6sa"),
    ("4d6skh3", "4d6kh3sa"),
    ("4d6f1", ""),
    ("4d6=1", "4d6=1"),
    ("4d6>=5f=1", "4d6>=5f1"),
    ("4d6>=5:1", "4d6>=5"),
    ("4d6>=5!", "4d6>=5!"),
    ("4d6>=5rr", "4d6>=5rr"),
    ("4d6>=5!kh3", "4d6!kh3>=5"),
    ("4d6>=5!6", "4d6!6>=5"),
    ("4d6! !", "4d6! !"),
    ("4d6!!!", "4d6!! !"),
    ("4d6cs>=5min2", "4d6min2cs>=5"),
    ("(4d6)kh3", "4d6kh3"),
    ("((4d6kh3))!", "(4d6kh3)!"),
    ("(4d6)d6", "(4d6)d6"),
    ("((1+2))*3", "(1+2)*3"),
    ("1+(2+3)", "1+(2+3)"),
    ("(1+2)+3", "(1+2)+3"),
    ("(1*2)+3", "1*2+3"),
    ("-(2^2)", "-2^2"),
    ("(-2)^2", "(-2)^2"),
    ("2^(3^2)", "2^3^2"),
    ("- -2", "--2"),
    ("++2", "2"),
    ("1.50", "1.5"),
    ("01", "1"),
    ("1.0", "1"),
    ("@a+@{b c}+@{d}", "@a+@{b c}+@d"),
    ("@{n}d6", "@{n}d6"),
    ("2d6[ Fire ]", "2d6[Fire]"),
    ("(1+2)[a][b]", "(1+2)[a][b]"),
    ("{1d6,1d8}KH", "{1d6, 1d8}kh1"),
    ("({1d6,1d8}kh1)s", "({1d6, 1d8}kh1)sa"),
    ("6X{ 4d6kh3 }", "6x{4d6kh3}"),
    ("FLOOR( 7 / 2 )", "floor(7/2)"),
    ("1d20 # to hit", "1d20"),
    ("\uff11\uff44\uff16\uff0b\uff12", "1d6+2"),
    ("7\u22123\u20131", "7-3-1"),
    ("7\u00d73\u00f72", "7*3/2"),
    ("1d6\u00a0+\u202f2", "1d6+2"),
    ("\t1d6\n+\r2 ", "1d6+2"),
]


@pytest.mark.parametrize(("text", "canonical"), [row for row in CANONICAL if row[1]])
def test_canonical_spelling(text: str, canonical: str) -> None:
    tree = parse(text)
    assert tree.canonical == canonical
    assert tree.canonical_dialect is Dialect.STANDARD
    assert parse(canonical).root == tree.root
    assert parse(canonical).canonical == canonical


WARNINGS: list[tuple[str, list[tuple[str, str]]]] = [
    ("4d6kh3", []),
    ("4d6r1", [("REROLL_UNTIL", "r")]),
    ("4d6d1", [("DROP_LOWEST", "d")]),
    ("4d6k3", [("KEEP_HIGHEST", "k")]),
    ("4d6!=3", [("EXPLODE_EQUALS", "!=")]),
    ("4d6!3", []),
    ("4d6>3", [("STRICT_COMPARISON", ">")]),
    ("4d6!<3", [("STRICT_COMPARISON", "<")]),
    ("4d6cscf", [("MARK_ONLY", "cs"), ("MARK_ONLY", "cf")]),
    ("2d%", [("PERCENTILE", "d%")]),
    ("2d20 +d1", [("ONE_SIDED_DIE", "d1")]),
    ("2d20+d10", []),
]


@pytest.mark.parametrize(("text", "expected"), WARNINGS, ids=[row[0] for row in WARNINGS])
def test_warnings_where_another_dialect_reads_differently(text: str, expected: list[tuple[str, str]]) -> None:
    warnings = parse(text).warnings
    assert [(each.code, text[each.span.start : each.span.end]) for each in warnings] == expected


def test_labels_variables_and_comments_stay_as_typed() -> None:
    tree = parse("1D6[Feuer \u2212 Gro\u00df] + @{Strength Mod} + @Str.Mod # For \u2212 Luck # twice ")
    assert tree.comment == "For \u2212 Luck # twice"
    assert tree.variables == ("Strength Mod", "Str.Mod")
    assert isinstance(tree.root, Chain)
    label = tree.root.operands[0]
    assert isinstance(label, Labelled)
    assert label.label == "Feuer \u2212 Gro\u00df"


def test_spans_point_into_the_raw_text() -> None:
    text = " \uff12\uff24\uff16 kh 1 + @{Strength Mod}"
    tree = parse(text)
    assert isinstance(tree.root, Chain)
    pool, variable = tree.root.operands
    assert isinstance(pool, Modified)
    spelled = [text[node.span.start : node.span.end] for node in (tree.root, pool, pool.source, variable)]
    assert spelled == [text[1:], "\uff12\uff24\uff16 kh 1", "\uff12\uff24\uff16", "@{Strength Mod}"]
    assert text[pool.modifiers[0].span.start : pool.modifiers[0].span.end] == "kh 1"


def test_modifiers_are_kept_in_the_order_in_which_they_are_applied() -> None:
    root = parse("9d6s kh3 !6 dl1").root
    assert isinstance(root, Modified)
    assert [type(modifier) for modifier in root.modifiers] == [Explode, Keep, Drop, Sort]


def test_the_dice_operator_binds_to_the_count_before_it_and_drops_after_a_pool() -> None:
    at = Span(0, 0)
    assert parse("(2d6)d8").root == Dice(Dice(Number(2, at), Number(6, at), at), Number(8, at), at)
    dropped = parse("2d6 d 1").root
    assert isinstance(dropped, Modified)
    assert dropped.modifiers == (Drop(False, Number(1, at), True, at),)
    assert parse("@a d6").root == Dice(Variable("a", at), Number(6, at), at)


@pytest.mark.parametrize("text", ["1 0d6", "4d6 k h3", "4d6! p", "4d6> =3", "1d2 0", "4d f", "1d6 1", "ma x(1,2)"])
def test_white_space_stands_between_tokens_and_never_inside(text: str) -> None:
    with pytest.raises(CheckError):
        parse(text)


def test_a_text_means_the_same_whatever_was_parsed_before() -> None:
    roots = {text: parse(text).root for text in ("1d20", "1D20", " 1d20", "1d2+0")}
    assert roots["1d20"] == roots["1D20"] == roots[" 1d20"] != roots["1d2+0"]
    assert parse("1d20") is parse("1d20")
    assert parse("1D20").text == "1D20"


@pytest.mark.parametrize(("text", "other"), [("4d6uo!!", "4d6!!uo"), ("4d6u!!", "4d6!!u"), ("4d6u!p", "4d6!pu")])
def test_rpg_dice_roller_explodes_first_wherever_unique_stands(text: str, other: str) -> None:
    roots = [parse(each, Dialect.RPG_DICE_ROLLER).root for each in (text, other)]
    assert roots[0] == roots[1]


@pytest.mark.parametrize(("text", "after"), [("4d6>4f", "after f"), ("4d6u<", "after <"), ("4d6=", "after =")])
def test_a_missing_compare_point_is_missed_behind_what_wants_it(text: str, after: str) -> None:
    with pytest.raises(CheckError, match=after):
        parse(text, Dialect.RPG_DICE_ROLLER)
