"""Fortune and Doom: two twelve-sided dice, one Fortune, one Doom.

Followed, of the draft "Resolution Rolls": "Resolution Roll - Summary", "Detailed Resolution roll procedure" (the step
numbers below are its own) and "Attributes".
Out of scope: tables 1 and 2 (results, difficulty), which are empty in the draft: the caller gives the difficulty
modifier as a number and, if it wants an outcome, a success threshold or a table of bands. A helper's sub-roll
(step 5.1) is a resolution roll of its own; what it decided arrives here as help or as a hinder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Annotated, NamedTuple, TypeAlias

from fairroll_rules.decisions import Decisions, MostAsked, Option, Question, Who
from fairroll_rules.dice import Dice, Draw, Face, Purpose
from fairroll_rules.errors import CheckError, require_range
from fairroll_rules.fields import Entries, Name, Range, require_fields
from fairroll_rules.limits import MAX_ACTORS
from fairroll_rules.outcome import Die, Fate, Text
from fairroll_rules.quantities import Quantities, fields_of, words_of

TITLE = "Fortune and Doom"
ENGINE = 1

SIDES = 12
"""Step 10: "2d12, one darker than the other"."""

MAX_ATTRIBUTE = 5
"""Attributes: "range from -5 to +5"."""

MAX_HELP = 5
"""Step 5: +1 to +5, "the entire party's Help modifier maxes at 5, not each helping's player's"."""

MAX_HINDER = 5
"""Step 6: each NPC "may also help or hinder with up to +/-5"."""

HOPE = 4
"""Step 9: "+4 if Fortune>Doom, -4 otherwise"."""

MAX_DIFFICULTY = 100
"""Ours: table 2 is empty, so any number of a sensible size is taken, either sign."""

MAX_THRESHOLD = 1_000
"""Ours, as wide as any final result that the other ranges allow."""

Attribute: TypeAlias = Annotated[int, Range(-MAX_ATTRIBUTE, MAX_ATTRIBUTE)]
Difficulty: TypeAlias = Annotated[int, Range(-MAX_DIFFICULTY, MAX_DIFFICULTY)]
Help: TypeAlias = Annotated[int, Range(1, MAX_HELP)]
Hinder: TypeAlias = Annotated[int, Range(-MAX_HINDER, MAX_HINDER)]
Threshold: TypeAlias = Annotated[int, Range(-MAX_THRESHOLD, MAX_THRESHOLD)]
_MANY = Entries(0, MAX_ACTORS, "actors")


class TieChoice(Enum):
    """Step 10.1: which die Advantage rerolls on a tie, "the player chooses"."""

    DOOM = 1
    FORTUNE = 2
    ASK = 3


class FearEffect(Enum):
    """What Fear did in step 10.3."""

    REROLLED_FORTUNE = 1
    HALVED_DOOM = 2


class Result(Enum):
    """Step 11, as far as the caller gave a threshold or bands; without one the Fool says what the number means."""

    SUCCESS = 1
    FAILURE = 2
    UNDETERMINED = 3


@dataclass(frozen=True, slots=True)
class Band:
    """One row of the caller's results table: final results from `at_least` up to the next row's."""

    at_least: Threshold
    name: Name
    success: bool = False

    def __post_init__(self) -> None:
        require_fields(self)


@dataclass(frozen=True, slots=True)
class ResolutionRoll:
    """A resolution roll: the modifiers of steps 3 to 7 and what is declared before the dice fall."""

    attribute: Attribute = 0
    difficulty: Difficulty = 0
    help: Annotated[tuple[Help, ...], _MANY] = ()
    hinder: Annotated[tuple[Hinder, ...], _MANY] = ()
    advantage: bool = False
    push: bool = False
    condition: bool = False
    fear: bool = False
    hope: bool = False
    tie: TieChoice = TieChoice.DOOM
    success_threshold: Threshold | None = None
    bands: Annotated[tuple[Band, ...], _MANY] = ()

    def __post_init__(self) -> None:
        require_fields(self)
        if self.success_threshold is not None and self.bands:
            raise CheckError("CONFLICT", "success_threshold and bands exclude each other", field="bands")
        _require_rising(self.bands)


@dataclass(frozen=True, slots=True)
class ResolutionOutcome:
    """A resolution roll as the table sees it; `fortune_draws` and `doom_draws` say which draws were which die."""

    dice: tuple[Die, ...]
    fortune_draws: tuple[int, ...]
    doom_draws: tuple[int, ...]
    fortune: int
    doom_face: int
    doom: int
    help_total: int
    hinder_total: int
    resolution_modifier: int
    advantage: bool
    harm: int
    condition_rerolled: bool
    fear: FearEffect | None
    hope: int
    final_result: int
    result: Result
    band: int | None


class ResolutionValue(NamedTuple):
    """What a resolution roll comes to.

    `result` and `fear` are the numbers of a Result and a FearEffect (0 without Fear), `band` is the index of a band,
    -1 below the lowest and where there is none.
    """

    fortune: int
    doom: int
    hope: int
    final_result: int
    result: int
    doom_face: int
    fear: int
    band: int


CHECKS = (ResolutionRoll,)
OUTCOMES = (ResolutionOutcome,)


def draws(check: ResolutionRoll) -> int:  # noqa: ARG001  the same two dice whatever the check says
    """Return the most draws before any reroll: Fortune and Doom."""
    return 2


def most_asked(check: ResolutionRoll) -> MostAsked:
    """Return what the decisions come to at most: the tie; Advantage, a condition and Fear reroll a die each."""
    return MostAsked(((_TIE_OPTIONS if check.tie is TieChoice.ASK else (),),), 3)


def quantities(check: ResolutionRoll) -> Quantities:
    """Return the numbers of a value that mean something, and their names: what was not declared has no effect."""
    declared = {"hope": check.hope, "doom_face": check.fear, "fear": check.fear, "band": bool(check.bands)}
    bands = {-1: "below the table"} | {index: band.name for index, band in enumerate(check.bands)}
    named = fields_of(ResolutionValue) | {"result": words_of(Result), "fear": words_of(FearEffect), "band": bands}
    return {name: words for name, words in named.items() if declared.get(name, True)}


def help_total(check: ResolutionRoll) -> int:
    """Return the party's Help modifier: the sum, at most 5 (step 5)."""
    return min(sum(check.help), MAX_HELP)


