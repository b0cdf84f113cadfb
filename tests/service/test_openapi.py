"""The gateway's document says what the descriptors say, and its examples work as they stand."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from google.protobuf.descriptor import Descriptor

from fairroll.v1 import roll_pb2, service_pb2
from tests.service.process import ServiceProcess

PLACE = "#/components/schemas/"
PACKAGE = "fairroll.v1."
SERVICE = service_pb2.DESCRIPTOR.services_by_name["RollService"]


@pytest.fixture(scope="module")
def client(service: ServiceProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.rest, trust_env=False, timeout=30) as opened:
        yield opened


@pytest.fixture(scope="module")
def document(client: httpx.Client) -> dict[str, Any]:
    loaded: dict[str, Any] = client.get("/openapi.json").json()
    return loaded


def messages_of_the_contract() -> dict[str, Descriptor]:
    """Every message of our package that a call takes or gives, by its name in the document."""
    found: dict[str, Descriptor] = {}

    def add(descriptor: Descriptor) -> None:
        name = descriptor.full_name.removeprefix(PACKAGE)
        if name in found or not descriptor.full_name.startswith(PACKAGE):
            return
        found[name] = descriptor
        for field in descriptor.fields:
            if field.message_type is not None:
                add(field.message_type)

    for call in SERVICE.methods:
        # What is public is asked for without a body; a stream's lines are named in words.
        if not call.client_streaming:
            add(call.output_type)
        if call.name not in {"ListSystems", "GetLimits", "GetKeyList"} and not call.client_streaming:
            add(call.input_type)
    return found


def test_every_call_of_the_contract_has_a_route(document: dict[str, Any]) -> None:
    ids = {operation["operationId"] for path in document["paths"].values() for operation in path.values()}
    assert ids >= {call.name for call in SERVICE.methods}


def test_every_message_has_its_fields_and_no_others(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for name, descriptor in messages_of_the_contract().items():
        assert set(schemas[name]["properties"]) == {field.json_name for field in descriptor.fields}, name
        assert schemas[name]["additionalProperties"] is False


def test_every_enum_has_its_values_and_no_others(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for descriptor in messages_of_the_contract().values():
        for field in descriptor.fields:
            if field.enum_type is not None:
                # With the zeros, which answers print.
                names = {value.name for value in field.enum_type.values}
                schema = schemas[field.enum_type.full_name.removeprefix(PACKAGE)]
                assert {one["const"] for one in schema["oneOf"]} == names


def test_every_field_has_the_words_of_the_contract(document: dict[str, Any]) -> None:
    for name in messages_of_the_contract():
        schema = document["components"]["schemas"][name]
        assert schema["description"], name
        for field, property_ in schema["properties"].items():
            assert property_["description"], f"{name}.{field}"


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    named = set(re.findall(rf'"{PLACE}([^"]+)"', str(document).replace("'", '"')))
    assert named
    assert named <= set(schemas)


def test_every_example_of_a_request_works_as_it_stands(document: dict[str, Any], client: httpx.Client) -> None:
    tried = 0
    for path, operations in document["paths"].items():
        content = operations.get("post", {}).get("requestBody", {}).get("content", {})
        for media_type, described in content.items():
            for name, example in described.get("examples", {}).items():
                body = example["value"]
                kind: dict[str, Any] = {"json": body} if media_type == "application/json" else {"content": body}
                answer = client.post(path, **kind)
                assert answer.status_code == 200, (path, name, answer.text)
                tried += 1
    assert tried >= 12


def test_there_is_an_example_for_each_system(document: dict[str, Any]) -> None:
    content = document["paths"]["/v1/rolls"]["post"]["requestBody"]["content"]["application/json"]
    shown = {arm for one in content["examples"].values() for check in one["value"]["checks"] for arm in check}
    oneof = roll_pb2.Check.DESCRIPTOR.oneofs_by_name["system"]
    assert shown >= {field.json_name for field in oneof.fields}


def test_the_receipt_of_the_examples_verifies(document: dict[str, Any], client: httpx.Client) -> None:
    content = document["paths"]["/v1/rolls:verify"]["post"]["requestBody"]["content"]["application/json"]
    for example in content["examples"].values():
        assert client.post("/v1/rolls:verify", json=example["value"]).json()["verified"] is True


def test_the_page_loads_nothing_from_elsewhere(client: httpx.Client) -> None:
    page = client.get("/", follow_redirects=True)
    assert page.headers["content-security-policy"].startswith("default-src 'self';")
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert [one for one in loaded if not one.startswith(("/docs/", "data:"))] == []
    for one in loaded:
        if one.startswith("/docs/"):
            assert client.get(one).status_code == 200
