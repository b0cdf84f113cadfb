"""D6 Dungeons, page "Dice": skilled and unskilled rolls, ones that are special, teamwork.

A comment such as "Ones are Special" names the section of that page. In scope: Rolling Dice, Ones are Special, Skilled
versus Unskilled, Advantage and Disadvantage, Teamwork Rolls. Out of scope: Re-rolls, which the narrator allows and
which are rolls of their own, and Social Skills, whose difficulties are the narrator's.

Order of draws: the dice of a roll; members of a team in turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple, TypeAlias

from fairroll_rules.decisions import MostAsked, Option, Question, Who
from fairroll_rules.errors import CheckError
from fairroll_rules.fields import Name, Range, SomeActors, require_different_names, require_fields
from fairroll_rules.outcome import Die, Fate, Text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairroll_rules.decisions import About, Decisions
    from fairroll_rules.dice import Dice, Draw, Face

TITLE: Final = "D6 Dungeons"
ENGINE: Final = 1

SIDES: Final = 6
MAX_DIFFICULTY: Final = 99
"""Rolling Dice: 3 easy, 5 moderate, 7 hard, up to 10; Teamwork Rolls: "much higher than normal rolls"."""
MAX_SKILL: Final = 100
"""Ours: skills are small numbers; a skill of 0 or less is no skill."""
MAX_MODIFIER: Final = 99
"""Ours: none of them stacks."""
MAX_ONES: Final = 99
"""Ours: ones brought along from earlier rolls or from allies."""

Difficulty: TypeAlias = Annotated[int, Range(1, MAX_DIFFICULTY)]
Skill: TypeAlias = Annotated[int, Range(-MAX_SKILL, MAX_SKILL)]
Modifier: TypeAlias = Annotated[int, Range(0, MAX_MODIFIER)]
Ones: TypeAlias = Annotated[int, Range(0, MAX_ONES)]
Share: TypeAlias = Annotated[int, Range(0, MAX_SKILL)]


# --- What is asked ---------------------------------------------------------------------------------------------------


class OnesPolicy(Enum):
    """What becomes of the natural 1s of a roll; SPLIT is the one written in `Split`."""

    ADD = 1
    SAVE = 2
    GIVE = 3
    SPLIT = 4
    ASK = 5


@dataclass(frozen=True, slots=True)
class Split:
    """How natural 1s are split: up to `save` are saved, of the rest up to `give` are given, and the rest is added."""

    save: Share = 0
    give: Share = 0

    def __post_init__(self) -> None:
        require_fields(self)


@dataclass(frozen=True, slots=True)
class SkillRoll:
    """One character's roll against a difficulty.

    `unskilled`: the task relates to none of the class skills, whatever `skill` says. `allow_split` offers a person
    each way to split the ones, beside one choice for all of them.
    """

    difficulty: Difficulty
    skill: Skill = 0
    unskilled: bool = False
    advantage: Modifier = 0
    disadvantage: Modifier = 0
    saved_ones_spent: Ones = 0
    ones_from_allies: Ones = 0
    ones: OnesPolicy = OnesPolicy.ADD
    split: Split | None = None
    allow_split: bool = False

    def __post_init__(self) -> None:
        require_fields(self)
        if self.ones is OnesPolicy.SPLIT and self.split is None:
            raise CheckError("REQUIRED", "ones is SPLIT, and split does not say how", field="split")
        if self.split is not None and self.ones is not OnesPolicy.SPLIT:
            raise CheckError("CONFLICT", "split says how for ones SPLIT only", field="split", value=self.ones.name)


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a team."""

    name: Name
    skill: Skill = 0
    unskilled: bool = False
    advantage: Modifier = 0
    disadvantage: Modifier = 0

    def __post_init__(self) -> None:
        require_fields(self)


@dataclass(frozen=True, slots=True)
class TeamRoll:
    """A Teamwork Roll. Ones saved or given earlier do not enter: the page adds to it what the team rolls, no more."""

    difficulty: Difficulty
    members: Annotated[tuple[Member, ...], SomeActors]

    def __post_init__(self) -> None:
        require_fields(self)
        require_different_names("members", [member.name for member in self.members])


CHECKS = (SkillRoll, TeamRoll)

