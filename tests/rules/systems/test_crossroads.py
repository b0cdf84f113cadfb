"""Crossroads MVP: the page's examples, exact odds against a slow twin, properties and refusals."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from pathlib import Path
from typing import Any

import pytest

from fairroll_rules.dice import Purpose
from fairroll_rules.errors import AnswerError, CheckError
from fairroll_rules.given import GivenFaces
from fairroll_rules.odds import distribution
from fairroll_rules.outcome import Fate
from fairroll_rules.resolve import Resolved, resolve
from fairroll_rules.systems import crossroads
from fairroll_rules.systems.crossroads import (
    ChangePolicy,
    Counts,
    DamageStep,
    GreatSuccessPolicy,
    GroupMode,
    GroupRoll,
    Member,
    Multiple,
    OpposingRoll,
    OpposingValue,
    PerilDie,
    RemovalPolicy,
    ResultName,
    SkillRoll,
    Throw,
    ZeroResultPolicy,
)
from tests.rules.systems import crossroads_twin as twin

ROWS = [
    row
    for row in json.loads((Path(__file__).parents[2] / "vectors" / "rules_examples.json").read_text())
    if row["system"] == "crossroads"
]
LONG = bool(os.environ.get("FAIRROLL_LONG"))
NETS = range(-3, 4)
STATISTICS = range(-3, 6)
CHANGES = (ChangePolicy.NEVER, ChangePolicy.LOWEST)
FACES_OF = {-1: (3, 2, 1), 0: (5, 3, 2), 1: (5, 4, 3), 2: (6, 6, 4)}
"""Three dice that make each Success Value at statistic 0 and hold no Change."""


def play(check: object, faces: list[int] | tuple[int, ...], *answers: str) -> Resolved:
    """Resolve a check on exactly these faces and answers."""
    source = GivenFaces(faces)
    resolved = resolve(check, source, answers)
    source.finish()
    return resolved


def kept(throw: Throw) -> list[int]:
    return [die.value for die in throw.dice if die.fates == (Fate.KEPT,)]


# The page's examples


def removal_example(given: dict[str, Any], expect: dict[str, Any]) -> None:
    check = SkillRoll(advantage=given.get("advantage", 0), disadvantage=given.get("disadvantage", 0))
    outcome = play(check, given["dice"], "_".join(["REMOVE", *map(str, given["removed"])])).outcome
    assert kept(outcome.throw) == expect["kept"]
    assert [die.value for die in outcome.throw.dice if die.fates == (Fate.DROPPED,)] == given["removed"]
    assert outcome.throw.sum == expect["sum"]
    assert outcome == play(check, given["dice"]).outcome  # the policy chooses as the example does


def modifier_example(given: dict[str, Any], expect: dict[str, Any]) -> None:
    level = {each[0]: int(each[1]) for each in given["modifiers"]}
    check = DamageStep(level.get("a", 0), level.get("d", 0))
    net = play(check, ()).outcome.net
    assert f"{'a' if net > 0 else 'd'}{abs(net)}" == expect["net"]
    rolled = SkillRoll(advantage=check.advantage, disadvantage=check.disadvantage)
    assert crossroads.draws(rolled) == 3 + abs(net)


def opposing_example(given: dict[str, Any], expect: dict[str, Any]) -> None:
    check = SkillRoll(opposition=OpposingValue(given["opposing_sv"]))
    outcome = play(check, FACES_OF[given["sv"]]).outcome
    assert outcome.throw.success_value == given["sv"]
    assert (outcome.difference, outcome.result) == (expect["raw"], expect["result"])


def opposed_example(given: dict[str, Any], expect: dict[str, Any]) -> None:
    numbers = expect.get("by_rule", expect)
    check = SkillRoll(statistic=given["elf"]["stat"], opposition=OpposingRoll("Orc", given["orc"]["stat"]))
    outcome = play(check, given["elf"]["dice"] + given["orc"]["dice"]).outcome
    elf, orc = outcome.throw, outcome.opposing_throw
    assert (elf.total, elf.success_value) == (numbers["elf_total"], numbers["elf_sv"])
    assert (orc.total, orc.success_value) == (numbers["orc_total"], numbers["orc_sv"])
    assert outcome.result == numbers["result"]
    if "result_names_offered" in expect:
        assert outcome.result_name is ResultName.ZERO_UNDECIDED
        assert all(name in crossroads.text(check, outcome, ()).line for name in expect["result_names_offered"])


def peril_die_example(given: dict[str, Any], expect: dict[str, Any]) -> None:
    opponent = PerilDie(given["opponent_stat"])
    outcome = play(SkillRoll(opposition=opponent), (given["peril_die"], 6, 1)).outcome
    assert outcome.opposing_success_value == expect["opponent_sv"]
    if "hit_at_or_below" in expect:
        peril_table_example(given, expect)


def peril_table_example(given: dict[str, Any], expect: dict[str, Any]) -> None:
    opponent = PerilDie(given["opponent_stat"])
    numbers = (expect["hit_at_or_below"], expect["strong_at_or_below"])
    assert crossroads.peril_thresholds(opponent) == numbers
    for face in range(1, 7):
        outcome = play(
            SkillRoll(opposition=opponent), (face, *[other for other in (1, 2, 6) if other != face][:2])
        ).outcome
        assert (outcome.peril.hit_at_or_below, outcome.peril.strong_hit_at_or_below) == numbers
        assert outcome.opposing_success_value == (2 if face <= numbers[1] else 1 if face <= numbers[0] else 0)


def critical_example(given: dict[str, Any], expect: dict[str, Any]) -> None:
    opposing = expect["sv"] - given["result"]
    opposition = OpposingValue(opposing) if opposing else None
    outcome = play(SkillRoll(given["stat"], opposition=opposition), given["dice"]).outcome
    assert (outcome.throw.success_value, outcome.result) == (expect["sv"], given["result"])
    assert outcome.critical is expect["critical"]


def group_example(given: dict[str, Any], expect: dict[str, Any]) -> None:
    check = GroupRoll(GroupMode.ALL_TOGETHER, tuple([Member(f"member {at}") for at in range(len(given["group"]))]))
    outcome = play(check, [face for value in given["group"] for face in FACES_OF[value]]).outcome
    assert [throw.success_value for throw in outcome.throws] == given["group"]
    assert list(outcome.remaining) == expect.get("after_cancel", given["group"])
    assert outcome.result == expect["result"]


def dice_example(given: dict[str, Any], expect: dict[str, Any]) -> None:
    change = given.get("change")
    faces, answers = list(given["dice"]), []
    if change:
        faces.append(change["new"])
        answers.append(f"REROLL_{change['die']}")
    check = SkillRoll(given["stat"])
    throw = play(check, faces, *answers).outcome.throw
    found = {
        "sum": throw.sum,
        "sv": throw.success_value,
        "sv_before": throw.chart_value,
        "sv_if_kept": throw.success_value,
        "kept": sorted(kept(throw), reverse=True),
        "multiple": throw.multiple and throw.multiple.name.lower(),
        "multiple_after": throw.multiple_after and throw.multiple_after.name.lower(),
        "temporary_fate_dice": throw.temporary_fate_dice,
        "second_change": throw.multiple_after is Multiple.CHANGE,
        "may_reroll_die_index": rerollable(given["dice"]),
    }
    assert {key: found[key] for key in expect} == expect


def rerollable(dice: list[int]) -> list[int]:
    """The places whose face some option of the Change names."""
    if len(set(dice)) == 3 or dice.count(1) > 1 or dice.count(6) > 1:
        return []
    with pytest.raises(AnswerError) as caught:
        play(SkillRoll(), dice, "NO_SUCH_OPTION")
    return [at for at, face in enumerate(dice) if f"REROLL_{face}" in caught.value.expected]


def amount_example(given: dict[str, Any], expect: dict[str, Any]) -> None:
    amounts = [
        crossroads.amount(1, True) if each == "critical" else crossroads.amount(each, False)
        for each in given["results"]
    ]
    assert amounts == expect["amounts"]


EXAMPLES: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {
    "removed": removal_example,
    "modifiers": modifier_example,
    "opposing_sv": opposing_example,
    "elf": opposed_example,
    "peril_die": peril_die_example,
    "opponent_stat": peril_table_example,
    "result": critical_example,
    "group": group_example,
    "results": amount_example,
    "stat": dice_example,
}
"""Which test a row is: by the first of these among what is given."""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_example(row: dict[str, Any]) -> None:
    example = next(EXAMPLES[key] for key in EXAMPLES if key in row["given"])
    example(row["given"], row["expect"])


def test_every_example_is_there() -> None:
    assert len(ROWS) == 33


# Exact odds


def odds(check: object) -> dict[Any, Fraction]:
    found = distribution(crossroads.resolve, check)
    assert found.lost == 0
    return dict(found.weights)


def modifiers(net: int) -> tuple[int, int]:
    """Advantage and disadvantage."""
    return max(net, 0), max(-net, 0)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("net", NETS)
def test_odds_of_a_skill_roll(net: int, statistic: int) -> None:
    for change in CHANGES:
        own = twin.side(net, statistic, reroll_lowest=change is ChangePolicy.LOWEST)
        assert odds(SkillRoll(statistic, *modifiers(net), change=change)) == twin.against_value(own, 0)


@pytest.mark.parametrize("opposing", range(-1, 3))
def test_odds_against_a_success_value(opposing: int) -> None:
    check = SkillRoll(2, advantage=1, opposition=OpposingValue(opposing))
    assert odds(check) == twin.against_value(twin.side(1, 2), opposing)


@pytest.mark.parametrize("opponents_net", NETS)
@pytest.mark.parametrize("net", NETS)
def test_odds_of_an_opposed_roll(net: int, opponents_net: int) -> None:
    """Both sides' levels; all pairs of statistics with `make fuzz`, otherwise three each and every pair somewhere."""
    first = 3 * (len(NETS) * (net + 3) + opponents_net + 3)
    for number in range(first, first + 3) if not LONG else range(len(STATISTICS) ** 2):
        other, own = (STATISTICS[each] for each in divmod(number % len(STATISTICS) ** 2, len(STATISTICS)))
        change, opponents = (CHANGES[number >> bit & 1] for bit in (0, 1))
        opposition = OpposingRoll("Orc", other, *modifiers(opponents_net), change=opponents)
        check = SkillRoll(own, *modifiers(net), opposition=opposition, change=change)
        assert odds(check) == twin.against_roll(
            twin.side(net, own, reroll_lowest=change is ChangePolicy.LOWEST),
            twin.side(opponents_net, other, reroll_lowest=opponents is ChangePolicy.LOWEST),
        )


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("net", NETS)
def test_odds_with_a_peril_die(net: int, statistic: int) -> None:
    """All opponents with `make fuzz`; otherwise three each, so that every level and every statistic meets them all."""
    opponents = list(product(range(-2, 5), (-1, 0, 1)))
    first = 3 * (net + 3 + statistic + 3)
    some = opponents if LONG else [opponents[at % len(opponents)] for at in range(first, first + 3)]
    for (opponent, moved), change in product(some, CHANGES):
        check = SkillRoll(statistic, *modifiers(net), PerilDie(opponent, *modifiers(moved)), change=change)
        reroll = change is ChangePolicy.LOWEST
        assert odds(check) == twin.with_peril(net, statistic, opponent, moved, reroll_lowest=reroll)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("net", NETS)
