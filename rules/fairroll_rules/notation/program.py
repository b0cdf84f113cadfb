"""A text made ready to roll: parsed, analysed and compiled once, and remembered on exactly what it depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from fairroll_rules.dice import Dice
from fairroll_rules.errors import CheckError
from fairroll_rules.notation.bounds import Analysis, Bounds
from fairroll_rules.notation.compile import labels_of, runner_of_tree
from fairroll_rules.notation.dialects import Dialect
from fairroll_rules.notation.limits import MAX_VARIABLES
from fairroll_rules.notation.parser import GRAMMAR_VERSION, parse
from fairroll_rules.notation.runners import Result, Runner, Value, run_part
from fairroll_rules.notation.tree import (
    Bound,
    Count,
    Match,
    Modified,
    Modifier,
    Node,
    Repeat,
    Sort,
    Tally,
    Tree,
    children,
)

_REMEMBERED = 1_024


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """What a text and its variables come to before any draw.

    `head` is the canonical text and the comment; `times` is None unless the tree repeats; `labels` stand in the order
    of the text; `counting` tells whether any pool counts; `order` is 1 or -1 where the dice of the whole roll are
    shown sorted.
    """

    tree: Tree
    head: str
    bounds: Bounds
    runner: Runner
    times: int | None
    labels: tuple[str, ...]
    counting: bool
    order: int


def prepare(text: str, dialect: Dialect, variables: Mapping[str, Bound]) -> Program:
    """Return the program of a text.

    Raises:
        CheckError: the text or the variables are refused.
    """
    if not variables:
        return _remembered(text, dialect, (), GRAMMAR_VERSION)
    if len(variables) > MAX_VARIABLES:
        raise CheckError(
            "LIMIT_EXCEEDED",
            f"variables are limited to {MAX_VARIABLES}, not {len(variables)}",
            field="variables",
            limit="variables",
            maximum=MAX_VARIABLES,
            value=str(len(variables)),
        )
    used = parse(text, dialect).variables
    bound = tuple([(name, variables[name]) for name in used if name in variables])
    return _remembered(text, dialect, bound, GRAMMAR_VERSION)


def analyse(tree: Tree, variables: Mapping[str, Bound]) -> Bounds:
    """Return the bounds of a tree with its variables.

    Raises:
        CheckError: everything that is refused before a draw.
    """
    return prepare(tree.text, tree.dialect, variables).bounds


def evaluate(program: Program, dice: Dice) -> tuple[Result, ...]:
    """Roll a program: one result, or as many as it repeats.

    Raises:
        LimitReached: a cap on draws or explosions, while drawing.
    """
    if program.times is None:
        return (program.runner.run(dice),)
    values: tuple[Value, ...]
    values, details = dice.parts(run_part, [(program.runner,)] * program.times)
    return tuple([(total, counts, records or []) for (total, counts), records in zip(values, details, strict=True)])


@lru_cache(maxsize=_REMEMBERED)
def _remembered(text: str, dialect: Dialect, variables: tuple[tuple[str, Bound], ...], _version: int) -> Program:
    tree = parse(text, dialect)
    analysis = Analysis(tree, dict(variables))
    root = tree.root
    return Program(
        tree=tree,
        head=f"{tree.canonical} # {tree.comment}" if tree.comment else tree.canonical,
        bounds=analysis.bounds,
        runner=runner_of_tree(tree, root.body if isinstance(root, Repeat) else root, dict(variables), analysis),
        times=root.times if isinstance(root, Repeat) else None,
        labels=tuple(dict.fromkeys(labels_of(root))),
        counting=_counts(root),
        order=_order(root),
    )


def _counts(node: Node) -> bool:
    own = isinstance(node, Modified) and any(map(_is_count, node.modifiers))
    return own or any(_counts(child) for child in children(node))


def _is_count(modifier: Modifier) -> bool:
    return isinstance(modifier, (Count, Tally)) or (isinstance(modifier, Match) and modifier.total)


def _order(root: Node) -> int:
    if isinstance(root, Modified):
        for modifier in root.modifiers:
            if isinstance(modifier, Sort):
                return -1 if modifier.descending else 1
    return 0
