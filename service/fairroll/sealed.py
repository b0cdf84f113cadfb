"""A sealed roll: the receipt exists and its digest is told now; the same request to Roll gives the receipt later.

The digest hides what it stands for, since it covers a proof and a signature that nobody makes without the keys. It
binds, since no other receipt has it. From whom it hides is a matter of who may call: see docs/sealed-rolls.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from fairroll.convert import join_path
from fairroll.errors import FairrollError, RequestError
from fairroll.v1.service_pb2 import SealRollRequest, SealRollResponse

if TYPE_CHECKING:
    from fairroll.guard import Roll

Seal: TypeAlias = Callable[[SealRollRequest, str], Awaitable[SealRollResponse]]
"""The use case as both doors call it: request and tenant in, digest out."""


def sealing(roll: Roll) -> Seal:
    """Return what seals rolls that are made so, under the guard that they are made under.

    What it returns raises what `roll` does, with paths below `roll`, and RequestError: SESSION_REQUIRED.
    """

    async def seal(request: SealRollRequest, tenant: str) -> SealRollResponse:
        if not request.roll.HasField("session"):
            raise RequestError(
                "SESSION_REQUIRED",
                "a sealed roll belongs to a session: without one, the same request later is another roll",
                field="roll.session",
            )
        try:
            answer = await roll(request.roll, tenant)
        except FairrollError as error:
            error.field = join_path("roll", error.field)
            raise
        return SealRollResponse(digest=answer.digest, session=answer.record.session, seq=request.roll.seq)

    return seal
