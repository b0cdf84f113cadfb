"""The tagged hash keeps parts and purposes apart."""

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from fairroll import hashing
from fairroll.hashing import tagged_hash


def test_a_tagged_hash_is_sha_256_over_tag_and_parts_with_their_lengths() -> None:
    assert tagged_hash(b"t", b"", b"ab") == sha256(b"\0\0\0\1t\0\0\0\0\0\0\0\2ab").digest()


@given(st.lists(st.binary(max_size=4), max_size=4), st.lists(st.binary(max_size=4), max_size=4))
def test_other_parts_give_another_hash(first: list[bytes], second: list[bytes]) -> None:
    assert (tagged_hash(b"t", *first) == tagged_hash(b"t", *second)) is (first == second)


def test_every_purpose_has_a_label_of_its_own() -> None:
    labels = [value for name, value in vars(hashing).items() if name.endswith("_TAG")]
    assert len(labels) == len(set(labels)) == 10
    assert all(label.startswith(b"fairroll/v1/") for label in labels)


def test_alpha_has_90_bytes() -> None:
    alpha = hashing.alpha(b"s" * 32, 2**53 - 1, b"c" * 32)
    assert alpha == b"fairroll/v1/alpha\0" + b"s" * 32 + bytes.fromhex("001fffffffffffff") + b"c" * 32
    assert len(alpha) == 90


def test_a_chain_step_is_the_tagged_hash() -> None:
    value = b"v" * 32
    assert hashing.chain_back(value, 0) == value
    once = tagged_hash(b"fairroll/v1/chain", value)
    assert hashing.chain_back(value, 1) == once
    assert hashing.chain_back(value, 2) == tagged_hash(b"fairroll/v1/chain", once)


def test_co_is_zero_without_reveals_and_depends_on_their_order() -> None:
    assert hashing.co([]) == bytes(32)
    assert hashing.co([b"a" * 32, b"b" * 32]) == tagged_hash(b"fairroll/v1/co", b"a" * 32, b"b" * 32)
    assert hashing.co([b"a" * 32, b"b" * 32]) != hashing.co([b"b" * 32, b"a" * 32])


def test_commit_one_off_and_request_digest_are_tagged_hashes_of_their_parts() -> None:
    assert hashing.commit(b"e") == tagged_hash(b"fairroll/v1/commit", b"e")
    assert hashing.one_off_value("tä", "r") == tagged_hash(b"fairroll/v1/one-off", b"t\xc3\xa4", b"r")
    assert hashing.request_digest(b"s", b"r") == tagged_hash(b"fairroll/v1/request", b"s", b"r")


def test_a_key_id_is_base64url_without_padding_and_depends_on_the_use() -> None:
    ids = {hashing.key_id(use, b"k" * 32) for use in ("vrf", "receipt", "root")}
    assert len(ids) == 3
    assert {len(key_id) for key_id in ids} == {43}
