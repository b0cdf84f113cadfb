"""One suite over every system that the registry finds: a system that fits here needs no code anywhere else.

The checks are those of tests/vectors/systems, a file for each system, at least one for each roll.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from itertools import cycle
from typing import Any, ClassVar, NamedTuple, get_args, get_type_hints

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from fairroll import json_codec
from fairroll.convert import members_of, outcome_members, read_check, read_outcome, write_check
from fairroll.errors import RequestError
from fairroll.replay import engine_of, outcome_message, resolve_check, text_message
from fairroll.systems_info import check_schema, outcome_schema
from fairroll.v1 import roll_pb2
from fairroll_rules.dice import DrawnDice, Face
from fairroll_rules.fields import Characters, Entries, Range, Utf8, Written, allowed
from fairroll_rules.given import GivenFaces
from fairroll_rules.odds import distribution
from fairroll_rules.outcome import Die
from fairroll_rules.resolve import Resolved, resolve
from fairroll_rules.systems import systems
from tests.service.sample_checks import BETA, SAMPLES, Sample, drawn
from tests.service.schema_requests import Outside, free, is_valid, outsides, refusal, validate


def message_type(field: FieldDescriptor) -> Descriptor:
    assert field.message_type is not None
    return field.message_type


def arms(message: Descriptor) -> dict[str, int]:
    return {field.name: field.number for field in message.oneofs_by_name["system"].fields}


class Roll(NamedTuple):
    """One roll of a system: its dataclasses and its messages."""

    name: str
    check: type
    outcome: type

    @property
    def check_message(self) -> Descriptor:
        return self._message(roll_pb2.Check.DESCRIPTOR)

    @property
    def outcome_message(self) -> Descriptor:
        return self._message(roll_pb2.CheckOutcome.DESCRIPTOR)

    def _message(self, parent: Descriptor) -> Descriptor:
        message = message_type(parent.fields_by_name[self.name])
        if "roll" not in message.oneofs_by_name:
            return message
        checks = message_type(roll_pb2.Check.DESCRIPTOR.fields_by_name[self.name]).oneofs_by_name["roll"].fields
        (arm,) = [field.name for field in checks if message_type(field).name == self.check.__name__]
        return message_type(message.fields_by_name[arm])


def rolls() -> Iterator[Roll]:
    for name, system in systems().items():
        for check, outcome in zip(system.CHECKS, system.OUTCOMES, strict=True):
            yield Roll(name, check, outcome)


ROLLS = [pytest.param(roll, id=f"{roll.name}-{roll.check.__name__}") for roll in rolls()]
CHECKS = [pytest.param(sample, id=f"{sample.name}-{sample.roll}-{index}") for index, sample in enumerate(SAMPLES)]
NAMES = sorted({*systems(), *arms(roll_pb2.Check.DESCRIPTOR), *arms(roll_pb2.CheckOutcome.DESCRIPTOR)})


# The contract and the registry


@pytest.mark.parametrize("name", NAMES)
def test_arms_equal_modules(name: str) -> None:
    assert name in systems()
    checks, outcomes = arms(roll_pb2.Check.DESCRIPTOR), arms(roll_pb2.CheckOutcome.DESCRIPTOR)
    assert name in checks
    assert checks[name] == outcomes[name]


@pytest.mark.parametrize("name", NAMES)
def test_every_roll_has_a_sample(name: str) -> None:
    assert {sample.roll for sample in SAMPLES if sample.name == name} == {
        roll.check.__name__ for roll in rolls() if roll.name == name
    }


@pytest.mark.parametrize("roll", ROLLS)
def test_messages_are_named_as_the_dataclasses(roll: Roll) -> None:
    assert roll.check_message.name == roll.check.__name__
    assert roll.outcome_message.name == roll.outcome.__name__


@pytest.mark.parametrize("name", systems())
def test_checks_and_outcomes_have_the_same_arms(name: str) -> None:
    check = message_type(roll_pb2.Check.DESCRIPTOR.fields_by_name[name])
    outcome = message_type(roll_pb2.CheckOutcome.DESCRIPTOR.fields_by_name[name])
    assert [field.name for field in check.fields if field.containing_oneof] == [
        field.name for field in outcome.fields if field.containing_oneof
    ] or "roll" not in check.oneofs_by_name


@pytest.mark.parametrize("roll", ROLLS)
def test_fields_of_messages_are_fields_of_dataclasses(roll: Roll) -> None:
    """Written out here from the rule of the seam, without the converter."""
    compare(roll.check, roll.check_message, set())
    compare(roll.outcome, roll.outcome_message, set())


def compare(kind: Any, message: Descriptor, seen: set[str]) -> None:  # noqa: ANN401  any dataclass
    if message.full_name in seen:
        return
    seen.add(message.full_name)
    unions = {member.name: member.kinds for member in members_of(kind) if len(member.kinds) > 1}
    assert set(get_type_hints(kind)) >= {field.name for field in fields(kind)}
    plain = {field.name for field in message.fields if field.containing_oneof is None or field.has_presence}
    arms_of_unions = {field.name for name in unions for field in message.oneofs_by_name[name].fields}
    assert plain - arms_of_unions == {field.name for field in fields(kind)} - set(unions)
    for member in members_of(kind):
        for inner in member.kinds:
            found = arm_of(message, member.name, inner, union=len(member.kinds) > 1)
            assert found.is_repeated == member.repeated
            if is_dataclass(inner):
                assert message_type(found).name == named(inner)
                compare(inner, message_type(found), seen)
            elif issubclass(inner, Enum):
                compare_enum(inner, found)
            else:
                assert found.cpp_type in SCALARS[inner]


def named(kind: Any) -> str:  # noqa: ANN401  any class
    return str(kind.__name__)


SCALARS: dict[type, tuple[int, ...]] = {
    bool: (FieldDescriptor.CPPTYPE_BOOL,),
    str: (FieldDescriptor.CPPTYPE_STRING,),
    int: (
        FieldDescriptor.CPPTYPE_INT32,
        FieldDescriptor.CPPTYPE_UINT32,
        FieldDescriptor.CPPTYPE_INT64,
    ),
}


def arm_of(message: Descriptor, name: str, kind: type, *, union: bool) -> FieldDescriptor:
    if not union:
        return message.fields_by_name[name]
    fitting = [
        arm
        for arm in message.oneofs_by_name[name].fields
        if (arm.message_type or arm.enum_type) is not None
        and getattr(arm.message_type or arm.enum_type, "name", "") == kind.__name__
    ]
    assert len(fitting) == 1
    return fitting[0]


def compare_enum(kind: type[Enum], field: FieldDescriptor) -> None:
    enum = field.enum_type
    assert enum is not None
    assert enum.name == kind.__name__
    zero, *others = enum.values
    assert zero.number == 0
    prefix = zero.name.removesuffix("UNSPECIFIED")
    assert {value.name.removeprefix(prefix): value.number for value in others} == {
        member.name: member.value for member in kind
    }


@pytest.mark.parametrize("roll", ROLLS)
def test_only_the_seams_types_are_used(roll: Roll) -> None:
    for kind in (roll.check, roll.outcome):
        for hint in get_type_hints(kind).values():
            assert not {float, dict, set, bytes} & {hint, *get_args(hint)}


# Checks and outcomes


def rolled(sample: Sample, index: int = 0) -> tuple[Any, Resolved]:
    check = read_check(sample.message())
    return check, resolve_check(check, BETA, index, 0)


@pytest.mark.parametrize("sample", CHECKS)
def test_a_check_survives_to_protobuf_and_back(sample: Sample) -> None:
    check = read_check(sample.message())
    assert type(check).__name__ == sample.roll
    again = roll_pb2.Check.FromString(write_check(check).SerializeToString())
    assert read_check(again) == check


@pytest.mark.parametrize("sample", CHECKS)
@pytest.mark.parametrize("index", range(20))
def test_an_outcome_survives_to_protobuf_and_back(sample: Sample, index: int) -> None:
    check, resolved = rolled(sample, index)
    assert resolved.limit_reached is None
    message = roll_pb2.CheckOutcome.FromString(outcome_message(check, resolved).SerializeToString())
    assert read_outcome(message) == resolved.outcome
    assert message.WhichOneof("system") == sample.name


@pytest.mark.parametrize("sample", CHECKS)
@pytest.mark.parametrize("index", range(5))
def test_the_same_faces_give_the_same_outcome(sample: Sample, index: int) -> None:
    check, resolved = rolled(sample, index)
    faces = iter([draw.face for draw in resolved.draws])
    assert resolve(check, lambda _: next(faces)) == resolved
    assert next(faces, None) is None


@pytest.mark.parametrize("sample", CHECKS)
def test_the_order_of_draws_is_that_of_the_snapshot(sample: Sample) -> None:
    """Another order, with the same engine, would turn old receipts into forgeries."""
    assert sample.engine == engine_of(sample.name)
    assert drawn(sample.message()) == sample.runs


@pytest.mark.parametrize("sample", CHECKS)
@pytest.mark.parametrize("index", range(20))
def test_every_draw_is_used_or_explained(sample: Sample, index: int) -> None:
    """Each draw is a die of the outcome, by its index, or the outcome names its index elsewhere."""
    _, resolved = rolled(sample, index)
    dice = [die for die in found(resolved.outcome) if isinstance(die, Die)]
    assert {die.draw for die in dice} == set(range(len(resolved.draws)))
    assert all(die.fates for die in dice)


def found(value: object) -> Iterator[object]:
    """Everything inside an outcome."""
    yield value
    if isinstance(value, tuple):
        for item in value:
            yield from found(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from found(getattr(value, field.name))


@pytest.mark.parametrize("sample", CHECKS)
@pytest.mark.parametrize("faces", [(1,), (6, 1, 2, 5), (2, 3)])
def test_draws_bounds_what_is_drawn_before_any_reroll(sample: Sample, faces: tuple[int, ...]) -> None:
    check = read_check(sample.message())
    turn = cycle(faces)
    resolved = resolve(check, lambda sides: (next(turn) - 1) % sides + 1)
    first = [draw for draw in resolved.draws if draw.of is None]
    assert len(first) <= systems()[sample.name].draws(check)


@pytest.mark.parametrize("sample", CHECKS)
def test_texts_and_values_are_there(sample: Sample) -> None:
    check, resolved = rolled(sample)
    text = text_message(check, resolved)
    assert text.line
    assert text.plain.startswith(text.line)
    assert text.markdown.startswith("**")
    assert isinstance(resolved.value, tuple)
    hash(resolved.value)


@pytest.mark.parametrize("sample", CHECKS)
def test_outcome_members_name_the_arm_of_the_check(sample: Sample) -> None:
    check, resolved = rolled(sample)
    (name, members), *others = outcome_members(check, resolved.outcome).items()
    assert (name, others) == (sample.name, [])
    message = sample.message()
    inner = getattr(message, sample.name)
    if "roll" in inner.DESCRIPTOR.oneofs_by_name:
        assert list(members) == [inner.WhichOneof("roll")]


@pytest.mark.parametrize("name", systems())
def test_a_check_without_a_roll_is_refused_by_its_path(name: str) -> None:
    message = roll_pb2.Check()
    getattr(message, name).SetInParent()
    with pytest.raises(RequestError) as refused:
        read_check(message)
    assert refused.value.field.startswith(f"{name}.")


# Pools and odds


class PoolNoting(DrawnDice):
    """Dice that note which draws fell as one pool."""

    pools: ClassVar[list[range]] = []

    def pool(self, count: int, sides: int) -> tuple[Face, ...]:
        self.pools.append(range(len(self.log), len(self.log) + count))
        return super().pool(count, sides)


@pytest.mark.parametrize("sample", CHECKS)
@pytest.mark.parametrize("index", range(5))
def test_permuting_a_pool_changes_no_value(sample: Sample, index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is drawn after the pool is drawn again as it was."""
    monkeypatch.setattr("fairroll_rules.resolve.DrawnDice", PoolNoting)
    PoolNoting.pools.clear()
    check, first = rolled(sample, index)
    faces = [draw.face for draw in first.draws]
    for pool in [pool for pool in PoolNoting.pools if len(pool) > 1]:
        turned = [*faces[: pool.start], *reversed(faces[pool.start : pool.stop]), *faces[pool.stop :]]
        source = GivenFaces(turned)
        again = resolve(check, source)
        source.finish()
        assert again.value == first.value


