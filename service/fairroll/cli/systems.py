"""`fairroll systems`: the rule systems, their rolls, and what each field means. No service is asked."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable
from typing import Any

from google.protobuf.descriptor import Descriptor

from fairroll.cli.contract import Field, fields_of, system_named
from fairroll.cli.output import EXIT_GOOD, print_json, print_lines
from fairroll.comments import comment_of
from fairroll.errors import RequestError
from fairroll.replay import engine_of
from fairroll.systems_info import check_schema, outcome_schema
from fairroll.v1 import roll_pb2
from fairroll_rules.systems import System, systems

_WIDTH = 100

_EPILOG = """\
examples:
  fairroll systems
  fairroll systems crossroads
Fields are given to `fairroll roll --system NAME ROLL` as field=value, and in JSON under the same names. Choices have
short names on the command line, `removal=lowest`; over REST and gRPC they are spelled out, "REMOVAL_POLICY_LOWEST"."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which system to describe."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("name", nargs="?", metavar="NAME", help="describe this one: its rolls, fields and policies")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """List the systems, or describe one."""
    name = None if options.name is None else system_named(options.name, RequestError, "NAME")
    shown = systems() if name is None else {name: systems()[name]}
    if options.json:
        print_json({"systems": [_value(name, system) for name, system in shown.items()]})
    elif name is None:
        for each, system in shown.items():
            rolls = ", ".join(roll for roll, _ in _rolls(each))
            print(f"{engine_of(each):<16} {system.TITLE}{': ' + rolls if rolls != each else ''}")
    else:
        print_lines(_lines(name, shown[name]))
    return EXIT_GOOD


def _check(name: str) -> Descriptor:
    message = roll_pb2.Check.DESCRIPTOR.fields_by_name[name].message_type
    if message is None:
        raise TypeError(f"{name} is not a message")
    return message


def _rolls(name: str) -> Iterable[tuple[str, Descriptor]]:
    """Yield each roll of a system by its name; a system with one roll only is that roll."""
    check = _check(name)
    group = check.oneofs_by_name.get("roll")
    if group is None:
        yield name, check
        return
    for arm in group.fields:
        if arm.message_type is not None:
            yield arm.name, arm.message_type


def _value(name: str, system: System) -> dict[str, Any]:
    return {
        "name": name,
        "title": system.TITLE,
        "engine": engine_of(name),
        "comment": comment_of(_check(name).full_name),
        "rolls": [
            {
                "name": roll,
                "comment": comment_of(message.full_name),
                "fields": [_field_value(field) for field in fields_of(message)],
            }
            for roll, message in _rolls(name)
        ],
        "checkSchema": check_schema(name),
        "outcomeSchema": outcome_schema(name),
    }


def _field_value(field: Field) -> dict[str, Any]:
    members: dict[str, Any] = {
        "name": field.name,
        "jsonName": field.json_name,
        "kind": field.kind,
        "repeated": field.repeated,
        "policy": field.is_policy,
        "comment": field.comment,
    }
    if field.one_of:
        members["oneOf"] = field.one_of
    if field.choices:
        members |= {"choices": dict(field.choices), "prefix": field.prefix}
    if field.fields:
        members["fields"] = [_field_value(inner) for inner in field.fields]
    return members


def _lines(name: str, system: System) -> Iterable[str]:
    yield f"{name}: {system.TITLE}, engine {engine_of(name)}"
    yield from _wrapped(comment_of(_check(name).full_name), "")
    for roll, message in _rolls(name):
        if roll != name:
            yield ""
            yield roll
            yield from _wrapped(comment_of(message.full_name), "  ")
        for field in fields_of(message):
            yield from _field_lines(field, "  ")


def _field_lines(field: Field, indent: str) -> Iterable[str]:
    name = f"{field.name}[]" if field.repeated else field.name
    kind = " | ".join(field.choices) if field.choices else field.kind
    marks = (
        ("policy", field.is_policy),
        (f"one {field.one_of}", field.one_of),
        (f"in JSON {field.prefix}..", field.choices),
    )
    notes = ", ".join(note for note, holds in marks if holds)
    yield f"{indent}{name:<22} {kind}{f' ({notes})' if notes else ''}"
    inner = indent + "    "
    yield from _wrapped(field.comment, inner)
    for choice, comment in field.choices.items():
        yield from _wrapped(f"{choice}: {comment}", inner + "  ")
    for each in field.fields:
        yield from _field_lines(each, inner)


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)
