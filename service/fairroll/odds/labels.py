"""What the labels of notation come to. Most stand where nothing can drop them: then their nodes simply add up.

Where a selection may drop one, the rules run once per path with every step laid open, so that the labels are seen; so
it is with marks on dice of which some are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from fairroll.odds.chances import Chances, Work, added, certain
from fairroll.odds.growth import UnsayableError
from fairroll.odds.tree import TreeOdds
from fairroll_rules.decisions import Decisions
from fairroll_rules.dice import Dice, Face, Part, Purpose
from fairroll_rules.notation.inlines import inlines_of
from fairroll_rules.notation.runners import LabelRecord, Runner
from fairroll_rules.notation.tree import Drop, Exact, Group, Keep, Labelled, Modified, Node, Pick, Sieve, children
from fairroll_rules.outcome import Die, Fate

V = TypeVar("V")
D = TypeVar("D")


def label_chances(odds: TreeOdds, root: Node, label: str, work: Work) -> Chances:
    """Return the exact total of a label before rounding.

    Raises:
        UnsayableError: a selection may drop it; `label_totals` sees that.
        LimitReached: `odds_work`.
    """
    found = certain(0)
    for node in _bearers(odds, root, label):
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


def marks(dice: Dice, decisions: Decisions, runner: Runner) -> tuple[tuple[int, int], None]:
    """Run a runner as a part whose value is how many of its dice are critical, and how many fumbles."""
    _, _, records = runner.run(_Open(dice, decisions, single=True))
    thrown = [record for record in records if isinstance(record, Die)]
    return (marked(thrown, Fate.CRITICAL), marked(thrown, Fate.FUMBLE)), None


def marked(thrown: Iterable[Die], fate: Fate) -> int:
    """Return how many dice have a fate."""
    return sum([fate in die.fates for die in thrown])


def _bearers(odds: TreeOdds, node: Node, label: str) -> Iterator[Node]:
    """Yield the outermost nodes with a label."""
    if isinstance(node, Labelled) and node.label == label:
        if any(_labelled(each.node, label) for each in inlines_of(node)):
            raise UnsayableError  # rolled first, and noted apart from what stands around
        yield node
        return
    if _selects(node) and _labelled(node, label):
        raise UnsayableError
    for child in odds.below(node):
        yield from _bearers(odds, child, label)


def _labelled(node: Node, label: str) -> bool:
    own = isinstance(node, Labelled) and node.label == label
    return own or any(_labelled(child, label) for child in children(node))


def _selects(node: Node) -> bool:
    """Tell whether a group drops some of its totals, and so their labels, or a pick some of the dice inside them."""
    source = node
    selecting = False
    while isinstance(source, Modified):
        selecting = selecting or any(isinstance(modifier, (Keep, Drop, Sieve)) for modifier in source.modifiers)
        source = source.source
    return isinstance(source, Pick) or (selecting and isinstance(source, Group))


class _Open(Dice):
    """Dice whose parts are run in place, so that what the table sees comes out of them.

    With `single` no two dice are interchangeable: of equal values the die drawn first counts, and marks may differ.
    """

    def __init__(self, dice: Dice, decisions: Decisions, *, single: bool = False) -> None:
        self._dice = dice
        self._decisions = decisions
        self._single = single

    def roll(self, sides: int) -> Face:
        return self._dice.roll(sides)

    def pool(self, count: int, sides: int) -> tuple[Face, ...]:
        if self._single:
            return tuple([self._dice.roll(sides) for _ in range(count)])
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