def test_odds_of_a_member_among_others(net: int, statistic: int) -> None:
    others = [((net + 5) % 7 - 3, (statistic + 7) % 9 - 3), ((net + 8) % 7 - 3, (statistic + 11) % 9 - 3)]
    for change in CHANGES:
        member = Member("Ann", statistic, *modifiers(net), change=change)
        group = (member, *(Member(f"{at}", each, *modifiers(level)) for at, (level, each) in enumerate(others)))
        own = twin.side(net, statistic, reroll_lowest=change is ChangePolicy.LOWEST)
        together = odds(GroupRoll(GroupMode.ALL_TOGETHER, group))
        expected = twin.group([own, *(twin.side(level, each) for level, each in others)])
        assert {value.result: weight for value, weight in together.items()} == expected
        expected_alone: dict[tuple[int, bool], Fraction] = {}
        for (result, _, _, _, critical, _, _), chance in twin.against_value(own, 0).items():
            expected_alone[result, critical] = expected_alone.get((result, critical), Fraction(0)) + chance
        assert odds(GroupRoll(GroupMode.SIMPLE, (member,))) == expected_alone


def test_odds_of_a_group_of_six() -> None:
    levels = [(0, 0), (1, 2), (-1, 1), (3, -3), (-2, 5), (2, 0)]
    members = [Member(f"{at}", statistic, *modifiers(net)) for at, (net, statistic) in enumerate(levels)]
    expected = twin.group([twin.side(net, statistic) for net, statistic in levels])
    assert {
        value.result: weight for value, weight in odds(GroupRoll(GroupMode.ALL_TOGETHER, tuple(members))).items()
    } == expected


