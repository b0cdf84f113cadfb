"""What only REST has: routes, problems from every source, the line for people."""

import contextlib
import gzip
import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from fairroll.envelope import parse_envelope
from fairroll.key_list import verify_key_list
from tests.service.process import ServiceProcess

NOTATION = {"notation": {"text": "4d6kh3"}}


@pytest.fixture(scope="module")
def client(service: ServiceProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.rest, trust_env=False, timeout=30) as opened:
        yield opened


def problem_of(answer: httpx.Response) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["status"] == answer.status_code
    assert problem["type"] == f"urn:fairroll:reason:{problem['reason']}"
    return problem


def test_a_line_for_people_is_answered_in_text(client: httpx.Client) -> None:
    # What `curl -d '4d6kh3'` sends: a form's content type, and no form.
    answer = client.post("/v1/roll", content="4d6kh3", headers={"content-type": "application/x-www-form-urlencoded"})
    assert answer.headers["content-type"].startswith("text/plain")
    first, *_, last = answer.text.splitlines()
    assert first.startswith("4d6kh3: ")
    assert last.startswith("receipt ")


def test_a_line_for_people_is_answered_in_json_when_asked_for(client: httpx.Client) -> None:
    answer = client.post("/v1/roll", content="2d6+1", headers={"accept": "application/json"})
    assert answer.json()["record"]["request"]["checks"][0]["notation"]["text"] == "2d6+1"


def test_rolls_are_not_kept_by_caches(client: httpx.Client) -> None:
    assert client.post("/v1/rolls", json={"checks": [NOTATION]}).headers["cache-control"] == "no-store"


def test_a_receipt_verifies_over_the_next_call(client: httpx.Client) -> None:
    rolled = client.post("/v1/rolls", json={"checks": [NOTATION]}).json()
    answer = client.post("/v1/rolls:verify", json={"bundle": {"envelope": rolled["envelope"]}}).json()
    assert answer["verified"] is True
    assert [step["number"] for step in answer["steps"] if step["number"]] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert (answer["level"], answer["digest"]) == ("L0", rolled["digest"])


def test_a_receipt_with_another_byte_is_refused_at_its_signature(client: httpx.Client) -> None:
    rolled = client.post("/v1/rolls", json={"checks": [NOTATION]}).json()
    signature = rolled["envelope"]["signatures"][0]
    signature["sig"] = ("B" if signature["sig"][0] == "A" else "A") + signature["sig"][1:]
    answer = client.post("/v1/rolls:verify", json={"bundle": {"envelope": rolled["envelope"]}}).json()
    assert answer["verified"] is False
    assert (answer["steps"][-1]["number"], answer["steps"][-1]["result"]) == (1, "STEP_RESULT_FAILED")


def test_notation_is_explained(client: httpx.Client) -> None:
    answer = client.post("/v1/notation:parse", json={"check": {"text": "4D6 KH3"}}).json()
    assert (answer["valid"], answer["canonical"], answer["min"], answer["max"]) == (True, "4d6kh3", "3", "18")


def test_notation_that_does_not_parse_is_an_answer(client: httpx.Client) -> None:
    answer = client.post("/v1/notation:parse", json={"check": {"text": "borf(1)"}}).json()
    assert (answer["valid"], answer["error"]["code"]) == (False, "UNKNOWN_FUNCTION")
    assert answer["error"]["span"] == {"start": 0, "end": 4}


def test_the_systems_are_listed_with_a_schema(client: httpx.Client) -> None:
    systems = {system["name"]: system for system in client.get("/v1/systems").json()["systems"]}
    assert {"notation", "crossroads"} <= set(systems)
    assert systems["notation"]["engine"] == "notation/1"
    assert "text" in systems["notation"]["checkSchema"]["properties"]


def test_the_limits_are_listed(client: httpx.Client) -> None:
    limits = {limit["name"]: limit["maximum"] for limit in client.get("/v1/limits").json()["limits"]}
    assert (limits["checks"], limits["draws"]) == ("1000", "10000")


def test_the_key_list_is_signed_by_the_root_key(client: httpx.Client, service: ServiceProcess) -> None:
    envelope = parse_envelope(client.get("/.well-known/fairroll/keys").content)
    key_list = verify_key_list(envelope, bytes.fromhex(service.root_key))
    shown = client.get("/v1/keys").json()["keyList"]
    assert [key["keyId"] for key in shown["keys"]] == [key.key_id for key in key_list.keys]


