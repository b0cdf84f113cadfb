"""The tokenizer: looks at the folded text, token by token; labels, variables and comments come from the raw text.

White space may stand between tokens and never inside one. Which word is longest depends on what may stand at a place
(`d` is a die after a number and drop after a pool), so the parser asks for the tokens that its grammar has there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.limits import MAX_NAME_BYTES, MAX_POOL
from fairroll_rules.notation.dialects import TABLE, Reading, Trait
from fairroll_rules.notation.faults import SYNTAX, beyond, refuse
from fairroll_rules.notation.folding import fold
from fairroll_rules.notation.limits import MAX_DIGITS
from fairroll_rules.notation.tree import Exact

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_WHOLE = re.compile(r"[0-9]+(?![0-9.])")
_WORD = re.compile(r"[a-z]+")
_ADVANTAGE = re.compile(r"(?<!\S)(?:adv|dis)(?!\S)")
_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
HYPHENATED = re.compile(r"[a-zA-Z0-9._-]+")
"""A variable's name where a hyphen is part of it."""


class Lexicon(NamedTuple):
    """What the words of one dialect look like."""

    dice: re.Pattern[str]
    modifier: re.Pattern[str]
    words: re.Pattern[str]
    compare: re.Pattern[str]
    comments: re.Pattern[str] | None
    name: re.Pattern[str]
    tight: bool


def _any(spellings: Iterable[str]) -> str:
    """Return a pattern for the longest of some spellings."""
    return "|".join([re.escape(each) for each in sorted(spellings, key=lambda each: (-len(each), each))])


def _lexicon(reading: Reading) -> Lexicon:
    named = sorted([name[1:] for name in reading.dice], key=len, reverse=True)
    faces = "|".join([re.escape(name) + ("(?![0-9])" if name[-1].isdigit() else "") for name in named])
    tight = Trait.SELECTORS in reading.traits
    modifier = _any(reading.modifiers)
    words = _any(each for each in reading.modifiers if each.isalpha())
    comments = [_COMMENT[sign] for sign in ("/*", "//", "#") if sign in reading.tokens and "/*" in reading.tokens]
    return Lexicon(
        dice=re.compile(rf"d(?:{faces}|(?![a-z]))"),
        # A selector follows directly.
        modifier=re.compile(rf"(?:{modifier})(?=[hl<>]?[0-9])" if tight else modifier),
        # A word that only begins like a modifier is named as a whole.
        words=re.compile(rf"(?:{words})" if tight else rf"(?:{words})+(?![a-z])"),
        compare=re.compile(_any(reading.compares)),
        comments=re.compile("|".join(comments), re.DOTALL) if comments else None,
        name=HYPHENATED if Trait.HYPHENS in reading.traits else _NAME,
        tight=tight,
    )


_COMMENT = {"/*": r"/\*.*?\*/", "//": r"//[^\n\r]*", "#": r"#[^\n\r]*"}

_LEXICONS = {id(reading): _lexicon(reading) for reading in TABLE.values()}

_ANY_MODIFIER = re.compile(_any({each for reading in TABLE.values() for each in reading.modifiers}))
_ANY_COMPARE = re.compile(_any({each for reading in TABLE.values() for each in (*reading.compares, "==")}))


