"""The dialects: one grammar and one tree; a dialect is only a row of this table, never a second parser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class Dialect(Enum):
    """Whose reading of a conflicting token holds."""

    STANDARD = 1
    ROLL20 = 2
    FOUNDRY = 3
    AVRAE = 4
    RPG_DICE_ROLLER = 5


class Rounding(Enum):
    """How the final total becomes an integer; everything before it is exact."""

    DOWN = 1
    UP = 2
    NEAREST = 3
    TOWARD_ZERO = 4


class Trait(Enum):
    """What a dialect does where no token says so."""

    IN_ORDER = 1
    """Modifiers are applied as written, not by phase."""
    BARE_POINT = 2
    """A number without a sign is a compare point, of equality."""
    BY_VALUE = 3
    """Rerolls, explosions and unique look at a clamped value."""
    WHOLE_POOL = 4
    """Each keep and drop looks at all dice, also at those that another one dropped."""
    LAST_WINS = 5
    """Of two modifiers of one kind the later one holds."""
    SELECTORS = 6
    """Modifiers take selectors: a number, `>`, `<`, `h`, `l`, directly behind them."""
    AT_MOST = 7
    """A number before a compare sign is the most dice that a reroll or explosion may take."""
    TALLIES = 8
    """`cs` and `cf` count; so do even, odd, df and sf."""
    FREE_TEXT = 9
    """Text after the roll is a comment."""
    REMAINDER = 10
    """`%` has the sign of what is divided."""
    NUMBERS_ALONE_NEGATE = 11
    """A minus sign stands before a literal only."""
    COUNTS_WRITTEN = 12
    """Keep and drop need their number, a literal of at least 1; a pool has at least one die."""
    LITERAL_DICE = 14
    """Count and sides are literals."""
    FIXED_DICE = 15
    """Count and sides hold no dice."""
    SUCCESS_FIRST = 16
    """A die that is a success is no failure."""
    ROUNDS_AWAY = 17
    """`round` rounds a half away from zero; elsewhere it is up."""
    ADVANTAGE = 13
    """The first `adv` or `dis` that stands alone changes a leading 1d20."""
    HYPHENS = 18
    """A hyphen is part of a variable's name."""
    LITERAL_POINTS = 19
    """The original takes a literal or a variable behind a modifier, nothing computed."""
    CLOSED = 20
    """The original takes modifiers behind dice and groups, not behind parentheses."""
    NAMED_POOLS = 21
    """The original takes labels and comments behind dice and groups alone, and no group inside a group."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a dialect reads what the dialects disagree on."""

    title: str
    """Its name as people write it."""

    modifiers: Mapping[str, str]
    """Spelling (folded) to the modifier's own name, which is its canonical spelling."""

    phases: Mapping[str, int]
    """Modifier to its place in the order of application; modifiers of one place keep the written order."""

    rounding: Rounding
    """How the total is rounded where the check does not say."""

    warnings: Mapping[str, tuple[str, str]]
    """Spelling to the code and the words of a warning: what another dialect would read."""

    compares: Mapping[str, str]
    """Sign of a compare point to the operator of the tree."""

    dice: Mapping[str, tuple[int, ...]]
    """Dice that have names, to their faces: `d%` and those with letters. 100 alone means 1..100."""

    functions: Mapping[str, tuple[int, int]]
    """Functions, and how many arguments each takes, from and to."""

    tokens: frozenset[str]
    """Signs that open something: powers, groups, labels, comments, inline rolls, repeats."""

    traits: frozenset[Trait]
    """What it does where no token says so."""

    alone: Mapping[str, str]
    """What a group of one does when dice are selected, and when they are counted: `dice`, `total` or `refused`."""

    examples: Mapping[str, str]
    """What a hint shows: a kind of roll to how the dialect writes one; kinds that it cannot write are absent."""

    commands: tuple[str, ...] = ()
    """What may stand before the roll in a chat window."""

    speech: tuple[str, ...] | None = None
    """What messages begin with that may hold a roll between `[[` and `]]`, besides words; None where none do."""

    repeats: tuple[str, ...] = ()
    """Commands of a chat window that take a number and a roll, and roll it so often."""


PERCENT = (100,)
_TENS = tuple(range(0, 100, 10))
FUDGE = (-1, 0, 1)
_FUDGE_ONE = (-1, 0, 0, 0, 0, 1)
COIN = (0, 1)

