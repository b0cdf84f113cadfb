"""The six worked cases of fairroll/v1, every intermediate value."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from fairroll import hashing
from fairroll.ecvrf import VrfKey, verify
from fairroll.envelope import ROLL_RECORD_TYPE, pae, sign_envelope, verify_envelope
from fairroll.key_list import KeyUse, key_id
from fairroll.session import Anchor, Contribution, DrandRound, Participant, Session
from fairroll.signer import SigningKey
from fairroll.stream import Stream, draw, words
from tests.service.vector_files import read_vectors

VECTORS = read_vectors("protocol_v1.json")
VRF_KEY = VrfKey(bytes.fromhex(VECTORS["vrf_seed"]))
RECEIPT_KEY = SigningKey(bytes.fromhex(VECTORS["receipt_seed"]))

every_case = pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: str(case["name"]))


def contribution(hashed: bytes) -> Contribution:
    """The contribution that hashes so."""
    kind, rest = hashed[0], hashed[1:]
    if kind == 2:
        return DrandRound(rest[:32], int.from_bytes(rest[32:40], "big"), rest[40:])
    return Participant(rest) if kind == 1 else Anchor(rest)


def session_of(case: dict[str, Any]) -> Session:
    return Session(
        case["origin"],
        case["tenant"],
        case["table"],
        VECTORS["vrf_key_id"],
        tuple(contribution(bytes.fromhex(text)) for text in case["contributions"]),
    )


def test_keys_and_their_ids() -> None:
    assert VRF_KEY.public_key.hex() == VECTORS["vrf_pk"]
    assert RECEIPT_KEY.public_key.hex() == VECTORS["receipt_pk"]
    assert key_id(KeyUse.VRF, VRF_KEY.public_key) == VECTORS["vrf_key_id"]
    assert key_id(KeyUse.RECEIPT, RECEIPT_KEY.public_key) == VECTORS["receipt_key_id"]


@every_case
def test_session_id_co_and_alpha(case: dict[str, Any]) -> None:
    session = session_of(case)
    assert [part.hashed().hex() for part in session.contributions] == case["contributions"]
    session_id = session.session_id(VRF_KEY.public_key)
    assert session_id.hex() == case["session_id"]
    co = session.co(case["seq"], [bytes.fromhex(text) for text in case["reveals"]])
    assert co.hex() == case["co"]
    assert hashing.alpha(session_id, case["seq"], co).hex() == case["alpha"]


@every_case
def test_pi_and_beta(case: dict[str, Any]) -> None:
    alpha = bytes.fromhex(case["alpha"])
    pi, beta = VRF_KEY.prove(alpha)
    assert (pi.hex(), beta.hex()) == (case["pi"], case["beta"])
    assert verify(VRF_KEY.public_key, alpha, pi) == beta


@every_case
def test_words_and_draws(case: dict[str, Any]) -> None:
    beta = bytes.fromhex(case["beta"])
    assert list(islice(words(beta, 0), len(case["words"]))) == case["words"]
    stream = Stream(beta, 0)
    assert [[n, stream.draw(n)] for n, _ in case["draws"]] == case["draws"]


@every_case
def test_words_used(case: dict[str, Any]) -> None:
    used = 0

    def counted() -> Iterator[int]:
        nonlocal used
        for word in words(bytes.fromhex(case["beta"]), 0):
            used += 1
            yield word

    source = counted()
    for n, _ in case["draws"]:
        draw(source, n)
    assert used == case["words_used"]


@every_case
def test_signature_and_digest(case: dict[str, Any]) -> None:
    payload = bytes.fromhex(case["payload"])
    envelope = sign_envelope(ROLL_RECORD_TYPE, payload, VECTORS["receipt_key_id"], RECEIPT_KEY)
    assert envelope.signatures[0].sig.hex() == case["sig"] == RECEIPT_KEY.sign(pae(ROLL_RECORD_TYPE, payload)).hex()
    assert envelope.digest == case["digest"]
    keys = {VECTORS["receipt_key_id"]: RECEIPT_KEY.public_key}
    assert verify_envelope(envelope, ROLL_RECORD_TYPE, keys) == VECTORS["receipt_key_id"]