def resolution_modifier(check: ResolutionRoll) -> int:
    """Return the sum of attribute, difficulty, help and hinder (step 7)."""
    return check.attribute + check.difficulty + help_total(check) + sum(check.hinder)


def resolve(
    dice: Dice,
    decisions: Decisions,  # noqa: ARG001  its parts ask
    check: ResolutionRoll,
) -> tuple[ResolutionValue, ResolutionOutcome | None]:
    """Roll Fortune and Doom and apply step 10; the outcome is None where the door keeps no details (odds)."""
    # Steps 10.1 to 10.3, the last of them first: each part calls the one before it.
    stand, rerolled = dice.part(_fear, check)

    # Step 10.4. Ruling: Hope compares the halved Doom, since each step takes the dice as the step before left them.
    fortune, doom = int(stand.fortune), _doom(stand)
    hope = 0
    if check.hope:
        hope = HOPE if fortune > doom else -HOPE

    # Steps 10.5 and 11.
    final_result = fortune + doom + resolution_modifier(check) + hope
    result, band = _result(check, final_result)
    fear = 0
    if check.fear:
        fear = (FearEffect.HALVED_DOOM if stand.halved else FearEffect.REROLLED_FORTUNE).value
    known = -1 if band is None else band
    value = ResolutionValue(fortune, doom, hope, final_result, result.value, int(stand.doom), fear, known)
    return value, None if rerolled is None else _outcome(check, rerolled, stand, value)


class _Stand(NamedTuple):
    """The dice as a step leaves them."""

    fortune: Face
    doom: Face
    halved: bool = False


class _Rerolled(NamedTuple):
    """The faces that were rerolled so far, and whether the Condition did it."""

    fortune: tuple[Face, ...] = ()
    doom: tuple[Face, ...] = ()
    condition: bool = False


# Each step is a part that takes the dice from the step before: so the odds need 144 states a step, not every path.


def _advantage(dice: Dice, decisions: Decisions, check: ResolutionRoll) -> tuple[_Stand, _Rerolled | None]:
    """Roll Fortune, then Doom; steps 8 and 10.1: reroll the lower die.

    "There is no benefit for multiple Advantages": a push beside another source of it gains nothing, and costs nothing.

    Ruling: a reroll stands even if it is lower, once each: "reroll the lower die", and no word of keeping the better.
    """
    stand = _Stand(dice.roll(SIDES), dice.roll(SIDES))
    if not (check.advantage or check.push):
        return stand, _Rerolled()
    if stand.fortune != stand.doom:
        fortune_goes = stand.fortune < stand.doom
    else:
        fortune_goes = _tie(decisions, check, int(stand.fortune)) is TieChoice.FORTUNE
    return _reroll_fortune(dice, stand, None) if fortune_goes else _reroll_doom(dice, stand, None)


