"""All notations of the tests for dialects, each with the dialect that reads it, and their totals on given faces."""

import csv
import random
from functools import cache, partial
from pathlib import Path

from fairroll_rules.errors import CheckError
from fairroll_rules.notation import Dialect, parse
from fairroll_rules.resolve import resolve
from fairroll_rules.systems.notation import NotationCheck, NotationOutcome, Variable

TESTS = Path(__file__).parent

STANDARD = (
    "4d6kh3", "2d20kl1+5", "4d6d1", "4d6dh1dl1", "(8d4kh4)!", "8d6!~3>=5", "4d6!o", "4d6xo", "4d6!!po", "4d6rr<3",
    "4d6ro1", "4d6r2", "10d10>=8f1", "10d10>=8>=10:2", "4d6min2max5", "6d6u", "3d6uo", "4d6cs>4cf<2", "4d6sd",
    "3d{1,2,5}", "4dF.1", "4dF", "3d%", "{2d6, 1d20}kh1", "{1d6, 2d8, 1d10}>=5", "6x{4d6kh3}", "2^3", "-2d6^2",
    "7%-3", "(2d4)d8", "1d20 + @str[strength]", "@{Strength Mod}", "max(1d20, 10)", "min(1d6, 2d4, 3)",
    "floor(1d20/2)", "2d6<>3", "1d20 # attack", "(1d4-8)/2", "round(-5/2)", "1d6-3d4/2",
)  # fmt: skip


@cache
def dialect_texts() -> tuple[tuple[Dialect, str], ...]:
    """Return every notation of the corpora that its dialect reads."""
    found = [(Dialect.STANDARD, text) for text in STANDARD]
    for path in sorted([*TESTS.glob("peers/*.tsv"), *TESTS.glob("rules/notation/*.tsv")]):
        rows = csv.DictReader(path.read_text("utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
        found += [(Dialect[path.stem.upper()], row["notation"]) for row in rows]
    return tuple([(dialect, text) for dialect, text in found if not isinstance(totals(text, dialect, 0), str)])


def totals(text: str, dialect: Dialect, rolls: int = 6, value: int = 2) -> list[object] | str:
    """Return what a text comes to on the faces of some seeds, its variables bound; or why that is refused."""
    found: list[object] = []
    try:
        variables = tuple([Variable(name, value) for name in parse(text, dialect).variables])
        check = NotationCheck(text, dialect, variables=variables)
        for seed in range(rolls):
            outcome = resolve(check, partial(random.Random(seed).randint, 1)).outcome
            if not isinstance(outcome, NotationOutcome):
                found.append(type(outcome).__name__)
                continue
            labels = [(each.label, each.total) for each in outcome.labels]
            found.append((outcome.total, labels, [each.total for each in outcome.results]))
    except CheckError as error:
        return error.reason
    return found
