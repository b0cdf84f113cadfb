"""OpenAPI 3.1 of the gateway: routes from the application, words from the descriptors, examples that work."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fastapi.routing import APIRoute
from google.protobuf.descriptor import Descriptor, MethodDescriptor

from fairroll import json_codec
from fairroll.comments import comment_of
from fairroll.json_schema import Schema, SchemaBuilder
from fairroll.problems import MEDIA_TYPE
from fairroll.reasons import TABLE
from fairroll.v1 import envelope_pb2, roll_pb2, service_pb2
from fairroll_rules.systems import systems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI

    from fairroll.roll import Roller

PLACE = "#/components/schemas/"
PACKAGE = "fairroll.v1."
SERVICE = service_pb2.DESCRIPTOR.services_by_name["RollService"]
PUBLIC = frozenset({"ListSystems", "GetLimits", "GetKeyList"})
"""Calls that need no API key."""

LINE = "/v1/roll"
STREAM = "/v1/rolls:stream"
WELL_KNOWN_KEYS = "/.well-known/fairroll/keys"

EXAMPLE_TENANT = "example"
EXAMPLES: Mapping[str, dict[str, Any]] = {
    "notation": {"checks": [{"label": "strength", "notation": {"text": "4d6kh3"}}]},
    "a batch in a session": {
        "session": {"table": "table-42"},
        "checks": [
            {"label": "to hit", "actor": "Ann", "notation": {"text": "1d20+5"}},
            {"label": "damage", "actor": "Ann", "notation": {"text": "2d6+3"}},
        ],
    },
    "a roll that can be retried": {"requestId": "a-name-of-yours", "checks": [{"notation": {"text": "2d20kh1"}}]},
    "Crossroads MVP": {"checks": [{"crossroads": {"skillRoll": {"statistic": 2, "advantage": 1}}}]},
    "D6 Dungeons": {"checks": [{"d6Dungeons": {"skillRoll": {"difficulty": 5, "skill": 3}}}]},
    "Fortune and Doom": {"checks": [{"fortuneDoom": {"resolutionRoll": {"attribute": 2, "successThreshold": 13}}}]},
    "The Meidlands": {
        "checks": [
            {
                "meidlands": {
                    "opposedRoll": {
                        "attacker": {"name": "Ann", "pool": 2, "modifiers": [4]},
                        "defender": {"name": "Bob", "pool": 2, "modifiers": [1]},
                        "damage": "A/12",
                        "armour": "L2/4",
                    }
                }
            }
        ]
    },
    "MSF High": {"checks": [{"msfHigh": {"skillRoll": {"skill": 4, "statistic": 12}}}]},
}


def openapi(app: FastAPI, roller: Roller, *, anonymous: bool) -> dict[str, Any]:
    """Return the document for the routes of `app`; its receipt is one of this service's, so that it verifies.

    Args:
        app: the gateway.
        roller: makes the receipt of the examples.
        anonymous: whether callers need no API key.
    """
    schemas: dict[str, Schema] = {"Problem": _PROBLEM}
    builder = SchemaBuilder(PACKAGE, {}, PLACE, schemas)
    _add_systems(schemas)
    receipt = roller.roll(json_codec.from_value(roll_pb2.RollRequest, EXAMPLES["notation"]), EXAMPLE_TENANT)
    examples = _Examples(json_codec.to_value(receipt))
    paths: dict[str, Any] = {}
    for route in app.routes:
        if isinstance(route, APIRoute) and route.name in SERVICE.methods_by_name:
            call = SERVICE.methods_by_name[route.name]
            for verb in route.methods or ():
                operation = _operation(route.path, call, builder, examples)
                if not anonymous and call.name not in PUBLIC:
                    operation["security"] = [{"apiKey": []}]
                paths.setdefault(route.path, {})[verb.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "fairroll", "version": "v1", "description": comment_of(SERVICE.full_name)},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"apiKey": {"type": "apiKey", "in": "header", "name": "x-api-key"}},
        },
    }


class _Examples:
    """The examples of one document, by message."""

    def __init__(self, receipt: dict[str, Any]) -> None:
        bundle = {"envelope": receipt["envelope"]}
        self.requests: dict[str, dict[str, Any]] = {
            "RollRequest": dict(EXAMPLES),
            "VerifyReceiptRequest": {"the receipt of a roll": {"bundle": bundle}},
            "ParseNotationRequest": {
                "notation": {"check": {"text": "4d6kh3"}},
                "notation with a fault": {"check": {"text": "4d6kh3("}},
            },
        }
        self.answers: dict[str, dict[str, Any]] = {"RollResponse": {"a roll": receipt}}


def _add_systems(schemas: dict[str, Schema]) -> None:
    """Build the messages of each system first, with what its dataclasses know."""
    for name, system in systems().items():
        for container, kinds in ((roll_pb2.Check, system.CHECKS), (roll_pb2.CheckOutcome, system.OUTCOMES)):
            builder = SchemaBuilder(PACKAGE, {kind.__name__: kind for kind in kinds}, PLACE, schemas)
            arm = container.DESCRIPTOR.fields_by_name[name].message_type
            if arm is not None:
                builder.reference(arm)


def _operation(path: str, call: MethodDescriptor, builder: SchemaBuilder, examples: _Examples) -> dict[str, Any]:
    words = comment_of(call.full_name)
    operation: dict[str, Any] = {
        "operationId": _operation_id(path, call.name),
        "summary": words.partition(". ")[0].rstrip("."),
        "description": words,
        "tags": [SERVICE.name],
        "responses": {"200": _answer(path, call, builder, examples), **_problems()},
    }
    if path == LINE:
        operation["summary"] = "Rolls a line of notation for people"
        text = {"schema": {"type": "string"}, "examples": {"notation": {"value": "4d6kh3"}}}
        operation["requestBody"] = {"required": True, "content": {"text/plain": text}}
    elif path == STREAM:
        operation["requestBody"] = {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}}
    elif call.name not in PUBLIC:
        content = {"schema": builder.reference(_input(call))}
        shown = examples.requests.get(call.input_type.name)
        if shown:
            content["examples"] = {name: {"value": value} for name, value in shown.items()}
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    return operation


def _operation_id(path: str, name: str) -> str:
    return {LINE: "RollLine", WELL_KNOWN_KEYS: "GetKeyListEnvelope"}.get(path, name)


def _answer(path: str, call: MethodDescriptor, builder: SchemaBuilder, examples: _Examples) -> dict[str, Any]:
    if path == STREAM:
        item = builder.reference(service_pb2.StreamRollsResponse.DESCRIPTOR)
        words = f"One JSON a line, each a {item['$ref'].rpartition('/')[2]}."
        return {"description": words, "content": {"application/x-ndjson": {"schema": {"type": "string"}}}}
    message: Descriptor = envelope_pb2.Envelope.DESCRIPTOR if path == WELL_KNOWN_KEYS else call.output_type
    content: dict[str, Any] = {"schema": builder.reference(message)}
    shown = examples.answers.get(message.name)
    if shown:
        content["examples"] = {name: {"value": value} for name, value in shown.items()}
    kinds = {"application/json": content}
    if path == LINE:
        kinds = {"text/plain": {"schema": {"type": "string"}}, **kinds}
    return {"description": comment_of(message.full_name), "content": kinds}


def _problems() -> dict[str, Any]:
    """Return the answers that are not 200: whatever the table of reasons can say over HTTP."""
    statuses = sorted({row.http for row in TABLE.values() if row.http != 200})
    return {str(status): _problem(status) for status in statuses}


def _problem(status: int) -> dict[str, Any]:
    reasons = ", ".join(_reasons(status))
    content = {MEDIA_TYPE: {"schema": {"$ref": f"{PLACE}Problem"}}}
    return {"description": f"Problem details (RFC 9457); `reason` is one of {reasons}.", "content": content}


def _reasons(status: int) -> Iterable[str]:
    return (reason for reason, row in TABLE.items() if row.http == status)


def _input(call: MethodDescriptor) -> Descriptor:
    message: Descriptor = call.input_type
    return message


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
        "id": {"type": "string", "description": "Where the service failed: report it."},
    },
    "required": ["type", "title", "status", "detail", "reason"],
    "additionalProperties": False,
}
