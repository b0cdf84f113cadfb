"""What both doors share: reading a message, and the outermost boundary, where whatever is raised becomes a status."""

from __future__ import annotations

import logging
import os
from typing import TypeVar

from google.protobuf.message import DecodeError, Message
from google.rpc.status_pb2 import Status

from fairroll.convert import refuse_unknown_fields
from fairroll.errors import FairrollError, RequestError, code_of, internal_status, to_status
from fairroll.reasons import Code

M = TypeVar("M", bound=Message)

MAX_BODY_BYTES = 1024 * 1024
"""The largest message that either door reads."""

MAX_HEAD_BYTES = 64 * 1024
"""Request line and headers on REST, give or take one read of the socket."""

_LOG = logging.getLogger("fairroll.door")


def new_call_id() -> str:
    """Return what names a call in the log, and in the answer where the service failed."""
    return os.urandom(8).hex()


def decode(message_class: type[M], body: bytes) -> M:
    """Read a protobuf message.

    Raises:
        RequestError: BODY_TOO_LARGE, BODY_UNREADABLE where the bytes are not of that message, or UNKNOWN_FIELD.
    """
    if len(body) > MAX_BODY_BYTES:
        raise RequestError(
            "BODY_TOO_LARGE",
            f"a message has at most {MAX_BODY_BYTES} bytes",
            limit="message_bytes",
            maximum=MAX_BODY_BYTES,
            value=str(len(body)),
        )
    try:
        message = message_class.FromString(body)
    except DecodeError:
        name = message_class.DESCRIPTOR.full_name
        raise RequestError("BODY_UNREADABLE", f"the bytes are not a message {name}") from None
    size_bytes = message.ByteSize()
    message.DiscardUnknownFields()
    if message.ByteSize() != size_bytes:  # sizes are cheap; the walk that names the culprit is not
        refuse_unknown_fields(message_class.FromString(body))
    return message


def status_of(error: Exception, call_id: str) -> Status:
    """Return what the caller is told; what is not the caller's business is logged under the id instead."""
    if isinstance(error, FairrollError) and code_of(error) is not Code.INTERNAL:
        return to_status(error)
    log_failure(error, call_id)
    return internal_status(call_id)


def log_failure(error: Exception, call_id: str) -> None:
    """Log what failed under the id that the caller is told."""
    _LOG.error("a call failed", exc_info=error, extra={"fields": {"id": call_id}})
