"""A check of a rule system from words such as `skill-roll statistic=2 advantage=1`: JSON that the contract reads.

The words are looked up in the contract, so that a new system needs nothing here. What the contract does not have is
passed on as it stands: the service says what is wrong with it, once and for all callers.

    ROLL field=value ..     value: text, a number, true, JSON, or the short name of an enum value (`remove=lowest`)
    field=value ..          of a system that has one roll only
    outer.inner=value       a field inside a field
    actors[0].name=Ann      a field of an item; items[]=.. is not needed: dice=5,4 fills a list
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from fairroll.cli.contract import system_named
from fairroll.enums import full_name
from fairroll.errors import WrongUseError
from fairroll.v1 import roll_pb2

_STEP = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_-]*)(?:\[(?P<index>[0-9]{1,4})\])?", re.ASCII)
MAX_ITEMS = 1000


def check_of(system: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the check of a system's roll as JSON.

    Raises:
        WrongUseError: SYSTEM_UNKNOWN, ROLL_NOT_NAMED or FIELD_NOT_GIVEN; everything else is the service's to judge.
    """
    name = system_named(system, WrongUseError, "--system")
    field = roll_pb2.Check.DESCRIPTOR.fields_by_name[name]
    rolls = _message(field).oneofs_by_name.get("roll")
    if rolls is None:  # a system with one roll only, whose name is left out
        return {name: _fields(words, field)}
    if len(rolls.fields) == 1 and (not words or "=" in words[0]):
        words = (rolls.fields[0].name, *words)  # the only one needs no name
    if not words or "=" in words[0]:
        raise WrongUseError(
            "ROLL_NOT_NAMED", "name the roll first", field=name, expected=tuple(each.name for each in rolls.fields)
        )
    roll = _snake(words[0])
    return {name: {roll: _fields(words[1:], _message(field).fields_by_name.get(roll))}}


def _fields(words: Sequence[str], roll: FieldDescriptor | None) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for word in words:
        path, equals, text = word.partition("=")
        steps = [_STEP.fullmatch(step) for step in path.split(".")]
        if not equals or not all(steps):
            raise WrongUseError(
                "FIELD_NOT_GIVEN",
                "a field is given as field=value",
                value=word,
                expected=() if roll is None else tuple(each.name for each in _message(roll).fields),
            )
        _put(content, roll, [(_snake(step["name"]), step["index"]) for step in steps if step], text)
    return content


def _put(place: dict[str, Any], outer: FieldDescriptor | None, steps: list[tuple[str, str | None]], text: str) -> None:
    """Put a value where the steps lead, making the objects and lists on the way."""
    (name, index), *rest = steps
    message = None if outer is None else outer.message_type
    field = None if message is None else message.fields_by_name.get(name)
    if index is None and not rest:
        _require(name not in place, name)
        place[name] = _value(text, field)
        return
    if index is None:
        inner = place.setdefault(name, {})
        _require(isinstance(inner, dict), name)
    else:
        items = place.setdefault(name, [])
        _require(isinstance(items, list) and int(index) < MAX_ITEMS, name)
        items.extend({} for _ in range(int(index) + 1 - len(items)))
        if not rest:
            _require(items[int(index)] == {}, name)
            items[int(index)] = _one(text, field)
            return
        inner = items[int(index)]
        _require(isinstance(inner, dict), name)
    _put(inner, field, rest, text)


def _require(fits: bool, name: str) -> None:  # noqa: FBT001  it is the one thing asked
    if not fits:
        raise WrongUseError("FIELD_CONFLICT", "the field is given twice", field=name)


def _value(text: str, field: FieldDescriptor | None) -> Any:  # noqa: ANN401  any JSON value
    if field is not None and field.is_repeated and not text.startswith("["):
        return [_one(item, field) for item in text.split(",")] if text else []
    return _one(text, field)


def _one(text: str, field: FieldDescriptor | None) -> Any:  # noqa: ANN401  any JSON value
    if field is not None and field.enum_type is not None:
        return full_name(text, field.enum_type)
    if field is not None and field.type == FieldDescriptor.TYPE_STRING:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _message(field: FieldDescriptor) -> Descriptor:
    if field.message_type is None:
        raise TypeError(f"{field.full_name} is not a message")
    return field.message_type


def _snake(word: str) -> str:
    """Return `skill_roll` for `skill-roll` and `skillRoll`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word).replace("-", "_").lower()