_SIGNS = MappingProxyType({each: each for each in ("=", "<>", ">", "<", ">=", "<=")})

_ROUNDERS = {"floor": (1, 1), "ceil": (1, 1), "round": (1, 1), "abs": (1, 1)}

INEXACT = (
    *("cos", "exp", "log", "sin", "tan", "acos", "asin", "atan", "cbrt", "hypot", "random"),
    *("log2", "log10", "log1p", "expm1", "atan2", "acosh", "asinh", "atanh", "cosh", "sinh", "tanh"),
)
"""Functions of the originals that have no exact values."""

_PHASES = {
    **dict.fromkeys(("!", "rr", "ro", "u", "uo", "min", "max", "among"), 0),
    **dict.fromkeys(("kh", "kl", "dh", "dl", "keep", "drop"), 1),
    **dict.fromkeys(("=", "f", "tally", "mt"), 2),
    **dict.fromkeys(("cs", "cf", "sa", "sd", "m", "ms"), 3),
}

_KEEPS = {"kh": "kh", "kl": "kl", "k": "kh", "dh": "dh", "dl": "dl", "d": "dl"}

_EXPLOSIONS = {f"{sign}{penetrate}": "!" for sign in ("!", "!!") for penetrate in ("", "p")}

_GROUP, _SET = "{2d6, 1d8}kh1", "(2d6, 1d8)kh1"

_COUNTS_THERE = ("MARK_ONLY", "{0} marks dice and leaves the total alone; Foundry counts them")

STANDARD = Reading(
    title="Standard",
    modifiers=MappingProxyType(
        {
            **_EXPLOSIONS,
            **{f"{spelling}o": "!" for spelling in _EXPLOSIONS},
            "x": "!",
            "xo": "!",
            "r": "rr",
            **_KEEPS,
            "s": "sa",
            **{name: name for name in ("rr", "ro", "u", "uo", "min", "max", "f", "cs", "cf", "sa", "sd")},
        }
    ),
    phases=MappingProxyType(_PHASES),
    rounding=Rounding.DOWN,
    warnings=MappingProxyType(
        {
            "r": (
                "REROLL_UNTIL",
                "r rerolls until it no longer holds; Foundry rerolls once. Write rr or ro",
            ),
            "d": ("DROP_LOWEST", "d after a pool drops the lowest dice. Write dl"),
            "k": (
                "KEEP_HIGHEST",
                "k keeps the highest dice; Avrae keeps the dice equal to the number. Write kh",
            ),
            "cs": ("MARK_ONLY", _COUNTS_THERE[1].format("cs")),
            "cf": ("MARK_ONLY", _COUNTS_THERE[1].format("cf")),
            "d%": ("PERCENTILE", "d% is 1..100; Avrae rolls 0..90 by ten"),
            "!=": ("EXPLODE_EQUALS", "!=N explodes on N; not equal is <>. Write !N"),
            ">": ("STRICT_COMPARISON", "> is strict; Roll20 reads at least. For that write >="),
            "<": ("STRICT_COMPARISON", "< is strict; Roll20 reads at most. For that write <="),
            "d1": (
                "ONE_SIDED_DIE",
                "a die with one side; to drop the lowest die write dl1 directly after the pool",
            ),
        }
    ),
    compares=_SIGNS,
    dice=MappingProxyType({"d%": PERCENT, "df": FUDGE, "df.1": _FUDGE_ONE}),
    functions=MappingProxyType({**_ROUNDERS, "min": (1, 99), "max": (1, 99)}),
    tokens=frozenset(("^", "{", "d{", "x{", "[", "@", "#", "~", ":")),
    traits=frozenset((Trait.BARE_POINT,)),
    alone=MappingProxyType({"select": "refused", "count": "refused"}),
    examples=MappingProxyType({"count": "10d10>=8", "failure": "10d10>=8f1", "set": _GROUP, "one": "max(1d4-2, 1)"}),
)

