"""Tasks that live and die together: the first that ends, for whatever reason, ends the rest."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping

_LOG = logging.getLogger("fairroll.supervisor")


async def first_to_end(tasks: Mapping[str, asyncio.Task[None]]) -> tuple[str, BaseException | None]:
    """Wait until one of the tasks ends; return its name, and what it raised if it did."""
    done, _ = await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_COMPLETED)
    for name, task in tasks.items():
        if task in done:
            return name, None if task.cancelled() else task.exception()
    raise AssertionError("asyncio.wait returned without a task that is done")


def start(coroutines: Mapping[str, Coroutine[object, object, None]]) -> dict[str, asyncio.Task[None]]:
    """Start each as a task of its name."""
    return {name: asyncio.create_task(_run(each), name=name) for name, each in coroutines.items()}


async def end(tasks: Mapping[str, asyncio.Task[None]], seconds: float) -> bool:
    """Give the tasks so long to end, then cancel them; return whether all ended by themselves and well."""
    _, late = await asyncio.wait(tasks.values(), timeout=seconds)
    for task in late:
        task.cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)
    failed = {name: task for name, task in tasks.items() if not task.cancelled() and task.exception() is not None}
    for name, task in failed.items():
        _LOG.error("%s failed", name, exc_info=task.exception())
    return not late and not failed


async def _run(coroutine: Coroutine[object, object, None]) -> None:
    try:
        await coroutine
    except SystemExit as error:  # uvicorn's way of saying that it cannot start; it would tear the loop apart
        raise RuntimeError(f"it exited with {error.code}") from error
