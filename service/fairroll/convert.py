"""Between messages and rule values, by field name: the only place that knows both.

No system is named here. For each pair of dataclass and message a pair of functions is put together once from the
type hints and the descriptor; afterwards a conversion looks nothing up. What corresponds:

    tuple[X, ..]        repeated                        an Enum      an enum whose values are named and numbered alike
    X | None            optional, a message's presence  A | B        a oneof named as the field, arms named as the types
    a dataclass         a message                       int, str, bool

Zero of an enum, and an absent field, mean the dataclass's default; without one the field is REQUIRED.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache, lru_cache
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from fairroll.errors import RequestError
from fairroll.v1 import roll_pb2
from fairroll_rules.decisions import Decision, OpenDecision, Who
from fairroll_rules.dice import Draw, Purpose
from fairroll_rules.errors import RuleError
from fairroll_rules.systems import System, system_of, systems

Reader = Callable[[Any], Any]
"""Takes a field's value or a message, returns the rule value, or raises RequestError with a path below it."""
Writer = Callable[[Any], Any]
"""Takes a rule value, returns what a message's constructor takes: a dict for a message."""

_ROLLS = "roll"
_ASK = "ASK"
_SYSTEMS = "system"
_DECIDERS = {Who.PLAYER: roll_pb2.DECIDER_PLAYER, Who.GAME_MASTER: roll_pb2.DECIDER_GAME_MASTER}
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MAX_ALIKE_CHECKS = 1024
_MAX_ALIKE_BYTES = 256
_VALUE_OF = attrgetter("_value_")  # Enum's own `value` is a property written in Python, and six times slower


class ContractError(TypeError):
    """A system's dataclasses and its messages do not fit: a mistake in the project, not in a request."""


# Checks and outcomes


def read_check(message: roll_pb2.Check) -> Any:  # noqa: ANN401  each system has its own types
    """Return the check that a message asks for, validated by its system.

    Raises:
        RequestError: no system or roll is chosen, or a field is refused; the path begins with the system's name.
    """
    name = message.WhichOneof("system")
    if name is None:
        raise RequestError("REQUIRED", "a check names a system", field=_SYSTEMS, expected=tuple(systems()))
    asked: Message = getattr(message, name)
    if asked.ByteSize() > _MAX_ALIKE_BYTES:
        return _read_roll(name, _rolls(name, outcome=False), asked)
    return _read_alike(name, asked.SerializeToString(deterministic=True))


@lru_cache(maxsize=_MAX_ALIKE_CHECKS)
def _read_alike(name: str, serialised: bytes) -> Any:  # noqa: ANN401  each system has its own types
    """Return a check by its bytes: tables repeat theirs, checks are frozen, and reading is most of a short one's cost.

    Bounded in number and size; a check that is refused raises, and is not kept.
    """
    message = roll_pb2.Check()
    asked: Message = getattr(message, name)
    asked.MergeFromString(serialised)
    return _read_roll(name, _rolls(name, outcome=False), asked)


def write_check(check: object) -> roll_pb2.Check:
    """Return the message of a check, without label, actor and cites."""
    name = system_of(check)
    roll = _rolls(name, outcome=False)[systems()[name].CHECKS.index(type(check))]
    return roll_pb2.Check(**{name: roll.write(check)})


def read_outcome(message: roll_pb2.CheckOutcome) -> Any:  # noqa: ANN401  each system has its own types
    """Return the outcome in a message that has one.

    Raises:
        RequestError: there is none, or a field is refused.
    """
    name = message.WhichOneof("system")
    if name is None:
        raise RequestError("REQUIRED", "the outcome of no system is there", field=_SYSTEMS)
    return _read_roll(name, _rolls(name, outcome=True), getattr(message, name))


def outcome_members(check: object, outcome: object) -> dict[str, Any]:
    """Return the member of a CheckOutcome that holds the outcome of a check: what its constructor takes."""
    name = system_of(check)
    roll = _rolls(name, outcome=True)[systems()[name].CHECKS.index(type(check))]
    return {name: roll.write(outcome)}


