"""Notations as hypothesis strategies: valid by the grammar, mostly valid by the rules, and mutated."""

import os

from hypothesis import strategies as st

LONG = bool(os.environ.get("FAIRROLL_LONG"))
"""The long run: 100,000 notations in place of 2,000."""

EXAMPLES = 100_000 if LONG else 2_000

VARIABLES = {"str": 3, "Strength Mod": -2, "a.b": 12}

_WHOLE = st.integers(0, 12).map(str)
_VARIABLE = st.sampled_from(["@str", "@{Strength Mod}", "@a.b"])
_LABEL = st.sampled_from(["[fire]", "[cold damage]", "[\u00df\u2212]"])
_OPERATOR = st.sampled_from([">=", "<=", ">", "<", "=", "<>"])


def _joined(*parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map("".join)


def _maybe(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(st.just(""), part)


_CONSTANT = st.one_of(_WHOLE, _WHOLE, st.sampled_from(["(1+2)", "(@str)", "@{a.b}", "(7-2*3)", "(9/2)"]))
_POINT = _joined(_OPERATOR, _CONSTANT)
_ANY_POINT = st.one_of(_POINT, _WHOLE)

_GENERATE = st.one_of(
    _joined(
        st.sampled_from(["!", "!!", "!p", "!o", "!!po", "x", "xo"]),
        _maybe(_joined(st.just("~"), _WHOLE)),
        _maybe(_POINT),
    ),
    _joined(st.sampled_from(["rr", "ro", "r"]), _maybe(_ANY_POINT)),
    _joined(st.sampled_from(["min", "max"]), _CONSTANT),
    st.sampled_from(["u", "uo"]),
)
_SELECT = _joined(
    st.sampled_from(["kh", "kl", "k", "dh", "dl", "d"]),
    _maybe(st.one_of(_WHOLE, st.sampled_from(["(1d2)", "(2+1)", "(1d3-1)"]))),
)
_COUNT = _joined(_POINT, _maybe(st.sampled_from([":2", ":9"])), _maybe(_joined(st.just("f"), _ANY_POINT)))
_MARK = st.one_of(_joined(st.sampled_from(["cs", "cf"]), _maybe(_ANY_POINT)), st.sampled_from(["s", "sa", "sd"]))
_MODIFIERS = st.lists(st.one_of(_GENERATE, _SELECT, _COUNT, _MARK), max_size=3).map("".join)
_OF_GROUP = st.lists(st.one_of(_SELECT, _COUNT, st.just("s")), max_size=2).map("".join)

_SIDES = st.one_of(
    st.sampled_from(["4", "6", "8", "10", "12", "20", "%", "F", "F.1", "{1,2,2,-5}", "(1d4+2)", "(2*3)"]), _VARIABLE
)
_COUNTS = st.one_of(_WHOLE, st.sampled_from(["", "(1d4)", "(1+2)", "@str ", "(1d4-1)"]))
POOLS = _joined(_COUNTS, st.just("d"), _SIDES, _MODIFIERS)
"""Pools with modifiers."""

PLAIN_POOLS = st.tuples(
    st.integers(1, 7),
    st.sampled_from([2, 4, 6, 10]),
    st.lists(st.one_of(_SELECT.filter(lambda text: "(" not in text), _COUNT, _MARK), max_size=3).map("".join),
).map(lambda pool: (pool[0], pool[1], f"{pool[0]}d{pool[1]}{pool[2]}"))
"""Pools that are drawn in a row, as count, sides and text."""


def _extended(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    elements = st.lists(inner, min_size=1, max_size=3).map(",".join)
    return st.one_of(
        _joined(inner, st.sampled_from(["+", " - ", "*", "/", "%"]), inner),
        _joined(st.just("("), inner, st.just(")"), st.sampled_from(["", "[x]", "^2", "/2", "!", "kh1", ">=4"])),
        _joined(st.just("{"), elements, st.just("}"), _OF_GROUP),
        _joined(st.sampled_from(["floor(", "ceil(", "round(", "abs(", "max(1,", "min("]), inner, st.just(")")),
        _joined(st.sampled_from(["-", "+"]), inner),
        _joined(inner, _LABEL),
    )


EXPRESSIONS = st.recursive(
    st.one_of(POOLS, POOLS, _WHOLE, _VARIABLE, st.sampled_from(["0.5", "2.25", "9999999999"])), _extended, max_leaves=6
)
"""Expressions by the grammar; some are refused, since a divisor can be zero or a modifier does not fit."""

NOTATIONS = _joined(
    st.one_of(EXPRESSIONS, EXPRESSIONS, _joined(st.sampled_from(["2x{", "6x{"]), EXPRESSIONS, st.just("}"))),
    _maybe(st.just(" # luck")),
)
"""Whole inputs."""

_SIGNS = "0123456789dDkhlrxofu!~+-*/%^()[]{},.<>=:@# \t\u2212"
_SCRAPS = st.sampled_from([*_SIGNS, "kh", "df", "//", "1d6", "99999"])


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A notation with a few signs put in, taken out or doubled."""
    text = draw(NOTATIONS)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        scrap = draw(_SCRAPS)
        text = draw(st.sampled_from([text[:at] + scrap + text[at:], text[:at] + text[at + 1 :], text[:at] + text]))[
            :300
        ]
    return text
