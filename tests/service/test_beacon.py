"""Rounds of drand's quicknet, as its members published them, and what is none of them.

Rounds 1000 and 657413 are facts: they stand in the tests and READMEs of drand's own and several other verifiers
(round 1000 also at https://api.drand.sh/52db9ba7.../public/1000).
"""

import sys
from datetime import UTC, datetime

import pytest

from fairroll import beacon
from fairroll.beacon import QUICKNET, check_round
from fairroll.errors import RequestError
from fairroll.v1 import session_pb2

ROUNDS = {
    1000: (
        "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
        "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd",
    ),
    657413: (
        "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b",
        "fc1873a13f3545aeade8401532ef5519920652eee6b0d2b19ca12643b87b3587",
    ),
}


def published(number: int, *, signed_as: int | None = None) -> session_pb2.BeaconRound:
    """A round; with `signed_as`, another round's signature under its number."""
    signature, randomness = map(bytes.fromhex, ROUNDS[signed_as or number])
    return session_pb2.BeaconRound(
        chain_hash=QUICKNET.chain_hash, round=number, randomness=randomness, signature=signature
    )


@pytest.mark.parametrize("number", ROUNDS)
def test_a_published_round_is_what_its_beacon_signed(number: int) -> None:
    assert check_round(published(number)) == ""


@pytest.mark.parametrize(("number", "signed_as"), [(1000, 657413), (657413, 1000), (1001, 1000)])
def test_the_signature_of_another_round_is_refused(number: int, signed_as: int) -> None:
    with pytest.raises(RequestError) as refused:
        check_round(published(number, signed_as=signed_as))
    assert (refused.value.reason, refused.value.value) == ("BEACON_INVALID", str(number))


def test_randomness_of_ones_own_is_refused_even_where_nothing_else_can_be_checked() -> None:
    for chain_hash in (QUICKNET.chain_hash, bytes(32)):
        shown = published(1000)
        shown.chain_hash, shown.randomness = chain_hash, bytes(32)
        with pytest.raises(RequestError, match="randomness"):
            check_round(shown)


@pytest.mark.parametrize("signature", [b"\0" * 48, b"\xc0" + bytes(47), b"\xff" * 48, b"\x80" * 96])
def test_what_is_no_point_of_the_group_or_its_identity_is_refused(signature: bytes) -> None:
    from hashlib import sha256

    shown = published(1000)
    shown.signature, shown.randomness = signature, sha256(signature).digest()
    with pytest.raises(RequestError, match="the signature is not that of quicknet"):
        check_round(shown)


def test_what_cannot_be_judged_is_said_and_is_not_taken_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    unsigned = published(1000)
    unsigned.ClearField("signature")
    assert "without its signature" in check_round(unsigned)
    unknown = published(1000)
    unknown.chain_hash = bytes(32)
    assert "does not know the beacon" in check_round(unknown)
    beacon._signed.cache_clear()
    monkeypatch.setitem(sys.modules, "py_arkworks_bls12381", None)
    assert check_round(published(1000)) == "not checked: install fairroll[beacon]"
    beacon._signed.cache_clear()


def test_a_round_has_its_time() -> None:
    assert QUICKNET.time_of(1) == datetime(2023, 8, 23, 15, 9, 27, tzinfo=UTC)
    assert QUICKNET.time_of(1000) == datetime(2023, 8, 23, 15, 59, 24, tzinfo=UTC)
    assert QUICKNET.time_of(2**64 - 1).year == 9999
