"""Receipts and key lists as people keep them: a bundle, the answer of a service over REST, or a bare envelope."""

from __future__ import annotations

from fairroll import json_codec, strict_json
from fairroll.bundle import Bundle, Shown, bundle_of
from fairroll.envelope import Envelope, envelope_of
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


def parse_key_list(text: bytes) -> Envelope:
    """Read a signed key list: an envelope, as /.well-known/fairroll/keys has it, or an answer of GET /v1/keys.

    Raises:
        RequestError: it is neither.
    """
    value = strict_json.parse(text)
    if isinstance(value, dict) and "envelope" in value:
        return read_envelope(json_codec.loads(service_pb2.GetKeyListResponse, text).envelope)
    return envelope_of(value)


def _answer(text: bytes) -> Bundle:
    answer = json_codec.loads(roll_pb2.RollResponse, text)
    return Bundle(read_envelope(answer.envelope), shown=Shown(serialise(answer.record), answer.digest))
