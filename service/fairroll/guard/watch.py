"""Whether the guard answers: opened until it does, looked at every second, and told to whoever probes."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from fairroll.errors import FairrollError
from fairroll.guard.claims import Guard

SECONDS = 1.0

_LOG = logging.getLogger("fairroll.guard")


class Readiness(Protocol):
    """What is told."""

    guard_reached: bool


async def watch(guard: Guard | None, readiness: Readiness, stop: asyncio.Event) -> None:
    """Look at the guard every second until `stop` is set."""
    while not stop.is_set():
        try:
            await asyncio.wait_for(stop.wait(), SECONDS)
        except TimeoutError:
            if guard is not None:
                await look(guard, readiness)


async def look(guard: Guard, readiness: Readiness) -> None:
    """Open the guard, which also asks it where it is open already; note and log a change."""
    try:
        await guard.open()
    except FairrollError as error:
        if readiness.guard_reached:
            _LOG.error("the guard cannot be reached, so nothing is rolled: %s", error.__cause__ or error.message)
        readiness.guard_reached = False
        return
    if not readiness.guard_reached:
        _LOG.warning("the guard is reached again")
    readiness.guard_reached = True
