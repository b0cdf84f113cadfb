"""The numbers that a check comes to, and the exact chances of each: by the shortest way that can say them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fairroll.odds.chains import UnsayableError
from fairroll.odds.chances import MAX_WORK, Chances, Work, extreme, from_fractions, too_much
from fairroll.odds.labels import label_chances, label_totals
from fairroll.odds.tree import Counted, TreeOdds
from fairroll_rules import odds as rules_odds
from fairroll_rules.errors import LimitReached
from fairroll_rules.limits import MAX_AGAIN, MAX_SIDES
from fairroll_rules.notation.dialects import reading_of
from fairroll_rules.notation.exact import ROUND
from fairroll_rules.notation.program import Program
from fairroll_rules.notation.runners import run_part
from fairroll_rules.notation.tree import Exact, Node, Repeat
from fairroll_rules.resolve import resolve
from fairroll_rules.systems import notation, system_of, systems

MOST_LOST = Fraction(1, 10**12)
"""What cut chains may lose in all."""

LABEL = "label:"
"""Before the name of a label."""

_FIRST = ("total", "final_result", "result", "net_successes")
"""Names of the number that a roll is about, among those of its value."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number that a check comes to.

    Attributes:
        name: such as `total` or `label:fire`.
        exact: returns its exact chances; raises LimitReached `odds_work` where they would take too much work.
        read: reads it off a value and an outcome of the check's system.
    """

    name: str
    exact: Callable[[], Chances]
    read: Callable[[Any, Any], int]


def quantities_of(check: Any) -> tuple[Quantity, ...]:  # noqa: ANN401  each system has its own types
    """Return the quantities of a check, the one that it is about first; nothing is worked out yet."""
    if isinstance(check, notation.NotationCheck):
        return _of_notation(check)
    names = _names(check)
    first = next((name for name in _FIRST if name in names), names[0])
    joint = _Once(lambda: _odds_of(check))
    return tuple(
        Quantity(name, partial(joint.of, partial(_number, name)), partial(_field, name))
        for name in (first, *(name for name in names if name != first))
    )


def _number(name: str, value: object) -> int:
    return int(getattr(value, name))


def _field(name: str, value: object, _outcome: object) -> int:
    return _number(name, value)


def _names(check: Any) -> tuple[str, ...]:  # noqa: ANN401  each system has its own types
    """Return the names of the numbers of a check's value: those that its system says it has, or all of them."""
    said = getattr(systems()[system_of(check)], "quantities", None)
    if said is not None:
        names: tuple[str, ...] = said(check)
        return names
    fields: tuple[str, ...] = resolve(check, lambda _: 1).value._fields
    return fields


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
        return from_fractions(self._odds.weights, number)


def _odds_of(check: Any) -> rules_odds.Odds[Any]:  # noqa: ANN401  each system has its own types
    """Return the odds of a rule system's check: by its twin where that can, else by the rules."""
    name = system_of(check)
    twin = f"fairroll_rules.twins.{name}"
    if find_spec(twin) is not None:
        found: rules_odds.Odds[Any] | None = import_module(twin).odds(check)
        if found is not None:
            return found
    return _walked(systems()[name].resolve, check)


def _walked(function: Callable[..., Any], *arguments: object) -> rules_odds.Odds[Any]:
    found = rules_odds.distribution(function, *arguments, budget=MAX_WORK)
    if found.lost >= MOST_LOST:
        # Chains of faces that explode often: follow each to the cap of the rules, whose end is no cut.
        found = rules_odds.distribution(function, *arguments, cut=Fraction(1, MAX_SIDES**MAX_AGAIN), budget=MAX_WORK)
    return found


# Notation


def _of_notation(check: notation.NotationCheck) -> tuple[Quantity, ...]:
    odds = _NotationOdds(check)
    program = odds.program
    if program.times is None:
        found = [Quantity("total", odds.total, lambda value, _: value.total)]
    else:
        found = [
            Quantity("result", odds.total, lambda value, _: value.results[0].total),
            Quantity("highest", partial(odds.best, highest=True), partial(_best, max)),
            Quantity("lowest", partial(odds.best, highest=False), partial(_best, min)),
        ]
    if program.counting:
        found += [
            Quantity("successes", partial(odds.counted, Counted.SUCCESSES), partial(_of_one, "successes")),
            Quantity("failures", partial(odds.counted, Counted.FAILURES), partial(_of_one, "failures")),
        ]
    found += [Quantity(LABEL + label, partial(odds.label, label), partial(_label, label)) for label in program.labels]
    return tuple(found)


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
        self._body: Node = root.body if isinstance(root, Repeat) else root
        variables = {variable.name: variable.choice or variable.value for variable in check.variables}
        self._work = Work()
        self._tree = TreeOdds(self.program.tree, variables, self._work)
        self._round = ROUND[check.rounding or reading_of(check.dialect).rounding]
        self._values = _Once(lambda: _walked(run_part, self.program.runner))
        self._labels = _Once(lambda: _walked(label_totals, self.program.runner, self.program.labels))

    def total(self) -> Chances:
        """Return the rounded total."""
        try:
            return self._rounded(self._tree.of(self._body))
        except UnsayableError:
            return self._rounded(self._values.of(lambda value: value[0]))

    def best(self, *, highest: bool) -> Chances:
        """Return the highest or lowest total of all results of a repeat."""
        return extreme(self._work, [self.total()] * (self.program.times or 1), highest=highest)

    def counted(self, number: Counted) -> Chances:
        """Return the successes or failures."""
        try:
            return self._tree.of(self._body, number)
        except UnsayableError:
            place = 0 if number is Counted.SUCCESSES else 1
            return self._values.of(lambda value: (value[1] or (0, 0))[place])

    def label(self, label: str) -> Chances:
        """Return what a label comes to, rounded as the total is."""
        try:
            return self._rounded(label_chances(self._tree, self._body, label, self._work))
        except UnsayableError:
            place = self.program.labels.index(label)
            return self._rounded(self._labels.of(lambda totals: totals[place]))

    def _rounded(self, chances: Chances) -> Chances:
        if all(isinstance(value, int) for value in chances.weights):
            return chances
        return chances.map(self._round)
