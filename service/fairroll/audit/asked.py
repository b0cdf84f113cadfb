"""A check in few words, for people who read of it in a report."""

from __future__ import annotations

from json import dumps
from typing import Any

MAX_CHARACTERS = 400


def asked(check: Any) -> str:  # noqa: ANN401  any JSON
    """Return a check as it would be asked: notation, or JSON without what it leaves at its default."""
    said = _without_defaults(check)
    if set(said) == {"notation"} and set(said["notation"]) == {"text"}:
        return str(said["notation"]["text"])
    text = dumps(said, ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= MAX_CHARACTERS else text[:MAX_CHARACTERS] + ".."


def _without_defaults(value: Any) -> Any:  # noqa: ANN401  as above
    if isinstance(value, list):
        return [_without_defaults(each) for each in value]
    if not isinstance(value, dict):
        return value
    said = {name: _without_defaults(each) for name, each in value.items()}
    return {name: each for name, each in said.items() if not _is_default(each)}


def _is_default(value: object) -> bool:
    return value in ("", 0, False, [], {}) or (isinstance(value, str) and value.endswith("_UNSPECIFIED"))
