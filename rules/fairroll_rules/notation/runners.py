"""What a tree is compiled to: runners, which ask the dice and return a total. One class for each kind of node.

A runner's result is its total, its counts of successes and failures (None where nothing is counted), and what the
table sees: dice, and totals of labels. Odds pass None for the latter, so nothing here reads it to get a total.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fairroll_rules.decisions import Decisions
from fairroll_rules.dice import Dice
from fairroll_rules.notation.exact import plain
from fairroll_rules.notation.tree import Exact
from fairroll_rules.outcome import Die, Fate

Counts = tuple[int, int]
"""Successes and failures."""

Value = tuple[Exact, Counts | None]
"""What a part is worth: hashable numbers."""


class LabelRecord(NamedTuple):
    """What one node with a label came to."""

    label: str
    total: Exact


Record = Die | LabelRecord

_new_die = object.__new__
_set_draw = Die.__dict__["draw"].__set__
_set_value = Die.__dict__["value"].__set__
_set_fates = Die.__dict__["fates"].__set__


def make_die(draw: int, value: int, fates: tuple[Fate, ...]) -> Die:
    """Return a die. One is made for every draw, and the constructor of a frozen dataclass takes twice as long."""
    die = _new_die(Die)
    _set_draw(die, draw)
    _set_value(die, value)
    _set_fates(die, fates)
    return die


Result = tuple[Exact, Counts | None, list[Record]]
"""Total, counts, records in the order of the draws."""


class Runner(ABC):
    """One node, ready to run."""

    __slots__ = ()

    @abstractmethod
    def run(self, dice: Dice) -> Result:
        """Roll what is below and return the result."""


def run_part(dice: Dice, _decisions: Decisions, runner: Runner) -> tuple[Value, list[Record] | None]:
    """Run a runner as a part, so that odds find its distribution once."""
    total, counts, records = runner.run(dice)
    return (total, counts), records


def add_values(left: Value, right: Value) -> Value:
    """Merge the values of two parts that are added up."""
    return left[0] + right[0], add_counts(left[1], right[1])


def add_counts(left: Counts | None, right: Counts | None) -> Counts | None:
    """Return both counts together."""
    if left is None or right is None:
        return right if left is None else left
    return left[0] + right[0], left[1] + right[1]


class Constant(Runner):
    """What is known before the roll."""

    __slots__ = ("value",)

    def __init__(self, value: Exact) -> None:
        self.value = plain(value)

    def run(self, dice: Dice) -> Result:  # noqa: ARG002  nothing to roll
        return self.value, None, []


class AsPart(Runner):
    """One of several operands that roll: a part of its own."""

    __slots__ = ("inner",)

    def __init__(self, inner: Runner) -> None:
        self.inner = inner

    def run(self, dice: Dice) -> Result:
        (total, counts), records = dice.part(run_part, self.inner)
        return total, counts, records or []


class Minus(Runner):
    """The negative of a node."""

    __slots__ = ("inner",)

    def __init__(self, inner: Runner) -> None:
        self.inner = inner

    def run(self, dice: Dice) -> Result:
        total, counts, records = self.inner.run(dice)
        return -total, counts, records


class Shifted(Runner):
    """The one operand of a sum that rolls, and the constant that the others make."""

    __slots__ = ("inner", "shift")

    def __init__(self, inner: Runner, shift: Exact) -> None:
        self.inner = inner
        self.shift = plain(shift)

    def run(self, dice: Dice) -> Result:
        total, counts, records = self.inner.run(dice)
        return total + self.shift, counts, records


class Summed(Runner):
    """A few operands of a sum that roll, and the constant that the others make."""

    __slots__ = ("shift", "terms")

    def __init__(self, terms: Sequence[Runner], shift: Exact) -> None:
        self.terms = tuple(terms)
        self.shift = plain(shift)

    def run(self, dice: Dice) -> Result:
        sum_, counts = self.shift, None
        records: list[Record] = []
        for term in self.terms:
            total, own, more = term.run(dice)
            sum_ += total
            counts = own if counts is None else add_counts(counts, own)
            records += more
        return sum_, counts, records


class SummedParts(Runner):
    """Operands of a sum that roll in many ways: parts side by side, so that odds add one after another."""

    __slots__ = ("args", "shift")

    def __init__(self, terms: Sequence[Runner], shift: Exact) -> None:
        self.args = [(term,) for term in terms]
        self.shift = plain(shift)

    def run(self, dice: Dice) -> Result:
        (total, counts), details = dice.parts(run_part, self.args, merge=add_values)
        records: list[Record] = []
        for detail in details:
            if detail is not None:
                records += detail
        return total + self.shift, counts, records


class Folded(Runner):
    """Operands applied from the left."""

    __slots__ = ("first", "rest")

    def __init__(self, first: Runner, rest: Sequence[tuple[Callable[[Exact, Exact], Exact], Runner]]) -> None:
        self.first = first
        self.rest = tuple(rest)

    def run(self, dice: Dice) -> Result:
        total, counts, records = self.first.run(dice)
        for operate, runner in self.rest:
            right, right_counts, more = runner.run(dice)
            total = operate(total, right)
            counts = add_counts(counts, right_counts)
            records += more
        return total, counts, records


class Called(Runner):
    """A function of operands."""

    __slots__ = ("arguments", "function")

    def __init__(self, function: Callable[..., Exact], arguments: Sequence[Runner]) -> None:
        self.function = function
        self.arguments = tuple(arguments)

    def run(self, dice: Dice) -> Result:
        values: list[Exact] = []
        counts: Counts | None = None
        records: list[Record] = []
        for argument in self.arguments:
            value, own, more = argument.run(dice)
            values.append(value)
            counts = add_counts(counts, own)
            records += more
        return self.function(*values), counts, records


class Labelling(Runner):
    """A node whose label notes what it came to."""

    __slots__ = ("inner", "label")

    def __init__(self, inner: Runner, label: str) -> None:
        self.inner = inner
        self.label = label

    def run(self, dice: Dice) -> Result:
        total, counts, records = self.inner.run(dice)
        records.append(LabelRecord(self.label, total))  # the list is new with each run
        return total, counts, records


def ask(part: int | Runner, dice: Dice, records: list[Record]) -> int:
    """Return a count or sides, rolled where it has dice."""
    if isinstance(part, int):
        return part
    total, _, more = part.run(dice)
    records += more
    return int(total)


def dropped(records: Sequence[Record]) -> list[Record]:
    """Return the records of a dropped total: its dice no longer count, its labels came to nothing."""
    dice: list[Record] = []
    for record in records:
        if isinstance(record, LabelRecord):
            continue
        fates = record.fates
        if Fate.KEPT in fates:
            kept = fates.index(Fate.KEPT)
            # What selecting, counting and marking said of it goes with it; what drawing did to it stays.
            dice.append(Die(record.draw, record.value, (*fates[:kept], Fate.DROPPED)))
        else:
            dice.append(record)
    return dice
