"""Messages and macros as they stand in a chat window: the one roll in them, or why it is none, and the way out."""

import pytest

from fairroll_rules.errors import CheckError
from fairroll_rules.notation import Dialect, parse

# a text, its dialect, the roll in STANDARD, and what is said
READ = [
    ("Attack: [[1d20+5]]", Dialect.ROLL20, "1d20+5", "Attack"),
    ("[[1d20+5]] to hit", Dialect.ROLL20, "1d20+5", "to hit"),
    ("/em rolls [[1d20]]", Dialect.ROLL20, "1d20", "rolls"),
    ("/w gm [[ [[1d4]]d6 ]] damage", Dialect.ROLL20, "(1d4)d6", "gm damage"),
    ("&{template:default} {{name=Sword}} {{roll=[[1d20+5]]}}", Dialect.ROLL20, "1d20+5", "Sword"),
    ("@{selected|token_name} attacks: [[1d20+5]]", Dialect.ROLL20, "1d20+5", "@{selected|token_name} attacks"),
    ("@{Strength}d6 hits", Dialect.ROLL20, "@{Strength}d6", "hits"),
    ("/gmroll 1d20", Dialect.ROLL20, "1d20", ""),
    ("/roll\t1d20", Dialect.ROLL20, "1d20", ""),
    ("[[/r 1d20+5]]{Attack}", Dialect.FOUNDRY, "1d20+5", "Attack"),
    ("[[1d20+5]]", Dialect.FOUNDRY, "1d20+5", ""),
    ("Attack [[/r 1d20 # slash]] now", Dialect.FOUNDRY, "1d20", "Attack now slash"),
    ("/ooc [[1d6]]", Dialect.FOUNDRY, "1d6", ""),
    ("Attack [[1d20+5]]", Dialect.AVRAE, "1d20+5", "Attack"),
    ("!rr 3 1d20+5", Dialect.AVRAE, "3x{1d20+5}", ""),
    ("!rr 3 1d20+5 attack", Dialect.AVRAE, "3x{1d20+5}", "attack"),
    ("!multiroll 2 4d6kh3", Dialect.AVRAE, "2x{4d6kh3}", ""),
    ("1d20 # hi", Dialect.AVRAE, "1d20", "hi"),
    ("1d20+5 adv", Dialect.AVRAE, "2d20kh1+5", ""),
    ("adv 1d20+5", Dialect.AVRAE, "2d20kh1+5", ""),
    ("1d20 dis + 5 to hit", Dialect.AVRAE, "2d20kl1+5", "to hit"),
    ("1d20 adv dis", Dialect.AVRAE, "2d20kh1", "dis"),
    ("1d20 for advice", Dialect.AVRAE, "1d20", "for advice"),
    ("!r 2d6 ADV", Dialect.AVRAE, "2d6", ""),
    ("1d20 # hi", Dialect.ROLL20, "1d20", "hi"),
]


@pytest.mark.parametrize(("text", "dialect", "canonical", "said"), READ, ids=[row[0] for row in READ])
def test_the_one_roll_of_a_message_is_rolled(text: str, dialect: Dialect, canonical: str, said: str) -> None:
    tree = parse(text, dialect)
    assert (tree.canonical_dialect, tree.canonical, tree.comment) == (Dialect.STANDARD, canonical, said)