class Scanner:
    """A position in a text, moved forward by each token that is taken."""

    __slots__ = ("advantage", "at", "comments", "folded", "lexicon", "raw", "token_end")

    def __init__(self, raw: str, reading: Reading) -> None:
        """Begin at the first token.

        Raises:
            CheckError: the text holds what is not text.
        """
        self.raw = raw
        self.folded = fold(raw)
        self.advantage = self._advantage() if Trait.ADVANTAGE in reading.traits else ""
        self.lexicon = _LEXICONS[id(reading)]
        self.at = 0
        self.token_end = 0
        self.comments: list[str] = []
        self.space()

    def _advantage(self) -> str:
        """Return the first `adv` or `dis` that stands alone, wherever it stands, and leave space in its place."""
        match = _ADVANTAGE.search(self.folded)
        if match is None:
            return ""
        gap = " " * len(match[0])
        self.raw = self.raw[: match.start()] + gap + self.raw[match.end() :]
        self.folded = self.folded[: match.start()] + gap + self.folded[match.end() :]
        return match[0]

    def space(self) -> None:
        """Move over white space, and over comments where they may stand between tokens."""
        self.at = _SPACE.match(self.folded, self.at).end()  # type: ignore[union-attr]  # matches the empty string too
        comments = self.lexicon.comments
        if comments is not None and (match := comments.match(self.folded, self.at)):
            self.comments.append(self.raw[match.start() : match.end()].strip("/*# \t"))
            self.at = match.end()
            self.space()

    def peek(self) -> str:
        """Return the next sign, the empty string at the end."""
        return self.folded[self.at : self.at + 1]

    def take(self, sign: str) -> bool:
        """Take a sign if it is next."""
        if not self.folded.startswith(sign, self.at):
            return False
        self.at = self.token_end = self.at + len(sign)
        self.space()
        return True

    def ahead(self, sign: str) -> bool:
        """Tell whether a sign is next."""
        return self.folded.startswith(sign, self.at)

    def ended(self) -> int:
        """Return where the last token taken ended."""
        return self.token_end

    def spaced(self) -> bool:
        """Tell whether there is space before what comes next."""
        return self.at > self.token_end

    def since(self, start: int) -> Span:
        """Return the span from `start` to the end of the last token taken."""
        return Span(start, max(start, self.ended()))

    def next_span(self) -> Span:
        """Return the span of what comes next, for an error: a word, a number, or one sign."""
        match = _WORD.match(self.folded, self.at) or _NUMBER.match(self.folded, self.at)
        end = match.end() if match else min(self.at + 1, len(self.folded))
        return Span(self.at, end)

    def next_text(self) -> str:
        """Return what comes next as people would name it."""
        span = self.next_span()
        text = self.raw[span.start : span.end]
        return f"`{text if len(text) <= 30 else text[:27] + '...'}`" if text else "the end"

    def unexpected(self, after: str, *expected: str, hint: str = "") -> CheckError:
        """Return the error for what comes next: what was expected after what."""
        return refuse(
            SYNTAX,
            f"expected {' or '.join(expected)} after {after}, found {self.next_text()}",
            self.next_span(),
            expected=expected,
            hint=hint,
        )

    # Tokens

    def number(self) -> Exact:
        """`number := digit+ ("." digit+)?`: exact, at most 10 digits."""
        start = self.at
        match = _NUMBER.match(self.folded, start)
        if match is None:
            raise self.unexpected("the text before", "a number")
        text = match[0]
        digits = len(text) - ("." in text)
        self._end(match)
        if digits > MAX_DIGITS:
            span = Span(start, match.end())
            if self.lexicon.dice.match(self.folded, self.at) and "." not in text:
                raise beyond("dice_per_pool", MAX_POOL, text, span)
            raise beyond("digits", MAX_DIGITS, f"{digits} digits", span)
        if "." not in text:
            return int(text)
        value = Fraction(text)
        return value if value.denominator > 1 else value.numerator

    def whole(self, what: str) -> int:
        """`whole := digit+`: a literal without a point, at most 10 digits."""
        if _WHOLE.match(self.folded, self.at) is None:
            raise self.unexpected(what, "a whole number")
        return int(self.number())

    def dice(self) -> str:
        """`dice := "d" | "d%" | "df" | "df.1"`: the empty string where no die comes next."""
        match = self.lexicon.dice.match(self.folded, self.at)
        if match is None:
            return ""
        self._end(match)
        return match[0]

    def modifier(self) -> str:
        """`modifier := the longest spelling of a modifier; the empty string where none comes next`."""
        lexicon = self.lexicon
        match = lexicon.modifier.match(self.folded, self.at)
        if match is None or not (match[0][0] == "!" or lexicon.words.match(self.folded, self.at)):
            return ""
        if lexicon.tight and self.spaced():
            return ""
        self._end(match)
        return match[0]

    def compare(self) -> str:
        """`compare := "=" | "<>" | ">" | "<" | ">=" | "<="`: the empty string where none comes next."""
        match = self.lexicon.compare.match(self.folded, self.at)
        if match is None:
            return ""
        self._end(match)
        return match[0]

    def foreign(self) -> str:
        """Return the longest modifier or compare sign of any dialect that comes next, without taking it."""
        match = _ANY_MODIFIER.match(self.folded, self.at) or _ANY_COMPARE.match(self.folded, self.at)
        return match[0] if match else ""

    def word(self) -> str:
        """`word := letter+`: the empty string where none comes next."""
        match = _WORD.match(self.folded, self.at)
        if match is None:
            return ""
        self._end(match)
        return match[0]

    def variable(self) -> str:
        """`variable := "@" name ("." name)* | "@{" any sign but braces "}"`: the name, as typed."""
        start = self.at
        self.at += 1  # the @; no space may follow it
        if self.peek() == "{":
            return self._between("}", start, "a variable's name", "{")
        match = self.lexicon.name.match(self.raw, self.at)
        if match is None:
            raise self.unexpected("@", "a variable's name")
        self._end(match)
        return self._named(match[0], start, "variable_bytes")

    def label(self) -> str:
        """`label := "[" any sign but brackets "]"`: as typed, without the space around it."""
        return self._between("]", self.at, "a label", "[")

    def comment(self) -> str:
        """`comment := "#" any sign*`: as typed, without the space around it."""
        return self.rest(1)

    def rest(self, skipped: int = 0) -> str:
        """Take everything to the end and return it as typed, without the space around it."""
        text = self.raw[self.at + skipped :].strip()
        self.at = self.token_end = len(self.folded)
        return text

    def close_of(self, opening: str, closing: str) -> int:
        """Return where what was opened before the next sign is closed; -1 where it is not."""
        depth = 1
        for at in range(self.at, len(self.folded)):
            sign = self.folded[at]
            depth += (sign == opening) - (sign == closing)
            if not depth:
                return at
        return -1

    def _between(self, close: str, start: int, what: str, opening: str) -> str:
        begin = self.at + 1
        end = self.folded.find(close, begin)
        again = self.folded.find(opening, begin, end if end >= 0 else len(self.folded))
        if end < 0 or again >= 0:
            at = len(self.folded) if end < 0 and again < 0 else again
            raise refuse(SYNTAX, f"expected {close} after {what}", Span(at, at), expected=(close,))
        name = self.raw[begin:end].strip()
        self.at = self.token_end = end + 1
        self.space()
        if not name:
            raise refuse(SYNTAX, f"expected {what} before {close}", Span(start, end + 1), expected=(what,))
        return self._named(name, start, "label_bytes" if close == "]" else "variable_bytes")

    def _named(self, name: str, start: int, limit: str) -> str:
        size = len(name.encode())
        if size > MAX_NAME_BYTES:
            raise beyond(limit, MAX_NAME_BYTES, f"{size} bytes", self.since(start))
        return name

    def _end(self, match: re.Match[str]) -> None:
        self.at = self.token_end = match.end()
        self.space()
