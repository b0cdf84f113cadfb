"""The derived tree: what each node came to, from the draws of a roll. Never signed; anyone can make it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fairroll_rules.dice import Dice, Draw, DrawnDice
from fairroll_rules.errors import AnswerError, CheckError, Span
from fairroll_rules.notation.bounds import Analysis
from fairroll_rules.notation.canonical import canonical, shown
from fairroll_rules.notation.compile import runner_of_tree
from fairroll_rules.notation.dialects import Dialect
from fairroll_rules.notation.inlines import inlines_of
from fairroll_rules.notation.parser import parse
from fairroll_rules.notation.runners import Result, Runner
from fairroll_rules.notation.tree import Bound, Labelled, Node, Repeat, children


@dataclass(frozen=True, slots=True)
class Explained:
    """One node: its kind in lower case, its span in the raw text, its canonical spelling, and its exact total.

    `total` is empty where nothing was rolled, and for a repeat. `label` is its own label, or else that of the nearest
    node around it. `draws` are the indexes drawn below it.
    """

    kind: str
    span: Span
    text: str
    total: str
    label: str
    draws: tuple[int, ...]
    children: tuple[Explained, ...]


class _Watch:
    """Notes what runs inside what, and what it came to."""

    def __init__(self, dice: DrawnDice, dialect: Dialect) -> None:
        self.dice = dice
        self.dialect = dialect
        self.labels: list[str] = [""]
        self.levels: list[list[Explained]] = [[]]

    def wrap(self, node: Node, runner: Runner) -> Runner:
        """Put a note around a runner."""
        return _Watched(self, node, runner)


class _Watched(Runner):
    __slots__ = ("inner", "node", "watch")

    def __init__(self, watch: _Watch, node: Node, inner: Runner) -> None:
        self.watch = watch
        self.node = node
        self.inner = inner

    def run(self, dice: Dice) -> Result:
        watch, node = self.watch, self.node
        label = node.label if isinstance(node, Labelled) else watch.labels[-1]
        watch.labels.append(label)
        watch.levels.append([])
        first = len(watch.dice.log)
        result = self.inner.run(dice)
        drawn = tuple(range(first, len(watch.dice.log)))
        inside = tuple(watch.levels.pop())
        watch.labels.pop()
        watch.levels[-1].append(
            Explained(_kind(node), node.span, _spelled(node, watch.dialect), shown(result[0]), label, drawn, inside)
        )
        return result


def explain(text: str, dialect: Dialect, variables: Mapping[str, Bound], draws: Sequence[Draw]) -> Explained:
    """Return the tree of a roll with a total at each node, by rolling it again from its draws.

    Raises:
        CheckError: the text is refused.
        AnswerError: DRAWS_DIFFER, these are not the draws of this text.
    """
    tree = parse(text, dialect)
    feed = iter(draws)

    def source(sides: int) -> int:
        draw = next(feed, None)
        if draw is None or draw.sides != sides:
            raise AnswerError("DRAWS_DIFFER", "these are not the draws of this notation", field="draws")
        return draw.face

    dice = DrawnDice(source, max_draws=len(draws) + 1)
    watch = _Watch(dice, dialect)
    root = tree.root
    body, times = (root.body, root.times) if isinstance(root, Repeat) else (root, 1)
    analysis = Analysis(tree, variables)
    runner = runner_of_tree(tree, body, variables, analysis, watch.wrap)
    for _ in range(times):
        runner.run(dice)
    if len(dice.log) != len(draws):
        raise AnswerError("DRAWS_DIFFER", "these are not the draws of this notation", field="draws")
    inside = tuple(watch.levels[0])
    if not isinstance(root, Repeat):
        inlines = [each.span for each in inlines_of(body) if id(each) in analysis.ranges]
        return _grafted(inside[-1], dict(zip(inlines, inside, strict=False)))
    return Explained(_kind(root), root.span, canonical(root), "", "", tuple(range(len(draws))), inside)


def outline(node: Node, dialect: Dialect, label: str = "") -> Explained:
    """Return the tree without totals, as parsed: nothing was rolled."""
    label = node.label if isinstance(node, Labelled) else label
    inside = tuple([outline(child, dialect, label) for child in children(node)])
    return Explained(_kind(node), node.span, _spelled(node, dialect), "", label, (), inside)


def _grafted(node: Explained, inlines: Mapping[Span, Explained]) -> Explained:
    """Return the tree with what inline rolls came to in the places where they stand."""
    if node.kind == "inline":
        inside = _grafted(inlines[node.span], inlines)
        return replace(node, children=(inside,), draws=inside.draws)
    if not inlines:
        return node
    return replace(node, children=tuple([_grafted(child, inlines) for child in node.children]))


def _spelled(node: Node, dialect: Dialect) -> str:
    """Return a node as text, in STANDARD wherever that can say it."""
    try:
        return canonical(node)
    except CheckError:
        return canonical(node, dialect)


def _kind(node: Node) -> str:
    return type(node).__name__.lower()
