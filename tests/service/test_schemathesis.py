"""The whole document under schemathesis, against real processes: no failure of ours, and nothing that it hides."""

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from fairroll.callers import add_api_key
from tests.service.process import ServiceProcess, start_service

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(sysconfig.get_path("scripts")) / "schemathesis"
LONG = bool(os.environ.get("FAIRROLL_LONG"))
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
    "unsupported_method",
)

pytestmark = pytest.mark.slow


def run(
    service: ServiceProcess, folder: Path, phases: str, examples: int, *headers: str, more: tuple[str, ...] = ()
) -> str:
    """Send what it makes of the document, with the same seed each time unless it is for long."""
    words = ["run", f"{service.rest}/openapi.json", "--checks", ",".join(CHECKS), "--phases", phases]
    words += ["--max-examples", str(examples), "--continue-on-failure", "--no-color", "--warnings", "off"]
    words += ["--request-timeout", "60", "--generation-database", "none", *more, *(() if LONG else ("--seed", "1"))]
    for header in headers:
        words += ["--header", header]
    done = subprocess.run(
        [COMMAND, *words],
        # In a folder of its own: it reads settings and leaves files where it runs.
        cwd=folder,
        env={**os.environ, "SCHEMATHESIS_HOOKS": "tests.service.schemathesis_hooks", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    assert not [line for line in service.lines() if line["level"] == "ERROR"]
    return done.stdout


def test_a_service_with_api_keys_and_a_guard_does_what_its_document_says(tmp_path: Path) -> None:
    file = tmp_path / "api-keys.json"
    key = add_api_key(file, "acme")
    with start_service(tmp_path, api_keys=str(file), guard=f"sqlite:{tmp_path / 'guard.db'}") as service:
        printed = run(service, tmp_path, "examples,fuzzing", 300 if LONG else 3, f"x-api-key: {key}")
        # Every shape of two checks is thousands of questions about odds, each of up to seconds: only for long.
        less = () if LONG else ("--exclude-path", "/v1/odds")
        covered = run(service, tmp_path, "coverage", 1, f"x-api-key: {key}", more=less)
    assert requests_of(printed) > 20
    assert requests_of(covered) > 1000


def test_a_caller_without_its_key_is_told_so(tmp_path: Path) -> None:
    file = tmp_path / "api-keys.json"
    add_api_key(file, "acme")
    with start_service(tmp_path, api_keys=str(file)) as service:
        printed = run(service, tmp_path, "examples,fuzzing", 100 if LONG else 3)
    assert requests_of(printed) > 20


def test_a_service_without_api_keys_does_what_its_document_says(tmp_path: Path) -> None:
    phases = "examples,coverage,fuzzing" if LONG else "examples,fuzzing"
    with start_service(tmp_path) as service:
        printed = run(service, tmp_path, phases, 300 if LONG else 10)
    assert requests_of(printed) > 100


def requests_of(printed: str) -> int:
    """Return how many requests it sent, once it is known that it tried every operation."""
    selected, tried = (
        line.split()[-1] for line in printed.splitlines() if line.startswith(("  Selected:", "  Tested:"))
    )
    assert selected.split("/")[0] == tried
    counted = next(line for line in printed.splitlines() if "generated," in line)
    return int(counted.split()[0].replace(",", ""))