# a text, its dialect, the reason, what stands at the span, and the way out
REFUSED = [
    (
        "Attack: [[1d20+5]] dmg [[2d6]]",
        Dialect.ROLL20,
        "SEVERAL_ROLLS",
        "[[2d6]]",
        "roll 1d20+5 and 2d6 as checks of one request",
    ),
    (
        "&{template:default} {{name=A}} {{a=[[1d20]]}} {{b=[[2d6]]}}",
        Dialect.ROLL20,
        "SEVERAL_ROLLS",
        "[[2d6]]",
        "roll 1d20 and 2d6 as checks of one request",
    ),
    (
        "1d20+5 and [[2d6]] fire",
        Dialect.ROLL20,
        "SEVERAL_ROLLS",
        "[[2d6]]",
        "roll 1d20+5 and 2d6 as checks of one request",
    ),
    (
        "Fire: [[1d20[fire]]] dmg [[2d6 + 1d4[cold]]]",
        Dialect.ROLL20,
        "SEVERAL_ROLLS",
        "[[2d6 + 1d4[cold]]]",
        "roll 1d20[fire] and 2d6 + 1d4[cold] as checks of one request",
    ),
    (
        "Hit [1]: [[2+[[1d4[a]]][b]]] and [[1d6]]",
        Dialect.ROLL20,
        "SEVERAL_ROLLS",
        "[[1d6]]",
        "roll 2+[[1d4[a]]][b] and 1d6 as checks of one request",
    ),
    ("d20 [[1d4]]", Dialect.ROLL20, "SEVERAL_ROLLS", "[[1d4]]", "roll d20 and 1d4 as checks of one request"),
    (
        "/roll 1d20\n/roll 2d6",
        Dialect.ROLL20,
        "SEVERAL_ROLLS",
        "/roll 2d6",
        "roll /roll 1d20 and /roll 2d6 as checks of one request",
    ),
    (
        "[[/r 1d20]] [[/r 2d6]]",
        Dialect.FOUNDRY,
        "SEVERAL_ROLLS",
        "[[/r 2d6]]",
        "roll /r 1d20 and /r 2d6 as checks of one request",
    ),
    (
        "Attack: [[1d20+5]] dmg [[2d6]]",
        Dialect.STANDARD,
        "NOTATION_SYNTAX",
        "Attack",
        "roll 1d20+5 and 2d6 as checks of one request",
    ),
    ("/em waves", Dialect.ROLL20, "NOTATION_SYNTAX", "/em", "write /roll 1d20, or the roll in [[ ]]"),
    ("/roll1d20", Dialect.ROLL20, "NOTATION_SYNTAX", "/roll", "write /roll 1d20, or the roll in [[ ]]"),
    ("[[/check dex 15]]", Dialect.FOUNDRY, "NOTATION_SYNTAX", "/check", "write /roll 1d20, or the roll in [[ ]]"),
    ("@UUID[Actor.x]{Bob}", Dialect.FOUNDRY, "NOTATION_SYNTAX", "@UUID", "write the roll that it makes"),
    ("&Reference[prone]", Dialect.FOUNDRY, "NOTATION_SYNTAX", "&Reference", "write the roll that it makes"),
    (
        "?{Attack|Sword,?{Hands&#124;1&#124;2&#125;}",
        Dialect.ROLL20,
        "NOTATION_SYNTAX",
        "&#124;",
        "write the signs themselves: | for &#124;, } for &#125;, a comma for &#44;",
    ),
    ("!attack sword", Dialect.AVRAE, "NOTATION_SYNTAX", "!attack", "write !roll 1d20, or the roll in [[ ]]"),
    ("!rr 1d20", Dialect.AVRAE, "NOTATION_SYNTAX", "d", "write !rr 3 1d20"),
    ("%{Ann|attack}", Dialect.ROLL20, "NOTATION_SYNTAX", "%{", "write the roll that the ability makes"),
    ("#attack", Dialect.ROLL20, "NOTATION_SYNTAX", "#", "write what the macro says in its place"),
    ("1t[table]", Dialect.ROLL20, "NOTATION_SYNTAX", "t", "roll a die with a side for each row: 1d6"),
    (
        "1d20 ?{Bless|No,|Yes,+1d4}",
        Dialect.ROLL20,
        "NOTATION_SYNTAX",
        "?",
        "write an operator before it: + ?{..}",
    ),
]


@pytest.mark.parametrize(
    ("text", "dialect", "reason", "at", "hint"), REFUSED, ids=[f"{row[1].name} {row[0]}" for row in REFUSED]
)
def test_what_is_no_one_roll_is_refused_with_a_way_out(
    text: str, dialect: Dialect, reason: str, at: str, hint: str
) -> None:
    with pytest.raises(CheckError) as caught:
        parse(text, dialect)
    error = caught.value
    assert error.span is not None
    assert (error.reason, text[error.span.start : error.span.end], error.hint) == (reason, at, hint)


@pytest.mark.parametrize("text", ["[[1d4]]d6", "[[1d20]] + 5", "2[[1d20]]", "1 + [[1d20]]", "Hit 5 + [[1d20]]"])
@pytest.mark.parametrize("dialect", [Dialect.FOUNDRY, Dialect.AVRAE])
def test_a_roll_in_brackets_that_is_part_of_a_sum_is_no_message(text: str, dialect: Dialect) -> None:
    with pytest.raises(CheckError):
        parse(text, dialect)


def test_a_second_number_sign_of_a_comment_is_not_shown() -> None:
    assert parse("1d20 # # hi", Dialect.AVRAE).comment == "hi"
