"""A roll that stops for its decisions comes to the same as one whose answers were given at once."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from fairroll_rules.decisions import GivenAnswers
from fairroll_rules.dice import Draw, DrawnDice, Face, Purpose
from fairroll_rules.errors import AnswerError
from fairroll_rules.replay import Replay
from fairroll_rules.resolve import Resolved, resolve
from fairroll_rules.simulate import random_faces
from fairroll_rules.systems import crossroads as cr
from fairroll_rules.systems import d6_dungeons as d6
from fairroll_rules.systems import fortune_doom as fd
from fairroll_rules.systems import meidlands as md
from fairroll_rules.systems import system_of, systems

ROLLS = 2000
Path = tuple[int, ...]


class ByPath(DrawnDice):
    """A twin without segments: each path is handed its own faces, in one run, and the log is in the rule's order."""

    def __init__(self, faces: Mapping[Path, list[int]], answers: GivenAnswers) -> None:
        super().__init__(lambda _: 1, answers)
        self.faces = {path: deque(numbers) for path, numbers in faces.items()}
        self.places: list[tuple[Path, int]] = []

    def pool(self, count: int, sides: int) -> tuple[Face, ...]:
        return tuple(self._draw(sides, Purpose.ROLL, None) for _ in range(count))

    def _draw(self, sides: int, purpose: Purpose, of: int | None) -> Face:
        path = self.decisions.position.path
        face = Face(self.faces[path].popleft(), sides, len(self.log))
        self.places.append((path, sum(each[0] == path for each in self.places)))
        self.log.append(Draw(sides, int(face), purpose, of, self.decisions.position.actor))
        return face


def skill(random_: random.Random) -> cr.SkillRoll:
    def level() -> int:
        return random_.choice((0, 0, 1, 2, 3))

    opposition = random_.choice(
        (
            cr.OpposingRoll(
                "Ogre", random_.randint(-2, 3), level(), level(), cr.RemovalPolicy.ASK, cr.ChangePolicy.ASK
            ),
            cr.OpposingRoll("Ogre", 1, change=random_.choice(tuple(cr.ChangePolicy))),
            cr.PerilDie(random_.randint(-2, 3)),
            cr.OpposingValue(1),
            None,
        )
    )
    return cr.SkillRoll(
        random_.randint(-2, 3),
        level(),
        level(),
        opposition,
        random_.choice((None, *cr.RemovalPolicy)),
        random_.choice(tuple(cr.ChangePolicy)),
        random_.choice(tuple(cr.ZeroResultPolicy)),
        random_.choice(tuple(cr.GreatSuccessPolicy)),
    )


def group(random_: random.Random) -> cr.GroupRoll:
    members = tuple(
        cr.Member(
            f"m{index}",
            random_.randint(-2, 3),
            random_.randint(0, 2),
            random_.randint(0, 2),
            random_.choice((None, *cr.RemovalPolicy)),
            random_.choice((cr.ChangePolicy.ASK, *cr.ChangePolicy)),
        )
        for index in range(random_.randint(1, 6))
    )
    return cr.GroupRoll(
        random_.choice(tuple(cr.GroupMode)), members, cr.ZeroResultPolicy.ASK, cr.GreatSuccessPolicy.ASK
    )


def opposed(random_: random.Random) -> md.OpposedRoll:
    def side(name: str) -> md.Side:
        modifiers = tuple(random_.randint(-3, 4) for _ in range(random_.randint(0, 2)))
        rerolls, penalties = random_.choice(tuple(md.RerollPolicy)), random_.choice(tuple(md.PenaltyPolicy))
        return md.Side(random_.randint(0, 7), name, modifiers, 0, rerolls, penalties)

    pick = random_.choice(tuple(md.PickPolicy))
    return md.OpposedRoll(side("Ann"), side("Ben"), damage="A/12", armour="L2/4", uses_critical_dice=True, pick=pick)


