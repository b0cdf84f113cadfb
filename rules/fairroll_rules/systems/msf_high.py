"""MSF High: the highest of some dice or their sum, and every top face is rolled again and added ("MovesRPG/Rolling").

Followed, in the page's order: dice and the dt10, XdY, skill rolls, unskilled rolls, die types by statistic, X+dY,
top faces, a die type's modifier, a roll's modifier, nonskilled statistic rolls. The page has no section numbers, so
the words are quoted beside the steps. Out of scope: where skills and statistics come from (facets, races, clothing).
A target is ours: the page names none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, NamedTuple, TypeAlias

from fairroll_rules.decisions import Decisions
from fairroll_rules.dice import Dice, Draw, Purpose
from fairroll_rules.errors import CheckError
from fairroll_rules.fields import Range, require_fields
from fairroll_rules.limits import MAX_POOL, MAX_SIDES
from fairroll_rules.outcome import Die, Fate, Text
from fairroll_rules.quantities import YES_NO, Quantities

TITLE = "MSF High"
ENGINE = 1

UNSKILLED_DICE = 2
"""Skill of 0 or less: "they roll two dice and take the lowest"."""

PERCENTILE_SIDES = 10
"""The dt10 is labelled 00-90 and the d10 0-9; face 10 is the one labelled 0."""

MAX_NUMBER = 1_000
"""Ours: the size of a skill, a statistic or a modifier, either sign."""

MAX_TARGET = 1_000_000
"""Ours: the size of a target, either sign."""

Number: TypeAlias = Annotated[int, Range(-MAX_NUMBER, MAX_NUMBER)]
Target: TypeAlias = Annotated[int, Range(-MAX_TARGET, MAX_TARGET)]
Count: TypeAlias = Annotated[int, Range(1, MAX_POOL)]
Sides: TypeAlias = Annotated[int, Range(2, MAX_SIDES)]
"""A die of one side would explode without end."""


class Keep(Enum):
    """How the dice of a roll become one number."""

    HIGHEST = 1
    LOWEST = 2
    SUM = 3


@dataclass(frozen=True, slots=True)
class DieType:
    """A die type of the table: sides, and what is added to every die rolled."""

    sides: int
    modifier: int

    def __str__(self) -> str:
        return f"d{self.sides}{self.modifier:+d}" if self.modifier else f"d{self.sides}"


def die_of(statistic: int) -> DieType:
    """Return the die type that belongs to a statistic, from the page's table.

    Ruling: a statistic below 2, the table's first row, uses that row; the table has no smaller die.
    """
    if statistic <= 2:
        return DieType(4, -2)
    if statistic <= 12:
        return DieType(2 * ((statistic + 1) // 2), 0)
    return DieType(12, (statistic - 11) // 2)


@dataclass(frozen=True, slots=True)
class SkillRoll:
    """Skill and statistic: skill dice of the statistic's type, highest; `skill` is what is left after modifiers."""

    skill: Number
    statistic: Number
    modifier: Number = 0
    target: Target | None = None

    def __post_init__(self) -> None:
        require_fields(self)


@dataclass(frozen=True, slots=True)
class HighestRoll:
    """XdY: the highest of `count` dice, by sides and die modifier or by statistic."""

    count: Count = 1
    sides: Sides | None = None
    die_modifier: Number = 0
    statistic: Number | None = None
    modifier: Number = 0
    target: Target | None = None

    def __post_init__(self) -> None:
        require_fields(self)
        _require_one_die(self.sides, self.die_modifier, self.statistic)


@dataclass(frozen=True, slots=True)
class SumRoll:
    """X+dY: the sum of `count` dice, by sides and die modifier or by statistic."""

    count: Count = 1
    sides: Sides | None = None
    die_modifier: Number = 0
    statistic: Number | None = None
    modifier: Number = 0
    target: Target | None = None

    def __post_init__(self) -> None:
        require_fields(self)
        _require_one_die(self.sides, self.die_modifier, self.statistic)


@dataclass(frozen=True, slots=True)
class StatisticRoll:
    """Nonskilled statistic roll: one die of the statistic's type."""

    statistic: Number
    modifier: Number = 0
    target: Target | None = None

    def __post_init__(self) -> None:
        require_fields(self)


@dataclass(frozen=True, slots=True)
class PercentileRoll:
    """A dt10 and a d10 read as 1 to 100."""


@dataclass(frozen=True, slots=True)
class _DiceOutcome:
    """A roll as the table sees it; `totals` are the dice in the order rolled, each to its end, die modifiers in."""

    dice: tuple[Die, ...]
    keep: Keep
    sides: int
    die_modifier: int
    totals: tuple[int, ...]
    result: int
    success: bool | None


