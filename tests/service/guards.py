"""Guards of both kinds, each empty, for tests that hold for either."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import pytest
import pytest_asyncio

from fairroll.guard import Guard
from fairroll.guard.places import open_guard
from fairroll.settings import GuardPlace, parse_guard
from tests.service.postgres import Postgres, running_postgres

_NUMBERS = count()


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> GuardPlace:
    """Where a guard's rows go: a new file or a new database."""
    if request.param == "sqlite":
        return parse_guard(f"sqlite:{tmp_path / 'guard.db'}")
    server: Postgres = request.getfixturevalue("postgres")
    return parse_guard(server.make_database(f"guard_{next(_NUMBERS)}"))


def guard_at(place: GuardPlace) -> Guard:
    """The guard there, not opened yet."""
    guard = open_guard(place)
    assert guard is not None
    return guard


@pytest_asyncio.fixture
async def guard(place: GuardPlace) -> AsyncIterator[Guard]:
    """An open guard."""
    opened = guard_at(place)
    await opened.open()
    yield opened
    await opened.close()
    await asyncio.sleep(0)
