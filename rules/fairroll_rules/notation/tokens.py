"""The tokenizer: looks at the folded text, token by token; labels, variables and comments come from the raw text.

White space may stand between tokens and never inside one. Which word is longest depends on what may stand at a place
(`d` is a die after a number and drop after a pool), so the parser asks for the tokens that its grammar has there.
"""

from __future__ import annotations

import re
from fractions import Fraction

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.limits import MAX_NAME_BYTES, MAX_POOL
from fairroll_rules.notation.faults import SYNTAX, beyond, refuse
from fairroll_rules.notation.folding import fold
from fairroll_rules.notation.limits import MAX_DIGITS
from fairroll_rules.notation.tree import Exact

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_WHOLE = re.compile(r"[0-9]+(?![0-9.])")
_WORD = re.compile(r"[a-z]+")
_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_COMPARE = re.compile(r">=|<=|<>|[<>=]")
_DICE = re.compile(r"d(?:%|f(?:\.1(?![0-9]))?|(?![a-z]))")
# Longest first. An explosion ends before a compare point; `u` and `x` before their once.
_MODIFIER_WORD = r"xo?|rr|ro|r|kh|kl|k|dh|dl|d|min|max|uo?|cs|cf|sa|sd|s|f"
_MODIFIER = re.compile(rf"!!?p?o?|{_MODIFIER_WORD}")
_MODIFIER_WORDS = re.compile(rf"(?:{_MODIFIER_WORD})+(?![a-z])")


class Scanner:
    """A position in a text, moved forward by each token that is taken."""

    __slots__ = ("at", "folded", "raw")

    def __init__(self, raw: str) -> None:
        """Begin at the first token.

        Raises:
            CheckError: the text holds what is not text.
        """
        self.raw = raw
        self.folded = fold(raw)
        self.at = 0
        self.space()

    def space(self) -> None:
        """Move over white space."""
        self.at = _SPACE.match(self.folded, self.at).end()  # type: ignore[union-attr]  # matches the empty string too

    def peek(self) -> str:
        """Return the next sign, the empty string at the end."""
        return self.folded[self.at : self.at + 1]

    def take(self, sign: str) -> bool:
        """Take a sign if it is next."""
        if not self.folded.startswith(sign, self.at):
            return False
        self.at += len(sign)
        self.space()
        return True

    def ended(self) -> int:
        """Return where the last token taken ended."""
        return len(self.folded[: self.at].rstrip(" \t\r\n"))

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
            if _DICE.match(self.folded, self.at) and "." not in text:
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
        match = _DICE.match(self.folded, self.at)
        if match is None:
            return ""
        self._end(match)
        return match[0]

    def modifier(self) -> str:
        """`modifier := the longest spelling of a modifier; the empty string where none comes next`."""
        match = _MODIFIER.match(self.folded, self.at)
        if match is None or not (match[0][0] == "!" or _MODIFIER_WORDS.match(self.folded, self.at)):
            return ""  # a word that only begins like a modifier is named as a whole
        self._end(match)
        return match[0]

    def compare(self) -> str:
        """`compare := "=" | "<>" | ">" | "<" | ">=" | "<="`: the empty string where none comes next."""
        match = _COMPARE.match(self.folded, self.at)
        if match is None:
            return ""
        self._end(match)
        return match[0]

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
        match = _NAME.match(self.raw, self.at)
        if match is None:
            raise self.unexpected("@", "a variable's name")
        self._end(match)
        return self._named(match[0], start, "variable_bytes")

    def label(self) -> str:
        """`label := "[" any sign but brackets "]"`: as typed, without the space around it."""
        return self._between("]", self.at, "a label", "[")

    def comment(self) -> str:
        """`comment := "#" any sign*`: as typed, without the space around it; empty where none comes next."""
        if self.peek() != "#":
            return ""
        comment = self.raw[self.at + 1 :].strip()
        self.at = len(self.folded)
        return comment

    def _between(self, close: str, start: int, what: str, opening: str) -> str:
        begin = self.at + 1
        end = self.folded.find(close, begin)
        again = self.folded.find(opening, begin, end if end >= 0 else len(self.folded))
        if end < 0 or again >= 0:
            at = len(self.folded) if end < 0 and again < 0 else again
            raise refuse(SYNTAX, f"expected {close} after {what}", Span(at, at), expected=(close,))
        name = self.raw[begin:end].strip()
        self.at = end + 1
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
        self.at = match.end()
        self.space()
