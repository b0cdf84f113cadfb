"""Odds as a picture: SVG with labelled axes that can be read in a chat, by the colour-blind and on paper.

The colours are two of Okabe and Ito's ("Color Universal Design", 2008), which every kind of colour vision tells apart;
a second check is hatched beside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import floor, log10
from xml.sax.saxutils import escape

from fairroll.odds.bars import percent, rounded, words
from fairroll.odds.columns import Column, columns
from fairroll.v1 import odds_pb2

WIDTH, HEIGHT = 720, 420
"""Of the picture, in units of its own; it has no size and fills what shows it."""

MOST_COLUMNS = 60
_MOST_CALLED = 8
"""Columns that each have room for what their value is called."""
_FEW_CALLED = 2
"""So many of them are told of in the head; of more only what comes most often."""
_PART = re.compile(r": |, ")
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 700, 96, 352
_FONT = 20
_LETTER = 0.58
"""Width of a letter or digit as a part of the font's size, on the wide side."""
_BOLD = 0.7
"""The same of a bold one."""

BLUE, PALE_BLUE, ORANGE = "#0072b2", "#a9cbe3", "#d55e00"
_INK, _FAINT = "#1a1a1a", "#d0d0d0"


def picture(answer: odds_pb2.GetOddsResponse) -> str:
    """Return the picture of an answer: its first quantity, and that of the other check beside it."""
    checks = [answer.odds, answer.against] if answer.HasField("against") else [answer.odds]
    quantities = [check.quantities[0] for check in checks]
    target = answer.target.at_least if answer.HasField("target") and len(checks) == 1 else None
    drawn = columns(quantities, MOST_COLUMNS, target)
    return "\n".join(
        [
            *_head(_words(answer)),
            *_legend(checks, answer),
            *_scale(_highest(drawn)),
            *_bars(drawn, target),
            *_values(drawn, quantities),
            "</svg>\n",
        ]
    )


def _head(words: str) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="{_FONT}" role="img">'
    )
    yield f"<title>{escape(words)}</title>"
    yield (
        '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="6" height="6" fill="#ffffff"/><rect width="3.4" height="6" fill="{ORANGE}"/></pattern></defs>'
    )
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'


def _words(answer: odds_pb2.GetOddsResponse) -> str:
    """Return the picture in words, for those who do not see it."""
    said = [f"{answer.odds.title}, {_about(answer.odds.quantities[0])}"]
    if answer.HasField("against"):
        said.append(f"{answer.against.title}, {_about(answer.against.quantities[0])}")
    if answer.HasField("target"):
        said.append(_reached(answer.target))
    return "; ".join(said)


def _about(quantity: odds_pb2.QuantityOdds) -> str:
    estimate = f" (estimate, {quantity.estimate.rolls:,} rolls)" if quantity.HasField("estimate") else ""
    return f"{_spaced(quantity.name)}: {_in_words(quantity)}{estimate}"


def _in_words(quantity: odds_pb2.QuantityOdds) -> str:
    """Return mean and deviation, or what comes most often where values are no numbers but stand for something."""
    called = [each for each in quantity.values if each.name]
    if called:
        most = max(called, key=lambda each: each.chance.value)
        told = called if len(called) <= _FEW_CALLED else [most]
        said = ", ".join(f"{words(each.name)} {percent(each.chance.value)}" for each in told)
        return said if told is called else f"most often {said}"
    return f"mean {rounded(quantity.mean.value, 4)}, deviation {rounded(quantity.standard_deviation, 3)}"


def _reached(target: odds_pb2.OddsTarget) -> str:
    return f"{target.at_least} or more: {percent(target.chance.value)}"


def _legend(checks: Sequence[odds_pb2.CheckOdds], answer: odds_pb2.GetOddsResponse) -> Iterator[str]:
    """Two lines: one check's title and what is said of it, or two checks and how they compare."""
    if len(checks) == 1:
        yield _text(24, 36, checks[0].title, size=26, weight="bold", room=WIDTH - 48)
        below = _about(checks[0].quantities[0])
        if answer.HasField("target"):
            below = f"{_reached(answer.target)}   ({below})"
        yield _text(24, 68, below, room=WIDTH - 48)
        return
    shares = (answer.comparison.higher, answer.comparison.lower)
    fills = (BLUE, "url(#hatch)")
    titles = _apart(*[check.title for check in checks])
    for place, (check, title, share, fill) in enumerate(zip(checks, titles, shares, fills, strict=True)):
        y = 34 + place * 34
        yield f'<rect x="24" y="{y - 17}" width="20" height="20" fill="{fill}" stroke="{_INK}" stroke-width="1"/>'
        estimate = ", estimate" if check.quantities[0].HasField("estimate") else ""
        said = f"higher {percent(share.value)}{_mean(check.quantities[0])}{estimate}"
        room = WIDTH - 80 - _width(said, _FONT)
        yield _text(54, y, title, weight="bold", room=room)
        yield _text(WIDTH - 24, y, said, anchor="end")


def _spaced(name: str) -> str:
    """Return the name of a quantity as people write it; a label is theirs already."""
    return name if ":" in name else name.replace("_", " ")


def _apart(one: str, other: str) -> tuple[str, str]:
    """Return two titles without what both begin with, such as a system's name and its roll."""
    common = 0
    for part in _PART.finditer(one):
        if other[: part.end()] == one[: part.end()]:
            common = part.end()
    return one[common:] or one, other[common:] or other


