"""The dialects: one grammar and one tree; a dialect is only a row of this table, never a second parser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from fairroll_rules.errors import CheckError


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


@dataclass(frozen=True, slots=True)
class Reading:
    """How a dialect reads what the dialects disagree on."""

    modifiers: Mapping[str, str]
    """Spelling (folded) to the modifier's own name, which is its canonical spelling."""

    phases: Mapping[str, int]
    """Modifier to its phase: generate 0, select 1, count 2, mark 3. Modifiers of one phase keep the written order."""

    rounding: Rounding
    """How the total is rounded where the check does not say."""

    warnings: Mapping[str, str]
    """Spelling to the warning: what another dialect would read."""


_PHASES = MappingProxyType(
    {
        **dict.fromkeys(("!", "rr", "ro", "u", "uo", "min", "max"), 0),
        **dict.fromkeys(("kh", "kl", "dh", "dl"), 1),
        **dict.fromkeys(("=", "f"), 2),
        **dict.fromkeys(("cs", "cf", "sa", "sd"), 3),
    }
)

_EXPLOSIONS = {f"{sign}{penetrate}{once}": "!" for sign in ("!", "!!") for penetrate in ("", "p") for once in ("", "o")}

STANDARD = Reading(
    modifiers=MappingProxyType(
        {
            **_EXPLOSIONS,
            "x": "!",
            "xo": "!",
            "r": "rr",
            "k": "kh",
            "d": "dl",
            "s": "sa",
            **{name: name for name in _PHASES if name not in "!="},
        }
    ),
    phases=_PHASES,
    rounding=Rounding.DOWN,
    warnings=MappingProxyType(
        {
            "r": "r rerolls until it no longer holds; Foundry rerolls once. Write rr or ro",
            "d": "d after a pool drops the lowest dice. Write dl",
            "k": "k keeps the highest dice; Avrae keeps the dice equal to the number. Write kh",
            "cs": "cs marks dice and leaves the total alone; Foundry counts them",
            "cf": "cf marks dice and leaves the total alone; Foundry counts them",
            "d%": "d% is 1..100; Avrae rolls 0..90 by ten",
            "!=": "!=N explodes on N; not equal is <>. Write !N",
            ">": "> is strict; Roll20 reads at least. Write >=",
            "<": "< is strict; Roll20 reads at most. Write <=",
            "d1": "a die with one side; to drop the lowest die write dl1 directly after the pool",
        }
    ),
)

TABLE: Mapping[Dialect, Reading] = MappingProxyType({Dialect.STANDARD: STANDARD})
"""A dialect that is not here is refused."""


def reading_of(dialect: Dialect) -> Reading:
    """Return how a dialect reads.

    Raises:
        CheckError: DIALECT_UNSUPPORTED.
    """
    reading = TABLE.get(dialect)
    if reading is None:
        known = tuple(each.name for each in TABLE)
        raise CheckError(
            "DIALECT_UNSUPPORTED",
            f"this version does not read {dialect.name}",
            field="dialect",
            value=dialect.name,
            expected=known,
        )
    return reading
