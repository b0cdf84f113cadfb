"""The differences from the originals that docs/dialects.md lists, read from its table."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fairroll_rules.notation import Dialect
from fairroll_rules.notation.dialects import TABLE

DOCUMENT = Path(__file__).parents[1] / "docs/dialects.md"
_CELLS = (r"(?P<dialect>[\w-]+)", "`(?P<text>[^`]+)`", *[f"(?P<{name}>[^|]*)" for name in ("faces", "theirs", "ours")])
_ROW = re.compile(r"^\| " + r" \| ".join(_CELLS) + r" \|")


@dataclass(frozen=True)
class Difference:
    """An input, the faces rolled for it, and both answers: a total and the dice that count, or `refused`."""

    dialect: Dialect
    text: str
    faces: tuple[int, ...]
    theirs: str
    ours: str
    their_kept: tuple[int, ...]
    our_kept: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dialect.name}: {self.text}"


@cache
def differences() -> tuple[Difference, ...]:
    """Return the rows of the table of differences."""
    titles = {reading.title: dialect for dialect, reading in TABLE.items()}
    text = DOCUMENT.read_text(encoding="utf-8")
    section = text.split("## Where we differ")[1].split("\n## ")[0]
    found = []
    for line in section.splitlines():
        match = _ROW.match(line)
        if match is None or match["dialect"] not in titles:
            continue
        (theirs, their_kept), (ours, our_kept) = _answer(match["theirs"]), _answer(match["ours"])
        faces = tuple(int(each) for each in match["faces"].split())
        found.append(Difference(titles[match["dialect"]], match["text"], faces, theirs, ours, their_kept, our_kept))
    return tuple(found)


def _answer(cell: str) -> tuple[str, tuple[int, ...]]:
    """Read `12 (5 4 3)` or `refused: REASON`."""
    answer, _, dice = cell.strip().replace("`", "").partition(" (")
    return answer, tuple(sorted(int(each) for each in dice.rstrip(")").split()))