@dataclass(frozen=True, slots=True)
class SkillOutcome(_DiceOutcome):
    """The outcome of a skill roll; `unskilled` where the skill was 0 or less."""

    unskilled: bool


@dataclass(frozen=True, slots=True)
class HighestOutcome(_DiceOutcome):
    """The outcome of XdY."""


@dataclass(frozen=True, slots=True)
class SumOutcome(_DiceOutcome):
    """The outcome of X+dY."""


@dataclass(frozen=True, slots=True)
class StatisticOutcome(_DiceOutcome):
    """The outcome of a nonskilled statistic roll."""


@dataclass(frozen=True, slots=True)
class PercentileOutcome:
    """The outcome of a percentile roll: tens 0..90, units 0..9, and 0 read as 100."""

    dice: tuple[Die, ...]
    tens: int
    units: int
    result: int


class RollValue(NamedTuple):
    """What a roll comes to; `success` is 1 or 0, and -1 where the check has no target."""

    result: int
    success: int


Chain = tuple[Die, ...]
"""One die and what it exploded into; None where the door keeps no details."""

Check = SkillRoll | HighestRoll | SumRoll | StatisticRoll | PercentileRoll
Outcome = SkillOutcome | HighestOutcome | SumOutcome | StatisticOutcome | PercentileOutcome

CHECKS = (SkillRoll, HighestRoll, SumRoll, StatisticRoll, PercentileRoll)
OUTCOMES = (SkillOutcome, HighestOutcome, SumOutcome, StatisticOutcome, PercentileOutcome)


def draws(check: Check) -> int:
    """Return the most draws before any die explodes."""
    return 2 if isinstance(check, PercentileRoll) else _plan(check).number


def quantities(check: Check) -> Quantities:
    """Return the numbers of a value that mean something, and their names: without a target there is no success."""
    aimed = not isinstance(check, PercentileRoll) and check.target is not None
    return {"result": {}} | ({"success": YES_NO} if aimed else {})


def resolve(dice: Dice, decisions: Decisions, check: Check) -> tuple[RollValue, Outcome | None]:  # noqa: ARG001  nothing to decide in this game
    """Roll the dice of any roll of the game; the outcome is None where the door keeps no details (odds)."""
    if isinstance(check, PercentileRoll):
        return _percentile(dice)
    plan = _plan(check)
    kind = (plan.die.sides, plan.die.modifier)
    # Draw order: a die that explodes is rolled to its end before the next. The order of chains changes no odds, and
    # so a reader sees each die whole.
    total, chains = dice.parts(_die, [kind] * plan.number, merge=MERGES[plan.keep])
    # "When the roll itself is listed as + or - a number, you roll the dice as normal, and then add or subtract the
    # number to the final result." Ruling: there is no floor at 0; the page names none and d4-2 needs none.
    result = total + check.modifier
    success = None if check.target is None else result >= check.target
    value = RollValue(result, -1 if success is None else int(success))
    rolled = [chain for chain in chains if chain is not None]
    return value, _outcome(check, plan, rolled, result, success) if rolled else None


def text(check: Check, outcome: Outcome, _draws: Sequence[Draw]) -> Text:
    """Say the roll in one line, and die by die."""
    if isinstance(outcome, PercentileOutcome):
        read = f"{outcome.tens:02} and {outcome.units}"
        zero = "; a total of 0 is read as 100" if _is_zero(outcome) else ""
        steps = (f"Roll dt10 and d10: {read}", f"Total: {outcome.tens} + {outcome.units}{zero}: {outcome.result}")
        return Text(f"dt10 + d10 rolled {read}: {outcome.result}", steps)
    if isinstance(check, PercentileRoll):
        raise TypeError("the outcome is not that of a percentile roll")
    plan = _plan(check)
    faces = ", ".join(map(str, outcome.totals))
    name = _notation(plan, check.modifier)
    line = f"{name} rolled {faces}: {outcome.result}"
    if outcome.success is not None:
        line += f", {'reaches' if outcome.success else 'misses'} {check.target}"
    return Text(line, tuple(_steps(check, plan, outcome)))


class _Plan(NamedTuple):
    number: int
    die: DieType
    keep: Keep