def ones(random_: random.Random) -> d6.SkillRoll:
    return d6.SkillRoll(difficulty=5, skill=random_.randint(0, 6), ones=d6.OnesPolicy.ASK)


def tie(random_: random.Random) -> fd.ResolutionRoll:
    condition, fear = random_.random() < 0.5, random_.random() < 0.5
    return fd.ResolutionRoll(tie=fd.TieChoice.ASK, advantage=True, condition=condition, fear=fear)


CHECKS: tuple[Callable[[random.Random], Any], ...] = (skill, group, opposed, ones, tie)
CROSSROADS = {"REMOVE", "CHANGE", "ZERO_RESULT", "GREAT_SUCCESS"}
KINDS = {
    "skill": CROSSROADS,
    "group": CROSSROADS,
    "opposed": {"REROLL", "PENALTY", "PICK"},
    "ones": {"ONES"},
    "tie": {"TIE"},
}
"""Every kind of decision that the rules have; each is to be met."""


def play(check: object, random_: random.Random) -> tuple[Replay, list[Resolved], list[dict[str, str]]]:
    """Roll to the end, with a random option wherever the roll stops."""
    roll = Replay(check)
    source = random_faces(random_.randrange)
    answers: list[dict[str, str]] = [{}]
    segments = [roll.go(source)]
    while roll.pending:
        answers.append({each.id: random_.choice(each.question.options).id for each in roll.pending})
        segments.append(roll.go(source, answers[-1]))
    return roll, segments, answers


def placed(value: Any, places: list[tuple[Path, int]]) -> Any:  # noqa: ANN401  any outcome
    """The same value, each draw called by its path and its number there instead of its place in a log."""
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(placed(each, places) for each in value)
    if not is_dataclass(value):
        return value
    return {
        each.name: places[content] if each.name.endswith("draw") and content is not None else placed(content, places)
        for each in fields(value)
        for content in [getattr(value, each.name)]
    }


@pytest.mark.parametrize("make", CHECKS, ids=lambda make: make.__name__)
def test_pausing_and_resuming_gives_what_answers_given_at_once_give(make: Callable[[random.Random], Any]) -> None:
    random_ = random.Random(f"pause {make.__name__}")
    stops, kinds = 0, set()
    for _ in range(ROLLS):
        check = make(random_)
        roll, segments, _ = play(check, random_)
        stops += len(segments) > 1
        kinds |= {each.question.kind for segment in segments for each in segment.pending}
        end = segments[-1]

        faces: dict[Path, list[int]] = {}
        paused_places = []
        for path, draw in zip(roll._paths, roll.draws, strict=True):
            faces.setdefault(path, []).append(draw.face)
            paused_places.append((path, len(faces[path]) - 1))
        given = GivenAnswers([decision.option for decision in end.decisions])
        dice = ByPath(faces, given)
        value, outcome = systems()[system_of(check)].resolve(dice, given, check)

        assert value == end.value
        assert not any(dice.faces.values())
        assert placed(outcome, dice.places) == placed(end.outcome, paused_places)
        assert [(each.id, each.option) for each in given.log] == [(each.id, each.option) for each in end.decisions]
        assert end.earlier + end.draws == roll.draws
    assert stops > ROLLS // 50
    assert kinds == KINDS[make.__name__]


