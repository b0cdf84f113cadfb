"""Crossroads MVP, page "Dice System": skill rolls, opposing rolls, the Peril Die and group rolls.

A comment such as "Dice Multiples" names the section of that page. In scope: Modifiers, Skill Rolls, Opposing Roll,
Peril Die (an optional rule, asked for in the check), Results, Critical Hit, Success Value Amount, Group Roll, Dice
Multiples, Triples, Advantage/Disadvantage and Damage. Out of scope: Fate Dice beyond the Temporary one that a triple
earns (and rerolls bought with them), Paths, and the step of the damage itself: see `DamageStep`.

Order of draws: the Peril Die if there is one, the other dice of a roll, its Change; an opponent after the roller,
members of a group in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple, TypeAlias

from fairroll_rules.decisions import MostAsked, Option, Question, Who
from fairroll_rules.dice import Purpose
from fairroll_rules.fields import Name, Range, SomeActors, require_different_names, require_fields
from fairroll_rules.outcome import Die, Fate, Text
from fairroll_rules.quantities import fields_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairroll_rules.decisions import About, Decisions
    from fairroll_rules.dice import Dice, Draw, Face
    from fairroll_rules.quantities import Quantities

TITLE: Final = "Crossroads MVP"
ENGINE: Final = 1

SIDES: Final = 6
BASE_DICE: Final = 3
"""Dice: "This game uses a 3d6 system"."""
MODIFIER_LIMIT: Final = 3
"""Modifier Limit: "may never exceed 3 on a single roll"."""
MISS: Final = -1
WEAK_HIT: Final = 0
HIT: Final = 1
STRONG_HIT: Final = 2
FAILURE: Final = -1
GREAT_SUCCESS: Final = 2
AUTOMATIC_HIT_STATISTIC: Final = 4
"""Peril Die: the starred column, "*Automatic Success"."""
MAX_MODIFIER: Final = 99
"""Ours: far above what a table hands out; the game caps the net at 3."""
MAX_STATISTIC: Final = 99
"""Ours: statistics go from -3 to 3, monsters beyond."""

Statistic: TypeAlias = Annotated[int, Range(-MAX_STATISTIC, MAX_STATISTIC)]
Modifier: TypeAlias = Annotated[int, Range(0, MAX_MODIFIER)]
SuccessValue: TypeAlias = Annotated[int, Range(MISS, STRONG_HIT)]


# --- What is asked ---------------------------------------------------------------------------------------------------


class RemovalPolicy(Enum):
    """Which dice Advantage or Disadvantage removes; unset is LOWEST for Advantage and HIGHEST for Disadvantage."""

    LOWEST = 1
    HIGHEST = 2
    ASK = 3


class ChangePolicy(Enum):
    """Whether a Change is used, and on which of the three dice."""

    NEVER = 1
    LOWEST = 2
    ASK = 3


class ZeroResultPolicy(Enum):
    """What a Result of [0] is called; UNDECIDED leaves both names on offer."""

    UNDECIDED = 1
    PARTIAL_SUCCESS = 2
    COMPENSATING_FAILURE = 3
    ASK = 4


class GreatSuccessPolicy(Enum):
    """Whether a Great Success without a 6 keeps its benefit or is taken as a Critical Hit instead."""

    BENEFIT = 1
    CRITICAL = 2
    ASK = 3


class GroupMode(Enum):
    """How a group rolls: the best statistic once for all, or everyone."""

    SIMPLE = 1
    ALL_TOGETHER = 2


@dataclass(frozen=True, slots=True)
class OpposingValue:
    """A Success Value that opposes the roll, -1..2: a static score, or one from another receipt."""

    success_value: SuccessValue = 0

    def __post_init__(self) -> None:
        require_fields(self)


@dataclass(frozen=True, slots=True)
class OpposingRoll:
    """An Opposing Roll: the opponent rolls a full skill roll of their own."""

    name: Name
    statistic: Statistic = 0
    advantage: Modifier = 0
    disadvantage: Modifier = 0
    removal: RemovalPolicy | None = None
    change: ChangePolicy = ChangePolicy.NEVER

    def __post_init__(self) -> None:
        require_fields(self)


@dataclass(frozen=True, slots=True)
class PerilDie:
    """The Peril Die: one of the roller's own three dice gives the opponent's Success Value."""

    statistic: Statistic = 0
    advantage: Modifier = 0
    disadvantage: Modifier = 0

    def __post_init__(self) -> None:
        require_fields(self)


@dataclass(frozen=True, slots=True)
class SkillRoll:
    """A Skill Roll of the check's actor, with or without opposition."""

    statistic: Statistic = 0
    advantage: Modifier = 0
    disadvantage: Modifier = 0
    opposition: OpposingValue | OpposingRoll | PerilDie | None = None
    removal: RemovalPolicy | None = None
    change: ChangePolicy = ChangePolicy.NEVER
    zero_result: ZeroResultPolicy = ZeroResultPolicy.UNDECIDED
    great_success: GreatSuccessPolicy = GreatSuccessPolicy.BENEFIT

    def __post_init__(self) -> None:
        require_fields(self)


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a group."""

    name: Name
    statistic: Statistic = 0
    advantage: Modifier = 0
    disadvantage: Modifier = 0
    removal: RemovalPolicy | None = None
    change: ChangePolicy = ChangePolicy.NEVER

    def __post_init__(self) -> None:
        require_fields(self)


@dataclass(frozen=True, slots=True)
class GroupRoll:
    """A Group Roll. The page opposes none; a simple group roll against someone is a `SkillRoll` of its best member."""

    mode: GroupMode
    members: Annotated[tuple[Member, ...], SomeActors]
    zero_result: ZeroResultPolicy = ZeroResultPolicy.UNDECIDED
    great_success: GreatSuccessPolicy = GreatSuccessPolicy.BENEFIT

    def __post_init__(self) -> None:
        require_fields(self)
        require_different_names("members", [member.name for member in self.members])


@dataclass(frozen=True, slots=True)
class DamageStep:
    """Advantage and Disadvantage on static damage: no dice.

    **Ruling:** the seed's damage symbols are lost in every copy, so the net level is the answer and the step itself is
    left to the caller.
    """

    advantage: Modifier = 0
    disadvantage: Modifier = 0

    def __post_init__(self) -> None:
        require_fields(self)


CHECKS = (SkillRoll, GroupRoll, DamageStep)

_Roller: TypeAlias = SkillRoll | OpposingRoll | Member


# --- What it resolves to ---------------------------------------------------------------------------------------------


class Multiple(Enum):
    """Dice Multiples: the names of a double or triple."""

    MISSTEP = 1
    CHANGE = 2
    FATEFUL = 3


class ResultName(Enum):
    """Results: the name of a Result; ZERO_UNDECIDED is [0] with both its names on offer."""

    FAILURE = 1
    ZERO_UNDECIDED = 2
    PARTIAL_SUCCESS = 3
    COMPENSATING_FAILURE = 4
    SUCCESS = 5
    GREAT_SUCCESS = 6


@dataclass(frozen=True, slots=True)
class Throw:
    """The dice of one actor, from the table to the Success Value.

    `net` is positive for Advantage. `multiple` is read before a Change, `multiple_after` on the new faces (a second
    Change is none). `chart_value` is the chart's Success Value, before Misstep and Fateful.
    """

    net: int
    dice: tuple[Die, ...]
    peril_draw: int | None
    multiple: Multiple | None
    multiple_after: Multiple | None
    temporary_fate_dice: int
    sum: int
    total: int
    chart_value: int
    success_value: int


@dataclass(frozen=True, slots=True)
class Peril:
    """The Peril Die as read: the highest faces that mean Hit and Strong Hit, 0 for none."""

    face: int
    hit_at_or_below: int
    strong_hit_at_or_below: int


@dataclass(frozen=True, slots=True)
class SkillOutcome:
    """What a skill roll resolved to; `difference` is the Result before it is held to -1..2."""

    throw: Throw
    opposing_throw: Throw | None
    peril: Peril | None
    opposing_success_value: int | None
    difference: int
    result: int
    result_name: ResultName
    critical: bool
    success_value_amount: int | None


@dataclass(frozen=True, slots=True)
class GroupOutcome:
    """What a group roll resolved to: a throw per member in turn, or that of the one member `roller` for all.

    `remaining` are the Success Values left after Hits cancelled Misses, lowest first.
    """

    roller: int | None
    throws: tuple[Throw, ...]
    remaining: tuple[int, ...]
    result: int
    result_name: ResultName
    critical: bool
    success_value_amount: int | None


@dataclass(frozen=True, slots=True)
class DamageOutcome:
    """The net level: 1..3 for Advantage, -1..-3 for Disadvantage, 0 for neither."""

    net: int


OUTCOMES = (SkillOutcome, GroupOutcome, DamageOutcome)


class Terms(NamedTuple):
    """All that one actor's dice depend on: the net level, the statistic, policies, and if a die is the Peril Die.

    Of one that is `opposing` the Success Value is used and nothing else.
    """

    net: int
    statistic: int
    removal: RemovalPolicy
    change: ChangePolicy
    with_peril: bool
    opposing: bool = False


class ThrowValue(NamedTuple):
    """What the rest of a roll may use of one actor's dice; `peril` is the Peril Die's face, 0 without one."""

    success_value: int
    six: bool = False
    temporary_fate_dice: int = 0
    peril: int = 0
    total: int = 0


class SkillValue(NamedTuple):
    """The numbers of a skill roll; `opposing_success_value` is 0 where there is none."""

    result: int
    difference: int
    success_value: int
    opposing_success_value: int
    critical: bool
    total: int
    temporary_fate_dice: int


class GroupValue(NamedTuple):
    """The numbers of a group roll."""

    result: int
    critical: bool


class DamageValue(NamedTuple):
    """The number of a damage step."""

    net: int


class Counts(NamedTuple):
    """How many of a group have each Success Value."""

    misses: int
    weak_hits: int
    hits: int
    strong_hits: int


# --- The rules -------------------------------------------------------------------------------------------------------


def resolve(
    dice: Dice, decisions: Decisions, check: SkillRoll | GroupRoll | DamageStep
) -> tuple[SkillValue | GroupValue | DamageValue, SkillOutcome | GroupOutcome | DamageOutcome]:
    """Resolve a check of this game."""
    if isinstance(check, SkillRoll):
        return _skill_roll(dice, decisions, check)
    if isinstance(check, DamageStep):
        net = net_level(check.advantage, check.disadvantage)
        return DamageValue(net), DamageOutcome(net)
    if check.mode is GroupMode.SIMPLE:
        return _simple_group_roll(dice, decisions, check)
    return _all_together(dice, decisions, check)


def draws(check: SkillRoll | GroupRoll | DamageStep) -> int:
    """Return how many dice the check rolls before any Change."""
    if isinstance(check, DamageStep):
        return 0
    return sum(map(_dice_count, _rollers(check)))


def most_asked(check: SkillRoll | GroupRoll | DamageStep) -> MostAsked:
    """Return what the decisions come to at most: all remove dice together, all Change, then one names the Result."""
    if isinstance(check, DamageStep):
        return MostAsked((), 0)
    with_peril = isinstance(check, SkillRoll) and isinstance(check.opposition, PerilDie)
    first: list[tuple[Option, ...]] = []
    second: list[tuple[Option, ...]] = []
    rollers = _rollers(check)
    for roller in rollers:
        # Whoever is asked to remove dice comes to a Change only after the answer.
        change = first
        if net := net_level(roller.advantage, roller.disadvantage):
            asked = roller.removal is RemovalPolicy.ASK
            first.append(_most_removals(net, with_peril) if asked else ())
            change = second if asked else first
        asked = roller.change is ChangePolicy.ASK
        change.append(_change_question(_MOST_CHANGES, with_peril, roller.change)[0].options if asked else ())
    # A Result has one of the two questions, if any: that of 0 has more options.
    last: tuple[Option, ...] = ()
    if check.zero_result is ZeroResultPolicy.ASK:
        last = _ZERO_OPTIONS
    elif check.great_success is GreatSuccessPolicy.ASK:
        last = _GREAT_SUCCESS_OPTIONS
    return MostAsked((tuple(first), tuple(second), (last,)), len(rollers))


def _rollers(check: SkillRoll | GroupRoll) -> Sequence[_Roller]:
    """Return everyone who rolls dice of their own, in turn."""
    if isinstance(check, GroupRoll):
        return check.members if check.mode is GroupMode.ALL_TOGETHER else (check.members[best_member(check)],)
    return (check, check.opposition) if isinstance(check.opposition, OpposingRoll) else (check,)


def quantities(check: SkillRoll | GroupRoll | DamageStep) -> Quantities:
    """Return the numbers of a value that mean something, and their names: without opposition nothing opposes."""
    if isinstance(check, DamageStep):
        return fields_of(DamageValue)
    zero = _ZERO_NAMES.get(check.zero_result.name, ResultName.ZERO_UNDECIDED)
    results = {0: zero.name} | {result: name.name for result, name in _NAMES.items()}
    if isinstance(check, GroupRoll):
        return fields_of(GroupValue) | {"result": dict(sorted(results.items()))}
    named = fields_of(SkillValue) | {"result": dict(sorted(results.items()))}
    named |= dict.fromkeys(("success_value", "opposing_success_value"), _SUCCESS_VALUE_NAMES)
    if check.opposition is None:
        del named["opposing_success_value"]
    return named


def not_borne_out(
    check: SkillRoll | GroupRoll | DamageStep, cited: Sequence[SkillOutcome | GroupOutcome | DamageOutcome]
) -> str:
    """Return the field that none of the cited outcomes bears out, or "".

    An `OpposingValue` beside cited rolls is the Success Value of one of them, or the result of a group.
    """
    if not isinstance(check, SkillRoll) or not isinstance(check.opposition, OpposingValue):
        return ""
    said = {each.throw.success_value for each in cited if isinstance(each, SkillOutcome)}
    said |= {each.result for each in cited if isinstance(each, GroupOutcome)}
    return "" if check.opposition.success_value in said else "opposing_value.success_value"


def _skill_roll(dice: Dice, decisions: Decisions, check: SkillRoll) -> tuple[SkillValue, SkillOutcome]:
    """Skill Rolls, Result, Opposing Roll, Peril Die."""
    opposition = check.opposition
    opposing_throw, peril, opposing_value = None, None, None
    if isinstance(opposition, OpposingRoll):
        (own, opposing), (throw, opposing_throw) = dice.parts(
            _throw, [(_terms(check),), (_terms(opposition, opposing=True),)], ("", opposition.name)
        )
        # Ruling: Misstep and Fateful apply to the opposing roll's Success Value as well; it is a skill roll like any.
        opposing_value = opposing.success_value
    else:
        own, throw = dice.part(_throw, _terms(check, with_peril=isinstance(opposition, PerilDie)))
        if isinstance(opposition, PerilDie):
            peril = Peril(own.peril, *peril_thresholds(opposition))
            opposing_value = peril_success_value(peril)
        elif opposition is not None:
            opposing_value = opposition.success_value

    # Result: "If there is no opposing roll, then the Result is equal to your Success Value."
    difference = own.success_value - (opposing_value or 0)
    result = clamp_result(difference)

    def outcome(critical: bool, name: ResultName) -> SkillOutcome:  # noqa: FBT001  private
        return SkillOutcome(
            throw, opposing_throw, peril, opposing_value, difference, result, name, critical, amount(result, critical)
        )

    critical, name = _conclude(decisions, result, own.six, check, lambda: _skill_text(check, outcome(*_open(result))))
    value = SkillValue(
        result, difference, own.success_value, opposing_value or 0, critical, own.total, own.temporary_fate_dice
    )
    return value, outcome(critical, name)


def _simple_group_roll(dice: Dice, decisions: Decisions, check: GroupRoll) -> tuple[GroupValue, GroupOutcome]:
    """Group Roll: "it's best to let only one person roll", "it's best to just use the highest Statistic"."""
    roller = best_member(check)
    member = check.members[roller]
    own, throw = dice.part(_throw, _terms(member), actor=member.name)
    result = own.success_value

    def outcome(critical: bool, name: ResultName) -> GroupOutcome:  # noqa: FBT001  private
        return GroupOutcome(roller, (throw,), (result,), result, name, critical, amount(result, critical))

    critical, name = _conclude(decisions, result, own.six, check, lambda: _group_text(check, outcome(*_open(result))))
    return GroupValue(result, critical), outcome(critical, name)


def _all_together(dice: Dice, decisions: Decisions, check: GroupRoll) -> tuple[GroupValue, GroupOutcome]:
    """Group Roll: "an Action may be need to be performed by the entire Group"."""
    counts, throws = dice.parts(
        _member_throw,
        [(_terms(member),) for member in check.members],
        [member.name for member in check.members],
        merge=add_counts,
    )
    left = cancel(counts)
    result = most_common(left)
    # No six is read here: no single member's dice are the group's. A Great Success may still be taken as a Critical.

    def outcome(critical: bool, name: ResultName) -> GroupOutcome:  # noqa: FBT001  private
        return GroupOutcome(None, throws, spread(left), result, name, critical, amount(result, critical))

    critical, name = _conclude(decisions, result, False, check, lambda: _group_text(check, outcome(*_open(result))))
    return GroupValue(result, critical), outcome(critical, name)


def best_member(check: GroupRoll) -> int:
    """Return the index of the member with the highest statistic, the first of equals."""
    return max(range(len(check.members)), key=lambda index: (check.members[index].statistic, -index))


# One actor's dice.


def _terms(roller: _Roller, *, with_peril: bool = False, opposing: bool = False) -> Terms:
    net = net_level(roller.advantage, roller.disadvantage)
    removal = roller.removal or (RemovalPolicy.LOWEST if net > 0 else RemovalPolicy.HIGHEST)
    return Terms(net, roller.statistic, removal, roller.change, with_peril, opposing)


def _member_throw(dice: Dice, decisions: Decisions, terms: Terms) -> tuple[Counts, Throw]:
    value, throw = _throw(dice, decisions, terms)
    return _ONE_OF[value.success_value - MISS], throw


def _throw(dice: Dice, decisions: Decisions, terms: Terms) -> tuple[ThrowValue, Throw]:
    net, statistic, removal, change, with_peril, opposing = terms
    # Dice: "Roll number more dice". The Peril Die must be told from the others: rolled on its own, at position 0.
    count = BASE_DICE + abs(net)
    faces = (dice.roll(SIDES), *dice.pool(count - 1, SIDES)) if with_peril else dice.pool(count, SIDES)

    # Modifiers: "the choice is made before dice are re-rolled".
    dropped = _removed(decisions, faces, net, removal, with_peril)
    kept = [position for position in range(count) if position not in dropped]
    standing = [faces[position] for position in kept] if dropped else list(faces)

    # Dice Multiples: "After Advantage/Disadvantage".
    multiple, triple = multiple_of(standing)
    # Peril Die: "If the player has Advantage/Disadvantage, this doesn't affect the Peril Die."
    # Ruling: so the die is read even where Advantage removed it; rerolling it changes the opponent's Success Value.
    peril: Face | None = faces[0] if with_peril else None
    rerolled = None
    if multiple is Multiple.CHANGE:
        rerolled = _change(
            decisions, standing, change, with_peril and kept[0] == 0, lambda: _standing(faces, standing, terms)
        )
    after, triple_after = None, False
    if rerolled is not None:
        new = dice.again(standing[rerolled], Purpose.REROLL)
        if with_peril and kept[rerolled] == 0:
            peril = new
        standing[rerolled] = new
        after, triple_after = multiple_of(standing)
        # Triples: "it may not become another Change result, even if it becomes a Triple".
        if after is Multiple.CHANGE:
            after = None

    # Skill Rolls: the chart, then the doubles' effects on it.
    kept_sum = sum(standing)
    total = kept_sum + statistic
    chart = chart_value(total)
    success_value = with_multiple(chart, multiple if rerolled is None else after)
    # Triples: "receives a Temporary Fate Die". Ruling: at most one a roll; a triple before or after a Change earns it.
    fate_dice = int(triple or triple_after)

    if opposing:
        value = ThrowValue(success_value)
    else:
        value = ThrowValue(success_value, SIDES in standing, fate_dice, 0 if peril is None else int(peril), total)
    gone = None if rerolled is None else kept[rerolled]
    shown = [
        Die(face.draw, int(face), _DROPPED if at in dropped else _REROLLED if at == gone else _KEPT)
        for at, face in enumerate(faces)
    ]
    if rerolled is not None:
        shown.append(Die(standing[rerolled].draw, int(standing[rerolled]), _KEPT))
    peril_draw = None if peril is None else peril.draw
    return value, Throw(
        net, tuple(shown), peril_draw, multiple, after, fate_dice, kept_sum, total, chart, success_value
    )


def _removed(
    decisions: Decisions,
    faces: Sequence[Face],
    net: int,
    policy: RemovalPolicy,
    with_peril: bool,  # noqa: FBT001  private
) -> tuple[int, ...]:
    """Return the positions of the dice that go: the roller's least favourites, or for Disadvantage the favourites."""
    if net == 0:
        return ()
    # Best first; the Peril Die, at position 0, apart.
    positions = sorted(range(int(with_peril), len(faces)), key=lambda at: (-faces[at], at))
    values = tuple([int(faces[at]) for at in positions])
    question, chosen = _removal(values, int(faces[0]) if with_peril else 0, net, policy)
    if question is not None:
        (answer,) = decisions.ask(question, about=lambda: _thrown(faces, net, with_peril))
        if answer != question.preset:
            chosen = next(
                known for known in _choices(values, with_peril, net) if _removal_id(known, faces[0]) == answer
            )
    plain, peril_goes = chosen
    gone = [0] if peril_goes else []
    wanted = list(plain)
    for at in reversed(positions):  # of equals the one drawn last goes
        if faces[at] in wanted:
            wanted.remove(faces[at])
            gone.append(at)
    return tuple(gone)