def _tie(decisions: Decisions, check: ResolutionRoll, face: int) -> TieChoice:
    preset = None if check.tie is TieChoice.ASK else check.tie.name
    (chosen,) = decisions.ask(
        Question("TIE", Who.PLAYER, _TIE_OPTIONS, preset, check.tie.name),
        about=lambda: f"Fortune {face}, Doom {face}, Resolution Modifier {resolution_modifier(check):+d}",
    )
    return TieChoice[chosen]


_TIE_OPTIONS = (
    Option(TieChoice.DOOM.name, "Reroll the Doom die."),
    Option(TieChoice.FORTUNE.name, "Reroll the Fortune die."),
)


def _condition(
    dice: Dice,
    decisions: Decisions,  # noqa: ARG001  every part has the same head
    check: ResolutionRoll,
) -> tuple[_Stand, _Rerolled | None]:
    """Step 10.2: where Doom is higher, reroll Doom.

    Ruling: "higher" is strict, here and below, as the summary's signs (Doom>Fortune) have it.
    """
    stand, rerolled = dice.part(_advantage, check)
    if not (check.condition and stand.doom > stand.fortune):
        return stand, rerolled
    stand, rerolled = _reroll_doom(dice, stand, rerolled)
    return stand, rerolled._replace(condition=True)


def _fear(
    dice: Dice,
    decisions: Decisions,  # noqa: ARG001  every part has the same head
    check: ResolutionRoll,
) -> tuple[_Stand, _Rerolled | None]:
    """Step 10.3: where Doom is higher, reroll Fortune; otherwise halve Doom."""
    stand, rerolled = dice.part(_condition, check)
    if not check.fear:
        return stand, rerolled
    if stand.doom > stand.fortune:
        return _reroll_fortune(dice, stand, rerolled)
    return stand._replace(halved=True), rerolled


def _doom(stand: _Stand) -> int:
    """Return Doom as it counts: halving rounds up, as the summary says."""
    return (stand.doom + 1) // 2 if stand.halved else int(stand.doom)


def _reroll_fortune(dice: Dice, stand: _Stand, rerolled: _Rerolled | None) -> tuple[_Stand, _Rerolled]:
    before = rerolled or _Rerolled()
    face = dice.again(stand.fortune, Purpose.REROLL)
    return stand._replace(fortune=face), before._replace(fortune=(*before.fortune, stand.fortune))


def _reroll_doom(dice: Dice, stand: _Stand, rerolled: _Rerolled | None) -> tuple[_Stand, _Rerolled]:
    before = rerolled or _Rerolled()
    face = dice.again(stand.doom, Purpose.REROLL)
    return stand._replace(doom=face), before._replace(doom=(*before.doom, stand.doom))


def _outcome(check: ResolutionRoll, rerolled: _Rerolled, stand: _Stand, value: ResolutionValue) -> ResolutionOutcome:
    gone = [Die(face.draw, int(face), (Fate.REROLLED,)) for face in (*rerolled.fortune, *rerolled.doom)]
    kept = [
        Die(stand.fortune.draw, value.fortune, (Fate.KEPT,)),
        Die(stand.doom.draw, value.doom, (Fate.KEPT,)),
    ]
    return ResolutionOutcome(
        dice=tuple(sorted((*gone, *kept), key=lambda die: die.draw)),
        fortune_draws=tuple(face.draw for face in (*rerolled.fortune, stand.fortune)),
        doom_draws=tuple(face.draw for face in (*rerolled.doom, stand.doom)),
        fortune=value.fortune,
        doom_face=value.doom_face,
        doom=value.doom,
        help_total=help_total(check),
        hinder_total=sum(check.hinder),
        resolution_modifier=resolution_modifier(check),
        advantage=check.advantage or check.push,
        harm=int(check.push and not check.advantage),
        condition_rerolled=rerolled.condition,
        fear=FearEffect(value.fear) if value.fear else None,
        hope=value.hope,
        final_result=value.final_result,
        result=Result(value.result),
        band=None if value.band < 0 else value.band,
    )


def text(check: ResolutionRoll, outcome: ResolutionOutcome, draws: Sequence[Draw]) -> Text:
    """Say the roll in one line, and step by step in the order of the summary."""
    total = outcome.resolution_modifier + outcome.hope
    line = f"Fortune {outcome.fortune} + Doom {outcome.doom} {total:+d} = {outcome.final_result}"
    if outcome.band is not None:
        line += f", {check.bands[outcome.band].name}"
    if outcome.result is not Result.UNDETERMINED:
        line += f", {outcome.result.name.capitalize()}"
    steps = [*_declared(check, outcome), *_dice_steps(check, outcome, draws), *_final_steps(check, outcome)]
    return Text(line, tuple(steps))