def draw_members(draws: Iterable[Draw]) -> list[dict[str, Any]]:
    """Return the draws as a CheckOutcome's constructor takes them."""
    # What is not there is left out: most draws follow no other and have no actor, and each member costs its while.
    return [
        {"sides": sides, "face": face, "purpose": purpose._value_}
        if of is None and not actor
        else {"sides": sides, "face": face, "purpose": purpose._value_, "of": of, "actor": actor}
        for sides, face, purpose, of, actor in draws
    ]


def read_draws(messages: Iterable[roll_pb2.Draw]) -> tuple[Draw, ...]:
    """Return the draws that a record holds.

    Raises:
        RequestError: ENUM_UNKNOWN, a purpose is none.
    """
    try:
        return tuple(
            Draw(each.sides, each.face, Purpose(each.purpose), each.of if each.HasField("of") else None, each.actor)
            for each in messages
        )
    except ValueError:
        raise RequestError("ENUM_UNKNOWN", "a draw has a purpose that is none", field="draws") from None


def pending_members(pending: Iterable[OpenDecision]) -> list[dict[str, Any]]:
    """Return the decisions that wait as a CheckOutcome's constructor takes them."""
    return [
        {
            "id": decision.id,
            "kind": decision.question.kind,
            "decider": _DECIDERS[decision.question.who],
            "actor": decision.actor,
            "options": [{"id": option.id, "meaning": option.meaning} for option in decision.question.options],
        }
        for decision in pending
    ]


def decision_members(decisions: Iterable[Decision]) -> list[dict[str, Any]]:
    """Return the decisions as a CheckOutcome's constructor takes them."""
    return [
        {
            "id": decision.id,
            "kind": decision.kind,
            "decider": _DECIDERS[decision.who],
            "actor": decision.actor,
            "option_id": decision.option,
            "policy": decision.policy,
        }
        for decision in decisions
    ]


def request_error(error: RuleError, path: str = "") -> RequestError:
    """Return what a rule refused as an error of the request; `path` is the check's place in it."""
    return RequestError(
        error.reason,
        error.message,
        field=join_path(path, error.field),
        limit=error.limit,
        minimum=error.minimum,
        maximum=error.maximum,
        value=error.value,
        span=None if error.span is None else (error.span.start, error.span.end),
        expected=error.expected,
        hint=error.hint,
    )


def join_path(outer: str, inner: str) -> str:
    """Return the path of a field inside another; either may be empty."""
    return outer + inner if not (outer and inner) or inner.startswith("[") else f"{outer}.{inner}"


def check_path(check: object) -> str:
    """Return where a check stands in its message: system, and roll where the system has several."""
    name = system_of(check)
    return join_path(name, _rolls(name, outcome=False)[systems()[name].CHECKS.index(type(check))].arm)


def asks(value: object) -> bool:
    """Return whether a policy in a check is ASK."""
    kind: type = type(value)
    for name, ask in _policies(kind):
        content = getattr(value, name)
        if ask is not None:
            if content is ask:
                return True
        elif content is not None and (any(map(asks, content)) if type(content) is tuple else asks(content)):
            return True
    return False


def open_policy(value: object) -> str:
    """Return the path, in a check, of its first policy that is ASK; the empty string where none is."""
    if not asks(value):
        return ""
    kind: type = type(value)
    for member in _asking(kind):
        content = getattr(value, member.name)
        for index, item in enumerate(content if member.repeated else (content,)):
            inner = "" if isinstance(item, Enum) or item is None else open_policy(item)
            if inner or (isinstance(item, Enum) and item.name == _ASK):
                name = _snake(type(item).__name__) if len(member.kinds) > 1 else member.name
                return join_path(f"{name}[{index}]" if member.repeated else name, inner)
    return ""


