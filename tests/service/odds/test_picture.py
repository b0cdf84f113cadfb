"""Pictures of odds: what they show is what the answer says, and nothing in them is markup that a caller wrote."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import httpx
import pytest

from fairroll.odds.columns import columns
from fairroll.odds.picture import BLUE, PALE_BLUE, picture
from tests.service.cli_run import Run, runner
from tests.service.odds.known import answer
from tests.service.process import ServiceProcess

SVG = "{http://www.w3.org/2000/svg}"


def drawn(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314  our own


def bars(root: ET.Element, *fills: str) -> list[float]:
    return [float(each.get("height", "")) for each in root.findall(f"{SVG}rect") if each.get("fill") in fills]


def texts(root: ET.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def test_bars_are_as_high_as_chances_and_axes_are_labelled() -> None:
    root = drawn(picture(answer("2d6")))
    heights = bars(root, BLUE)
    for height, ways in zip(heights, [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1], strict=True):
        assert height / heights[0] == pytest.approx(ways, rel=0.01)
    said = texts(root)
    assert {"2d6", "chance", "total", "0%", "5%", "10%", "15%", "2", "7", "12"} <= set(said)


def test_what_reaches_the_target_stands_out() -> None:
    root = drawn(picture(answer("4d6kh3", at_least=15)))
    assert (len(bars(root, PALE_BLUE)), len(bars(root, BLUE))) == (12, 4)
    assert any("15 or more: 23.15%" in text for text in texts(root))


def test_no_range_reaches_across_the_target() -> None:
    quantity = answer("40d6").odds.quantities[0]
    for target in range(120, 160):
        found = columns([quantity], 20, target)
        assert len(found) <= 21
        assert any(column.low == target for column in found)


def test_ranges_keep_all_but_the_tails() -> None:
    for text in ("100d6", "8d6!", "1d1000", "1d6*100", "3d6"):
        (quantity,) = answer(text).odds.quantities
        found = columns([quantity], 60)
        assert len(found) <= 60
        assert sum(column.chances[0] for column in found) == pytest.approx(1, abs=0.001)


def test_two_checks_share_their_axes_and_are_told_apart_without_colour() -> None:
    root = drawn(picture(answer("1d6", against="2d4")))
    assert len(bars(root, "url(#hatch)")) == 7 + 1  # and its key
    assert {"1d6", "2d4", "1", "8"} <= set(texts(root))


def test_values_that_stand_for_something_are_called_so() -> None:
    bands = [{"atLeast": 10, "name": "Doomed to fail"}, {"atLeast": 20, "name": "Glory", "success": True}]
    check = {"fortuneDoom": {"resolutionRoll": {"bands": bands}}}
    shown = texts(drawn(picture(answer(check, quantity="band"))))
    assert {"below the table", "Doomed to fail", "Glory", "band"} <= set(shown)
    result = texts(drawn(picture(answer({"crossroads": {"skillRoll": {"statistic": 2}}}))))
    assert {"failure", "zero undecided", "success", "great success", "result"} <= set(result)


def test_two_titles_leave_out_what_both_say() -> None:
    one, other = ({"crossroads": {"skillRoll": {"statistic": each}}} for each in (1, 3))
    shown = texts(drawn(picture(answer(one, against=other))))
    assert {"statistic 1", "statistic 3"} <= set(shown)


def test_an_estimate_is_marked() -> None:
    check = {"meidlands": {"opposedRoll": {"attacker": {"pool": 2, "modifiers": [4]}, "defender": {"pool": 7}}}}
    assert any("estimate, 200 rolls" in text for text in texts(drawn(picture(answer(check, rolls=200)))))


def test_a_label_is_text_and_never_markup() -> None:
    label = "</text><script>alert(1)</script>&"
    root = drawn(picture(answer({"notation": {"text": "1d6"}, "label": label})))
    assert not list(root.iter(f"{SVG}script"))
    assert label in texts(root)


@pytest.fixture(scope="module")
def client(service: ServiceProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.rest, trust_env=False, timeout=30) as opened:
        yield opened


def test_a_page_gets_the_picture_by_its_address(client: httpx.Client) -> None:
    got = client.get("/v1/odds.svg", params={"check": "4d6kh3", "atLeast": "15", "against": "3d6"})
    assert (got.status_code, got.headers["content-type"]) == (200, "image/svg+xml")
    assert re.fullmatch(r"public, max-age=\d+", got.headers["cache-control"])
    assert got.text == picture(answer("4d6kh3", at_least=15, against="3d6"))


def test_notation_is_read_as_the_query_says(client: httpx.Client) -> None:
    """A Roll20 macro and another one, with variables that a sheet would fill in."""
    macro, other = "{4d6r<2}kh3 + [[1d4]] + @{Strength Mod}", "3d6+@{lvl}"
    query = [("check", macro), ("against", other), ("dialect", "roll20"), ("var", "Strength Mod=3"), ("var", "lvl=-1")]
    got = client.get("/v1/odds.svg", params=[*query, ("rounding", "ROUNDING_UP")])
    reading = {
        "dialect": "DIALECT_ROLL20",
        "rounding": "ROUNDING_UP",
        "variables": [{"name": "Strength Mod", "value": "3"}, {"name": "lvl", "value": "-1"}],
    }
    checks = [{"notation": {"text": text, **reading}} for text in (macro, other)]
    assert got.text == picture(answer(checks[0], against=checks[1], refuse_estimates=True))


def test_a_rule_system_is_asked_as_json(client: httpx.Client) -> None:
    check = '{"crossroads":{"skillRoll":{"advantage":1}}}'
    got = client.get("/v1/odds.svg", params={"check": check, "quantity": "critical", "refuseEstimates": "true"})
    assert ">critical<" in got.text


@pytest.mark.parametrize(
    ("query", "reason", "field"),
    [
        ("", "REQUIRED", "check"),
        ("check=1d6&check=1d8", "QUERY_REPEATED", "check"),
        ("check=4d6kh3(", "NOTATION_SYNTAX", "check.notation.text"),
        ("check=1d6&colour=red", "UNKNOWN_FIELD", "colour"),
        ("check=1d6&rolls=ten", "WRONG_TYPE", "rolls"),
        ("check=1d6&dialect=klingon", "ENUM_UNKNOWN", "check.notation.dialect"),
        ("check=1d6&dialect=foundry&dialect=foundry", "QUERY_REPEATED", "dialect"),
        ("check=1d6&var=str", "WRONG_TYPE", "var"),
        ("check=1d6&var=str=1.5", "WRONG_TYPE", "var"),
        ("check=1d6%2b@{str}&var=str=two", "NO_SUCH_OPTION", "check.notation.variables"),
        ("check={%22notation%22:{%22text%22:%221d6%22}}&var=str=2", "CONFLICT", "var"),
    ],
)
def test_what_cannot_be_drawn_is_a_problem(client: httpx.Client, query: str, reason: str, field: str) -> None:
    got = client.get(f"/v1/odds.svg?{query}")
    assert got.status_code == 400
    assert got.headers["content-type"] == "application/problem+json"
    assert (got.json()["reason"], got.json()["field"]) == (reason, field)


def test_the_picture_of_the_readme_is_drawn_by_this_code() -> None:
    kept = Path(__file__).resolve().parents[3] / "docs" / "odds.svg"
    assert kept.read_text() == picture(answer("4d6kh3", at_least=15))


def test_the_command_line_writes_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run: Run = runner(capsys)
    done = run("odds", "4d6kh3", "--plot", tmp_path / "odds.svg")
    assert done.code == 0
    assert (tmp_path / "odds.svg").read_text() == picture(answer("4d6kh3"))
    assert run("odds", "4d6kh3", "--plot", tmp_path / "nowhere" / "odds.svg").code == 2


BOLD = {"a": 675, "c": 593, "e": 678, "f": 435, "h": 712, "i": 343, "k": 665, "l": 343, "m": 1042, "o": 687, "r": 493}
BOLD |= dict.fromkeys("0123456789", 696) | dict.fromkeys("bdgpq", 716) | {"n": 712, "s": 595, "t": 478, "u": 712}
BOLD |= {"v": 652, "w": 924, "x": 645, "y": 652, "z": 582, "S": 720, "M": 995, " ": 348, "+": 838, "<": 838, "@": 1000}
BOLD |= dict.fromkeys("()[]", 457) | {"{": 712, "}": 712, "…": 1000}
PLAIN = dict.fromkeys("0123456789", 636) | {"h": 634, "i": 278, "g": 635, "e": 615, "r": 411, " ": 318, ".": 318}
PLAIN |= {"%": 950, ",": 318, "m": 974, "a": 613, "n": 634}
"""Widths of letters in thousandths of the size: those of DejaVu Sans, which stands in where there is no Helvetica."""


def width(text: ET.Element, letters: dict[str, int]) -> float:
    return sum([letters[letter] for letter in text.text or ""]) * float(text.get("font-size", "")) / 1000


@pytest.mark.parametrize(
    "label",
    [
        "{4d6r<2}kh3 + [[1d4]] + @{Strength Mod}",
        "Sneak past the drowsy guards of the tomb",
        "4d6kh3 + 2d8 + 1d10 + 3d12kh2 + 5d20kl1",
    ],
)
def test_a_title_ends_before_the_numbers_beside_it(label: str) -> None:
    check = {"notation": {"text": "20d6"}, "label": label}
    root = drawn(picture(answer(check, against="2d6")))
    title, said = (each for each in root.iter(f"{SVG}text") if each.get("y") == "34.0")
    assert (said.get("text-anchor"), said.text) == ("end", "higher 100.00%, mean 70")
    end = float(title.get("x", "")) + width(title, BOLD)
    assert end < float(said.get("x", "")) - width(said, PLAIN)
