"""Where the doors ask for odds: processes that answer them, so that no roll waits, and the answers that are known.

Odds are arithmetic in Python: in a thread they would take turns with the rolls for the interpreter, and could not be
ended. A process of its own, of lower priority, takes another processor, and is ended when the deadline passes.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections import OrderedDict
from dataclasses import dataclass
from subprocess import Popen

from fairroll.errors import ServiceError
from fairroll.odds.worker import ANSWERED, HEAD, REFUSED, refusal
from fairroll.v1 import odds_pb2

WORKERS = 1
"""Processes at most; the first question starts one."""

MAX_WAITING = 32
"""Questions that are being answered or wait for it."""

MAX_SECONDS = 20.0
"""How long one question may wait and take, whatever its caller's deadline."""

MAX_KNOWN_BYTES = 16 * 1024 * 1024
"""Bytes of questions and answers that are remembered."""

COMMAND = (sys.executable, "-P", "-m", "fairroll.odds.worker")
"""-P: nothing is imported from the folder that the service happens to run in."""

_GONE = (OSError, asyncio.IncompleteReadError, RuntimeError)
"""What using a process raises that is no more; the last is uvloop's way to say that a connection is closed."""


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that answers odds, and the connection over which it is asked."""

    process: Popen[bytes]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @staticmethod
    async def start() -> Worker:
        """Start one, which takes the loop a millisecond."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = _start(theirs.fileno())
        reader, writer = await asyncio.open_connection(sock=ours)
        return Worker(process, reader, writer)

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    async def ask(self, form: int, request: bytes) -> tuple[int, bytes]:
        """Return the kind and the bytes of its answer; raises one of _GONE where it has ended."""
        self.writer.write(HEAD.pack(form, len(request)) + request)
        kind, size = HEAD.unpack(await self.reader.readexactly(HEAD.size))
        return kind, await self.reader.readexactly(size)

    async def end(self) -> None:
        """End it, whatever it is at."""
        self.process.kill()
        self.writer.close()
        await asyncio.to_thread(self.process.wait)


class OddsDesk:
    """Asks processes for odds, and remembers the answers."""

    def __init__(self, workers: int = WORKERS) -> None:
        """Use at most so many processes; none is started yet."""
        self._turn = asyncio.Semaphore(workers)
        self._idle: list[Worker] = []
        self._waiting = 0
        self._known: OrderedDict[tuple[int, bytes], bytes] = OrderedDict()
        self._known_bytes = 0

    async def ask(self, form: int, request: odds_pb2.GetOddsRequest, seconds: float | None = None) -> bytes:
        """Return an answer in a form of the workers'.

        Args:
            form: PROTO, JSON or SVG.
            request: the question.
            seconds: how long the caller waits; None, as long as the desk does.

        Raises:
            RequestError: whatever `get_odds` refuses.
            ServiceError: ODDS_BUSY; DEADLINE_PASSED, and the work on it was ended; INTERNAL.
        """
        key = form, request.SerializeToString(deterministic=True)
        known = self._known.get(key)
        if known is not None:
            self._known.move_to_end(key)
            return known
        if self._waiting >= MAX_WAITING:
            raise ServiceError("ODDS_BUSY", f"{self._waiting} questions about odds wait already; ask again")
        self._waiting += 1
        try:
            async with asyncio.timeout(MAX_SECONDS if seconds is None else min(seconds, MAX_SECONDS)), self._turn:
                known = self._known.get(key)  # somebody else may have asked the same meanwhile
                kind, content = await self._work(*key) if known is None else (ANSWERED, known)
        except TimeoutError:
            raise ServiceError("DEADLINE_PASSED", "the odds took longer than the call may") from None
        finally:
            self._waiting -= 1
        if kind == ANSWERED:
            self._remember(key, content)
            return content
        if kind == REFUSED:
            raise refusal(content)
        raise ServiceError("INTERNAL", content.decode())

    async def close(self) -> None:
        """End the processes that wait for a question."""
        while self._idle:
            await self._idle.pop().end()

    async def _work(self, form: int, request: bytes) -> tuple[int, bytes]:
        """Have a process answer; where it is gone, another one."""
        try:
            return await self._answer(form, request)
        except _GONE:
            pass
        try:
            return await self._answer(form, request)
        except _GONE as error:
            raise ServiceError("INTERNAL", "a process that answers odds ended by itself") from error

    async def _answer(self, form: int, request: bytes) -> tuple[int, bytes]:
        """Have one process answer; one that did not come to its end is ended."""
        worker = self._waiting_worker() or await Worker.start()
        try:
            answer = await worker.ask(form, request)
        except BaseException:
            await asyncio.shield(worker.end())
            raise
        self._idle.append(worker)
        return answer

    def _waiting_worker(self) -> Worker | None:
        """Return a process that waits for a question; one that was ended from outside in the meantime is left out."""
        while self._idle:
            worker = self._idle.pop()
            if worker.running:
                return worker
            worker.writer.close()
        return None

    def _remember(self, key: tuple[int, bytes], answer: bytes) -> None:
        if key in self._known:
            return
        self._known[key] = answer
        self._known_bytes += len(key[1]) + len(answer)
        while self._known_bytes > MAX_KNOWN_BYTES:
            (_, request), oldest = self._known.popitem(last=False)
            self._known_bytes -= len(request) + len(oldest)


def _start(connection: int) -> Popen[bytes]:
    """Start a process that is asked and answers over a connection.

    Not by asyncio: uvloop forks, and what gRPC does in a fork of a process with its threads may crash the new one
    before its first question. `Popen` takes no copy of this process. And not in a session of its own, which Linux
    would schedule as one with the service's, whatever its priority (autogroup).
    """
    return Popen(COMMAND, stdin=connection, stdout=connection)
