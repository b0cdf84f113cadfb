"""Between messages and rule values: presence, defaults, paths of errors, and what does not fit."""

from dataclasses import dataclass
from enum import Enum

import pytest
from google.protobuf.message import Message

from fairroll import convert
from fairroll.convert import ContractError, join_path, open_policy, read_check, refuse_unknown_fields, request_error
from fairroll.errors import RequestError
from fairroll.v1 import crossroads_pb2, d6_dungeons_pb2, fortune_doom_pb2, meidlands_pb2, notation_pb2, roll_pb2
from fairroll_rules.errors import CheckError, Span, require_range
from fairroll_rules.systems import crossroads, fortune_doom, notation

Check = roll_pb2.Check
Skill = crossroads_pb2.CrossroadsCheck.SkillRoll


def skill(**members: object) -> Check:
    roll = Skill(**members)  # type: ignore[arg-type]  # members of any type
    return Check(crossroads=crossroads_pb2.CrossroadsCheck(skill_roll=roll))


def refused(message: Check) -> RequestError:
    with pytest.raises(RequestError) as caught:
        read_check(message)
    return caught.value


# Reading


def test_what_is_unset_is_the_dataclass_default() -> None:
    assert read_check(skill()) == crossroads.SkillRoll()
    text = Check(notation=notation_pb2.NotationCheck(text="d6"))
    assert read_check(text) == notation.NotationCheck("d6")


def test_enums_are_read_by_name() -> None:
    for name in crossroads.ChangePolicy.__members__:
        number = Skill.DESCRIPTOR.file.message_types_by_name["CrossroadsCheck"].enum_types_by_name["ChangePolicy"]
        message = skill(change=number.values_by_name[f"CHANGE_POLICY_{name}"].number)
        assert read_check(message).change is crossroads.ChangePolicy[name]


def test_an_optional_field_tells_zero_from_unset() -> None:
    roll = fortune_doom_pb2.FortuneDoomCheck.ResolutionRoll
    zero = Check(fortune_doom=fortune_doom_pb2.FortuneDoomCheck(resolution_roll=roll(success_threshold=0)))
    unset = Check(fortune_doom=fortune_doom_pb2.FortuneDoomCheck(resolution_roll=roll()))
    assert (read_check(zero).success_threshold, read_check(unset).success_threshold) == (0, None)


def test_the_arms_of_a_oneof_are_the_types_of_a_union() -> None:
    assert read_check(skill()).opposition is None
    opposed = read_check(skill(opposing_value=crossroads_pb2.CrossroadsCheck.OpposingValue(success_value=2)))
    assert opposed.opposition == crossroads.OpposingValue(2)
    perilous = read_check(skill(peril_die=crossroads_pb2.CrossroadsCheck.PerilDie()))
    assert perilous.opposition == crossroads.PerilDie()


def test_an_empty_message_that_is_there_is_not_unset() -> None:
    assert read_check(skill(peril_die=crossroads_pb2.CrossroadsCheck.PerilDie())).opposition is not None


# Paths of errors


PATHS = {
    "field": (skill(advantage=-1), "OUT_OF_RANGE", "crossroads.skill_roll.advantage"),
    "enum": (skill(removal=77), "ENUM_UNKNOWN", "crossroads.skill_roll.removal"),
    "arm of a oneof": (
        skill(opposing_roll=crossroads_pb2.CrossroadsCheck.OpposingRoll.FromString(b"\x0a\x03Orc\x28\x4d")),
        "ENUM_UNKNOWN",
        "crossroads.skill_roll.opposing_roll.removal",
    ),
    "field below an arm": (
        skill(opposing_value=crossroads_pb2.CrossroadsCheck.OpposingValue(success_value=9)),
        "OUT_OF_RANGE",
        "crossroads.skill_roll.opposing_value.success_value",
    ),
    "item": (
        Check(
            d6_dungeons=d6_dungeons_pb2.D6DungeonsCheck(
                team_roll=d6_dungeons_pb2.D6DungeonsCheck.TeamRoll(
                    difficulty=3,
                    members=[
                        d6_dungeons_pb2.D6DungeonsCheck.Member(name="Ann"),
                        d6_dungeons_pb2.D6DungeonsCheck.Member(name=""),
                    ],
                )
            )
        ),
        "OUT_OF_RANGE",
        "d6_dungeons.team_roll.members[1].name",
    ),
    "missing text": (
        Check(
            d6_dungeons=d6_dungeons_pb2.D6DungeonsCheck(
                team_roll=d6_dungeons_pb2.D6DungeonsCheck.TeamRoll(
                    difficulty=3, members=[d6_dungeons_pb2.D6DungeonsCheck.Member(skill=1)]
                )
            )
        ),
        "REQUIRED",
        "d6_dungeons.team_roll.members[0].name",
    ),
    "missing number": (
        Check(
            d6_dungeons=d6_dungeons_pb2.D6DungeonsCheck(skill_roll=d6_dungeons_pb2.D6DungeonsCheck.SkillRoll(skill=1))
        ),
        "REQUIRED",
        "d6_dungeons.skill_roll.difficulty",
    ),
    "missing message": (
        Check(
            meidlands=meidlands_pb2.MeidlandsCheck(
                opposed_roll=meidlands_pb2.MeidlandsCheck.OpposedRoll(
                    attacker=meidlands_pb2.MeidlandsCheck.Side(pool=1)
                )
            )
        ),
        "REQUIRED",
        "meidlands.opposed_roll.defender",
    ),
    "missing enum": (
        Check(crossroads=crossroads_pb2.CrossroadsCheck(group_roll=crossroads_pb2.CrossroadsCheck.GroupRoll())),
        "REQUIRED",
        "crossroads.group_roll.mode",
    ),
    "missing roll": (Check(crossroads=crossroads_pb2.CrossroadsCheck()), "REQUIRED", "crossroads.roll"),
    "missing system": (Check(label="x"), "REQUIRED", "system"),
}


