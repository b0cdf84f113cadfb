"""DSSE: its vectors, one JSON form, and no byte that may change."""

import json
from base64 import urlsafe_b64decode
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairroll import signer
from fairroll.envelope import (
    KEY_LIST_TYPE,
    ROLL_RECORD_TYPE,
    Envelope,
    Signature,
    format_envelope,
    pae,
    parse_envelope,
    sign_envelope,
    verify_envelope,
)
from fairroll.errors import RequestError, Step, VerificationError

KEY, OTHER = signer.SigningKey(bytes(range(32))), signer.SigningKey(bytes(32))
KEYS = {"key": KEY.public_key, "other": OTHER.public_key}
ENVELOPE = sign_envelope(ROLL_RECORD_TYPE, b"payload \x00\xff", "key", KEY)
JSON = format_envelope(ENVELOPE)


def refused(envelope: Envelope, payload_type: str = ROLL_RECORD_TYPE) -> str:
    """The reason for which verification refuses."""
    with pytest.raises(VerificationError) as caught:
        verify_envelope(envelope, payload_type, KEYS)
    assert caught.value.step is Step.SIGNATURE
    return caught.value.reason


def test_dsse_vectors_have_the_pae_and_the_verdict_expected(dsse_case: dict[str, Any]) -> None:
    envelope, keys = dsse_case["envelope"], {name: bytes.fromhex(key) for name, key in dsse_case["keys"].items()}

    def decoded(text: str) -> bytes:
        return urlsafe_b64decode(text.replace("+", "-").replace("/", "_"))

    message = pae(envelope["payloadType"], decoded(envelope["payload"]))
    # That one gives the PAE that was signed, under the type before it was swapped.
    assert (message.hex() == dsse_case["pae"]) is (dsse_case["id"] != "payload-type-swapped")
    signed_by = set()
    for signature in envelope["signatures"]:
        for name in dsse_case["trustedKeys"]:
            try:
                signer.verify(keys[name], message, decoded(signature["sig"]))
            except VerificationError:
                continue
            signed_by.add(name)
    known_type = envelope["payloadType"] in dsse_case["supportedPayloadTypes"]
    accepted = known_type and len(signed_by) >= dsse_case["threshold"]
    assert accepted is (dsse_case["expect"] == "accept")


# What DSSE allows and we do not: another base64, several signatures, no key id.
STRICTER = {"url-safe-base64", "threshold-two-distinct-keys", "threshold-two-without-keyids"}


def test_dsse_vectors_pass_exactly_if_they_are_accepted_and_in_our_form(dsse_case: dict[str, Any]) -> None:
    kind = dsse_case["envelope"]["payloadType"]
    wanted = kind if kind in dsse_case["supportedPayloadTypes"] else ROLL_RECORD_TYPE
    keys = {name: bytes.fromhex(key) for name, key in dsse_case["keys"].items()}
    expected = dsse_case["expect"] == "accept" and dsse_case["id"] not in STRICTER
    try:
        verify_envelope(parse_envelope(json.dumps(dsse_case["envelope"]).encode()), wanted, keys)
    except (RequestError, VerificationError):
        assert not expected
    else:
        assert expected


def test_lengths_in_pae_are_of_bytes() -> None:
    assert pae("ä🎲", b"\xff") == "DSSEv1 6 ä🎲 1 ".encode() + b"\xff"
    assert pae("", b"") == b"DSSEv1 0  0 "


def test_a_signed_envelope_verifies_and_says_by_which_key() -> None:
    assert verify_envelope(ENVELOPE, ROLL_RECORD_TYPE, KEYS) == "key"


@given(st.binary(max_size=200))
def test_any_payload_is_signed_written_read_and_verified(payload: bytes) -> None:
    envelope = parse_envelope(format_envelope(sign_envelope(ROLL_RECORD_TYPE, payload, "other", OTHER)))
    assert envelope.payload == payload
    assert verify_envelope(envelope, ROLL_RECORD_TYPE, KEYS) == "other"


