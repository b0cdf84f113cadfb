"""A tree in the words of another dialect, so that the same faces come to the same total there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.notation.bounds import Analysis
from fairroll_rules.notation.canonical import canonical
from fairroll_rules.notation.dialects import Dialect, Rounding, reading_of
from fairroll_rules.notation.faults import refuse
from fairroll_rules.notation.grammar import Parser
from fairroll_rules.notation.plain import explicit, parting
from fairroll_rules.notation.sayable import commented, plainer, require_sayable
from fairroll_rules.notation.tree import (
    Bound,
    Call,
    Chain,
    Labelled,
    Node,
    Number,
    Repeat,
    Tree,
    children,
    never_negative,
)

_FRACTIONS = "how a total that is below zero and not whole is rounded"


def translated(
    tree: Tree, dialect: Dialect, variables: Mapping[str, Bound] | None = None, rounding: Rounding | None = None
) -> str:
    """Return a text that the dialect reads as the same tree, with the comment where it can be said.

    It is one that the original takes, which may be less than is read here.

    Where the dialects round a total differently and it can come to a difference, the text rounds it itself. With a
    `rounding`, which a check names, both round alike, provided that the check of the text there names it, too.

    Raises:
        CheckError: DIALECT_CANNOT_SAY, with the span in the tree's own text of the part that has no words there.
    """
    root = plainer(tree.root if rounding else _rounded(tree, dialect, variables or {}), dialect)
    require_sayable(root, dialect)
    text = canonical(root, dialect)
    there = _read(text, dialect)
    if there is None or not _same(there.root, root):
        raise _misread(tree, root, there, dialect)
    plain = "#" not in reading_of(dialect).tokens and tree.comment[:1].isalpha()
    signs = ("", "# ") if plain else ("# ", "")
    for sign in signs if tree.comment and commented(root, dialect) else ():
        said = f"{text} {sign}{tree.comment}"
        there = _read(said, dialect)
        if there is not None and there.comment == tree.comment and _same(there.root, root):
            return said
    return text


class _Read(NamedTuple):
    root: Node
    comment: str


def _read(text: str, dialect: Dialect) -> _Read | None:
    parser = Parser(text, reading_of(dialect))
    try:
        return _Read(parser.input(), parser.comment)
    except CheckError:
        return None


def _same(there: Node, root: Node) -> bool:
    return there == root or explicit(there) == explicit(root)


def _misread(tree: Tree, root: Node, there: _Read | None, dialect: Dialect) -> CheckError:
    """Return the error for a text that has the dialect's words and another meaning there: of its smallest such part."""
    part = parting(root, there.root) if there is not None else root
    said = tree.text[part.span.start : part.span.end]
    what = f"`{said[:40]}` as it is meant"
    return refuse("DIALECT_CANNOT_SAY", f"{reading_of(dialect).title} cannot say {what}", part.span, value=what)


def _rounded(tree: Tree, dialect: Dialect, variables: Mapping[str, Bound]) -> Node:
    """Return a tree whose total, rounded as the dialect does, is the one that its own dialect makes of it."""
    own, there = reading_of(tree.dialect).rounding, reading_of(dialect).rounding
    if own is there:
        return tree.root
    parts = _Parts(tree, variables)
    body = tree.root.body if isinstance(tree.root, Repeat) else tree.root
    for each in _labelled(body):
        if parts.differ(each) and each is not body:
            raise _unsayable(dialect, each.span)
    if not parts.differ(body):
        return tree.root
    rounded = _apply(body, own, dialect, below=parts.never_positive(body))
    return replace(tree.root, body=rounded) if isinstance(tree.root, Repeat) else rounded


def _apply(body: Node, own: Rounding, dialect: Dialect, *, below: bool) -> Node:
    """Return a node that rounds itself: by a function, or by the division that rounds down."""
    if isinstance(body, Labelled):
        return replace(body, node=_apply(body.node, own, dialect, below=below))
    reading, span = reading_of(dialect), body.span
    name = "floor" if own is Rounding.DOWN else "trunc"
    if name == "trunc" and below and name not in reading.functions:
        name = "ceil"
    if name in reading.functions:
        return Call(name, (body,), span)
    if name == "floor" and "//" in reading.tokens:
        return Call(name, (Chain((body, Number(1, span)), ("/",), span),), span)
    raise _unsayable(dialect, span)


def _unsayable(dialect: Dialect, span: Span) -> CheckError:
    title = reading_of(dialect).title
    return refuse("DIALECT_CANNOT_SAY", f"{title} cannot say {_FRACTIONS}", span, value=_FRACTIONS)


class _Parts:
    """What the parts of a tree can come to: by its bounds, or by their looks while a variable is not bound."""

    def __init__(self, tree: Tree, variables: Mapping[str, Bound]) -> None:
        try:
            self.ranges = Analysis(tree, variables).ranges
        except CheckError:
            self.ranges = {}

    def differ(self, node: Node) -> bool:
        """Tell whether rounding down and toward zero can differ: below zero, where a value is not whole."""
        known = self.ranges.get(id(node))
        if known is not None:
            return known.low < 0 and not known.whole
        return not never_negative(node) and any(map(_divides, _all(node)))

    def never_positive(self, node: Node) -> bool:
        """Tell whether a value is known to be zero at most."""
        known = self.ranges.get(id(node))
        return known is not None and known.high <= 0


def _divides(node: Node) -> bool:
    return (isinstance(node, Chain) and "/" in node.operators) or (
        isinstance(node, Number) and isinstance(node.value, Fraction)
    )


def _all(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from _all(child)


def _labelled(node: Node) -> Iterator[Labelled]:
    return (each for each in _all(node) if isinstance(each, Labelled))