def test_odds_of_a_group_of_two_dice_by_dice() -> None:
    ways: dict[int, int] = {}
    for roll in product(range(1, 7), repeat=6):
        one = twin.success_value((roll[0], roll[1], roll[2]), 0)
        other = twin.success_value((roll[3], roll[4], roll[5]), 2)
        _, result = twin.group_result([one, other])
        ways[result] = ways.get(result, 0) + 1
    found = odds(GroupRoll(GroupMode.ALL_TOGETHER, (Member("A"), Member("B", 2))))
    assert {value.result: weight for value, weight in found.items()} == {
        result: Fraction(count, 6**6) for result, count in ways.items()
    }


def test_odds_of_a_simple_group_are_those_of_its_best_member() -> None:
    found = odds(GroupRoll(GroupMode.SIMPLE, (Member("A", 1), Member("B", 3, advantage=1), Member("C", 3))))
    expected: dict[tuple[int, bool], Fraction] = {}
    for (result, _, _, _, critical, _, _), chance in twin.against_value(twin.side(1, 3), 0).items():
        expected[result, critical] = expected.get((result, critical), Fraction(0)) + chance
    assert found == expected


@pytest.mark.parametrize("size", range(1, 6))
def test_cancelling_by_counts_is_cancelling_one_by_one(size: int) -> None:
    for values in combinations_with_replacement((-1, 0, 1, 2), size):
        left = crossroads.cancel(Counts(*[values.count(value) for value in (-1, 0, 1, 2)]))
        assert (list(crossroads.spread(left)), crossroads.most_common(left)) == twin.group_result(list(values))


