"""JSON Schema (2020-12) of the contract's messages, made from the descriptors.

A schema also holds what no descriptor knows: the comments of the contract, and, where a message is a system's, what its
dataclasses say: ranges, sizes, patterns, defaults and what is required. A form can be made from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING
from enum import Enum
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from fairroll.comments import comment_of
from fairroll.convert import Member, members_of
from fairroll.json_codec import DETAILS, TYPE_URL, is_text_map
from fairroll_rules.fields import Allowed, Characters, Constraint, Entries, Range, Utf8, allowed

Schema = dict[str, Any]

_INTEGERS: dict[int, tuple[int, int]] = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
}
_ANYTHING = Allowed(None, None)
_MAY_BE_ABSENT = {"fairroll.v1.CheckOutcome.system"}
"""Oneofs of no dataclass that may have no arm: a roll that waits, or that passed its limit, has no outcome."""
_LONG_INTEGERS = {FieldDescriptor.CPPTYPE_INT64: r"^-?[0-9]{1,19}$", FieldDescriptor.CPPTYPE_UINT64: r"^[0-9]{1,20}$"}


class SchemaBuilder:
    """Builds the schemas of one document; messages and enums inside it stand in `definitions`, once each."""

    def __init__(
        self,
        package: str,
        kinds: dict[str, type],
        place: str = "#/$defs/",
        definitions: dict[str, Schema] | None = None,
        *,
        of_answers: bool = False,
    ) -> None:
        """Build one document.

        Args:
            package: what full names begin with, and names in the document do not.
            kinds: the dataclasses of a system's rolls by name; those inside them are found through their fields.
            place: where the document keeps its definitions.
            definitions: those that are there already, to be added to.
            of_answers: whether it describes answers too, which print the zeros of enums; forms need none.
        """
        self.definitions = {} if definitions is None else definitions
        self._package = package
        self._kinds = kinds
        self._place = place
        self._of_answers = of_answers

    def message(self, descriptor: Descriptor) -> Schema:
        """Return the schema of a message."""
        members = {member.name: member for member in self._members(descriptor)}
        kind = self._kinds.get(descriptor.name)
        limits = {} if kind is None else allowed(kind)
        schema: Schema = {
            "type": "object",
            "title": _title(descriptor.name),
            "description": comment_of(descriptor.full_name),
        }
        schema["properties"] = {
            field.json_name: self._property(field, members.get(field.name), limits.get(field.name, _ANYTHING))
            for field in descriptor.fields
        }
        schema["additionalProperties"] = False
        required = [
            field.json_name
            for field in descriptor.fields
            if _is_required(field, members.get(field.name), limits.get(field.name, _ANYTHING))
        ]
        if required:
            schema["required"] = required
        choices = list(self._choices(descriptor, members))
        if choices:
            schema["allOf"] = choices
        return schema

    def _members(self, descriptor: Descriptor) -> tuple[Member, ...]:
        kind = self._kinds.get(descriptor.name)
        return () if kind is None else members_of(kind)

    def _property(self, field: FieldDescriptor, member: Member | None, limits: Allowed) -> Schema:
        if member is not None:
            self._kinds.update({kind.__name__: kind for kind in member.kinds if isinstance(kind, type)})
        else:  # an arm of a oneof: its type stands in the hint of the oneof's member
            self._kinds.update(self._kinds_of_arms(field))
        one = {} if is_text_map(field) else self._value(field)
        empty = member is not None and member.default == ""
        if is_text_map(field):
            schema: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
        elif field.is_repeated:
            each = one | _keywords(limits.each, or_empty=False)
            schema = {"type": "array", "items": each} | _keywords(limits.whole, or_empty=empty)
        else:
            schema = one | _keywords(limits.whole, or_empty=empty)
        described = {"title": _title(field.name), "description": comment_of(field.full_name), **schema}
        if member is not None and isinstance(member.default, Enum | int | str):
            described["default"] = _default(field, member.default)
        elif member is not None and member.default == ():
            described["default"] = []
        return described

    def _kinds_of_arms(self, field: FieldDescriptor) -> dict[str, type]:
        oneof = field.containing_oneof
        owners = self._members(field.containing_type) if oneof is not None and field.containing_type else ()
        found = [member for member in owners if oneof is not None and member.name == oneof.name]
        return {kind.__name__: kind for member in found for kind in member.kinds}

    def _value(self, field: FieldDescriptor) -> Schema:
        if field.message_type is not None:
            inner = field.message_type
            return self.reference(inner)
        if field.enum_type is not None:
            enum = field.enum_type
            return self._reference(enum.full_name, lambda: _enum(enum, with_zero=self._of_answers))
        return _scalar(field)

    def reference(self, descriptor: Descriptor) -> Schema:
        """Return a reference to the schema of a message, which is built if it is not there yet."""
        if descriptor.full_name == "google.protobuf.Struct":
            return {"type": "object"}
        if descriptor.full_name == "google.protobuf.Any":
            return {"oneOf": [self._detail(kind) for kind in DETAILS]}
        return self._reference(descriptor.full_name, lambda: self.message(descriptor))

    def _detail(self, kind: Any) -> Schema:  # noqa: ANN401  a message class of another package has another descriptor
        """Return the schema of a detail of a status: the message's own, and its type."""
        schema = self.message(kind.DESCRIPTOR)
        tag = {"const": TYPE_URL + kind.DESCRIPTOR.full_name, "description": "The type of the detail."}
        return {**schema, "properties": {"@type": tag, **schema["properties"]}, "required": ["@type"]}

    def _reference(self, full_name: str, build: Callable[[], Schema]) -> Schema:
        name = full_name.removeprefix(self._package)
        if name not in self.definitions:
            self.definitions[name] = {}  # a message may contain itself
            self.definitions[name] = build()
        return {"$ref": self._place + name}

    def _choices(self, descriptor: Descriptor, members: dict[str, Member]) -> Iterable[Schema]:
        """Yield, for each oneof, that one of its arms is there; or none, where it has a default."""
        for oneof in descriptor.oneofs:
            if len(oneof.fields) == 1 and oneof.name.startswith("_"):
                continue  # what `optional` is made of
            arms: list[Schema] = [{"required": [field.json_name]} for field in oneof.fields]
            member = members.get(oneof.name)
            absent = member is not None and (member.optional or member.default is not MISSING)
            if absent or f"{descriptor.full_name}.{oneof.name}" in _MAY_BE_ABSENT:
                arms.append({"not": {"anyOf": list(arms)}})
            yield {"description": comment_of(f"{descriptor.full_name}.{oneof.name}"), "oneOf": arms}


