"""Given faces are handed out in order, checked, and none is left over in silence."""

from __future__ import annotations

import pytest

from fairroll_rules.errors import AnswerError
from fairroll_rules.given import GivenFaces
from fairroll_rules.simulate import random_faces


def test_faces_come_in_the_order_given() -> None:
    source = GivenFaces([5, 1, 12])
    assert [source(6), source(6), source(12)] == [5, 1, 12]
    assert source.left == ()
    source.finish()


def test_a_missing_face_is_refused_by_its_place() -> None:
    source = GivenFaces([2])
    source(6)
    with pytest.raises(AnswerError) as refused:
        source(8)
    assert (refused.value.reason, refused.value.field) == ("FACES_MISSING", "faces[1]")


@pytest.mark.parametrize("face", [0, -1, 7, 1_000_001])
def test_a_face_that_the_die_does_not_have_is_refused(face: int) -> None:
    source = GivenFaces([6, face])
    source(6)
    with pytest.raises(AnswerError) as refused:
        source(6)
    error = refused.value
    assert (error.reason, error.field, error.minimum, error.maximum, error.value) == (
        "FACE_OUT_OF_RANGE",
        "faces[1]",
        1,
        6,
        str(face),
    )
    assert source.left == (face,)


@pytest.mark.parametrize("face", [1, 6])
def test_both_ends_of_the_die_are_faces(face: int) -> None:
    assert GivenFaces([face])(6) == face


def test_faces_left_over_are_refused_and_shown() -> None:
    source = GivenFaces([3, 4, 5])
    source(6)
    assert source.left == (4, 5)
    with pytest.raises(AnswerError) as refused:
        source.finish()
    assert (refused.value.reason, refused.value.maximum, refused.value.value) == ("FACES_LEFT", 1, "3")


def test_a_random_source_answers_from_one_to_sides() -> None:
    asked: list[int] = []

    def highest_below(sides: int) -> int:
        asked.append(sides)
        return sides - 1

    assert (random_faces(highest_below)(20), random_faces(lambda _: 0)(20)) == (20, 1)
    assert asked == [20]