@pytest.mark.parametrize(
    ("check", "work"),
    [
        (SkillRoll(advantage=3), 2_000),
        (SkillRoll(advantage=3, opposition=OpposingRoll("Orc", disadvantage=3)), 3_000),
        (SkillRoll(advantage=3, opposition=PerilDie(1), change=ChangePolicy.LOWEST), 15_000),
        (GroupRoll(GroupMode.ALL_TOGETHER, tuple([Member(name) for name in "ABCDEF"])), 1_000),
    ],
)
def test_odds_stay_cheap(check: object, work: int) -> None:
    # In paths, not in seconds: about 10 us each, whatever else the machine does.
    assert sum(distribution(crossroads.resolve, check, budget=work).weights.values()) == 1


# Choices


@pytest.mark.parametrize("statistic", [-2, 0, 3])
@pytest.mark.parametrize("net", [-3, -2, -1, 1, 2, 3])
def test_the_default_removal_gives_the_best_or_the_worst_success_value(net: int, statistic: int) -> None:
    best = max if net > 0 else min
    for faces in combinations_with_replacement(range(1, 7), 3 + abs(net)):
        throw = play(SkillRoll(statistic, *modifiers(net)), faces).outcome.throw
        choices = combinations_with_replacement(faces, 3)
        possible = [choice for choice in choices if all(choice.count(face) <= faces.count(face) for face in choice)]
        assert throw.success_value == best(twin.success_value(choice, statistic) for choice in possible)


def test_only_distinct_removals_are_offered_and_a_single_one_is_not_asked() -> None:
    with pytest.raises(AnswerError) as caught:
        play(SkillRoll(advantage=2), (5, 3, 5, 3, 1), "NO_SUCH_OPTION")
    assert set(caught.value.expected) == {"REMOVE_5_5", "REMOVE_5_3", "REMOVE_5_1", "REMOVE_3_3", "REMOVE_3_1"}
    assert play(SkillRoll(advantage=1, change=ChangePolicy.NEVER), (6, 6, 6, 6)).decisions == ()


