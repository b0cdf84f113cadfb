"""The Meidlands: opposed pools with two critical dice a side ("On Dice").

A comment or docstring names the section followed: The check; Modifiers and rerolling dice; Critical dice and resolution
calculations; Hard critical calculation; High success/failure checks. Out of scope: where pools and modifiers come from
(skills, specialities, attributes), and what a free attack or a riposte does.

Order of draws: the attacker's pool, critical dice and penalty rerolls; the same for the defender; then the turns of
rerolls as they happen; with a hit for damage, the reroll of a hard critical, the fierce strike's die, and turns again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import combinations
from typing import Annotated, NamedTuple, TypeAlias

from fairroll_rules.decisions import Decisions, MostAsked, Option, Question, Who
from fairroll_rules.dice import Dice, Draw, Face, Purpose
from fairroll_rules.errors import CheckError, require_range
from fairroll_rules.fields import Entries, Range, Utf8, Written, require_fields
from fairroll_rules.limits import MAX_NAME_BYTES
from fairroll_rules.outcome import Die, Fate, Text, again_words
from fairroll_rules.quantities import YES_NO, Quantities, fields_of, words_of

TITLE = "The Meidlands"
ENGINE = 1

SIDES = 6
CRITICAL_DICE = 2
MAX_POOL_DICE = 7
"""The check: "0-7 pool d6 dice"."""

UNTRAINED_PENALTY = 3
"""Modifiers: "0D roll (no skill) is actually treated specially, in this case as 1D - 3"."""

POINTS_A_DIE = 4
"""Modifiers: "may be exchanged with dice at a rate of 4 to 1"."""

MIN_MODIFIER, MAX_MODIFIER = -3, 6
"""Modifiers: "The maximum bonus a character may have at time of roll is +6, the minimum is -3"."""

MANY_SUCCESSES = 3
"""High success/failure checks: "3 successes or 3 failures is the lucky number"."""

TOP = 6
"""Hard critical: "a 6-6"."""

NOTATION = re.compile(r"([AL])([1-9][0-9]?)?/(0|[1-9][0-9]{0,2})")
_WRITTEN = Written(NOTATION.pattern, "A or L, an optional cap 1..99, a slash, and a number 0..999", ("A/12", "L2/4"))
"""Damage and armour: `A/12`, `L2/4`. Ruling: anything else is refused; the seed defines no other letter."""

LOW, HIGH = (1, 2), (5, 6)
"""Modifiers: a bonus may reroll "any 1 or 2 face value", a penalty must reroll "any 5 or 6"."""

MAX_ENTRY = 99
"""Ours: the size of one modifier or of the attribute's, either sign."""

MAX_MODIFIERS = 100
"""Ours: how many modifiers a side lists."""

ATTACKER, DEFENDER = "attacker", "defender"
"""What a side without a name is called."""

Damage: TypeAlias = Annotated[str, _WRITTEN]
Entry: TypeAlias = Annotated[int, Range(-MAX_ENTRY, MAX_ENTRY)]

PASS = "PASS"  # noqa: S105  an option's id, not a secret
_PASS = Option(PASS, "Reroll nothing this turn.")


# --- What is asked ---------------------------------------------------------------------------------------------------


class RerollPolicy(Enum):
    """How a side uses its bonuses, turn by turn."""

    GREEDY = 1
    NEVER = 2
    ASK = 3


class PenaltyPolicy(Enum):
    """Which 5 or 6 a penalty rerolls."""

    LOWEST = 1
    HIGHEST = 2
    ASK = 3


class PickPolicy(Enum):
    """Which two of three critical dice a fierce strike uses."""

    HIGHEST_DAMAGE = 1
    ASK = 2


