"""JSON where every departure is an error: what is signed or trusted is read with this.

Python's own parser takes duplicate keys, NaN and any nesting; its base64 decoder
drops what it does not know. Neither passes here.
"""

import json
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import TypeVar

from fairroll.errors import RequestError

MAX_JSON_INTEGER = 2**53 - 1
_Enum = TypeVar("_Enum", bound=StrEnum)


def parse(text: bytes) -> object:
    """Read one JSON document in UTF-8.

    Raises:
        RequestError: it is not JSON, or has a duplicate key, a number that is not
            whole, or text that is not Unicode.
    """
    try:
        document = text.decode()
        value: object = _DECODER.decode(document)
        if "\\u" in document:
            # A lone \ud800 is JSON, but no text that can be signed; only an escape can spell it.
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        marked = text.startswith((BOM_UTF8, BOM_UTF16_LE, BOM_UTF16_BE))
        why = (
            "a byte order mark stands before it: save it as plain UTF-8"
            if marked
            else "not JSON as it is required here"
        )
        raise RequestError("JSON_INVALID", why) from error
    return value


def to_text(value: object) -> bytes:
    """Write JSON in UTF-8 without white space, keys in the order given."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def members(value: object, names: Collection[str], where: str) -> Mapping[str, object]:
    """Return the object's members, which are exactly those named.

    Raises:
        RequestError: not an object, or a member is missing or unknown.
    """
    if not isinstance(value, dict):
        raise RequestError("JSON_TYPE", f"{where} is not an object", field=where)
    if tuple(value) == names:
        return value  # as it is written here, and nearly always
    for name in value:
        if name not in names:
            raise RequestError("UNKNOWN_FIELD", f"{where} has an unknown field", field=f"{where}.{name}")
    for name in names:
        if name not in value:
            raise RequestError("MISSING_FIELD", f"{where} lacks a field", field=f"{where}.{name}")
    return value


def items(value: object, where: str) -> list[object]:
    """Return the array's items, or raise RequestError."""
    if not isinstance(value, list):
        raise RequestError("JSON_TYPE", f"{where} is not an array", field=where)
    return value


def string(value: object, where: str) -> str:
    """Return the string, or raise RequestError."""
    if not isinstance(value, str):
        raise RequestError("JSON_TYPE", f"{where} is not a string", field=where)
    return value


def integer(value: object, where: str) -> int:
    """Return the whole number, 1..2^53-1, or raise RequestError."""
    if type(value) is not int or not 1 <= value <= MAX_JSON_INTEGER:
        raise RequestError("JSON_TYPE", f"{where} is not a whole number from 1 to 2^53-1", field=where)
    return value


def boolean(value: object, where: str) -> bool:
    """Return the boolean, or raise RequestError."""
    if not isinstance(value, bool):
        raise RequestError("JSON_TYPE", f"{where} is not true or false", field=where)
    return value


def enum(value: object, kind: type[_Enum], where: str) -> _Enum:
    """Return the member of the enum that the string names, or raise RequestError."""
    try:
        return kind(string(value, where))
    except ValueError as error:
        raise RequestError("UNKNOWN_VALUE", f"{where} is none of the known values", field=where) from error


def base64(value: object, where: str) -> bytes:
    """Return the bytes of standard base64 with its padding, or raise RequestError.

    Only the one spelling that an encoder makes: `QQ==` is, `QR==` and `QQ` are not.
    """
    text = string(value, where)
    try:
        decoded = a2b_base64(text, strict_mode=True)
    except (Base64Error, ValueError) as error:
        raise RequestError("BASE64_INVALID", f"{where} is not standard base64", field=where) from error
    if to_base64(decoded) != text:
        raise RequestError("BASE64_INVALID", f"{where} is not canonical base64", field=where)
    return decoded


def to_base64(value: bytes) -> str:
    """Write bytes as standard base64 with padding."""
    return b2a_base64(value, newline=False).decode()


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise ValueError("duplicate key")
    return unique


def _refuse_number(text: str) -> object:
    raise ValueError(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_float=_refuse_number,
    parse_constant=_refuse_number,
)
