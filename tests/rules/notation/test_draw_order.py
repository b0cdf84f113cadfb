"""The order of draws is part of the contract: `tests/vectors/draw_order_notation.json`, worked out by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from fairroll_rules.systems.notation import NotationOutcome
from tests.rules.notation.rolling import resolved

CASES = json.loads((Path(__file__).parents[2] / "vectors" / "draw_order_notation.json").read_text("utf-8"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_dice_are_drawn_in_the_order_written_down(case: dict[str, Any]) -> None:
    result = resolved(case["text"], [face for _, face, _, _ in case["draws"]])
    drawn = [[draw.sides, draw.face, draw.purpose.name, draw.of] for draw in result.draws]
    assert drawn == case["draws"]
    assert isinstance(result.outcome, NotationOutcome)
    assert result.outcome.total == case["total"]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_every_draw_is_one_die_of_the_outcome_in_order(case: dict[str, Any]) -> None:
    outcome = resolved(case["text"], [face for _, face, _, _ in case["draws"]]).outcome
    dice = outcome.dice or [die for result in outcome.results for die in result.dice]
    assert [die.draw for die in dice] == list(range(len(case["draws"])))