def refuse_unknown_fields(message: Message) -> None:
    """Return if neither the message nor any message inside it has a field that the contract lacks.

    Raises:
        RequestError: UNKNOWN_FIELD, with the path of the field, its number in the place of a name.
    """
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    if known.ByteSize() != message.ByteSize():
        raise _unknown_field(message, "") or RequestError("UNKNOWN_FIELD", "a field is not in the contract")


def _unknown_field(message: Message, path: str) -> RequestError | None:
    unknown = UnknownFieldSet(message)
    if len(unknown):
        name, number = message.DESCRIPTOR.name, str(unknown[0].field_number)
        place = join_path(path, number)  # an unknown field has no name
        return RequestError("UNKNOWN_FIELD", f"{name} has no field number {number}", field=place, value=number)
    for field, content in message.ListFields():
        if field.message_type is None:
            continue
        for index, item in enumerate(content if field.is_repeated else (content,)):
            name = f"{field.name}[{index}]" if field.is_repeated else field.name
            if found := _unknown_field(item, join_path(path, name)):
                return found
    return None


# One system's rolls


class _Roll(NamedTuple):
    """One arm of a system's message; `arm` is empty where the system has one roll, which is the message itself."""

    arm: str
    read: Reader
    write: Writer


def _read_roll(name: str, rolls: tuple[_Roll, ...], message: Message) -> Any:  # noqa: ANN401  any dataclass
    arm = message.WhichOneof(_ROLLS) if rolls[0].arm else ""
    if arm is None:
        expected = tuple(roll.arm for roll in rolls)
        raise RequestError("REQUIRED", f"{name} has no roll", field=f"{name}.{_ROLLS}", expected=expected)
    try:
        read = next(roll.read for roll in rolls if roll.arm == arm)
        return read(getattr(message, arm) if arm else message)
    except RequestError as error:
        error.field = join_path(join_path(name, arm), error.field)
        raise


@cache
def _rolls(name: str, *, outcome: bool) -> tuple[_Roll, ...]:
    """Return the rolls of a system in the order of its CHECKS."""
    system = systems()[name]
    parent = (roll_pb2.CheckOutcome if outcome else roll_pb2.Check).DESCRIPTOR
    message = _message_type(parent.fields_by_name[name])
    kinds = system.OUTCOMES if outcome else system.CHECKS
    if len(kinds) == 1 and kinds[0].__name__ == message.name:
        return (_Roll("", _message_reader(message, kinds[0]), _message_writer(message, kinds[0])),)
    arms = message.oneofs_by_name[_ROLLS].fields
    return tuple(_roll_of(arms, kind, check) for kind, check in zip(kinds, _checks_by_arm(system, name), strict=True))


def _checks_by_arm(system: System, name: str) -> list[str]:
    """Return the arms of a system's checks, in the order of CHECKS: outcomes have the same ones."""
    arms = _message_type(roll_pb2.Check.DESCRIPTOR.fields_by_name[name]).oneofs_by_name[_ROLLS].fields
    by_type = {_message_type(arm).name: arm.name for arm in arms}
    return [by_type[kind.__name__] for kind in system.CHECKS]


def _roll_of(arms: Iterable[FieldDescriptor], kind: type, name: str) -> _Roll:
    message = next(_message_type(arm) for arm in arms if arm.name == name)
    if message.name != kind.__name__:
        raise ContractError(f"arm {name} holds {message.name}, not {kind.__name__}")
    write = _message_writer(message, kind)
    return _Roll(name, _message_reader(message, kind), lambda value: {name: write(value)})


# Dataclasses and messages


class Member(NamedTuple):
    """A field of a dataclass: the types that its hint allows beside None, and its default (MISSING: none)."""

    name: str
    kinds: tuple[Any, ...]
    repeated: bool
    optional: bool
    default: Any


@cache
def members_of(kind: type) -> tuple[Member, ...]:
    """Return the fields of a dataclass as the contract sees them."""
    hints = get_type_hints(kind)
    return tuple(_member(each.name, hints[each.name], each.default) for each in fields(kind))


