"""The use case: what one request gives, what gives the same bytes, and what is refused before anything is proved."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from fairroll import hashing
from fairroll.ecvrf import verify as verify_proof
from fairroll.envelope import ROLL_RECORD_TYPE
from fairroll.errors import RequestError, StateError
from fairroll.receipt import read_envelope
from fairroll.roll import Roller
from fairroll.v1 import envelope_pb2, fortune_doom_pb2, notation_pb2, roll_pb2, session_pb2
from tests.service.rolling import (
    NOON,
    ORIGIN,
    TENANT,
    epoch_keys,
    notation,
    proofs_of,
    record_of,
    request,
    roller,
    seed,
    service_keys,
)

Request = roll_pb2.RollRequest


def faces(outcome: roll_pb2.CheckOutcome) -> list[int]:
    return [draw.face for draw in outcome.draws]


def chain(length: int) -> list[bytes]:
    """A co-seed chain, written out from section 2: e_0 first."""
    values = [seed("chain")]
    for _ in range(length):
        values.append(hashing.tagged_hash(b"fairroll/v1/chain", values[-1]))
    return values[::-1]


# What a roll gives


def test_a_roll_is_answered_with_its_receipt_and_what_follows_from_it() -> None:
    service = roller()
    response = service.roll(request("4d6kh3"), TENANT)
    envelope = read_envelope(response.envelope)
    assert envelope.payload_type == ROLL_RECORD_TYPE
    assert roll_pb2.RollRecord.FromString(envelope.payload) == response.record
    assert [each.keyid for each in envelope.signatures] == [service.keys.current.receipt_key_id]
    assert response.digest == envelope.digest
    assert response.issued_at == "2026-01-02T12:00:00.500Z"
    assert NOON.isoformat() not in str(response.record)
    assert len(response.texts) == 1
    assert response.texts[0].line.startswith("4d6kh3: ")


def test_the_record_holds_all_that_its_receipt_is_verified_by() -> None:
    service = roller()
    record = service.roll(request("4d6kh3", "2d8+1"), TENANT).record
    keys = service.keys.current
    assert record.protocol_minor == 1
    assert record.session == session_pb2.Session(
        origin=ORIGIN, tenant=TENANT, table="table-42", vrf_key_id=keys.vrf_key_id
    )
    assert not record.request.HasField("session")
    assert record.request.previous == "0" * 64
    assert list(record.request.checks) == notation("4d6kh3", "2d8+1")
    assert record.receipt_key_id == keys.receipt_key_id
    assert [outcome.engine for outcome in record.outcomes] == ["notation/1", "notation/1"]
    assert [len(outcome.draws) for outcome in record.outcomes] == [4, 2]
    assert record.guard_mode == roll_pb2.GUARD_MODE_NONE


def test_the_draws_are_those_that_the_protocol_gives_for_the_session_and_seq() -> None:
    """Computed here from the hashes of protocol.md alone."""
    service = roller()
    record = service.roll(request("3d6", seq=7), TENANT).record
    parts = [part.encode() for part in (ORIGIN, TENANT, "table-42")]
    public_key = service.keys.current.vrf.public_key
    session_id = hashing.tagged_hash(b"fairroll/v1/session", *parts, public_key)
    alpha = b"fairroll/v1/alpha\0" + session_id + (7).to_bytes(8, "big") + bytes(32)
    beta = verify_proof(public_key, alpha, record.proof)
    words = hashlib_block(beta)
    expected = [word % 6 + 1 for word in words if word < 2**32 - 2**32 % 6][:3]
    assert faces(record.outcomes[0]) == expected


def hashlib_block(beta: bytes) -> list[int]:
    import hmac

    block = hmac.new(beta, b"fairroll/v1/stream\0" + bytes(8), "sha256").digest()
    return [int.from_bytes(block[place : place + 4], "big") for place in range(0, 32, 4)]


def test_the_request_is_left_as_it_was_sent() -> None:
    asked = request("d20")
    before = asked.SerializeToString()
    roller().roll(asked, TENANT)
    assert asked.SerializeToString() == before


# The same bytes


def test_the_same_request_gives_the_same_bytes_from_any_replica() -> None:
    first, second = roller(), roller(token_bytes=lambda size: b"\x01" * size)
    asked = request("4d6kh3", "d20!")
    assert first.roll(asked, TENANT).envelope == second.roll(asked, TENANT).envelope
    assert first.roll(asked, TENANT).envelope == first.roll(asked, TENANT).envelope


def test_what_may_be_left_out_gives_the_same_bytes_as_what_is_spelled_out() -> None:
    asked = request("4d6kh3")
    spelled = request("4d6kh3")
    spelled.previous = "0" * 64
    spelled.session.origin, spelled.session.tenant = ORIGIN, TENANT
    spelled.session.vrf_key_id = epoch_keys().vrf_key_id
    assert roller().roll(asked, TENANT).envelope == roller().roll(spelled, TENANT).envelope


def test_another_request_at_the_same_seq_reads_the_same_stream() -> None:
    """One seq has one stream, whoever asks; the signature binds the request to it."""
    first = roller().roll(request("10d6"), TENANT).record
    second = roller().roll(request("6d6+100"), TENANT).record
    assert first.proof == second.proof
    assert faces(first.outcomes[0])[:6] == faces(second.outcomes[0])


@pytest.mark.parametrize(
    ("seq", "table", "tenant"), [(8, "table-42", TENANT), (7, "table-43", TENANT), (7, "table-42", "tenant-8")]
)
def test_another_seq_table_or_tenant_has_another_stream(seq: int, table: str, tenant: str) -> None:
    first = roller().roll(request("10d1000000", seq=7), TENANT).record
    second = roller().roll(request("10d1000000", seq=seq, table=table), tenant).record
    assert first.proof != second.proof
    assert faces(first.outcomes[0]) != faces(second.outcomes[0])


def test_a_dummy_check_shifts_no_other_checks_draws() -> None:
    plain = roller().roll(request("5d20", "5d20", "5d20"), TENANT).record
    shifted = roller().roll(request("5d20", "100d6", "5d20"), TENANT).record
    assert faces(plain.outcomes[0]) == faces(shifted.outcomes[0])
    assert faces(plain.outcomes[2]) == faces(shifted.outcomes[2])
    assert faces(plain.outcomes[0]) != faces(plain.outcomes[2])


# One-off rolls


def test_a_request_id_names_a_one_off_so_that_a_retry_gives_the_same_bytes() -> None:
    asked = Request(checks=notation("4d6kh3"), request_id="call-1")
    first = roller(token_bytes=lambda _: pytest.fail("nothing random names it")).roll(asked, TENANT)
    assert first.envelope == roller().roll(asked, TENANT).envelope
    value = hashing.tagged_hash(b"fairroll/v1/one-off", TENANT.encode(), b"call-1")
    assert first.record.session.table == f"one-off/{value.hex()}"


def test_a_request_id_reads_one_stream_whatever_is_asked() -> None:
    asked = [Request(checks=notation(text), request_id="call-1") for text in ("4d6", "d6")]
    first, second = (roller().roll(each, TENANT).record for each in asked)
    assert faces(first.outcomes[0])[:1] == faces(second.outcomes[0])


def test_without_a_request_id_each_one_off_is_a_session_of_its_own() -> None:
    tokens = count(1)
    service = roller(token_bytes=lambda size: next(tokens).to_bytes(size, "big"))
    tables = [service.roll(Request(checks=notation("d6")), TENANT).record.session.table for _ in range(3)]
    assert tables == [f"one-off/{number:064x}" for number in (1, 2, 3)]


# Co-seeds


def test_reveals_of_a_co_seed_chain_change_the_stream() -> None:
    values = chain(4)
    asked = request("10d1000000")
    asked.session.contributions.add(anchor=values[0])
    asked.reveals.append(values[1])
    record = roller().roll(asked, TENANT).record
    co = hashing.tagged_hash(b"fairroll/v1/co", values[1])
    parts = [part.encode() for part in (ORIGIN, TENANT, "table-42")]
    public_key = epoch_keys().vrf.public_key
    session_id = hashing.tagged_hash(b"fairroll/v1/session", *parts, public_key, b"\x03" + values[0])
    verify_proof(public_key, b"fairroll/v1/alpha\0" + session_id + bytes(8) + co, record.proof)


def test_a_session_keeps_both_its_keys_for_life() -> None:
    old, new = epoch_keys(1), epoch_keys(2)
    service = roller(service_keys(old, new))
    begun = service.roll(request("d6"), TENANT).record
    assert (begun.session.vrf_key_id, begun.receipt_key_id) == (new.vrf_key_id, new.receipt_key_id)
    kept = service.roll(request("d6", seq=1), TENANT).record
    assert (kept.session.vrf_key_id, kept.receipt_key_id) == (old.vrf_key_id, old.receipt_key_id)


# Limits that are reached while drawing


def test_a_limit_reached_while_drawing_is_signed_without_an_outcome() -> None:
    """99 of 100 faces reroll: of 1,000 dice one is sure to be rolled a hundred times again. The next check goes on."""
    response = roller().roll(request("1000d100rr<100", "2d6"), TENANT)
    reached, resolved = response.record.outcomes
    assert (reached.status, resolved.status) == (
        roll_pb2.CHECK_STATUS_LIMIT_REACHED,
        roll_pb2.CHECK_STATUS_RESOLVED,
    )
    assert len(reached.draws) > 100
    assert reached.WhichOneof("system") is None
    assert response.texts[0].line.startswith("No outcome: ")
    assert resolved.notation.total == sum(faces(resolved))


def test_the_draws_of_a_record_are_shared_in_the_order_of_its_checks() -> None:
    """Explosions of earlier checks leave less for later ones; those that fit stay what they are."""
    asked = request(*["1000d2!"] * 9, "d6")
    record = roller().roll(asked, TENANT).record
    drawn = [len(outcome.draws) for outcome in record.outcomes]
    assert sum(drawn) == 10_000
    assert [outcome.status for outcome in record.outcomes][-1] == roll_pb2.CHECK_STATUS_LIMIT_REACHED
    assert drawn[-1] == 0
    assert record.outcomes[0].status == roll_pb2.CHECK_STATUS_RESOLVED


# What is refused, and that nothing was proved for it


@dataclass(frozen=True)
class Refused:
    """A row of the table: what is done to a good request, and what the caller is told."""

    change: Callable[[Request], object]
    reason: str
    field: str
    limit: str = ""
    maximum: int | None = None
    value: str = ""


def checks_of(*texts: str) -> Callable[[Request], object]:
    def change(asked: Request) -> None:
        asked.ClearField("checks")
        asked.checks.extend(notation(*texts))

    return change


def one_off(**members: object) -> Callable[[Request], object]:
    def change(asked: Request) -> None:
        asked.ClearField("session")
        for name, value in members.items():
            setattr(asked, name, value)

    return change


def at_seq(seq: int, **members: str) -> Callable[[Request], object]:
    def change(asked: Request) -> None:
        asked.seq = seq
        asked.session.vrf_key_id = members.get("vrf_key_id", epoch_keys().vrf_key_id)
        asked.previous = members.get("previous", "ab" * 32)

    return change


def contribution(**members: Any) -> Callable[[Request], object]:  # noqa: ANN401  rows are of any type
    return lambda asked: asked.session.contributions.add(**members)


def resolution(**members: Any) -> Callable[[Request], object]:  # noqa: ANN401  rows are of any type
    def change(asked: Request) -> None:
        roll = fortune_doom_pb2.FortuneDoomCheck.ResolutionRoll(**members)
        check = asked.checks.add(fortune_doom=fortune_doom_pb2.FortuneDoomCheck(resolution_roll=roll))
        assert check.WhichOneof("system") == "fortune_doom"

    return change


def unknown_field(asked: Request) -> None:
    asked.MergeFromString(b"\xf8\x07\x01")  # field 127


def unknown_field_in_a_check(asked: Request) -> None:
    inner = roll_pb2.Check.FromString(asked.checks[0].SerializeToString() + b"\xf8\x07\x01")
    asked.checks.append(inner)


def unknown_field_of_a_system(asked: Request) -> None:
    text = notation_pb2.NotationCheck.FromString(b"\x0a\x02d6\xf8\x07\x01")
    asked.checks.append(roll_pb2.Check(notation=text))


def reveal_of_the_next_seq(asked: Request) -> None:
    asked.session.contributions.add(anchor=chain(2)[0])
    asked.reveals.append(chain(2)[2])


NOT_OURS = "A" * 43

REFUSED = {
    "no checks": Refused(lambda asked: asked.ClearField("checks"), "REQUIRED", "checks"),
    "1001 checks": Refused(checks_of(*["d6"] * 1001), "LIMIT_EXCEEDED", "checks", "checks", 1000, "1001"),
    "no system": Refused(lambda asked: asked.checks.add(), "REQUIRED", "checks[1].system"),
    "no roll": Refused(
        lambda asked: asked.checks.add(fortune_doom=fortune_doom_pb2.FortuneDoomCheck()),
        "REQUIRED",
        "checks[1].fortune_doom.roll",
    ),
    "notation": Refused(checks_of("d6", "4d6~"), "", "checks[1].notation.text"),
    "zero sides": Refused(checks_of("1d0"), "", "checks[0].notation.text"),
    "a field of a rule": Refused(
        resolution(attribute=9), "OUT_OF_RANGE", "checks[1].fortune_doom.resolution_roll.attribute", "", 5, "9"
    ),
    "an item of a rule": Refused(
        resolution(help=[1, 2, 9]), "OUT_OF_RANGE", "checks[1].fortune_doom.resolution_roll.help[2]", "", 5, "9"
    ),
    "a message in a rule": Refused(
        resolution(bands=[fortune_doom_pb2.FortuneDoomCheck.Band(name="", at_least=1)]),
        "OUT_OF_RANGE",
        "checks[1].fortune_doom.resolution_roll.bands[0].name",
        "name_bytes",
        100,
        "0",
    ),
    "a message in a rule without a required field": Refused(
        resolution(bands=[fortune_doom_pb2.FortuneDoomCheck.Band(at_least=1)]),
        "REQUIRED",
        "checks[1].fortune_doom.resolution_roll.bands[0].name",
        "",
        None,
        "",
    ),
    "an enum number": Refused(
        resolution(tie=99), "ENUM_UNKNOWN", "checks[1].fortune_doom.resolution_roll.tie", "", None, "99"
    ),
    "a policy of ASK": Refused(
        resolution(tie=fortune_doom_pb2.FortuneDoomCheck.TIE_CHOICE_ASK),
        "ASK_NOT_ALONE",
        "checks[1].fortune_doom.resolution_roll.tie",
        "",
        None,
        "ASK",
    ),
    "an unknown field": Refused(unknown_field, "UNKNOWN_FIELD", "127", "", None, "127"),
    "an unknown field in a check": Refused(unknown_field_in_a_check, "UNKNOWN_FIELD", "checks[1].127", "", None, "127"),
    "an unknown field of a system": Refused(
        unknown_field_of_a_system, "UNKNOWN_FIELD", "checks[1].notation.127", "", None, "127"
    ),
    "a long label": Refused(
        lambda asked: setattr(asked.checks[0], "label", "é" * 51),
        "LIMIT_EXCEEDED",
        "checks[0].label",
        "label_bytes",
        100,
        "102",
    ),
    "a long actor": Refused(
        lambda asked: setattr(asked.checks[0], "actor", "a" * 101),
        "LIMIT_EXCEEDED",
        "checks[0].actor",
        "actor_bytes",
        100,
        "101",
    ),
    "17 cites": Refused(
        lambda asked: asked.checks[0].cites.extend(["ab" * 32] * 17),
        "LIMIT_EXCEEDED",
        "checks[0].cites",
        "cites",
        16,
        "17",
    ),
    "a cite in capitals": Refused(
        lambda asked: asked.checks[0].cites.extend(["ab" * 32, "AB" * 32]),
        "DIGEST_MALFORMED",
        "checks[0].cites[1]",
        "",
        None,
        "AB" * 32,
    ),
    "10,001 draws": Refused(checks_of(*["1000d6"] * 10, "d6"), "LIMIT_EXCEEDED", "checks", "draws", 10_000, "10001"),
    "64 KiB of text": Refused(checks_of(*["d6 #" + "x" * 996] * 66), "LIMIT_EXCEEDED", "checks", "text_bytes", 65_536),
    "5,000 nodes": Refused(checks_of(*["+".join(["1"] * 190)] * 27), "LIMIT_EXCEEDED", "checks", "record_nodes", 5_000),
    "no table": Refused(
        lambda asked: asked.session.ClearField("table"), "NAME_LENGTH", "session.table", "table_bytes", 200, "0"
    ),
    "a long table": Refused(
        lambda asked: setattr(asked.session, "table", "t" * 201),
        "NAME_LENGTH",
        "session.table",
        "table_bytes",
        200,
        "201",
    ),
    "a table of ours": Refused(
        lambda asked: setattr(asked.session, "table", "one-off/" + "00" * 32), "TABLE_RESERVED", "session.table"
    ),
    "another origin": Refused(
        lambda asked: setattr(asked.session, "origin", "other"), "ORIGIN_MISMATCH", "session.origin", value="other"
    ),
    "another tenant": Refused(
        lambda asked: setattr(asked.session, "tenant", "other"), "TENANT_MISMATCH", "session.tenant", value="other"
    ),
    "no key id": Refused(
        lambda asked: setattr(asked.session, "vrf_key_id", "short"), "KEY_ID_MALFORMED", "session.vrf_key_id"
    ),
    "a key not held": Refused(
        lambda asked: setattr(asked.session, "vrf_key_id", NOT_OURS), "VRF_KEY_NOT_HELD", "session.vrf_key_id"
    ),
    "33 contributions": Refused(
        lambda asked: [asked.session.contributions.add(entropy=bytes(32)) for _ in range(33)],
        "TOO_MANY_CONTRIBUTIONS",
        "session.contributions",
        "contributions",
        32,
        "33",
    ),
    "5 anchors": Refused(
        lambda asked: [asked.session.contributions.add(anchor=bytes(32)) for _ in range(5)],
        "TOO_MANY_CONTRIBUTIONS",
        "session.contributions",
        "anchors",
        4,
        "5",
    ),
    "an empty contribution": Refused(contribution(), "REQUIRED", "session.contributions[0]"),
    "short entropy": Refused(
        contribution(entropy=bytes(31)), "CONTRIBUTION_LENGTH", "session.contributions[0].entropy", value="31"
    ),
    "short randomness": Refused(
        contribution(beacon_round=session_pb2.BeaconRound(chain_hash=bytes(32), round=1, randomness=b"x")),
        "CONTRIBUTION_LENGTH",
        "session.contributions[0].beacon_round.randomness",
    ),
    "a long beacon signature": Refused(
        contribution(
            beacon_round=session_pb2.BeaconRound(
                chain_hash=bytes(32), round=1, randomness=bytes(32), signature=bytes(97)
            )
        ),
        "LIMIT_EXCEEDED",
        "session.contributions[0].beacon_round.signature",
        "beacon_signature_bytes",
        96,
        "97",
    ),
    "seq 2^53": Refused(at_seq(2**53), "SEQ_OUT_OF_RANGE", "seq", "seq", 2**53 - 1, str(2**53)),
    "no previous": Refused(at_seq(1, previous=""), "REQUIRED", "previous"),
    "no key above seq 0": Refused(at_seq(1, vrf_key_id=""), "REQUIRED", "session.vrf_key_id"),
    "previous in capitals": Refused(at_seq(1, previous="AB" * 32), "DIGEST_MALFORMED", "previous"),
    "something before seq 0": Refused(
        lambda asked: setattr(asked, "previous", "ab" * 32), "PREVIOUS_AT_START", "previous"
    ),
    "a reveal too many": Refused(lambda asked: asked.reveals.append(bytes(32)), "REVEAL_COUNT", "reveals", value="1"),
    "a reveal too few": Refused(contribution(anchor=chain(2)[0]), "REVEAL_COUNT", "reveals", value="0"),
    "a wrong reveal": Refused(
        reveal_of_the_next_seq,
        "REVEAL_MISMATCH",
        "reveals[0]",
    ),
    "a request_id with a session": Refused(
        lambda asked: setattr(asked, "request_id", "x"), "REQUEST_ID_WITH_SESSION", "request_id"
    ),
    "a long request_id": Refused(
        one_off(request_id="r" * 101), "LIMIT_EXCEEDED", "request_id", "request_id_bytes", 100, "101"
    ),
    "a one-off at seq 1": Refused(one_off(seq=1), "SEQ_OUT_OF_RANGE", "seq", "", 0, "1"),
    "a one-off after something": Refused(one_off(previous="ab" * 32), "PREVIOUS_AT_START", "previous"),
    "answers beside checks": Refused(lambda asked: asked.answers.add(), "CONFLICT", "checks"),
    "a root beside checks": Refused(lambda asked: setattr(asked, "root", "ab" * 32), "CONFLICT", "checks"),
    "a continuation beside checks": Refused(lambda asked: setattr(asked, "continues", "ab" * 32), "CONFLICT", "checks"),
    "a close with checks": Refused(lambda asked: setattr(asked, "close", True), "CONFLICT", "checks"),
    "a chain beside checks": Refused(lambda asked: asked.chain.append(envelope_pb2.Envelope()), "CONFLICT", "checks"),
}


@pytest.mark.parametrize("row", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_is_refused_before_anything_is_proved(row: Refused) -> None:
    asked = request("d6")
    row.change(asked)
    service = roller()
    with pytest.raises((RequestError, StateError)) as refused:
        service.roll(asked, TENANT)
    error = refused.value
    assert error.field == row.field
    assert row.reason in ("", error.reason)
    assert (error.limit, error.maximum) == (row.limit, row.maximum) or not (row.limit or row.maximum)
    assert row.value in ("", error.value)
    assert error.reason
    assert proofs_of(service) == 0


def test_refused_notation_says_where() -> None:
    with pytest.raises(RequestError) as refused:
        roller().roll(request("d6", "4d6 ~ 3"), TENANT)
    assert refused.value.span == (4, 5)


def test_whatever_is_at_the_limits_is_rolled() -> None:
    asked = request(*["10d6"] * 1000)
    asked.checks[0].label = "é" * 50
    asked.checks[0].cites.extend(["ab" * 32] * 16)
    service = roller()
    record = service.roll(asked, TENANT).record
    assert sum(len(outcome.draws) for outcome in record.outcomes) == 10_000
    assert proofs_of(service) == 1


def test_the_largest_record_fits_a_receipt() -> None:
    """10,000 dice of seven digits, marked as often as can be."""
    asked = request(*["1000d1000000min999999max1000000kh500cs>1cf<9"] * 10)
    response = roller().roll(asked, TENANT)
    assert len(response.envelope.payload) < 1024 * 1024


def test_every_field_of_the_response_but_the_time_follows_from_the_request() -> None:
    first, second = Roller(service_keys()), Roller(service_keys())
    asked = request("4d6kh3")
    one, other = first.roll(asked, TENANT), second.roll(asked, TENANT)
    assert record_of(one) == record_of(other)
    one.ClearField("issued_at")
    other.ClearField("issued_at")
    assert one == other
