"""Ed25519: RFC 8032's vectors, Wycheproof's, and exact lengths."""

from typing import Any

import pytest

from fairroll.errors import RequestError, Step, VerificationError
from fairroll.signer import SigningKey, verify
from tests.service.vector_files import read_vectors

RFC_VECTORS = read_vectors("rfc8032_ed25519.json")["vectors"]
KEY = SigningKey(bytes(range(32)))
MESSAGE = b"message"
SIGNATURE = KEY.sign(MESSAGE)


@pytest.mark.parametrize("vector", RFC_VECTORS, ids=lambda vector: str(vector["name"]))
def test_rfc_8032_vectors_hold(vector: dict[str, str]) -> None:
    key, message = SigningKey(bytes.fromhex(vector["secret_key"])), bytes.fromhex(vector["message"])
    assert key.public_key.hex() == vector["public_key"]
    assert key.sign(message).hex() == vector["signature"]
    verify(key.public_key, message, key.sign(message))


def test_wycheproof_verdicts_hold(wycheproof_case: dict[str, Any]) -> None:
    public_key, message, signature = (bytes.fromhex(wycheproof_case[name]) for name in ("public_key", "msg", "sig"))
    if wycheproof_case["result"] == "valid":
        verify(public_key, message, signature)
        return
    with pytest.raises(VerificationError):
        verify(public_key, message, signature)


@pytest.mark.parametrize(
    ("public_key", "message", "signature"),
    [
        (KEY.public_key, MESSAGE, SIGNATURE[:-1]),
        (KEY.public_key, MESSAGE[1:], SIGNATURE + MESSAGE[:1]),
        (KEY.public_key[:-1], MESSAGE, SIGNATURE),
        (KEY.public_key, MESSAGE + b"\0", SIGNATURE),
        (SigningKey(bytes(32)).public_key, MESSAGE, SIGNATURE),
    ],
)
def test_a_wrong_length_message_or_key_is_refused(public_key: bytes, message: bytes, signature: bytes) -> None:
    with pytest.raises(VerificationError) as caught:
        verify(public_key, message, signature)
    assert caught.value.step is Step.SIGNATURE


def test_the_error_names_the_step_that_the_caller_is_in() -> None:
    with pytest.raises(VerificationError) as caught:
        verify(KEY.public_key, MESSAGE, bytes(64), Step.KEY_LIST)
    assert caught.value.step is Step.KEY_LIST


def test_every_flipped_bit_of_a_signature_is_refused() -> None:
    for bit in range(512):
        flipped = (int.from_bytes(SIGNATURE, "little") ^ 1 << bit).to_bytes(64, "little")
        with pytest.raises(VerificationError):
            verify(KEY.public_key, MESSAGE, flipped)


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_a_seed_has_32_bytes(size: int) -> None:
    with pytest.raises(RequestError):
        SigningKey(bytes(size))
