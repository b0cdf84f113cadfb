"""The words at the top of the documentation page, for authors who have nothing else: guide.md beside this file."""

from __future__ import annotations

from importlib.resources import files

_HEADER = ', "x-api-key": "YOUR_KEY"'


def guide(*, anonymous: bool) -> str:
    """Return the words, in Markdown; where callers are not anonymous, with how they show their key."""
    texts = files("fairroll")
    key = "" if anonymous else texts.joinpath("guide_key.md").read_text("utf-8")
    return texts.joinpath("guide.md").read_text("utf-8") % {"key": key, "header": "" if anonymous else _HEADER}