def test_the_peril_die_is_told_from_its_equals() -> None:
    check = SkillRoll(advantage=1, opposition=PerilDie(1))
    with pytest.raises(AnswerError) as caught:
        play(check, (3, 3, 6, 1), "NO_SUCH_OPTION")
    assert set(caught.value.expected) == {"REMOVE_6", "REMOVE_3", "REMOVE_1", "REMOVE_PERIL_3"}
    outcome = play(check, (3, 3, 6, 1), "REMOVE_PERIL_3").outcome
    assert outcome.throw.dice[0].fates == (Fate.DROPPED,)
    assert (outcome.peril.face, outcome.opposing_success_value, outcome.throw.peril_draw) == (3, 1, 0)


def test_the_peril_die_is_the_last_of_equals_to_go() -> None:
    for modifier in ((1, 0), (0, 1)):
        outcome = play(SkillRoll(0, *modifier, PerilDie(1)), (4, 4, 4, 4)).outcome
        assert [die.fates for die in outcome.throw.dice] == [(Fate.KEPT,)] * 3 + [(Fate.DROPPED,)]


def test_rerolling_the_peril_die_changes_the_opponents_success_value() -> None:
    check = SkillRoll(opposition=PerilDie(1))
    resolved = play(check, (3, 3, 5, 4), "REROLL_PERIL_3")
    assert (resolved.outcome.peril.face, resolved.outcome.throw.peril_draw) == (4, 3)
    assert resolved.outcome.opposing_success_value == 0
    assert play(check, (3, 3, 5, 4), "REROLL_3").outcome.opposing_success_value == 1


def test_a_triple_before_a_change_keeps_its_temporary_fate_die() -> None:
    assert play(SkillRoll(), (4, 4, 4, 1), "REROLL_4").outcome.throw.temporary_fate_dice == 1
    assert play(SkillRoll(), (4, 4, 4, 4), "REROLL_4").outcome.throw.temporary_fate_dice == 1


def test_a_change_has_no_second_change() -> None:
    resolved = play(SkillRoll(), (4, 4, 2, 2), "REROLL_4")
    assert (kept(resolved.outcome.throw), resolved.outcome.throw.multiple_after) == ([4, 2, 2], None)
    assert [decision.kind for decision in resolved.decisions] == ["CHANGE", "ZERO_RESULT"]


def test_a_great_success_can_be_taken_as_a_critical() -> None:
    check = SkillRoll(2)
    plain = play(check, (5, 5, 4))
    assert (plain.outcome.result, plain.outcome.critical, plain.outcome.success_value_amount) == (2, False, 2)
    taken = play(check, (5, 5, 4), "KEEP", "CRITICAL")
    assert (taken.outcome.critical, taken.outcome.success_value_amount) == (True, 2)
    assert taken.value.critical is True
    declared = play(SkillRoll(2, great_success=GreatSuccessPolicy.CRITICAL), (5, 5, 4))
    assert declared.outcome == taken.outcome
    assert [decision.policy for decision in declared.decisions] == ["NEVER", "CRITICAL"]


def test_a_great_success_with_a_six_is_critical_unasked() -> None:
    resolved = play(SkillRoll(0), (6, 5, 5, 6), "REROLL_5")
    assert (resolved.outcome.result, resolved.outcome.critical) == (2, True)
    assert [decision.kind for decision in resolved.decisions] == ["CHANGE"]


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        (ZeroResultPolicy.UNDECIDED, ResultName.ZERO_UNDECIDED),
        (ZeroResultPolicy.PARTIAL_SUCCESS, ResultName.PARTIAL_SUCCESS),
        (ZeroResultPolicy.COMPENSATING_FAILURE, ResultName.COMPENSATING_FAILURE),
    ],
)
def test_the_player_names_a_zero_result(policy: ZeroResultPolicy, name: ResultName) -> None:
    declared = play(SkillRoll(zero_result=policy), FACES_OF[0])
    assert declared.outcome.result_name is name
    answered = play(SkillRoll(zero_result=ZeroResultPolicy.ASK), FACES_OF[0], policy.name)
    assert answered.outcome == declared.outcome
    assert (declared.decisions[0].policy, answered.decisions[0].policy) == (policy.name, "")


