"""What real services answer, on every route, is what their own documents say of it: status, type, schema and reason."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import jsonschema_rs
import pytest

from fairroll.callers import add_api_key
from tests.rules.notation.test_refusals import REFUSALS
from tests.service.process import ServiceProcess, start_service
from tests.service.test_two_doors import ACCEPTED, REFUSED, notation, roll

JSON = {"content-type": "application/json"}
LINES = {"content-type": "application/x-ndjson"}


class Asker:
    """Asks one service, and holds each answer to the service's document."""

    def __init__(self, service: ServiceProcess, api_key: str = "") -> None:
        self.client = httpx.Client(base_url=service.rest, trust_env=False, timeout=30)
        self.document: dict[str, Any] = self.client.get("/openapi.json").json()
        self.key = {"x-api-key": api_key} if api_key else {}
        self.seen: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.reasons: dict[str, set[str]] = defaultdict(set)

    def close(self) -> None:
        self.client.close()

    def valid(self, value: object, schema: dict[str, Any]) -> None:
        whole = {**schema, "components": self.document["components"]}
        jsonschema_rs.Draft202012Validator(whole, validate_formats=True).validate(value)

    def ask(self, verb: str, path: str, **more: Any) -> httpx.Response:  # noqa: ANN401  what httpx takes
        """Send it, with the key unless other headers say otherwise, and judge what comes."""
        headers = {**self.key, **more.pop("headers", {})}
        answer = self.client.request(verb, path, headers=headers, **more)
        operation = self.document["paths"][path][verb.lower()]
        told = operation["responses"].get(str(answer.status_code))
        assert told is not None, f"{verb} {path} does not tell of {answer.status_code}: {answer.text}"
        self.seen[verb, path].add(str(answer.status_code))
        if answer.status_code == 304:
            assert not answer.content
            return answer
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in told["content"], f"{verb} {path} does not tell of {kind}"
        described = told["content"][kind]
        if kind == "application/x-ndjson":
            for line in answer.text.splitlines():
                self.valid(json.loads(line), described["x-item-schema"])
        else:
            text = kind in ("text/plain", "image/svg+xml")
            self.valid(answer.text if text else answer.json(), described["schema"])
        if kind == "application/problem+json":
            self.reasons[path].add(answer.json()["reason"])
        return answer

    def post(self, path: str, body: object, **more: Any) -> httpx.Response:  # noqa: ANN401  as above
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.ask("POST", path, content=content, headers={**JSON, **more.pop("headers", {})}, **more)


@pytest.fixture(scope="module")
def anonymous(service: ServiceProcess) -> Iterator[Asker]:
    with closing(Asker(service)) as asker:
        yield asker


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    folder = tmp_path_factory.mktemp("keyed")
    file = folder / "api-keys.json"
    key = add_api_key(file, "acme")
    guard = f"sqlite:{folder / 'guard.db'}"
    with start_service(folder, api_keys=str(file), guard=guard) as service, closing(Asker(service, key)) as asker:
        yield asker


@pytest.fixture(params=["anonymous", "keyed"])
def asker(request: pytest.FixtureRequest) -> Asker:
    found: Asker = request.getfixturevalue(request.param)
    return found


def with_body(asker: Asker) -> list[str]:
    """The routes that read JSON."""
    paths = asker.document["paths"]
    return [
        path
        for path, verbs in paths.items()
        if "application/json" in verbs.get("post", {}).get("requestBody", {}).get("content", {})
    ]


def test_examples_are_answered_as_it_says(asker: Asker) -> None:
    tried = 0
    for path, verbs in asker.document["paths"].items():
        for verb, operation in verbs.items():
            if verb == "get":
                shown = {one["name"]: one["example"] for one in operation["parameters"] if one.get("required")}
                tag = asker.ask("GET", path, params=shown).headers["etag"]
                assert asker.ask("GET", path, params=shown, headers={"if-none-match": tag}).status_code == 304
            for kind, content in operation.get("requestBody", {}).get("content", {}).items():
                assert content["examples"], path
                for example in content["examples"].values():
                    value = example["value"]
                    body = json.dumps(value) if kind == "application/json" else value
                    answer = asker.ask("POST", path, content=body.encode(), headers={"content-type": kind})
                    assert answer.status_code == 200, answer.text
                    tried += 1
    assert tried >= 14
    assert asker.post("/v1/roll", b"4d6", headers={"accept": "application/json"}).json()["digest"]


