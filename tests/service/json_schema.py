"""As much of JSON Schema 2020-12 as our schemas use, written from its specification; an unknown keyword is an error."""

import re
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
}
_NOTES = {"$schema", "$defs", "title", "description", "default", "contentEncoding"}


def validate(value: Any, schema: Any, root: Any = None) -> None:  # noqa: ANN401  any JSON
    """Assert that a value is valid under a schema."""
    root = schema if root is None else root
    for keyword, argument in schema.items():
        if keyword not in _NOTES:
            _KEYWORDS[keyword](value, argument, schema, root)


def _is_valid(value: Any, schema: Any, root: Any) -> bool:  # noqa: ANN401  any JSON
    try:
        validate(value, schema, root)
    except AssertionError:
        return False
    return True


def _type(value: Any, argument: Any, _schema: Any, _root: Any) -> None:  # noqa: ANN401  any JSON
    names = argument if isinstance(argument, list) else [argument]
    kinds = [kind for name in names for kind in _TYPES[name]]
    assert any(type(value) is kind for kind in kinds), f"{value!r} is not {names}"


def _properties(value: Any, argument: Any, schema: Any, root: Any) -> None:  # noqa: ANN401  any JSON
    for name, inner in argument.items():
        if name in value:
            validate(value[name], inner, root)
    assert schema["additionalProperties"] is False


def _closed(value: Any, argument: Any, schema: Any, _root: Any) -> None:  # noqa: ANN401  any JSON
    assert argument is False
    assert not set(value) - set(schema["properties"]), f"{set(value) - set(schema['properties'])} are no properties"


def _required(value: Any, argument: Any, _schema: Any, _root: Any) -> None:  # noqa: ANN401  any JSON
    assert set(argument) <= set(value), f"{set(argument) - set(value)} are missing"


def _reference(value: Any, argument: Any, _schema: Any, root: Any) -> None:  # noqa: ANN401  any JSON
    validate(value, root["$defs"][argument.removeprefix("#/$defs/")], root)


def _items(value: Any, argument: Any, _schema: Any, root: Any) -> None:  # noqa: ANN401  any JSON
    for item in value:
        validate(item, argument, root)


def _all_of(value: Any, argument: Any, _schema: Any, root: Any) -> None:  # noqa: ANN401  any JSON
    for inner in argument:
        validate(value, inner, root)


def _one_of(value: Any, argument: Any, _schema: Any, root: Any) -> None:  # noqa: ANN401  any JSON
    assert sum(_is_valid(value, inner, root) for inner in argument) == 1, f"{value!r} is not exactly one of {argument}"


def _any_of(value: Any, argument: Any, _schema: Any, root: Any) -> None:  # noqa: ANN401  any JSON
    assert any(_is_valid(value, inner, root) for inner in argument)


def _not(value: Any, argument: Any, _schema: Any, root: Any) -> None:  # noqa: ANN401  any JSON
    assert not _is_valid(value, argument, root)


def _const(value: Any, argument: Any, _schema: Any, _root: Any) -> None:  # noqa: ANN401  any JSON
    assert value == argument


def _minimum(value: Any, argument: Any, _schema: Any, _root: Any) -> None:  # noqa: ANN401  any JSON
    assert value >= argument


def _maximum(value: Any, argument: Any, _schema: Any, _root: Any) -> None:  # noqa: ANN401  any JSON
    assert value <= argument


def _pattern(value: Any, argument: Any, _schema: Any, _root: Any) -> None:  # noqa: ANN401  any JSON
    assert not isinstance(value, str) or re.search(argument, value)


_KEYWORDS = {
    "type": _type,
    "properties": _properties,
    "additionalProperties": _closed,
    "required": _required,
    "$ref": _reference,
    "items": _items,
    "allOf": _all_of,
    "oneOf": _one_of,
    "anyOf": _any_of,
    "not": _not,
    "const": _const,
    "minimum": _minimum,
    "maximum": _maximum,
    "pattern": _pattern,
}
