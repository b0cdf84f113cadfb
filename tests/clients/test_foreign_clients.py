"""Clients of others against a real process: they get the same bytes, read the same errors, and stream."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import google.rpc
import pytest

from tests.node import NODE, packages, run
from tests.service.process import SOURCE_ROOTS, ServiceProcess, start_service

HERE = Path(__file__).parent
PROTO = HERE.parents[1] / "proto"
GOOGLE = Path(next(iter(google.rpc.__path__))).parents[1]
Client = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def node_folder(pytestconfig: pytest.Config) -> Path:
    return packages(pytestconfig, HERE)


def with_key(api_key: str) -> dict[str, str]:
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(SOURCE_ROOTS)}
    return {**kept, "FAIRROLL_API_KEY": api_key} if api_key else kept


@pytest.fixture(scope="session")
def node_grpc(node_folder: Path) -> Client:
    def call(service: ServiceProcess, api_key: str = "") -> dict[str, Any]:
        # Beside node_modules: that is where Node looks.
        script = shutil.copy(HERE / "roll.mjs", node_folder)
        told: dict[str, Any] = json.loads(run([NODE, script, service.grpc, PROTO, GOOGLE], env=with_key(api_key)))
        return told

    return call


def node_fetch(service: ServiceProcess, api_key: str = "") -> dict[str, Any]:
    told: dict[str, Any] = json.loads(run([NODE, HERE / "fetch.mjs", service.rest], env=with_key(api_key)))
    return told


def python_grpc(service: ServiceProcess, api_key: str = "") -> dict[str, Any]:
    told: dict[str, Any] = json.loads(run([sys.executable, HERE / "roll.py", service.grpc], env=with_key(api_key)))
    return told


def curl(service: ServiceProcess, path: str, body: str, *more: str) -> str:
    words = ["curl", "--silent", "--show-error", "--noproxy", "*", "--max-time", "10", *more]
    return run([*words, "--data-binary", body, f"{service.rest}{path}"])


def curl_roll(service: ServiceProcess, api_key: str = "") -> dict[str, Any]:
    request = {"checks": [{"notation": {"text": "4d6kh3"}}], "requestId": "four clients"}
    more = ["--header", f"x-api-key: {api_key}"] if api_key else []
    kind = ["--header", "content-type: application/json"]
    answer = json.loads(curl(service, "/v1/rolls", json.dumps(request), *kind, *more))
    envelope = answer["envelope"]
    return {"payload": envelope["payload"], "signature": envelope["signatures"][0]["sig"]}


def receipt_of(told: dict[str, Any]) -> tuple[str, str]:
    return told["payload"], told["signature"]


def test_all_of_them_get_the_same_bytes(service: ServiceProcess, node_grpc: Client) -> None:
    clients = (node_grpc, node_fetch, python_grpc, curl_roll)
    receipts = {receipt_of(client(service)) for client in clients}
    assert len(receipts) == 1
    payload, signature = receipts.pop()
    assert len(payload) > 200
    assert len(signature) == 88


def test_with_api_keys_they_get_in_as_their_tenant(tmp_path: Path, node_grpc: Client) -> None:
    file = tmp_path / "api-keys.json"
    words: list[str | Path] = [sys.executable, "-m", "fairroll.cli", "apikeys", "add", "--tenant", "acme", file]
    api_key = run(words, env=with_key("")).strip()
    with start_service(tmp_path, api_keys=str(file)) as service:
        clients = (node_grpc, node_fetch, python_grpc, curl_roll)
        assert len({receipt_of(client(service, api_key)) for client in clients}) == 1
        # The wrong one is refused, so the right one was looked at.
        problem = json.loads(curl(service, "/v1/rolls", "{}", "--header", "x-api-key: another"))
        assert problem["status"] == 401


def test_node_reads_the_details_of_an_error_over_grpc(service: ServiceProcess, node_grpc: Client) -> None:
    refused = node_grpc(service)["refused"]
    assert refused["code"] == "INVALID_ARGUMENT"
    assert refused["ErrorInfo"]["domain"] == "fairroll"
    assert refused["ErrorInfo"]["reason"] == python_grpc(service)["refused"]["reason"]
    assert [each["field"] for each in refused["BadRequest"]["field_violations"]] == ["checks[0].notation.text"]
    assert refused["NotationViolation"]["span"] == {"start": 2, "end": 2}


def test_node_reads_a_problem_over_fetch(service: ServiceProcess) -> None:
    refused = node_fetch(service)["refused"]
    assert (refused["status"], refused["contentType"]) == (400, "application/problem+json")
    assert refused["reason"] == python_grpc(service)["refused"]["reason"]


def test_python_reads_the_details_of_an_error(service: ServiceProcess) -> None:
    refused = python_grpc(service)["refused"]
    assert (refused["code"], refused["fields"]) == ("INVALID_ARGUMENT", ["checks[0].notation.text"])


def test_a_stream_answers_all_items_in_order(service: ServiceProcess, node_grpc: Client) -> None:
    expected = [{"id": "0", "kind": "receipt"}, {"id": "1", "kind": "status"}, {"id": "2", "kind": "receipt"}]
    assert node_grpc(service)["streamed"] == expected
    assert python_grpc(service)["streamed"] == expected
    over_fetch = node_fetch(service)["streamed"]
    assert [(each["itemId"], "receipt" in each) for each in over_fetch] == [("0", True), ("1", False), ("2", True)]


def test_curl_rolls_a_line_for_people(service: ServiceProcess) -> None:
    line, *_, receipt = curl(service, "/v1/roll", "4d6kh3").splitlines()
    assert "4d6kh3" in line
    assert receipt.startswith("receipt ")


def test_the_lock_of_the_packages_names_no_registry() -> None:
    packages = json.loads((HERE / "package-lock.json").read_text())["packages"]
    assert all("resolved" not in each for each in packages.values())
    assert all("integrity" in each for name, each in packages.items() if name)