_Removal: TypeAlias = tuple[tuple[int, ...], bool]
"""Dice that go: the faces of the plain ones, highest first, and whether the Peril Die does."""


@lru_cache(maxsize=8192)
def _removal(values: tuple[int, ...], peril: int, net: int, policy: RemovalPolicy) -> tuple[Question | None, _Removal]:
    """Return the question, None where nothing is to choose, and what the policy removes.

    `values` are the plain dice, highest first, `peril` the Peril Die's face or 0. The Peril Die is the last of equals
    to go, since a Change may still want it. Kept for speed alone: a function of its arguments, called once a roll.
    """
    choices = _choices(values, peril > 0, net)
    sign = -1 if policy is RemovalPolicy.HIGHEST else 1
    dice = [(sign * value, False) for value in values] + [(sign * peril, True)] * (peril > 0)
    wanted = sorted(dice)[: abs(net)]
    plain = sorted((sign * value for value, is_peril in wanted if not is_peril), reverse=True)
    chosen = tuple(plain), any(is_peril for _, is_peril in wanted)
    if len(choices) == 1:
        return None, chosen
    question = Question(
        "REMOVE",
        # Modifiers: the roller removes; "When in doubt, the GM can choose the dice."
        Who.PLAYER if net > 0 else Who.GAME_MASTER,
        tuple([_removal_option(plain, goes, peril if goes else 0) for plain, goes in choices]),
        None if policy is RemovalPolicy.ASK else _removal_id(chosen, peril),
        policy.name,
    )
    return question, chosen


