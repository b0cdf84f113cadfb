"""The record and its bytes, the request digest, and the bundle file."""

import json
from hashlib import sha256

import pytest

from fairroll.bundle import Bundle, bundle_message, format_bundle, parse_bundle, read_bundle
from fairroll.envelope import Envelope
from fairroll.errors import RequestError, Step, VerificationError
from fairroll.receipt import envelope_message, is_digest, parse_record, read_envelope, request_digest, serialise
from fairroll.v1 import envelope_pb2, roll_pb2
from tests.service.rolling import TENANT, bundle_of, notation, record_of, request, roller

SESSION_ID = bytes(range(32))


@pytest.fixture
def bundle() -> Bundle:
    return bundle_of(roller().roll(request("4d6kh3"), TENANT))


# Records


def test_a_record_is_read_as_it_was_written(bundle: Bundle) -> None:
    record = parse_record(bundle.envelope.payload)
    assert serialise(record) == bundle.envelope.payload


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"\x0b", "RECORD_UNREADABLE"),
        (b"", "RECORD_INVALID"),
        (b"\x08\x02", "RECORD_NEWER"),
        (b"\x08\x02\xff\x01", "RECORD_UNREADABLE"),
        (b"\x08\x81\x00", "RECORD_NOT_CANONICAL"),
        (bytes(1024 * 1024 + 1), "RECORD_TOO_LARGE"),
    ],
)
def test_what_is_no_record_is_refused_at_its_step(payload: bytes, reason: str) -> None:
    with pytest.raises(VerificationError) as refused:
        parse_record(payload)
    assert (refused.value.step, refused.value.reason) == (Step.PARSE, reason)


def test_the_request_digest_is_that_of_the_protocol() -> None:
    """Written out from section 5; the bytes of the request are protobuf's own, by hand."""
    asked = roll_pb2.RollRequest(previous="0" * 64, checks=notation("d6"), seq=3, reveals=[bytes(32)])
    encoded = b"\x10\x03" + b"\x1a\x40" + b"0" * 64 + b"\x32\x06\x52\x04\x0a\x02d6"
    tag = b"fairroll/v1/request"
    parts = (tag, SESSION_ID, encoded)
    expected = sha256(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).digest()
    assert request_digest(SESSION_ID, asked) == expected
    assert len(asked.reveals) == 1


@pytest.mark.parametrize("text", ["AB" * 32, "ab" * 31, "ab" * 32 + "\n", "", "é" * 64, "٣" * 64])
def test_a_digest_has_one_spelling(text: str) -> None:
    assert not is_digest(text)
    assert is_digest("0f" * 32)


def test_an_envelope_survives_as_a_message(bundle: Bundle) -> None:
    assert read_envelope(envelope_message(bundle.envelope)) == bundle.envelope


# Bundles


def test_a_bundle_survives_as_a_file_and_as_a_message(bundle: Bundle) -> None:
    chained = Bundle(bundle.envelope, (bundle.envelope,), bundle.key_list)
    assert parse_bundle(format_bundle(chained)) == chained
    assert read_bundle(bundle_message(chained)) == chained


def test_a_bundle_file_is_dsse_under_the_contracts_names(bundle: Bundle) -> None:
    document = json.loads(format_bundle(bundle))
    assert list(document) == ["envelope", "chain", "keyList"]
    assert list(document["envelope"]) == ["payload", "payloadType", "signatures"]


def test_a_bundle_without_its_key_list_is_not_written(bundle: Bundle) -> None:
    with pytest.raises(RequestError):
        format_bundle(Bundle(bundle.envelope))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"chain": None}, "bundle.chain"),
        ({"envelope": []}, "bundle.envelope"),
        ({"keyList": {}}, "bundle.keyList.payload"),
        ({"extra": 1}, "bundle.extra"),
    ],
)
def test_a_bundle_that_is_none_is_refused_by_its_field(bundle: Bundle, change: dict[str, object], field: str) -> None:
    document = json.loads(format_bundle(bundle)) | change
    with pytest.raises(RequestError) as refused:
        parse_bundle(json.dumps(document).encode())
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("chain", "limit"),
    [((Envelope(b"", "", ()),) * 33, "chain"), ((Envelope(bytes(256 * 1024 + 1), "", ()),), "chain_bytes")],
)
def test_a_chain_beyond_its_limits_is_refused(bundle: Bundle, chain: tuple[Envelope, ...], limit: str) -> None:
    with pytest.raises(RequestError) as refused:
        Bundle(bundle.envelope, chain)
    assert (refused.value.reason, refused.value.limit) == ("LIMIT_EXCEEDED", limit)


def test_a_message_without_a_receipt_is_no_bundle() -> None:
    with pytest.raises(RequestError) as refused:
        read_bundle(envelope_pb2.Bundle())
    assert refused.value.field == "bundle.envelope"


def test_a_record_does_not_grow_with_what_is_derived(bundle: Bundle) -> None:
    """Texts, digest and time stand beside the envelope: better wording changes no signed byte."""
    response = roller().roll(request("4d6kh3"), TENANT)
    assert response.texts[0].line.encode() not in response.envelope.payload
    assert serialise(record_of(response)) == response.envelope.payload == bundle.envelope.payload
