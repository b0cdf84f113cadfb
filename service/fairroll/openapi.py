"""OpenAPI 3.1 of the gateway: routes from the application, words from the descriptors, examples that work."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any

from fastapi.routing import APIRoute
from google.protobuf.descriptor import Descriptor, MethodDescriptor

from fairroll import json_codec
from fairroll.comments import comment_of
from fairroll.enums import short_names
from fairroll.guide import guide
from fairroll.json_schema import Schema, SchemaBuilder
from fairroll.odds.query import CHECKS, READINGS, VARIABLE
from fairroll.openapi_examples import Examples
from fairroll.problems import MEDIA_TYPE
from fairroll.reasons import GROUPS, TABLE, given_by
from fairroll.rest_stream import LINES_TYPE
from fairroll.v1 import envelope_pb2, roll_pb2, service_pb2
from fairroll_rules.systems import systems

if TYPE_CHECKING:
    from fastapi import FastAPI

    from fairroll.roll import Roller

PLACE = "#/components/schemas/"
PACKAGE = "fairroll.v1."
SERVICE = service_pb2.DESCRIPTOR.services_by_name["RollService"]
PUBLIC = frozenset({"ListSystems", "GetLimits", "GetKeyList"})
"""Calls that need no API key."""

LINE = "/v1/roll"
ODDS_PICTURE = "/v1/odds.svg"
STREAM = "/v1/rolls:stream"
WELL_KNOWN_KEYS = "/.well-known/fairroll/keys"


def openapi(app: FastAPI, roller: Roller, *, anonymous: bool, guard: bool) -> dict[str, Any]:
    """Return the document for the routes of `app`; its receipt is one of this service's, so that it verifies.

    Args:
        app: the gateway.
        roller: makes the receipt of the examples.
        anonymous: whether callers need no API key.
        guard: whether a guard lets each seq be used once.
    """
    schemas: dict[str, Schema] = {"Problem": _PROBLEM}
    builder = SchemaBuilder(PACKAGE, {}, PLACE, schemas, of_answers=True)
    _add_systems(schemas)
    examples = Examples(roller)
    paths: dict[str, Any] = {}
    for route in app.routes:
        if isinstance(route, APIRoute) and route.name in SERVICE.methods_by_name:
            call = SERVICE.methods_by_name[route.name]
            secured = not anonymous and call.name not in PUBLIC
            # HEAD is GET without its body: it stands nowhere of its own.
            for verb in (route.methods or set()) - {"HEAD"}:
                operation = _operation(route.path, call, builder, examples)
                if verb == "GET":
                    operation.setdefault("parameters", []).append(_IF_NONE_MATCH)
                    operation["responses"]["304"] = _NOT_MODIFIED
                if secured:
                    operation["security"] = [{"apiKey": []}]
                reasons = _reasons(route.path, call, secured=secured, guard=guard)
                operation["responses"] |= _problems(reasons)
                paths.setdefault(route.path, {})[verb.lower()] = operation
    components: dict[str, Any] = {"schemas": schemas}
    if not anonymous:
        components["securitySchemes"] = {"apiKey": _API_KEY}
    return {
        "openapi": "3.1.0",
        "info": {"title": "fairroll", "version": "v1", "description": guide(anonymous=anonymous)},
        "servers": [{"url": "/", "description": "The service that this page comes from."}],
        "tags": [{"name": SERVICE.name, "description": comment_of(SERVICE.full_name)}],
        "paths": paths,
        "components": components,
    }


def _add_systems(schemas: dict[str, Schema]) -> None:
    """Build the messages of each system first, with what its dataclasses know."""
    for name, system in systems().items():
        for container, kinds in ((roll_pb2.Check, system.CHECKS), (roll_pb2.CheckOutcome, system.OUTCOMES)):
            builder = SchemaBuilder(PACKAGE, {kind.__name__: kind for kind in kinds}, PLACE, schemas, of_answers=True)
            arm = container.DESCRIPTOR.fields_by_name[name].message_type
            if arm is not None:
                builder.reference(arm)


def _operation(path: str, call: MethodDescriptor, builder: SchemaBuilder, examples: Examples) -> dict[str, Any]:
    words = comment_of(call.full_name)
    operation: dict[str, Any] = {
        "operationId": _operation_id(path, call.name),
        "summary": words.partition(". ")[0].rstrip("."),
        "description": words,
        "tags": [SERVICE.name],
        "responses": {"200": _answer(path, call, builder, examples)},
    }
    if path == LINE:
        operation["summary"] = "Rolls a line of notation for people"
        operation["description"] = (
            "The body is notation, whatever its type says, and one roll outside every session. The answer is text: the "
            "line for the table, its steps and the receipt's digest; with `accept: application/json`, what "
            "/v1/rolls answers."
        )
        text = {"schema": {"type": "string"}, "examples": {"notation": {"value": "4d6kh3"}}}
        operation["requestBody"] = {"required": True, "content": {"text/plain": text}}
    elif path == ODDS_PICTURE:
        operation["summary"] = "Draws the odds of a check"
        operation["parameters"] = list(_query(_input(call)))
    elif path == STREAM:
        kind = builder.reference(call.input_type)
        told = f"One JSON a line, each a {_name(kind)}. Lines that are blank are passed over."
        lines = _lines_of(kind, told, {"two rolls, one of which is refused": examples.lines})
        operation["requestBody"] = {"required": True, "content": {LINES_TYPE: lines}}
    elif call.name not in PUBLIC:
        content = {"schema": builder.reference(_input(call))}
        shown = examples.requests.get(call.input_type.name)
        if shown:
            content["examples"] = {name: {"value": value} for name, value in shown.items()}
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    return operation


def _operation_id(path: str, name: str) -> str:
    return {LINE: "RollLine", ODDS_PICTURE: "GetOddsPicture", WELL_KNOWN_KEYS: "GetKeyListEnvelope"}.get(path, name)


def _query(message: Descriptor) -> Iterable[dict[str, Any]]:
    """Yield the members of a question as parameters of a URL: a check is notation, or its JSON."""
    for field in message.fields:
        words = comment_of(field.full_name)
        if field.name in CHECKS:
            words = f"Notation, or a check as JSON. {words}"
        parameter: dict[str, Any] = {
            "name": field.json_name,
            "in": "query",
            "description": words,
            "schema": {"type": "string"},
        }
        if field.name == "check":
            parameter |= {"required": True, "example": "4d6kh3"}
        yield parameter
    for name, enum in READINGS.items():
        values = {"enum": [*short_names(enum), *[value.name for value in enum.values]]}
        yield {
            "name": name,
            "in": "query",
            "description": f"Of checks that are notation. {comment_of(f'fairroll.v1.NotationCheck.{name}')}",
            "schema": {"type": "string", **values},
        }
    yield {
        "name": VARIABLE,
        "in": "query",
        "description": "A variable of checks that are notation, as NAME=VALUE. It may stand there several times.",
        "schema": {"type": "array", "items": {"type": "string"}},
    }


def _answer(path: str, call: MethodDescriptor, builder: SchemaBuilder, examples: Examples) -> dict[str, Any]:
    if path == STREAM:
        item = builder.reference(call.output_type)
        refusals = given_by("Roll") | json_codec.reasons_of(call.input_type) | {"BODY_TOO_LARGE"}
        words = (
            f"One JSON a line, each a {_name(item)}, in the order of the lines sent, and each sent as soon as it is "
            "there. Begin to read before you have sent everything, or send all and then read: both work, the second "
            "up to 8 MiB of lines. A roll that is refused has a `status` in the place of a `receipt`, whose first "
            f"detail holds the reason: one of {', '.join(sorted(refusals))}, or INTERNAL."
        )
        lines = _lines_of(item, words, {"a receipt and a status": examples.answered_lines})
        return {"description": words, "content": {LINES_TYPE: lines}}
    if path == ODDS_PICTURE:
        return {"description": "The picture.", "content": {"image/svg+xml": {"schema": {"type": "string"}}}}
    message: Descriptor = envelope_pb2.Envelope.DESCRIPTOR if path == WELL_KNOWN_KEYS else call.output_type
    content: dict[str, Any] = {"schema": builder.reference(message)}
    shown = examples.answers.get(message.name)
    if shown:
        content["examples"] = {name: {"value": value} for name, value in shown.items()}
    kinds = {"application/json": content}
    if path == LINE:
        kinds = {"text/plain": {"schema": {"type": "string"}}, **kinds}
    return {"description": comment_of(message.full_name), "content": kinds}


def _lines_of(item: Schema, words: str, examples: dict[str, str]) -> dict[str, Any]:
    """Return a body of lines; OpenAPI 3.1 has no word for the schema of one line, so that it is an extension."""
    schema = {"type": "string", "description": words}
    return {
        "schema": schema,
        "x-item-schema": item,
        "examples": {name: {"value": one} for name, one in examples.items()},
    }


def _name(reference: Schema) -> str:
    return str(reference["$ref"]).rpartition("/")[2]


def _reasons(path: str, call: MethodDescriptor, *, secured: bool, guard: bool) -> set[str]:
    """Return the reasons with which a route may refuse: what the door gives, by what it reads, and the call's own."""
    reasons = {"INTERNAL"}
    if secured:
        reasons |= {"API_KEY_MISSING", "API_KEY_UNKNOWN"}
    if call.name in PUBLIC:
        return reasons
    if path == STREAM:  # each line is answered by itself
        return reasons | {"MEDIA_TYPE_UNSUPPORTED"}
    reasons |= given_by(call.name, guard=guard)
    if path == ODDS_PICTURE:  # the question stands in the query, its checks as notation or as JSON
        return reasons | json_codec.reasons_of(call.input_type)
    reasons = reasons - {"QUERY_REPEATED"} | {"BODY_TOO_LARGE"}
    if path == LINE:  # one check of notation, and no JSON
        return (reasons | {"MEDIA_TYPE_UNSUPPORTED", "TEXT_INVALID"}) & _OF_A_LINE
    return reasons | {"MEDIA_TYPE_UNSUPPORTED"} | json_codec.reasons_of(call.input_type)