ROLL20 = Reading(
    title="Roll20",
    modifiers=MappingProxyType(
        {
            **_EXPLOSIONS,
            "r": "rr",
            "ro": "ro",
            **_KEEPS,
            "s": "sa",
            **{name: name for name in ("f", "cs", "cf", "m", "mt", "sa", "sd")},
        }
    ),
    phases=MappingProxyType(_PHASES),
    rounding=Rounding.DOWN,
    warnings=MappingProxyType(
        {
            ">": ("INCLUSIVE_COMPARISON", "> is at least in Roll20, and strict elsewhere"),
            "<": ("INCLUSIVE_COMPARISON", "< is at most in Roll20, and strict elsewhere"),
        }
    ),
    compares=MappingProxyType({"=": "=", ">": ">=", "<": "<="}),
    dice=MappingProxyType({"d%": PERCENT, "df": FUDGE}),
    functions=MappingProxyType(_ROUNDERS),
    tokens=frozenset(("**", "{", "[", "@", "[[", "?{", "\\")),
    traits=frozenset((Trait.BARE_POINT, Trait.FREE_TEXT, Trait.REMAINDER)),
    alone=MappingProxyType({"select": "dice", "count": "dice"}),
    examples=MappingProxyType({"count": "10d10>8", "failure": "10d10>8f1", "set": _GROUP}),
    commands=("/roll", "/r", "/gmroll", "/gr"),
    speech=("/em", "/me", "/w", "/desc", "/as", "/emas", "/ooc"),
)

FOUNDRY = Reading(
    title="Foundry",
    modifiers=MappingProxyType(
        {
            "x": "!",
            "xo": "!",
            "r": "ro",
            "rr": "rr",
            **_KEEPS,
            "min": "min",
            "max": "max",
            "ms": "ms",
            **dict.fromkeys(("cs", "cf", "even", "odd", "df", "sf"), "tally"),
        }
    ),
    phases=MappingProxyType(_PHASES),
    rounding=Rounding.DOWN,
    warnings=MappingProxyType(
        {
            "r": ("REROLL_ONCE", "r rerolls once in Foundry, and until it no longer holds elsewhere"),
            "cs": ("COUNTS_SUCCESSES", "cs counts in Foundry, and marks elsewhere"),
            "cf": ("COUNTS_FAILURES", "cf counts in Foundry, and marks elsewhere"),
            "k": ("KEEP_HIGHEST", "k keeps the highest dice; Avrae keeps the dice equal to the number"),
            "@-": ("HYPHEN_IN_NAME", "a hyphen is part of a name in Foundry; to subtract leave a space before it"),
        }
    ),
    compares=MappingProxyType({each: each for each in ("=", ">", "<", ">=", "<=")}),
    dice=MappingProxyType({"d%": PERCENT, "df": FUDGE, "dc": COIN}),
    functions=MappingProxyType(
        {**_ROUNDERS, "min": (1, 99), "max": (1, 99), "sign": (1, 1), "trunc": (1, 1), "pow": (2, 2), "sqrt": (1, 1)}
    ),
    tokens=frozenset(("{", "[", "@", "#")),
    traits=frozenset(
        (
            Trait.BARE_POINT,
            Trait.IN_ORDER,
            Trait.AT_MOST,
            Trait.TALLIES,
            Trait.REMAINDER,
            Trait.HYPHENS,
            Trait.LITERAL_POINTS,
            Trait.CLOSED,
        )
    ),
    alone=MappingProxyType({"select": "total", "count": "total"}),
    examples=MappingProxyType({"count": "10d10cs>=8", "set": _GROUP, "one": "max(1d4-2, 1)"}),
    commands=(
        "/roll",
        "/r",
        "/publicroll",
        "/pr",
        "/gmroll",
        "/gmr",
        "/blindroll",
        "/broll",
        "/br",
        "/selfroll",
        "/sr",
    ),
    speech=("/em", "/emote", "/me", "/w", "/whisper", "/ic", "/ooc", "/gm"),
)

AVRAE = Reading(
    title="Avrae",
    modifiers=MappingProxyType(
        {"k": "keep", "p": "drop", "rr": "rr", "ro": "ro", "ra": "ra", "e": "!", "mi": "min", "ma": "max"}
    ),
    phases=MappingProxyType(_PHASES),
    rounding=Rounding.TOWARD_ZERO,
    warnings=MappingProxyType(
        {
            "k=": ("KEEP_EQUAL", "kN keeps the dice that show N in Avrae, and the highest N elsewhere"),
            "d%": ("PERCENTILE", "d% is 0..90 by ten in Avrae, and 1..100 elsewhere"),
            "total": ("COMPARES_TOTAL", "the comparison is of the total in Avrae, and of the dice elsewhere"),
        }
    ),
    compares=MappingProxyType({"<": "<", ">": ">"}),
    dice=MappingProxyType({"d%": _TENS}),
    functions=MappingProxyType({}),
    tokens=frozenset(("//", "[", "(,", "==", "!=", ">=", "<=", ">", "<")),
    traits=frozenset(
        (
            Trait.BARE_POINT,
            Trait.IN_ORDER,
            Trait.BY_VALUE,
            Trait.SELECTORS,
            Trait.FREE_TEXT,
            Trait.ADVANTAGE,
            Trait.LITERAL_DICE,
        )
    ),
    alone=MappingProxyType({"select": "total", "count": "total"}),
    examples=MappingProxyType({"set": _SET}),
    commands=("!roll", "!r"),
    speech=(),
    repeats=("!rr", "!multiroll"),
)