class TieRule(Enum):
    """Who gains from a tie: the defender (or the fail state), or "a marginal or partial success is given"."""

    DEFENDER = 1
    PARTIAL = 2


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a check: pool rank, modifiers, dice exchanged for, and the policies of its rerolls."""

    pool: Annotated[int, Range(0, MAX_POOL_DICE)]
    name: Annotated[str, Utf8(0, MAX_NAME_BYTES, "name_bytes")] = ""
    modifiers: Annotated[tuple[Entry, ...], Entries(0, MAX_MODIFIERS, "modifiers")] = ()
    exchange: Annotated[int, Range(1 - MAX_POOL_DICE, MAX_POOL_DICE - 1)] = 0
    rerolls: RerollPolicy = RerollPolicy.GREEDY
    penalties: PenaltyPolicy = PenaltyPolicy.LOWEST

    def __post_init__(self) -> None:
        require_fields(self)
        # Ruling: never exchange below 1D, since no check rolls less, or above 7D, the most dice of a check.
        rank = max(self.pool, 1)
        require_range("exchange", self.exchange, 1 - rank, MAX_POOL_DICE - rank)


@dataclass(frozen=True, slots=True)
class OpposedRoll:
    """A check: attacker against defender, with damage and armour where it is an attack that deals damage."""

    attacker: Side
    defender: Side
    ties: TieRule = TieRule.DEFENDER
    uses_critical_dice: bool = False
    damage: Damage = ""
    attribute_modifier: Entry = 0
    armour: Damage = ""
    pick: PickPolicy = PickPolicy.HIGHEST_DAMAGE

    def __post_init__(self) -> None:
        require_fields(self)
        attacker, defender = names_of(self)
        if attacker == defender:
            # Draws, decisions and the text name a side.
            raise CheckError("CONFLICT", "the sides have different names", field="defender.name", value=defender)
        if not self.damage and (self.armour or self.attribute_modifier):
            raise CheckError("REQUIRED", "armour and attribute modifier need a damage to act on", field="damage")


def names_of(check: OpposedRoll) -> tuple[str, str]:
    """Return what the attacker and the defender are called."""
    return check.attacker.name or ATTACKER, check.defender.name or DEFENDER


# --- What comes out --------------------------------------------------------------------------------------------------


class Winner(Enum):
    """Who won; NEITHER is a tie that the check calls partial."""

    ATTACKER = 1
    DEFENDER = 2
    NEITHER = 3


@dataclass(frozen=True, slots=True)
class SideOutcome:
    """One side as the table sees it; `dice_rolled` and `modifier` are its check, such as 2D+4."""

    dice_rolled: int
    modifier: int
    pool: tuple[Die, ...]
    critical_dice: tuple[Die, ...]
    points_left: int
    critical: bool
    hard_critical: bool
    extra_die: int | None
    highest: int
    highest_count: int


@dataclass(frozen=True, slots=True)
class DamageOutcome:
    """The damage of a hit, in HP: what the dice deal, what armour absorbs, and what is left."""

    hard_critical_damage: int
    picked: tuple[int, ...]
    base: int
    damage: int
    absorbed: int
    final_damage: int


@dataclass(frozen=True, slots=True)
class OpposedOutcome:
    """A check as the table sees it; `net_successes` is above 0 for the attacker and below 0 for the defender."""

    attacker: SideOutcome
    defender: SideOutcome
    winner: Winner
    tie: bool
    net_successes: int
    fierce_strike: bool
    free_attack: bool
    riposte: bool
    damage: DamageOutcome | None


class OpposedValue(NamedTuple):
    """What a check comes to; `winner` is the number of a Winner, no damage is 0."""

    winner: int
    net_successes: int
    attacker_critical: bool
    attacker_hard_critical: bool
    defender_critical: bool
    defender_hard_critical: bool
    damage: int
    absorbed: int
    final_damage: int

    @property
    def tie(self) -> bool:
        """Whether neither side has a success more."""
        return self.net_successes == 0

    @property
    def fierce_strike(self) -> bool:
        """Whether the attacker wins by so much, which is a free attack, too ("High success")."""
        return self.net_successes >= MANY_SUCCESSES

    @property
    def riposte(self) -> bool:
        """Whether the attacker loses by so much."""
        return self.net_successes <= -MANY_SUCCESSES


CHECKS = (OpposedRoll,)
OUTCOMES = (OpposedOutcome,)


# --- The roll --------------------------------------------------------------------------------------------------------


class Pool(NamedTuple):
    """A side's check at the time of the roll: dice and modifier, such as 2D+4."""

    dice: int
    modifier: int

    def __str__(self) -> str:
        return f"{self.dice}D{self.modifier:+d}" if self.modifier else f"{self.dice}D"


def pool_of(side: Side) -> Pool:
    """Return what a side rolls ("Modifiers and rerolling dice").

    Ruling: 0D first becomes 1D - 3, then dice are exchanged, then the modifier is clamped. The seed gives the three
    rules in this order, and exchanges 2D+6 for 4D-2 before any clamp.
    """
    rank, modifier = side.pool, sum(side.modifiers)
    if rank == 0:
        rank, modifier = 1, modifier - UNTRAINED_PENALTY
    rank, modifier = rank + side.exchange, modifier - POINTS_A_DIE * side.exchange
    return Pool(rank, max(MIN_MODIFIER, min(MAX_MODIFIER, modifier)))


def draws(check: OpposedRoll) -> int:
    """Return the most draws before any reroll: both pools, four critical dice, the die of a fierce strike."""
    rolled = pool_of(check.attacker).dice + pool_of(check.defender).dice
    return rolled + 2 * CRITICAL_DICE + bool(check.damage)


def most_asked(check: OpposedRoll) -> MostAsked:
    """Return what the decisions come to at most: the penalties, the turns of rerolls, a fierce strike's pick."""
    sides = (check.attacker, check.defender)
    modifiers = [pool_of(side).modifier for side in sides]
    high = tuple([_Spot(face, critical).option() for face in HIGH for critical in (False, True)])
    rounds: list[tuple[Option, ...]] = []
    for side, modifier in zip(sides, modifiers, strict=True):
        rounds += [high if side.penalties is PenaltyPolicy.ASK else ()] * max(-modifier, 0)
    points = sum([max(each, 0) for each in modifiers])
    if points:
        # Two passes in a row end the turns, so that no more than one stands before each reroll. Where those two were
        # asked for, a point was left; damage may then have turns once more.
        turns = 2 * points + (2 if check.damage else 0)
        low = (_PASS, *[_Spot(face, critical).option() for face in LOW for critical in (False, True)])
        rounds += [low if any(side.rerolls is RerollPolicy.ASK for side in sides) else ()] * turns
    if check.damage:
        different = pairs(range(SIDES, SIDES - CRITICAL_DICE - 1, -1))
        rounds.append(_pick_options(different) if check.pick is PickPolicy.ASK else ())
    again = points + sum([max(-each, 0) for each in modifiers]) + CRITICAL_DICE
    return MostAsked(tuple([(each,) for each in rounds]), again)


