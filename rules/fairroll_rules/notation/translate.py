"""A text in the words of another dialect, and how each dialect reads a text."""

from __future__ import annotations

from fairroll_rules.errors import CheckError
from fairroll_rules.notation.canonical import canonical
from fairroll_rules.notation.dialects import Dialect, reading_of
from fairroll_rules.notation.faults import refuse
from fairroll_rules.notation.parser import parse
from fairroll_rules.notation.tree import Tree


def translated(tree: Tree, dialect: Dialect) -> str:
    """Return a text that the dialect reads as the same tree, with the comment where it can be said.

    How a total is rounded is no part of the tree: where the dialects round differently, name the rounding in the check.

    Raises:
        CheckError: DIALECT_CANNOT_SAY, with the span in the tree's own text of the part that has no words there.
    """
    text = canonical(tree.root, dialect)
    if not _reads(text, dialect, tree):
        title = reading_of(dialect).title
        raise refuse("DIALECT_CANNOT_SAY", f"{title} cannot say this as it is meant", tree.root.span)
    for sign in ("# ", "") if tree.comment else ():
        commented = f"{text} {sign}{tree.comment}"
        if _reads(commented, dialect, tree, comment=tree.comment):
            return commented
    return text


def _reads(text: str, dialect: Dialect, tree: Tree, comment: str = "") -> bool:
    """Tell whether a dialect reads a text as this tree, with this comment."""
    try:
        other = parse(text, dialect)
    except CheckError:
        return False
    return other.root == tree.root and other.comment == comment
