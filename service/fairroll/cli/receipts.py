"""Receipts and key lists as people keep them: a bundle, the answer of a service over REST, or a bare envelope."""

from __future__ import annotations

from fairroll import json_codec, strict_json
from fairroll.bundle import Bundle, Shown, bundle_of
from fairroll.cli.output import read_file
from fairroll.envelope import Envelope, envelope_of
from fairroll.errors import KeyFileError, RequestError
from fairroll.receipt import read_envelope, serialise
from fairroll.v1 import roll_pb2, service_pb2


def parse_receipt(text: bytes) -> Bundle:
    """Read a bundle, or an answer of POST /v1/rolls, or an envelope; the last two have no key list.

    Raises:
        RequestError: it is none of them.
    """
    value = strict_json.parse(text)
    if isinstance(value, dict) and "payload" in value:
        return Bundle(envelope_of(value))
    if isinstance(value, dict) and "record" in value:
        return _answer(text)
    return bundle_of(value)


def receipt_at(name: str) -> Bundle:
    """Read a receipt from a file that a person named; `-` is standard input.

    Raises:
        KeyFileError: it cannot be read.
        RequestError: it is no receipt; the message names the file.
    """
    text = read_file(name)
    try:
        return parse_receipt(text)
    except RequestError as error:
        error.message = f"{name}: {error.message}"
        raise


def parse_key_list(text: bytes) -> Envelope:
    """Read a signed key list: an envelope, as /.well-known/fairroll/keys has it, or an answer of GET /v1/keys.

    Raises:
        RequestError: it is neither.
    """
    value = strict_json.parse(text)
    if isinstance(value, dict) and "envelope" in value:
        return read_envelope(json_codec.loads(service_pb2.GetKeyListResponse, text).envelope)
    return envelope_of(value)


def key_list_at(name: str) -> Envelope:
    """Read a signed key list from a file that a person named; `-` is standard input.

    Raises:
        KeyFileError: it cannot be read, or is none.
    """
    try:
        return parse_key_list(read_file(name))
    except RequestError as error:
        raise KeyFileError("KEY_LIST_UNREADABLE", f"{name} is no signed key list", field=error.field) from error


def _answer(text: bytes) -> Bundle:
    answer = json_codec.loads(roll_pb2.RollResponse, text)
    return Bundle(read_envelope(answer.envelope), shown=Shown(serialise(answer.record), answer.digest))