def quantities(check: OpposedRoll) -> Quantities:
    """Return the numbers of a value that mean something, and their names: those of damage only where some is dealt."""
    named = fields_of(OpposedValue) | {"winner": words_of(Winner)}
    if not check.damage:
        for name in ("damage", "absorbed", "final_damage"):
            del named[name]
    return named | dict.fromkeys(("tie", "fierce_strike", "riposte"), YES_NO)


def resolve(dice: Dice, decisions: Decisions, check: OpposedRoll) -> tuple[OpposedValue, OpposedOutcome | None]:  # noqa: ARG001  its parts ask
    """Roll a check of The Meidlands; the outcome is None where the door keeps no details (odds)."""
    # The check; and Modifiers: the penalties are forced, right after a side's dice.
    table = _Table(dice, check)
    # Modifiers: turns of one reroll or a pass.
    table.turns()

    # The check: "Ties typically favor the defender/fail state", or the check gives a partial success.
    net = table.net()
    winner = Winner.ATTACKER if net > 0 else Winner.DEFENDER
    if net == 0 and check.ties is TieRule.PARTIAL:
        winner = Winner.NEITHER
    # Ruling: a critical is judged on the final critical dice, rerolls included, and before the damage reroll.
    attacker, defender = table.hands

    # Critical dice, Hard critical calculation, High success: only a hit has damage.
    damage = None
    if check.damage and winner is Winner.ATTACKER:
        damage = table.damage(hard=is_hard(attacker.critical), fierce=net >= MANY_SUCCESSES)

    value = OpposedValue(
        winner.value,
        net,
        is_double(attacker.critical),
        is_hard(attacker.critical),
        is_double(defender.critical),
        is_hard(defender.critical),
        *((damage.damage, damage.absorbed, damage.final_damage) if damage else (0, 0, 0)),
    )
    if not table.traced:
        return value, None
    return value, OpposedOutcome(
        attacker=_side_outcome(table, 0, attacker, extra_die(attacker.pool, defender.pool), damage),
        defender=_side_outcome(table, 1, defender, extra_die(attacker.pool, defender.pool), None),
        winner=winner,
        tie=value.tie,
        net_successes=net,
        fierce_strike=value.fierce_strike,
        free_attack=value.fierce_strike,
        riposte=value.riposte,
        damage=damage,
    )


class _Hand(NamedTuple):
    """A side's dice, each kind from low to high, and the bonuses that it has left.

    Sorted, so that neither an option nor a policy can see in which order a pool fell.
    """

    pool: tuple[Face, ...]
    critical: tuple[Face, ...]
    points: int


class _Gone(NamedTuple):
    """A die that was rerolled; `critical` tells the critical dice from the pool."""

    face: Face
    critical: bool


class _Stakes(NamedTuple):
    """What a turn is about: would the side win as things stand, are critical dice used, is only that left to do."""

    winning: bool
    quality: bool
    winner_stands: bool


class _Turn(NamedTuple):
    """What a turn leaves: the hand, and whether the side passed."""

    hand: _Hand
    passed: bool