@pytest.mark.parametrize(
    ("body", "reason", "field"),
    [
        (b"[]", "WRONG_TYPE", ""),
        (b'{"chekcs":[]}', "UNKNOWN_FIELD", "chekcs"),
        (b'{"checks":[{"notation":{"text":5}}]}', "WRONG_TYPE", "checks[0].notation.text"),
        (b"\xff", "JSON_UNREADABLE", ""),
        (b"{", "JSON_UNREADABLE", ""),
    ],
)
def test_a_body_that_is_no_request_is_a_problem(client: httpx.Client, body: bytes, reason: str, field: str) -> None:
    problem = problem_of(client.post("/v1/rolls", content=body, headers={"content-type": "application/json"}))
    assert (problem["reason"], problem.get("field", "")) == (reason, field)


def test_an_empty_body_names_what_is_missing(client: httpx.Client) -> None:
    assert problem_of(client.post("/v1/rolls"))["field"] == "checks"


def test_another_media_type_is_a_problem(client: httpx.Client) -> None:
    answer = client.post("/v1/rolls", content=b"{}", headers={"content-type": "text/xml"})
    assert problem_of(answer)["reason"] == "MEDIA_TYPE_UNSUPPORTED"
    assert answer.status_code == 415


@pytest.mark.parametrize("path", ["/v1/rolls", "/v1/rolls:stream", "/v1/odds", "/v1/roll"])
def test_a_compressed_body_is_a_problem(client: httpx.Client, path: str) -> None:
    body = gzip.compress(b'{"checks": [{"notation": {"text": "4d6kh3"}}]}')
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    answer = client.post(path, content=body, headers=headers)
    problem = problem_of(answer)
    assert (answer.status_code, problem["reason"], problem["value"]) == (415, "MEDIA_TYPE_UNSUPPORTED", "gzip")


def test_a_body_may_say_that_it_is_as_it_is(client: httpx.Client) -> None:
    assert client.post("/v1/roll", content=b"4d6kh3", headers={"content-encoding": "Identity"}).status_code == 200


def test_a_large_body_is_a_problem_that_names_the_limit(client: httpx.Client) -> None:
    answer = client.post("/v1/rolls", content=b" " * (2**20 + 1), headers={"content-type": "application/json"})
    problem = problem_of(answer)
    assert (answer.status_code, problem["reason"], problem["limit"], problem["maximum"]) == (
        413,
        "BODY_TOO_LARGE",
        "message_bytes",
        2**20,
    )


def test_an_unknown_route_is_a_problem(client: httpx.Client) -> None:
    answer = client.get("/v1/nothing")
    assert (answer.status_code, problem_of(answer)["reason"]) == (404, "ROUTE_UNKNOWN")


def test_another_method_is_a_problem_that_names_the_right_one(client: httpx.Client) -> None:
    answer = client.get("/v1/rolls")
    assert (answer.status_code, problem_of(answer)["reason"]) == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "path", ["/v1/systems", "/v1/limits", "/v1/keys", "/.well-known/fairroll/keys", "/docs", "/openapi.json"]
)
def test_head_is_get_without_its_body(client: httpx.Client, path: str) -> None:
    got, head = client.get(path), client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("content-type", "content-length", "cache-control", "etag"):
        assert head.headers.get(name) == got.headers.get(name), name


@pytest.mark.parametrize("path", ["/v1/systems/", "/v1/rolls/", "/docs/"])
def test_a_slash_too_many_is_another_path_and_no_redirect(client: httpx.Client, path: str) -> None:
    for answer in (client.get(path), client.post(path, json={})):
        assert (answer.status_code, problem_of(answer)["reason"]) == (404, "ROUTE_UNKNOWN")


@pytest.mark.parametrize(
    ("verb", "path", "allowed"),
    [
        ("DELETE", "/v1/rolls", {"POST"}),
        ("POST", "/v1/systems", {"GET", "HEAD"}),
        ("OPTIONS", "/v1/rolls:stream", {"POST"}),
        ("PUT", "/docs", {"GET", "HEAD"}),
    ],
)
def test_another_method_is_told_which_ones_there_are(
    client: httpx.Client, verb: str, path: str, allowed: set[str]
) -> None:
    answer = client.request(verb, path)
    assert (answer.status_code, problem_of(answer)["reason"]) == (405, "METHOD_NOT_ALLOWED")
    assert set(answer.headers["allow"].split(", ")) == allowed


