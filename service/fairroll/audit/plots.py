"""Plots of a report as SVG that stands in a page: text alternatives, colours by the page's style, no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil

from fairroll.audit.statistics import central_counts

_HEIGHT = 150
_LEFT, _BOTTOM, _TOP = 40, 22, 10
_MAX_LABELS = 24
_LABEL, _CHARACTER, _SPACE = 8, 6.5, 6
"""A label's characters, the width of one of them and what stays free between two labels."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A count, what is expected, and what stands below both."""

    label: str
    count: int
    expected: float


def bars(title: str, shown: Sequence[Bar], total: int) -> str:
    """Return counts as bars, with a mark at what is expected and a whisker where 99 of 100 fair counts lie."""
    spread = _whiskers([each.expected for each in shown], total)
    highest = max([each.count for each in shown] + [high for _, high in spread] + [1])
    width = max(240, min(760, 34 * len(shown))) + _LEFT
    step = (width - _LEFT - 8) / max(1, len(shown))
    body = _HEIGHT - _BOTTOM - _TOP

    def y(value: float) -> float:
        return round(_TOP + body * (1 - value / highest), 1)

    parts = [_axis(width, highest, y(0), y(highest))]
    longest = max([len(each.label[:_LABEL]) for each in shown], default=0)
    every = max(-(-len(shown) // _MAX_LABELS), ceil((longest * _CHARACTER + _SPACE) / step))
    for index, (bar, (low, high)) in enumerate(zip(shown, spread, strict=True)):
        x = round(_LEFT + index * step, 1)
        inner = round(max(1.0, step * 0.72), 1)
        middle = round(x + inner / 2, 1)
        parts.append(
            f'<rect class="bar" x="{x}" y="{y(bar.count)}" width="{inner}" height="{round(y(0) - y(bar.count), 1)}">'
            f"<title>{escape(bar.label)}: {bar.count:,}, expected {bar.expected:,.1f}</title></rect>"
            f'<path class="whisker" d="M{middle} {y(low)}V{y(high)}"/>'
            f'<path class="expected" d="M{x} {y(bar.expected)}H{round(x + inner, 1)}"/>'
        )
        if index % every == 0:
            parts.append(
                f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(bar.label[:_LABEL])}</text>'
            )
    return _svg(title, width, _HEIGHT, parts)


@dataclass(frozen=True, slots=True)
class Dot:
    """A mean between 0 and 1, with half the width of the interval where 99 of 100 fair means lie."""

    label: str
    value: float
    half: float
    flagged: bool


def dots(title: str, shown: Sequence[Dot]) -> str:
    """Return means as dots in rows, 1/2 in the middle."""
    row, left, width = 22, 190, 640
    height = row * len(shown) + 30
    reach = max([each.half * 1.3 for each in shown] + [abs(each.value - 0.5) * 1.1 for each in shown] + [0.02])

    def x(value: float) -> float:
        return round(left + (width - left - 12) * (0.5 + (value - 0.5) / (2 * reach)), 1)

    bottom = row * len(shown) + 6
    parts = [f'<path class="expected" d="M{x(0.5)} 2V{bottom}"/>']
    parts += [
        f'<text x="{x(value)}" y="{height - 6}" text-anchor="middle">{value:.3f}</text>'
        for value in (0.5 - reach * 0.9, 0.5, 0.5 + reach * 0.9)
    ]
    for index, dot in enumerate(shown):
        y = row * index + 14
        kind = "flag" if dot.flagged else "dot"
        name = dot.label if len(dot.label) <= 24 else dot.label[:23] + "…"
        parts.append(
            f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{escape(name)}</text>'
            f'<path class="whisker" d="M{x(0.5 - dot.half)} {y}H{x(0.5 + dot.half)}"/>'
            f'<circle class="{kind}" cx="{x(dot.value)}" cy="{y}" r="5">'
            f"<title>{escape(dot.label)}: {dot.value:.4f}</title></circle>"
        )
    return _svg(title, width, height, parts)


def _whiskers(expected: Sequence[float], total: int) -> list[tuple[float, float]]:
    """Return where 99 of 100 fair counts lie, each by its own binomial law: rare ones have no normal one."""
    if not total:
        return [(0.0, 0.0) for _ in expected]
    return [central_counts(total, min(1.0, each / total)) for each in expected]


def _axis(width: int, highest: float, bottom: float, top: float) -> str:
    return (
        f'<path class="axis" d="M{_LEFT - 4} {bottom}H{width - 4}"/>'
        f'<text x="{_LEFT - 8}" y="{bottom}" text-anchor="end">0</text>'
        f'<text x="{_LEFT - 8}" y="{top + 8}" text-anchor="end">{highest:,.0f}</text>'
    )


def _svg(title: str, width: int, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg role="img" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
