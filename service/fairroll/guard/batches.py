"""Many calls, one write: what is asked while the store is busy is asked together when it is free again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from fairroll.errors import ServiceError
from fairroll.guard.claims import unreachable

MAX_BATCH = 256
"""Calls that one write takes at most."""

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class Batches(Generic[Asked, Answer]):
    """Gathers what the calls of one loop ask of a store, whose every write costs nearly the same for one as for many.

    One write at a time: under load a batch grows by itself to what came in while the last one was written, and a call
    that is alone waits for nobody.
    """

    def __init__(self, write: Callable[[list[Asked]], Awaitable[Sequence[Answer | Exception]]]) -> None:
        """Gather for a store.

        Args:
            write: takes what is asked, and returns for each, in that order, its answer or the error that it is
                answered with; or raises what everybody gets, GUARD_UNREACHABLE where the store is not there.
        """
        self._write = write
        self._waiting: list[tuple[Asked, asyncio.Future[Answer]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def ask(self, asked: Asked) -> Answer:
        """Return the answer, or raise the error, that the write gives which takes this along.

        Who stops waiting leaves the write as it is: it belongs to others too.
        """
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, future))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
        return await future

    async def drain(self) -> None:
        """Wait until nothing waits."""
        while self._writing is not None:
            await asyncio.wait([self._writing])

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
                try:
                    answers = await self._write([asked for asked, _ in batch])
                except Exception as error:  # noqa: BLE001  it is whoever asked who gets it
                    # Those behind have waited as long for the same store: they are not to wait for it once more.
                    batch, self._waiting = batch + self._waiting, []
                    answers = [_of_each(error) for _ in batch]
                for (_, future), answer in zip(batch, answers, strict=True):
                    _settle(future, answer)
                # A turn of the loop, in which those who were answered ask what comes next.
                await asyncio.sleep(0)
        finally:
            self._writing = None


def _of_each(error: Exception) -> Exception:
    """Return an error of its own for each who gets it, since raising one adds to it."""
    return unreachable(error.__cause__ or error) if isinstance(error, ServiceError) else error


def _settle(future: asyncio.Future[Answer], answer: Answer | Exception) -> None:
    if future.done():
        return  # whoever asked has gone
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