@pytest.mark.parametrize(
    "path", ["/v1/keys", "/docs", "/docs/swagger-ui.css", "/openapi.json", "/v1/odds.svg?check=4d6kh3"]
)
def test_each_get_answer_has_a_tag_by_which_it_is_not_sent_again(client: httpx.Client, path: str) -> None:
    got = client.get(path)
    assert (got.status_code, len(got.content) > 100) == (200, True)
    again = client.get(path, headers={"if-none-match": got.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == got.headers["etag"]
    assert again.headers["cache-control"] == got.headers["cache-control"]


@pytest.mark.parametrize(("shape", "status"), [("{}", 304), ("W/{}", 304), ('"x", {}', 304), ("*", 304), ('"x"', 200)])
def test_a_tag_is_compared_as_http_says(client: httpx.Client, shape: str, status: int) -> None:
    tag = client.get("/v1/limits").headers["etag"]
    assert client.get("/v1/limits", headers={"if-none-match": shape.format(tag)}).status_code == status


def raw(service: ServiceProcess, *sent: bytes) -> tuple[bytes, dict[str, Any]]:
    """Send bytes over a connection of their own; return the status line of the answer, and its problem."""
    host, port = service.rest.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        with contextlib.suppress(ConnectionError):  # it may have been refused before all is sent
            for data in sent:
                connection.sendall(data)
        answer = b""
        while b"\r\n\r\n" not in answer or not answer.endswith(b"}"):
            answer += connection.recv(65536)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head
    return head.split(b"\r\n")[0], json.loads(body)


@pytest.mark.parametrize("sent", [b"GARBAGE\r\n\r\n", b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n"])
def test_what_is_no_http_is_a_problem(service: ServiceProcess, sent: bytes) -> None:
    status, problem = raw(service, sent)
    assert (status, problem["reason"], problem["status"]) == (b"HTTP/1.1 400 Bad Request", "HTTP_INVALID", 400)


def test_a_head_without_an_end_is_refused_before_it_fills_the_memory(service: ServiceProcess) -> None:
    before = service.rss_bytes()
    status, problem = raw(service, b"GET /v1/keys HTTP/1.1\r\nx: ", *[b"a" * 1_000_000] * 48)
    assert status == b"HTTP/1.1 431 Request Header Fields Too Large"
    assert (problem["reason"], problem["status"], problem["limit"], problem["maximum"]) == (
        "HEAD_TOO_LARGE",
        431,
        "head_bytes",
        2**16,
    )
    assert service.rss_bytes() - before < 16 * 2**20


def test_headers_of_half_the_bound_are_read(client: httpx.Client) -> None:
    assert client.get("/v1/limits", headers={"x-long": "a" * 32_000}).status_code == 200


def test_a_client_that_goes_away_harms_nobody(client: httpx.Client, service: ServiceProcess) -> None:
    host, port = service.rest.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"POST /v1/rolls HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
    assert client.post("/v1/rolls", json={"checks": [NOTATION]}).status_code == 200
    assert not [line for line in service.lines() if line["level"] == "ERROR"]


def test_calls_are_counted_by_method_and_code_whatever_the_path(client: httpx.Client, service: ServiceProcess) -> None:
    client.post("/v1/rolls", json={"checks": [NOTATION]})
    client.get("/v1/made/up/by/a/caller")
    figures = httpx.get(f"{service.admin}/metrics", trust_env=False).text
    assert 'fairroll_calls_total{code="OK",door="rest",method="Roll"}' in figures
    assert 'fairroll_calls_total{code="UNIMPLEMENTED",door="rest",method="unknown"}' in figures
    assert "made/up" not in figures


def test_no_answer_holds_a_path_of_the_server(client: httpx.Client) -> None:
    bodies = [b"[", b'{"checks":0}', json.dumps({"checks": [{"notation": {"text": "(" * 3000}}]}).encode(), b"\x00"]
    for body in bodies:
        text = client.post("/v1/rolls", content=body, headers={"content-type": "application/json"}).text
        assert "/fairroll/" not in text
        assert "Traceback" not in text


def test_a_line_for_the_table_stays_one_line(client: httpx.Client) -> None:
    check = {"crossroads": {"skillRoll": {"opposingRoll": {"name": "Orc\n# of the hill"}}}}
    assert "\n" not in client.post("/v1/rolls", json={"checks": [check]}).json()["texts"][0]["line"]
