"""Odds as the tests write them: fractions by value, from our answers and from distributions made by hand."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from fairroll import json_codec
from fairroll.odds.answer import get_odds
from fairroll.odds.chances import Chances
from fairroll.odds.quantities import quantities_of
from fairroll.v1 import odds_pb2
from fairroll_rules.systems.notation import NotationCheck

Weights = dict[int, Fraction]


def question(check: dict[str, Any] | str, **more: Any) -> odds_pb2.GetOddsRequest:  # noqa: ANN401  any JSON
    """A request: a notation or a check as JSON, and other fields in snake case."""
    members = {"check": check if isinstance(check, dict) else {"notation": {"text": check}}, **more}
    if isinstance(members.get("against"), str):
        members["against"] = {"notation": {"text": members["against"]}}
    return json_codec.from_value(odds_pb2.GetOddsRequest, json_codec.parse(json_text(members)))


def json_text(value: object) -> str:
    import json

    return json.dumps(value)


def answer(check: dict[str, Any] | str, **more: Any) -> odds_pb2.GetOddsResponse:  # noqa: ANN401  any JSON
    return get_odds(question(check, **more))


def weights_of(quantity: odds_pb2.QuantityOdds) -> Weights:
    """What a message says, from its exact fractions."""
    return {each.value: Fraction(each.chance.exact) for each in quantity.values}


def quantity_of(check: odds_pb2.CheckOdds, name: str) -> odds_pb2.QuantityOdds:
    (found,) = (each for each in check.quantities if each.name == name)
    return found


def total_of(text: str) -> tuple[Weights, Fraction]:
    """The whole distribution of a notation's first quantity, and what is lost."""
    (first, *_) = answer(text, refuse_estimates=True).odds.quantities
    return weights_of(first), Fraction(first.lost.exact)


def exact_of(text: str) -> dict[str, Chances]:
    """Every quantity of a notation."""
    return {quantity.name: quantity.exact() for quantity in quantities_of(NotationCheck(text))}


def as_weights(chances: Chances) -> Weights:
    return {int(value): Fraction(weight, chances.total) for value, weight in chances.weights.items()}


def summed(parts: Iterable[Mapping[int, Fraction]]) -> Weights:
    """Independent parts added up, pair by pair."""
    result: Weights = {0: Fraction(1)}
    for part in parts:
        both: Weights = {}
        for a, weight_a in result.items():
            for b, weight_b in part.items():
                both[a + b] = both.get(a + b, Fraction(0)) + weight_a * weight_b
        result = both
    return result