class _Table:
    """One run of a check: both hands, and the dice that were rerolled out of them."""

    def __init__(self, dice: Dice, check: OpposedRoll) -> None:
        """Roll both sides, attacker first, each with its penalties."""
        self.check = check
        self.sides = (check.attacker, check.defender)
        self.names = names_of(check)
        self.pools = (pool_of(check.attacker), pool_of(check.defender))
        self.hands: list[_Hand] = []
        self.gone: list[tuple[_Gone, ...]] = [(), ()]
        self.traced = True
        self._dice = dice
        for index, side in enumerate(self.sides):
            pool = self.pools[index]
            hand, gone = dice.part(_roll_side, pool.dice, pool.modifier, side.penalties, actor=self.names[index])
            self.hands.append(hand)
            self._trace(index, gone)

    def net(self) -> int:
        """Return the net successes as things stand."""
        attacker, defender = self.hands
        return net_successes(
            attacker.pool,
            defender.pool,
            attacker_hard=is_hard(attacker.critical),
            defender_hard=is_hard(defender.critical),
        )

    def turns(self, *, winner_stands: bool = False) -> None:
        """Hold turns of one reroll or a pass, attacker then defender, until both pass in a row.

        Ruling: the seed has both sides reroll after each other ("The GM sees this and tries to reroll"), and no order
        but that of its example. A side that has nothing to reroll passes without being asked.
        """
        quality = self.check.uses_critical_dice or bool(self.check.damage)
        passes = index = 0
        while passes < len(self.sides):
            hand = self.hands[index]
            passed = not _options(hand, critical_only=winner_stands)
            if not passed:
                # A tie loses for the attacker.
                winning = winner_stands or (self.net() > 0) == (index == 0)
                stakes = _Stakes(winning, quality, winner_stands)
                turn, gone = self._dice.part(_turn, hand, self.sides[index].rerolls, stakes, actor=self.names[index])
                self.hands[index], passed = turn
                self._trace(index, gone)
            passes = passes + 1 if passed else 0
            index = 1 - index

    def damage(self, *, hard: bool, fierce: bool) -> DamageOutcome:
        """Return the damage of a hit ("Critical dice and resolution calculations" and the two sections after it).

        Ruling: after a hard critical's reroll and after the fierce strike's die, which is drawn after that reroll, one
        more round of turns is held with the points left, critical dice only and without penalties; the winner stands.
        The seed rerolls a 1 there in its hard critical, and has a fierce strike pick "after any bonus rerolls".
        """
        check = self.check
        weapon = notation(check.damage)
        if hard or fierce:
            hand, gone = self._dice.part(_strike, self.hands[0], hard, fierce, actor=self.names[0])
            self.hands[0] = hand
            self._trace(0, gone)
            self.turns(winner_stands=True)
        pair, _ = self._dice.part(_pick, self.hands[0].critical, check.damage, check.pick, actor=self.names[0])
        # "First, it gives critical (maximum) damage"; what the rerolled dice deal is added.
        maximum = weapon.on_double if hard else 0
        base = weapon.worth(pair)
        damage = maximum + base + check.attribute_modifier
        absorbed = notation(check.armour).worth(self.hands[1].critical) if check.armour else 0
        return DamageOutcome(maximum, pair, base, damage, absorbed, max(damage - absorbed, 0))

    def _trace(self, index: int, gone: tuple[_Gone, ...] | None) -> None:
        if gone is None:
            self.traced = False
        else:
            self.gone[index] += gone


# Parts: module-level, on their arguments alone.


def _roll_side(
    dice: Dice, decisions: Decisions, count: int, modifier: int, policy: PenaltyPolicy
) -> tuple[_Hand, tuple[_Gone, ...] | None]:
    """Roll a side's pool and critical dice, then its penalties.

    "For each negative, you must reroll any 5 or 6 face value. This applies not only to pool dice but also critical
    dice." Ruling: the roller picks which; the new face stands and may be rerolled again; a penalty with no 5 or 6
    left to it lapses.
    """
    pool = tuple(sorted(dice.pool(count, SIDES)))
    critical = tuple(sorted(dice.pool(CRITICAL_DICE, SIDES)))
    hand = _Hand(pool, critical, max(modifier, 0))
    gone: tuple[_Gone, ...] = ()
    for _ in range(-modifier):
        high = _showing(hand, HIGH)
        if not high:
            break
        hand, rerolled = _reroll(dice, hand, _penalty(decisions, hand, high, policy))
        gone += (rerolled,)
    return hand, gone


def _penalty(decisions: Decisions, hand: _Hand, high: tuple[_Spot, ...], policy: PenaltyPolicy) -> _Spot:
    """Choose the die that a penalty rerolls; by default the lowest, and of equals a pool die."""
    if len(high) == 1:
        return high[0]
    by_face = sorted(high, key=lambda spot: (spot.face, spot.critical))
    if policy is PenaltyPolicy.HIGHEST:
        by_face.sort(key=lambda spot: (-spot.face, spot.critical))
    options = tuple(spot.option() for spot in high)
    preset = None if policy is PenaltyPolicy.ASK else by_face[0].id
    (chosen,) = decisions.ask(
        Question("PENALTY", Who.PLAYER, options, preset, policy.name), about=lambda: _hand_words(hand)
    )
    return next(spot for spot in high if spot.id == chosen)


def _turn(
    dice: Dice,
    decisions: Decisions,
    hand: _Hand,
    policy: RerollPolicy,
    stakes: _Stakes,
) -> tuple[_Turn, tuple[_Gone, ...] | None]:
    """One turn of a side that has a bonus and a 1 or 2 for it: "for each positive modifier, you may reroll"."""
    spots = _options(hand, critical_only=stakes.winner_stands)
    options = (_PASS, *(spot.option() for spot in spots))
    preset = None if policy is RerollPolicy.ASK else PASS
    if policy is RerollPolicy.GREEDY:
        preset = _greedy(hand, spots, stakes)
    (chosen,) = decisions.ask(
        Question("REROLL", Who.PLAYER, options, preset, policy.name), about=lambda: _turn_words(hand)
    )
    if chosen == PASS:
        return _Turn(hand, passed=True), ()
    hand, gone = _reroll(dice, hand, next(spot for spot in spots if spot.id == chosen))
    return _Turn(hand._replace(points=hand.points - 1), passed=False), (gone,)


def _greedy(hand: _Hand, spots: tuple[_Spot, ...], stakes: _Stakes) -> str:
    """Return the option of a side that thinks one reroll ahead.

    Losing, it rerolls its lowest pool die showing 1 or 2 or, having none, its lowest critical die showing 1 or 2,
    since 6-6 may still save it. Winning, it works on its critical dice where the check uses them and no double is
    there. Ruling: once the winner stands nothing can be saved, so that both sides then work on their critical dice
    alone, and a loser with armour keeps its double.
    """
    if not stakes.winning:
        return spots[0].id
    critical = [spot for spot in spots if spot.critical]
    if stakes.quality and critical and not is_double(hand.critical):
        return critical[0].id
    return PASS


