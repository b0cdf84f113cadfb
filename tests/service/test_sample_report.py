"""The report that the docs point at: made by this code, and telling what is wrong with its game."""

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.service import sample_report
from tests.service.sample_report import DOCS


def flagged(value: dict[str, Any]) -> set[tuple[str, str]]:
    return {(each.get("of", each["subject"]), each["test"]) for each in value["statistics"]["flagged"]}


def test_a_smaller_game_of_the_same_kind_has_the_same_two_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # put back afterwards
    assert sample_report.write(tmp_path, 500) == 1
    judge(json.loads((tmp_path / "report.json").read_bytes()))


def test_the_sample_tells_both_faults() -> None:
    value = json.loads((DOCS / "sample-report.json").read_bytes())
    judge(value)
    assert ("1d20+5", "chi-square") in flagged(value)  # which check a row stands for


def judge(value: dict[str, Any]) -> None:
    assert not value["verified"]
    assert value["read"]["failed"] == 0
    assert [(each["reason"], each["table"]) for each in value["evidence"]] == [("SEQ_TWICE", "market")]
    assert {level["level"] for level in value["level"]["sessions"]} == {"L0", "L2"}
    assert ("Mallory", "luck") in flagged(value)
    assert not {"Ann", "Bob", "Cleo"} & {of for of, _ in flagged(value)}


def test_the_page_of_the_sample_is_that_of_its_json_in_todays_style() -> None:
    text = (DOCS / "sample-report.html").read_text()
    style = files("fairroll.audit").joinpath("page.css").read_text()
    assert style in text, "run python -m tests.service.sample_report"
    for heading in ("What that is worth", "Evidence", "Outcomes", "Actors", "What this cannot show"):
        assert f"<h2>{heading}</h2>" in text
    assert "<td>check <bdi>1d20+5</bdi></td><td>chi-square</td>" in text
    assert not re.search(r"(?:src|href)=|https?://|<script", text)
