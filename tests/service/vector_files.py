"""The project's own copies of vectors, as Python values."""

import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parents[1] / "vectors"


def read_vectors(name: str) -> dict[str, Any]:
    """Return the JSON of tests/vectors/<name>."""
    content: dict[str, Any] = json.loads((_FOLDER / name).read_bytes())
    return content
