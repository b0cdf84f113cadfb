"""What the labels of notation come to. Most stand where nothing can drop them: then their nodes simply add up.

Where a selection may drop one, the rules run once per path with every step laid open, so that the labels are seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from fairroll.odds.chains import UnsayableError
from fairroll.odds.chances import Chances, Work, added, certain
from fairroll.odds.tree import TreeOdds
from fairroll_rules.decisions import Decisions
from fairroll_rules.dice import Dice, Face, Part, Purpose
from fairroll_rules.notation.runners import LabelRecord, Runner
from fairroll_rules.notation.tree import Drop, Exact, Group, Keep, Labelled, Modified, Node, children

V = TypeVar("V")
D = TypeVar("D")


def label_chances(odds: TreeOdds, root: Node, label: str, work: Work) -> Chances:
    """Return the exact total of a label before rounding.

    Raises:
        UnsayableError: a selection may drop it; `label_totals` sees that.
        LimitReached: `odds_work`.
    """
    found = certain(0)
    for node in _bearers(root, label):
        found = added(work, found, odds.of(node))
    return found


def label_totals(
    dice: Dice, decisions: Decisions, runner: Runner, labels: tuple[str, ...]
) -> tuple[tuple[Exact, ...], None]:
    """Run a runner as a part whose value is what each label comes to, in order."""
    totals: dict[str, Exact] = dict.fromkeys(labels, 0)
    _, _, records = runner.run(_Open(dice, decisions))
    for record in records:
        if isinstance(record, LabelRecord):
            totals[record.label] += record.total
    return tuple(totals.values()), None


def _bearers(node: Node, label: str) -> Iterator[Node]:
    """Yield the outermost nodes with a label."""
    if isinstance(node, Labelled) and node.label == label:
        yield node
        return
    if _selects(node) and _labelled(node, label):
        raise UnsayableError
    for child in children(node):
        yield from _bearers(child, label)


def _labelled(node: Node, label: str) -> bool:
    own = isinstance(node, Labelled) and node.label == label
    return own or any(_labelled(child, label) for child in children(node))


def _selects(node: Node) -> bool:
    """Tell whether a group drops some of its totals, and so their labels."""
    source = node
    selecting = False
    while isinstance(source, Modified):
        selecting = selecting or any(isinstance(modifier, (Keep, Drop)) for modifier in source.modifiers)
        source = source.source
    return selecting and isinstance(source, Group)


class _Open(Dice):
    """Dice whose parts are run in place, so that what the table sees comes out of them."""

    def __init__(self, dice: Dice, decisions: Decisions) -> None:
        self._dice = dice
        self._decisions = decisions

    def roll(self, sides: int) -> Face:
        return self._dice.roll(sides)

    def pool(self, count: int, sides: int) -> tuple[Face, ...]:
        return self._dice.pool(count, sides)

    def again(self, face: Face, purpose: Purpose) -> Face:
        return self._dice.again(face, purpose)

    def part(self, function: Part[V, D], *args: object, actor: str = "") -> tuple[V, D]:  # noqa: ARG002  odds know no actors
        return function(self, self._decisions, *args)

    def parts(  # type: ignore[override]  # the two overloads of the door, answered by one body
        self,
        function: Part[V, D],
        args: Sequence[tuple[object, ...]],
        actors: Sequence[str] = (),  # noqa: ARG002  as above
        merge: Callable[[V, V], V] | None = None,
    ) -> tuple[tuple[V, ...] | V, tuple[D, ...]]:
        values: list[V] = []
        details: list[D] = []
        for each in args:
            value, detail = function(self, self._decisions, *each)
            values.append(value)
            details.append(detail)
        if merge is None:
            return tuple(values), tuple(details)
        merged = values[0]
        for value in values[1:]:
            merged = merge(merged, value)
        return merged, tuple(details)
