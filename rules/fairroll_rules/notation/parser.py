"""Text to tree: what a text means in a dialect, remembered; or why it is refused, and who reads it."""

from __future__ import annotations

from functools import lru_cache

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.notation.canonical import canonical
from fairroll_rules.notation.dialects import Dialect, Reading, reading_of
from fairroll_rules.notation.elsewhere import named
from fairroll_rules.notation.faults import LIMIT, beyond
from fairroll_rules.notation.grammar import Parser
from fairroll_rules.notation.limits import MAX_CHARACTERS
from fairroll_rules.notation.tree import Node, Tree

GRAMMAR_VERSION = 1
"""Grows with every change of what a text means; part of the key under which trees are remembered."""

_REMEMBERED = 1_024


def parse(text: str, dialect: Dialect = Dialect.STANDARD) -> Tree:
    """Return the tree of a text. Variables are bound later.

    Raises:
        CheckError: with reason, span, what was expected, a hint, and the limit where one was passed; a text that other
            dialects read names those, and how it is written in this one.
    """
    return _remembered(text, dialect, GRAMMAR_VERSION)


@lru_cache(maxsize=_REMEMBERED)
def _remembered(text: str, dialect: Dialect, _version: int) -> Tree:
    reading = reading_of(dialect)
    if len(text) > MAX_CHARACTERS:
        raise _too_long(text, reading)
    parser = Parser(text, reading)
    try:
        root = parser.input()
    except CheckError as error:
        raise named(error, text, dialect) from None
    canonical_dialect, spelling = _spelling(root, dialect)
    return Tree(
        text=text,
        dialect=dialect,
        root=root,
        warnings=tuple(parser.warnings),
        comment=parser.comment,
        canonical=spelling,
        canonical_dialect=canonical_dialect,
        nodes=parser.nodes,
        variables=tuple(dict.fromkeys(parser.variables)),
    )


def _spelling(root: Node, dialect: Dialect) -> tuple[Dialect, str]:
    """Return the canonical text: in STANDARD where that reads the same tree, else in the source dialect."""
    if dialect is not Dialect.STANDARD:
        try:
            spelling = canonical(root)
            if parse(spelling).root == root:
                return Dialect.STANDARD, spelling
        except CheckError:
            pass
    return dialect, canonical(root, dialect)


def _too_long(text: str, reading: Reading) -> CheckError:
    """Return the error for a text that is too long, or for a narrower limit that its beginning passes already."""
    try:
        Parser(text[:MAX_CHARACTERS], reading).input()
    except CheckError as error:
        if error.reason == LIMIT:
            return error
    return beyond("characters", MAX_CHARACTERS, str(len(text)), Span(MAX_CHARACTERS, len(text)))
