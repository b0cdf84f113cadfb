"""Requests made from a JSON Schema alone, as a form would make them: valid ones, and ones a step outside a range."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import jsonschema_rs
import pytest
from hypothesis import strategies as st

from fairroll import json_codec
from fairroll.errors import RequestError
from fairroll.v1 import roll_pb2
from tests.service.rolling import proofs_of, roller

Schema = dict[str, Any]

ROLLER = roller()


def asked(name: str, body: object) -> roll_pb2.RollRequest:
    """A roll in a session, where decisions may be left open."""
    arm = roll_pb2.Check.DESCRIPTOR.fields_by_name[name].json_name
    request = {"session": {"table": "form"}, "checks": [{arm: body}]}
    return json_codec.loads(roll_pb2.RollRequest, json.dumps(request))


def refusal(name: str, body: object) -> RequestError:
    """What the service says against a request, before anything is proved."""
    proofs = proofs_of(ROLLER)
    with pytest.raises(RequestError) as refused:
        ROLLER.roll(asked(name, body), "local")
    assert proofs_of(ROLLER) == proofs
    return refused.value


def validate(value: object, schema: Schema) -> None:
    """Raise the first reason for which a value is not valid, in the words of an independent judge."""
    jsonschema_rs.meta.validate(schema)
    jsonschema_rs.Draft202012Validator(schema).validate(value)


def is_valid(value: object, schema: Schema) -> bool:
    return jsonschema_rs.Draft202012Validator(schema).is_valid(value)


def resolved(schema: Schema, root: Schema) -> dict[str, Any]:
    """The schema with what it refers to, its own keywords first."""
    reference = schema.get("$ref", "")
    return {**root["$defs"][reference.removeprefix("#/$defs/")], **schema} if reference else dict(schema)


# Valid ones


def requests(schema: Schema, root: Schema) -> st.SearchStrategy[Any]:
    """Anything that is valid, with the ends of each range among the likely."""
    schema = resolved(schema, root)
    if "oneOf" in schema and schema.get("type") == "string":
        return st.sampled_from([choice["const"] for choice in schema["oneOf"]])
    kinds = schema["type"]
    if "integer" in kinds:
        return st.integers(schema.get("minimum", -100), schema.get("maximum", 100))
    if kinds == "boolean":
        return st.booleans()
    if kinds == "string":
        return _text(schema)
    if kinds == "array":
        most = min(schema["maxItems"], schema["minItems"] + 4)
        return st.lists(requests(schema["items"], root), min_size=schema["minItems"], max_size=most)
    return _objects(schema, root)


def _text(schema: Schema) -> st.SearchStrategy[str]:
    if "pattern" in schema:
        return st.from_regex(schema["pattern"], fullmatch=True, alphabet=st.characters(codec="ascii"))
    # A character is a byte only in ASCII, and a schema counts characters.
    return st.text(
        st.characters(codec="ascii", exclude_categories=["Cc"]),
        min_size=schema["minLength"],
        max_size=schema["maxLength"],
    )


@st.composite
def _objects(draw: st.DrawFn, schema: Schema, root: Schema) -> dict[str, Any]:
    exclusive = [[name for arm in group["oneOf"] for name in arm.get("required", ())] for group in choices(schema)]
    wanted = {
        name for group, names in zip(choices(schema), exclusive, strict=True) for name in draw(_arm(group, names))
    }
    in_groups = {name for names in exclusive for name in names}
    for name in schema["properties"]:
        if name in schema.get("required", ()) or (name not in in_groups and draw(st.booleans())):
            wanted.add(name)
    return {name: draw(requests(schema["properties"][name], root)) for name in sorted(wanted)}


def _arm(group: Schema, names: list[str]) -> st.SearchStrategy[list[str]]:
    may_be_none = any("not" in arm for arm in group["oneOf"])
    return st.sampled_from([[name] for name in names] + [[]] * may_be_none)


def choices(schema: Schema) -> list[Schema]:
    """The groups of properties of which one may be there."""
    return [group for group in schema.get("allOf", ()) if "oneOf" in group]


# Those a step outside


class Outside(NamedTuple):
    """A request that one keyword refuses.

    Attributes:
        path: of the field, as errors spell it.
        keyword: `minimum`, `maxItems`, `pattern` ..
        request: valid but for that.
        bound: what the keyword says.
    """

    path: str
    keyword: str
    request: dict[str, Any]
    bound: Any


def free(schema: Schema) -> Iterator[str]:
    """The path of every field that may hold anything of its type, flags and int64 apart: no step leads outside."""
    for place, field in _fields(schema, schema, ()):
        if field["type"] not in ("boolean", "object", ["integer", "string"]) and not any(_beyond(field, schema)):
            yield _path(place)


def outsides(schema: Schema) -> Iterator[Outside]:
    """Every keyword of every field that is reached from the top."""
    for place, field in _fields(schema, schema, ()):
        for keyword, value in _beyond(field, schema):
            request = _object_with(schema, schema, place, value)
            yield Outside(_path(place), keyword, request, field.get(keyword))
        if isinstance(place[-1], str) and place[-1] in _owner(schema, place).get("required", ()):
            yield Outside(_path(place), "required", _object_with(schema, schema, place, _ABSENT), None)


_ABSENT = object()
_Place = tuple[str | int, ...]


def _fields(schema: Schema, root: Schema, place: _Place) -> Iterator[tuple[_Place, dict[str, Any]]]:
    for name, inner in schema["properties"].items():
        field = resolved(inner, root)
        yield (*place, name), field
        if field["type"] == "array":
            each = resolved(field["items"], root)
            if each["type"] == "object":
                yield from _fields(each, root, (*place, name, 0))
            else:
                yield (*place, name, 0), each
        elif field["type"] == "object":
            yield from _fields(field, root, (*place, name))


def _beyond(field: Schema, root: Schema) -> Iterator[tuple[str, Any]]:
    if "minimum" in field:
        yield "minimum", field["minimum"] - 1
        yield "maximum", field["maximum"] + 1
    if field.get("minLength"):
        yield "minLength", ""
    if "maxLength" in field:
        yield "maxLength", "x" * (field["maxLength"] + 1)
    if field.get("minItems"):
        yield "minItems", []
    if "maxItems" in field:
        least = _least(field["items"], root)
        # Where names stand, each stands once.
        yield "maxItems", [_named(least, number) for number in range(field["maxItems"] + 1)]
    for example in field.get("examples", ()):
        yield "pattern", f"{example}0000"
        yield "pattern", f"H{example[1:]}"
        yield "pattern", f"{example}\n"
    if "oneOf" in field and field["type"] == "string":
        yield "oneOf", "NO_SUCH_VALUE"


def _named(value: Any, number: int) -> Any:  # noqa: ANN401  any JSON
    return {**value, "name": f"x{number}"} if isinstance(value, dict) and "name" in value else value


def _least(schema: Schema, root: Schema) -> Any:  # noqa: ANN401  any JSON
    """A valid value with what is required and no more."""
    schema = resolved(schema, root)
    if schema["type"] == "object":
        return _object_with(schema, root, (), None)
    if schema["type"] == "array":
        return [_least(schema["items"], root)] * schema["minItems"]
    if "oneOf" in schema:
        return schema["oneOf"][0]["const"]
    return max(schema["minimum"], 0) if schema["type"] == "integer" else "d6"


def _object_with(schema: Schema, root: Schema, place: _Place, value: object) -> dict[str, Any]:
    """A least object that has a value at a place in it, or nothing there."""
    schema = resolved(schema, root)
    wanted = set(schema.get("required", ()))
    if place:
        wanted.add(str(place[0]))
    for group in choices(schema):
        names = [name for arm in group["oneOf"] for name in arm.get("required", ())]
        if not any("not" in arm for arm in group["oneOf"]) and not wanted & set(names):
            wanted.add(names[0])
    made = {name: _least(schema["properties"][name], root) for name in sorted(wanted)}
    if place:
        name, *rest = place
        put = _put(schema["properties"][name], root, tuple(rest), value)
        if put is _ABSENT:
            del made[str(name)]
        else:
            made[str(name)] = put
    return made


def _put(schema: Schema, root: Schema, rest: _Place, value: object) -> object:
    if not rest:
        return value
    field = resolved(schema, root)
    if rest[0] == 0:
        each = value if len(rest) == 1 else _object_with(field["items"], root, rest[1:], value)
        return [each]
    return _object_with(field, root, rest, value)


def _owner(schema: Schema, place: _Place) -> dict[str, Any]:
    owner = dict(schema)
    for step in place[:-1]:
        owner = resolved(owner["items"] if step == 0 else owner["properties"][step], schema)
    return owner


def _path(place: _Place) -> str:
    words = "".join(f"[{step}]" if step == 0 else f".{step}" for step in place).removeprefix(".")
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in words)