def _strike(
    dice: Dice,
    decisions: Decisions,  # noqa: ARG001  every part has the same head
    hand: _Hand,
    hard: bool,  # noqa: FBT001  the arguments of a part are positional
    fierce: bool,  # noqa: FBT001  as above
) -> tuple[_Hand, tuple[_Gone, ...] | None]:
    """Reroll both critical dice of a hard critical, then roll the fierce strike's "additional critical die"."""
    critical = hand.critical
    gone: tuple[_Gone, ...] = ()
    if hard:
        gone = tuple(_Gone(face, critical=True) for face in critical)
        critical = tuple([dice.again(face, Purpose.REROLL) for face in critical])
    if fierce:
        critical += (dice.roll(SIDES),)
    return hand._replace(critical=tuple(sorted(critical))), gone


def _pick(
    dice: Dice,  # noqa: ARG001  every part has the same head
    decisions: Decisions,
    critical: tuple[Face, ...],
    damage: str,
    policy: PickPolicy,
) -> tuple[tuple[int, int], None]:
    """After a fierce strike, "the player picks which two critical dice to use"."""
    if len(critical) == CRITICAL_DICE:
        return (max(critical), min(critical)), None
    known = pairs(critical)
    best = best_pair(critical, notation(damage))
    if len(known) == 1:
        return best, None
    options = _pick_options(known)
    choices = dict(zip([option.id for option in options], known, strict=True))
    preset = None if policy is PickPolicy.ASK else f"PICK_{best[0]}_{best[1]}"
    (chosen,) = decisions.ask(
        Question("PICK", Who.PLAYER, options, preset, policy.name),
        about=lambda: f"critical dice {_numbers(critical)} for the damage {damage}",
    )
    return choices[chosen], None


def _pick_options(known: Sequence[tuple[int, int]]) -> tuple[Option, ...]:
    return tuple([Option(f"PICK_{high}_{low}", f"Use the {high} and the {low}.") for high, low in known])


class _Spot(NamedTuple):
    """A die that may be rerolled, by what it shows: equal dice of a kind are one choice."""

    face: int
    critical: bool

    @property
    def id(self) -> str:
        return f"{'CRITICAL' if self.critical else 'POOL'}_{self.face}"

    def option(self) -> Option:
        return Option(self.id, f"Reroll a {'critical' if self.critical else 'pool'} die showing {self.face}.")


def _showing(hand: _Hand, faces: tuple[int, int]) -> tuple[_Spot, ...]:
    """Return what shows one of the faces: pool before critical dice, each from low to high."""
    return tuple(
        _Spot(face, critical)
        for kind, critical in ((hand.pool, False), (hand.critical, True))
        for face in faces
        if face in kind
    )


def _options(hand: _Hand, *, critical_only: bool) -> tuple[_Spot, ...]:
    """Return what a side may reroll this turn: nothing without a point left."""
    if hand.points == 0:
        return ()
    return tuple(spot for spot in _showing(hand, LOW) if spot.critical or not critical_only)


def _reroll(dice: Dice, hand: _Hand, spot: _Spot) -> tuple[_Hand, _Gone]:
    """Reroll one die showing that face; which of equal ones makes no difference to any value."""
    kind = hand.critical if spot.critical else hand.pool
    at = kind.index(spot.face)
    face = dice.again(kind[at], Purpose.REROLL)
    changed = tuple(sorted((*kind[:at], face, *kind[at + 1 :])))
    gone = _Gone(kind[at], spot.critical)
    return (hand._replace(critical=changed) if spot.critical else hand._replace(pool=changed)), gone


# --- What the dice on the table say ----------------------------------------------------------------------------------


class Letter(Enum):
    """Which number of the two critical dice counts; the seed defines no other letter."""

    A = "average, rounded up"
    L = "lowest"


@dataclass(frozen=True, slots=True)
class CriticalNotation:
    """Damage or armour notation, such as `A/12` or `L2/4`: letter, optional cap, and the number on a double."""

    letter: Letter
    cap: int | None
    on_double: int

    def worth(self, pair: Sequence[int]) -> int:
        """Return what two critical dice are worth ("Critical dice and resolution calculations").

        The average is rounded up: 1 and 5 are 3, 2 and 5 are 4. "If you roll a double, you instead take the number
        after the slash"; the cap is on the other value only.
        """
        one, other = pair
        if one == other:
            return self.on_double
        value = self.uncapped(one, other)
        return value if self.cap is None else min(value, self.cap)

    def uncapped(self, one: int, other: int) -> int:
        """Return what two critical dice that are no double are worth before the cap."""
        return (one + other + 1) // 2 if self.letter is Letter.A else min(one, other)


