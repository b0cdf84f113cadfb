"""The numbers that a check comes to, and the exact chances of each: by the shortest way that can say them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fairroll.odds.chains import UnsayableError
from fairroll.odds.chances import MAX_WORK, Chances, extreme, from_fractions
from fairroll.odds.labels import label_chances
from fairroll.odds.tree import Counted, TreeOdds
from fairroll_rules import odds as rules_odds
from fairroll_rules.limits import MAX_AGAIN, MAX_SIDES
from fairroll_rules.notation.dialects import reading_of
from fairroll_rules.notation.exact import ROUND
from fairroll_rules.notation.program import Program
from fairroll_rules.notation.tree import Exact, Node, Repeat
from fairroll_rules.systems import notation, system_of, systems

MOST_LOST = Fraction(1, 10**12)
"""What cut chains may lose in all."""

LABEL = "label:"

_FIRST = ("total", "final_result", "result", "net_successes")
"""Names of the number that a roll is about, among those of its value."""

Answer = Callable[[], Chances]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number: its name, how its exact chances are found, and how it is read off a value and an outcome."""

    name: str
    exact: Answer
    read: Callable[[Any, Any], int]


def quantities_of(check: Any) -> tuple[Quantity, ...]:  # noqa: ANN401  each system has its own types
    """Return the quantities of a check, the one that it is about first; nothing is worked out yet."""
    if isinstance(check, notation.NotationCheck):
        return _of_notation(check)
    joint = _Joint(check)
    names = joint.names
    first = next((name for name in _FIRST if name in names), names[0])
    ordered = [first, *(name for name in names if name != first)]
    return tuple(Quantity(name, partial(joint.of, name), partial(_field, name)) for name in ordered)


def _field(name: str, value: Any, _outcome: object) -> int:  # noqa: ANN401  each system has its own types
    return int(getattr(value, name))


class _Joint:
    """The exact chances of a check's whole value, found once."""

    def __init__(self, check: Any) -> None:  # noqa: ANN401  each system has its own types
        self._check = check
        self._odds: rules_odds.Odds[Any] | None = None
        self.names: tuple[str, ...] = _value_names(check)

    def of(self, name: str) -> Chances:
        """Return the chances of one number of the value."""
        if self._odds is None:
            self._odds = _odds_of(self._check)
        return from_fractions(self._odds.weights, lambda value: int(getattr(value, name)))


def _value_names(check: Any) -> tuple[str, ...]:  # noqa: ANN401  each system has its own types
    """Return the names of the numbers of a check's value, by rolling it once: every die shows its lowest face."""
    resolve = systems()[system_of(check)].resolve
    return _first_value(resolve, check)._fields  # type: ignore[no-any-return]  # a NamedTuple of any system


def _first_value(resolve: Callable[..., Any], check: Any) -> Any:  # noqa: ANN401  each system has its own types
    for face in (lambda sides: 1, lambda sides: (sides + 1) // 2, lambda sides: sides):
        resolved = _try(check, face)
        if resolved is not None:
            return resolved
    raise AssertionError(f"{resolve} ends in no value on any face")


def _try(check: Any, source: Callable[[int], int]) -> Any:  # noqa: ANN401  each system has its own types
    from fairroll_rules.resolve import resolve  # noqa: PLC0415

    return resolve(check, source).value


def _odds_of(check: Any) -> rules_odds.Odds[Any]:  # noqa: ANN401  each system has its own types
    """Return the odds of a rule system's check: by its twin where that can, else by the rules.

    Raises:
        LimitReached: `odds_work`.
    """
    name = system_of(check)
    twin = f"fairroll_rules.twins.{name}"
    if find_spec(twin) is not None:
        found: rules_odds.Odds[Any] | None = import_module(twin).odds(check)
        if found is not None:
            return found
    return _walked(systems()[name].resolve, check)


def _walked(function: Callable[..., Any], check: Any) -> rules_odds.Odds[Any]:  # noqa: ANN401  each system has its own types
    found = rules_odds.distribution(function, check, budget=MAX_WORK)
    if found.lost >= MOST_LOST:
        # Chains of faces that explode often: follow each to the cap of the rules, whose end is no cut.
        found = rules_odds.distribution(function, check, cut=Fraction(1, MAX_SIDES**MAX_AGAIN), budget=MAX_WORK)
    return found


# Notation


def _of_notation(check: notation.NotationCheck) -> tuple[Quantity, ...]:
    odds = _NotationOdds(check)
    program = odds.program
    if program.times is not None:
        times = program.times
        found = [
            Quantity("result", odds.total, lambda value, _: value.results[0].total),
            Quantity("highest", lambda: _best(odds.total(), times, highest=True), _highest),
            Quantity("lowest", lambda: _best(odds.total(), times, highest=False), _lowest),
        ]
    else:
        found = [Quantity("total", odds.total, lambda value, _: value.total)]
    if program.counting:
        found += [
            Quantity("successes", partial(odds.counted, Counted.SUCCESSES), partial(_of_one, "successes")),
            Quantity("failures", partial(odds.counted, Counted.FAILURES), partial(_of_one, "failures")),
        ]
    found += [Quantity(LABEL + label, partial(odds.label, label), partial(_label, label)) for label in program.labels]
    return tuple(found)


def _best(one: Chances, times: int, *, highest: bool) -> Chances:
    return extreme([one] * times, highest=highest)


def _highest(value: notation.NotationValue, _outcome: object) -> int:
    return max(each.total or 0 for each in value.results)


def _lowest(value: notation.NotationValue, _outcome: object) -> int:
    return min(each.total or 0 for each in value.results)


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
        variables: Mapping[str, int] = {variable.name: variable.value for variable in check.variables}
        self._tree = TreeOdds(self.program.tree, variables)
        self._round = ROUND[check.rounding or reading_of(check.dialect).rounding]
        self._total: Chances | None = None
        self._values: rules_odds.Odds[Any] | None = None

    def total(self) -> Chances:
        """Return the rounded total."""
        if self._total is None:
            try:
                self._total = self._rounded(self._tree.of(self._body))
            except UnsayableError:
                self._total = self._rounded(self._from_rules(lambda value: value[0]))
        return self._total

    def counted(self, number: Counted) -> Chances:
        """Return the successes or failures."""
        try:
            return self._tree.of(self._body, number)
        except UnsayableError:
            place = 0 if number is Counted.SUCCESSES else 1
            return self._from_rules(lambda value: (value[1] or (0, 0))[place])

    def label(self, label: str) -> Chances:
        """Return what a label comes to, rounded as the total is."""
        return self._rounded(label_chances(self._tree, self._body, self.program.runner, label))

    def _rounded(self, chances: Chances) -> Chances:
        if all(isinstance(value, int) for value in chances.weights):
            return chances
        return chances.map(self._round)

    def _from_rules(self, number: Callable[[Any], Exact]) -> Chances:
        if self._values is None:
            from fairroll_rules.notation.runners import run_part  # noqa: PLC0415

            self._values = _walked(run_part, self.program.runner)
        return from_fractions(self._values.weights, number)
