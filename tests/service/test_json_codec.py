"""What protobuf's own JSON mapping lets pass and ours refuses, by reason and field."""

import json

import pytest
from google.protobuf.struct_pb2 import Struct

from fairroll import json_codec
from fairroll.errors import RequestError
from fairroll.v1 import roll_pb2, service_pb2
from fairroll.v1.notation_pb2 import NotationCheck

REFUSED = [
    ("a list for a message", "[]", "WRONG_TYPE", ""),
    ("a list for an inner message", '{"session":[]}', "WRONG_TYPE", "session"),
    ("an unknown field", '{"chekcs":[]}', "UNKNOWN_FIELD", "chekcs"),
    ("an unknown field inside", '{"checks":[{},{"notation":{"txt":"d6"}}]}', "UNKNOWN_FIELD", "checks[1].notation.txt"),
    ("both names of a field", '{"requestId":"a","request_id":"a"}', "JSON_KEY_REPEATED", "request_id"),
    ("a key twice", '{"seq":1,"seq":2}', "JSON_KEY_REPEATED", "seq"),
    ("bad base64", '{"reveals":["!!"]}', "BASE64_INVALID", "reveals[0]"),
    ("white space in base64", '{"reveals":["AA AA"]}', "BASE64_INVALID", "reveals[0]"),
    ("loose bits in base64", '{"reveals":["AB=="]}', "BASE64_INVALID", "reveals[0]"),
    ("too much padding", '{"reveals":["AA==="]}', "BASE64_INVALID", "reveals[0]"),
    (
        "an unknown enum number",
        '{"checks":[{"notation":{"dialect":4294967297}}]}',
        "ENUM_UNKNOWN",
        "checks[0].notation.dialect",
    ),
    (
        "an unknown enum name",
        '{"checks":[{"notation":{"dialect":"KLINGON"}}]}',
        "ENUM_UNKNOWN",
        "checks[0].notation.dialect",
    ),
    ("NaN", '{"seq":NaN}', "JSON_UNREADABLE", ""),
    ("1e3 for an integer", '{"seq":1e3}', "WRONG_TYPE", "seq"),
    ("1.0 for an integer", '{"seq":1.0}', "WRONG_TYPE", "seq"),
    ("a sign in an integer", '{"seq":"+1"}', "WRONG_TYPE", "seq"),
    ("Arabic digits in an integer", '{"seq":"١"}', "WRONG_TYPE", "seq"),
    ("an underscore in an integer", '{"seq":"1_0"}', "WRONG_TYPE", "seq"),
    ("a negative unsigned integer", '{"seq":-1}', "OUT_OF_RANGE", "seq"),
    ("more than 64 bits", '{"seq":18446744073709551616}', "OUT_OF_RANGE", "seq"),
    ("5,000 digits", '{"seq":' + "9" * 5000 + "}", "OUT_OF_RANGE", "seq"),
    ("true for an integer", '{"seq":true}', "WRONG_TYPE", "seq"),
    ("a number for a text", '{"requestId":5}', "WRONG_TYPE", "request_id"),
    ("a text for a bool", '{"close":"true"}', "WRONG_TYPE", "close"),
    ("null in a list", '{"checks":[null]}', "WRONG_TYPE", "checks[0]"),
    ("half a surrogate pair", '{"requestId":"\\ud800"}', "JSON_UNREADABLE", "request_id"),
    ("half a surrogate pair in a key", '{"\\ud800":1}', "UNKNOWN_FIELD", "?"),
    ("text after the end", "{} {}", "JSON_UNREADABLE", ""),
    ("bytes that are not UTF-8", b'{"requestId":"\xff"}', "JSON_UNREADABLE", ""),
    (
        "two arms of a oneof",
        '{"contributions":[{"entropy":"","anchor":""}]}',
        "FIELD_CONFLICT",
        "session.contributions[0].anchor",
    ),
    ("deep nesting", "[" * 100_000, "JSON_TOO_DEEP", ""),
]


@pytest.mark.parametrize(("body", "reason", "field"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_it_is_refused_with_its_reason_and_field(body: str | bytes, reason: str, field: str) -> None:
    if field.startswith("session.contributions"):
        body = f'{{"session":{body!s}}}'
    with pytest.raises(RequestError) as caught:
        json_codec.loads(roll_pb2.RollRequest, body)
    assert (caught.value.reason, caught.value.field) == (reason, field)


ACCEPTED = [
    ("an empty body", "", roll_pb2.RollRequest()),
    ("a blank body", " \n", roll_pb2.RollRequest()),
    ("null for a field", '{"session":null,"seq":null}', roll_pb2.RollRequest()),
    ("an integer as text", '{"seq":"9007199254740991"}', roll_pb2.RollRequest(seq=9007199254740991)),
    ("an integer as number", '{"seq":9007199254740991}', roll_pb2.RollRequest(seq=9007199254740991)),
    ("a field under its proto name", '{"request_id":"a"}', roll_pb2.RollRequest(request_id="a")),
    ("base64 of the other alphabet", '{"reveals":["_-8"]}', roll_pb2.RollRequest(reveals=[b"\xff\xef"])),
    (
        "an enum by its number",
        '{"checks":[{"notation":{"dialect":1}}]}',
        roll_pb2.RollRequest(checks=[roll_pb2.Check(notation=NotationCheck(dialect=NotationCheck.DIALECT_STANDARD))]),
    ),
]


@pytest.mark.parametrize(("body", "message"), [row[1:] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_it_is_read(body: str, message: roll_pb2.RollRequest) -> None:
    assert json_codec.loads(roll_pb2.RollRequest, body) == message


def test_zero_values_are_printed_and_unset_messages_are_not() -> None:
    printed = json.loads(json_codec.dumps(roll_pb2.RollRequest()))
    assert printed == {
        "seq": "0",
        "previous": "",
        "reveals": [],
        "requestId": "",
        "checks": [],
        "answers": [],
        "root": "",
        "continues": "",
        "close": False,
        "chain": [],
        "cited": [],
    }


def test_a_schema_is_printed_as_plain_json() -> None:
    schema = Struct()
    schema.update({"type": "object", "required": ["text"]})
    info = service_pb2.SystemInfo(name="notation", check_schema=schema)
    assert json.loads(json_codec.dumps(info))["checkSchema"] == {"type": "object", "required": ["text"]}


def test_deep_nesting_is_told_with_its_depth() -> None:
    with pytest.raises(RequestError) as caught:
        json_codec.loads(roll_pb2.RollRequest, '{"requestId":"[[[","x":' + "[" * 100_000)
    assert (caught.value.limit, caught.value.maximum, caught.value.value) == ("json_depth", 64, "100001")


@pytest.mark.timeout(20)
def test_a_repeated_key_after_a_hundred_thousand_others_is_found_in_one_walk() -> None:
    names = [f"{number:05d}" for number in range(100_000)]
    body = "{" + ",".join(f'"{name}":0' for name in [*names, "50000"]) + "}"
    with pytest.raises(RequestError) as refused:
        json_codec.parse(body)
    assert (refused.value.reason, refused.value.field) == ("JSON_KEY_REPEATED", "50000")


@pytest.mark.parametrize("body", ["", " \t\r\n", "\u00a0", "\x0b"])
def test_only_white_space_of_json_is_a_body_of_nothing(body: str) -> None:
    if body.strip(" \t\r\n"):
        with pytest.raises(RequestError):
            json_codec.loads(roll_pb2.RollRequest, body)
    else:
        assert json_codec.loads(roll_pb2.RollRequest, body) == roll_pb2.RollRequest()