def _plan(check: SkillRoll | HighestRoll | SumRoll | StatisticRoll) -> _Plan:
    """Return which dice a check rolls and which of them count."""
    match check:
        case SkillRoll(skill=skill) if skill <= 0:
            # "If your character has 0 or less [...] they roll two dice and take the lowest. This is called an
            # unskilled roll." Ruling: unskilled dice explode as well ("any number of dice"), then the lowest counts.
            return _Plan(UNSKILLED_DICE, die_of(check.statistic), Keep.LOWEST)
        case SkillRoll():
            # "X is the number of the skill rolled after any modifiers [...] take the highest".
            return _Plan(check.skill, die_of(check.statistic), Keep.HIGHEST)
        case StatisticRoll():
            # "roll a single die corresponding to that stat. This die can be re-rolled on its highest result".
            return _Plan(1, die_of(check.statistic), Keep.HIGHEST)
        case HighestRoll():
            return _Plan(check.count, _die_type(check), Keep.HIGHEST)
        case SumRoll():
            return _Plan(check.count, _die_type(check), Keep.SUM)


def _die_type(check: HighestRoll | SumRoll) -> DieType:
    if check.sides is not None:
        return DieType(check.sides, check.die_modifier)
    # The checks are refused with neither of the two.
    return die_of(check.statistic or 0)


def _die(dice: Dice, decisions: Decisions, sides: int, modifier: int) -> tuple[int, Chain | None]:  # noqa: ARG001  every part has the same head
    """Roll one die to its end.

    "When you roll any number of dice and any of them come up as the highest number that they can, you re-roll the
    dice that rolled that number and add the result." The natural face counts, before any modifier.
    Ruling: a die type's modifier is added on each roll of an exploding die ("to every dice rolled"; a sister page,
    Skills and Stats, says the same): d12+1 showing 12, then 3 is 13 + 4 = 17.
    """
    face = dice.roll(sides)
    chain = []
    total = face + modifier
    while face == sides:
        chain.append(Die(face.draw, face + modifier, (Fate.EXPLODED,)))
        face = dice.again(face, Purpose.EXPLODE)
        total += face + modifier
    chain.append(Die(face.draw, face + modifier, ()))
    return total, tuple(chain)


def _higher(left: int, right: int) -> int:
    return max(left, right)


def _lower(left: int, right: int) -> int:
    return min(left, right)


def _sum(left: int, right: int) -> int:
    return left + right


MERGES = {Keep.HIGHEST: _higher, Keep.LOWEST: _lower, Keep.SUM: _sum}
"""How the totals of two dice become one."""


def _percentile(dice: Dice) -> tuple[RollValue, PercentileOutcome]:
    """Roll percentile: "rolled in conjunction with a regular 10-sided die, and their results added".

    Ruling: percentile does not explode. Its dice are labels of one number, and 100 is its end.
    """
    tens_die, units_die = dice.roll(PERCENTILE_SIDES), dice.roll(PERCENTILE_SIDES)
    tens, units = 10 * (tens_die % 10), units_die % 10
    # "If the total comes up as 0, it is read as 100."
    result = tens + units or 100
    rolled = (Die(tens_die.draw, tens, (Fate.KEPT,)), Die(units_die.draw, units, (Fate.KEPT,)))
    return RollValue(result, -1), PercentileOutcome(rolled, tens, units, result)


