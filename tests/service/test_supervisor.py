"""Tasks that live and die together."""

import asyncio

from fairroll import supervisor


async def fail() -> None:
    raise ValueError("no")


async def leave() -> None:
    raise SystemExit(3)


async def for_ever() -> None:
    await asyncio.Event().wait()


async def test_the_first_to_end_is_named_with_its_error() -> None:
    tasks = supervisor.start({"long": for_ever(), "bad": fail()})
    name, error = await supervisor.first_to_end(tasks)
    assert (name, str(error)) == ("bad", "no")
    assert not await supervisor.end(tasks, 0)
    assert all(task.done() for task in tasks.values())


async def test_a_task_that_exits_does_not_take_the_loop_with_it() -> None:
    tasks = supervisor.start({"long": for_ever(), "leaving": leave()})
    name, error = await supervisor.first_to_end(tasks)
    assert (name, str(error)) == ("leaving", "it exited with 3")
    await supervisor.end(tasks, 0)


async def test_tasks_that_end_in_time_end_well() -> None:
    tasks = supervisor.start({"short": asyncio.sleep(0.01), "shorter": asyncio.sleep(0)})
    assert await supervisor.first_to_end(tasks) == ("shorter", None)
    assert await supervisor.end(tasks, 5)


async def test_a_task_that_takes_too_long_is_cancelled_and_said() -> None:
    tasks = supervisor.start({"long": for_ever()})
    assert not await supervisor.end(tasks, 0.01)
    assert tasks["long"].cancelled()
