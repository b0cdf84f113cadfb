"""What a text means depends on nothing but the text, the dialect and the variables."""

import random
from functools import partial
from itertools import product

from fairroll_rules.errors import CheckError
from fairroll_rules.notation import Dialect, parser, program
from fairroll_rules.resolve import resolve
from fairroll_rules.systems.notation import NotationCheck

TEXTS = (
    "4d6kh3", "4d6r2", "4d6k3", "3d6>4", "d%", "1d20+5>10", "4d6cs6", "2d6!", "2d6x", "{2d6+3}kh1", "1d6//2", "-7%3",
    "round(-5/2)", "4d6mi2", "3d6mt", "[[1d4]]d6", "1D6", "1d6 ", " 1d6", "1 d6", "2d6!>5", "4d6d1", "2d6min3!",
)  # fmt: skip
CASES = list(product(TEXTS, Dialect))


def answers(cases: list[tuple[str, Dialect]]) -> dict[tuple[str, Dialect], object]:
    """The outcome of each text on dice of its own, or why it is refused, with nothing remembered before the first."""
    for remembered in (parser._remembered, program._remembered):
        remembered.cache_clear()
    found: dict[tuple[str, Dialect], object] = {}
    for text, dialect in cases:
        source = partial(random.Random(text).randint, 1)
        try:
            check = NotationCheck(text, dialect)
            found[text, dialect] = resolve(check, source).outcome
        except CheckError as error:
            found[text, dialect] = error.reason, error.span
    return found


def test_totals_never_depend_on_what_was_parsed_before() -> None:
    alone = {case: answers([case])[case] for case in CASES}
    generator = random.Random(5)
    for _ in range(5):
        shuffled = generator.sample(CASES, len(CASES))
        assert answers([*shuffled, *shuffled]) == alone


def test_the_dialects_differ_where_they_should() -> None:
    found = answers(CASES)
    for text in ("4d6r2", "4d6k3", "3d6>4", "d%", "1d20+5>10", "1d6//2", "-7%3", "round(-5/2)", "2d6!>5"):
        assert len({repr(found[text, dialect]) for dialect in Dialect}) > 1, text
