"""One real service for all tests of a worker that only ask it things."""

from collections.abc import Iterator

import pytest

from tests.service.process import ServiceProcess, start_service


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service in a process of its own. Do not stop it: start one with `start_service` for that."""
    with start_service(tmp_path_factory.mktemp("service")) as running:
        yield running
