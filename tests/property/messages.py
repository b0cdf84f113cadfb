"""Random messages of any type, made from its descriptor."""

from __future__ import annotations

from typing import Any, TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

M = TypeVar("M", bound=Message)

# Made once: a strategy is slow to make and quick to draw from.
_FLAG, _TEXT, _BYTES = st.booleans(), st.text(max_size=20), st.binary(max_size=40)
_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: st.integers(-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: st.integers(0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: st.integers(-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: st.integers(0, 2**64 - 1),
}


@st.composite
def messages(draw: st.DrawFn, message_class: type[M], depth: int = 2) -> M:
    """Draw a valid message; below `depth` no message field is set."""
    message = message_class()
    for field in message.DESCRIPTOR.fields:
        if draw(_FLAG):
            _fill(draw, message, field, depth)
    return message


def _fill(draw: st.DrawFn, message: Message, field: Any, depth: int) -> None:  # noqa: ANN401  two classes of descriptors, one of them private
    if field.message_type is not None:
        if depth == 0 or field.message_type.file.package.startswith("google."):
            return
        inner = messages(GetMessageClass(field.message_type), depth - 1)
        if field.is_repeated:
            getattr(message, field.name).extend(draw(st.lists(inner, max_size=2)))
        else:
            getattr(message, field.name).CopyFrom(draw(inner))
    elif field.is_repeated:
        getattr(message, field.name).extend(draw(st.lists(_scalar(field), max_size=3)))
    else:
        setattr(message, field.name, draw(_scalar(field)))


def _scalar(field: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401  as above
    if field.enum_type is not None:
        return st.sampled_from(sorted(field.enum_type.values_by_number))
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return _FLAG
    if field.type == FieldDescriptor.TYPE_BYTES:
        return _BYTES
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return _TEXT
    return _INTEGERS[field.cpp_type]
