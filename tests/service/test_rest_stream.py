"""Streams over REST: a line a roll, both ways, in order."""

import http.client
import json
from collections.abc import Iterator
from typing import Any

from tests.service.process import ServiceProcess

LINES = {"content-type": "application/x-ndjson"}


def connection(service: ServiceProcess) -> http.client.HTTPConnection:
    host, port = service.rest.removeprefix("http://").split(":")
    return http.client.HTTPConnection(host, int(port), timeout=60)


def item(item_id: str, text: str = "4d6kh3") -> bytes:
    return json.dumps({"itemId": item_id, "request": {"checks": [{"notation": {"text": text}}]}}).encode() + b"\n"


def stream(service: ServiceProcess, body: bytes | Iterator[bytes]) -> list[dict[str, Any]]:
    opened = connection(service)
    try:
        opened.request("POST", "/v1/rolls:stream", body, LINES, encode_chunked=not isinstance(body, bytes))
        answer = opened.getresponse()
        assert (answer.status, answer.headers["content-type"]) == (200, "application/x-ndjson")
        return [json.loads(line) for line in answer]
    finally:
        opened.close()


def test_each_line_is_answered_by_a_line_in_order(service: ServiceProcess) -> None:
    answers = stream(service, b"".join(item(str(index)) for index in range(50)))
    assert [answer["itemId"] for answer in answers] == [str(index) for index in range(50)]
    assert all(answer["receipt"]["digest"] for answer in answers)


def test_a_bad_line_is_answered_with_a_status_and_does_not_end_the_stream(service: ServiceProcess) -> None:
    body = item("a") + b"{\n" + item("b", "4d") + b"\n  \n" + item("c") + b'{"itemId":"d"}'
    answers = stream(service, body)
    assert [answer["itemId"] for answer in answers] == ["a", "", "b", "c", "d"]
    told = [answer.get("status", {"details": [{"reason": ""}]})["details"][0]["reason"] for answer in answers]
    assert told == ["", "JSON_UNREADABLE", "NOTATION_SYNTAX", "", "REQUIRED"]


def test_a_line_that_is_too_large_is_refused_by_its_limit(service: ServiceProcess) -> None:
    answers = stream(service, item("a") + b" " * (2**20 + 1) + b"{}\n" + item("b"))
    assert [answer["itemId"] for answer in answers][:2] == ["a", ""]
    assert answers[1]["status"]["details"][0]["reason"] == "BODY_TOO_LARGE"


def test_a_line_far_too_large_in_many_chunks_does_not_end_the_stream(service: ServiceProcess) -> None:
    chunks = [item("first"), *[b"x" * 100_000] * 40, b"\n", item("after")]
    answers = stream(service, iter(chunks))
    assert [answer["itemId"] for answer in answers] == ["first", "", "after"]
    assert answers[1]["status"]["details"][0]["reason"] == "BODY_TOO_LARGE"


def test_a_refused_line_keeps_its_id_where_that_can_be_read(service: ServiceProcess) -> None:
    lines = [b'{"itemId":"typo","reqest":{}}', b'{"item_id":"snake","request":1}', b'{"itemId":5}', b"[1]"]
    lines += [json.dumps({"itemId": "i" * 101, "reqest": {}}).encode(), b'{"itemId":"\\ud800","reqest":{}}']
    answers = stream(service, b"\n".join(lines))
    assert [answer["itemId"] for answer in answers] == ["typo", "snake", "", "", "", ""]
    assert all(answer["status"]["code"] == 3 for answer in answers)


def test_an_answer_comes_before_the_next_line_is_sent(service: ServiceProcess) -> None:
    opened = connection(service)
    opened.putrequest("POST", "/v1/rolls:stream")
    opened.putheader("transfer-encoding", "chunked")
    opened.putheader("content-type", LINES["content-type"])
    opened.endheaders()

    def send(line: bytes) -> None:
        opened.send(b"%x\r\n%b\r\n" % (len(line), line))

    send(item("first"))
    answer = http.client.HTTPResponse(opened.sock, method="POST")
    answer.begin()
    first = json.loads(answer.readline())
    send(item("second"))
    opened.send(b"0\r\n\r\n")
    second = json.loads(answer.readline())
    opened.close()
    assert (first["itemId"], second["itemId"]) == ("first", "second")


def test_a_client_may_send_all_before_it_reads(service: ServiceProcess) -> None:
    # 2,000 answers are more than the buffers of a connection hold.
    answers = stream(service, (item(str(index), "1d20") for index in range(2000)))
    assert [answer["itemId"] for answer in answers] == [str(index) for index in range(2000)]


def test_a_client_that_never_reads_does_not_stop_others(service: ServiceProcess) -> None:
    stuck = connection(service)
    stuck.request("POST", "/v1/rolls:stream", b"".join(item(str(index)) for index in range(3000)), LINES)
    try:
        assert len(stream(service, item("other"))) == 1
    finally:
        stuck.close()