def faces_of(check: Check, numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Return the faces that a person means: a percentile roll may be given as the one number that it reads, 1..100.

    Two numbers are the faces of the dt10 and the d10 as they are drawn, 1..10 each, where 10 is the one labelled 0.
    """
    if isinstance(check, PercentileRoll) and len(numbers) == 1 and 1 <= numbers[0] <= 10 * PERCENTILE_SIDES:
        tens, units = divmod(numbers[0] % 100, 10)
        return tens or PERCENTILE_SIDES, units or PERCENTILE_SIDES
    return numbers


def _is_zero(outcome: PercentileOutcome) -> bool:
    return outcome.tens + outcome.units == 0


def _outcome(
    check: SkillRoll | HighestRoll | SumRoll | StatisticRoll,
    plan: _Plan,
    chains: list[Chain],
    result: int,
    success: bool | None,  # noqa: FBT001  a value of the outcome, not a switch
) -> Outcome:
    totals = tuple(sum(die.value for die in chain) for chain in chains)
    kept = _kept(plan.keep, totals)
    fated = tuple(
        Die(die.draw, die.value, (*die.fates, Fate.KEPT if index in kept else Fate.DROPPED))
        for index, chain in enumerate(chains)
        for die in chain
    )
    common = (fated, plan.keep, plan.die.sides, plan.die.modifier, totals, result, success)
    match check:
        case SkillRoll():
            return SkillOutcome(*common, unskilled=plan.keep is Keep.LOWEST)
        case HighestRoll():
            return HighestOutcome(*common)
        case SumRoll():
            return SumOutcome(*common)
        case StatisticRoll():
            return StatisticOutcome(*common)


def _kept(keep: Keep, totals: tuple[int, ...]) -> range:
    """Return the indexes of the dice that count: all, or the first of the best."""
    if keep is Keep.SUM:
        return range(len(totals))
    best = totals.index(max(totals) if keep is Keep.HIGHEST else min(totals))
    return range(best, best + 1)


def _notation(plan: _Plan, modifier: int) -> str:
    """Return the roll as the page writes it: `4d12`, `2+d12+2`, with brackets where a die type is not a bare one."""
    die = f"({plan.die})" if plan.die.modifier else str(plan.die)
    flat = f"{modifier:+d}" if modifier else ""
    if plan.keep is Keep.SUM:
        return f"{plan.number}+{die}{flat}"
    return f"{plan.number}{die}{flat}{' lowest' if plan.keep is Keep.LOWEST else ''}"


def _steps(
    check: SkillRoll | HighestRoll | SumRoll | StatisticRoll,
    plan: _Plan,
    outcome: SkillOutcome | HighestOutcome | SumOutcome | StatisticOutcome,
) -> list[str]:
    steps = [_asked(check, plan)]
    rest = list(outcome.dice)
    for number, total in enumerate(outcome.totals, 1):
        chain = [rest.pop(0)]
        while Fate.EXPLODED in chain[-1].fates:
            chain.append(rest.pop(0))
        name = f"Die {number}" if len(outcome.totals) > 1 else "The die"
        steps.append(f"{name}: {_chain(chain, plan.die, total)}")
    total = outcome.result - check.modifier
    if len(outcome.totals) > 1:
        totals = list(map(str, outcome.totals))
        summed = f"Sum: {' + '.join(totals)} = {total}"
        steps.append(summed if plan.keep is Keep.SUM else f"{_KEEPS[plan.keep]} of {', '.join(totals)}: {total}")
    if check.modifier:
        sign = "-" if check.modifier < 0 else "+"
        steps.append(f"The roll's own modifier: {total} {sign} {abs(check.modifier)} = {outcome.result}")
    if outcome.success is not None:
        steps.append(f"Target {check.target} (not the page's): {'reached' if outcome.success else 'missed'}")
    return steps


_KEEPS = {Keep.HIGHEST: "Highest", Keep.LOWEST: "Lowest"}


def _asked(check: SkillRoll | HighestRoll | SumRoll | StatisticRoll, plan: _Plan) -> str:
    """Return what is rolled and why, such as `Skill 4 and stat 12, a d12: roll 4d12, take the highest`."""
    die = f"({plan.die})" if plan.die.modifier else str(plan.die)
    stat = "" if check.statistic is None else f"stat {check.statistic}, a {plan.die}"
    match check:
        case SkillRoll() if plan.keep is Keep.LOWEST:
            return f"Skill {check.skill} and {stat}: an unskilled roll, roll {plan.number}{die}, take the lowest"
        case SkillRoll():
            return f"Skill {check.skill} and {stat}: roll {plan.number}{die}, take the highest"
        case StatisticRoll():
            return f"Nonskilled stat roll, {stat}: roll a single {plan.die}"
        case _:
            what = f"{stat[:1].upper()}{stat[1:]}: roll" if stat else "Roll"
            if plan.keep is Keep.SUM:
                return f"{what} {plan.number}+{die}, add the dice"
            return f"{what} {plan.number}{die}, take the highest"


def _chain(chain: list[Die], die: DieType, total: int) -> str:
    """Return one die to its end: `4, the highest it can, re-rolled: 4, re-rolled: 1; 4 + 4 + 1 = 9`."""
    faces = [one.value - die.modifier for one in chain]
    rolled = ", re-rolled: ".join(map(str, faces))
    added = " + ".join(f"({face}{die.modifier:+d})" if die.modifier else str(face) for face in faces)
    return rolled if added == str(total) else f"{rolled}; {added} = {total}"


def _require_one_die(sides: int | None, die_modifier: int, statistic: int | None) -> None:
    if sides is None and statistic is None:
        raise CheckError("REQUIRED", "sides or statistic says which die is rolled", field="sides")
    if sides is not None and statistic is not None:
        raise CheckError("CONFLICT", "sides and statistic exclude each other", field="statistic")
    if statistic is not None and die_modifier:
        raise CheckError("CONFLICT", "the statistic's die type has its own modifier", field="die_modifier")
