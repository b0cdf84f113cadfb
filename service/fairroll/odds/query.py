"""A question about odds from the query of a URL, as pages and chat bots put it: `?check=4d6kh3&atLeast=15`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from fairroll import json_codec
from fairroll.errors import RequestError
from fairroll.v1 import odds_pb2

CHECKS = ("check", "against")
_WORDS = {"true": True, "false": False}


def question_of(query: Iterable[tuple[str, str]]) -> odds_pb2.GetOddsRequest:
    """Return the question: the members of GetOddsRequest by name; a check is notation, or JSON as a roll takes it.

    Raises:
        RequestError: QUERY_REPEATED; whatever the strict codec refuses of the same JSON.
    """
    members: dict[str, Any] = {}
    for name, text in query:
        if name in members:
            raise RequestError("QUERY_REPEATED", "the query says it twice", field=name)
        members[name] = check_of(text) if name in CHECKS else _WORDS.get(text, text)
    return json_codec.loads(odds_pb2.GetOddsRequest, json.dumps(members).encode())


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