# Nine dice and more, by the thousands of paths each, are more than a test has time for.
WITH_ODDS = [each for each in CHECKS if str(each.id) not in ("notation-NotationCheck-2", "meidlands-OpposedRoll-17")]


@pytest.mark.parametrize("sample", WITH_ODDS)
def test_odds_and_lost_weight_sum_to_one(sample: Sample) -> None:
    odds = distribution(systems()[sample.name].resolve, read_check(sample.message()), budget=5_000_000)
    assert sum(odds.weights.values()) + odds.lost == 1
    assert odds.lost < Fraction(1, 10**9)


# What a field may hold

HOLDERS: dict[type, tuple[type, ...]] = {int: (Range,), str: (Utf8, Written, Characters)}
BELOW = ("minimum", "minLength", "minItems")
ABOVE = ("maximum", "maxLength", "maxItems")
REASONS = {"required": "REQUIRED", "pattern": "NOTATION_INVALID", "oneOf": "ENUM_UNKNOWN"}


@pytest.mark.parametrize("roll", ROLLS)
def test_every_field_says_what_it_may_hold(roll: Roll) -> None:
    """A number its range, a text its size or how it is written, a list its entries; of int64 any will do."""
    for kind, message in parts_of(roll.check, roll.check_message):
        for member in members_of(kind):
            says = allowed(kind).get(member.name, (None, None))
            assert not member.repeated or isinstance(says[0], Entries), member.name
            for inner in member.kinds:
                field = message.fields_by_name.get(member.name)
                if inner in HOLDERS and (field is None or field.cpp_type != FieldDescriptor.CPPTYPE_INT64):
                    assert isinstance(says[member.repeated], HOLDERS[inner]), member.name


