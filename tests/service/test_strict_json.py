"""JSON and base64 that have one reading."""

import pytest

from fairroll import strict_json
from fairroll.errors import RequestError


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"{} {}",
        b'{"a":1,"a":1}',
        b'{"a":{"b":1,"b":2}}',
        b"[NaN]",
        b"[Infinity]",
        b"[1.0]",
        b"[1e2]",
        b'"\\ud800"',
        b'{"\\udfff":1}',
        b'"\xff"',
        b"\xef\xbb\xbf{}",
        b"[" * 100_000 + b"]" * 100_000,
        b"9" * 5000,
        "[١]".encode(),
    ],
)
def test_what_has_more_than_one_reading_is_refused(text: bytes) -> None:
    with pytest.raises(RequestError) as caught:
        strict_json.parse(text)
    assert caught.value.reason == "JSON_INVALID"


def test_text_keeps_the_order_of_keys_and_any_script() -> None:
    text = '{"b":"ä🎲","a":[1,true]}'.encode()
    assert strict_json.to_text(strict_json.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["QQ", "QQ=", "QR==", "QQ==\n", " QQ==", "QQ==QQ==", "Q-==", "Q_8=", "QQ===", "====", "ä", "Q", "QQ =="]
)
def test_base64_has_one_spelling(text: str) -> None:
    with pytest.raises(RequestError) as caught:
        strict_json.base64(text, "payload")
    assert caught.value.reason == "BASE64_INVALID"


@pytest.mark.parametrize("value", [b"", b"A", b"AB", b"ABC", bytes(range(256))])
def test_base64_reads_what_it_writes(value: bytes) -> None:
    assert strict_json.base64(strict_json.to_base64(value), "payload") == value


@pytest.mark.parametrize("value", [True, 0, -1, 2**53, "1", None, 1.0])
def test_an_integer_is_a_whole_number_from_1(value: object) -> None:
    with pytest.raises(RequestError):
        strict_json.integer(value, "epoch")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_named(encoding: str) -> None:
    """What shells of Windows write before, and instead of, UTF-8."""
    with pytest.raises(RequestError, match="byte order mark"):
        strict_json.parse("{}".encode(encoding))
