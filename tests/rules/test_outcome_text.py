"""Text for the table cannot be bent by the names and labels inside it."""

from __future__ import annotations

import pytest

from fairroll_rules.outcome import Text, escape, one_line


def test_plain_text_numbers_the_steps() -> None:
    assert Text("12: Hit", ("5 4 3", "12 is a Hit")).plain() == "12: Hit\n  1. 5 4 3\n  2. 12 is a Hit"


def test_markdown_is_a_bold_line_and_a_list() -> None:
    assert Text("12: Hit", ("5 4 3", "12")).markdown() == "**12: Hit**\n\n1. 5 4 3\n2. 12"
    assert Text("12", ()).markdown() == "**12**"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a*b_c", r"a\*b\_c"),
        ("[x](y)", r"\[x\](y)"),
        ("<b>&lt;", r"\<b\>\&lt;"),
        ("a\\b`c`", r"a\\b\`c\`"),
        ("- item", r"\- item"),
        ("+ item", r"\+ item"),
        ("3. item", r"3\. item"),
        ("3) item", r"3\) item"),
        ("-3 is", "-3 is"),
        ("3.5", "3.5"),
        ("    code", "code"),
        ("a\n# b", r"a \# b"),
    ],
)
def test_signs_lose_their_meaning_in_markdown(text: str, escaped: str) -> None:
    assert escape(text) == escaped


@pytest.mark.parametrize("line_break", ["\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_a_line_break_in_a_label_forges_no_step(line_break: str) -> None:
    text = Text(f"a{line_break}b", (f"c{line_break}  2. d",))
    assert len(text.plain().splitlines()) == 2
    assert len(text.markdown().splitlines()) == 3


def test_the_line_for_the_table_is_one_line_whatever_a_name_holds() -> None:
    assert one_line("against *<b>x</b>\n# h") == "against *<b>x</b> # h"
