"""Dice notation as a system: a text such as `4d6kh3`, its variables, and what it came to.

The language itself is `fairroll_rules.notation`; its documents are the grammar lines in the parser's docstrings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, cast

from fairroll_rules.decisions import Decisions
from fairroll_rules.dice import Dice, Draw
from fairroll_rules.errors import CheckError
from fairroll_rules.fields import Characters, Entries, Utf8, require_fields
from fairroll_rules.limits import MAX_NAME_BYTES
from fairroll_rules.notation import Dialect, Explained, Program, Result, Rounding, evaluate, explain, prepare
from fairroll_rules.notation.canonical import shown
from fairroll_rules.notation.dialects import reading_of
from fairroll_rules.notation.exact import ROUND
from fairroll_rules.notation.limits import MAX_CHARACTERS, MAX_TOTAL, MAX_VARIABLES, MIN_TOTAL
from fairroll_rules.notation.render import fate_steps, plural, show_dice
from fairroll_rules.notation.runners import LabelRecord
from fairroll_rules.notation.tree import Bound, Exact
from fairroll_rules.outcome import Die, Text

TITLE = "Dice notation"
ENGINE = 1


@dataclass(frozen=True, slots=True)
class Variable:
    """A name and the integer that it stands for, an int64; or the label of the option that a query of Roll20 takes."""

    name: Annotated[str, Utf8(1, MAX_NAME_BYTES, "variable_bytes", "NAME_LENGTH")]
    value: int
    choice: Annotated[str, Utf8(0, MAX_NAME_BYTES, "variable_bytes", "NAME_LENGTH")] = ""

    def __post_init__(self) -> None:
        require_fields(self)
        if self.choice and self.value:
            raise CheckError("CONFLICT", "value and choice exclude each other", field="choice", value=self.choice)
        if not MIN_TOTAL <= self.value <= MAX_TOTAL:
            raise CheckError(
                "OUT_OF_RANGE",
                f"a variable is an int64, not {self.value}",
                field="value",
                minimum=MIN_TOTAL,
                maximum=MAX_TOTAL,
                value=str(self.value),
            )


class _Prepared:
    """Where a check keeps its program: beside its fields, since it is no part of its value."""

    __slots__ = ("_program",)

    _program: Program


@dataclass(frozen=True, slots=True)
class NotationCheck(_Prepared):
    """A text to roll. One that exists is valid: it was parsed, its variables bound, and its bounds checked."""

    text: Annotated[str, Characters(1, MAX_CHARACTERS)]
    dialect: Dialect = Dialect.STANDARD
    variables: Annotated[tuple[Variable, ...], Entries(0, MAX_VARIABLES, "variables")] = ()
    rounding: Rounding | None = None

    def __post_init__(self) -> None:
        names: list[str] = []
        for index, variable in enumerate(self.variables):
            if variable.name in names:
                raise CheckError(
                    "VARIABLE_REPEATED",
                    f"the variable {variable.name} is bound twice",
                    field=f"variables[{index}].name",
                    value=variable.name,
                )
            names.append(variable.name)
        object.__setattr__(self, "_program", prepare(self.text, self.dialect, _bound(self)))


@dataclass(frozen=True, slots=True)
class LabelTotal:
    """What all nodes with one label came to: exact as `p` or `p/q`, and rounded."""

    label: str
    exact: str
    total: int


@dataclass(frozen=True, slots=True)
class RepeatResult:
    """One result of a repeat."""

    exact: str
    total: int
    successes: int
    failures: int
    dice: tuple[Die, ...]
    labels: tuple[LabelTotal, ...]


@dataclass(frozen=True, slots=True)
class NotationOutcome:
    """What a text came to: `exact` as `p` or `p/q` (empty for a repeat), and `total`, rounded (None for a repeat)."""

    exact: str
    total: int | None
    successes: int
    failures: int
    dice: tuple[Die, ...] = ()
    labels: tuple[LabelTotal, ...] = ()
    results: tuple[RepeatResult, ...] = ()


class NotationValue(NamedTuple):
    """The rounded total (None for a repeat), both counts, and the same of each result of a repeat."""

    total: int | None
    successes: int
    failures: int
    results: tuple[NotationValue, ...]


CHECKS = (NotationCheck,)
OUTCOMES = (NotationOutcome,)


def resolve(dice: Dice, decisions: Decisions, check: NotationCheck) -> tuple[NotationValue, NotationOutcome]:  # noqa: ARG001  notation asks nobody
    """Roll the text."""
    program = program_of(check)
    if program.times is None:
        result = program.runner.run(dice)
        exact, total, successes, failures, thrown, labels = _settled(result, program, check)
        outcome = NotationOutcome(exact, total, successes, failures, thrown, labels)
        return NotationValue(total, successes, failures, ()), outcome
    results = tuple([RepeatResult(*_settled(result, program, check)) for result in evaluate(program, dice)])
    values = tuple([NotationValue(each.total, each.successes, each.failures, ()) for each in results])
    successes, failures = sum([each.successes for each in results]), sum([each.failures for each in results])
    outcome = NotationOutcome("", None, successes, failures, results=results)
    return NotationValue(None, successes, failures, values), outcome


def draws(check: NotationCheck) -> int:
    """Return the most draws before any die is rolled again."""
    return program_of(check).bounds.draws


def nodes(check: NotationCheck) -> int:
    """Return the nodes of the tree: what a record limits for systems that parse text."""
    return program_of(check).bounds.nodes


def text(check: NotationCheck, outcome: NotationOutcome, _draws: Sequence[Draw]) -> Text:
    """Return the roll as people write it: `4d6kh3: 5 4 3 (2) = 12`; the steps say what happened to which dice."""
    program = program_of(check)
    if program.times is None:
        said = _said(program, outcome)
        if not outcome.dice:
            return Text(f"{program.head} = {said}", ())
        line = f"{program.head}: {show_dice(outcome.dice, program.order)} = {said}"
        return Text(line, tuple(fate_steps(outcome.dice)))
    parts: list[str] = []
    steps: list[str] = []
    for number, each in enumerate(outcome.results, 1):
        said, thrown = _said(program, each), show_dice(each.dice)
        parts.append(f"{thrown} = {said}" if thrown else said)
        steps += [f"result {number}: {step}" for step in fate_steps(each.dice)]
    return Text(f"{program.head}: {'; '.join(parts)}", tuple(steps))


def explain_tree(check: NotationCheck, draws: Sequence[Draw]) -> Explained:
    """Return the tree with a total and a span at each node, by rolling the check again from its draws.

    Raises:
        AnswerError: DRAWS_DIFFER, these are not the draws of this check.
    """
    return explain(check.text, check.dialect, _bound(check), draws)


def program_of(check: NotationCheck) -> Program:
    """Return the check made ready to roll."""
    try:
        return check._program  # noqa: SLF001  its own module's, and no field of its value
    except AttributeError:  # a copy carries the fields alone
        return prepare(check.text, check.dialect, _bound(check))


def _bound(check: NotationCheck) -> dict[str, Bound]:
    return {variable.name: variable.choice or variable.value for variable in check.variables}


def _settled(
    result: Result, program: Program, check: NotationCheck
) -> tuple[str, int, int, int, tuple[Die, ...], tuple[LabelTotal, ...]]:
    """Return exact and rounded total, successes, failures, dice and labels: what an outcome and a result share."""
    total, counts, records = result
    successes, failures = counts or (0, 0)
    rounded = _rounded(total, check)
    if not program.labels:
        # Without labels every record is a die.
        return shown(total), rounded, successes, failures, cast("tuple[Die, ...]", tuple(records)), ()
    totals: dict[str, Exact] = dict.fromkeys(program.labels, 0)
    thrown: list[Die] = []
    for record in records:
        if isinstance(record, LabelRecord):
            totals[record.label] += record.total
        else:
            thrown.append(record)
    labels = [LabelTotal(label, shown(of), _rounded(of, check)) for label, of in totals.items()]
    return shown(total), rounded, successes, failures, tuple(thrown), tuple(labels)


def _rounded(total: Exact, check: NotationCheck) -> int:
    return total if isinstance(total, int) else ROUND[check.rounding or reading_of(check.dialect).rounding](total)


def _said(program: Program, result: NotationOutcome | RepeatResult) -> str:
    said = str(result.total)
    notes = [f"{result.exact} rounded"] if "/" in result.exact else []
    if program.counting:
        counted = plural(result.successes, "success", "successes")
        if result.failures:
            notes.append(f"{counted}, {plural(result.failures, 'failure', 'failures')}")
        elif result.exact == str(result.successes):
            said = counted
        else:
            notes.append(counted)
    notes += [f"{each.label} {each.total}" for each in result.labels]
    return f"{said} ({', '.join(notes)})" if notes else said