def _mean(quantity: odds_pb2.QuantityOdds) -> str:
    return "" if any(each.name for each in quantity.values) else f", mean {rounded(quantity.mean.value, 4)}"


def _scale(highest: float) -> Iterator[str]:
    """The lines of equal chance, and their percentages."""
    step = _step(highest)
    middle = (_TOP + _BOTTOM) / 2
    yield f'<text transform="translate(20 {middle}) rotate(-90)" text-anchor="middle" fill="{_INK}">chance</text>'
    for count in range(floor(highest / step + 1e-9) + 1):
        y = _y(count * step, highest)
        yield f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{_FAINT}"/>'
        yield _text(_LEFT - 8, y + 7, f"{count * step * 100:.6g}%", size=18, anchor="end")


def _step(highest: float) -> float:
    """Return a round step of which three to seven fit."""
    size = 10.0 ** floor(log10(highest))
    return next(step for step in (0.2 * size, 0.5 * size, size, 2 * size) if highest / step < 7)


def _bars(drawn: Sequence[Column], target: int | None) -> Iterator[str]:
    highest = _highest(drawn)
    place = (_RIGHT - _LEFT) / max(1, len(drawn))
    for index, column in enumerate(drawn):
        several = len(column.chances)
        width = place * (0.86 if several == 1 else 0.9) / several
        start = _LEFT + index * place + (place - width * several) / 2
        for number, chance in enumerate(column.chances):
            if chance <= 0:
                continue
            missed = target is not None and column.high < target
            fill = PALE_BLUE if missed else BLUE if number == 0 else "url(#hatch)"
            edge = f' stroke="{ORANGE}" stroke-width="0.8"' if number else ""
            y = _y(chance, highest)
            yield (
                f'<rect x="{start + number * width:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_BOTTOM - y:.1f}" '
                f'fill="{fill}"{edge}/>'
            )
    yield f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{_BOTTOM}" y2="{_BOTTOM}" stroke="{_INK}" stroke-width="1.5"/>'


def _values(drawn: Sequence[Column], quantities: Sequence[odds_pb2.QuantityOdds]) -> Iterator[str]:
    """The values below their columns, as many as have room, and the names of the quantities."""
    called = {each.value: words(each.name) for quantity in quantities for each in quantity.values if each.name}
    place = (_RIGHT - _LEFT) / max(1, len(drawn))
    names = [_name(column, called) for column in drawn]
    both = dict.fromkeys(_spaced(quantity.name) for quantity in quantities)
    yield _text((_LEFT + _RIGHT) / 2, HEIGHT - 12, " / ".join(both), anchor="middle", room=_RIGHT - _LEFT)
    if called and len(drawn) <= _MOST_CALLED:
        for index, name in enumerate(names):
            yield from _under(_LEFT + (index + 0.5) * place, place, name)
        return
    widest = max([_width(name, 18) for name in names], default=0) + 8
    every = _round_up(max(1, -int(-widest // place)))
    for index, (column, name) in enumerate(zip(drawn, names, strict=True)):
        # Columns of one value each show round ones where not all have room.
        marked = column.low % every if _dense(drawn) else (index - every // 2) % every
        middle = _LEFT + (index + 0.5) * place
        if marked == 0 and middle + _width(name, 18) / 2 < WIDTH:
            yield _text(middle, _BOTTOM + 24, name, size=18, anchor="middle")


def _under(middle: float, place: float, name: str) -> Iterator[str]:
    """What a value is called, below its column: in two lines where one has no room."""
    first, rest = name, ""
    if _width(name, 18) > place - 6 and " " in name:
        # As even as its spaces allow.
        breaks = [index for index, sign in enumerate(name) if sign == " "]
        at = min(breaks, key=lambda index: abs(2 * index - len(name)))
        first, rest = name[:at], name[at + 1 :]
    yield _text(middle, _BOTTOM + 20, first, size=18, anchor="middle", room=place - 6)
    if rest:
        yield _text(middle, _BOTTOM + 38, rest, size=18, anchor="middle", room=place - 6)


def _dense(drawn: Sequence[Column]) -> bool:
    return drawn[-1].high - drawn[0].low + 1 == len(drawn)


def _round_up(count: int) -> int:
    """Return the next of 1, 2, 5, 10, 20 .."""
    size = 1
    while True:
        for step in (size, 2 * size, 5 * size):
            if step >= count:
                return step
        size *= 10


def _name(column: Column, called: Mapping[int, str]) -> str:
    if column.low != column.high:
        return f"{column.low}..{column.high}"
    return called.get(column.low, f"{column.low}")


def _highest(drawn: Sequence[Column]) -> float:
    return max((chance for column in drawn for chance in column.chances), default=1.0) or 1.0


def _y(chance: float, highest: float) -> float:
    return _BOTTOM - chance / highest * (_BOTTOM - _TOP)


def _width(text: str, size: int, letter: float = _LETTER) -> float:
    return len(text) * size * letter


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = _FONT,
    anchor: str = "start",
    weight: str = "normal",
    room: float = float("inf"),
) -> str:
    """Return a text; one that is too long for its room is set smaller, then cut."""
    letter = _BOLD if weight == "bold" else _LETTER
    while size > 15 and _width(text, size, letter) > room:
        size -= 1
    most = int(min(room / (size * letter), 1_000))
    if len(text) > most:
        text = f"{text[: max(1, most - 1)]}…"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="{_INK}">{escape(text)}</text>'
    )
