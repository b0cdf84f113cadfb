"""The comments of the .proto files by full name, read from what `make proto` writes beside the generated code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    ServiceDescriptorProto,
)

_MESSAGES, _ENUMS, _SERVICES = 4, 5, 6  # numbers of fields in FileDescriptorProto, of which source locations are made
_FIELDS, _NESTED_MESSAGES, _NESTED_ENUMS, _ONEOFS = 2, 3, 4, 8  # in DescriptorProto
_VALUES = 2  # in EnumDescriptorProto
_METHODS = 2  # in ServiceDescriptorProto


def comment_of(full_name: str) -> str:
    """Return the comment of anything in the contract by its full name, as one paragraph; empty where it has none."""
    return _comments().get(full_name, "")


@cache
def _comments() -> Mapping[str, str]:
    described = FileDescriptorSet.FromString(files("fairroll.v1").joinpath("descriptors.binpb").read_bytes())
    return {name: comment for file in described.file for name, comment in _file_comments(file)}


def _file_comments(file: FileDescriptorProto) -> Iterable[tuple[str, str]]:
    for location in file.source_code_info.location:
        comment = " ".join((location.leading_comments or location.trailing_comments).split())
        name = _name_at(file, location.path) if comment else ""
        if name:
            yield name, comment


def _name_at(file: FileDescriptorProto, path: Sequence[int]) -> str:
    """Return the full name at a path; empty for what nobody looks up here."""
    if len(path) < 2 or path[0] not in (_MESSAGES, _ENUMS, _SERVICES):
        return ""
    if path[0] == _SERVICES:
        return _service_name(file.service[path[1]], path[2:], file.package)
    if path[0] == _ENUMS:
        return _enum_name(file.enum_type[path[1]], path[2:], file.package)
    return _message_name(file.message_type[path[1]], path[2:], file.package)


def _message_name(message: DescriptorProto, path: Sequence[int], outer: str) -> str:
    name = f"{outer}.{message.name}"
    if not path:
        return name
    kind, index, rest = path[0], path[1], path[2:]
    if kind == _NESTED_MESSAGES:
        return _message_name(message.nested_type[index], rest, name)
    if kind == _NESTED_ENUMS:
        return _enum_name(message.enum_type[index], rest, name)
    if kind == _ONEOFS:
        return f"{name}.{message.oneof_decl[index].name}"
    return f"{name}.{message.field[index].name}" if kind == _FIELDS and not rest else ""


def _service_name(service: ServiceDescriptorProto, path: Sequence[int], outer: str) -> str:
    name = f"{outer}.{service.name}"
    if not path:
        return name
    return f"{name}.{service.method[path[1]].name}" if path[0] == _METHODS and len(path) == 2 else ""


def _enum_name(enum: EnumDescriptorProto, path: Sequence[int], outer: str) -> str:
    name = f"{outer}.{enum.name}"
    if not path:
        return name
    return f"{name}.{enum.value[path[1]].name}" if path[0] == _VALUES else ""
