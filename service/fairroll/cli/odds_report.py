"""Odds in lines for the terminal: what each check comes to, a bar for each value, and what was asked of them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence

from fairroll.odds.bars import Bar, bars, percent, rounded, words
from fairroll.v1 import odds_pb2

MAX_ROWS = 32
"""Bars of one chart; more values share them."""

MAX_BAR = 48
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_QUARTERS = {25: "lower quarter", 50: "median", 75: "upper quarter"}


def report(answer: odds_pb2.GetOddsResponse) -> Iterator[str]:
    """Yield the lines of an answer."""
    checks = [answer.odds, answer.against] if answer.HasField("against") else [answer.odds]
    charts = [bars(check.quantities[0], MAX_ROWS) for check in checks]
    longest = max((row.chance for rows in charts for row in rows), default=0.0)
    yield from _check(answer.odds, charts[0], longest)
    if answer.HasField("target"):
        yield from _target(answer.target)
    if answer.HasField("against"):
        yield from _check(answer.against, charts[1], longest)
        yield from _comparison(answer)


def _check(check: odds_pb2.CheckOdds, rows: Sequence[Bar], longest: float) -> Iterator[str]:
    first, *others = check.quantities
    yield check.title
    yield f"  {first.name}: {_in_words(first)}"
    yield from _chart(first, rows, longest)
    for other in others:
        yield f"  {other.name}: {_in_words(other)}"
    if first.lost.value:
        yield f"  lost: {first.lost.value:.1e} of the rolls, in chains of explosions that were cut"
    if first.limit_reached.value:
        yield f"  no total: {first.limit_reached.value:.1e} of the rolls, which end in a limit of the rules"
    yield from _estimated(first)


def _in_words(quantity: odds_pb2.QuantityOdds) -> str:
    if not quantity.values:
        return "never comes to anything"
    values = [each.value for each in quantity.values]
    named = [each for each in quantity.values if each.name]
    if named:
        shown = [each for each in named if each.name != "no"] or named
        return ", ".join(f"{percent(each.chance.value)} {words(each.name)}" for each in shown)
    quantiles = {each.percent: each.value for each in quantity.quantiles}
    return (
        f"mean {_mean(quantity)}, standard deviation {rounded(quantity.standard_deviation, 4)}, "
        f"half of all {quantiles[25]} .. {quantiles[75]}, all {values[0]} .. {values[-1]}"
    )


def _chart(quantity: odds_pb2.QuantityOdds, rows: Sequence[Bar], longest: float) -> Iterator[str]:
    if not rows:
        return
    called = {each.value: each.name for each in quantity.values}
    names = [_called(row, called.get(row.low, "")) for row in rows]
    margin = max(map(len, names))
    room = max(10, min(MAX_BAR, shutil.get_terminal_size().columns - margin - 30))
    yield f"    {'':>{margin}}  {'chance':>8}  {'or more':>8}"
    for row, name in zip(rows, names, strict=True):
        drawn = _bar(row, longest, room)
        yield f"    {name:>{margin}}  {percent(row.chance):>8}  {percent(row.at_least):>8}  {drawn}".rstrip()


def _called(row: Bar, name: str) -> str:
    return words(name) if name in ("yes", "no") else f"{words(name)} [{row.name}]" if name else row.name


def _bar(row: Bar, longest: float, room: int) -> str:
    eighths = round(row.chance / longest * room * 8) if longest else 0
    if not _shows("█"):
        return "#" * round(eighths / 8)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _target(target: odds_pb2.OddsTarget) -> Iterator[str]:
    chance = f"{percent(target.chance.value)}{_exact(target.chance)}{_between(target)}"
    yield f"  {target.quantity} at least {target.at_least}: {chance}"
    needed = ", ".join(f"{_needed(each.percent)} {_added(each.bonus)}" for each in target.needed)
    if needed:
        yield f"  what you need: {needed}"


def _needed(percent: int) -> str:
    return "to be certain" if percent == 100 else f"for {percent}%"


def _added(bonus: int) -> str:
    return f"{bonus:+d}"


def _comparison(answer: odds_pb2.GetOddsResponse) -> Iterator[str]:
    compared = answer.comparison
    yield f"{answer.odds.title} ({compared.quantity}) against {answer.against.title} ({compared.against_quantity})"
    for name, number in (("higher", compared.higher), ("equal", compared.equal), ("lower", compared.lower)):
        between = _between(compared) if name == "higher" else ""
        yield f"  {name:<6}  {percent(number.value):>8}{_exact(number)}{between}"


def _between(message: odds_pb2.OddsTarget | odds_pb2.OddsComparison) -> str:
    if not message.HasField("interval"):
        return ""
    return f", between {percent(message.interval.low)} and {percent(message.interval.high)}"


def _estimated(quantity: odds_pb2.QuantityOdds) -> Iterable[str]:
    if quantity.HasField("estimate"):
        estimate = quantity.estimate
        yield (
            f"  ESTIMATE, not exact: {estimate.rolls} simulated rolls, seed {estimate.seed}; with "
            f"{estimate.confidence_percent}% confidence the mean is between {rounded(estimate.mean.low, 4)} and "
            f"{rounded(estimate.mean.high, 4)}. {estimate.why[:1].upper()}{estimate.why[1:]}."
        )


def _mean(quantity: odds_pb2.QuantityOdds) -> str:
    """Return the mean; the fraction that an estimate comes to is no exact one."""
    exact = "" if quantity.HasField("estimate") else _exact(quantity.mean)
    return f"{rounded(quantity.mean.value, 6)}{exact}"


def _exact(number: odds_pb2.OddsNumber) -> str:
    """Return a fraction in parentheses, where people can still read it."""
    return f" ({number.exact})" if "/" in number.exact and len(number.exact) <= 24 else ""


def _shows(sign: str) -> bool:
    try:
        sign.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
