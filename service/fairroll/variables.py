"""Variables of notation as people write them: NAME=VALUE."""

from __future__ import annotations

import re

_INTEGER = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_DECIMAL = re.compile(r"-?[0-9]+\.[0-9]*", re.ASCII)


def variable_of(text: str) -> dict[str, str] | None:
    """Return a variable as JSON: of an integer, or of the label that a query of Roll20 takes; None if it is neither."""
    name, _, value = text.rpartition("=")
    if not name or not value or _DECIMAL.fullmatch(value):
        return None
    return {"name": name, "value" if _INTEGER.fullmatch(value) else "choice": value}