def _choices(values: tuple[int, ...], with_peril: bool, net: int) -> tuple[_Removal, ...]:  # noqa: FBT001  private
    """Return the distinct choices: of dice showing one face any may go, the Peril Die alone is told apart."""
    plain = [(faces, False) for faces in dict.fromkeys(combinations(values, abs(net)))]
    if not with_peril:
        return tuple(plain)
    return (*plain, *[(faces, True) for faces in dict.fromkeys(combinations(values, abs(net) - 1))])


def _removal_id(choice: _Removal, peril: int) -> str:
    plain, peril_goes = choice
    return _removal_option(plain, peril_goes, peril if peril_goes else 0).id


@cache
def _most_removals(net: int, with_peril: bool) -> tuple[Option, ...]:  # noqa: FBT001  a cache's key
    """Return the options of a removal where no two dice are alike, which are the most."""
    plain = tuple(range(SIDES, SIDES - BASE_DICE - abs(net) + with_peril, -1))
    question, _ = _removal(plain, int(with_peril), net, RemovalPolicy.ASK)
    return question.options if question is not None else ()


@cache
def _removal_option(plain: tuple[int, ...], peril_goes: bool, peril: int) -> Option:  # noqa: FBT001  a cache's key
    faces = [str(face) for face in plain]
    ids, words = ["REMOVE", *faces], ["remove", *faces]
    if peril_goes:
        ids += ["PERIL", str(peril)]
        words += ["and the Peril Die", str(peril)] if faces else ["the Peril Die", str(peril)]
    return Option("_".join(ids), " ".join(words))


