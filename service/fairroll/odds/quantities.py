"""The numbers that a check comes to, and the exact chances of each: by the shortest way that can say them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fairroll.odds.chances import NOTHING, Chances, Work, extreme, from_fractions, too_much
from fairroll.odds.choosing import Counted
from fairroll.odds.draws import may_run_out
from fairroll.odds.growth import UnsayableError
from fairroll.odds.labels import label_chances, label_totals, marked, marks
from fairroll.odds.tree import TreeOdds, total_of
from fairroll_rules import odds as rules_odds
from fairroll_rules.errors import LimitReached
from fairroll_rules.limits import MAX_AGAIN, MAX_DRAWS, MAX_SIDES
from fairroll_rules.notation.dialects import reading_of
from fairroll_rules.notation.exact import ROUND
from fairroll_rules.notation.program import Program
from fairroll_rules.notation.runners import run_part
from fairroll_rules.notation.tree import Exact, Mark, Modified, Node, Repeat, children
from fairroll_rules.outcome import Fate
from fairroll_rules.quantities import YES_NO, Quantities, Words, fields_of
from fairroll_rules.resolve import resolve
from fairroll_rules.systems import notation, system_of, systems

MOST_LOST = Fraction(1, 10**12)
"""What cut chains may lose in all."""

PATH = 3
"""The price of a path of notation: it takes as long as so many of a rule system."""

LABEL = "label:"
"""Before the name of a label."""

MARKS = (("critical", Counted.CRITICALS, Fate.CRITICAL), ("fumble", Counted.FUMBLES, Fate.FUMBLE))
"""How many dice of notation are marked so, where any can be."""

_FIRST = ("final_result", "result", "total", "net_successes")
"""Names of the number that a roll is about, among those of its value."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number that a check comes to.

    Attributes:
        name: such as `total` or `label:fire`.
        exact: returns its exact chances; raises LimitReached `odds_work` where they would take too much work.
        read: reads it off a value and an outcome of the check's system.
        words: what its values are called; empty for plain numbers.
    """

    name: str
    exact: Callable[[], Chances]
    read: Callable[[Any, Any], int]
    words: Words = field(default_factory=dict)


def quantities_of(check: Any) -> tuple[Quantity, ...]:  # noqa: ANN401  each system has its own types
    """Return the quantities of a check, the one that it is about first; nothing is worked out yet."""
    if isinstance(check, notation.NotationCheck):
        return _of_notation(check)
    words = _words(check)
    first = next((name for name in _FIRST if name in words), next(iter(words)))
    work = Work()
    joint = _Once(lambda: _odds_of(check, work))
    return tuple(
        Quantity(name, partial(joint.of, partial(_number, name)), partial(_field, name), words[name])
        for name in (first, *(name for name in words if name != first))
    )


def _number(name: str, value: object) -> int:
    return int(getattr(value, name))


def _field(name: str, value: object, _outcome: object) -> int:
    return _number(name, value)


def _words(check: Any) -> Quantities:  # noqa: ANN401  each system has its own types
    """Return the numbers of a check's value: those that its system says it has, or all of them."""
    said = getattr(systems()[system_of(check)], "quantities", None)
    if said is not None:
        words: Quantities = said(check)
        return words
    return fields_of(type(resolve(check, lambda _: 1).value))


class _Once:
    """The joint odds of all numbers of a check: found once, or found once to be too much work."""

    def __init__(self, find: Callable[[], rules_odds.Odds[Any]]) -> None:
        self._find = find
        self._odds: rules_odds.Odds[Any] | None = None
        self._refused = False

    def of(self, number: Callable[[Any], Exact]) -> Chances:
        """Return the chances of one number of the value."""
        if self._refused:
            raise too_much()
        if self._odds is None:
            try:
                self._odds = self._find()
            except LimitReached:
                self._refused = True
                raise
        lost = self._odds.lost
        return from_fractions(self._odds.weights, number, lost if lost >= MOST_LOST else NOTHING)


def _odds_of(check: Any, work: Work) -> rules_odds.Odds[Any]:  # noqa: ANN401  each system has its own types
    """Return the odds of a rule system's check: by its twin where that can, else by the rules."""
    name = system_of(check)
    twin = f"fairroll_rules.twins.{name}"
    if find_spec(twin) is not None:
        found: rules_odds.Odds[Any] | None = import_module(twin).odds(check)
        if found is not None:
            return found
    return _walked(work, 1, systems()[name].resolve, check)


def _walked(work: Work, price: int, function: Callable[..., Any], *arguments: object) -> rules_odds.Odds[Any]:
    """Return the odds of a function of the rules, each path of which has a price."""
    found = _paid(work, price, rules_odds.CUT, function, *arguments)
    if found.lost >= MOST_LOST:
        # Chains of faces that explode often: follow each to the cap of the rules, whose end is no cut.
        found = _paid(work, price, Fraction(1, MAX_SIDES**MAX_AGAIN), function, *arguments)
    return found


def _paid(
    work: Work, price: int, cut: Fraction, function: Callable[..., Any], *arguments: object
) -> rules_odds.Odds[Any]:
    """Return the odds of a function of the rules, for what is left of the work on the check."""
    try:
        found = rules_odds.distribution(function, *arguments, cut=cut, budget=int(work.left / price))
    except LimitReached as reached:
        if reached.limit != "odds_work":
            raise
        work.left = 0
        raise too_much() from None
    work.spend(found.work * price)
    return found