def test_any_flipped_byte_of_the_json_fails() -> None:
    for place in range(len(JSON)):
        for flip in (0x01, 0x20, 0x80):
            damaged = bytearray(JSON)
            damaged[place] ^= flip
            with pytest.raises((RequestError, VerificationError)):
                verify_envelope(parse_envelope(bytes(damaged)), ROLL_RECORD_TYPE, KEYS)


def test_any_byte_cut_off_or_appended_fails() -> None:
    for cut in range(len(JSON)):
        with pytest.raises(RequestError):
            parse_envelope(JSON[:cut])
    with pytest.raises(RequestError):
        parse_envelope(JSON + b"}")


def test_any_flipped_bit_of_payload_type_or_signature_fails() -> None:
    for place in range(len(ENVELOPE.payload) * 8):
        number = int.from_bytes(ENVELOPE.payload, "big") ^ 1 << place
        damaged = replace(ENVELOPE, payload=number.to_bytes(len(ENVELOPE.payload), "big"))
        assert refused(damaged) == "SIGNATURE_INVALID"
    assert refused(replace(ENVELOPE, payload_type=KEY_LIST_TYPE), KEY_LIST_TYPE) == "SIGNATURE_INVALID"


def test_a_type_that_the_caller_does_not_read_is_refused() -> None:
    assert refused(ENVELOPE, KEY_LIST_TYPE) == "PAYLOAD_TYPE"


def test_there_is_exactly_one_signature() -> None:
    signature = ENVELOPE.signatures[0]
    assert refused(replace(ENVELOPE, signatures=())) == "SIGNATURE_COUNT"
    assert refused(replace(ENVELOPE, signatures=(signature, signature))) == "SIGNATURE_COUNT"


def test_the_key_id_chooses_the_key_and_proves_nothing() -> None:
    sig = ENVELOPE.signatures[0].sig
    assert refused(replace(ENVELOPE, signatures=(Signature("unknown", sig),))) == "UNKNOWN_KEY"
    assert refused(replace(ENVELOPE, signatures=(Signature("other", sig),))) == "SIGNATURE_INVALID"


def test_the_digest_is_of_type_and_payload_and_not_of_the_signature() -> None:
    assert replace(ENVELOPE, signatures=()).digest == ENVELOPE.digest
    assert replace(ENVELOPE, payload=b"").digest != ENVELOPE.digest
    assert replace(ENVELOPE, payload_type="").digest != ENVELOPE.digest


def test_the_json_form_has_dsse_s_names() -> None:
    envelope = Envelope(b"hello", "text/plain", (Signature("k", b"\x00"),))
    text = b'{"payload":"aGVsbG8=","payloadType":"text/plain","signatures":[{"keyid":"k","sig":"AA=="}]}'
    assert format_envelope(envelope) == text
    assert parse_envelope(text) == envelope
    assert parse_envelope(json.dumps(json.loads(text), indent=2).encode()) == envelope


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (b"[]", "envelope"),
        (b'{"payload":"","payloadType":""}', "envelope.signatures"),
        (b'{"payload":"","payloadType":"","signatures":[],"x":1}', "envelope.x"),
        (b'{"payload":1,"payloadType":"","signatures":[]}', "envelope.payload"),
        (b'{"payload":"","payloadType":null,"signatures":[]}', "envelope.payloadType"),
        (b'{"payload":"","payloadType":"","signatures":{}}', "envelope.signatures"),
        (b'{"payload":"","payloadType":"","signatures":[{"keyid":"k"}]}', "envelope.signatures[0].sig"),
        (b'{"payload":"","payloadType":"","signatures":[{"sig":""}]}', "envelope.signatures[0].keyid"),
        (b'{"payload":"","payloadType":"","signatures":[{"keyid":"","sig":"!"}]}', "envelope.signatures[0].sig"),
        (
            b'{"payload":"","payloadType":"","signatures":[{"keyid":"","sig":"","cert":""}]}',
            "envelope.signatures[0].cert",
        ),
        (b'{"payload":"","payload":"","payloadType":"","signatures":[]}', ""),
    ],
)
def test_another_json_form_is_refused_where_it_differs(text: bytes, field: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_envelope(text)
    assert caught.value.field == field
