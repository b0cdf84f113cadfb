"""The signed key list: one spelling, one signer, and no way back."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fairroll.envelope import KEY_LIST_TYPE, ROLL_RECORD_TYPE, Envelope, sign_envelope
from fairroll.errors import RequestError, Step, VerificationError
from fairroll.key_list import (
    Key,
    KeyList,
    KeyStatus,
    KeyUse,
    check_successor,
    format_key_list,
    key_id,
    parse_key_list,
    sign_key_list,
    verify_key_list,
)
from fairroll.signer import SigningKey

ROOT = SigningKey(bytes(32))
ROOT_ID = key_id(KeyUse.ROOT, ROOT.public_key)
VRF = Key(KeyUse.VRF, b"v" * 32, 1)
RECEIPT = Key(KeyUse.RECEIPT, b"r" * 32, 1, KeyStatus.RETIRED, development=True)
KEY_LIST = KeyList("rolls.example/v1", 7, (VRF, RECEIPT))
PAYLOAD = format_key_list(KEY_LIST)


def refused(envelope: Envelope) -> str:
    """The reason for which verification refuses."""
    with pytest.raises(VerificationError) as caught:
        verify_key_list(envelope, ROOT.public_key)
    assert caught.value.step is Step.KEY_LIST
    return caught.value.reason


def signed(payload: bytes) -> Envelope:
    return sign_envelope(KEY_LIST_TYPE, payload, ROOT_ID, ROOT)


def test_the_spelling_is_fixed() -> None:
    spelled = (
        b'{"origin":"rolls.example/v1","list_version":7,"keys":['
        b'{"key_id":"' + VRF.key_id.encode() + b'","use":"vrf","alg":"ECVRF-EDWARDS25519-SHA512-TAI",'
        b'"public_key":"dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnY=","epoch":1,"status":"active","development":false},'
        b'{"key_id":"' + RECEIPT.key_id.encode() + b'","use":"receipt","alg":"Ed25519",'
        b'"public_key":"cnJycnJycnJycnJycnJycnJycnJycnJycnJycnJycnI=","epoch":1,"status":"retired","development":true}]}'
    )
    assert spelled == PAYLOAD


def test_what_is_written_is_read_again() -> None:
    assert parse_key_list(PAYLOAD) == KEY_LIST


def test_what_the_root_signed_verifies() -> None:
    assert verify_key_list(sign_key_list(ROOT, KEY_LIST), ROOT.public_key) == KEY_LIST


def test_the_id_follows_from_use_and_key() -> None:
    assert key_id(KeyUse.VRF, b"v" * 32) == VRF.key_id != key_id(KeyUse.RECEIPT, b"v" * 32)


def test_a_key_is_found_by_id_and_use() -> None:
    assert KEY_LIST.find(VRF.key_id, KeyUse.VRF) is VRF
    assert KEY_LIST.find(VRF.key_id, KeyUse.RECEIPT) is None
    assert KEY_LIST.find("", KeyUse.VRF) is None


Edit = Callable[[Any], object]


@pytest.mark.parametrize(
    "edit",
    [
        lambda value: value.pop("origin"),
        lambda value: value.update(extra=1),
        lambda value: value.update(origin=""),
        lambda value: value.update(list_version=0),
        lambda value: value.update(list_version=True),
        lambda value: value.update(list_version="7"),
        lambda value: value.update(keys={}),
        lambda value: value["keys"].append(value["keys"][0]),
        lambda value: value["keys"][0].pop("development"),
        lambda value: value["keys"][0].update(extra=1),
        lambda value: value["keys"][0].update(key_id=RECEIPT.key_id),
        lambda value: value["keys"][0].update(use="root"),
        lambda value: value["keys"][0].update(use="receipt"),
        lambda value: value["keys"][0].update(use="VRF"),
        lambda value: value["keys"][0].update(alg="Ed25519"),
        lambda value: value["keys"][0].update(public_key="dnZ2"),
        lambda value: value["keys"][0].update(epoch=0),
        lambda value: value["keys"][0].update(status="stolen"),
        lambda value: value["keys"][0].update(development=0),
    ],
)
def test_a_field_that_is_missing_unknown_or_wrong_is_refused(edit: Edit) -> None:
    value = json.loads(PAYLOAD)
    edit(value)
    payload = json.dumps(value, separators=(",", ":")).encode()
    with pytest.raises(RequestError):
        parse_key_list(payload)
    refused(signed(payload))


@pytest.mark.parametrize(
    "payload",
    [
        PAYLOAD + b"\n",
        b" " + PAYLOAD,
        PAYLOAD.replace(b":7", b": 7"),
        PAYLOAD.replace(b"rolls", b"\\u0072olls"),
        json.dumps(json.loads(PAYLOAD), separators=(",", ":"), sort_keys=True).encode(),
    ],
)
def test_another_spelling_of_the_same_list_is_refused(payload: bytes) -> None:
    assert json.loads(payload) == json.loads(PAYLOAD)
    assert refused(signed(payload)) == "KEY_LIST_NOT_CANONICAL"


def test_only_the_root_signs_and_only_as_a_key_list() -> None:
    assert refused(sign_key_list(SigningKey(b"x" * 32), KEY_LIST)) == "UNKNOWN_KEY"
    assert refused(sign_envelope(KEY_LIST_TYPE, PAYLOAD, ROOT_ID, SigningKey(b"x" * 32))) == "SIGNATURE_INVALID"
    assert refused(sign_envelope(ROLL_RECORD_TYPE, PAYLOAD, ROOT_ID, ROOT)) == "PAYLOAD_TYPE"


def test_the_root_key_and_a_key_for_two_uses_may_not_be_listed() -> None:
    listed = replace(KEY_LIST, keys=(Key(KeyUse.RECEIPT, ROOT.public_key, 1),))
    assert refused(sign_key_list(ROOT, listed)) == "ROOT_KEY_LISTED"
    with pytest.raises(RequestError) as caught:
        KeyList("o", 1, (VRF, Key(KeyUse.RECEIPT, VRF.public_key, 1)))
    assert caught.value.reason == "DUPLICATE_KEY"
    with pytest.raises(RequestError):
        Key(KeyUse.ROOT, ROOT.public_key, 1)


def test_a_successor_may_add_keys_and_lower_trust() -> None:
    added = Key(KeyUse.VRF, b"w" * 32, 2)
    for status in KeyStatus:
        newer = replace(KEY_LIST, list_version=9, keys=(replace(VRF, status=status), RECEIPT, added))
        check_successor(KEY_LIST, newer)


@pytest.mark.parametrize(
    ("newer", "reason"),
    [
        (KEY_LIST, "KEY_LIST_OLDER"),
        (replace(KEY_LIST, list_version=6), "KEY_LIST_OLDER"),
        (replace(KEY_LIST, list_version=8, keys=(VRF,)), "KEY_DROPPED"),
        (replace(KEY_LIST, list_version=8, keys=(replace(VRF, epoch=2), RECEIPT)), "KEY_CHANGED"),
        (replace(KEY_LIST, list_version=8, keys=(VRF, replace(RECEIPT, development=False))), "KEY_CHANGED"),
        (replace(KEY_LIST, list_version=8, keys=(VRF, replace(RECEIPT, status=KeyStatus.ACTIVE))), "KEY_REVIVED"),
    ],
)
def test_a_successor_is_newer_drops_no_key_and_raises_no_trust(newer: KeyList, reason: str) -> None:
    with pytest.raises(VerificationError) as caught:
        check_successor(KEY_LIST, newer)
    assert caught.value.reason == reason
