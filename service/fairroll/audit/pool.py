"""Batches of an audit on all cores: as many at once as keep the processes busy, and no more in memory.

Processes, since a step of verification is as much Python as libsodium, and only where there is enough to do.
"""

from __future__ import annotations

import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Self, TypeVar

from fairroll.audit.judging import Batch, Judge, Numbered, Terms
from fairroll.audit.reading import Item
from fairroll.errors import ServiceError

BATCH_ITEMS = 64
BATCH_BYTES = 2**20
ALONE_ITEMS = 256
"""So few are judged sooner than a second process has started."""
_WAITING = 3
"""Batches for each process that are sent or done and not yet taken."""

GC_OBJECTS = 20_000
"""How many more objects that could refer to each other make a collection worth its while: about 2 MB."""

T = TypeVar("T")
R = TypeVar("R")
Task = tuple[Callable[..., Any], tuple[Any, ...]]

_judge: Judge | None = None


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Pool:
    """Judges batches in this process or in several; results come in the order of what was given."""

    def __init__(self, terms: Terms, jobs: int) -> None:
        self._terms = terms
        self._jobs = jobs
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)

    def items(self, items: Iterable[Item]) -> Iterator[Batch]:
        """Judge items as they are read.

        Raises:
            ServiceError: WORKER_LOST, a process was ended from outside.
        """
        reading = iter(items)
        first = list(islice(reading, ALONE_ITEMS + 1))
        if len(first) <= ALONE_ITEMS:
            # The rest may still be waited for (a pipe), but there is none.
            yield from self._here(_item_tasks(first))
        else:
            yield from self._spread(_item_tasks(chain(first, reading)))

    def bundles(self, bundles: Iterable[Numbered]) -> Iterator[Batch]:
        """Judge receipts with their chains. Errors as `items`."""
        tasks = ((judge_bundles, (group,)) for group in _groups(bundles, BATCH_ITEMS))
        yield from self._here(tasks) if self._executor is None else self._spread(tasks)

    def map(self, function: Callable[[T], R], arguments: Sequence[T]) -> Iterator[R]:
        """Return `function` of each argument, in order. Errors as `items`."""
        tasks: Iterator[Task] = ((function, (each,)) for each in arguments)
        yield from self._here(tasks) if self._executor is None else self._spread(tasks)

    def _here(self, tasks: Iterable[Task]) -> Iterator[Any]:
        start(self._terms)
        for function, arguments in tasks:
            yield function(*arguments)

    def _spread(self, tasks: Iterable[Task]) -> Iterator[Any]:
        if self._jobs == 1:
            yield from self._here(tasks)
            return
        if self._executor is None:
            self._executor = ProcessPoolExecutor(self._jobs, get_context(start_method()), start_process, (self._terms,))
        waiting: deque[Future[Any]] = deque()
        try:
            for function, arguments in tasks:
                waiting.append(self._executor.submit(function, *arguments))
                if len(waiting) > _WAITING * self._jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            raise ServiceError(
                "WORKER_LOST", "a process of the audit was ended from outside: is memory short?"
            ) from error


def start_method() -> str:
    """Return how to start a process: a copy of this one has at once what another must load first.

    A copy is safe only where this process has a single thread, of whatever library: a lock that another one holds would
    stay locked in the copy for ever. Linux says how many there are.
    """
    threads = Path("/proc/self/task")
    return "fork" if threads.is_dir() and len(list(threads.iterdir())) == 1 else "spawn"


def start_process(terms: Terms) -> None:
    """Prepare a new process; what a terminal's Ctrl-C ends is its parent, which then ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    start(terms)


def start(terms: Terms) -> None:
    """Prepare this process."""
    global _judge  # noqa: PLW0603  the one object of a worker process
    # Hardly anything that a step makes refers back to itself: looking for it seldom saves a fiftieth.
    gc.set_threshold(GC_OBJECTS, 10, 10)
    _judge = Judge(terms)


def judge_items(first: int, items: Sequence[Item]) -> Batch:
    """Judge items in this process."""
    return _started().items(first, items)


def judge_bundles(bundles: Sequence[Numbered]) -> Batch:
    """Judge receipts with their chains in this process."""
    return _started().bundles(bundles)


def _started() -> Judge:
    if _judge is None:
        raise RuntimeError("this process was not prepared")
    return _judge


def _item_tasks(items: Iterable[Item]) -> Iterator[Task]:
    number, batch, size = 0, list[Item](), 0
    for item in items:
        batch.append(item)
        size += len(item.text) if isinstance(item.text, bytes) else 0
        if len(batch) == BATCH_ITEMS or size >= BATCH_BYTES:
            yield judge_items, (number, batch)
            number, batch, size = number + len(batch), [], 0
    if batch:
        yield judge_items, (number, batch)


def _groups(things: Iterable[T], size: int) -> Iterator[list[T]]:
    each = iter(things)
    while group := list(islice(each, size)):
        yield group