def _member(name: str, hint: Any, default: Any) -> Member:  # noqa: ANN401  type hints have no type
    repeated = get_origin(hint) is tuple
    if repeated:
        hint, ellipsis = get_args(hint)
        if ellipsis is not ...:
            raise ContractError(f"{name}: only tuples of any length can be repeated fields")
    union = get_origin(hint) in (Union, UnionType)
    kinds = get_args(hint) if union else (hint,)
    plain = tuple(kind for kind in kinds if kind is not NoneType)
    return Member(name, plain, repeated, len(plain) < len(kinds), default)


@cache
def _message_reader(descriptor: Descriptor, kind: type) -> Reader:
    getters = [_getter(descriptor, member) for member in members_of(kind)]

    def read(message: Message) -> object:
        values = []
        name = ""
        try:
            for name, get in getters:  # noqa: B007  the name is the path of what went wrong
                values.append(get(message))
        except RequestError as error:
            error.field = join_path(name, error.field)
            raise
        try:
            return kind(*values)
        except RuleError as error:
            raise request_error(error) from error

    return read


def _getter(descriptor: Descriptor, member: Member) -> tuple[str, Reader]:
    """Return what reads a member out of a message, and its path there: a oneof's arm adds its own."""
    if len(member.kinds) > 1:
        return "", _oneof_getter(descriptor, member)
    field = _field(descriptor, member)
    name = field.name
    read = _one_reader(field, member.kinds[0])
    if member.repeated:
        return name, _repeated_getter(name, read)
    absent = _absent(member)
    if field.enum_type is not None:
        return name, lambda message: read(number) if (number := getattr(message, name)) else absent("")
    if field.has_presence:
        return name, lambda message: read(getattr(message, name)) if message.HasField(name) else absent("")
    if member.optional or member.default not in (MISSING, 0, "", False):
        raise ContractError(f"{field.full_name} must be optional: unset does not mean its zero")
    return name, attrgetter(name)


def _repeated_getter(name: str, read: Reader) -> Reader:
    if read is _same:
        return lambda message: tuple(getattr(message, name))

    def get(message: Message) -> tuple[object, ...]:
        values: list[object] = []
        try:
            for item in getattr(message, name):
                values.append(read(item))  # noqa: PERF401  how many were read is the index of the bad one
        except RequestError as error:
            error.field = join_path(f"[{len(values)}]", error.field)
            raise
        return tuple(values)

    return get


def _oneof_getter(descriptor: Descriptor, member: Member) -> Reader:
    arms = _arms(descriptor, member)
    readers = {arm.name: _one_reader(arm, kind) for kind, arm in arms.items()}
    absent = _absent(member)
    name = member.name

    def get(message: Message) -> object:
        arm = message.WhichOneof(name)
        if arm is None:
            return absent(name)
        try:
            return readers[arm](getattr(message, arm))
        except RequestError as error:
            error.field = join_path(arm, error.field)
            raise

    return get


def _absent(member: Member) -> Reader:
    """Return what gives the value of a field that is not there, or raises with the path that it is given."""
    if member.default is not MISSING:
        return lambda _: member.default
    if member.optional:
        return lambda _: None

    def refuse(path: str) -> object:
        raise RequestError("REQUIRED", f"{member.name} has no default", field=path)

    return refuse


def _one_reader(field: FieldDescriptor, kind: type) -> Reader:
    if field.message_type is not None:
        return _message_reader(field.message_type, kind)
    if field.enum_type is None:
        return _same
    by_number = {number: kind(number) for number in _enum_numbers(field.enum_type, kind)}
    names = tuple(value.name for value in field.enum_type.values if value.number)

    def read(number: int) -> object:
        if number not in by_number:
            raise RequestError("ENUM_UNKNOWN", "the enum has no such value", value=str(number), expected=names)
        return by_number[number]

    return read


