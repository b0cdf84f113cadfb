"""One item of a stream, for both doors: answered with a receipt or with a status, never by ending the stream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fairroll.door import new_call_id, status_of
from fairroll.errors import FairrollError, RequestError
from fairroll.reasons import Code
from fairroll.v1.roll_pb2 import RollRequest, RollResponse
from fairroll.v1.service_pb2 import StreamRollsRequest, StreamRollsResponse

MAX_ITEM_ID_BYTES = 100


async def answer_item(
    read: Callable[[], StreamRollsRequest],
    roll: Callable[[RollRequest], Awaitable[RollResponse]],
    called: Callable[[], str],
) -> tuple[StreamRollsResponse, Code]:
    """Read an item, roll it, and return the answer with its code; whatever fails becomes the item's status.

    Args:
        read: gives the item, or raises.
        roll: the use case.
        called: asked where `read` raises: the item's id where that can be read all the same, or nothing.
    """
    item_id = None
    try:
        item = read()
        item_id = _item_id(item)
        return StreamRollsResponse(item_id=item_id, receipt=await _roll(item, roll)), Code.OK
    except Exception as error:  # noqa: BLE001  the last boundary: no text of an exception reaches a caller
        status = status_of(error, new_call_id())
        name = _if_it_fits(called()) if item_id is None else item_id
        return StreamRollsResponse(item_id=name, status=status), Code(status.code)


def _if_it_fits(name: str) -> str:
    try:
        return name if len(name.encode()) <= MAX_ITEM_ID_BYTES else ""
    except UnicodeEncodeError:
        return ""


def _item_id(item: StreamRollsRequest) -> str:
    size_bytes = len(item.item_id.encode())
    if size_bytes > MAX_ITEM_ID_BYTES:
        raise RequestError(
            "OUT_OF_RANGE",
            f"an item_id has at most {MAX_ITEM_ID_BYTES} bytes",
            field="item_id",
            maximum=MAX_ITEM_ID_BYTES,
            value=str(size_bytes),
        )
    return item.item_id


async def _roll(item: StreamRollsRequest, roll: Callable[[RollRequest], Awaitable[RollResponse]]) -> RollResponse:
    if not item.HasField("request"):
        raise RequestError("REQUIRED", "an item holds a request", field="request")
    try:
        return await roll(item.request)
    except FairrollError as error:
        if error.field:
            error.field = f"request.{error.field}"
        raise
