"""ListSystems: each system with the JSON Schema of its check and its outcome.

Forms in a virtual tabletop are made from these.
"""

from __future__ import annotations

from functools import cache

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct

from fairroll.json_schema import Schema, SchemaBuilder
from fairroll.replay import engine_of
from fairroll.v1 import roll_pb2, service_pb2
from fairroll_rules.systems import System, systems

DIALECT = "https://json-schema.org/draft/2020-12/schema"


@cache
def list_systems() -> service_pb2.ListSystemsResponse:
    """Return the systems in alphabetical order."""
    return service_pb2.ListSystemsResponse(
        systems=[
            service_pb2.SystemInfo(
                name=name,
                title=system.TITLE,
                engine=engine_of(name),
                check_schema=ParseDict(check_schema(name), Struct()),
                outcome_schema=ParseDict(outcome_schema(name), Struct()),
            )
            for name, system in systems().items()
        ]
    )


def check_schema(name: str) -> Schema:
    """Return the JSON Schema of what stands under a system's name in a check."""
    return _document(roll_pb2.Check.DESCRIPTOR.fields_by_name[name], systems()[name], systems()[name].CHECKS)


def outcome_schema(name: str) -> Schema:
    """Return the JSON Schema of what stands under a system's name in an outcome."""
    return _document(roll_pb2.CheckOutcome.DESCRIPTOR.fields_by_name[name], systems()[name], systems()[name].OUTCOMES)


def _document(field: FieldDescriptor, system: System, kinds: tuple[type, ...]) -> Schema:
    message = _message_type(field)
    builder = SchemaBuilder(f"{message.file.package}.", {kind.__name__: kind for kind in kinds})
    schema = builder.message(message)
    return {"$schema": DIALECT, **schema, "title": system.TITLE, "$defs": builder.definitions}


def _message_type(field: FieldDescriptor) -> Descriptor:
    if field.message_type is None:
        raise TypeError(f"{field.full_name} is not a message")
    return field.message_type
