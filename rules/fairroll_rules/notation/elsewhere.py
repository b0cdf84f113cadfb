"""A text that its dialect refuses: which others read it, and how this one writes what they read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.notation.bounds import Analysis
from fairroll_rules.notation.chat import spoken
from fairroll_rules.notation.dialects import TABLE, Dialect, Reading, knowing, reading_of, titles_of, words_of
from fairroll_rules.notation.faults import FOREIGN, FREE, LIMIT, SEVERAL, SYNTAX, refuse
from fairroll_rules.notation.folding import fold
from fairroll_rules.notation.grammar import Parser
from fairroll_rules.notation.translate import translated
from fairroll_rules.notation.tree import Tree

_COLUMN = re.compile(r" \(column [0-9]+\)$")
_COMMAND = re.compile(r"[/!][a-z]+")
_SAYING_MORE = ("COMPARES_TOTAL", "UNKNOWN_FUNCTION")
"""Refusals that name more than a token; who reads the text stands in their hint."""
_MOST_WRITTEN = 300
"""Characters that a hint has for texts: errors travel in headers, whose size others limit, and half a text is none."""
_TOO_LONG = "let ParseNotation translate it"
_ARGUMENTS = ("", "6", "=6", ">3", "h1")


def named(error: CheckError, text: str, dialect: Dialect) -> CheckError:
    """Return a refusal with the dialects that read the text, and what they read in the words of this one.

    What no dialect knows and what passes a limit stays as it is; so does the reason of a refusal that says more than
    that the text is no notation.
    """
    if error.reason in (LIMIT, SEVERAL) or error.span is None:
        return error
    if error.reason == SYNTAX and (several := _several(text, dialect)):
        return _hinted(error, several)
    readers: list[Tree] = []
    takers: list[Tree] = []
    for other in TABLE:
        found = _read(text, other) if other is not dialect else None
        if found is not None:
            tree, free = found
            (takers if error.span.start >= free else readers).append(tree)
    if readers:
        return _with_readers(error, text, dialect, readers)
    if takers and error.reason == SYNTAX and (not error.hint or error.hint.startswith(FREE)):
        return _hinted(error, f"{_reading(takers)} it as free text: {_written(takers, dialect)}")
    if error.reason == FOREIGN and not error.hint:
        return _hinted(error, _example(error.value, dialect))
    return error


def _several(text: str, dialect: Dialect) -> str:
    """Return what a dialect says in which the text holds several rolls; empty where it does in none."""
    for other, reading in TABLE.items():
        try:
            if other is not dialect:
                spoken(text, fold(text), reading)
        except CheckError as error:
            if error.reason == SEVERAL:
                return error.hint
    return ""


def _read(text: str, dialect: Dialect) -> tuple[Tree, int] | None:
    """Return what a dialect reads, and where its free text begins; None where it refuses the text."""
    parser = Parser(text, reading_of(dialect))
    try:
        root = parser.input()
    except CheckError:
        return None
    tree = Tree(text, dialect, root, (), parser.comment, "", dialect, parser.nodes, tuple(parser.variables))
    try:
        Analysis(tree, {})
    except CheckError as error:
        if error.reason != "VARIABLE_MISSING":
            return None
    return tree, parser.free


def _with_readers(error: CheckError, text: str, dialect: Dialect, readers: Sequence[Tree]) -> CheckError:
    """Return an error that names who reads the text: as a token of theirs, or beside what it says itself."""
    written = _written(readers, dialect)
    if error.reason == "DIALECT_CONFLICT":
        return _hinted(error, written, tuple([tree.dialect.name for tree in readers]))
    names = {tree.dialect.name for tree in readers}
    token, span = _token(fold(text), error, dialect, names)
    if error.reason in _SAYING_MORE or not (token or error.reason in (SYNTAX, FOREIGN)):
        words = f"{_reading(readers)} it: {written}"
        return _hinted(error, f"{error.hint}; {words}" if error.hint else words)
    if error.reason == FOREIGN and token in ("", error.value):
        # Who knows the token may refuse something else in the text.
        names |= set(error.expected) - {dialect.name}
        token = error.value
    known = [each for each in TABLE if each.name in names]
    titles = titles_of(known)
    said = f"{reading_of(dialect).title} has no `{token}`; {titles} {'has' if len(known) == 1 else 'have'} it"
    if not token:
        token = text[span.start : span.end]
        said = f"{_COLUMN.sub('', error.message)}; {titles} {'reads' if len(known) == 1 else 'read'} the text"
    return refuse(
        FOREIGN,
        said,
        span,
        expected=tuple([each.name for each in known]),
        hint=written,
        value=token,
    )


def _token(folded: str, error: CheckError, dialect: Dialect, names: Iterable[str]) -> tuple[str, Span]:
    """Return the longest token that only others have, at the place of an error or directly before it; or nothing."""
    span = error.span or Span(0, 0)
    command = _COMMAND.match(folded) if not span.start else None
    if command:
        return command[0], Span(*command.span())
    own = reading_of(dialect)
    longest = max([size for size, _ in _covering(folded, span.start, words_of(own))], default=0)
    found = [
        (first + len(token) > span.start, len(token), first, token)
        for name in names
        for token in _only(reading_of(Dialect[name]), own)
        for first in range(max(0, span.start - len(token)), span.start + 1)
        if folded.startswith(token, first) and len(token) > longest
    ]
    if not found:
        return "", span
    _, size, first, token = max(found)
    return token, Span(first, first + size)


def _covering(folded: str, at: int, words: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield the length and the start of each word that stands over a place of a text, or directly before it."""
    for word in words:
        for first in range(max(0, at - len(word)), at + 1):
            if folded.startswith(word, first):
                yield len(word), first


def _only(theirs: Reading, own: Reading) -> set[str]:
    """Return the tokens that only the other dialect has: a die and a modifier may have the same name."""
    return {*(theirs.dice.keys() - own.dice.keys()), *(words_of(theirs) - words_of(own))}


def _written(readers: Sequence[Tree], dialect: Dialect) -> str:
    """Return what each reader reads in the words of a dialect, or what that cannot say."""
    said: dict[str, list[Dialect]] = {}
    for tree in readers:
        try:
            words = f"write {translated(tree, dialect)}"
        except CheckError as error:
            words = _COLUMN.sub("", error.message)
        said.setdefault(words, []).append(tree.dialect)
    parts = [f"as {titles_of(of)} {'reads' if len(of) == 1 else 'read'} it, {words}" for words, of in said.items()]
    written = "; ".join(parts) if len(said) > 1 else next(iter(said))
    return written if len(written) <= _MOST_WRITTEN else _TOO_LONG


def _example(token: str, dialect: Dialect) -> str:
    """Return how the dialect writes a pool with a modifier of another one; empty where it cannot."""
    for name in knowing(token):
        for argument in _ARGUMENTS:
            text = f"4d6{token}{argument}"
            found = _read(text, Dialect[name])
            if found is None:
                continue
            try:
                words = translated(found[0], dialect)
            except CheckError:
                continue
            return f"{reading_of(Dialect[name]).title}'s {text} is {words} here"
    return ""


def _hinted(error: CheckError, hint: str, expected: tuple[str, ...] = ()) -> CheckError:
    """Return the same error with another way out, and with who reads the text."""
    return CheckError(
        error.reason,
        error.message,
        field=error.field,
        span=error.span,
        expected=expected or error.expected,
        hint=hint,
        value=error.value,
    )


def _reading(trees: Sequence[Tree]) -> str:
    return f"{titles_of([tree.dialect for tree in trees])} {'reads' if len(trees) == 1 else 'read'}"