@pytest.mark.parametrize(
    ("check", "faces"),
    [
        (SkillRoll(advantage=1, removal=RemovalPolicy.ASK), (5, 4, 3, 2)),
        (SkillRoll(change=ChangePolicy.ASK), (5, 3, 3)),
        (SkillRoll(zero_result=ZeroResultPolicy.ASK), (5, 3, 2)),
        (SkillRoll(5, great_success=GreatSuccessPolicy.ASK), (5, 4, 3)),
    ],
)
def test_ask_is_open_until_someone_answers(check: SkillRoll, faces: tuple[int, ...]) -> None:
    with pytest.raises(AnswerError) as caught:
        play(check, faces)
    assert caught.value.reason == "DECISION_OPEN"


def test_who_decides_what() -> None:
    who = {
        (decision.kind, decision.who.value)
        for check, faces in (
            (SkillRoll(advantage=1), (5, 4, 3, 3)),
            (SkillRoll(disadvantage=1), (5, 4, 3, 3)),
            (SkillRoll(5), (5, 4, 3)),
            (SkillRoll(), (5, 3, 2)),
        )
        for decision in play(check, faces).decisions
    }
    assert who == {
        ("REMOVE", "player"),
        ("REMOVE", "game master"),
        ("CHANGE", "player"),
        ("GREAT_SUCCESS", "player"),
        ("ZERO_RESULT", "player"),
    }


def test_all_together_no_members_six_makes_the_groups_result_critical() -> None:
    members = (Member("Elf"), Member("Dwarf"))
    check = GroupRoll(GroupMode.ALL_TOGETHER, members)
    assert play(check, (6, 4, 2, 6, 5, 1)).outcome.critical is False
    taken = GroupRoll(GroupMode.ALL_TOGETHER, members, great_success=GreatSuccessPolicy.CRITICAL)
    assert play(taken, (6, 6, 4, 6, 6, 5)).outcome.critical is True
    assert play(GroupRoll(GroupMode.SIMPLE, members), (6, 4, 2)).outcome.critical is True


# Rulings


def test_advantages_cancel_before_the_cap() -> None:
    assert play(DamageStep(5, 2), ()).outcome.net == 3
    assert play(DamageStep(4, 6), ()).outcome.net == -2
    assert play(DamageStep(0, 9), ()).value == (-3,)


@pytest.mark.parametrize(
    ("opponent", "thresholds"),
    [
        (PerilDie(-2, advantage=1), (1, 0)),
        (PerilDie(1, advantage=3), (4, 1)),
        (PerilDie(2, disadvantage=2), (3, 0)),
        (PerilDie(4, disadvantage=1), (6, 2)),
        (PerilDie(4, advantage=1), (6, 4)),
        (PerilDie(-5), (0, 0)),
        (PerilDie(7), (6, 6)),
        (PerilDie(9, disadvantage=1), (6, 6)),
        (PerilDie(1, advantage=2, disadvantage=2), (3, 0)),
    ],
)
def test_the_perils_numbers_move_by_one(opponent: PerilDie, thresholds: tuple[int, int]) -> None:
    assert crossroads.peril_thresholds(opponent) == thresholds


def test_misstep_and_fateful_apply_to_the_opposing_roll() -> None:
    outcome = play(SkillRoll(opposition=OpposingRoll("Orc")), (5, 4, 3, 6, 6, 2)).outcome
    assert (outcome.opposing_throw.chart_value, outcome.opposing_success_value, outcome.result) == (1, 2, -1)


def test_a_critical_great_success_amounts_to_two_and_a_failure_to_nothing() -> None:
    assert play(SkillRoll(), (6, 6, 4)).outcome.success_value_amount == 2
    assert play(SkillRoll(), (3, 2, 1)).outcome.success_value_amount is None


def test_a_six_that_was_rerolled_or_dropped_is_no_critical() -> None:
    assert play(SkillRoll(4), (6, 4, 4, 2), "REROLL_6").outcome.critical is False
    assert play(SkillRoll(4, disadvantage=1), (6, 5, 4, 2)).outcome.critical is False


# Order, fates, text


