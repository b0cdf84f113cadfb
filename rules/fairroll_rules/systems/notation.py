"""Dice notation as a system: a text such as `4d6kh3`, its variables, and what it came to.

The language itself is `fairroll_rules.notation`; its documents are the grammar lines in the parser's docstrings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fairroll_rules.decisions import Decisions
from fairroll_rules.dice import Dice, Draw
from fairroll_rules.errors import CheckError
from fairroll_rules.limits import MAX_NAME_BYTES
from fairroll_rules.notation import Dialect, Evaluation, Explained, Program, Rounding, evaluate, explain, prepare
from fairroll_rules.notation.canonical import shown
from fairroll_rules.notation.dialects import reading_of
from fairroll_rules.notation.exact import ROUND
from fairroll_rules.notation.limits import MAX_TOTAL, MIN_TOTAL
from fairroll_rules.notation.render import fate_steps, plural, show_dice
from fairroll_rules.notation.runners import LabelRecord
from fairroll_rules.notation.tree import Exact
from fairroll_rules.outcome import Die, Text

TITLE = "Dice notation"
ENGINE = 1


@dataclass(frozen=True, slots=True)
class Variable:
    """A name and the integer that it stands for, an int64."""

    name: str
    value: int

    def __post_init__(self) -> None:
        size = len(self.name.encode("utf-8", "surrogatepass"))
        if not 1 <= size <= MAX_NAME_BYTES:
            raise CheckError(
                "NAME_LENGTH",
                f"a variable's name has 1..{MAX_NAME_BYTES} bytes, not {size}",
                field="name",
                limit="variable_bytes",
                minimum=1,
                maximum=MAX_NAME_BYTES,
                value=str(size),
            )
        if not MIN_TOTAL <= self.value <= MAX_TOTAL:
            raise CheckError(
                "OUT_OF_RANGE",
                f"a variable is an int64, not {self.value}",
                field="value",
                minimum=MIN_TOTAL,
                maximum=MAX_TOTAL,
                value=str(self.value),
            )


@dataclass(frozen=True, slots=True)
class NotationCheck:
    """A text to roll. One that exists is valid: it was parsed, its variables bound, and its bounds checked."""

    text: str
    dialect: Dialect = Dialect.STANDARD
    variables: tuple[Variable, ...] = ()
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
        program_of(self)


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
    rounding = check.rounding or reading_of(check.dialect).rounding
    evaluations = evaluate(program, dice)
    if program.times is None:
        evaluation = evaluations[0]
        total, counts = evaluation.total, evaluation.counts
        successes, failures = (0, 0) if counts is None else counts
        rounded = total if isinstance(total, int) else ROUND[rounding](total)
        outcome = NotationOutcome(
            shown(total), rounded, successes, failures, *_recorded(evaluation, program.labels, rounding)
        )
        return NotationValue(rounded, successes, failures, ()), outcome
    results = tuple([_result(evaluation, program, rounding) for evaluation in evaluations])
    values = tuple([NotationValue(each.total, each.successes, each.failures, ()) for each in results])
    successes, failures = sum([each.successes for each in results]), sum([each.failures for each in results])
    return NotationValue(None, successes, failures, values), NotationOutcome(
        "", None, successes, failures, results=results
    )


def draws(check: NotationCheck) -> int:
    """Return the most draws before any die is rolled again."""
    return program_of(check).bounds.draws


def text(check: NotationCheck, outcome: NotationOutcome) -> Text:
    """Return the roll as people write it: `4d6kh3: 5 4 3 (2) = 12`."""
    program = program_of(check)
    tree = program.tree
    head = f"{tree.canonical} # {tree.comment}" if tree.comment else tree.canonical
    if program.times is None:
        said = _said(program, outcome)
        thrown = show_dice(outcome.dice, program.order)
        line = f"{head}: {thrown} = {said}" if thrown else f"{head} = {said}"
        return Text(line, (*_steps(outcome.dice), f"comes to {said}"))
    parts, steps = [], []
    for number, each in enumerate(outcome.results, 1):
        said = _said(program, each)
        thrown = show_dice(each.dice)
        parts.append(f"{thrown} = {said}" if thrown else said)
        steps += [f"result {number}: {step}" for step in (*_steps(each.dice), f"comes to {said}")]
    return Text(f"{head}: {'; '.join(parts)}", tuple(steps))


def explain_tree(check: NotationCheck, draws: Sequence[Draw]) -> Explained:
    """Return the tree with a total and a span at each node, by rolling the check again from its draws.

    Raises:
        AnswerError: DRAWS_DIFFER, these are not the draws of this check.
    """
    return explain(check.text, check.dialect, _bound(check), draws)


def program_of(check: NotationCheck) -> Program:
    """Return the check made ready to roll; remembered, so that asking again costs a look-up.

    Raises:
        CheckError: the text or a variable is refused.
    """
    return prepare(check.text, check.dialect, _bound(check) if check.variables else {})


def _bound(check: NotationCheck) -> dict[str, int]:
    return {variable.name: variable.value for variable in check.variables}


def _recorded(
    evaluation: Evaluation, labels: tuple[str, ...], rounding: Rounding
) -> tuple[tuple[Die, ...], tuple[LabelTotal, ...]]:
    if not labels:
        return tuple(evaluation.records), ()  # type: ignore[arg-type]  # without labels every record is a die
    totals: dict[str, Exact] = dict.fromkeys(labels, 0)
    dice: list[Die] = []
    for record in evaluation.records:
        if isinstance(record, LabelRecord):
            totals[record.label] += record.total
        else:
            dice.append(record)
    return tuple(dice), tuple([LabelTotal(label, shown(of), ROUND[rounding](of)) for label, of in totals.items()])


def _result(evaluation: Evaluation, program: Program, rounding: Rounding) -> RepeatResult:
    total = evaluation.total
    successes, failures = evaluation.counts or (0, 0)
    return RepeatResult(
        shown(total), ROUND[rounding](total), successes, failures, *_recorded(evaluation, program.labels, rounding)
    )


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


def _steps(dice: tuple[Die, ...]) -> list[str]:
    if not dice:
        return ["nothing to roll"]
    values = ", ".join([str(die.value) for die in dice])
    return [f"{plural(len(dice), 'die', 'dice')}: {values}", *fate_steps(dice)]
