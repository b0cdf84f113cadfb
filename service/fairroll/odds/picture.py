"""Odds as a picture: SVG with labelled axes that can be read in a chat, by the colour-blind and on paper.

The colours are two of Okabe and Ito's ("Color Universal Design", 2008), which every kind of colour vision tells apart;
a second check is hatched beside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log10
from xml.sax.saxutils import escape

from fairroll.odds.bars import percent
from fairroll.odds.columns import Column, columns
from fairroll.v1 import odds_pb2

WIDTH, HEIGHT = 720, 420
"""Of the picture, in units of its own; it has no size and fills what shows it."""

MOST_COLUMNS = 60
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 700, 96, 352
_FONT = 20
_LETTER = 0.58
"""Width of a letter or digit as a part of the font's size, on the wide side."""

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
    return f"{quantity.name}: mean {quantity.mean.value:.4g}, deviation {quantity.standard_deviation:.3g}{estimate}"


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
    for place, (check, share, fill) in enumerate(zip(checks, shares, fills, strict=True)):
        y = 34 + place * 34
        yield f'<rect x="24" y="{y - 17}" width="20" height="20" fill="{fill}" stroke="{_INK}" stroke-width="1"/>'
        estimate = ", estimate" if check.quantities[0].HasField("estimate") else ""
        said = f"higher {percent(share.value)}, mean {check.quantities[0].mean.value:.4g}{estimate}"
        room = WIDTH - 80 - _width(said, _FONT)
        yield _text(54, y, check.title, weight="bold", room=room)
        yield _text(WIDTH - 24, y, said, anchor="end")


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
    asked = all({each.value for each in quantity.values} <= {0, 1} for quantity in quantities)
    place = (_RIGHT - _LEFT) / max(1, len(drawn))
    names = [_name(column, asked=asked) for column in drawn]
    widest = max([_width(name, 18) for name in names], default=0) + 8
    every = _round_up(max(1, -int(-widest // place)))
    for index, (column, name) in enumerate(zip(drawn, names, strict=True)):
        # Columns of one value each show round ones where not all have room.
        marked = column.low % every if _dense(drawn) else (index - every // 2) % every
        middle = _LEFT + (index + 0.5) * place
        if marked == 0 and middle + _width(name, 18) / 2 < WIDTH:
            yield _text(middle, _BOTTOM + 24, name, size=18, anchor="middle")
    both = dict.fromkeys(quantity.name for quantity in quantities)
    yield _text((_LEFT + _RIGHT) / 2, HEIGHT - 14, " / ".join(both), anchor="middle", room=_RIGHT - _LEFT)


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


def _name(column: Column, *, asked: bool) -> str:
    if asked:
        return "yes" if column.low else "no"
    return f"{column.low}" if column.low == column.high else f"{column.low}..{column.high}"


def _highest(drawn: Sequence[Column]) -> float:
    return max((chance for column in drawn for chance in column.chances), default=1.0) or 1.0


def _y(chance: float, highest: float) -> float:
    return _BOTTOM - chance / highest * (_BOTTOM - _TOP)


def _width(text: str, size: int) -> float:
    return len(text) * size * _LETTER


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
    while size > 15 and _width(text, size) > room:
        size -= 1
    most = int(min(room / (size * _LETTER), 1_000))
    if len(text) > most:
        text = f"{text[: max(1, most - 1)]}…"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="{_INK}">{escape(text)}</text>'
    )