def _change(
    decisions: Decisions,
    standing: Sequence[Face],
    policy: ChangePolicy,
    peril_first: bool,  # noqa: FBT001  private
    about: About,
) -> int | None:
    """Change: "You may re-roll one of the 3 dice in this roll." Return the place of that die, None for no reroll."""
    question, places = _change_question(tuple([int(face) for face in standing]), peril_first, policy)
    (answer,) = decisions.ask(question, about=about)
    return places[answer]


@lru_cache(maxsize=2048)
def _change_question(
    faces: tuple[int, ...],
    peril_first: bool,  # noqa: FBT001  private
    policy: ChangePolicy,
) -> tuple[Question, Mapping[str, int | None]]:
    """Return the question and the place of the die by option; kept for speed alone, as `_removal` is."""
    options = {_KEEP.id: _KEEP}
    places: dict[str, int | None] = {_KEEP.id: None}
    for place, face in enumerate(faces):
        peril = peril_first and place == 0
        if peril:
            meaning = f"reroll the Peril Die {face}; its new face stands and gives the opponent's value"
        else:
            meaning = f"reroll a {face}; the new face stands"
        option = Option(f"REROLL_PERIL_{face}" if peril else f"REROLL_{face}", meaning)
        options.setdefault(option.id, option)
        places.setdefault(option.id, place)
    preset: str | None = _KEEP.id
    if policy is ChangePolicy.ASK:
        preset = None
    elif policy is ChangePolicy.LOWEST:
        # Of equals not the Peril Die, whose face is also the opponent's.
        lowest = min(range(len(faces)), key=lambda place: (faces[place], peril_first and place == 0))
        preset = f"REROLL_PERIL_{faces[0]}" if peril_first and lowest == 0 else f"REROLL_{faces[lowest]}"
    return Question("CHANGE", Who.PLAYER, tuple(options.values()), preset, policy.name), places


