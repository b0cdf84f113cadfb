"""The desk: processes that answer, what is remembered, and what a deadline ends."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from fairroll.errors import RequestError, ServiceError
from fairroll.odds import desk as desk_module
from fairroll.odds.answer import get_odds
from fairroll.odds.desk import OddsDesk
from fairroll.odds.worker import PROTO
from fairroll.v1 import odds_pb2
from tests.service.odds.known import question

T = TypeVar("T")

SLOW = {"meidlands": {"opposedRoll": {"attacker": {"pool": 7, "modifiers": [6]}, "defender": {"pool": 7}}}}
"""Beyond the work budget, and many draws to simulate: seconds of work."""


def at_desk(use: Callable[[OddsDesk], Awaitable[T]], workers: int = 1) -> T:
    """What comes of using a desk, which is closed afterwards."""

    async def run() -> T:
        desk = OddsDesk(workers)
        try:
            return await use(desk)
        finally:
            await desk.close()

    return asyncio.run(run())


def alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_process_answers_what_the_function_answers() -> None:
    request = question("4d6kh3", at_least=15, against="3d6")
    answer = at_desk(lambda desk: desk.ask(PROTO, request))
    assert odds_pb2.GetOddsResponse.FromString(answer) == get_odds(request)


def test_a_refusal_comes_back_as_it_was_raised() -> None:
    request = question("4d6kh3(")
    with pytest.raises(RequestError) as direct:
        get_odds(request)
    with pytest.raises(RequestError) as refused:
        at_desk(lambda desk: desk.ask(PROTO, request))
    assert vars(refused.value) == vars(direct.value)


def test_a_repeated_question_is_answered_without_a_process() -> None:
    async def use(desk: OddsDesk) -> tuple[bytes, bytes]:
        first = await desk.ask(PROTO, question("2d20kh1"))
        await desk.close()
        # With no time left nothing could be worked out.
        return first, await desk.ask(PROTO, question("2d20kh1"), 0.0)

    first, again = at_desk(use)
    assert first == again


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    async def use(desk: OddsDesk) -> str:
        for sides in range(2, 8):
            await desk.ask(PROTO, question(f"1d{sides}"))
        with pytest.raises(ServiceError) as forgotten:
            await desk.ask(PROTO, question("1d2"), 0.0)
        await desk.ask(PROTO, question("1d7"), 0.0)
        return forgotten.value.reason

    monkeypatch.setattr(desk_module, "MAX_KNOWN_BYTES", 1_000)
    assert at_desk(use) == "DEADLINE_PASSED"


def test_a_deadline_ends_the_work_and_the_next_question_is_answered() -> None:
    async def use(desk: OddsDesk) -> tuple[int, str, bytes]:
        await desk.ask(PROTO, question("1d6"))
        (worker,) = desk._idle
        with pytest.raises(ServiceError) as late:
            await desk.ask(PROTO, question(SLOW, rolls=50_000), 0.3)
        return worker.process.pid, late.value.reason, await desk.ask(PROTO, question("1d8"))

    process_id, reason, answer = at_desk(use)
    assert reason == "DEADLINE_PASSED"
    assert not alive(process_id)
    assert len(odds_pb2.GetOddsResponse.FromString(answer).odds.quantities[0].values) == 8


def test_a_caller_that_gives_up_ends_the_work() -> None:
    async def use(desk: OddsDesk) -> int:
        await desk.ask(PROTO, question("1d6"))
        (worker,) = desk._idle
        asked = asyncio.create_task(desk.ask(PROTO, question(SLOW, rolls=50_000)))
        await asyncio.sleep(0.2)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        return worker.process.pid

    assert not alive(at_desk(use))


def test_only_so_many_questions_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    async def use(desk: OddsDesk) -> list[str]:
        asked = [asyncio.create_task(desk.ask(PROTO, question(f"1d{sides}"))) for sides in range(2, 6)]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        return [each.reason for each in answers if isinstance(each, ServiceError)]

    monkeypatch.setattr(desk_module, "MAX_WAITING", 3)
    assert at_desk(use) == ["ODDS_BUSY"]


def test_a_process_that_was_ended_from_outside_is_replaced() -> None:
    async def use(desk: OddsDesk) -> bytes:
        await desk.ask(PROTO, question("1d6"))
        (worker,) = desk._idle
        worker.process.kill()
        return await desk.ask(PROTO, question("1d8"))

    assert odds_pb2.GetOddsResponse.FromString(at_desk(use)) == get_odds(question("1d8"))


def test_where_every_process_ends_by_itself_the_service_says_that_it_failed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ends = tmp_path / "ends"
    command = ("sh", "-c", f"echo >> '{ends}'")
    monkeypatch.setattr(desk_module, "COMMAND", command)
    with pytest.raises(ServiceError) as failed:
        at_desk(lambda desk: desk.ask(PROTO, question("1d8")))
    assert (failed.value.reason, ends.read_text()) == ("INTERNAL", "\n\n")
