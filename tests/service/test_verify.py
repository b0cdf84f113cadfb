"""Verification: each numbered step is reached, holds for what is true, and fails by its number for what is not."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fairroll import hashing
from fairroll.bundle import Bundle
from fairroll.envelope import Envelope, Signature, sign_envelope
from fairroll.errors import RequestError, Step, VerificationError
from fairroll.key_list import Key, KeyStatus, KeyUse, sign_key_list
from fairroll.receipt import serialise
from fairroll.signer import SigningKey
from fairroll.trust import TrustFile
from fairroll.v1 import envelope_pb2, roll_pb2, service_pb2
from fairroll.verify import verification, verify
from tests.service.rolling import (
    ROOT,
    TENANT,
    bundle_of,
    epoch_keys,
    key_list_of,
    listed_with,
    notation,
    record_of,
    request,
    roller,
    seed,
    service_keys,
    signed,
)

Record = roll_pb2.RollRecord


def answer(*texts: str) -> roll_pb2.RollResponse:
    return roller().roll(request(*(texts or ("4d6kh3", "2d6!"))), TENANT)


def refused(bundle: Bundle, root: bytes = ROOT.public_key, **options: object) -> VerificationError:
    with pytest.raises(VerificationError) as caught:
        verify(bundle, root, **options)  # type: ignore[arg-type]  # options are passed on
    return caught.value


# What holds


def test_an_outcome_that_held_before_holds_for_the_same_check_and_the_same_draws_alone() -> None:
    """Of 12 rolls of one coin some are alike; each of them stands, and none stands with what another one came to."""
    service = roller()
    records = [record_of(service.roll(request("1d2", table=f"table-{n}"), TENANT)) for n in range(12)]
    assert len({each.outcomes[0].notation.total for each in records}) == 2
    for each in records:
        verify(signed(each), ROOT.public_key)
    heads, tails = (next(each for each in records if each.outcomes[0].notation.total == total) for total in (1, 2))
    heads.outcomes[0].notation.total = 2
    assert refused(signed(heads)).reason == "OUTCOME_DIFFERS"
    tails.outcomes[0].CopyFrom(next(each for each in records if each.outcomes[0].draws[0].face == 1).outcomes[0])
    assert refused(signed(tails)).step is Step.DRAWS


def test_a_receipt_verifies_by_nine_steps_in_order() -> None:
    response = answer()
    taken = list(verification(bundle_of(response), ROOT.public_key))
    assert [int(step.step) for step in taken] == list(range(9))
    assert all(step.held for step in taken)
    assert all(step.detail for step in taken)
    assert len({step.name for step in taken}) == 9


def test_what_was_verified_is_returned() -> None:
    response = answer()
    verified = verify(bundle_of(response), ROOT.public_key)
    assert verified.complete
    assert verified.record == response.record
    assert verified.digest == response.digest
    assert list(verified.texts) == list(response.texts)
    assert verified.level == "L0"
    assert not verified.development
    assert not verified.revoked
    asked = record_of(response).request
    assert verified.request_digest == hashing.request_digest(verified.session_id, asked.SerializeToString()).hex()


def test_the_request_digest_does_not_depend_on_the_reveals() -> None:
    values = [seed("chain")]
    values.append(hashing.tagged_hash(b"fairroll/v1/chain", values[0]))
    asked = request("d6")
    asked.session.contributions.add(anchor=values[1])
    asked.reveals.append(values[0])
    verified = verify(bundle_of(roller().roll(asked, TENANT)), ROOT.public_key)
    bare = roll_pb2.RollRequest(previous="0" * 64, checks=notation("d6"))
    assert verified.request_digest == hashing.request_digest(verified.session_id, bare.SerializeToString()).hex()


@pytest.mark.parametrize("text", ["1000d100rr<100", "0d6", "6x{4d6kh3}", "(2d6)[a] + 3[b]"])
def test_every_kind_of_outcome_verifies(text: str) -> None:
    assert verify(bundle_of(answer(text)), ROOT.public_key).complete


def test_a_receipt_whose_draws_ran_out_verifies_with_the_draws_that_were_left() -> None:
    """The last check got none of the 10,000; a verifier that gave it its own would call the receipt a lie."""
    response = answer(*["1000d2!"] * 9, "d6")
    assert response.record.outcomes[9].status == roll_pb2.CHECK_STATUS_LIMIT_REACHED
    assert not response.record.outcomes[9].draws
    assert verify(bundle_of(response), ROOT.public_key).complete


# What does not hold: an outsider changes bytes


def test_any_flipped_byte_of_the_payload_fails_the_signature() -> None:
    bundle = bundle_of(answer())
    payload = bundle.envelope.payload
    for place in range(len(payload)):
        flipped = payload[:place] + bytes((payload[place] ^ 1,)) + payload[place + 1 :]
        error = refused(replace(bundle, envelope=replace(bundle.envelope, payload=flipped)))
        assert (error.step, error.reason) == (Step.SIGNATURE, "SIGNATURE_INVALID")


def test_any_flipped_byte_of_the_signature_fails_it() -> None:
    bundle = bundle_of(answer())
    keyid, sig = bundle.envelope.signatures[0].keyid, bundle.envelope.signatures[0].sig
    for place in range(len(sig)):
        flipped = sig[:place] + bytes((sig[place] ^ 0x80,)) + sig[place + 1 :]
        error = refused(replace(bundle, envelope=replace(bundle.envelope, signatures=(Signature(keyid, flipped),))))
        assert error.step == Step.SIGNATURE


# What does not hold: the operator lies, under the right signature


@dataclass(frozen=True)
class Lie:
    """What is changed in a record that the right key signs, and the step that finds it."""

    change: Callable[[Record], object]
    step: Step
    reason: str
    field: str = ""


def set_to(path: str, value: object) -> Callable[[Record], object]:
    """A change of the field at a path such as `outcomes[0].draws[1].face`."""
    *parents, name = path.replace("[", ".[").split(".")

    def change(record: Record) -> None:
        target = record
        for parent in parents:
            target = target[int(parent[1:-1])] if parent.startswith("[") else getattr(target, parent)  # type: ignore[index]  # a repeated field
        setattr(target, name, value)

    return change


def another_face(record: Record) -> None:
    draw = record.outcomes[0].draws[2]
    draw.face = draw.face % 6 + 1


def another_total(record: Record) -> None:
    outcome = record.outcomes[0].notation
    outcome.total += 1


def another_check(record: Record) -> None:
    """The same dice for another question: they follow from the proof, the outcome does not."""
    record.request.checks[0].CopyFrom(notation("4d6kl3")[0])


def one_off_of_another_call(record: Record) -> None:
    record.request.request_id = "call-2"
    record.session.table = "one-off/" + hashing.one_off_value(TENANT, "call-1").hex()


def reveal_of_another_chain(record: Record) -> None:
    record.session.contributions.add(anchor=bytes(32))
    record.request.reveals.append(bytes(32))


def flipped_proof(place: int) -> Callable[[Record], object]:
    def change(record: Record) -> None:
        proof = bytearray(record.proof)
        proof[place] ^= 1
        record.proof = bytes(proof)

    return change


def same_dice_in_another_order(record: Record) -> None:
    draws = record.outcomes[0].draws
    kept = [roll_pb2.Draw.FromString(draw.SerializeToString()) for draw in draws]
    del draws[:]
    draws.extend(reversed(kept))


LIES = {
    "minor version 0": Lie(set_to("protocol_minor", 0), Step.PARSE, "RECORD_INVALID", "protocol_minor"),
    "a newer minor version": Lie(set_to("protocol_minor", 2), Step.PARSE, "RECORD_NEWER", "protocol_minor"),
    "no session": Lie(lambda record: record.ClearField("session"), Step.PARSE, "RECORD_INVALID", "session"),
    "no request": Lie(lambda record: record.ClearField("request"), Step.PARSE, "RECORD_INVALID", "request"),
    "a session in the request": Lie(set_to("request.session.table", "x"), Step.PARSE, "RECORD_INVALID", "request"),
    "cited receipts in the request": Lie(
        lambda record: record.request.cited.append(envelope_pb2.Envelope()), Step.PARSE, "RECORD_INVALID", "request"
    ),
    "a chain in the request": Lie(
        lambda record: record.request.chain.append(envelope_pb2.Envelope()), Step.PARSE, "RECORD_INVALID", "request"
    ),
    "no guard mode": Lie(set_to("guard_mode", 0), Step.PARSE, "RECORD_INVALID", "guard_mode"),
    "an unknown guard mode": Lie(set_to("guard_mode", 9), Step.PARSE, "RECORD_INVALID", "guard_mode"),
    "an outcome too few": Lie(lambda record: record.outcomes.pop(), Step.PARSE, "RECORD_INVALID", "outcomes"),
    "no previous": Lie(set_to("request.previous", ""), Step.PARSE, "RECORD_INVALID", "request.previous"),
    "something before seq 0": Lie(
        set_to("request.previous", "ab" * 32), Step.PARSE, "RECORD_INVALID", "request.previous"
    ),
    "another receipt key": Lie(set_to("receipt_key_id", "A" * 43), Step.KEYS, "RECEIPT_KEY_DIFFERS", "receipt_key_id"),
    "another origin": Lie(
        set_to("session.origin", "other.example/v1"), Step.KEYS, "ORIGIN_DIFFERS_FROM_LIST", "session.origin"
    ),
    "a VRF key that is not listed": Lie(
        set_to("session.vrf_key_id", "A" * 43), Step.KEYS, "UNKNOWN_KEY", "session.vrf_key_id"
    ),
    "no table": Lie(set_to("session.table", ""), Step.SESSION, "NAME_LENGTH", "session.table"),
    "an empty contribution": Lie(
        lambda record: record.session.contributions.add(), Step.SESSION, "REQUIRED", "session.contributions[0]"
    ),
    "a one-off of another call": Lie(one_off_of_another_call, Step.SESSION, "ONE_OFF_MISMATCH", "session.table"),
    "a request_id in a session": Lie(
        set_to("request.request_id", "x"), Step.SESSION, "REQUEST_ID_WITH_SESSION", "request.request_id"
    ),
    "seq 2^53": Lie(set_to("request.seq", 2**53), Step.SESSION, "SEQ_OUT_OF_RANGE", "seq"),
    "a reveal without an anchor": Lie(
        lambda record: record.request.reveals.append(bytes(32)), Step.REVEALS, "REVEAL_COUNT", "reveals"
    ),
    "an anchor without a reveal": Lie(
        lambda record: record.session.contributions.add(anchor=bytes(32)), Step.REVEALS, "REVEAL_COUNT", "reveals"
    ),
    "a reveal of another chain": Lie(
        reveal_of_another_chain,
        Step.REVEALS,
        "REVEAL_MISMATCH",
        "reveals[0]",
    ),
    "another table": Lie(set_to("session.table", "table-43"), Step.VRF, "PROOF_INVALID", "proof"),
    "another tenant": Lie(set_to("session.tenant", "tenant-8"), Step.VRF, "PROOF_INVALID", "proof"),
    "another seq": Lie(set_to("request.seq", 1), Step.VRF, "PROOF_INVALID", "proof"),
    "another contribution": Lie(
        lambda record: record.session.contributions.add(entropy=bytes(32)), Step.VRF, "PROOF_INVALID", "proof"
    ),
    "a receipt key as the VRF key": Lie(
        set_to("session.vrf_key_id", epoch_keys().receipt_key_id), Step.VRF, "KEY_USE", "session.vrf_key_id"
    ),
    "no proof": Lie(set_to("proof", b""), Step.VRF, "PROOF_LENGTH", "proof"),
    "another face": Lie(another_face, Step.DRAWS, "DRAW_DIFFERS", "outcomes[0].draws[2].face"),
    "other sides": Lie(
        set_to("outcomes[0].draws[0].sides", 1), Step.DRAWS, "DRAW_DIFFERS", "outcomes[0].draws[0].face"
    ),
    "no sides": Lie(
        set_to("outcomes[0].draws[0].sides", 0), Step.DRAWS, "SIDES_OUT_OF_RANGE", "outcomes[0].draws[0].sides"
    ),
    "the dice in another order": Lie(same_dice_in_another_order, Step.DRAWS, "DRAW_DIFFERS", ""),
    "another total": Lie(another_total, Step.RULES, "OUTCOME_DIFFERS", "outcomes[0].notation"),
    "a draw too few": Lie(
        lambda record: record.outcomes[0].draws.pop(), Step.RULES, "OUTCOME_DIFFERS", "outcomes[0].draws"
    ),
    "another purpose": Lie(
        set_to("outcomes[0].draws[0].purpose", roll_pb2.PURPOSE_REROLL),
        Step.RULES,
        "OUTCOME_DIFFERS",
        "outcomes[0].draws",
    ),
    "another status": Lie(
        set_to("outcomes[0].status", roll_pb2.CHECK_STATUS_LIMIT_REACHED),
        Step.RULES,
        "OUTCOME_DIFFERS",
        "outcomes[0].status",
    ),
    "another check": Lie(another_check, Step.RULES, "OUTCOME_DIFFERS", "outcomes[0].notation"),
    "a check that no service takes": Lie(
        set_to("request.checks[0].notation.text", "1d0"), Step.RULES, "", "request.checks[0].notation.text"
    ),
    "no engine": Lie(set_to("outcomes[0].engine", ""), Step.RULES, "OUTCOME_DIFFERS", "outcomes[0].engine"),
    "a version of no engine": Lie(
        set_to("outcomes[0].engine", "notation/01"), Step.RULES, "OUTCOME_DIFFERS", "outcomes[0].engine"
    ),
    "another system's engine": Lie(
        set_to("outcomes[0].engine", "fortune_doom/1"), Step.RULES, "OUTCOME_DIFFERS", "outcomes[0].engine"
    ),
    "a decision that nobody asked for": Lie(
        lambda record: record.outcomes[0].decisions.add(id=":0"),
        Step.RULES,
        "OUTCOME_DIFFERS",
        "outcomes[0].decisions",
    ),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
def test_a_lie_under_the_right_signature_fails_at_the_step_that_finds_it(lie: Lie) -> None:
    record = record_of(answer())
    verify(signed(record), ROOT.public_key)
    lie.change(record)
    error = refused(signed(record))
    assert (error.step, error.reason) == (lie.step, lie.reason or error.reason)
    assert error.field == lie.field or not lie.field


def test_every_step_from_2_to_8_is_reached_by_a_lie() -> None:
    assert {lie.step for lie in LIES.values()} == set(Step) - {Step.KEY_LIST, Step.SIGNATURE}


@pytest.mark.parametrize("place", range(80))
def test_any_flipped_byte_of_the_proof_fails_the_vrf(place: int) -> None:
    record = record_of(answer())
    flipped_proof(place)(record)
    error = refused(signed(record))
    assert error.step == Step.VRF
    assert error.reason.startswith("PROOF_")


def test_no_flipped_byte_of_a_payload_survives_the_operators_own_signature() -> None:
    """Exhaustive over one receipt, whose text has no neighbour by one bit that comes to the same."""
    payload = bundle_of(answer("4d6kh3", "2d6+1")).envelope.payload
    survivors = []
    for place in range(len(payload)):
        flipped = payload[:place] + bytes((payload[place] ^ 1,)) + payload[place + 1 :]
        try:
            verify(signed(flipped), ROOT.public_key)
        except VerificationError as error:
            assert error.step >= Step.PARSE  # noqa: PT017  survivors do not raise, so there is no error to wait for
        else:
            survivors.append(place)
    assert not survivors


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff",
        b"not a record",
        pytest.param(b"\x08", id="cut short"),
    ],
)
def test_bytes_that_are_no_record_fail_at_parsing(payload: bytes) -> None:
    assert refused(signed(payload)).step == Step.PARSE


def test_another_spelling_of_the_same_record_is_refused() -> None:
    """Protobuf takes fields in any order; a signed record has one order."""
    payload = serialise(record_of(answer()))
    assert payload[:2] == b"\x08\x01"
    error = refused(signed(payload[2:] + payload[:2]))
    assert (error.step, error.reason) == (Step.PARSE, "RECORD_NOT_CANONICAL")


@pytest.mark.parametrize(
    ("extra", "reason", "field"),
    [
        pytest.param(b"\xf8\x07\x01", "UNKNOWN_FIELD", "127", id="unknown"),
        pytest.param(b"\x4a\x00", "UNKNOWN_FIELD", "9", id="unknown text"),
        pytest.param(b"\x08\x01", "RECORD_NOT_CANONICAL", "", id="twice"),
    ],
)
def test_a_field_that_readers_would_pass_over_is_refused(extra: bytes, reason: str, field: str) -> None:
    error = refused(signed(serialise(record_of(answer())) + extra))
    assert (error.step, error.reason, error.field) == (Step.PARSE, reason, field)


def test_a_newer_record_is_not_called_forged_whatever_else_it_holds() -> None:
    record = record_of(answer())
    record.protocol_minor = 2
    error = refused(signed(serialise(record) + b"\xf8\x07\x01"))
    assert (error.step, error.reason) == (Step.PARSE, "RECORD_NEWER")
    assert "newer than this verifier" in error.message


def test_a_payload_beyond_the_limit_is_refused() -> None:
    error = refused(signed(bytes(1024 * 1024 + 1)))
    assert (error.step, error.reason) == (Step.PARSE, "RECORD_TOO_LARGE")


def test_more_draws_than_a_record_holds_are_refused_even_where_the_engine_is_unknown() -> None:
    record = record_of(answer("1000d1"))
    record.outcomes[0].engine = "notation/2"
    one = record.outcomes[0].draws[0]
    record.outcomes[0].draws.extend([one] * 9_000)
    assert not verify(signed(record), ROOT.public_key).complete
    record.outcomes[0].draws.append(one)
    error = refused(signed(record))
    assert (error.step, error.reason) == (Step.DRAWS, "TOO_MANY_DRAWS")


def test_another_payload_type_is_refused() -> None:
    keys = epoch_keys()
    payload = serialise(record_of(answer()))
    envelope = sign_envelope("application/json", payload, keys.receipt_key_id, keys.receipt)
    assert refused(Bundle(envelope, (), service_keys().envelope)).reason == "PAYLOAD_TYPE"


# What cannot be judged


def test_an_unknown_engine_is_not_recomputed_and_never_valid() -> None:
    record = record_of(answer())
    record.outcomes[1].engine = "notation/2"
    record.outcomes[1].notation.total += 1
    verified = verify(signed(record), ROOT.public_key)
    assert not verified.complete
    last = verified.steps[-1]
    assert (last.step, last.held) == (Step.RULES, False)
    assert "notation/2" in last.detail
    assert verified.texts[0].line
    assert not verified.texts[1].line


def test_beside_an_unknown_engine_a_known_one_is_still_held_to_its_outcome() -> None:
    record = record_of(answer())
    record.outcomes[1].engine = "notation/2"
    another_total(record)
    assert refused(signed(record)).step == Step.RULES


def test_an_answer_without_its_parents_is_not_judged() -> None:
    record = record_of(answer("d6"))
    record.request.ClearField("checks")
    record.request.root = record.request.continues = "ab" * 32
    record.request.answers.add(decision_id="0:0", option_id="KEEP")
    verified = verify(signed(record), ROOT.public_key)
    assert verified.steps[-1].detail == "not checked: parent missing"
    assert not verified.complete


# Keys


def test_a_wrong_root_fails_the_key_list() -> None:
    error = refused(bundle_of(answer()), SigningKey(seed("other root")).public_key)
    assert error.step == Step.KEY_LIST


def test_without_a_key_list_nothing_is_verified() -> None:
    assert refused(replace(bundle_of(answer()), key_list=None)).reason == "KEY_LIST_MISSING"


def test_an_unknown_key_id_fails_the_signature() -> None:
    bundle = bundle_of(answer())
    envelope = replace(bundle.envelope, signatures=(Signature("A" * 43, bundle.envelope.signatures[0].sig),))
    error = refused(replace(bundle, envelope=envelope))
    assert (error.step, error.reason) == (Step.SIGNATURE, "UNKNOWN_KEY")


def test_a_key_of_the_wrong_use_does_not_sign() -> None:
    """The VRF key's seed as a signing key, under the VRF key's id."""
    keys = epoch_keys()
    payload = serialise(record_of(answer()))
    envelope = sign_envelope(
        "application/vnd.fairroll.roll-record.v1+protobuf", payload, keys.vrf_key_id, SigningKey(seed("vrf-1"))
    )
    error = refused(Bundle(envelope, (), service_keys().envelope))
    assert (error.step, error.reason) == (Step.SIGNATURE, "UNKNOWN_KEY")


def test_the_list_of_another_origin_does_not_judge() -> None:
    listed = sign_key_list(ROOT, key_list_of(epoch_keys(), origin="other.example/v1"))
    error = refused(replace(bundle_of(answer()), key_list=listed))
    assert (error.step, error.reason) == (Step.KEYS, "ORIGIN_DIFFERS_FROM_LIST")


@pytest.mark.parametrize("use", [KeyUse.VRF, KeyUse.RECEIPT])
def test_a_retired_key_stays_good_and_a_revoked_one_does_not(use: KeyUse) -> None:
    bundle = bundle_of(answer())
    retired = verify(replace(bundle, key_list=listed_with(KeyStatus.RETIRED, use)), ROOT.public_key)
    assert "retired" in retired.steps[Step.KEYS].detail
    revoked = replace(bundle, key_list=listed_with(KeyStatus.REVOKED, use))
    error = refused(revoked)
    assert (error.step, error.reason) == (Step.KEYS, "KEY_REVOKED")
    assert verify(revoked, ROOT.public_key, saved=[bundle.envelope.digest]).revoked
    assert refused(revoked, saved=["ab" * 32]).reason == "KEY_REVOKED"


def test_a_development_key_is_reported() -> None:
    listed = listed_with(KeyStatus.ACTIVE, KeyUse.RECEIPT, development=True)
    verified = verify(replace(bundle_of(answer()), key_list=listed), ROOT.public_key)
    assert verified.development
    assert "DEVELOPMENT" in verified.steps[Step.KEYS].detail


def test_a_given_key_list_replaces_the_bundles_unless_it_is_older() -> None:
    bundle = bundle_of(answer())
    newer = listed_with(KeyStatus.REVOKED, KeyUse.RECEIPT)
    assert refused(bundle, key_list=newer).reason == "KEY_REVOKED"
    error = refused(replace(bundle, key_list=newer), key_list=bundle.key_list)
    assert (error.step, error.reason) == (Step.KEY_LIST, "KEY_LIST_OLDER")


def test_the_newest_list_of_the_trust_file_judges_older_bundles(tmp_path: Path) -> None:
    bundle, trust = bundle_of(answer()), TrustFile(tmp_path / "trust.json")
    assert verify(bundle, ROOT.public_key, trust=trust).complete
    newer = listed_with(KeyStatus.REVOKED, KeyUse.RECEIPT)
    assert refused(replace(bundle, key_list=newer), trust=trust).reason == "KEY_REVOKED"
    assert refused(bundle, trust=trust).reason == "KEY_REVOKED"
    assert refused(bundle, trust=trust, key_list=bundle.key_list).reason == "KEY_LIST_OLDER"


# The call


def test_the_call_answers_with_the_steps_and_the_record() -> None:
    service = roller()
    response = service.roll(request("4d6kh3"), TENANT)
    asked = service_pb2.VerifyReceiptRequest(bundle=envelope_pb2.Bundle(envelope=response.envelope))
    found = service.verify_receipt(asked)
    assert found.verified
    assert [step.number for step in found.steps] == list(range(9))
    assert {step.result for step in found.steps} == {service_pb2.STEP_RESULT_HELD}
    assert (found.level, found.digest, found.record) == ("L0", response.digest, response.record)
    assert list(found.texts) == list(response.texts)
    assert len(found.rests_on) == 3


def test_the_call_names_the_step_that_failed() -> None:
    service = roller()
    envelope = service.roll(request("4d6kh3"), TENANT).envelope
    envelope.payload = envelope.payload[:-1] + b"\x02"
    asked = service_pb2.VerifyReceiptRequest(bundle=envelope_pb2.Bundle(envelope=envelope))
    found = service.verify_receipt(asked)
    assert not found.verified
    assert [step.number for step in found.steps] == [0, 1]
    assert found.steps[-1].result == service_pb2.STEP_RESULT_FAILED
    assert found.steps[-1].detail.startswith("SIGNATURE_INVALID")
    assert (found.level, found.HasField("record")) == ("", False)


def test_the_call_does_not_call_an_unknown_engine_verified() -> None:
    service = roller()
    record = record_of(service.roll(request("4d6kh3"), TENANT))
    record.outcomes[0].engine = "notation/2"
    bundle = signed(record)
    signature = bundle.envelope.signatures[0]
    envelope = envelope_pb2.Envelope(
        payload=bundle.envelope.payload,
        payload_type=bundle.envelope.payload_type,
        signatures=[envelope_pb2.Signature(keyid=signature.keyid, sig=signature.sig)],
    )
    found = service.verify_receipt(service_pb2.VerifyReceiptRequest(bundle=envelope_pb2.Bundle(envelope=envelope)))
    assert (found.verified, found.level) == (False, "")
    assert found.steps[-1].result == service_pb2.STEP_RESULT_NOT_CHECKED


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (service_pb2.VerifyReceiptRequest(), "bundle.envelope"),
        (service_pb2.VerifyReceiptRequest(root_key=b"short"), "root_key"),
    ],
)
def test_the_call_refuses_what_is_no_receipt(asked: service_pb2.VerifyReceiptRequest, field: str) -> None:
    with pytest.raises(RequestError) as error:
        roller().verify_receipt(asked)
    assert error.value.field == field


def test_the_call_judges_an_older_bundle_by_its_own_newer_list() -> None:
    """A receipt under a key that the service has revoked since is refused, whatever list comes with it."""
    keys = service_keys()
    response = roller(keys).roll(request("d6"), TENANT)
    newer = listed_with(KeyStatus.REVOKED, KeyUse.RECEIPT)
    listed = replace(key_list_of(epoch_keys(), version=2))
    revoked = replace(
        listed,
        keys=tuple(replace(key, status=KeyStatus.REVOKED) if key.use is KeyUse.RECEIPT else key for key in listed.keys),
    )
    service = roller(replace(keys, key_list=revoked, envelope=newer))
    bundle = envelope_pb2.Bundle(envelope=response.envelope)
    old = keys.envelope
    bundle.key_list.payload, bundle.key_list.payload_type = old.payload, old.payload_type
    bundle.key_list.signatures.add(keyid=old.signatures[0].keyid, sig=old.signatures[0].sig)
    found = service.verify_receipt(service_pb2.VerifyReceiptRequest(bundle=bundle))
    assert found.steps[-1].detail.startswith("KEY_REVOKED")


# What verifying needs

BLOCKED = """
import sys
BLOCKED = "grpc grpc_status fastapi starlette uvicorn pydantic prometheus_client orjson socket".split()
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(name)
sys.modules.pop("socket", None)
sys.meta_path.insert(0, Refuse())
import fairroll.verify, fairroll.bundle, fairroll.receipt, fairroll.convert
"""


def test_verifying_needs_neither_server_nor_network() -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKED], env={"PYTHONPATH": ":".join(sys.path)}, check=False)
    assert done.returncode == 0


def test_keys_of_the_table_are_real() -> None:
    """The helpers sign with the keys that the list shows: otherwise every lie would fail at step 1."""
    listed = {key.key_id for key in service_keys().key_list.keys}
    assert Key(KeyUse.RECEIPT, epoch_keys().receipt.public_key, 1).key_id in listed
    assert isinstance(signed(record_of(answer())).envelope, Envelope)
