"""Whether the guard answers: opened until it does, looked at every second, and told where it changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from fairroll.errors import FairrollError
from fairroll.guard.claims import Guard, cause_of

SECONDS = 1.0

_LOG = logging.getLogger("fairroll.guard")


class GuardWatch:
    """Looks at one guard; where there is none, there is nothing to see.

    Attributes:
        reached: whether it answered when it was last looked at.
    """

    def __init__(self, guard: Guard | None, tell: Callable[[bool], Awaitable[None]]) -> None:
        """Look at a guard.

        Args:
            guard: which.
            tell: is given `reached` whenever it changes.
        """
        self.reached = True
        self._guard = guard
        self._tell = tell

    async def run(self, stop: asyncio.Event) -> None:
        """Look every second until `stop` is set."""
        while not stop.is_set():
            try:
                await asyncio.wait_for(stop.wait(), SECONDS)
            except TimeoutError:
                await self.look()

    async def look(self) -> None:
        """Open the guard, which also asks it where it is open already; tell and log a change."""
        if self._guard is None:
            return
        failure: FairrollError | None = None
        try:
            await self._guard.open()
        except FairrollError as error:
            failure = error
        reached = failure is None
        if reached == self.reached:
            return
        self.reached = reached
        if failure is None:
            _LOG.warning("the guard is reached again")
        else:
            _LOG.error("the guard cannot be reached, so nothing is rolled: %s", cause_of(failure))
        await self._tell(reached)