def parts_of(kind: Any, message: Descriptor) -> Iterator[tuple[Any, Descriptor]]:  # noqa: ANN401  any dataclass
    """A dataclass and its message, and those inside."""
    yield kind, message
    for member in members_of(kind):
        for inner in member.kinds:
            if isinstance(inner, type) and is_dataclass(inner):
                field = arm_of(message, member.name, inner, union=len(member.kinds) > 1)
                yield from parts_of(inner, message_type(field))


@pytest.mark.parametrize("name", systems())
def test_what_a_field_may_hold_is_what_its_comment_tells(name: str) -> None:
    """The comments of the contract are for people, and say the same as the schemas."""
    for definition in (check_schema(name), *check_schema(name)["$defs"].values()):
        for field, schema in definition.get("properties", {}).items():
            told = schema["description"].replace(",", "")
            for minimum, maximum in (("minimum", "maximum"), ("minLength", "maxLength")):
                if maximum in schema:
                    low = max(schema[minimum], 1) if minimum == "minLength" else schema[minimum]
                    assert f"{low}..{schema[maximum]}" in told, (field, told)
            if "maxItems" in schema:
                least, most = schema["minItems"], schema["maxItems"]
                assert f"{least}..{most}" in told or (least == 0 and f"at most {most}" in told.lower()), (field, told)
            items = schema.get("items", {})
            if "minimum" in items:
                assert f"{items['minimum']}..{items['maximum']} each" in told