@cache
def _message_writer(descriptor: Descriptor, kind: type) -> Writer:
    members = members_of(kind)
    names = tuple(member.name for member in members if len(member.kinds) == 1)
    putters = [(member.name, _putter(descriptor, member)) for member in members if len(member.kinds) == 1]
    puts = [(name, put) for name, put in putters if put is not _same]
    unions = [(member.name, _oneof_putter(descriptor, member)) for member in members if len(member.kinds) > 1]
    values_of = _getter_of(names)

    def write(value: object) -> dict[str, Any]:
        # None stays: for a constructor it is an absent field.
        written = dict(zip(names, values_of(value), strict=True))
        for name, put in puts:
            written[name] = put(written[name])
        for name, arm_of in unions:
            if (chosen := getattr(value, name)) is not None:
                arm, put = arm_of[type(chosen)]
                written[arm] = put(chosen)
        return written

    return write


def _getter_of(names: tuple[str, ...]) -> Callable[[object], tuple[Any, ...]]:
    """Return what reads these attributes at once."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def _putter(descriptor: Descriptor, member: Member) -> Writer:
    one = _one_writer(_field(descriptor, member), member.kinds[0])
    if one is _same:
        return _same
    if member.repeated:
        return lambda values: [*map(one, values)]
    if member.optional:
        return lambda value: None if value is None else one(value)
    return one


def _oneof_putter(descriptor: Descriptor, member: Member) -> dict[type, tuple[str, Writer]]:
    return {kind: (arm.name, _one_writer(arm, kind)) for kind, arm in _arms(descriptor, member).items()}


def _one_writer(field: FieldDescriptor, kind: type) -> Writer:
    if field.message_type is not None:
        return _message_writer(field.message_type, kind)
    if field.enum_type is None:
        return _same
    _enum_numbers(field.enum_type, kind)
    return _VALUE_OF


def _same(value: Any) -> Any:  # noqa: ANN401  any scalar
    return value


# What fits what


def _message_type(field: FieldDescriptor) -> Descriptor:
    if field.message_type is None:
        raise ContractError(f"{field.full_name} must be a message")
    return field.message_type


def _field(descriptor: Descriptor, member: Member) -> FieldDescriptor:
    field = descriptor.fields_by_name.get(member.name)
    if field is None or field.is_repeated != member.repeated:
        raise ContractError(f"{descriptor.full_name} has no field {member.name} of the dataclass's kind")
    return field


def _arms(descriptor: Descriptor, member: Member) -> dict[type, FieldDescriptor]:
    """Return the arm of the oneof for each type that a member may have."""
    oneof = descriptor.oneofs_by_name.get(member.name)
    arms = {} if oneof is None else {arm.name: arm for arm in oneof.fields}
    kinds = {_snake(kind.__name__): kind for kind in member.kinds}
    if set(arms) != set(kinds) or member.repeated:
        raise ContractError(f"{descriptor.full_name} must have a oneof {member.name} with arms {sorted(kinds)}")
    return {kind: arms[name] for name, kind in kinds.items()}


def _enum_numbers(enum: EnumDescriptor, kind: type[Enum]) -> list[int]:
    """Return the numbers of an enum's values without UNSPECIFIED, once they are those of the Python enum."""
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    named = {value.name.removeprefix(prefix): value.number for value in enum.values if value.number}
    if named != {member.name: member.value for member in kind}:
        raise ContractError(f"{enum.full_name} and {kind.__name__} have other names or numbers")
    return list(named.values())


def _snake(name: str) -> str:
    return _WORD_START.sub("_", name).lower()


# Policies


@cache
def _asking(kind: type) -> tuple[Member, ...]:
    """Return the members of a type in which an ASK may stand."""
    return tuple(member for member in members_of(kind) if any(map(_may_ask, member.kinds)))


@cache
def _policies(kind: type) -> tuple[tuple[str, Enum | None], ...]:
    """Return the fields of a type in which an ASK may stand, each with that ASK: None where the field holds parts."""
    return tuple((member.name, getattr(member.kinds[0], _ASK, None)) for member in _asking(kind))


def _may_ask(kind: type) -> bool:
    if issubclass(kind, Enum):
        return _ASK in kind.__members__
    return is_dataclass(kind) and bool(_asking(kind))