_Roller: TypeAlias = SkillRoll | Member


# --- What it resolves to ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SkillOutcome:
    """What a skill roll resolved to.

    `ones_added` is what the roll's own natural 1s put on the highest die: one less than were chosen where the highest
    die would be added to itself.
    """

    dice: tuple[Die, ...]
    skilled: bool
    modifier: int
    highest: int
    natural_ones: int
    ones_added: int
    ones_saved: int
    ones_given: int
    total: int
    margin: int
    success: bool


@dataclass(frozen=True, slots=True)
class MemberOutcome:
    """The dice of one member of a team; `highest` is their highest die with their modifier."""

    dice: tuple[Die, ...]
    skilled: bool
    modifier: int
    highest: int
    natural_ones: int


@dataclass(frozen=True, slots=True)
class TeamOutcome:
    """What a team roll resolved to: members in turn, the highest of anyone, every natural 1."""

    members: tuple[MemberOutcome, ...]
    highest: int
    natural_ones: int
    ones_added: int
    total: int
    margin: int
    success: bool


OUTCOMES = (SkillOutcome, TeamOutcome)


class SkillValue(NamedTuple):
    """The numbers of a skill roll."""

    total: int
    success: bool
    highest: int
    natural_ones: int
    ones_added: int
    ones_saved: int
    ones_given: int


class TeamValue(NamedTuple):
    """The numbers of a team roll."""

    total: int
    success: bool
    highest: int
    natural_ones: int
    ones_added: int


class Terms(NamedTuple):
    """All that a team member's dice depend on."""

    pool: int
    skilled: bool
    modifier: int


class Best(NamedTuple):
    """What a team may use of its members' dice: the highest, whether a die that shows no 1 is it, and the ones."""

    highest: int
    not_a_one: bool
    natural_ones: int


# --- The rules -------------------------------------------------------------------------------------------------------


def resolve(
    dice: Dice, decisions: Decisions, check: SkillRoll | TeamRoll
) -> tuple[SkillValue | TeamValue, SkillOutcome | TeamOutcome]:
    """Resolve a check of this game."""
    if isinstance(check, TeamRoll):
        return _team_roll(dice, check)
    return _skill_roll(dice, decisions, check)


def draws(check: SkillRoll | TeamRoll) -> int:
    """Return how many dice the check rolls."""
    rollers: Sequence[_Roller] = check.members if isinstance(check, TeamRoll) else (check,)
    return sum([terms(roller).pool for roller in rollers])


def most_asked(check: SkillRoll | TeamRoll) -> MostAsked:
    """Return what the decisions come to at most: the use of natural 1s, where every die is one."""
    if isinstance(check, TeamRoll):
        return MostAsked((), 0)
    question, _ = _ones_question(terms(check).pool, check.ones, check.split, check.allow_split)
    return MostAsked(((question.options if check.ones is OnesPolicy.ASK else (),),), 0)


def not_borne_out(check: SkillRoll | TeamRoll, cited: Sequence[SkillOutcome | TeamOutcome]) -> str:
    """Return the field that the cited outcomes do not bear out, or "".

    Ones that were saved earlier, and those that allies gave, stand in the rolls that saved and gave as many. That none
    of them is spent twice, no single roll can show.
    """
    if not isinstance(check, SkillRoll):
        return ""
    rolls = [each for each in cited if isinstance(each, SkillOutcome)]
    if check.saved_ones_spent > sum([each.ones_saved for each in rolls]):
        return "saved_ones_spent"
    return "ones_from_allies" if check.ones_from_allies > sum([each.ones_given for each in rolls]) else ""


