"""Our JSON is protobuf's own mapping on every valid message, both ways."""

import json

import pytest
from google.protobuf import json_format
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from fairroll import json_codec
from fairroll.errors import RequestError, Step, VerificationError, to_status
from fairroll.reasons import TABLE
from fairroll.v1 import roll_pb2, service_pb2
from tests.property.messages import messages

CLASSES: list[type[Message]] = [
    roll_pb2.RollRequest,
    roll_pb2.RollResponse,
    service_pb2.StreamRollsRequest,
    service_pb2.SealRollRequest,
    service_pb2.SealRollResponse,
    service_pb2.VerifyReceiptRequest,
    service_pb2.VerifyReceiptResponse,
    service_pb2.VerifySessionRequest,
    service_pb2.VerifySessionResponse,
    service_pb2.ParseNotationRequest,
    service_pb2.ParseNotationResponse,
    service_pb2.GetLimitsResponse,
    service_pb2.GetKeyListResponse,
]


# A message has some forty fields, each drawn: slow to make, and none of it for nothing.
many_fields = settings(max_examples=40)


def _protobuf_json(message: Message) -> str:
    return json_format.MessageToJson(message, always_print_fields_with_no_presence=True)


@pytest.mark.parametrize("message_class", CLASSES, ids=lambda one: one.DESCRIPTOR.name)
@many_fields
@given(data=st.data())
def test_what_is_printed_is_what_protobuf_prints(message_class: type[Message], data: st.DataObject) -> None:
    message = data.draw(messages(message_class))
    assert json.loads(json_codec.dumps(message)) == json.loads(_protobuf_json(message))


@pytest.mark.parametrize("message_class", CLASSES, ids=lambda one: one.DESCRIPTOR.name)
@many_fields
@given(data=st.data())
def test_what_protobuf_prints_is_read_as_the_same_message(message_class: type[Message], data: st.DataObject) -> None:
    message = data.draw(messages(message_class))
    assert json_codec.loads(message_class, _protobuf_json(message)) == message


def test_a_status_with_all_its_details_is_printed_as_protobuf_prints_it() -> None:
    error = VerificationError(Step.PARSE, "OUT_OF_RANGE", "no", field="a", value="9")
    error.minimum, error.maximum, error.span, error.expected, error.hint = 0, 3, (0, 2), ("x",), "a way"
    answer = service_pb2.StreamRollsResponse(item_id="i", status=to_status(error))
    assert len(answer.status.details) == 4
    assert json.loads(json_codec.dumps(answer)) == json.loads(_protobuf_json(answer))


@given(body=st.binary(max_size=200) | st.text(max_size=200))
def test_whatever_the_bytes_the_only_error_is_a_typed_one(body: bytes | str) -> None:
    try:
        json_codec.loads(roll_pb2.RollRequest, body)
    except RequestError as error:
        reason = error.reason
    else:
        reason = ""
    assert reason in {"", *TABLE}
