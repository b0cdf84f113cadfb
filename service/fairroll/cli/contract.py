"""The contract as people read it: each message's fields with their types and the comments of the .proto files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from fairroll.comments import comment_of
from fairroll.enums import prefix_of, short_names
from fairroll.errors import FairrollError
from fairroll_rules.systems import systems

_ASK = "ask"
_TYPES = {
    FieldDescriptor.CPPTYPE_BOOL: "true or false",
    FieldDescriptor.CPPTYPE_STRING: "text",
    FieldDescriptor.CPPTYPE_INT32: "integer",
    FieldDescriptor.CPPTYPE_INT64: "integer",
    FieldDescriptor.CPPTYPE_UINT32: "integer",
    FieldDescriptor.CPPTYPE_UINT64: "integer",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message.

    Attributes:
        name: as the contract spells it.
        json_name: as JSON spells it.
        kind: `integer`, `text`, `true or false`, `choice` or `object`.
        repeated: whether it is a list.
        comment: meaning, unit, range, and what unset means.
        one_of: the name of the group of which only one may be set, or "".
        choices: the short names of a choice's values, with what each means.
        prefix: what the names of its values begin with in the contract, and so in JSON.
        fields: those of an object.
    """

    name: str
    json_name: str
    kind: str
    repeated: bool
    comment: str
    one_of: str
    choices: Mapping[str, str]
    prefix: str
    fields: tuple[Field, ...]

    @property
    def is_policy(self) -> bool:
        """Whether it answers a decision in advance: then a person could also be asked."""
        return _ASK in self.choices


def system_named(text: str, refusal: type[FairrollError], field: str) -> str:
    """Return the system that a person names, whatever the case, dashes and spaces: `D6 Dungeons` is d6_dungeons.

    Raises:
        FairrollError: SYSTEM_UNKNOWN, of the type given, with those there are and the nearest as a hint.
    """
    known = {_letters(name): name for name in systems()}
    wanted = _letters(text)
    if wanted not in known:
        near = [known[each] for each in get_close_matches(wanted, known, 1)]
        hint = f"did you mean {near[0]}?" if near else ""
        names = tuple(known.values())
        raise refusal("SYSTEM_UNKNOWN", "there is no such system", field=field, value=text, expected=names, hint=hint)
    return known[wanted]


def _letters(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def fields_of(message: Descriptor) -> tuple[Field, ...]:
    """Return the fields of a message, in the order of the contract."""
    return tuple(_field(field) for field in message.fields)


def _field(field: FieldDescriptor) -> Field:
    choices: dict[str, str] = {}
    if field.enum_type is not None:
        owner = field.enum_type.full_name
        values = [value.name for value in field.enum_type.values if value.number]
        for short, name in zip(short_names(field.enum_type), values, strict=True):
            choices[short] = comment_of(f"{owner}.{name}")
    one_of = field.containing_oneof
    return Field(
        name=field.name,
        json_name=field.json_name,
        kind="choice" if choices else "object" if field.message_type is not None else _TYPES[field.cpp_type],
        repeated=field.is_repeated,
        comment=comment_of(field.full_name),
        # A field with `optional` stands alone in a group that protoc made up.
        one_of="" if one_of is None or one_of.name.startswith("_") else one_of.name,
        choices=choices,
        prefix="" if field.enum_type is None else prefix_of(field.enum_type),
        fields=() if field.message_type is None else fields_of(field.message_type),
    )