_ORDER = "min max ! rr,ro u,uo kh,kl dh,dl =,f cs cf sa,sd"
_ONE_BY_ONE = {name: place for place, names in enumerate(_ORDER.split()) for name in names.split(",")}

RPG_DICE_ROLLER = Reading(
    title="rpg-dice-roller",
    modifiers=MappingProxyType(
        {
            **_EXPLOSIONS,
            "r": "rr",
            "ro": "ro",
            **_KEEPS,
            "s": "sa",
            **{name: name for name in ("u", "uo", "min", "max", "f", "cs", "cf", "sa", "sd")},
        }
    ),
    phases=MappingProxyType(_ONE_BY_ONE),
    rounding=Rounding.DOWN,
    warnings=MappingProxyType(
        {
            "r": ("REROLL_UNTIL", "r rerolls until it no longer holds; Foundry rerolls once"),
            "!=": ("EXPLODE_EQUALS", "!=N explodes on N; not equal is <>"),
        }
    ),
    compares=MappingProxyType({**_SIGNS, "!=": "<>"}),
    dice=MappingProxyType({"d%": PERCENT, "df": FUDGE, "df.1": _FUDGE_ONE, "df.2": FUDGE}),
    functions=MappingProxyType(
        {**_ROUNDERS, "min": (2, 2), "max": (2, 2), "sign": (1, 1), "pow": (2, 2), "sqrt": (1, 1)}
    ),
    tokens=frozenset(("^", "**", "{", "[", "#", "//", "/*")),
    traits=frozenset(
        (
            Trait.BY_VALUE,
            Trait.WHOLE_POOL,
            Trait.LAST_WINS,
            Trait.NUMBERS_ALONE_NEGATE,
            Trait.COUNTS_WRITTEN,
            Trait.FIXED_DICE,
            Trait.SUCCESS_FIRST,
            Trait.ROUNDS_AWAY,
            Trait.LITERAL_POINTS,
            Trait.CLOSED,
            Trait.NAMED_POOLS,
        )
    ),
    alone=MappingProxyType({"select": "dice", "count": "total"}),
    examples=MappingProxyType({"count": "10d10>=8", "failure": "10d10>=8f=1", "set": _GROUP, "one": "max(1d4-2, 1)"}),
)

TABLE: Mapping[Dialect, Reading] = MappingProxyType(
    {
        Dialect.STANDARD: STANDARD,
        Dialect.ROLL20: ROLL20,
        Dialect.FOUNDRY: FOUNDRY,
        Dialect.AVRAE: AVRAE,
        Dialect.RPG_DICE_ROLLER: RPG_DICE_ROLLER,
    }
)
"""Every dialect has its row."""


def reading_of(dialect: Dialect) -> Reading:
    """Return how a dialect reads."""
    return TABLE[dialect]


def titles_of(dialects: Sequence[Dialect]) -> str:
    """Return the names of some dialects as people would list them."""
    *first, last = [reading_of(each).title for each in dialects]
    return f"{', '.join(first)} and {last}" if first else last


def knowing(token: str) -> tuple[str, ...]:
    """Return the names of the dialects that know a token, spelled as in their tables."""
    return tuple([name.name for name, each in TABLE.items() if token in words_of(each) or token in each.dice])


def words_of(reading: Reading) -> frozenset[str]:
    """Return all tokens of a dialect but its dice, spelled as in its table, and with selectors where it has those."""
    selecting = Trait.SELECTORS in reading.traits
    behind = [f"{each}{selector}" for each in reading.modifiers for selector in "hl<>"] if selecting else []
    return reading.tokens.union(reading.modifiers, behind, reading.functions, reading.compares)
