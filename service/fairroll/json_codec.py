"""JSON to message and back: protobuf's own mapping, compiled from the descriptors and made strict.

What it accepts, protobuf's mapping accepts, with the same meaning, but for a body of nothing, which is the empty
message; it refuses what that mapping lets pass: `[]` for a
message, unknown and repeated keys, a field under both its names, unknown enum numbers, loose base64, `1e3` for an
integer, NaN. What it prints is lowerCamelCase with zero values, 64-bit integers as strings.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NoReturn, TypeVar

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo

from fairroll.errors import RequestError
from fairroll.v1.errors_pb2 import LimitViolation, NotationViolation

M = TypeVar("M", bound=Message)

MAX_DEPTH = 64
"""Levels of messages in a body."""

DETAILS: tuple[type[Message], ...] = (ErrorInfo, BadRequest, LimitViolation, NotationViolation)
"""What stands in the details of a google.rpc.Status."""
TYPE_URL = "type.googleapis.com/"
"""What stands before the full name of a message in `@type`."""

Reader = Callable[[Any], Any]
"""Turns a parsed JSON value into what a field takes, or raises RequestError with a path below that field."""
Setter = Callable[[Message, Any], None]
Writer = Callable[[Any], Any]

_BLANKS = " \t\r\n"
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,19})", re.ASCII)
_INTEGER_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_LONG = (FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64)


class _Number(str):
    """The digits of a JSON number as they stood, so that nothing is rounded before it is judged."""

    __slots__ = ()


def loads(message_class: type[M], body: bytes | str) -> M:
    """Read a message from JSON text; an empty or blank body is the empty message.

    Raises:
        RequestError: JSON_UNREADABLE, or what is wrong with a field, with its path as the contract spells it.
    """
    return from_value(message_class, parse(body))


def parse(body: bytes | str) -> object:
    """Parse JSON strictly: no repeated key, no NaN; numbers stay as they stood.

    Nesting is refused here where the parser gives up; what reads the fields refuses it beyond MAX_DEPTH.

    Raises:
        RequestError: JSON_UNREADABLE, JSON_KEY_REPEATED or JSON_TOO_DEEP.
    """
    try:
        text = body if isinstance(body, str) else body.decode("utf-8")
    except UnicodeDecodeError:
        raise RequestError("JSON_UNREADABLE", "the body is not UTF-8") from None
    try:
        if not text.strip(_BLANKS):
            return {}
        return json.loads(
            text, object_pairs_hook=_unique, parse_int=_Number, parse_float=_Number, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as error:
        raise RequestError(
            "JSON_UNREADABLE", f"the body is not JSON: column {error.colno}, line {error.lineno}"
        ) from None
    except RecursionError:
        raise _too_deep(text) from None


@cache
def reasons_of(descriptor: Descriptor) -> frozenset[str]:
    """Return the reasons with which `loads` may refuse such a message, by its fields and those inside it."""
    found = {"JSON_UNREADABLE", "JSON_KEY_REPEATED", "JSON_TOO_DEEP", "UNKNOWN_FIELD", "WRONG_TYPE"}
    seen: set[str] = set()

    def add(message: Descriptor) -> None:
        if message.full_name in seen:
            return
        seen.add(message.full_name)
        if any(len(oneof.fields) > 1 for oneof in message.oneofs):
            found.add("FIELD_CONFLICT")
        for field in message.fields:
            if field.message_type is not None:
                add(field.message_type)
            elif field.enum_type is not None:
                found.add("ENUM_UNKNOWN")
            elif field.type == FieldDescriptor.TYPE_BYTES:
                found.add("BASE64_INVALID")
            elif field.cpp_type in _INTEGER_RANGES:
                found.add("OUT_OF_RANGE")

    add(descriptor)
    return frozenset(found)


def from_value(message_class: type[M], value: object) -> M:
    """Read a message from what `parse` gave. Raises as `loads` does."""
    message = message_class()
    _fill(message, value, 0)
    return message


def dumps(message: Message) -> bytes:
    """Return the message as one line of JSON."""
    return json.dumps(to_value(message), ensure_ascii=False, separators=(",", ":")).encode()


def to_value(message: Message) -> Any:  # noqa: ANN401  any JSON value
    """Return the message as what `json.dumps` takes."""
    return _message_writer(message.DESCRIPTOR)(message)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise RequestError("JSON_KEY_REPEATED", "a key stands twice in one object", field=_shown(_repeated(pairs)))
    return members


def _repeated(pairs: list[tuple[str, object]]) -> str:
    """Return the first name that stood before; in one walk, since a body may hold a hundred thousand names."""
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            break
        seen.add(name)
    return name


def _too_deep(text: str) -> RequestError:
    depth = deepest = 0
    for sign in _BRACKET.findall(text):
        depth += 1 if sign in "[{" else -1 if sign in "]}" else 0  # the rest are strings
        deepest = max(deepest, depth)
    return RequestError("JSON_TOO_DEEP", "nested too deep", limit="json_depth", maximum=MAX_DEPTH, value=str(deepest))


def _refuse_constant(name: str) -> NoReturn:
    raise RequestError("JSON_UNREADABLE", f"{name} is not JSON", value=name)


def _fill(message: Message, value: object, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise RequestError("JSON_TOO_DEEP", "nested too deep", limit="json_depth", maximum=MAX_DEPTH, value=str(depth))
    if not isinstance(value, dict):
        raise _wrong(value, "an object")
    setters = _setters(message.DESCRIPTOR)
    seen: dict[str, str] = {}
    for name, member in value.items():
        known = setters.get(name)
        if known is None:
            raise RequestError("UNKNOWN_FIELD", f"there is no field {_shown(name)}", field=_shown(name))
        field, group, setter = known
        if field in seen:
            raise RequestError("JSON_KEY_REPEATED", "the field stands under both its names", field=field)
        seen[field] = field
        if member is None:
            continue
        if group in seen:
            raise RequestError("FIELD_CONFLICT", f"only one of {group} may be set: {seen[group]} is", field=field)
        if group:
            seen[group] = field
        try:
            setter(message, (member, depth))
        except RequestError as error:
            error.field = _joined(field, error.field)
            raise


@cache
def _setters(descriptor: Descriptor) -> Mapping[str, tuple[str, str, Setter]]:
    setters: dict[str, tuple[str, str, Setter]] = {}
    for field in descriptor.fields:
        oneof = field.containing_oneof
        # A synthetic oneof (proto3 `optional`) has one field only and never conflicts.
        group = f"oneof {oneof.name}" if oneof is not None and len(oneof.fields) > 1 else ""
        setters[field.name] = setters[field.json_name] = (field.name, group, _setter(field))
    return setters


def _setter(field: FieldDescriptor) -> Setter:
    name = field.name
    if field.message_type is not None:
        return _repeated_messages(name) if field.is_repeated else _one_message(name)
    read = _scalar_reader(field)
    return _repeated_scalars(name, read) if field.is_repeated else _one_scalar(name, read)


def _one_message(name: str) -> Setter:
    def put(message: Message, given: tuple[object, int]) -> None:
        inner = getattr(message, name)
        inner.SetInParent()
        _fill(inner, given[0], given[1] + 1)

    return put


def _repeated_messages(name: str) -> Setter:
    def put(message: Message, given: tuple[object, int]) -> None:
        items = getattr(message, name)
        _each(given[0], lambda item: _fill(items.add(), item, given[1] + 1))

    return put


def _one_scalar(name: str, read: Reader) -> Setter:
    def put(message: Message, given: tuple[object, int]) -> None:
        setattr(message, name, read(given[0]))

    return put


def _repeated_scalars(name: str, read: Reader) -> Setter:
    def put(message: Message, given: tuple[object, int]) -> None:
        items = getattr(message, name)
        _each(given[0], lambda item: items.append(read(item)))

    return put


def _each(items: object, take: Callable[[object], None]) -> None:
    if not isinstance(items, list):
        raise _wrong(items, "an array")
    for index, item in enumerate(items):
        try:
            take(item)
        except RequestError as error:
            error.field = _joined(f"[{index}]", error.field)
            raise


def _joined(outer: str, inner: str) -> str:
    if not inner or inner.startswith("["):
        return outer + inner
    return f"{outer}.{inner}"


def _scalar_reader(field: FieldDescriptor) -> Reader:
    kind = field.cpp_type
    if field.enum_type is not None:
        return _enum_reader(field.enum_type)
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return _read_bool
    if kind == FieldDescriptor.CPPTYPE_STRING:
        return _read_bytes if field.type == FieldDescriptor.TYPE_BYTES else _read_text
    return _integer_reader(*_INTEGER_RANGES[kind])


def _read_bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong(value, "true or false")
    return value


def _read_text(value: object) -> str:
    if not isinstance(value, str) or isinstance(value, _Number):
        raise _wrong(value, "a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RequestError("JSON_UNREADABLE", "half of a surrogate pair is not text") from None
    return value


def _read_bytes(value: object) -> bytes:
    """Read base64 of either alphabet, with or without padding; nothing else may stand in it (RFC 4648, 3.3, 3.5)."""
    text = _read_text(value)
    plain = text.translate({ord("-"): "+", ord("_"): "/"}).rstrip("=")
    try:
        read = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise RequestError("BASE64_INVALID", "not base64", value=_shown(text)) from None
    padding = text[len(plain) :]
    if base64.b64encode(read).decode().rstrip("=") != plain or padding not in ("", "=" * (-len(plain) % 4)):
        raise RequestError("BASE64_INVALID", "not canonical base64", value=_shown(text))
    return read


def _integer_reader(minimum: int, maximum: int) -> Reader:
    def read(value: object) -> int:
        if not isinstance(value, str):
            raise _wrong(value, "an integer")
        if not _INTEGER.fullmatch(value):
            digits = value.removeprefix("-")
            if not (digits.isascii() and digits.isdigit() and not digits.startswith("0")):
                raise RequestError("WRONG_TYPE", "must be an integer", value=_shown(value))
        elif minimum <= int(value) <= maximum:
            return int(value)
        raise RequestError(
            "OUT_OF_RANGE", f"must be {minimum}..{maximum}", minimum=minimum, maximum=maximum, value=_shown(value)
        )

    return read


def _enum_reader(enum: EnumDescriptor) -> Reader:
    numbers = {name: value.number for name, value in enum.values_by_name.items()}
    known = {str(number): number for number in enum.values_by_number}

    def read(value: object) -> int:
        number = known.get(value) if isinstance(value, _Number) else None
        if number is None and isinstance(value, str) and not isinstance(value, _Number):
            number = numbers.get(value)
        if number is None:
            if not isinstance(value, str):
                raise _wrong(value, "the name of an enum value")
            raise RequestError("ENUM_UNKNOWN", f"must be one of {', '.join(numbers)}", value=_shown(value))
        return number

    return read


def _wrong(value: object, expected: str) -> RequestError:
    names = {dict: "an object", list: "an array", str: "a string", bool: "true or false", _Number: "a number"}
    given = "null" if value is None else names[type(value)]
    return RequestError("WRONG_TYPE", f"must be {expected}, not {given}", value=given)


def _shown(text: str) -> str:
    return text[:100].encode("utf-8", "replace").decode()


@cache
def _message_writer(descriptor: Descriptor) -> Writer:
    if descriptor.full_name == AnyMessage.DESCRIPTOR.full_name:
        return _write_detail
    if descriptor.file.package == "google.protobuf":
        # Well-known types print in ways of their own, and none stands on a hot path.
        return _well_known
    fields = [(field.name, field.json_name, field.has_presence, _field_writer(field)) for field in descriptor.fields]

    def write(message: Message) -> dict[str, Any]:
        members = {}
        for name, json_name, has_presence, writer in fields:
            if not has_presence or message.HasField(name):
                members[json_name] = writer(getattr(message, name))
        return members

    return write


def _write_detail(message: Any) -> dict[str, Any]:  # noqa: ANN401  google.protobuf.Any, as which nothing is typed
    """Print a detail of a status as protobuf's mapping does: its members beside its type."""
    detail = next((kind() for kind in DETAILS if message.Is(kind.DESCRIPTOR)), None)
    if detail is None:
        raise TypeError(f"no status has a detail {message.type_url}")
    message.Unpack(detail)
    return {"@type": message.type_url, **to_value(detail)}