@lru_cache(maxsize=256)
def notation(text: str) -> CriticalNotation:
    """Return the notation: `A` or `L`, a cap 1..99 or none, a slash, a number 0..999.

    Raises:
        CheckError: NOTATION_INVALID, with what could have stood there; whoever calls adds the field.
    """
    found = NOTATION.fullmatch(text)
    if found is None:
        raise CheckError(
            "NOTATION_INVALID",
            f"damage and armour are written {_WRITTEN.words}",
            value=text[:100],
            expected=_WRITTEN.examples,
        )
    letter, cap, on_double = found.groups()
    return CriticalNotation(Letter[letter], None if cap is None else int(cap), int(on_double))


def is_double(critical: Sequence[int]) -> bool:
    """Return whether critical dice hold a double; of three dice, whether two can be picked that are one."""
    return len(set(critical)) < len(critical)


def is_hard(critical: Sequence[int]) -> bool:
    """Return whether two critical dice are a hard critical: 6-6."""
    return tuple(critical) == (TOP, TOP)


def extra_die(attacker: Sequence[int], defender: Sequence[int]) -> int:
    """Return the die that a hard critical grants: "equal to the maximum of either side".

    Ruling: the highest *rolled* pool die, so that an extra die never begets another.
    """
    return max(*attacker, *defender)


def net_successes(attacker: Sequence[int], defender: Sequence[int], *, attacker_hard: bool, defender_hard: bool) -> int:
    """Return the net successes of two pools: above 0 the attacker's, below 0 the defender's, 0 a tie.

    "Look at who has the highest pool die, or if both have that, the highest number of this value." Net successes are
    the winner's dice "over their highest"; with equal highest dice, the difference of their numbers.
    Ruling: both sides may have a hard critical's extra die, and it counts toward net successes ("Two successes").
    """
    extra = (extra_die(attacker, defender),)
    mine = (*attacker, *extra * attacker_hard)
    theirs = (*defender, *extra * defender_hard)
    highest, their_highest = max(mine), max(theirs)
    if highest > their_highest:
        return sum(face > their_highest for face in mine)
    if highest < their_highest:
        return -sum(face > highest for face in theirs)
    return mine.count(highest) - theirs.count(highest)


