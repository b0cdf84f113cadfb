"""Drawn dice: what the log says, whose dice they are, and where drawing ends."""

from __future__ import annotations

import operator

import pytest

from fairroll_rules.decisions import Decisions
from fairroll_rules.dice import Dice, Draw, DrawnDice, Face, Purpose
from fairroll_rules.errors import LimitReached
from fairroll_rules.given import GivenFaces
from fairroll_rules.limits import MAX_DRAWS


def drawn(*faces: int) -> DrawnDice:
    return DrawnDice(GivenFaces(faces))


def always(face: int, max_draws: int = MAX_DRAWS) -> DrawnDice:
    return DrawnDice(lambda _: face, max_draws=max_draws)


# Faces and the log.


def test_a_face_is_a_number_that_knows_its_die_and_its_draw() -> None:
    dice = drawn(3, 17)
    dice.roll(6)
    face = dice.roll(20)
    assert (face, face + 1, face.sides, face.draw) == (17, 18, 20, 1)
    assert face == Face(17, 6, 5)


def test_the_log_holds_every_draw_in_order() -> None:
    dice = drawn(5, 1, 2, 4, 6)
    dice.roll(6)
    dice.pool(2, 4)
    dice.pool(0, 6)
    assert dice.pool(2, 8) == (4, 6)
    assert dice.log == [
        Draw(6, 5, Purpose.ROLL, None, ""),
        Draw(4, 1, Purpose.ROLL, None, ""),
        Draw(4, 2, Purpose.ROLL, None, ""),
        Draw(8, 4, Purpose.ROLL, None, ""),
        Draw(8, 6, Purpose.ROLL, None, ""),
    ]


def test_pool_dice_know_their_draws() -> None:
    dice = drawn(1, 6, 6, 2)
    dice.roll(6)
    assert [(face.sides, face.draw) for face in dice.pool(3, 6)] == [(6, 1), (6, 2), (6, 3)]


def test_a_die_rolled_again_names_the_draw_that_it_follows() -> None:
    dice = drawn(6, 6, 12, 1, 3)
    _, second = dice.pool(2, 6)
    other = dice.roll(12)
    again = dice.again(second, Purpose.REROLL)
    more = dice.again(again, Purpose.EXPLODE)
    assert (again, again.sides, again.draw, more.draw) == (1, 6, 3, 4)
    assert other.draw == 2
    assert dice.log[3:] == [Draw(6, 1, Purpose.REROLL, 1, ""), Draw(6, 3, Purpose.EXPLODE, 3, "")]


def test_purposes_have_the_numbers_of_the_contract() -> None:
    assert {purpose.name: purpose.value for purpose in Purpose} == {"ROLL": 1, "REROLL": 2, "EXPLODE": 3}


# Labels and parts.


def helper(dice: Dice, _: Decisions, sides: int) -> tuple[int, tuple[int, ...]]:
    face = dice.roll(sides)
    return int(face), (face.draw,)


def leader(dice: Dice, _: Decisions, name: str) -> tuple[int, tuple[int, ...]]:
    own = dice.roll(6)
    value, detail = dice.part(helper, 4, actor=name)
    dice.again(own, Purpose.REROLL)
    return value, detail


def test_the_innermost_label_stands_on_the_draw() -> None:
    dice = drawn(1, 2, 3, 4, 3, 2, 1)
    dice.part(leader, "Ben", actor="Ann")
    dice.part(leader, "", actor="Cid")
    dice.roll(6)
    assert [draw.actor for draw in dice.log] == ["Ann", "Ben", "Ann", "Cid", "Cid", "Cid", ""]


def test_pool_dice_carry_the_label() -> None:
    def rolls_a_pool(dice: Dice, _: Decisions) -> tuple[int, None]:
        return sum(dice.pool(2, 6)), None

    dice = drawn(1, 2)
    assert dice.part(rolls_a_pool, actor="Ann") == (3, None)
    assert [draw.actor for draw in dice.log] == ["Ann", "Ann"]


def test_parts_run_in_order_with_their_own_labels() -> None:
    dice = drawn(4, 8, 12)
    values, details = dice.parts(helper, [(4,), (8,), (12,)], ("Ann", "Ben", "Cid"))
    assert (values, details) == ((4, 8, 12), ((0,), (1,), (2,)))
    assert [(draw.sides, draw.actor) for draw in dice.log] == [(4, "Ann"), (8, "Ben"), (12, "Cid")]


def test_merged_parts_fold_values_and_keep_details() -> None:
    assert drawn(4, 8, 12).parts(helper, [(4,), (8,), (12,)], merge=operator.add) == (24, ((0,), (1,), (2,)))
    assert drawn(4).parts(helper, [(4,)], merge=operator.add) == (4, ((0,),))


def test_as_many_labels_as_parts() -> None:
    with pytest.raises(ValueError, match="shorter"):
        drawn(1, 1).parts(helper, [(4,), (4,)], ("Ann",))


def fails(dice: Dice, _: Decisions) -> tuple[int, None]:
    dice.roll(4)
    raise ZeroDivisionError


def test_a_label_ends_with_its_part_also_when_that_fails() -> None:
    dice = drawn(1, 2)
    with pytest.raises(ZeroDivisionError):
        dice.part(fails, actor="Ann")
    dice.roll(4)
    assert [draw.actor for draw in dice.log] == ["Ann", ""]


# Limits.


def test_a_die_is_rolled_again_a_hundred_times_and_no_more() -> None:
    dice = always(6)
    face = dice.roll(6)
    for _ in range(100):
        face = dice.again(face, Purpose.EXPLODE)
    with pytest.raises(LimitReached) as reached:
        dice.again(face, Purpose.EXPLODE)
    assert (reached.value.reason, reached.value.limit, reached.value.maximum) == (
        "LIMIT_REACHED",
        "again_per_die",
        100,
    )
    assert len(dice.log) == 101
    assert dice.again(dice.roll(6), Purpose.EXPLODE) == 6


def test_the_cap_is_the_dies_whichever_of_its_faces_is_passed() -> None:
    dice = always(1)
    first = dice.roll(6)
    later = first
    for _ in range(50):
        later = dice.again(first, Purpose.REROLL)
        later = dice.again(later, Purpose.EXPLODE)
    for face in (first, later):
        with pytest.raises(LimitReached, match="too often"):
            dice.again(face, Purpose.REROLL)


@pytest.mark.parametrize("left", [0, 1, 3])
def test_draws_end_where_the_record_is_full_and_stand(left: int) -> None:
    for draw_all in (lambda dice: dice.pool(4, 6), lambda dice: [dice.roll(6) for _ in range(4)]):
        dice = always(2, max_draws=left)
        with pytest.raises(LimitReached) as reached:
            draw_all(dice)
        assert (reached.value.limit, reached.value.maximum) == ("draws", 10_000)
        assert dice.log == [Draw(6, 2, Purpose.ROLL, None, "")] * left


def test_a_pool_may_use_the_last_draw() -> None:
    assert always(2, max_draws=4).pool(4, 6) == (2, 2, 2, 2)


def test_rolling_again_takes_a_draw() -> None:
    dice = always(2, max_draws=1)
    face = dice.roll(6)
    with pytest.raises(LimitReached, match="used up"):
        dice.again(face, Purpose.REROLL)