def test_examples_of_requests_and_answers_fit_their_schemas(asker: Asker) -> None:
    shown = 0
    for verbs in asker.document["paths"].values():
        for operation in verbs.values():
            parts = [operation.get("requestBody", {}), *operation["responses"].values()]
            for content in (one for part in parts for one in part.get("content", {}).values()):
                for example in content.get("examples", {}).values():
                    value = example["value"]
                    for each in map(json.loads, value.splitlines()) if "x-item-schema" in content else [value]:
                        asker.valid(each, content.get("x-item-schema", content["schema"]))
                        shown += 1
    assert shown >= 20


def test_every_route_refuses_as_it_says(asker: Asker) -> None:
    bodies = [b"[", b"[]", b'{"x":1}', b'{"a":1,"a":2}', b"[" * 5000, b"\xff", b"{}"]
    for path in with_body(asker):
        for body in bodies:
            assert asker.post(path, body).status_code in (400, 200)
        assert asker.post(path, b"{}", headers={"content-type": "text/xml"}).status_code == 415
        assert asker.post(path, b" " * (2**20 + 1)).status_code == 413
    assert asker.ask("POST", "/v1/rolls:stream", content=b"", headers={"content-type": "text/xml"}).status_code == 415
    packed = asker.ask("POST", "/v1/roll", content=b"", headers={"content-encoding": "gzip"})
    assert packed.json()["reason"] == "MEDIA_TYPE_UNSUPPORTED"
    assert asker.ask("POST", "/v1/roll", content=b"\xff").json()["reason"] == "TEXT_INVALID"
    assert asker.ask("POST", "/v1/roll", content=b" " * (2**20 + 1)).status_code == 413
    for query in ({"check": "4d"}, {"check": "1d6", "quantity": "none"}, {"chek": "1d6"}, {"check": "{"}, {}):
        assert asker.ask("GET", "/v1/odds.svg", params=query).status_code == 400
    assert asker.ask("GET", "/v1/odds.svg", params=[("check", "1d6")] * 2).json()["reason"] == "QUERY_REPEATED"
    for path in ("/v1/odds.svg",) if asker.key else ():
        assert asker.ask("GET", path, headers={"x-api-key": ""}).status_code == 401
    strange = roll(notation("d6"), session={"table": "x", "tenant": "other"})
    assert asker.post("/v1/rolls", strange).json()["reason"] == "TENANT_MISMATCH"
    assert asker.post("/v1/rolls:seal", {"roll": strange}).json()["reason"] == "TENANT_MISMATCH"
    lines = b'{\n{"itemId":"x"}\n' + json.dumps({"request": roll(notation("4d"))}).encode()
    refused = asker.ask("POST", "/v1/rolls:stream", content=lines, headers=LINES).text.splitlines()
    details = [json.loads(line)["status"]["details"] for line in refused]
    assert [one[0]["reason"] for one in details] == ["JSON_UNREADABLE", "REQUIRED", "NOTATION_SYNTAX"]
    assert [one["@type"].rpartition(".")[2] for one in details[2]] == ["ErrorInfo", "BadRequest", "NotationViolation"]


@pytest.mark.parametrize("case", REFUSED, ids=[case[0] for case in REFUSED])
def test_a_refused_roll_is_told(anonymous: Asker, case: tuple[Any, ...]) -> None:
    assert anonymous.post("/v1/rolls", case[1]).json()["reason"] == case[2]


def test_refused_notation_is_told(anonymous: Asker) -> None:
    for text, reason, _ in REFUSALS:
        if re.search("[\ud800-\udfff]", text):
            continue  # no UTF-8 holds it
        assert anonymous.post("/v1/rolls", roll(notation(text))).json()["reason"] == reason
        assert anonymous.ask("POST", "/v1/roll", content=text.encode()).json()["reason"] == reason
        assert anonymous.post("/v1/odds", {"check": notation(text)}).json()["reason"] == reason
        answer = anonymous.post("/v1/notation:parse", {"check": {"text": text}})
        assert answer.json()["error"]["code"] == reason