_KEEP: Final = Option("KEEP", "keep all three dice")
_MOST_CHANGES: Final = (2, 2, 3)
"""Faces with a Change and the most different dice, the Peril Die being told from one that shows its face."""
_KEPT: Final = (Fate.KEPT,)
_DROPPED: Final = (Fate.DROPPED,)
_REROLLED: Final = (Fate.REROLLED,)


def _dice_count(roller: _Roller) -> int:
    return BASE_DICE + abs(net_level(roller.advantage, roller.disadvantage))


# The tables, as functions of numbers.


def net_level(advantage: int, disadvantage: int) -> int:
    """Return the net level, -3..3, positive for Advantage (Modifiers, Modifier Limit).

    Ruling: they cancel one for one first, and what is left is capped: a5 d2 is a3, not a1.
    """
    return max(-MODIFIER_LIMIT, min(MODIFIER_LIMIT, advantage - disadvantage))


def multiple_of(faces: Sequence[int]) -> tuple[Multiple | None, bool]:
    """Return the multiple on three dice, and whether it is a triple (Dice Multiples)."""
    first, second, third = faces
    if first in (second, third):
        face = first
    elif second == third:
        face = second
    else:
        return None, False
    name = Multiple.MISSTEP if face == 1 else Multiple.FATEFUL if face == SIDES else Multiple.CHANGE
    return name, first == second == third


def chart_value(total: int) -> int:
    """Return the Success Value of a total (Skill Rolls, the chart).

    Ruling: the page's two long examples call 11 a Hit and add up 6 4 1 as 13; the chart wins.
    """
    return MISS if total <= 7 else WEAK_HIT if total <= 11 else HIT if total <= 15 else STRONG_HIT


def with_multiple(success_value: int, multiple: Multiple | None) -> int:
    """Return the Success Value after Misstep ("to a minimum of -1") or Fateful ("to a maximum of 2")."""
    if multiple is Multiple.MISSTEP:
        return max(MISS, success_value - 1)
    if multiple is Multiple.FATEFUL:
        return min(STRONG_HIT, success_value + 1)
    return success_value


def peril_thresholds(opponent: PerilDie) -> tuple[int, int]:
    """Return the highest faces, 0..6, at which the opponent has a Hit and a Strong Hit (Peril Die, the table).

    Rulings: the table's line breaks undone, a Hit lies at statistic + 2 and a Strong Hit at statistic - 1, and so
    outside -2..4 too, held to 0..6; Advantage or Disadvantage moves both by 1 whatever its size ("move the required
    number by 1"); from statistic 4 on a Hit is automatic whatever moves it.
    """
    moved = opponent.statistic + max(-1, min(1, opponent.advantage - opponent.disadvantage))
    hit = SIDES if opponent.statistic >= AUTOMATIC_HIT_STATISTIC else max(0, min(SIDES, moved + 2))
    return hit, max(0, min(SIDES, moved - 1))


def peril_success_value(peril: Peril) -> int:
    """Return the opponent's Success Value; "Otherwise, the Opponent's Result is a Weak Hit", so never a Miss."""
    if peril.face <= peril.strong_hit_at_or_below:
        return STRONG_HIT
    return HIT if peril.face <= peril.hit_at_or_below else WEAK_HIT


def clamp_result(difference: int) -> int:
    """Return the Result: "usually limited to being between -1 and 2"."""
    return max(FAILURE, min(GREAT_SUCCESS, difference))


def is_critical(result: int, six: bool) -> bool:  # noqa: FBT001  a fact, not a switch
    """Return whether a six among the final dice makes the Result a Critical Hit ("Success [1] or greater")."""
    return six and result >= 1


def amount(result: int, critical: bool) -> int | None:  # noqa: FBT001  a fact, not a switch
    """Return the Success Value Amount, None for a Failure, which has none.

    Ruling: a critical Great Success is 2, as the table says, although the prose says "1 higher". At statistic 0 or
    less every Great Success holds a 6, so with 3 the table's own row [2] could never be true.
    """
    if result == FAILURE:
        return None
    return 2 if critical else result


