"""A question about odds from the query of a URL, as pages and chat bots put it: `?check=4d6kh3&atLeast=15`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from fairroll import json_codec
from fairroll.enums import full_name
from fairroll.errors import RequestError
from fairroll.v1 import notation_pb2, odds_pb2
from fairroll.variables import variable_of

CHECKS = ("check", "against")

READINGS = {
    "dialect": notation_pb2.NotationCheck.Dialect.DESCRIPTOR,
    "rounding": notation_pb2.NotationCheck.Rounding.DESCRIPTOR,
}
"""How notation is read: members of a check that stand in the query beside its text."""

VARIABLE = "var"
"""A variable of notation, as NAME=VALUE; the one member that may stand in a query several times."""

_WORDS = {"true": True, "false": False}


def question_of(query: Iterable[tuple[str, str]]) -> odds_pb2.GetOddsRequest:
    """Return the question: the members of GetOddsRequest by name; a check is notation, or JSON as a roll takes it.

    `dialect`, `rounding` and `var` are those of every check that is notation.

    Raises:
        RequestError: QUERY_REPEATED; WRONG_TYPE, a variable is no NAME=VALUE; CONFLICT, how notation is read is said
            and no check is notation; whatever the strict codec refuses of the same JSON.
    """
    members: dict[str, Any] = {}
    reading: dict[str, Any] = {}
    given = list(query)
    for name, text in given:
        if name == VARIABLE:
            reading.setdefault("variables", []).append(_variable(text))
            continue
        if name in members or name in reading:
            raise RequestError("QUERY_REPEATED", "the query says it twice", field=name)
        if name in READINGS:
            reading[name] = full_name(text, READINGS[name])
        else:
            members[name] = check_of(text) if name in CHECKS else _WORDS.get(text, text)
    texts = [members[name]["notation"] for name, written in given if name in CHECKS and not as_object(written)]
    for each in texts:
        each.update(reading)
    if reading and members and not texts:
        name = next(iter(reading))
        raise RequestError(
            "CONFLICT",
            "a check that is JSON says itself how its notation is read",
            field=VARIABLE if name == "variables" else name,
        )
    return json_codec.loads(odds_pb2.GetOddsRequest, json.dumps(members).encode())


def _variable(text: str) -> dict[str, str]:
    variable = variable_of(text)
    if variable is None:
        raise RequestError("WRONG_TYPE", "write NAME=INTEGER or NAME=LABEL", field=VARIABLE, value=text)
    return variable


def check_of(text: str) -> dict[str, Any]:
    """Return a check: JSON where the text is an object, notation otherwise; a group of notation begins alike."""
    return as_object(text) or {"notation": {"text": text}}


def as_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text is, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