@pytest.mark.parametrize("make", CHECKS, ids=lambda make: make.__name__)
def test_a_roll_fed_its_own_record_comes_to_the_same(make: Callable[[random.Random], Any]) -> None:
    random_ = random.Random(f"feed {make.__name__}")
    for _ in range(ROLLS // 4):
        check = make(random_)
        _, segments, answers = play(check, random_)
        again = Replay(check)
        assert [again.feed(each.draws, given) for each, given in zip(segments, answers, strict=True)] == segments


@pytest.mark.parametrize("make", CHECKS, ids=lambda make: make.__name__)
def test_a_changed_face_or_answer_is_noticed_or_changes_what_follows(make: Callable[[random.Random], Any]) -> None:
    """Another die in a recorded segment is refused: sides and purpose are the rule's, not the record's."""
    random_ = random.Random(f"forge {make.__name__}")
    refused = 0
    for _ in range(60):
        check = make(random_)
        _, segments, answers = play(check, random_)
        draws = list(segments[0].draws)
        if len(segments) == 1 or not draws:
            continue
        place = random_.randrange(len(draws))
        purpose = Purpose.EXPLODE
        draws[place] = draws[place]._replace(**random_.choice(({"sides": 7}, {"purpose": purpose}, {"actor": "Zoe"})))
        with pytest.raises(AnswerError) as error:
            Replay(check).feed(draws, answers[0])
        assert error.value.reason == "DRAWS_DIFFER"
        refused += 1
    assert refused


def test_a_roll_that_never_stops_is_the_roll_without_pauses() -> None:
    random_ = random.Random("straight")
    for _ in range(300):
        check = replace(skill(random_), removal=None, change=cr.ChangePolicy.LOWEST, opposition=None)
        check = replace(check, zero_result=cr.ZeroResultPolicy.UNDECIDED, great_success=cr.GreatSuccessPolicy.BENEFIT)
        seed = random_.random()
        assert Replay(check).go(random_faces(random.Random(seed).randrange)) == resolve(
            check, random_faces(random.Random(seed).randrange)
        )


def test_choices_that_do_not_depend_on_one_another_are_asked_at_once() -> None:
    faces = iter((2, 2, 5, 3, 3, 6, 1, 4, 6, 1, 1))
    members = tuple(cr.Member(name, change=cr.ChangePolicy.ASK) for name in ("Ann", "Ben", "Cas"))
    roll = Replay(cr.GroupRoll(cr.GroupMode.ALL_TOGETHER, members))
    first = roll.go(lambda _: next(faces))
    assert [(each.id, each.actor, each.question.kind) for each in first.pending] == [
        ("0:0", "Ann", "CHANGE"),
        ("1:0", "Ben", "CHANGE"),
    ]
    # Ann rerolls the first of her two 2s, Ben keeps: the die of the second stream is Ann's.
    options = {each.id: [option.id for option in each.question.options] for each in first.pending}
    change = next(option for option in options["0:0"] if option != "KEEP")
    second = roll.go(lambda _: next(faces), {"0:0": change, "1:0": "KEEP"})
    assert [(draw.face, draw.actor, draw.purpose) for draw in second.draws] == [(1, "Ann", Purpose.REROLL)]
    assert second.pending == ()
    assert second.earlier == first.draws


@pytest.mark.parametrize(
    ("answers", "reason", "field"),
    [
        ({}, "ANSWER_MISSING", "answers"),
        ({"0:0": "KEEP"}, "ANSWER_MISSING", "answers"),
        ({"0:0": "KEEP", "1:0": "keep"}, "OPTION_UNKNOWN", "answers[1].option_id"),
        ({"0:0": "KEEP", "1:0": "KEEP", "2:0": "KEEP"}, "DECISION_UNKNOWN", "answers[2].decision_id"),
    ],
)
def test_an_answer_fits_what_is_asked(answers: dict[str, str], reason: str, field: str) -> None:
    members = tuple(cr.Member(name, change=cr.ChangePolicy.ASK) for name in ("Ann", "Ben"))
    roll = Replay(cr.GroupRoll(cr.GroupMode.ALL_TOGETHER, members))
    faces = iter((2, 2, 5, 3, 3, 6))
    roll.go(lambda _: next(faces))
    with pytest.raises(AnswerError) as refused:
        roll.go(lambda _: 1, answers)
    assert (refused.value.reason, refused.value.field) == (reason, field)


def test_a_roll_that_has_ended_takes_no_answer() -> None:
    roll = Replay(cr.SkillRoll())
    roll.go(lambda _: 3)
    with pytest.raises(AnswerError) as refused:
        roll.go(lambda _: 3, {"0:0": "KEEP"})
    assert refused.value.reason == "NOT_PENDING"