def _well_known(message: Message) -> Any:  # noqa: ANN401  any JSON value
    return _whole(MessageToDict(message))


def _whole(value: Any) -> Any:  # noqa: ANN401  any JSON value
    """Print the whole numbers of a Struct, which holds only floats, as whole numbers, and its members in order."""
    if isinstance(value, dict):
        return {name: _whole(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _field_writer(field: FieldDescriptor) -> Writer:
    if is_text_map(field):
        return lambda texts: dict(sorted(texts.items()))
    if field.message_type is not None:
        inner = field.message_type

        def write_message(value: Message) -> object:
            # Looked up late: messages may contain themselves.
            return _message_writer(inner)(value)

        one: Writer = write_message
    else:
        one = _scalar_writer(field)
    if not field.is_repeated:
        return one
    return lambda items: [one(item) for item in items]


def is_text_map(field: FieldDescriptor) -> bool:
    """Whether a field is a map from text to text, the only kind of map that the contract has."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _scalar_writer(field: FieldDescriptor) -> Writer:
    kind = field.cpp_type
    if kind in _LONG:
        return str
    if field.enum_type is not None:
        names = {number: value.name for number, value in field.enum_type.values_by_number.items()}
        return lambda number: names.get(number, number)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return lambda value: base64.b64encode(value).decode()
    return lambda value: value