@pytest.mark.parametrize("name", systems())
def test_what_lies_outside_is_refused_by_the_schema_and_by_the_service_with_its_place(name: str) -> None:
    """Each field a step outside of each end, before anything is proved."""
    schema = check_schema(name)
    steps = list(outsides(schema))
    assert steps
    assert not list(free(schema))
    for outside in steps:
        assert not is_valid(outside.request, schema)
        judge(name, outside)


def judge(name: str, outside: Outside) -> None:
    error = refusal(name, outside.request)
    place = f"{name}.{outside.path}"
    assert error.field == f"checks[0].{place}"
    if error.reason == "NOTATION_SYNTAX":  # its parser judges it
        assert (name, outside.keyword) in {("notation", "minLength"), ("notation", "required")}
    elif outside.keyword in BELOW:
        assert error.minimum == outside.bound, place
    elif outside.keyword in ABOVE:
        assert error.maximum == outside.bound, place
    elif outside.keyword == "required" and error.minimum is not None:  # empty and absent are one for protobuf
        assert error.minimum > 0
    else:
        assert error.reason == REASONS[outside.keyword], place


# Schemas


@pytest.mark.parametrize("sample", CHECKS)
def test_the_schemas_accept_what_the_service_accepts_and_answers(sample: Sample) -> None:
    validate(getattr_json(sample.message(), sample.name), check_schema(sample.name))
    check, resolved = rolled(sample)
    validate(getattr_json(write_check(check), sample.name), check_schema(sample.name))
    validate(getattr_json(outcome_message(check, resolved), sample.name), outcome_schema(sample.name))


def getattr_json(message: roll_pb2.Check | roll_pb2.CheckOutcome, name: str) -> Any:  # noqa: ANN401  any JSON
    return without_unset_enums(json_codec.to_value(getattr(message, name)))


def without_unset_enums(value: Any) -> Any:  # noqa: ANN401  any JSON
    """Drop what JSON prints for an enum that is not set; a schema for people does not offer it."""
    if isinstance(value, dict):
        kept = {name: inner for name, inner in value.items() if not str(inner).endswith("_UNSPECIFIED")}
        return {name: without_unset_enums(inner) for name, inner in kept.items()}
    return [without_unset_enums(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", systems())
@pytest.mark.parametrize("schema_of", [check_schema, outcome_schema])
def test_the_schemas_refuse_what_is_no_field(name: str, schema_of: Callable[[str], Any]) -> None:
    assert not is_valid({"noSuchField": 1}, schema_of(name))


@pytest.mark.parametrize("name", systems())
def test_everything_in_a_schema_has_a_label_and_words(name: str) -> None:
    for schema in (check_schema(name), outcome_schema(name)):
        for part in (schema, *schema["$defs"].values()):
            choices = part.get("oneOf", ())
            for each in (part, *part.get("properties", {}).values(), *choices):
                assert each["title"][:1].isupper() or not each["title"][:1].isalpha()
                assert each["description"]
            assert not any(choice["const"].endswith("UNSPECIFIED") for choice in choices)
