"""Receipts of random requests: one class a sentence of the protocol."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairroll import json_codec
from fairroll.convert import read_check, read_outcome, write_check
from fairroll.envelope import Signature
from fairroll.errors import FairrollError, RequestError, StateError, Step, VerificationError
from fairroll.v1 import roll_pb2, session_pb2
from fairroll.verify import verify
from tests.property.messages import messages
from tests.service.rolling import ROOT, TENANT, bundle_of, notation, proofs_of, request, roller, signed
from tests.service.sample_checks import SAMPLES, Sample

TEXTS = ("4d6kh3", "2d20kl1+3", "5d6!", "d%", "3d6rr<3", "8d10>=8f=1", "2x{3d6}", "(d6+d8)/3", "0d6", "dF")

samples = st.sampled_from(SAMPLES).map(lambda sample: sample.message())
named = st.text(max_size=20).filter(lambda text: len(text.encode()) <= 100)


@st.composite
def requests(draw: st.DrawFn) -> roll_pb2.RollRequest:
    """A roll that the service takes: one to four checks of any system, in a session or as a one-off."""
    checks = draw(st.lists(samples, min_size=1, max_size=4))
    for check in checks:
        check.label, check.actor = draw(named), draw(named)
    if draw(st.booleans()):
        return roll_pb2.RollRequest(checks=checks, request_id=draw(st.text(min_size=1, max_size=25)))
    asked = request(seq=draw(st.integers(0, 2**53 - 1)), table=draw(st.text(min_size=1, max_size=40)))
    entropy = draw(st.lists(st.binary(min_size=32, max_size=32), max_size=3))
    asked.session.contributions.extend(session_pb2.Contribution(entropy=each) for each in entropy)
    asked.checks.extend(checks)
    return asked


class TestEveryReceiptVerifies:
    """verify(sign(x)) == x."""

    @given(requests())
    def test_it_does(self, asked: roll_pb2.RollRequest) -> None:
        response = roller().roll(asked, TENANT)
        verified = verify(bundle_of(response), ROOT.public_key)
        assert verified.complete
        assert verified.record == response.record
        assert list(verified.texts) == list(response.texts)


class TestTheSameRequestGivesTheSameBytes:
    """Through whichever replica, and however often."""

    @given(requests())
    def test_it_does(self, asked: roll_pb2.RollRequest) -> None:
        again = json_codec.loads(roll_pb2.RollRequest, json_codec.dumps(asked))
        assert roller().roll(asked, TENANT).envelope == roller().roll(again, TENANT).envelope


class TestOneSeqHasOneStream:
    """Whatever else is asked at a seq, and however it is labelled, the words are the same."""

    @given(st.integers(0, 1000), st.lists(st.sampled_from(TEXTS), min_size=1, max_size=5), named)
    def test_it_has(self, seq: int, texts: list[str], label: str) -> None:
        asked = request("20d1000000", *texts, seq=seq)
        asked.checks[0].label = label
        plain = roller().roll(request("20d1000000", seq=seq), TENANT).record
        other = roller().roll(asked, TENANT).record
        assert plain.proof == other.proof
        assert plain.outcomes[0] == other.outcomes[0]


class TestAnyFlippedBitIsRefused:
    """And the step that refuses it is named."""

    @given(st.sampled_from(SAMPLES), st.data())
    def test_in_the_payload(self, sample: Sample, data: st.DataObject) -> None:
        bundle = bundle_of(roller().roll(roll_pb2.RollRequest(checks=[sample.message()]), TENANT))
        payload = bytearray(bundle.envelope.payload)
        payload[data.draw(st.integers(0, len(payload) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        flipped = type(bundle.envelope)(bytes(payload), bundle.envelope.payload_type, bundle.envelope.signatures)
        with pytest.raises(VerificationError) as refused:
            verify(type(bundle)(flipped, (), bundle.key_list), ROOT.public_key)
        assert refused.value.step == Step.SIGNATURE

    @given(st.data())
    def test_in_the_signature(self, data: st.DataObject) -> None:
        bundle = bundle_of(roller().roll(request("d6"), TENANT))
        keyid, sig = bundle.envelope.signatures[0].keyid, bytearray(bundle.envelope.signatures[0].sig)
        sig[data.draw(st.integers(0, 63))] ^= 1 << data.draw(st.integers(0, 7))
        flipped = type(bundle.envelope)(
            bundle.envelope.payload, bundle.envelope.payload_type, (Signature(keyid, bytes(sig)),)
        )
        with pytest.raises(VerificationError) as refused:
            verify(type(bundle)(flipped, (), bundle.key_list), ROOT.public_key)
        assert refused.value.step == Step.SIGNATURE


class TestNoBytesUnderTheRightSignatureDoHarm:
    """A payload of any bytes ends in a VerificationError, and in nothing else."""

    @given(st.binary(max_size=200))
    def test_random_bytes(self, payload: bytes) -> None:
        with pytest.raises(VerificationError) as refused:
            verify(signed(payload), ROOT.public_key)
        assert refused.value.step == Step.PARSE

    @given(messages(roll_pb2.RollRecord, 4))
    def test_random_records(self, record: roll_pb2.RollRecord) -> None:
        with pytest.raises(VerificationError):
            verify(signed(record), ROOT.public_key)

    @given(st.sampled_from(SAMPLES), st.data())
    def test_a_real_record_with_a_byte_changed(self, sample: Sample, data: st.DataObject) -> None:
        record = roller().roll(roll_pb2.RollRequest(checks=[sample.message()]), TENANT).record
        payload = bytearray(record.SerializeToString(deterministic=True))
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
        try:
            verified = verify(signed(bytes(payload)), ROOT.public_key)
        except VerificationError as error:
            assert error.step >= Step.PARSE  # noqa: PT017  some changes are none, or ask for the same in other words
        else:
            assert [outcome.draws for outcome in verified.record.outcomes] == [
                outcome.draws for outcome in record.outcomes
            ]


class TestWhateverIsAsked:
    """Any request is rolled or refused by a typed error, and what is refused has proved nothing."""

    @given(messages(roll_pb2.RollRequest, 4))
    def test_it_is_rolled_or_refused(self, asked: roll_pb2.RollRequest) -> None:
        service = roller()
        try:
            response = service.roll(asked, TENANT)
        except FairrollError as error:
            assert isinstance(error, RequestError | StateError)  # noqa: PT017  either end is good
            assert proofs_of(service) == 0
        else:
            assert verify(bundle_of(response), ROOT.public_key).complete

    @given(st.text(max_size=30))
    def test_any_text_as_notation(self, text: str) -> None:
        service = roller()
        try:
            response = service.roll(roll_pb2.RollRequest(checks=notation(text)), TENANT)
        except RequestError as error:
            assert error.field.startswith("checks[0].notation")  # noqa: PT017  either end is good
            assert proofs_of(service) == 0
        else:
            assert verify(bundle_of(response), ROOT.public_key).complete


class TestConversionLosesNothing:
    """Checks and outcomes survive to protobuf and back."""

    @given(samples, st.integers(0, 2**53 - 1))
    def test_it_does_not(self, check: roll_pb2.Check, seq: int) -> None:
        value = read_check(check)
        assert read_check(write_check(value)) == value
        asked = request(seq=seq)
        asked.checks.append(check)
        outcome = roller().roll(asked, TENANT).record.outcomes[0]
        assert read_outcome(outcome) == read_outcome(roll_pb2.CheckOutcome.FromString(outcome.SerializeToString()))
