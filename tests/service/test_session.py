"""What a session is, and what it refuses."""

from dataclasses import replace

import pytest

from fairroll import hashing
from fairroll.errors import RequestError
from fairroll.session import (
    Anchor,
    Contribution,
    DrandRound,
    Participant,
    Session,
    check_seq,
    refuse_one_off_table,
)

KEY_ID = hashing.key_id("vrf", bytes(32))
PUBLIC_KEY = bytes(range(32))
SESSION = Session("rolls.example/v1", "tenant-7", "table-42", KEY_ID, (Participant(b"p" * 32),))


def chain(seed: bytes, length: int) -> list[bytes]:
    """e_0 .. e_length, made from the end as its owner does."""
    values = [seed]
    for _ in range(length):
        values.append(hashing.tagged_hash(b"fairroll/v1/chain", values[-1]))
    return values[::-1]


CHAINS = [chain(bytes([number]) * 32, 4096) for number in range(2)]
CO_SEEDED = replace(SESSION, contributions=tuple(Anchor(values[0]) for values in CHAINS))


def refusal(make: object, *args: object) -> RequestError:
    """The error of a call that must fail."""
    assert callable(make)
    with pytest.raises(RequestError) as caught:
        make(*args)
    return caught.value


def test_contributions_hash_with_their_kind_before_them() -> None:
    assert Participant(b"p" * 32).hashed() == b"\1" + b"p" * 32
    assert DrandRound(b"c" * 32, 258, b"r" * 32).hashed() == b"\2" + b"c" * 32 + bytes(6) + b"\1\2" + b"r" * 32
    assert Anchor(b"a" * 32).hashed() == b"\3" + b"a" * 32


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_contribution_has_32_bytes(size: int) -> None:
    wrong = bytes(size)
    assert refusal(Participant, wrong).field == "session.contributions.entropy"
    assert refusal(Anchor, wrong).field == "session.contributions.anchor"
    assert refusal(DrandRound, wrong, 1, bytes(32)).field == "session.contributions.chain_hash"
    assert refusal(DrandRound, bytes(32), 1, wrong).field == "session.contributions.randomness"


@pytest.mark.parametrize("number", [-1, 0, 2**64])
def test_a_drand_round_fits_u64_and_is_not_zero(number: int) -> None:
    assert refusal(DrandRound, bytes(32), number, bytes(32)).reason == "ROUND_OUT_OF_RANGE"


@pytest.mark.parametrize("name", ["origin", "tenant", "table"])
@pytest.mark.parametrize("text", ["", "x" * 201, "ä" * 101, "\ud800"])
def test_a_name_has_1_to_200_bytes_of_text(name: str, text: str) -> None:
    with pytest.raises(RequestError) as caught:
        Session(
            text if name == "origin" else "o",
            text if name == "tenant" else "t",
            text if name == "table" else "x",
            KEY_ID,
        )
    assert caught.value.field == f"session.{name}"


def test_a_table_of_200_bytes_is_taken() -> None:
    assert replace(SESSION, table="ä" * 100).table == "ä" * 100


@pytest.mark.parametrize("key_id", ["", KEY_ID[:-1], KEY_ID + "=", KEY_ID[:-1] + "+", KEY_ID[:-1] + "\n"])
def test_a_key_id_has_43_characters_of_base64url(key_id: str) -> None:
    with pytest.raises(RequestError) as caught:
        replace(SESSION, vrf_key_id=key_id)
    assert caught.value.reason == "KEY_ID_MALFORMED"


@pytest.mark.parametrize(
    ("kind", "allowed"),
    [(Participant(bytes(32)), 32), (DrandRound(bytes(32), 1, bytes(32)), 32), (Anchor(bytes(32)), 4)],
)
def test_contributions_and_anchors_are_limited(kind: Contribution, allowed: int) -> None:
    assert len(replace(SESSION, contributions=(kind,) * allowed).contributions) == allowed
    with pytest.raises(RequestError) as caught:
        replace(SESSION, contributions=(kind,) * (allowed + 1))
    assert (caught.value.maximum, caught.value.value) == (allowed, str(allowed + 1))


