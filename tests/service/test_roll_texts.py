"""The sheet of texts, one entry for each kind of roll: its line, its explanation, and the order of its draws."""

import re
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest

from fairroll import json_codec
from fairroll.convert import read_check
from fairroll.replay import text_message
from fairroll.v1 import roll_pb2
from fairroll_rules.dice import Draw
from fairroll_rules.given import GivenFaces
from fairroll_rules.resolve import Resolved, resolve
from fairroll_rules.systems import systems

SHEET = Path(__file__).parents[1] / "vectors" / "roll_texts.txt"
FIELDS = ("check", "faces", "answers", "draws")


class Entry(NamedTuple):
    """One entry of the sheet; `text` are its line and its steps as they stand."""

    title: str
    check: str
    faces: tuple[int, ...]
    answers: tuple[str, ...]
    draws: str
    text: str


def entries() -> list[Entry]:
    _, *blocks = SHEET.read_text("utf-8").split("\n# ")
    return [_entry(block) for block in blocks]


def _entry(block: str) -> Entry:
    title, *lines = block.strip().splitlines()
    fields = dict.fromkeys(FIELDS, "")
    while (found := lines[0].partition(":"))[0] in FIELDS:
        fields[found[0]] = found[2].strip()
        del lines[0]
    faces = tuple(map(int, fields["faces"].split()))
    return Entry(title, fields["check"], faces, tuple(fields["answers"].split()), fields["draws"], "\n".join(lines))


ENTRIES = entries()
SHEET_ENTRIES = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.title)


def resolved(entry: Entry) -> tuple[object, Resolved]:
    check = read_check(json_codec.from_value(roll_pb2.Check, json_codec.parse(entry.check)))
    source = GivenFaces(entry.faces)
    made = resolve(check, source, entry.answers)
    source.finish()
    return check, made


@SHEET_ENTRIES
def test_the_text_is_the_sheets(entry: Entry) -> None:
    assert text_message(*resolved(entry)).plain == entry.text


@SHEET_ENTRIES
def test_the_markdown_says_the_same(entry: Entry) -> None:
    markdown = text_message(*resolved(entry)).markdown
    bold, empty, *numbered = markdown.splitlines()
    assert (bold[:2], bold[-2:], empty) == ("**", "**", "")
    said = [bold[2:-2], *(f"  {step}" for step in numbered)]
    assert re.sub(r"\\(.)", r"\1", "\n".join(said)) == entry.text
    assert not re.search(r"(?<!\\)[\[\]|_`<>]", markdown)


@SHEET_ENTRIES
def test_the_draws_are_in_the_sheets_order(entry: Entry) -> None:
    """The order of draws is part of the contract: what changes here needs a new engine version."""
    _, made = resolved(entry)
    groups = []
    for actor, draws in groupby(made.draws, key=lambda draw: draw.actor):
        groups.append(f"{actor + ': ' if actor else ''}{' '.join(map(shown, draws))}")
    assert "; ".join(groups) == entry.draws


def shown(draw: Draw) -> str:
    return f"d{draw.sides}" if draw.of is None else f"d{draw.sides}<{draw.of}"


def test_each_roll_of_each_game_is_on_the_sheet() -> None:
    shown_rolls = {type(resolved(entry)[0]) for entry in ENTRIES}
    assert shown_rolls == {check for name, system in systems().items() if name != "notation" for check in system.CHECKS}