def _problems(reasons: set[str]) -> dict[str, Any]:
    """Return the answers that are not 200, by their status."""
    by_status = sorted((TABLE[reason].http, reason) for reason in reasons)
    return {
        str(status): _problem([reason for _, reason in group])
        for status, group in groupby(by_status, lambda one: one[0])
    }


def _problem(reasons: list[str]) -> dict[str, Any]:
    problem = {"properties": {"reason": {"enum": reasons}}}
    schema = {"allOf": [{"$ref": f"{PLACE}Problem"}, problem]}
    words = "Problem details (RFC 9457); `reason` is " + ("one of " if len(reasons) > 1 else "") + ", ".join(reasons)
    return {"description": f"{words}.", "content": {MEDIA_TYPE: {"schema": schema}}}


def _input(call: MethodDescriptor) -> Descriptor:
    message: Descriptor = call.input_type
    return message


_IF_NONE_MATCH = {
    "name": "if-none-match",
    "in": "header",
    "description": "The ETag of an answer that you have: 304 means that it is still the one.",
    "schema": {"type": "string"},
}
_NOT_MODIFIED = {"description": "What you have, by its ETag, is still the answer; no body."}
_API_KEY = {
    "type": "apiKey",
    "in": "header",
    "name": "x-api-key",
    "description": "What the service's operator gave you; it begins with `frk_`, and names your tenant.",
}
_OF_A_LINE = frozenset(
    {
        *next(group.reasons for group in GROUPS if group.title == "The notation"),
        "API_KEY_MISSING",
        "API_KEY_UNKNOWN",
        "BODY_TOO_LARGE",
        "GUARD_UNREACHABLE",
        "INTERNAL",
        "LIMIT_EXCEEDED",
        "MEDIA_TYPE_UNSUPPORTED",
        "TEXT_INVALID",
    }
) - {"DRAWS_DIFFER"}
_SPAN = {
    "type": "object",
    "properties": {"start": {"type": "integer"}, "end": {"type": "integer"}},
    "required": ["start", "end"],
}
_PROBLEM: Schema = {
    "type": "object",
    "description": "Problem details (RFC 9457). Programs read `reason`; docs/errors.md lists them all.",
    "properties": {
        "type": {"type": "string", "description": "`urn:fairroll:reason:` and the reason."},
        "title": {"type": "string", "description": "What the reason means."},
        "status": {"type": "integer", "description": "The HTTP status."},
        "detail": {"type": "string", "description": "What happened, for people."},
        "reason": {"type": "string", "description": "Stable, for programs."},
        "field": {"type": "string", "description": "The path of the field at fault, as the contract spells it."},
        "limit": {"type": "string", "description": "The limit that was hit, as in /v1/limits."},
        "minimum": {"type": "integer", "description": "The lowest value allowed."},
        "maximum": {"type": "integer", "description": "The highest value allowed."},
        "value": {"type": "string", "description": "What was given."},
        "span": {**_SPAN, "description": "The stretch of notation at fault, in code points from 0."},
        "expected": {"type": "array", "items": {"type": "string"}, "description": "What could have stood there."},
        "hint": {"type": "string", "description": "A way out."},
        "digest": {"type": "string", "description": "The digest of the receipt that stands, where one is in the way."},
        "id": {"type": "string", "description": "Where the service failed: report it."},
    },
    "required": ["type", "title", "status", "detail", "reason"],
    "additionalProperties": False,
}
