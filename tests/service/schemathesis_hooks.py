"""What schemathesis lacks for our document: how a body of lines is written. It loads this by SCHEMATHESIS_HOOKS."""

import json
from typing import Any

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_: object, value: Any) -> bytes:  # noqa: ANN401  whatever it made up
    """Write a text as it is, and anything else as one line."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "surrogatepass")
