"""What all tests share: the profile of the property tests, and the vectors of third parties.

Those vectors are read where they lie and are never part of the project. The folder is
`FAIRROLL_EXTERNAL_VECTORS`, or `shared/vectors/external` beside the repository. Where it is
absent there are no cases, and the summary says so.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "vectors" / "external"
_FOLDER = Path(os.environ.get("FAIRROLL_EXTERNAL_VECTORS", _BESIDE))
_MARK = "external_vectors"


def pytest_configure(config: pytest.Config) -> None:
    # A busy machine must not fail a property; what is slow shows with --durations.
    settings.register_profile("fairroll", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("fairroll")
    config.addinivalue_line("markers", f"{_MARK}: one case of a third party's vectors")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for fixture, cases in (("wycheproof_case", _wycheproof_cases), ("dsse_case", _dsse_cases)):
        if fixture in metafunc.fixturenames:
            marked = [pytest.param(case, id=name, marks=getattr(pytest.mark, _MARK)) for name, case in cases()]
            metafunc.parametrize(fixture, marked)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what pytest puts in the place of no cases: nothing is skipped, there is nothing."""
    empty = [item for item in items if item.name.endswith("[NOTSET]")]
    if empty:
        config.hook.pytest_deselected(items=empty)
        items[:] = [item for item in items if item not in empty]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = (*terminalreporter.stats.get("passed", ()), *terminalreporter.stats.get("failed", ()))
    ran = sum(_MARK in getattr(report, "keywords", ()) for report in reports)
    found = "" if _FOLDER.is_dir() else " (folder absent; see FAIRROLL_EXTERNAL_VECTORS)"
    terminalreporter.write_line(f"external vectors: {ran} cases ran{found}")


def _wycheproof_cases() -> Iterable[tuple[str, dict[str, Any]]]:
    for group in _read("wycheproof/ed25519_test.json").get("testGroups", ()):
        for case in group["tests"]:
            yield f"tc{case['tcId']}", {**case, "public_key": group["publicKey"]["pk"]}


def _dsse_cases() -> Iterable[tuple[str, dict[str, Any]]]:
    vectors = _read("dsse/vectors.json")
    for case in vectors.get("vectors", ()):
        yield case["id"], {**case, "keys": {name: key["public"] for name, key in vectors["keys"].items()}}


def _read(name: str) -> dict[str, Any]:
    path = _FOLDER / name
    if not path.exists():
        return {}
    content: dict[str, Any] = json.loads(path.read_bytes())
    return content
