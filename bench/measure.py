"""How things are timed: in turns, so that whatever else the machine does falls on all alike, and by median."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import process_time

Round = Callable[[], float]
"""Does its work once; returns the seconds it took."""


@dataclass(frozen=True, slots=True)
class Row:
    """One ratio: what was measured, both times in microseconds, and what the ratio should be."""

    name: str
    ours_us: float
    other: str
    other_us: float
    aim: float | None = None
    """The ratio ours / other should not be above it; None where the figure is only to be known."""

    @property
    def ratio(self) -> float:
        """Ours divided by the other's: below 1 is faster."""
        return self.ours_us / self.other_us

    @property
    def missed(self) -> bool:
        """Whether there is an aim and the ratio is above it."""
        return self.aim is not None and self.ratio > self.aim


def cpu(work: Callable[[], object], times: int = 1) -> Round:
    """A round that does `work` `times` times and gives the seconds of processor time for one."""

    def timed() -> float:
        start = process_time()
        for _ in range(times):
            work()
        return (process_time() - start) / times

    return timed


def in_turns(works: Mapping[str, Round], rounds: int) -> dict[str, float]:
    """The median of each in microseconds. One round of all goes first, unmeasured, to warm every cache."""
    for work in works.values():
        work()
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            taken[name].append(work())
    return {name: median(each) * 1e6 for name, each in taken.items()}


def table(rows: list[Row]) -> str:
    """The rows as text, times in microseconds."""
    lines = [("", "ours us", "other us", "ratio", "aim", "against")]
    for row in rows:
        aim = "" if row.aim is None else f"<= {row.aim:.2f}{' MISSED' if row.missed else ''}"
        lines.append((row.name, f"{row.ours_us:.1f}", f"{row.other_us:.1f}", f"{row.ratio:.2f}", aim, row.other))
    widths = [max(len(line[column]) for line in lines) for column in range(6)]
    return "\n".join(
        # Numbers to the right, words to the left.
        "  ".join(
            f"{cell:{'>' if 1 <= column <= 3 else '<'}{widths[column]}}" for column, cell in enumerate(line)
        ).rstrip()
        for line in lines
    )