def _skill_roll(dice: Dice, decisions: Decisions, check: SkillRoll) -> tuple[SkillValue, SkillOutcome]:
    # Rolling Dice: "you compare the highest number rolled to the difficulty".
    count, skilled, modifier = terms(check)
    faces = dice.pool(count, SIDES)
    highest = max(faces)

    # Ones are Special: only a 1 on the die itself, whatever the modifier makes of it.
    # Ruling: so an unskilled natural 1 counts as 1 - 1 = 0 and may still be saved or given.
    ones = faces.count(1)
    chosen, saved, given = _use_of_ones(decisions, ones, check, lambda: _before_ones(check, faces, modifier))
    # Ruling: a die is not added to itself. Every natural 1 may be saved or given, also one that is the highest die
    # (1 1 1 saved: result 1, three saved); so of all ones, one that is saved or given counts as the highest.
    added = chosen - 1 if highest == 1 and chosen == ones else chosen

    # Ones are Special, "Add them to your highest die": also those saved earlier in the scene, and an ally's.
    total = highest + modifier + added + check.saved_ones_spent + check.ones_from_allies
    success = total >= check.difficulty
    return SkillValue(total, success, highest, ones, added, saved, given), SkillOutcome(
        _dice_of(faces, highest, saved, given),
        skilled,
        modifier,
        highest,
        ones,
        added,
        saved,
        given,
        total,
        total - check.difficulty,
        success,
    )


def terms(roller: _Roller) -> Terms:
    """Return how many dice are rolled, whether with a skill, and the modifier (Skilled versus Unskilled).

    Advantages and disadvantages "do not stack, though one of each will cancel out", and an unskilled roll is made
    with disadvantage. Ruling: so unskilled with advantage is +0.
    """
    skilled = roller.skill > 0 and not roller.unskilled
    modifier = (roller.advantage > 0) - (roller.disadvantage > 0 or not skilled)
    return Terms(roller.skill if skilled else 1, skilled, modifier)


def _use_of_ones(decisions: Decisions, ones: int, check: SkillRoll, about: About) -> tuple[int, int, int]:
    """Return how many natural 1s are added, saved and given: "you may do one of three things with them"."""
    if ones == 0:
        return 0, 0, 0
    question, uses = _ones_question(ones, check.ones, check.split, check.allow_split)
    (answer,) = decisions.ask(question, about=about)
    return uses[answer]


@lru_cache(maxsize=1024)
def _ones_question(
    ones: int,
    policy: OnesPolicy,
    split: Split | None,
    allow_split: bool,  # noqa: FBT001  private
) -> tuple[Question, Mapping[str, tuple[int, int, int]]]:
    """Return the question, and the numbers added, saved and given by option.

    Ruling: one choice for all the 1s of a roll, an explicit split if the request allows it.
    Kept for speed alone: a function of its arguments, called once a roll.
    """
    uses = {"ADD": (ones, 0, 0), "SAVE": (0, ones, 0), "GIVE": (0, 0, ones)}
    if allow_split:
        for saved in range(ones + 1):
            for given in range(ones - saved + 1):
                use = (ones - saved - given, saved, given)
                uses.setdefault(_use_id(use), use)
    preset = None if policy is OnesPolicy.ASK else policy.name
    if split is not None:
        saved = min(ones, split.save)
        given = min(ones - saved, split.give)
        use = (ones - saved - given, saved, given)
        preset = _use_id(use)
        uses.setdefault(preset, use)
    options = tuple([Option(known, _use_meaning(use)) for known, use in uses.items()])
    return Question("ONES", Who.PLAYER, options, preset, policy.name), uses


def _use_id(use: tuple[int, int, int]) -> str:
    """Return such as SAVE for all of them, ADD_1_SAVE_2 for a split."""
    parts = [(name, count) for name, count in zip(("ADD", "SAVE", "GIVE"), use, strict=True) if count]
    return parts[0][0] if len(parts) == 1 else "_".join([f"{name}_{count}" for name, count in parts])


def _use_meaning(use: tuple[int, int, int]) -> str:
    words = ("add {} to the highest die", "save {} for later in the scene", "give {} to a nearby ally")
    return ", ".join([word.format(count) for word, count in zip(words, use, strict=True) if count])


def _dice_of(faces: Sequence[Face], highest: int, saved: int, given: int) -> tuple[Die, ...]:
    """Return the dice with their fates: of equals the one drawn first is the highest, and of ones is used first."""
    best = faces.index(highest)
    ones = [Fate.SAVED] * saved + [Fate.GIVEN] * given
    shown = []
    for at, face in enumerate(faces):
        fates: tuple[Fate, ...] = (Fate.KEPT,) if at == best else ()
        if face == 1 and ones:
            fates += (ones.pop(0),)
        elif face == 1 and at != best:
            fates += (Fate.ADDED,)
        shown.append(Die(face.draw, int(face), fates or (Fate.DROPPED,)))
    return tuple(shown)