def pairs(critical: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the distinct pairs, higher face first, that can be picked of the critical dice, highest first."""
    return tuple(sorted({(max(pair), min(pair)) for pair in combinations(critical, 2)}, reverse=True))


def best_pair(critical: Sequence[int], damage: CriticalNotation) -> tuple[int, int]:
    """Return the pair with the higher damage; of equal ones, the one with the higher faces."""
    return max(pairs(critical), key=damage.worth)


# --- For the table ---------------------------------------------------------------------------------------------------


def _side_outcome(table: _Table, index: int, judged: _Hand, top: int, damage: DamageOutcome | None) -> SideOutcome:
    """Return a side's outcome: `judged` is its hand when the check was won, the table's is the one at the end."""
    last, gone = table.hands[index], table.gone[index]
    hard = is_hard(judged.critical)
    counted = (*judged.pool, *((top,) if hard else ()))
    pool = table.pools[index]
    return SideOutcome(
        dice_rolled=pool.dice,
        modifier=pool.modifier,
        pool=_in_order(
            [Die(each.face.draw, int(each.face), (Fate.REROLLED,)) for each in gone if not each.critical]
            + [Die(face.draw, int(face), (Fate.KEPT,)) for face in judged.pool]
        ),
        critical_dice=_in_order(
            [Die(each.face.draw, int(each.face), (Fate.REROLLED,)) for each in gone if each.critical]
            + _critical_fates(last.critical, damage)
        ),
        points_left=last.points,
        critical=is_double(judged.critical),
        hard_critical=hard,
        extra_die=int(top) if hard else None,
        highest=int(max(counted)),
        highest_count=counted.count(max(counted)),
    )


def _critical_fates(critical: tuple[Face, ...], damage: DamageOutcome | None) -> list[Die]:
    """Return the critical dice that stand: of three, the two that were picked are kept; a double is critical."""
    picked = [int(face) for face in critical] if damage is None else list(damage.picked)
    double = picked[0] == picked[1]
    fated = []
    for face in critical:
        kept = face in picked
        if kept:
            picked.remove(face)
        fates = (Fate.KEPT, Fate.CRITICAL) if kept and double else (Fate.KEPT,) if kept else (Fate.DROPPED,)
        fated.append(Die(face.draw, int(face), fates))
    return fated


def _in_order(dice: Sequence[Die]) -> tuple[Die, ...]:
    return tuple(sorted(dice, key=lambda die: die.draw))


def text(check: OpposedRoll, outcome: OpposedOutcome, draws: Sequence[Draw]) -> Text:
    """Say the check in one line as the game writes its dice, pool | critical dice, and step by step."""
    names = names_of(check)
    line = f"{_dice_line(outcome.attacker)} vs. {_dice_line(outcome.defender)}: {_result(names, outcome)}"
    if outcome.damage is not None:
        line += f", {outcome.damage.final_damage} HP"
    steps = [
        *_pool_steps(check.attacker, names[0]),
        *_pool_steps(check.defender, names[1]),
        *_dice_steps(names, outcome, draws),
        *_winner_steps(names, outcome),
        *_damage_steps(check, outcome, draws),
    ]
    return Text(line, tuple(steps))


def _faces(dice: Sequence[Die], fate: Fate) -> str:
    return " ".join([str(die.value) for die in dice if fate in die.fates])


def rows(check: OpposedRoll, draws: Sequence[Draw]) -> tuple[str, ...]:
    """Return the dice of each side so far, such as `Ann, 3D-1: pool 1 2 5 rerolled into 3 | critical dice 3 3`."""
    said = again_words(draws)
    lines = []
    for name, side in zip(names_of(check), (check.attacker, check.defender), strict=True):
        pool = pool_of(side)
        first = [said[index] for index, draw in enumerate(draws) if draw.of is None and draw.actor == name]
        kinds = (("pool", first[: pool.dice]), ("critical dice", first[pool.dice :]))
        dice = " | ".join([f"{kind} {', '.join(faces)}" for kind, faces in kinds if faces])
        lines += [f"{name}, {pool}: {dice}"] * bool(dice)
    return tuple(lines)


def _dice_line(side: SideOutcome) -> str:
    pool = _faces(side.pool, Fate.KEPT) + (f" [{side.extra_die}]" if side.extra_die else "")
    return f"{pool} | {_faces(side.critical_dice, Fate.KEPT)}"


def _result(names: tuple[str, str], outcome: OpposedOutcome) -> str:
    if outcome.winner is Winner.NEITHER:
        return "tie, a partial success"
    name = names[outcome.winner is Winner.DEFENDER]
    if outcome.tie:
        return f"tie, {name} wins"
    count = abs(outcome.net_successes)
    return f"{name} wins by {count} success{'es' if count > 1 else ''}"


def _pool_steps(side: Side, name: str) -> list[str]:
    """Modifiers: how rank, modifiers and exchange became the dice and the modifier at the time of the roll."""
    rank, modifier = side.pool, sum(side.modifiers)
    steps = []
    if len(side.modifiers) > 1:
        steps.append(f"modifiers {' '.join(f'{each:+d}' for each in side.modifiers)} total {modifier:+d}")
    if rank == 0:
        rank, modifier = 1, modifier - UNTRAINED_PENALTY
        steps.append(f"0D is treated as 1D-{UNTRAINED_PENALTY}: {Pool(rank, modifier)}")
    if side.exchange:
        rank, modifier = rank + side.exchange, modifier - POINTS_A_DIE * side.exchange
        steps.append(f"exchange at {POINTS_A_DIE} to 1: {Pool(rank, modifier)}")
    if pool_of(side).modifier != modifier:
        steps.append(f"the modifier is {MIN_MODIFIER}..+{MAX_MODIFIER} at most: {pool_of(side)}")
    return [f"{name}: {step}" for step in steps]


def _dice_steps(names: tuple[str, str], outcome: OpposedOutcome, draws: Sequence[Draw]) -> list[str]:
    """The check, and Modifiers: what both sides rolled, and each reroll in its turn, up to the winner."""
    sides = (outcome.attacker, outcome.defender)
    steps = []
    for name, side in zip(names, sides, strict=True):
        first, critical = side.pool[: side.dice_rolled], side.critical_dice[:CRITICAL_DICE]
        rolled = f"{_values(first)} | {_values(critical)}"
        steps.append(f"{name} rolls {Pool(side.dice_rolled, side.modifier)} and critical dice: {rolled}")
    steps += _reroll_steps(names, outcome, draws, 0, _strike_at(names, outcome, draws))
    for name, side in zip(names, sides, strict=True):
        if side.hard_critical:
            steps.append(f"{name}: 6-6, a hard critical: an additional die equal to the maximum, {side.extra_die}")
        elif side.critical:
            steps.append(f"{name}: a double on the critical dice, a critical")
    return steps


def _reroll_steps(
    names: tuple[str, str], outcome: OpposedOutcome, draws: Sequence[Draw], start: int, end: int
) -> list[str]:
    """Return each reroll of a bonus or penalty among some of the draws."""
    rerolls = [
        (index, draws[draw.of].face, draw.face)
        for index, draw in enumerate(draws[start:end], start)
        if draw.of is not None
    ]
    if not rerolls:
        return []
    places = {
        die.draw: (name, kind)
        for name, side in zip(names, (outcome.attacker, outcome.defender), strict=True)
        for kind, dice in (("pool", side.pool), ("critical", side.critical_dice))
        for die in dice
    }
    steps = []
    for index, before, face in rerolls:
        name, kind = places[index]
        why = "bonus" if before in LOW else "penalty"
        steps.append(f"{name}: a {why} rerolls a {kind} die from {before} to {face}")
    return steps


def _strike_at(names: tuple[str, str], outcome: OpposedOutcome, draws: Sequence[Draw]) -> int:
    """Return the first draw for the damage: a hard critical's reroll of 6-6, else a fierce strike's die, else the end.

    Once both sides have rolled, the attacker rerolls a 6 for nothing but a hard critical, and nobody rolls a new die
    but for a fierce strike.
    """
    if outcome.damage is None or not (outcome.attacker.hard_critical or outcome.fierce_strike):
        return len(draws)
    to_roll = sum(side.dice_rolled + CRITICAL_DICE for side in (outcome.attacker, outcome.defender))
    for index, draw in enumerate(draws):
        if draw.of is None and not to_roll:
            return index
        to_roll -= draw.of is None
        if draw.of is not None and not to_roll and draw.actor == names[0] and draws[draw.of].face == TOP:
            return index
    return len(draws)


def _winner_steps(names: tuple[str, str], outcome: OpposedOutcome) -> list[str]:
    """The check, and High success/failure checks."""
    attacker, defender = outcome.attacker, outcome.defender
    result, count = _result(names, outcome), abs(outcome.net_successes)
    if outcome.tie:
        favours = "" if outcome.winner is Winner.NEITHER else ", and ties favor the defender"
        both = f"Both have {attacker.highest_count} x {attacker.highest} as highest pool die{favours}"
        steps = [f"{both}: {result}"]
    elif attacker.highest == defender.highest:
        counts = f"{names[0]} {attacker.highest_count}, {names[1]} {defender.highest_count}"
        steps = [f"Both have a highest pool die of {attacker.highest}, {counts} of them: {result}"]
    else:
        lower = min(attacker.highest, defender.highest)
        dice = "1 die is" if count == 1 else f"{count} dice are"
        highest = f"{names[0]} {attacker.highest}, {names[1]} {defender.highest}"
        steps = [f"Highest pool die: {highest}; {dice} over the {lower}: {result}"]
    if outcome.fierce_strike:
        steps.append(f"{MANY_SUCCESSES} or more successes: in combat a fierce strike, with a free attack")
    if outcome.riposte:
        steps.append(f"{MANY_SUCCESSES} or more failures: in combat a riposte, a free counterattack of {names[1]}")
    return steps


def _damage_steps(check: OpposedRoll, outcome: OpposedOutcome, draws: Sequence[Draw]) -> list[str]:
    """Hard critical calculation, fierce strike, and Critical dice and resolution calculations; then what is left."""
    names, damage, steps = names_of(check), outcome.damage, []
    if damage is not None:
        at = _strike_at(names, outcome, draws)
        if outcome.attacker.hard_critical:
            again = f"{draws[at].face} and {draws[at + 1].face}"
            maximum = f"critical (maximum) damage {damage.hard_critical_damage}"
            steps.append(f"Hard critical: {maximum}, and both critical dice are rerolled: {again}")
            at += CRITICAL_DICE
        if outcome.fierce_strike:
            steps.append(f"Fierce strike: an additional critical die, {draws[at].face}")
            at += 1
        steps += _reroll_steps(names, outcome, draws, at, len(draws))
        if outcome.fierce_strike:
            picked = " and ".join(map(str, damage.picked))
            steps.append(f"{names[0]} picks {picked}, discards {_faces(outcome.attacker.critical_dice, Fate.DROPPED)}")
        steps += _hit_points(check, outcome, damage)
    left = [
        f"{name} {side.points_left}"
        for name, side in zip(names, (outcome.attacker, outcome.defender), strict=True)
        if side.points_left
    ]
    return [*steps, f"Bonuses not used: {', '.join(left)}"] if left else steps


def _hit_points(check: OpposedRoll, outcome: OpposedOutcome, damage: DamageOutcome) -> list[str]:
    hard = f"{damage.hard_critical_damage} (hard critical) + " if damage.hard_critical_damage else ""
    attribute = check.attribute_modifier
    signed = f" {'-' if attribute < 0 else '+'} {abs(attribute)} (attribute)" if attribute else ""
    equals = f" = {damage.damage}" if hard or signed else ""
    steps = [f"Damage {_worth(check.damage, damage.picked)}", f"Damage: {hard}{damage.base}{signed}{equals} HP"]
    if check.armour:
        pair = [die.value for die in outcome.defender.critical_dice if Fate.KEPT in die.fates]
        steps.append(f"Armour {_worth(check.armour, pair)}")
        floor = ", at least 0" if damage.damage < damage.absorbed else ""
        steps.append(f"Damage taken: {damage.damage} - {damage.absorbed}{floor} = {damage.final_damage} HP")
    return steps


def _worth(text: str, pair: Sequence[int]) -> str:
    """Return such as `A/12 on 5 and 4, the average, rounded up: 5`."""
    known, (one, other) = notation(text), pair
    if one == other:
        how = "a double, the number after the slash"
    else:
        capped = f", capped at {known.cap}" if known.uncapped(one, other) != known.worth(pair) else ""
        how = f"the {known.letter.value}{capped}"
    return f"{text} on {one} and {other}, {how}: {known.worth(pair)}"


def _values(dice: Sequence[Die]) -> str:
    return _numbers([die.value for die in dice])


def _numbers(faces: Sequence[int]) -> str:
    return " ".join([str(int(face)) for face in faces])


def _hand_words(hand: _Hand) -> str:
    """Return such as `pool 1 2 5 | critical dice 3 3`, to decide by."""
    return f"pool {_numbers(hand.pool)} | critical dice {_numbers(hand.critical)}"


def _turn_words(hand: _Hand) -> str:
    return f"{_hand_words(hand)}, {hand.points} bonus{'' if hand.points == 1 else 'es'} left"