def _declared(check: ResolutionRoll, outcome: ResolutionOutcome) -> list[str]:
    """Steps 3 to 9: what is known before the dice fall."""
    helped = f"{outcome.help_total:+d}"
    if sum(check.help) > MAX_HELP:
        helped += f" (of {sum(check.help)}, the party's Help maxes at {MAX_HELP})"
    sources = f"Attribute {check.attribute:+d}, Difficulty {check.difficulty:+d}, Help {helped}"
    sources += f", Hinder {outcome.hinder_total:+d}"
    steps = [f"{sources}: Resolution Modifier {outcome.resolution_modifier:+d}"]
    if check.push:
        harm = "suffer 1 Harm to gain Advantage"
        steps.append(f"Push: {harm if outcome.harm else 'Advantage is there already, no Harm is due'}")
    return steps


def _dice_steps(check: ResolutionRoll, outcome: ResolutionOutcome, draws: Sequence[Draw]) -> list[str]:
    """Steps 10 and 10.1 to 10.4, each on the dice as the step before left them."""
    names = dict.fromkeys(outcome.fortune_draws, "Fortune") | dict.fromkeys(outcome.doom_draws, "Doom")
    fortune, doom = draws[outcome.fortune_draws[0]].face, draws[outcome.doom_draws[0]].face
    stand = {"Fortune": fortune, "Doom": doom}
    steps = [f"Roll the dice: Fortune {fortune}, Doom {doom}"]
    rerolls = iter(sorted((draw, name) for draw, name in names.items() if draws[draw].of is not None))

    def reroll() -> str:
        draw, name = next(rerolls)
        before, stand[name] = stand[name], draws[draw].face
        return f"reroll {name}, {before} into {stand[name]}"

    if outcome.advantage:
        tie = f"a tie at {fortune}, the player chooses to" if fortune == doom else "the lower die:"
        steps.append(f"Advantage: {tie} {reroll()}")
    if check.condition:
        steps.append(f"Condition: {_compared(stand)}{': ' + reroll() if outcome.condition_rerolled else ''}")
    if outcome.fear is FearEffect.REROLLED_FORTUNE:
        steps.append(f"Fear: {_compared(stand)}: {reroll()}")
    elif outcome.fear is FearEffect.HALVED_DOOM:
        steps.append(f"Fear: {_compared(stand)}: halve Doom, {outcome.doom_face} to {outcome.doom}")
    if outcome.hope:
        higher = "is" if outcome.hope > 0 else "is not"
        compared = f"Fortune {outcome.fortune} {higher} higher than Doom {outcome.doom}"
        steps.append(f"Hope: {compared}: {outcome.hope:+d} to the Resolution Modifier")
    return steps


def _compared(stand: Mapping[str, int]) -> str:
    higher = "is" if stand["Doom"] > stand["Fortune"] else "is not"
    return f"Doom {stand['Doom']} {higher} higher than Fortune {stand['Fortune']}"


def _final_steps(check: ResolutionRoll, outcome: ResolutionOutcome) -> list[str]:
    """Steps 10.5 and 11."""
    modifier = outcome.resolution_modifier + outcome.hope
    signed = f"{'-' if modifier < 0 else '+'} {abs(modifier)}"
    steps = [f"Final Result: Fortune {outcome.fortune} + Doom {outcome.doom} {signed} = {outcome.final_result}"]
    result = outcome.result.name.capitalize()
    if check.success_threshold is not None:
        side = "reaches" if outcome.result is Result.SUCCESS else "is below"
        steps.append(f"{outcome.final_result} {side} {check.success_threshold}: {result}")
    elif outcome.band is not None:
        band = check.bands[outcome.band]
        steps.append(f"Result table, from {band.at_least}: {band.name}, {result}")
    else:
        steps.append(f"{'Below the table' if check.bands else 'No table'}: the Fool says what it means")
    return steps


def _result(check: ResolutionRoll, final_result: int) -> tuple[Result, int | None]:
    """Judge the final result; below the lowest band it stays undetermined, as without a table."""
    if check.success_threshold is not None:
        return (Result.SUCCESS if final_result >= check.success_threshold else Result.FAILURE), None
    reached = [index for index, band in enumerate(check.bands) if final_result >= band.at_least]
    if not reached:
        return Result.UNDETERMINED, None
    return (Result.SUCCESS if check.bands[reached[-1]].success else Result.FAILURE), reached[-1]


def _require_rising(bands: tuple[Band, ...]) -> None:
    for index, (lower, higher) in enumerate(pairwise(bands), 1):
        require_range(f"bands[{index}].at_least", higher.at_least, lower.at_least + 1, MAX_THRESHOLD)
