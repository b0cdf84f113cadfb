"""Folding before parsing: each code point to one code point, so that spans point into the raw text.

What is folded: ASCII capitals, U+2212 and dashes, the multiplication and division signs, full-width forms, and spaces
that do not break. Labels, variables and comments are read from the raw text and so stay as they were typed.
"""

from __future__ import annotations

import re

from fairroll_rules.errors import Span
from fairroll_rules.notation.faults import SYNTAX, refuse

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63"
_TIMES = "\u00d7\u22c5\u2217\u2715"
_OVER = "\u00f7\u2044\u2215"
_SPACES = "\u00a0\u2007\u202f\u3000"

_FOLDED = str.maketrans(
    {
        **{chr(code): chr(code - 0xFEE0).lower() for code in range(0xFF01, 0xFF5F)},
        **{chr(code): chr(code).lower() for code in range(ord("A"), ord("Z") + 1)},
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_TIMES, "*"),
        **dict.fromkeys(_OVER, "/"),
        **dict.fromkeys(_SPACES, " "),
    }
)

# Control signs could steer a terminal or hide text in a label; half of a surrogate pair is no character at all.
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def fold(text: str) -> str:
    """Return the text as the grammar knows it, code point by code point.

    Raises:
        CheckError: NOTATION_SYNTAX for control signs, direction overrides and lone surrogates.
    """
    unreadable = _UNREADABLE.search(text)
    if unreadable:
        code = ord(unreadable[0])
        raise refuse(SYNTAX, f"U+{code:04X} is not text", Span(*unreadable.span()), value=f"U+{code:04X}")
    return text.translate(_FOLDED)
