"""A roll in words: one line for the table, and the steps behind it. Derived from check and outcome, never signed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from fairroll_rules.notation.selection import DROPPED, KEPT
from fairroll_rules.outcome import Die, Fate

_AFTER = {
    Fate.REROLLED: "r",
    Fate.EXPLODED: "!",
    Fate.SUCCESS: "\N{CHECK MARK}",
    Fate.FAILURE: "\N{BALLOT X}",
    Fate.CRITICAL: "^",
    Fate.FUMBLE: "v",
}
_OUT = (Fate.DROPPED, Fate.REROLLED, Fate.ADDED)

_SAID = (
    (Fate.REROLLED.value, "rerolled (r)"),
    (Fate.EXPLODED.value, "exploded (!)"),
    (Fate.ADDED.value, "added to the die that exploded"),
    (Fate.CLAMPED.value, "clamped"),
    (Fate.DROPPED.value, "dropped"),
    (Fate.SUCCESS.value, "successes (\N{CHECK MARK})"),
    (Fate.FAILURE.value, "failures (\N{BALLOT X})"),
    (Fate.CRITICAL.value, "critical (^)"),
    (Fate.FUMBLE.value, "fumble (v)"),
)


@lru_cache(maxsize=256)
def _frame(fates: tuple[Fate, ...]) -> tuple[str, str]:
    signs = "".join([_AFTER.get(fate, "") for fate in fates])
    out = any(fate in _OUT for fate in fates)
    return ("(", f"{signs})") if out else ("", signs)


def show_dice(dice: Sequence[Die], order: int = 0) -> str:
    """Return the dice with what does not count in parentheses: `5 4 3 (2)`; sorted by value where `order` is not 0."""
    if order:
        dice = sorted(dice, key=lambda die: die.value * order)
    words = []
    for die in dice:
        fates = die.fates
        if fates == KEPT:
            words.append(str(die.value))
        elif fates == DROPPED:
            words.append(f"({die.value})")
        else:
            before, after = _frame(fates)
            words.append(f"{before}{die.value}{after}")
    return " ".join(words)


def fate_steps(dice: Sequence[Die]) -> list[str]:
    """Return one sentence for each thing that happened to some of the dice."""
    # By number: looking an Enum up in a dictionary runs Python's own hash of it, which takes longer than all the rest.
    values: dict[int, list[str]] = {}
    for die in dice:
        if die.fates != KEPT:
            for fate in die.fates:
                values.setdefault(fate._value_, []).append(str(die.value))
    return [f"{said}: {', '.join(values[number])}" for number, said in _SAID if number in values] if values else []


def plural(count: int, one: str, many: str) -> str:
    """Return a number with its noun."""
    return f"{count} {one if count == 1 else many}"
