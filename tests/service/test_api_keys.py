"""A real service with a file of API keys: who may call what, over both doors, and whose roll it is."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import grpc
import httpx
import pytest

from fairroll.callers import add_api_key, read_api_keys, revoke_api_key
from fairroll.v1.roll_pb2 import Check, RollRequest, RollResponse
from fairroll.v1.service_pb2 import GetKeyListRequest, StreamRollsRequest
from tests.service.grpc_door import refusal_of
from tests.service.process import ServiceProcess, run_service, start_service

BODY = {"checks": [{"notation": {"text": "4d6kh3"}}], "requestId": "same"}
PAGE = "https://table.example"


class Keyed(NamedTuple):
    service: ServiceProcess
    file: Path
    acme: str
    other: str


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    folder = tmp_path_factory.mktemp("keyed")
    file = folder / "api-keys.json"
    acme, other = add_api_key(file, "acme"), add_api_key(file, "other")
    with start_service(folder, api_keys=str(file), cors_origins=PAGE) as service:
        yield Keyed(service, file, acme, other)


def roll_request() -> RollRequest:
    check = Check()
    check.notation.text = "4d6kh3"
    return RollRequest(checks=[check], request_id="same")


def over_rest(keyed: Keyed, key: str | None) -> httpx.Response:
    headers = {} if key is None else {"x-api-key": key}
    return httpx.post(f"{keyed.service.rest}/v1/rolls", json=BODY, headers=headers, trust_env=False)


def over_grpc(keyed: Keyed, key: str | None) -> RollResponse:
    with keyed.service.stub() as stub:
        return stub.Roll(roll_request(), metadata=() if key is None else (("x-api-key", key),))


@pytest.mark.parametrize(("key", "reason"), [(None, "API_KEY_MISSING"), ("frk_wrong", "API_KEY_UNKNOWN")])
def test_a_caller_that_nobody_knows_is_refused(keyed: Keyed, key: str | None, reason: str) -> None:
    answer = over_rest(keyed, key)
    assert (answer.status_code, answer.json()["reason"]) == (401, reason)
    assert answer.headers["www-authenticate"].startswith("ApiKey ")
    with pytest.raises(grpc.RpcError) as caught:
        over_grpc(keyed, key)
    refusal = refusal_of(caught.value)
    assert (refusal.code, refusal.info.reason) == (grpc.StatusCode.UNAUTHENTICATED, reason)


def test_the_key_names_the_tenant_on_both_doors(keyed: Keyed) -> None:
    answer = over_rest(keyed, keyed.acme).json()
    assert answer["record"]["session"]["tenant"] == "acme"
    assert over_grpc(keyed, keyed.acme).digest == answer["digest"]


def test_the_tenant_is_part_of_the_session(keyed: Keyed) -> None:
    acme, other = over_rest(keyed, keyed.acme).json(), over_rest(keyed, keyed.other).json()
    assert acme["record"]["proof"] != other["record"]["proof"]


def test_a_stream_is_one_tenants(keyed: Keyed) -> None:
    items = [StreamRollsRequest(item_id="a", request=roll_request())]
    with keyed.service.stub() as stub:
        answers = list(stub.StreamRolls(iter(items), metadata=(("x-api-key", keyed.other),)))
        assert answers[0].receipt.record.session.tenant == "other"
        with pytest.raises(grpc.RpcError) as caught:
            list(stub.StreamRolls(iter(items)))
    assert refusal_of(caught.value).info.reason == "API_KEY_MISSING"


@pytest.mark.parametrize("path", ["/v1/roll", "/v1/rolls:stream", "/v1/rolls:verify", "/v1/notation:parse"])
def test_every_other_call_that_works_for_a_caller_needs_the_key(keyed: Keyed, path: str) -> None:
    answer = httpx.post(keyed.service.rest + path, content=b"{}", trust_env=False)
    assert (answer.status_code, answer.json()["reason"]) == (401, "API_KEY_MISSING")


@pytest.mark.parametrize("path", ["/v1/keys", "/v1/systems", "/v1/limits", "/.well-known/fairroll/keys"])
def test_what_an_auditor_asks_needs_no_key(keyed: Keyed, path: str) -> None:
    assert httpx.get(keyed.service.rest + path, trust_env=False).status_code == 200


def test_the_key_list_needs_no_key_on_grpc(keyed: Keyed) -> None:
    with keyed.service.stub() as stub:
        assert stub.GetKeyList(GetKeyListRequest()).key_list.keys


@pytest.mark.slow
def test_a_key_is_added_and_revoked_while_the_service_runs(keyed: Keyed) -> None:
    late = add_api_key(keyed.file, "late")
    assert wait_for(keyed, late, 200)
    revoke_api_key(keyed.file, next(key.key_id for key in read_api_keys(keyed.file) if key.tenant == "late"))
    assert wait_for(keyed, late, 401)


def wait_for(keyed: Keyed, key: str, status: int) -> bool:
    transport = httpx.HTTPTransport()
    with httpx.Client(transport=transport, trust_env=False) as client:
        for _ in range(2000):
            answer = client.post(f"{keyed.service.rest}/v1/rolls", json=BODY, headers={"x-api-key": key})
            if answer.status_code == status:
                return True
    return False


def test_a_page_of_a_listed_origin_may_call(keyed: Keyed) -> None:
    headers = {
        "origin": PAGE,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,x-api-key",
    }
    answer = httpx.options(f"{keyed.service.rest}/v1/rolls", headers=headers, trust_env=False)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, PAGE)
    stranger = {**headers, "origin": "https://elsewhere.example"}
    refused = httpx.options(f"{keyed.service.rest}/v1/rolls", headers=stranger, trust_env=False)
    assert "access-control-allow-origin" not in refused.headers


@pytest.mark.parametrize(
    ("changed", "value"),
    [
        ("origin", "https://elsewhere.example"),
        ("access-control-request-method", "DELETE"),
        ("access-control-request-headers", "content-type, x-other"),
    ],
)
def test_what_a_page_may_not_send_is_refused_as_a_problem(keyed: Keyed, changed: str, value: str) -> None:
    headers = {"origin": PAGE, "access-control-request-method": "POST", changed: value}
    answer = httpx.options(f"{keyed.service.rest}/v1/rolls", headers=headers, trust_env=False)
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, answer.json()["status"], answer.json()["reason"]) == (403, 403, "CORS_REFUSED")


def test_a_page_may_ask_again_by_a_tag_that_it_can_read(keyed: Keyed) -> None:
    path = f"{keyed.service.rest}/v1/limits"
    first = httpx.get(path, headers={"origin": PAGE}, trust_env=False)
    assert first.headers["access-control-expose-headers"].lower() == "etag"
    asked = {"origin": PAGE, "access-control-request-method": "GET", "access-control-request-headers": "if-none-match"}
    assert httpx.options(path, headers=asked, trust_env=False).status_code == 200
    again = httpx.get(path, headers={"origin": PAGE, "if-none-match": first.headers["etag"]}, trust_env=False)
    assert (again.status_code, again.headers["access-control-allow-origin"]) == (304, PAGE)


def test_a_page_can_read_what_it_is_refused(keyed: Keyed) -> None:
    for path, status in (("/v1/rolls", 401), ("/v1/none", 404)):
        answer = httpx.post(keyed.service.rest + path, headers={"origin": PAGE}, trust_env=False)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (status, PAGE)


@pytest.mark.parametrize("path", ["/v1/keys", "/v1/systems", "/v1/limits"])
def test_what_seldom_changes_is_asked_for_again_by_its_etag(keyed: Keyed, path: str) -> None:
    first = httpx.get(keyed.service.rest + path, trust_env=False)
    assert first.headers["cache-control"] == "public, max-age=60"
    again = httpx.get(keyed.service.rest + path, headers={"if-none-match": first.headers["etag"]}, trust_env=False)
    assert (again.status_code, again.content) == (304, b"")


def test_development_keys_are_refused_beyond_loopback_whoever_calls(tmp_path: Path) -> None:
    file = tmp_path / "api-keys.json"
    add_api_key(file, "acme")
    ended = run_service(tmp_path, api_keys=str(file), rest_address="0.0.0.0:0")
    assert (ended.returncode, "development keys" in ended.stderr) == (2, True)


def test_a_missing_file_of_keys_is_refused_at_the_start(tmp_path: Path) -> None:
    ended = run_service(tmp_path, api_keys=str(tmp_path / "none.json"))
    assert (ended.returncode, "FILE_NOT_READ" in ended.stderr) == (2, True)