@pytest.mark.parametrize(
    ("check", "faces", "answers", "snapshot"),
    [
        (
            SkillRoll(advantage=1),
            (3, 3, 5, 1, 6),
            ("REMOVE_1", "REROLL_3"),
            [("ROLL", "", None)] * 4 + [("REROLL", "", 0)],
        ),
        (
            SkillRoll(opposition=OpposingRoll("Orc", disadvantage=1)),
            (4, 4, 2, 6, 5, 3, 3, 2, 1),
            ("REROLL_4", "REMOVE_5", "REROLL_3"),
            [("ROLL", "", None)] * 3 + [("REROLL", "", 0)] + [("ROLL", "Orc", None)] * 4 + [("REROLL", "Orc", 5)],
        ),
        (
            SkillRoll(opposition=PerilDie()),
            (2, 2, 5, 1),
            ("REROLL_PERIL_2",),
            [("ROLL", "", None)] * 3 + [("REROLL", "", 0)],
        ),
        (
            GroupRoll(
                GroupMode.ALL_TOGETHER, (Member("Elf", advantage=1), Member("Dwarf", change=ChangePolicy.LOWEST))
            ),
            (6, 5, 3, 1, 4, 4, 2, 5),
            (),
            [("ROLL", "Elf", None)] * 4 + [("ROLL", "Dwarf", None)] * 3 + [("REROLL", "Dwarf", 6)],
        ),
        (
            GroupRoll(GroupMode.SIMPLE, (Member("Elf", 1), Member("Dwarf", 2), Member("Noble", 2))),
            (6, 5, 3),
            (),
            [("ROLL", "Dwarf", None)] * 3,
        ),
        (DamageStep(1), (), (), []),
    ],
)
def test_order_of_draws(
    check: object, faces: tuple[int, ...], answers: tuple[str, ...], snapshot: list[tuple[str, str, int | None]]
) -> None:
    resolved = play(check, faces, *answers)
    assert [(draw.purpose.name, draw.actor, draw.of) for draw in resolved.draws] == snapshot
    assert len([draw for draw in resolved.draws if draw.purpose is Purpose.ROLL]) == crossroads.draws(check)  # type: ignore[arg-type]  # any check


def test_every_draw_is_in_the_outcome_with_its_fate() -> None:
    check = SkillRoll(advantage=1, opposition=OpposingRoll("Orc", disadvantage=2, change=ChangePolicy.LOWEST))
    faces = (3, 3, 5, 1, 6, 6, 5, 4, 2, 2, 6)
    resolved = play(check, faces, "REMOVE_1", "REROLL_3", "REMOVE_6_5")
    dice = [*resolved.outcome.throw.dice, *resolved.outcome.opposing_throw.dice]
    assert [(die.draw, die.value) for die in dice] == list(enumerate(faces))
    names = ["+".join(fate.name for fate in die.fates) for die in dice]
    assert names[:5] == ["REROLLED", "KEPT", "KEPT", "DROPPED", "KEPT"]
    assert names[5:] == ["DROPPED", "DROPPED", "KEPT", "REROLLED", "KEPT", "KEPT"]


@pytest.mark.parametrize(
    "check",
    [
        SkillRoll(advantage=1),
        SkillRoll(disadvantage=1, change=ChangePolicy.LOWEST, zero_result=ZeroResultPolicy.PARTIAL_SUCCESS),
    ],
)
def test_the_order_inside_a_pool_changes_no_value(check: SkillRoll) -> None:
    for faces in combinations_with_replacement(range(1, 7), 4):
        values = set()
        for order in set(permutations(faces)):
            resolved = resolve(check, GivenFaces((*order, 6)))
            values.add((resolved.value, resolved.outcome.throw.sum, resolved.outcome.result_name))
        assert len(values) == 1


def test_the_same_faces_give_the_same_outcome() -> None:
    check = SkillRoll(1, opposition=OpposingRoll("Orc", 2))
    assert play(check, (5, 4, 3, 6, 6, 1)) == play(check, (5, 4, 3, 6, 6, 1))