@pytest.mark.parametrize(("message", "reason", "path"), PATHS.values(), ids=PATHS.keys())
def test_an_error_has_the_whole_path_of_its_field(message: Check, reason: str, path: str) -> None:
    error = refused(message)
    assert (error.reason, error.field) == (reason, path)


def test_nothing_of_a_rules_error_is_lost() -> None:
    rule = CheckError(
        "ODD",
        "an odd thing",
        field="text",
        limit="odd",
        minimum=1,
        maximum=2,
        value="3",
        span=Span(4, 5),
        expected=("even",),
        hint="try 2",
    )
    error = request_error(rule, "checks[7].notation")
    assert (error.reason, error.message, error.field) == ("ODD", "an odd thing", "checks[7].notation.text")
    assert (error.limit, error.minimum, error.maximum, error.value) == ("odd", 1, 2, "3")
    assert (error.span, error.expected, error.hint) == ((4, 5), ("even",), "try 2")


@pytest.mark.parametrize(
    ("outer", "inner", "path"),
    [("a", "b", "a.b"), ("a", "", "a"), ("", "b", "b"), ("a", "[1].b", "a[1].b"), ("", "", "")],
)
def test_paths_are_joined(outer: str, inner: str, path: str) -> None:
    assert join_path(outer, inner) == path


# Policies


def test_an_open_policy_is_found_wherever_it_stands() -> None:
    ask = crossroads.ChangePolicy.ASK
    assert open_policy(crossroads.SkillRoll()) == ""
    assert open_policy(crossroads.SkillRoll(change=ask)) == "change"
    opposed = crossroads.OpposingRoll("Orc", change=ask)
    assert open_policy(crossroads.SkillRoll(opposition=opposed)) == "opposing_roll.change"
    members = (crossroads.Member("Ann"), crossroads.Member("Bob", removal=crossroads.RemovalPolicy.ASK))
    group = crossroads.GroupRoll(crossroads.GroupMode.ALL_TOGETHER, members)
    assert open_policy(group) == "members[1].removal"
    assert open_policy(fortune_doom.ResolutionRoll(tie=fortune_doom.TieChoice.ASK)) == "tie"
    assert open_policy(notation.NotationCheck("d6")) == ""


# Unknown fields


def with_unknown(message: Message) -> bytes:
    return message.SerializeToString() + b"\xf8\x07\x01"


def test_unknown_fields_are_refused_at_any_depth() -> None:
    refuse_unknown_fields(skill(peril_die=crossroads_pb2.CrossroadsCheck.PerilDie()))
    peril = crossroads_pb2.CrossroadsCheck.PerilDie.FromString(with_unknown(crossroads_pb2.CrossroadsCheck.PerilDie()))
    request = roll_pb2.RollRequest(checks=[skill(), skill(peril_die=peril)])
    with pytest.raises(RequestError) as caught:
        refuse_unknown_fields(request)
    assert (caught.value.reason, caught.value.field, caught.value.value) == (
        "UNKNOWN_FIELD",
        "checks[1].crossroads.skill_roll.peril_die.127",
        "127",
    )


# What does not fit is found when a conversion is put together, and so by the conformance suite


class Removal(Enum):
    LOWEST = 1
    HIGHEST = 3


@dataclass(frozen=True)
class WrongNumbers:
    removal: Removal


@dataclass(frozen=True)
class NoSuchField:
    luck: int


@dataclass(frozen=True)
class Repeated:
    advantage: tuple[int, ...] = ()


@dataclass(frozen=True)
class WrongDefault:
    advantage: int = 3


@dataclass(frozen=True)
class WrongUnion:
    opposition: NoSuchField | Repeated | None = None


@dataclass(frozen=True)
class FixedTuple:
    advantage: tuple[int, int] = (0, 0)


@pytest.mark.parametrize("kind", [WrongNumbers, NoSuchField, Repeated, WrongDefault, WrongUnion, FixedTuple])
def test_what_does_not_fit_is_no_request_error(kind: type) -> None:
    with pytest.raises(ContractError):
        convert._message_reader(Skill.DESCRIPTOR, kind)


@dataclass(frozen=True)
class Narrow:
    advantage: int = 0

    def __post_init__(self) -> None:
        require_range("advantage", self.advantage, 5, 5)


def test_a_default_that_the_dataclass_refuses_is_refused() -> None:
    with pytest.raises(RequestError) as caught:
        convert._message_reader(Skill.DESCRIPTOR, Narrow)(Skill())
    assert caught.value.field == "advantage"
