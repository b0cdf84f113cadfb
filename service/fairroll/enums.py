"""Names of enum values, without the prefix that the contract gives them: `lowest` for REMOVAL_LOWEST."""

from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor


def full_name(text: str, enum: EnumDescriptor) -> str:
    """Return the contract's name of a value; the text itself where there is none, for the contract to refuse."""
    wanted = text.upper().replace("-", "_")
    return next((name for name in (wanted, prefix_of(enum) + wanted) if name in enum.values_by_name), text)


def with_full_names(value: Any, message: Descriptor) -> Any:  # noqa: ANN401  any JSON
    """Return a message as JSON with the contract's names where short ones stand; what does not fit stays as it is."""
    if not isinstance(value, dict):
        return value
    fields = {name: field for field in message.fields for name in (field.name, field.json_name)}
    return {name: _named(member, fields[name]) if name in fields else member for name, member in value.items()}


def _named(value: Any, field: FieldDescriptor) -> Any:  # noqa: ANN401  any JSON
    if isinstance(value, list):
        return [_named(item, field) for item in value]
    if field.message_type is not None:
        return with_full_names(value, field.message_type)
    if field.enum_type is not None and isinstance(value, str):
        return full_name(value, field.enum_type)
    return value


def short_names(enum: EnumDescriptor) -> tuple[str, ...]:
    """Return the short names of the values that can be chosen."""
    prefix = prefix_of(enum)
    return tuple(value.name.removeprefix(prefix).lower().replace("_", "-") for value in enum.values if value.number)


def prefix_of(enum: EnumDescriptor) -> str:
    """Return what the contract's names of the values begin with, such as `REMOVAL_POLICY_`."""
    return enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