def _conclude(
    decisions: Decisions,
    result: int,
    six: bool,  # noqa: FBT001  private
    check: SkillRoll | GroupRoll,
    open_text: Callable[[], Text],
) -> tuple[bool, ResultName]:
    """Return whether the Result is a Critical Hit, and its name; `open_text` tells the roll before that is decided."""
    critical = is_critical(result, six)
    if result == GREAT_SUCCESS and not critical:
        (answer,) = decisions.ask(_great_success_question(check.great_success), about=lambda: open_text().line)
        critical = answer == GreatSuccessPolicy.CRITICAL.name
    if result == 0:
        (answer,) = decisions.ask(_zero_result_question(check.zero_result), about=lambda: open_text().line)
        return critical, _ZERO_NAMES[answer]
    return critical, _NAMES[result]


def _open(result: int) -> tuple[bool, ResultName]:
    """Return what a Result that is asked about is before the answer."""
    return False, ResultName.ZERO_UNDECIDED if result == 0 else ResultName.GREAT_SUCCESS


@cache
def _great_success_question(policy: GreatSuccessPolicy) -> Question:
    """Critical Hit: "a Great Success [2] may be treated as a Critical Hit instead of using any other ... Benefits"."""
    preset = None if policy is GreatSuccessPolicy.ASK else policy.name
    return Question("GREAT_SUCCESS", Who.PLAYER, _GREAT_SUCCESS_OPTIONS, preset, policy.name)


@cache
def _zero_result_question(policy: ZeroResultPolicy) -> Question:
    """Opposing Roll: "The GM will always let the player make the choice."."""
    preset = None if policy is ZeroResultPolicy.ASK else policy.name
    return Question("ZERO_RESULT", Who.PLAYER, _ZERO_OPTIONS, preset, policy.name)


_GREAT_SUCCESS_OPTIONS: Final = (
    Option("BENEFIT", "keep the Great Success with its additional benefit"),
    Option("CRITICAL", "treat the Great Success as a Critical Hit instead"),
)
_ZERO_OPTIONS: Final = (
    Option("UNDECIDED", "leave both names on offer"),
    Option("PARTIAL_SUCCESS", "Action Success, but with a complication"),
    Option("COMPENSATING_FAILURE", "Action Failure, but with a benefit"),
)
_ZERO_NAMES: Final = {
    "UNDECIDED": ResultName.ZERO_UNDECIDED,
    "PARTIAL_SUCCESS": ResultName.PARTIAL_SUCCESS,
    "COMPENSATING_FAILURE": ResultName.COMPENSATING_FAILURE,
}
_NAMES: Final = {-1: ResultName.FAILURE, 1: ResultName.SUCCESS, 2: ResultName.GREAT_SUCCESS}
_SUCCESS_VALUE_NAMES: Final = {MISS: "MISS", WEAK_HIT: "WEAK_HIT", HIT: "HIT", STRONG_HIT: "STRONG_HIT"}


# Group Roll.

_ONE_OF: Final = (Counts(1, 0, 0, 0), Counts(0, 1, 0, 0), Counts(0, 0, 1, 0), Counts(0, 0, 0, 1))


def add_counts(one: Counts, other: Counts) -> Counts:
    """Return the counts of two groups as one."""
    return Counts(
        one.misses + other.misses,
        one.weak_hits + other.weak_hits,
        one.hits + other.hits,
        one.strong_hits + other.strong_hits,
    )