# Teamwork Rolls.


def _team_roll(dice: Dice, check: TeamRoll) -> tuple[TeamValue, TeamOutcome]:
    """Teamwork Rolls: "everyone makes the same roll and adds any 1s on to whatever the highest number rolled was"."""
    best, members = dice.parts(
        _member_dice,
        [(terms(member),) for member in check.members],
        [member.name for member in check.members],
        merge=merge_best,
    )
    # Ruling: in teamwork the 1s are always added; a die is not added to itself here either.
    added = best.natural_ones if best.not_a_one else best.natural_ones - 1
    total = best.highest + added
    success = total >= check.difficulty
    outcome = TeamOutcome(
        _settled(members, best),
        best.highest,
        best.natural_ones,
        added,
        total,
        total - check.difficulty,
        success,
    )
    return TeamValue(total, success, best.highest, best.natural_ones, added), outcome


def _member_dice(dice: Dice, _decisions: Decisions, member: Terms) -> tuple[Best, MemberOutcome]:
    count, skilled, modifier = member
    faces = dice.pool(count, SIDES)
    highest = max(faces)
    ones = faces.count(1)
    shown = tuple([Die(face.draw, int(face), _ADDED if face == 1 else _DROPPED) for face in faces])
    value = Best(highest + modifier, highest != 1, ones)
    return value, MemberOutcome(shown, skilled, modifier, highest + modifier, ones)


def merge_best(one: Best, other: Best) -> Best:
    """Return the best of two parts of a team.

    Ruling: of equal highest dice one that does not show 1 counts as the highest, so that no 1 is lost to being it.
    """
    highest, not_a_one = max(one[:2], other[:2])
    return Best(highest, not_a_one, one.natural_ones + other.natural_ones)


def _settled(members: Sequence[MemberOutcome | None], best: Best) -> tuple[MemberOutcome, ...]:
    """Return the members with the team's highest die marked, the first drawn of equals: fates only, no value."""
    known = tuple([member for member in members if member is not None])  # odds have no details, nothing to mark
    for index, member in enumerate(known):
        at = _highest_at(member)
        die = member.dice[at]
        if member.highest == best.highest and (die.value != 1) == best.not_a_one:
            marked = (*member.dice[:at], Die(die.draw, die.value, _KEPT), *member.dice[at + 1 :])
            return (*known[:index], replace(member, dice=marked), *known[index + 1 :])
    return known


def _highest_at(member: MemberOutcome) -> int:
    return max(range(len(member.dice)), key=lambda at: member.dice[at].value)


_ADDED: Final = (Fate.ADDED,)
_KEPT: Final = (Fate.KEPT,)
_DROPPED: Final = (Fate.DROPPED,)


# --- In the game's words ---------------------------------------------------------------------------------------------


def text(check: SkillRoll | TeamRoll, outcome: SkillOutcome | TeamOutcome, _draws: Sequence[Draw]) -> Text:
    """Return the outcome in the game's words."""
    if isinstance(outcome, TeamOutcome):
        assert isinstance(check, TeamRoll)  # noqa: S101  the caller pairs a check with its own outcome
        return _team_text(check, outcome)
    assert isinstance(check, SkillRoll)  # noqa: S101  as above
    return _skill_text(check, outcome)


def _skill_text(check: SkillRoll, outcome: SkillOutcome) -> Text:
    added = (outcome.modifier, outcome.ones_added, check.saved_ones_spent, check.ones_from_allies)
    signed = "".join(f" {'-' if number < 0 else '+'} {abs(number)}" for number in added if number)
    total = f"{outcome.highest}{signed}{f' = {outcome.total}' if signed else ''}"
    line = f"{'' if outcome.skilled else 'unskilled '}{len(outcome.dice)}d6 rolled {_faces(outcome.dice)}: {total}"
    line += f" against {check.difficulty}, {_verdict(outcome.success)}"
    line += f", {outcome.ones_saved} saved" if outcome.ones_saved else ""
    line += f", {outcome.ones_given} given" if outcome.ones_given else ""
    steps = [*_dice_steps(check, outcome), *_ones_steps(check, outcome)]
    if signed:
        steps.append(f"Result: {total}")
    steps.append(_against(outcome.total, check.difficulty, outcome.success))
    return Text(line, tuple(steps))