@pytest.mark.parametrize(
    ("check", "faces", "answers", "line"),
    [
        (SkillRoll(advantage=1), (5, 4, 3, 2), (), "3d6a1 rolled 5 4 3 2, drop 2: 12 + 0 = 12, Hit [1]"),
        (SkillRoll(-1), (4, 3, 3, 1), ("REROLL_4",), "3d6 rolled 4 3 3, Change 4 to 1: 7 - 1 = 6, Miss [-1]"),
        (
            SkillRoll(2, opposition=OpposingRoll("Orc", 1)),
            (5, 3, 2, 6, 4, 3),
            (),
            "3d6 rolled 5 3 2: 10 + 2 = 12, Hit (1) against Orc's Hit (1): Partial Success or Compensating Failure [0]",
        ),
        (
            GroupRoll(GroupMode.ALL_TOGETHER, (Member("Elf"), Member("Dwarf"))),
            (3, 2, 1, 5, 4, 3),
            (),
            "Elf Miss (-1), Dwarf Hit (1): Partial Success or Compensating Failure [0]",
        ),
        (DamageStep(1, 3), (), (), "damage d2"),
        (DamageStep(3, 3), (), (), "damage without Advantage or Disadvantage"),
    ],
)
def test_line_for_the_table(check: object, faces: tuple[int, ...], answers: tuple[str, ...], line: str) -> None:
    assert crossroads.text(check, play(check, faces, *answers).outcome, ()).line == line  # type: ignore[arg-type]  # any check


# Refusals


@pytest.mark.parametrize(
    ("make", "field", "minimum", "maximum"),
    [
        (lambda: SkillRoll(100), "statistic", -99, 99),
        (lambda: SkillRoll(-100), "statistic", -99, 99),
        (lambda: SkillRoll(advantage=-1), "advantage", 0, 99),
        (lambda: SkillRoll(disadvantage=100), "disadvantage", 0, 99),
        (lambda: SkillRoll(opposition=OpposingValue(3)), "success_value", -1, 2),
        (lambda: SkillRoll(opposition=OpposingValue(-2)), "success_value", -1, 2),
        (lambda: SkillRoll(opposition=OpposingRoll("Orc", 100)), "statistic", -99, 99),
        (lambda: SkillRoll(opposition=OpposingRoll("")), "name", 1, 100),
        (lambda: SkillRoll(opposition=OpposingRoll("Orc", advantage=-1)), "advantage", 0, 99),
        (lambda: SkillRoll(opposition=PerilDie(-100)), "statistic", -99, 99),
        (lambda: SkillRoll(opposition=PerilDie(disadvantage=100)), "disadvantage", 0, 99),
        (lambda: GroupRoll(GroupMode.SIMPLE, ()), "members", 1, 100),
        (lambda: GroupRoll(GroupMode.SIMPLE, (Member("A"),) * 101), "members", 1, 100),
        (lambda: GroupRoll(GroupMode.SIMPLE, (Member("A"), Member("B", 100))), "statistic", -99, 99),
        (lambda: GroupRoll(GroupMode.ALL_TOGETHER, (Member("é" * 51),)), "name", 1, 100),
        (lambda: DamageStep(-1), "advantage", 0, 99),
        (lambda: DamageStep(0, 100), "disadvantage", 0, 99),
    ],
)
def test_out_of_range_is_refused(make: Callable[[], object], field: str, minimum: int, maximum: int) -> None:
    with pytest.raises(CheckError) as caught:
        make()
    error = caught.value
    assert (error.reason, error.field, error.minimum, error.maximum) == ("OUT_OF_RANGE", field, minimum, maximum)


def test_the_ends_of_each_range_are_accepted() -> None:
    members = tuple([Member(f"{at:02}" + "é" * 49, -99, 99, 99) for at in range(100)])
    assert crossroads.draws(GroupRoll(GroupMode.ALL_TOGETHER, members)) == 300
    assert crossroads.draws(SkillRoll(99, 99, 0, OpposingRoll("Orc", 99, 0, 99))) == 12


def test_two_members_of_one_name_are_refused() -> None:
    with pytest.raises(CheckError) as caught:
        GroupRoll(GroupMode.SIMPLE, (Member("A"), Member("B"), Member("A", 2)))
    error = caught.value
    assert (error.reason, error.field, error.value) == ("CONFLICT", "members[2].name", "A")