def cancel(counts: Counts) -> Counts:
    """Return what is left after "Each Hit (1) must be used to "cancel" a Miss", a Strong Hit two.

    Rulings: Hits cancel before Strong Hits; a Strong Hit spent on one Miss is spent whole.
    """
    misses, weak_hits, hits, strong_hits = counts
    used = min(misses, hits)
    misses, hits = misses - used, hits - used
    used = min((misses + 1) // 2, strong_hits)
    return Counts(max(0, misses - 2 * used), weak_hits, hits, strong_hits - used)


def most_common(left: Counts) -> int:
    """Return the group's Result: Failure with a Miss left, else the most common value, a tie going to the higher.

    Ruling: nothing left gives 0.
    """
    if left.misses:
        return FAILURE
    best = max(left)
    if best == 0:
        return WEAK_HIT
    return max(value for value, count in zip(range(MISS, STRONG_HIT + 1), left, strict=True) if count == best)


def spread(counts: Counts) -> tuple[int, ...]:
    """Return counts as a list of Success Values, lowest first."""
    return tuple(value for value, count in zip(range(MISS, STRONG_HIT + 1), counts, strict=True) for _ in range(count))


# --- In the game's words ---------------------------------------------------------------------------------------------

_HITS: Final = {MISS: "Miss", WEAK_HIT: "Weak Hit", HIT: "Hit", STRONG_HIT: "Strong Hit"}
_VALUES: Final = {value: f"{name} ({value})" for value, name in _HITS.items()}
_RESULTS: Final = {
    ResultName.FAILURE: "Failure",
    ResultName.ZERO_UNDECIDED: "Partial Success or Compensating Failure",
    ResultName.PARTIAL_SUCCESS: "Partial Success",
    ResultName.COMPENSATING_FAILURE: "Compensating Failure",
    ResultName.SUCCESS: "Success",
    ResultName.GREAT_SUCCESS: "Great Success",
}
_MEANINGS: Final = {
    ResultName.FAILURE: "Action Failure, and possibly an additional complication",
    ResultName.ZERO_UNDECIDED: "the player chooses: Action Success with a complication, or Failure with a benefit",
    ResultName.PARTIAL_SUCCESS: "Action Success, but with a complication",
    ResultName.COMPENSATING_FAILURE: "Action Failure, but with a benefit",
    ResultName.SUCCESS: "Action Success",
    ResultName.GREAT_SUCCESS: "Action Success, with additional benefit",
}
"""Results: the column "Description"."""


def text(
    check: SkillRoll | GroupRoll | DamageStep,
    outcome: SkillOutcome | GroupOutcome | DamageOutcome,
    _draws: Sequence[Draw],
) -> Text:
    """Return the outcome in the game's words."""
    if isinstance(outcome, DamageOutcome):
        assert isinstance(check, DamageStep)  # noqa: S101  the caller pairs a check with its own outcome
        return _damage_text(check, outcome)
    if isinstance(outcome, GroupOutcome):
        assert isinstance(check, GroupRoll)  # noqa: S101  as above
        return _group_text(check, outcome)
    assert isinstance(check, SkillRoll)  # noqa: S101  as above
    return _skill_text(check, outcome)


def _damage_text(check: DamageStep, outcome: DamageOutcome) -> Text:
    level = _level(outcome.net)
    verb = "adds to" if outcome.net > 0 else "takes from"
    result = f"{level} {verb} the static damage" if level else "The static damage stays as it is"
    return Text(f"damage {level or 'without Advantage or Disadvantage'}", (*_net_steps(check), result))


def _skill_text(check: SkillRoll, outcome: SkillOutcome) -> Text:
    throw = outcome.throw
    line = _throw_line(throw, check.statistic)
    steps = _throw_steps(throw, check)
    if outcome.opposing_success_value is None:
        line += f", {_HITS[throw.success_value]} [{outcome.result}]"
        steps.append("No Opposing Roll: the Result is the Success Value")
    else:
        other = _value(outcome.opposing_success_value)
        if outcome.opposing_throw is not None and isinstance(check.opposition, OpposingRoll):
            steps += _throw_steps(outcome.opposing_throw, check.opposition, f"{check.opposition.name}: ")
            other = f"{check.opposition.name}'s {other}"
        elif outcome.peril is not None and isinstance(check.opposition, PerilDie):
            steps.append(f"{_peril_words(check.opposition, outcome.peril)}: the Opponent has a {other}")
            other = f"Peril Die {outcome.peril.face}'s {other}"
        else:  # nobody rolled it here
            other = f"a given {other}"
        own = _value(throw.success_value)
        held = "" if outcome.difference == outcome.result else f", limited to {outcome.result}"
        steps.append(f"{own} against {other}: {_minus(throw.success_value, outcome)}{held}")
        line += f", {own} against {other}: {_RESULTS[outcome.result_name]} [{outcome.result}]"
    steps += _result_steps(outcome, six=_has_six(throw))
    return Text(line + _marks(outcome.critical, throw.temporary_fate_dice), tuple(steps))


def _peril_words(opponent: PerilDie, peril: Peril) -> str:
    """Return the column of the Peril Die's table that was used."""
    hit, strong = (
        f"{name} at {most} or lower" if most else f"no {name}"
        for name, most in (("Hit", peril.hit_at_or_below), ("Strong Hit", peril.strong_hit_at_or_below))
    )
    moved = opponent.advantage - opponent.disadvantage
    why = f", moved by 1 for {_modifier(moved)}" if moved else ""
    return f"Peril Die {peril.face}, Opponent Statistic {opponent.statistic}{why}: {hit}, {strong}"


def _minus(success_value: int, outcome: SkillOutcome) -> str:
    other = outcome.opposing_success_value or 0
    return f"{success_value} - {f'({other})' if other < 0 else other} = {outcome.difference}"


def _group_text(check: GroupRoll, outcome: GroupOutcome) -> Text:
    if outcome.roller is None:
        line, steps = _together_text(check, outcome)
        six = False
    else:
        member, (throw,) = check.members[outcome.roller], outcome.throws
        line = f"{member.name} for all: {_throw_line(throw, member.statistic)}"
        steps = [
            f"{member.name} has the highest Statistic, {member.statistic}, and rolls for all",
            *_throw_steps(throw, member),
            "No Opposing Roll: the Result is the Success Value",
        ]
        six = _has_six(throw)
    line += f": {_RESULTS[outcome.result_name]} [{outcome.result}]"
    steps += _result_steps(outcome, six=six)
    return Text(line + _marks(outcome.critical, 0), tuple(steps))


def _together_text(check: GroupRoll, outcome: GroupOutcome) -> tuple[str, list[str]]:
    """Group Roll, the process of six points."""
    rolled = list(zip(check.members, outcome.throws, strict=True))
    steps = [step for member, throw in rolled for step in _throw_steps(throw, member, f"{member.name}: ")]
    line = ", ".join([f"{member.name} {_value(throw.success_value)}" for member, throw in rolled])
    values = [throw.success_value for throw in outcome.throws]
    counts = Counts(*[values.count(value) for value in _HITS])
    left = cancel(counts)
    steps.append(f"Everyone: {_counted(counts)}")
    if counts.misses:
        used = Counts(counts.misses - left.misses, 0, counts.hits - left.hits, counts.strong_hits - left.strong_hits)
        by = _counted(used._replace(misses=0))
        what = f"{by} cancel{'' if used.hits + used.strong_hits > 1 else 's'} {_counted(Counts(used.misses, 0, 0, 0))}"
        steps.append(f"{what if used.misses else 'Nothing cancels a Miss'}; left: {_counted(left)}")
    if left.misses:
        steps.append("Not all Misses are cancelled: the result is a Failure")
    elif any(left):
        common = [value for value, count in zip(_HITS, left, strict=True) if count == max(left)]
        tie = f"a tie of {' and '.join(_HITS[value] for value in common)}, the higher is used: "
        steps.append(f"Most common remaining result: {tie if len(common) > 1 else ''}{_value(common[-1])}")
    else:
        steps.append("Nothing remains, which counts as 0")
    return line, steps


def _counted(counts: Counts) -> str:
    """Return such as `2 Misses, 1 Strong Hit`."""
    words = [
        f"{count} {name}{('es' if name == 'Miss' else 's') if count > 1 else ''}"
        for name, count in zip(_HITS.values(), counts, strict=True)
        if count
    ]
    return ", ".join(words) or "nothing"


def _thrown(faces: Sequence[Face], net: int, with_peril: bool) -> str:  # noqa: FBT001  private
    """Return such as `3d6a1 rolled 5 4 3 2`, to decide by."""
    peril = ", the first of them the Peril Die" if with_peril else ""
    return f"3d6{_level(net)} rolled {_numbers(faces)}{peril}"


def _standing(faces: Sequence[Face], standing: Sequence[Face], terms: Terms) -> str:
    """Return such as `3d6a1 rolled 5 4 4 2; 5 4 4 remain and make 13 - 1 = 12`, to decide by."""
    total, statistic = sum(standing), terms.statistic
    made = f"{total} {'-' if statistic < 0 else '+'} {abs(statistic)} = {total + statistic}"
    remain = f"; {_numbers(standing)} remain and make" if terms.net else ":"
    return f"{_thrown(faces, terms.net, terms.with_peril)}{remain} {made}"


def _throw_line(throw: Throw, statistic: int) -> str:
    """Return such as `3d6a1 rolled 5 4 3 2, drop 2: 12 + 0 = 12`."""
    words = f"3d6{_level(throw.net)} rolled {_faces(_rolled(throw))}"
    dropped = _with(throw, Fate.DROPPED)
    if dropped:
        words += f", drop {_faces(dropped)}"
    words += "".join(f", Change {die.value} to {throw.dice[-1].value}" for die in _with(throw, Fate.REROLLED))
    return f"{words}: {throw.sum} {'-' if statistic < 0 else '+'} {abs(statistic)} = {throw.total}"


def _throw_steps(throw: Throw, roller: _Roller, who: str = "") -> list[str]:
    """Return one actor's dice in the page's order: Modifiers, Dice Multiples, the chart, the doubles' effects."""
    rolled = _rolled(throw)
    extra = f", {abs(throw.net)} extra {'die' if abs(throw.net) == 1 else 'dice'}" if throw.net else ""
    steps = [*_net_steps(roller), f"Roll 3d6{_level(throw.net)}{extra}: {_faces(rolled)}"]
    standing: Sequence[Die] = rolled
    if throw.net:
        standing = [die for die in rolled if Fate.DROPPED not in die.fates]
        which = f"{'least favourite' if throw.net > 0 else 'favourite'}{'s' if abs(throw.net) > 1 else ''}"
        dropped = _with(throw, Fate.DROPPED)
        gone = f"the {which}, {_faces(dropped)}"
        if not _is_usual(throw.net, dropped, standing):
            gone = f"{_faces(dropped)}, as chosen"
        steps.append(f"{_modifier(throw.net)}: remove {gone}; {_faces(standing)} remain")
    final = _with(throw, Fate.KEPT)
    if throw.multiple is Multiple.CHANGE:
        steps += _change_steps(throw, standing, final)
    statistic = f", with Statistic {roller.statistic:+d}: {throw.total}" if roller.statistic else ""
    added = " + ".join([str(die.value) for die in final])
    steps.append(f"Total {added} = {throw.sum}{statistic}, a {_value(throw.chart_value)}")
    effect = throw.multiple_after if throw.multiple is Multiple.CHANGE else throw.multiple
    if effect is not None:
        way, end = ("increased", "maximum") if effect is Multiple.FATEFUL else ("reduced", "minimum")
        does = f"is {way} by 1 to a {_value(throw.success_value)}"
        if throw.success_value == throw.chart_value:
            does = f"is the {end} already"
        name = effect.name.capitalize()
        steps.append(f"{_multiple_words(final)}, {name}: the {_value(throw.chart_value)} {does}")
    if throw.temporary_fate_dice:
        steps.append("A triple: a Temporary Fate Die with a Short Duration")
    return [who + step for step in steps]


def _is_usual(net: int, dropped: Sequence[Die], standing: Sequence[Die]) -> bool:
    """Whether the dice that were removed are the page's least favourites, or its favourites."""
    gone, left = [die.value for die in dropped], [die.value for die in standing]
    return max(gone) <= min(left) if net > 0 else min(gone) >= max(left)


def _change_steps(throw: Throw, standing: Sequence[Die], final: Sequence[Die]) -> list[str]:
    name = f"{_multiple_words(standing)}, Change"
    gone = _with(throw, Fate.REROLLED)
    if not gone:
        return [f"{name}: no die is re-rolled"]
    steps = [f"{name}: the {gone[0].value} is re-rolled into {throw.dice[-1].value}"]
    if multiple_of([die.value for die in final])[0] is Multiple.CHANGE:
        steps.append(f"{_multiple_words(final)}: it may not become another Change")
    return steps


def _multiple_words(dice: Sequence[Die]) -> str:
    faces = [die.value for die in dice]
    face = max(faces, key=faces.count)
    return f"{'Triple' if faces.count(face) == BASE_DICE else 'Double'} {face}"


def _net_steps(roller: _Roller | DamageStep) -> list[str]:
    """Modifiers, Modifier Limit: what becomes of a letter and number that do not stand as given."""
    advantage, disadvantage = roller.advantage, roller.disadvantage
    net, capped = advantage - disadvantage, net_level(advantage, disadvantage)
    steps = []
    if advantage and disadvantage:
        steps.append(f"a{advantage} and d{disadvantage} cancel out{f' to {_level(net)}' if net else ''}")
    if net != capped:
        steps.append(f"{_level(net)} is beyond the limit: {_level(capped)}")
    return steps


def _result_steps(outcome: SkillOutcome | GroupOutcome, *, six: bool) -> list[str]:
    name = outcome.result_name
    steps = [f"Result [{outcome.result}], {_RESULTS[name]}: {_MEANINGS[name]}"]
    if outcome.critical:
        why = "one of the dice is a 6" if six else "the Great Success is treated as one"
        steps.append(f"Critical Hit: {why}")
    if outcome.success_value_amount is not None:
        steps.append(f"Success Value Amount: {outcome.success_value_amount}")
    return steps


def _marks(critical: bool, fate_dice: int) -> str:  # noqa: FBT001  private
    return (", Critical Hit" if critical else "") + (", Temporary Fate Die" if fate_dice else "")


def _value(success_value: int) -> str:
    return _VALUES[success_value]


def _level(net: int) -> str:
    return "" if net == 0 else f"a{net}" if net > 0 else f"d{-net}"


def _modifier(net: int) -> str:
    return "Advantage" if net > 0 else "Disadvantage"


def _rolled(throw: Throw) -> tuple[Die, ...]:
    return throw.dice[: BASE_DICE + abs(throw.net)]


def _with(throw: Throw, fate: Fate) -> list[Die]:
    return [die for die in throw.dice if fate in die.fates]


def _has_six(throw: Throw) -> bool:
    return any(die.value == SIDES for die in _with(throw, Fate.KEPT))


def _faces(dice: Sequence[Die]) -> str:
    return _numbers([die.value for die in dice])


def _numbers(faces: Sequence[int]) -> str:
    return " ".join([str(int(face)) for face in faces])
