"""Rolling under a guard: judge, claim, prove, store the digest, answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from fairroll.errors import UsedError
from fairroll.guard.claims import Claim, Guard
from fairroll.v1.roll_pb2 import RollRequest, RollResponse

if TYPE_CHECKING:
    from fairroll.roll import Prepared, Roller

Roll: TypeAlias = Callable[[RollRequest, str], Awaitable[RollResponse]]
"""The use case as both doors call it: request and tenant in, receipt out."""


def guarded(roller: Roller, guard: Guard | None) -> Roll:
    """Return the use case under a guard; without one it is the roller's own."""
    if guard is None:

        async def roll(request: RollRequest, tenant: str) -> RollResponse:
            return roller.roll(request, tenant)

        return roll

    async def roll_once(request: RollRequest, tenant: str) -> RollResponse:
        prepared = roller.prepare(request, tenant)
        claim = claim_of(prepared)
        standing = await guard.claim(claim)
        response = roller.prove(prepared)
        digest = bytes.fromhex(response.digest)
        if standing is None:
            standing = await guard.stand(claim, digest)
        if standing != digest:
            raise UsedError(
                "ENGINE_CHANGED",
                f"the engine or key that answered this request is gone; its receipt stands: {standing.hex()}",
                field="seq",
                value=str(claim.seq),
                digest=standing.hex(),
            )
        return response

    return roll_once


def claim_of(prepared: Prepared) -> Claim:
    """Return what a prepared roll claims."""
    parents = prepared.parents
    return Claim(
        session_id=prepared.session_id,
        seq=prepared.seq,
        request_digest=prepared.request_digest,
        engines=prepared.engines,
        parent_seq=parents[-1].seq if parents else None,
        closes=prepared.request.close,
        chain=tuple((parent.seq, bytes.fromhex(parent.digest)) for parent in parents),
    )
