"""Names of enum values, without the prefix that the contract gives them: `lowest` for REMOVAL_LOWEST."""

from google.protobuf.descriptor import EnumDescriptor


def full_name(text: str, enum: EnumDescriptor) -> str:
    """Return the contract's name of a value; the text itself where there is none, for the contract to refuse."""
    wanted = text.upper().replace("-", "_")
    return next((name for name in (wanted, _prefix(enum) + wanted) if name in enum.values_by_name), text)


def short_names(enum: EnumDescriptor) -> tuple[str, ...]:
    """Return the short names of the values that can be chosen."""
    prefix = _prefix(enum)
    return tuple(value.name.removeprefix(prefix).lower().replace("_", "-") for value in enum.values if value.number)


def _prefix(enum: EnumDescriptor) -> str:
    return enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