def _dice_steps(roller: _Roller, outcome: SkillOutcome | MemberOutcome) -> list[str]:
    """Skilled versus Unskilled, Rolling Dice, Advantage and Disadvantage."""
    count = len(outcome.dice)
    pool = f"Skill {roller.skill}: roll {count}d6" if outcome.skilled else "Unskilled: roll 1d6"
    highest = f", highest {max(die.value for die in outcome.dice)}" if count > 1 else ""
    steps = [f"{pool}: {_faces(outcome.dice)}{highest}"]
    disadvantages = roller.disadvantage + (not outcome.skilled)
    if roller.advantage and disadvantages:
        steps.append("An advantage and a disadvantage cancel out")
    elif roller.advantage or disadvantages:
        name, many = ("Advantage", roller.advantage) if roller.advantage else ("Disadvantage", disadvantages)
        steps.append(f"{name}: {outcome.modifier:+d}{', which does not stack' if many > 1 else ''}")
    return steps


def _before_ones(check: SkillRoll, faces: Sequence[Face], modifier: int) -> str:
    """Return such as `3d6 rolled 1 1 5, highest 5 - 1 = 4 against 6`, to decide by: without the ones in question."""
    added = (modifier, check.saved_ones_spent, check.ones_from_allies)
    signed = "".join(f" {'-' if number < 0 else '+'} {abs(number)}" for number in added if number)
    total = f"{max(faces)}{signed}{f' = {max(faces) + sum(added)}' if signed else ''}"
    return f"{len(faces)}d6 rolled {' '.join(map(str, map(int, faces)))}, highest {total} against {check.difficulty}"


def _ones_steps(check: SkillRoll, outcome: SkillOutcome) -> list[str]:
    """Ones are Special: what was done with the natural 1s, and what others add."""
    steps = []
    chosen = outcome.natural_ones - outcome.ones_saved - outcome.ones_given
    if chosen > outcome.ones_added:
        steps.append("The highest die is itself a natural 1, and is not added to itself")
    words = (
        (outcome.ones_added, "added to the highest die"),
        (outcome.ones_saved, "saved for later use during the scene"),
        (outcome.ones_given, "given to a nearby ally"),
    )
    steps += [f"{_count(number, 'natural 1')} {what}" for number, what in words if number]
    earlier = ((check.saved_ones_spent, "1s saved earlier in the scene"), (check.ones_from_allies, "1s from allies"))
    return steps + [f"{what}: +{number}" for number, what in earlier if number]


def _team_text(check: TeamRoll, outcome: TeamOutcome) -> Text:
    rolled = list(zip(check.members, outcome.members, strict=True))
    steps = []
    for member, each in rolled:
        steps += [f"{member.name}: {step}" for step in _dice_steps(member, each)]
        if each.modifier:
            steps[-1] += f", which makes {each.highest}"
    best = next(member.name for member, each in rolled if any(Fate.KEPT in die.fates for die in each.dice))
    steps.append(f"Highest number of anyone: {best}'s {outcome.highest}")
    if outcome.ones_added < outcome.natural_ones:
        steps.append("It is itself a natural 1, and is not added to itself")
    added = f"{outcome.highest} + {outcome.ones_added} = {outcome.total}"
    steps.append(f"Everyone's natural 1s are added, {outcome.ones_added}: {added}")
    steps.append(_against(outcome.total, check.difficulty, outcome.success))
    rolls = ", ".join(f"{member.name} {_faces(each.dice)}" for member, each in rolled)
    return Text(f"team rolled {rolls}: {added} against {check.difficulty}, {_verdict(outcome.success)}", tuple(steps))


def _against(total: int, difficulty: int, success: bool) -> str:  # noqa: FBT001  private
    word = "exceeds" if total > difficulty else "meets" if success else "falls short of"
    by = "" if total == difficulty else f" by {abs(total - difficulty)}"
    return f"{total} {word} the difficulty {difficulty}{by}: {_verdict(success)}"


def _verdict(success: bool) -> str:  # noqa: FBT001  private
    return "success" if success else "failure"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _faces(dice: Sequence[Die]) -> str:
    return " ".join(str(die.value) for die in dice)
