"""D6 Dungeons: the page's examples, exact odds against a slow twin, properties and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from pathlib import Path
from typing import Any

import pytest

from fairroll_rules.errors import AnswerError, CheckError
from fairroll_rules.given import GivenFaces
from fairroll_rules.odds import distribution
from fairroll_rules.resolve import Resolved, resolve
from fairroll_rules.systems import d6_dungeons
from fairroll_rules.systems.d6_dungeons import Best, Member, OnesPolicy, SkillRoll, Split, TeamRoll
from tests.rules.systems import d6_dungeons_twin as twin

ROWS = [
    row
    for row in json.loads((Path(__file__).parents[2] / "vectors" / "rules_examples.json").read_text())
    if row["system"] == "d6_dungeons"
]


def play(check: object, faces: list[int] | tuple[int, ...], *answers: str) -> Resolved:
    """Resolve a check on exactly these faces and answers."""
    source = GivenFaces(faces)
    resolved = resolve(check, source, answers)
    source.finish()
    return resolved


def fates(dice: tuple[Any, ...]) -> list[str]:
    return ["+".join(fate.name for fate in die.fates) for die in dice]


# The page's examples


def skill_example(given: dict[str, Any], expect: dict[str, Any]) -> None:
    # A roll with a modifier of -1 and one die is the unskilled one.
    skill = 0 if given.get("modifier") == -1 else len(given["dice"])
    policy = OnesPolicy[given.get("ones", "add").upper()]
    resolved = play(SkillRoll(3, skill, ones=policy), given["dice"])
    outcome = resolved.outcome
    found = {
        "result": outcome.total,
        "natural_ones": outcome.natural_ones,
        "saved": outcome.ones_saved,
        "given": outcome.ones_given,
    }
    assert {key: found[key] for key in expect} == expect
    assert outcome.modifier == given.get("modifier", 0)
    if outcome.natural_ones:
        assert play(SkillRoll(3, skill), given["dice"], policy.name).outcome == outcome


def modifier_example(given: dict[str, Any], expect: dict[str, Any]) -> None:
    check = SkillRoll(3, 1, advantage=given["advantage"], disadvantage=given["disadvantage"])
    assert play(check, (4,)).outcome.modifier == expect["modifier"]


def team_example(given: dict[str, Any], expect: dict[str, Any]) -> None:
    members = [
        Member(f"member {at}", len(dice), unskilled)
        for at, (dice, unskilled) in enumerate(zip(given["members"], given["unskilled"], strict=True))
    ]
    outcome = play(TeamRoll(7, tuple(members)), [face for dice in given["members"] for face in dice]).outcome
    found = {"highest": outcome.highest, "ones": outcome.natural_ones, "result": outcome.total}
    assert found == expect
    assert [fates(member.dice) for member in outcome.members] == [
        ["KEPT", "ADDED"],
        ["DROPPED", "DROPPED", "ADDED"],
        ["DROPPED"],
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_example(row: dict[str, Any]) -> None:
    given = row["given"]
    example = skill_example if "dice" in given else team_example if "members" in given else modifier_example
    example(given, row["expect"])


def test_every_example_is_there() -> None:
    assert [row["id"] for row in ROWS] == [f"ON-0{number}" for number in range(1, 10)]


# Exact odds


def odds(check: object) -> dict[Any, Fraction]:
    found = distribution(d6_dungeons.resolve, check)
    assert found.lost == 0
    return dict(found.weights)


@pytest.mark.parametrize("use", ["ADD", "SAVE", "GIVE"])
@pytest.mark.parametrize("skill", range(1, 6))
def test_odds_of_each_skill_and_difficulty(skill: int, use: str) -> None:
    expected = twin.skill_roll(skill, 0, use)
    for difficulty in (*range(1, 13), 99):
        found = odds(SkillRoll(difficulty, skill, ones=OnesPolicy[use]))
        assert found == {(total, total >= difficulty, *others): chance for (total, *others), chance in expected.items()}


@pytest.mark.parametrize(
    ("check", "modifier", "extra"),
    [
        (SkillRoll(3), -1, 0),
        (SkillRoll(3, -4), -1, 0),
        (SkillRoll(3, 1, unskilled=True, disadvantage=1), -1, 0),
        (SkillRoll(3, 5, unskilled=True, advantage=1), 0, 0),
        (SkillRoll(3, 1, advantage=2, saved_ones_spent=2), 1, 2),
        (SkillRoll(3, 1, disadvantage=1, ones_from_allies=3), -1, 3),
    ],
)
def test_odds_of_one_die(check: SkillRoll, modifier: int, extra: int) -> None:
    expected = twin.skill_roll(1, modifier, "ADD", extra)
    assert odds(check) == {(total, total >= 3, *others): p for (total, *others), p in expected.items()}


@pytest.mark.parametrize(
    ("members", "twins"),
    [
        ((Member("A", 2), Member("B", 3), Member("C")), [(2, 0), (3, 0), (1, -1)]),
        ((Member("A", 1), Member("B"), Member("C")), [(1, 0), (1, -1), (1, -1)]),
        ((Member("A"), Member("B", 2, disadvantage=1), Member("C", 2, advantage=3)), [(1, -1), (2, -1), (2, 1)]),
        ((Member("A", 2), Member("B", 2), Member("C", 2)), [(2, 0)] * 3),
        ((Member("A", 4, unskilled=True),), [(1, -1)]),
    ],
)
def test_odds_of_teamwork(members: tuple[Member, ...], twins: list[tuple[int, int]]) -> None:
    expected = twin.team_roll(twins)
    for difficulty in (1, 6, 9):
        found = odds(TeamRoll(difficulty, members))
        assert found == {(total, total >= difficulty, *others): chance for (total, *others), chance in expected.items()}


def test_odds_stay_cheap() -> None:
    # In paths, not in seconds: about 10 us each, whatever else the machine does.
    team = TeamRoll(9, tuple([Member(name, 5) for name in "ABCDE"]))
    for check in (SkillRoll(5, 5), team):
        assert sum(distribution(d6_dungeons.resolve, check, budget=1_000).weights.values()) == 1


def test_merging_is_associative_and_commutative() -> None:
    some = [Best(highest, other, ones) for highest in (0, 1, 2) for other in (False, True) for ones in (0, 2)]
    for one in some:
        for other in some:
            both = d6_dungeons.merge_best(one, other)
            assert both == d6_dungeons.merge_best(other, one)
            for third in some:
                rest = d6_dungeons.merge_best(other, third)
                assert d6_dungeons.merge_best(both, third) == d6_dungeons.merge_best(one, rest)


# The ones


@pytest.mark.parametrize(
    ("faces", "answer", "numbers", "marks"),
    [
        # total, saved, given; of all ones, one that is saved or given counts as the highest
        ((6, 1, 1), "ADD", (8, 0, 0), ["KEPT", "ADDED", "ADDED"]),
        ((6, 1, 1), "ADD_1_SAVE_1", (7, 1, 0), ["KEPT", "SAVED", "ADDED"]),
        ((6, 1, 1), "SAVE_1_GIVE_1", (6, 1, 1), ["KEPT", "SAVED", "GIVEN"]),
        ((1, 1, 1), "ADD", (3, 0, 0), ["KEPT", "ADDED", "ADDED"]),
        ((1, 1, 1), "SAVE", (1, 3, 0), ["KEPT+SAVED", "SAVED", "SAVED"]),
        ((1, 1, 1), "ADD_2_GIVE_1", (3, 0, 1), ["KEPT+GIVEN", "ADDED", "ADDED"]),
        ((1, 1, 1), "ADD_1_SAVE_1_GIVE_1", (2, 1, 1), ["KEPT+SAVED", "GIVEN", "ADDED"]),
        ((5, 5, 1), "GIVE", (5, 0, 1), ["KEPT", "DROPPED", "GIVEN"]),
    ],
)
def test_use_of_the_ones(faces: tuple[int, ...], answer: str, numbers: tuple[int, int, int], marks: list[str]) -> None:
    resolved = play(SkillRoll(5, 3, allow_split=True), faces, answer)
    outcome = resolved.outcome
    assert (outcome.total, outcome.ones_saved, outcome.ones_given) == numbers
    assert (outcome.margin, outcome.success) == (numbers[0] - 5, numbers[0] >= 5)
    assert fates(outcome.dice) == marks
    assert (resolved.decisions[0].kind, resolved.decisions[0].who.value) == ("ONES", "player")


@pytest.mark.parametrize(
    ("split", "option"),
    [
        (Split(1, 1), "ADD_1_SAVE_1_GIVE_1"),
        (Split(0, 2), "ADD_1_GIVE_2"),
        (Split(2, 5), "SAVE_2_GIVE_1"),
        (Split(9, 9), "SAVE"),
        (Split(), "ADD"),
    ],
)
def test_a_declared_split_saves_first_then_gives_then_adds(split: Split, option: str) -> None:
    resolved = play(SkillRoll(5, 4, ones=OnesPolicy.SPLIT, split=split), (4, 1, 1, 1))
    assert [(decision.option, decision.policy) for decision in resolved.decisions] == [(option, "SPLIT")]


def options(check: SkillRoll, faces: tuple[int, ...]) -> tuple[str, ...]:
    with pytest.raises(AnswerError) as caught:
        play(check, faces, "NO_SUCH_OPTION")
    return caught.value.expected


def test_splits_are_offered_where_the_request_allows_them() -> None:
    assert options(SkillRoll(5, 3), (4, 1, 1)) == ("ADD", "SAVE", "GIVE")
    assert set(options(SkillRoll(5, 3, allow_split=True), (4, 1, 1))) == {
        "ADD",
        "SAVE",
        "GIVE",
        "ADD_1_SAVE_1",
        "ADD_1_GIVE_1",
        "SAVE_1_GIVE_1",
    }


def test_without_a_natural_one_nothing_is_asked() -> None:
    assert play(SkillRoll(5, 2, ones=OnesPolicy.ASK), (2, 6)).decisions == ()
    # A 2 at disadvantage is no natural 1.
    assert play(SkillRoll(5, ones=OnesPolicy.ASK), (2,)).decisions == ()


def test_ask_is_open_until_someone_answers() -> None:
    check = SkillRoll(5, 2, ones=OnesPolicy.ASK)
    with pytest.raises(AnswerError) as caught:
        play(check, (1, 6))
    assert caught.value.reason == "DECISION_OPEN"
    assert play(check, (1, 6), "SAVE").outcome.ones_saved == 1


def test_an_unskilled_one_counts_zero_and_can_be_given() -> None:
    outcome = play(SkillRoll(1), (1,), "GIVE").outcome
    assert (outcome.total, outcome.ones_given, outcome.success) == (0, 1, False)


def test_meeting_the_difficulty_is_success() -> None:
    assert play(SkillRoll(4, 1), (4,)).outcome.success is True
    assert play(SkillRoll(5, 1), (4,)).outcome.success is False


def test_of_equal_highest_dice_in_teamwork_one_that_shows_no_one_counts() -> None:
    # The unskilled 2 counts 1, as does the skilled natural 1, which is then added.
    outcome = play(TeamRoll(2, (Member("A", 1), Member("B"))), (1, 2)).outcome
    assert (outcome.highest, outcome.natural_ones, outcome.ones_added, outcome.total) == (1, 1, 1, 2)
    assert [fates(member.dice) for member in outcome.members] == [["ADDED"], ["KEPT"]]


def test_in_teamwork_too_a_one_is_not_added_to_itself() -> None:
    outcome = play(TeamRoll(2, (Member("A"), Member("B", 2))), (1, 1, 1)).outcome
    assert (outcome.highest, outcome.natural_ones, outcome.ones_added, outcome.total) == (1, 3, 2, 3)
    assert [fates(member.dice) for member in outcome.members] == [["ADDED"], ["KEPT", "ADDED"]]


# Order, fates, text


@pytest.mark.parametrize(
    ("check", "faces", "snapshot"),
    [
        (SkillRoll(5, 3), (1, 6, 1), [("ROLL", "", None)] * 3),
        (SkillRoll(5, 3, unskilled=True), (1,), [("ROLL", "", None)]),
        (
            TeamRoll(9, (Member("Rogue", 2), Member("Mage"), Member("Bard", 1, disadvantage=1))),
            (4, 1, 6, 2),
            [("ROLL", "Rogue", None)] * 2 + [("ROLL", "Mage", None), ("ROLL", "Bard", None)],
        ),
    ],
)
def test_order_of_draws(
    check: SkillRoll | TeamRoll, faces: tuple[int, ...], snapshot: list[tuple[str, str, int | None]]
) -> None:
    draws = play(check, faces).draws
    assert [(draw.purpose.name, draw.actor, draw.of) for draw in draws] == snapshot
    assert d6_dungeons.draws(check) == len(snapshot)


def test_every_draw_is_in_the_outcome() -> None:
    faces = (4, 1, 6, 2)
    check = TeamRoll(9, (Member("Rogue", 2), Member("Mage"), Member("Bard", 1)))
    dice = [die for member in play(check, faces).outcome.members for die in member.dice]
    assert [(die.draw, die.value) for die in dice] == list(enumerate(faces))
    assert fates(tuple(dice)) == ["DROPPED", "ADDED", "KEPT", "DROPPED"]


def pools() -> Iterator[tuple[int, ...]]:
    yield from combinations_with_replacement(range(1, 7), 3)


def test_the_order_inside_a_pool_changes_no_value() -> None:
    for faces in pools():
        for check in (SkillRoll(4, 3, ones=OnesPolicy.SPLIT, split=Split(1, 1)), TeamRoll(4, (Member("A", 3),))):
            assert len({resolve(check, GivenFaces(order)).value for order in permutations(faces)}) == 1


def test_the_same_faces_give_the_same_outcome() -> None:
    check = TeamRoll(9, (Member("Rogue", 2), Member("Mage")))
    assert play(check, (4, 1, 6)) == play(check, (4, 1, 6))


@pytest.mark.parametrize(
    ("check", "faces", "line"),
    [
        (SkillRoll(5, 3), (6, 1, 1), "3d6 rolled 6 1 1: 6 + 2 = 8 against 5, success"),
        (SkillRoll(5, 2, ones=OnesPolicy.SAVE), (4, 1), "2d6 rolled 4 1: 4 against 5, failure, 1 saved"),
        (SkillRoll(3, ones_from_allies=2), (2,), "unskilled 1d6 rolled 2: 2 - 1 + 2 = 3 against 3, success"),
        (
            TeamRoll(7, (Member("Rogue", 2), Member("Mage"))),
            (5, 1, 4),
            "team rolled Rogue 5 1, Mage 4: 5 + 1 = 6 against 7, failure",
        ),
    ],
)
def test_line_for_the_table(check: SkillRoll | TeamRoll, faces: tuple[int, ...], line: str) -> None:
    assert d6_dungeons.text(check, play(check, faces).outcome, ()).line == line


# Refusals


@pytest.mark.parametrize(
    ("make", "field", "minimum", "maximum"),
    [
        (lambda: SkillRoll(0), "difficulty", 1, 99),
        (lambda: SkillRoll(100), "difficulty", 1, 99),
        (lambda: SkillRoll(5, 101), "skill", -100, 100),
        (lambda: SkillRoll(5, -101), "skill", -100, 100),
        (lambda: SkillRoll(5, advantage=-1), "advantage", 0, 99),
        (lambda: SkillRoll(5, disadvantage=100), "disadvantage", 0, 99),
        (lambda: SkillRoll(5, saved_ones_spent=-1), "saved_ones_spent", 0, 99),
        (lambda: SkillRoll(5, ones_from_allies=100), "ones_from_allies", 0, 99),
        (lambda: SkillRoll(5, ones=OnesPolicy.SPLIT, split=Split(-1)), "save", 0, 100),
        (lambda: SkillRoll(5, ones=OnesPolicy.SPLIT, split=Split(0, 101)), "give", 0, 100),
        (lambda: TeamRoll(0, (Member("A"),)), "difficulty", 1, 99),
        (lambda: TeamRoll(5, ()), "members", 1, 100),
        (lambda: TeamRoll(5, (Member("A"),) * 101), "members", 1, 100),
        (lambda: TeamRoll(5, (Member("A"), Member(""))), "name", 1, 100),
        (lambda: TeamRoll(5, (Member("é" * 51),)), "name", 1, 100),
        (lambda: TeamRoll(5, (Member("A", 101),)), "skill", -100, 100),
        (lambda: TeamRoll(5, (Member("A", 1, advantage=-1),)), "advantage", 0, 99),
        (lambda: TeamRoll(5, (Member("A", 1, disadvantage=100),)), "disadvantage", 0, 99),
    ],
)
def test_out_of_range_is_refused(make: Callable[[], object], field: str, minimum: int, maximum: int) -> None:
    with pytest.raises(CheckError) as caught:
        make()
    error = caught.value
    assert (error.reason, error.field, error.minimum, error.maximum) == ("OUT_OF_RANGE", field, minimum, maximum)


def test_a_split_and_its_policy_need_each_other() -> None:
    with pytest.raises(CheckError) as missing:
        SkillRoll(5, ones=OnesPolicy.SPLIT)
    assert (missing.value.reason, missing.value.field) == ("REQUIRED", "split")
    with pytest.raises(CheckError) as idle:
        SkillRoll(5, split=Split(1))
    assert (idle.value.reason, idle.value.field) == ("CONFLICT", "split")


def test_the_ends_of_each_range_are_accepted() -> None:
    assert d6_dungeons.draws(SkillRoll(99, 100, saved_ones_spent=99, ones_from_allies=99)) == 100
    members = tuple([Member(f"{at:02}" + "é" * 49, -100, advantage=99) for at in range(100)])
    assert d6_dungeons.draws(TeamRoll(1, members)) == 100


def test_two_members_of_one_name_are_refused() -> None:
    with pytest.raises(CheckError) as caught:
        TeamRoll(5, (Member("A"), Member("B"), Member("A", 2)))
    error = caught.value
    assert (error.reason, error.field, error.value) == ("CONFLICT", "members[2].name", "A")