@pytest.mark.parametrize("request_json", ACCEPTED.values(), ids=ACCEPTED)
def test_what_is_accepted_is_told(anonymous: Asker, request_json: dict[str, Any]) -> None:
    rolled = anonymous.post("/v1/rolls", request_json).json()
    bundle = {"envelope": rolled["envelope"]}
    assert anonymous.post("/v1/rolls:verify", {"bundle": bundle}).json()["verified"] is True
    assert anonymous.post("/v1/sessions:verify", {"bundles": [bundle]}).json()["sessions"]
    broken = {"envelope": {**rolled["envelope"], "signatures": []}}
    assert anonymous.post("/v1/rolls:verify", {"bundle": broken}).json()["verified"] is False


def test_a_decision_that_waits_and_its_answer_are_told(anonymous: Asker) -> None:
    asked = {"crossroads": {"skillRoll": {"advantage": 1, "removal": "REMOVAL_POLICY_ASK"}}}
    first = anonymous.post("/v1/rolls", {"session": {"table": "asked"}, "checks": [asked]}).json()
    (decision,) = first["record"]["outcomes"][0]["decisions"]
    answer = {
        "session": first["record"]["session"],
        "seq": "1",
        "previous": first["digest"],
        "root": first["digest"],
        "continues": first["digest"],
        "answers": [{"decisionId": decision["id"], "optionId": decision["options"][0]["id"]}],
        "chain": [first["envelope"]],
    }
    second = anonymous.post("/v1/rolls", answer)
    assert second.status_code == 200, second.text
    spoilt = {**answer, "chain": [{**first["envelope"], "signatures": []}]}
    assert anonymous.post("/v1/rolls", spoilt).json()["reason"] == "SIGNATURE_COUNT"


def test_a_guard_and_keys_refuse_as_it_says(keyed: Asker) -> None:
    for path, verbs in keyed.document["paths"].items():
        if "security" in verbs.get("post", {}):
            for shown, reason in (({"x-api-key": ""}, "API_KEY_MISSING"), ({"x-api-key": "frk_x"}, "API_KEY_UNKNOWN")):
                assert keyed.ask("POST", path, content=b"{}", headers=shown).json()["reason"] == reason
    session = {"session": {"table": "once"}}
    assert keyed.post("/v1/rolls", roll(notation("d6"), **session)).status_code == 200
    used = keyed.post("/v1/rolls", roll(notation("d8"), **session)).json()
    assert (used["status"], used["reason"]) == (409, "SEQ_USED")
    assert keyed.post("/v1/rolls:seal", {"roll": roll(notation("d8"), **session)}).json()["reason"] == "SEQ_USED"
    session_of = keyed.post("/v1/rolls", roll(notation("d6"), session={"table": "gap"})).json()["record"]["session"]
    gap = roll(notation("d6"), session=session_of, seq=5, previous="ab" * 32)
    assert keyed.post("/v1/rolls", gap).json()["reason"] == "SEQ_GAP"


def test_a_route_tells_of_no_reason_that_only_others_give(anonymous: Asker, keyed: Asker) -> None:
    told = {asker: json.dumps(asker.document["paths"]) for asker in (anonymous, keyed)}
    for reason in (
        "SETTINGS_INVALID",
        "API_KEY_FILE_INVALID",
        "DRAINING",
        "BODY_UNREADABLE",
        "ROUTE_UNKNOWN",
        "SEED_LENGTH",
    ):
        assert all(f'"{reason}"' not in one for one in told.values()), reason
    assert '"API_KEY_MISSING"' not in told[anonymous]
    assert '"SEQ_USED"' not in told[anonymous]
    assert '"SEQ_USED"' in told[keyed]
    responses = {
        path: set(verbs["get"]["responses"]) for path, verbs in keyed.document["paths"].items() if "get" in verbs
    }
    picture = responses.pop("/v1/odds.svg")
    assert picture == {"200", "304", "400", "401", "500", "503", "504"}
    assert set(map(frozenset, responses.values())) == {frozenset({"200", "304", "500"})}


def test_every_status_that_it_tells_of_can_be_brought_about(anonymous: Asker, keyed: Asker) -> None:
    test_a_guard_and_keys_refuse_as_it_says(keyed)
    for asker in (anonymous, keyed):
        test_examples_are_answered_as_it_says(asker)
        test_every_route_refuses_as_it_says(asker)
        for path, verbs in asker.document["paths"].items():
            for verb, operation in verbs.items():
                # But our own failures, those of the guard's store, which test_guard_faults.py brings about, and odds
                # that take too long, which the tests of odds do.
                told = set(operation["responses"]) - {"500", "503", "504"}
                # A line is a one-off without a name: no guard knows it.
                assert asker.seen[verb.upper(), path] == told, (path, verb)