# Notation


def _of_notation(check: notation.NotationCheck) -> tuple[Quantity, ...]:
    odds = _NotationOdds(check)
    program = odds.program
    if program.times is None:
        found = [Quantity("total", partial(odds.exact, odds.total), lambda value, _: value.total)]
    else:
        found = [
            Quantity("result", partial(odds.exact, odds.total), lambda value, _: value.results[0].total),
            Quantity("highest", partial(odds.exact, odds.best, highest=True), partial(_best, max)),
            Quantity("lowest", partial(odds.exact, odds.best, highest=False), partial(_best, min)),
        ]
    if program.counting:
        found += [
            Quantity(name, partial(odds.exact, odds.counted, number), partial(_of_one, name))
            for name, number in (("successes", Counted.SUCCESSES), ("failures", Counted.FAILURES))
        ]
    one = program.bounds.draws == 1 and not program.bounds.grows
    found += [
        Quantity(name, partial(odds.exact, odds.marks, number), partial(_marks, fate), YES_NO if one else {})
        for name, number, fate in MARKS
        if fate in marks_of(odds.body)
    ]
    found += [
        Quantity(LABEL + label, partial(odds.exact, odds.label, label), partial(_label, label))
        for label in program.labels
    ]
    return tuple(found)


def marks_of(node: Node) -> set[Fate]:
    """Return what dice of a tree are marked as."""
    found = {fate for child in children(node) for fate in marks_of(child)}
    if isinstance(node, Modified):
        found |= {Fate.FUMBLE if each.fumble else Fate.CRITICAL for each in node.modifiers if isinstance(each, Mark)}
    return found


def _marks(fate: Fate, _value: object, outcome: notation.NotationOutcome) -> int:
    return marked(outcome.results[0].dice if outcome.results else outcome.dice, fate)


def _best(pick: Callable[..., int], value: notation.NotationValue, _outcome: object) -> int:
    return pick(each.total for each in value.results)


def _of_one(name: str, value: notation.NotationValue, _outcome: object) -> int:
    return int(getattr(value.results[0] if value.results else value, name))


def _label(label: str, _value: object, outcome: notation.NotationOutcome) -> int:
    labels = outcome.results[0].labels if outcome.results else outcome.labels
    return next(each.total for each in labels if each.label == label)


class _NotationOdds:
    """The chances of one notation; of one result where it repeats."""

    def __init__(self, check: notation.NotationCheck) -> None:
        self.program: Program = notation.program_of(check)
        root = self.program.tree.root
        self.body: Node = root.body if isinstance(root, Repeat) else root
        self._variables = {variable.name: variable.choice or variable.value for variable in check.variables}
        self._work = Work()
        self._tree = TreeOdds(self.program.tree, self._variables, self._work)
        self._runs_out = may_run_out(self.program.tree, self._variables, self.program.bounds.draws)
        self._round = ROUND[check.rounding or reading_of(check.dialect).rounding]
        runner, labels = self.program.runner, self.program.labels
        self._values = _Once(lambda: _walked(self._work, PATH, run_part, runner))
        self._labels = _Once(lambda: _walked(self._work, PATH, label_totals, runner, labels))
        self._marks = _Once(lambda: _walked(self._work, PATH, marks, runner))

    def exact(self, find: Callable[..., Chances], *arguments: object, **named: object) -> Chances:
        """Return what is found, unless a roll may end for its number of draws: that depends on all its dice."""
        if self._runs_out:
            raise LimitReached(
                "LIMIT_REACHED", "rolls may end for their number of draws", limit="draws", maximum=MAX_DRAWS
            )
        return find(*arguments, **named)

    def total(self) -> Chances:
        """Return the rounded total."""
        try:
            return self._rounded(total_of(self._tree, self.body))
        except UnsayableError:
            return self._rounded(self._values.of(lambda value: value[0]))

    def best(self, *, highest: bool) -> Chances:
        """Return the highest or lowest total of all results of a repeat."""
        return extreme(self._work, [self.total()] * (self.program.times or 1), highest=highest)

    def counted(self, number: Counted) -> Chances:
        """Return the successes or failures."""
        try:
            return self._tree.of(self.body, number)
        except UnsayableError:
            place = 0 if number is Counted.SUCCESSES else 1
            return self._values.of(lambda value: (value[1] or (0, 0))[place])

    def marks(self, number: Counted) -> Chances:
        """Return how many dice are critical, or fumbles."""
        try:
            return self._tree.of(self.body, number)
        except UnsayableError:
            place = 0 if number is Counted.CRITICALS else 1
            return self._marks.of(lambda value: value[place])

    def label(self, label: str) -> Chances:
        """Return what a label comes to, rounded as the total is."""
        try:
            return self._rounded(label_chances(self._tree, self.body, label, self._work))
        except UnsayableError:
            place = self.program.labels.index(label)
            return self._rounded(self._labels.of(lambda totals: totals[place]))

    def _rounded(self, chances: Chances) -> Chances:
        if all(isinstance(value, int) for value in chances.weights):
            return chances
        return chances.map(self._round)