def test_the_session_id_depends_on_every_part_and_on_order() -> None:
    two = (Participant(b"p" * 32), Participant(b"q" * 32))
    variants = [
        SESSION,
        replace(SESSION, origin="other"),
        replace(SESSION, tenant="other"),
        replace(SESSION, table="other"),
        replace(SESSION, contributions=()),
        replace(SESSION, contributions=two),
        replace(SESSION, contributions=two[::-1]),
        replace(SESSION, contributions=(Anchor(b"p" * 32),)),
        # The same letters, cut elsewhere.
        replace(SESSION, tenant="tenant-7t", table="able-42"),
    ]
    ids = {session.session_id(PUBLIC_KEY) for session in variants} | {SESSION.session_id(bytes(32))}
    assert len(ids) == len(variants) + 1


@pytest.mark.parametrize("seq", [0, 1, 2, 100, 4095])
def test_the_next_values_of_the_chains_are_the_reveals(seq: int) -> None:
    reveals = [values[seq + 1] for values in CHAINS]
    assert CO_SEEDED.co(seq, reveals) == hashing.tagged_hash(b"fairroll/v1/co", *reveals)


@pytest.mark.parametrize("offset", [-1, 0, 2])
def test_an_earlier_or_later_value_of_the_chain_is_refused(offset: int) -> None:
    reveals = [CHAINS[0][8], CHAINS[1][7 + offset]]
    assert refusal(CO_SEEDED.co, 7, reveals).field == "reveals[1]"


def test_reveals_in_another_order_or_of_another_length_are_refused() -> None:
    first, second = CHAINS[0][1], CHAINS[1][1]
    assert refusal(CO_SEEDED.co, 0, [second, first]).field == "reveals[0]"
    assert refusal(CO_SEEDED.co, 0, [first, second + b"\0"]).field == "reveals[1]"
    assert refusal(CO_SEEDED.co, 0, [first, b""]).field == "reveals[1]"


@pytest.mark.parametrize("count", [0, 1, 3])
def test_there_is_one_reveal_for_each_anchor(count: int) -> None:
    assert refusal(CO_SEEDED.co, 0, [CHAINS[0][1]] * count).reason == "REVEAL_COUNT"


def test_without_anchors_there_are_no_reveals_and_co_is_zero() -> None:
    assert SESSION.co(2**53 - 1, []) == bytes(32)
    assert refusal(SESSION.co, 0, [bytes(32)]).reason == "REVEAL_COUNT"


def test_a_session_with_anchors_ends_with_its_chain() -> None:
    assert refusal(CO_SEEDED.co, 4096, [bytes(32)] * 2).reason == "CHAIN_EXHAUSTED"


@pytest.mark.parametrize("seq", [-1, 2**53])
def test_seq_is_a_whole_number_that_javascript_holds(seq: int) -> None:
    assert refusal(check_seq, seq).reason == "SEQ_OUT_OF_RANGE"
    assert refusal(SESSION.co, seq, []).reason == "SEQ_OUT_OF_RANGE"


def test_a_caller_may_not_use_the_names_of_one_off_tables() -> None:
    assert refusal(refuse_one_off_table, "one-off/x").reason == "TABLE_RESERVED"
    refuse_one_off_table("one-off")
    refuse_one_off_table("table/one-off/")


def test_a_one_off_session_is_named_after_its_request_id() -> None:
    made = Session.one_off("o", "t", KEY_ID, hashing.one_off_value("t", "r"))
    assert made.is_one_off
    assert made.table == "one-off/" + hashing.tagged_hash(b"fairroll/v1/one-off", b"t", b"r").hex()
    made.check_one_off("r")
    made.check_one_off("")
    SESSION.check_one_off("r")
    assert refusal(made.check_one_off, "s").reason == "ONE_OFF_MISMATCH"
    assert refusal(replace(made, tenant="u").check_one_off, "r").reason == "ONE_OFF_MISMATCH"


@pytest.mark.parametrize("rest", ["", "x", "0" * 63, "0" * 65, "A" * 64])
def test_a_one_off_table_ends_in_64_hex_digits(rest: str) -> None:
    assert refusal(Session, "o", "t", "one-off/" + rest, KEY_ID).reason == "ONE_OFF_MALFORMED"


def test_a_one_off_session_has_no_contributions() -> None:
    made = Session.one_off("o", "t", KEY_ID, bytes(32))
    with pytest.raises(RequestError):
        replace(made, contributions=SESSION.contributions)