def _is_required(field: FieldDescriptor, member: Member | None, limits: Allowed) -> bool:
    """Whether the field has no default, and protobuf's zero for it is none either."""
    if member is None or member.optional or member.default is not MISSING:
        return False
    if field.is_repeated:
        return isinstance(limits.whole, Entries) and limits.whole.minimum > 0
    if field.message_type is not None or field.enum_type is not None or field.has_presence:
        return True
    return isinstance(limits.whole, Utf8 | Characters) and limits.whole.minimum > 0


def _keywords(constraint: Constraint | None, *, or_empty: bool) -> Schema:
    """Return what a constraint is in JSON Schema; a number of bytes allows at most as many characters."""
    if constraint is None:
        return {}
    if isinstance(constraint, Range):
        return {"minimum": constraint.minimum, "maximum": constraint.maximum}
    if isinstance(constraint, Entries):
        return {"minItems": constraint.minimum, "maxItems": constraint.maximum}
    if isinstance(constraint, Utf8 | Characters):
        return {"minLength": constraint.minimum, "maxLength": constraint.maximum}
    pattern = f"(?:{constraint.pattern})?" if or_empty else f"(?:{constraint.pattern})"
    return {"pattern": f"^{pattern}$", "examples": list(constraint.examples)}


def _title(name: str) -> str:
    """Return `Success threshold` for `success_threshold`, `Skill roll` for `SkillRoll`, for a form's labels."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("_", " ").lower()
    return words[:1].upper() + words[1:]


def _scalar(field: FieldDescriptor) -> Schema:
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return {"type": "boolean"}
    if kind in _INTEGERS:
        minimum, maximum = _INTEGERS[kind]
        return {"type": "integer", "minimum": minimum, "maximum": maximum}
    if kind in _LONG_INTEGERS:
        return {"type": ["integer", "string"], "pattern": _LONG_INTEGERS[kind]}
    if kind in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
        return {"type": "number"}
    return {"type": "string", "contentEncoding": "base64"} if field.type == field.TYPE_BYTES else {"type": "string"}


def _enum(enum: EnumDescriptor, *, with_zero: bool) -> Schema:
    values = [value.name for value in enum.values if value.number or with_zero]
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    choices = [
        {
            "const": name,
            "title": _title(name.removeprefix(prefix).lower()),
            "description": comment_of(f"{enum.full_name}.{name}"),
        }
        for name in values
    ]
    return {
        "title": _title(enum.name),
        "description": comment_of(enum.full_name),
        "type": "string",
        "oneOf": choices,
    }


def _default(field: FieldDescriptor, default: Enum | int | str) -> int | str:
    if isinstance(default, Enum) and field.enum_type is not None:
        return field.enum_type.values_by_number[default.value].name
    if isinstance(default, Enum):
        raise TypeError(f"{field.full_name} is no enum")
    return default
