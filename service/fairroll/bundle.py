"""What an auditor holds: a receipt, the receipts that it continues, and the key list, as one JSON file.

    {"envelope":{"payload":"..","payloadType":"..","signatures":[..]},"chain":[],"keyList":{..}}

The same JSON as the contract's message Bundle, and as strict as everything that is trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fairroll import strict_json
from fairroll.envelope import Envelope, envelope_json, envelope_of
from fairroll.errors import RequestError
from fairroll.receipt import envelope_message, read_envelope
from fairroll.v1 import envelope_pb2

MAX_CHAIN = 32
MAX_CHAIN_BYTES = 256 * 1024

_FIELDS = ("envelope", "chain", "keyList")


class Shown(NamedTuple):
    """What an answer of a service shows beside the receipt, and only the receipt is signed.

    Attributes:
        record: the decoded record, serialised again.
        digest: what the answer calls the receipt.
    """

    record: bytes
    digest: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """All that a verifier needs beside the root key.

    Attributes:
        envelope: the receipt.
        chain: the receipts that it continues, root first; empty for a root.
        key_list: the signed key list of its origin; None where another one is to be used.
        shown: where it is an answer as a service gave it.
    """

    envelope: Envelope
    chain: tuple[Envelope, ...] = ()
    key_list: Envelope | None = None
    shown: Shown | None = None

    def __post_init__(self) -> None:
        _check_chain(self.chain)


def parse_bundle(text: bytes) -> Bundle:
    """Read a bundle.

    Raises:
        RequestError: it is not one, in any respect; `field` says where.
    """
    return bundle_of(strict_json.parse(text))


def bundle_of(value: object) -> Bundle:
    """Read a bundle out of parsed JSON, as `parse_bundle` does."""
    parts = strict_json.members(value, _FIELDS, "bundle")
    chain = strict_json.items(parts["chain"], "bundle.chain")
    return Bundle(
        envelope_of(parts["envelope"], "bundle.envelope"),
        tuple(envelope_of(item, f"bundle.chain[{index}]") for index, item in enumerate(chain)),
        _key_list_of(parts["keyList"]),
    )


_last_key_list: tuple[object, Envelope] | None = None


def _key_list_of(value: object) -> Envelope:
    """Read a key list out of parsed JSON; the bundles of a folder hold the same one, so that the last is remembered."""
    global _last_key_list  # noqa: PLW0603  as whole, so that threads may write it
    last = _last_key_list
    if last is None or last[0] != value:
        last = _last_key_list = value, envelope_of(value, "bundle.keyList")
    return last[1]


def format_bundle(bundle: Bundle) -> bytes:
    """Write a bundle that has its key list.

    Raises:
        RequestError: it has none, and would not verify by itself.
    """
    if bundle.key_list is None:
        raise RequestError("REQUIRED", "a bundle holds its key list", field="bundle.keyList")
    return strict_json.to_text(
        {
            "envelope": envelope_json(bundle.envelope),
            "chain": [envelope_json(each) for each in bundle.chain],
            "keyList": envelope_json(bundle.key_list),
        }
    )


def read_bundle(message: envelope_pb2.Bundle) -> Bundle:
    """Return the bundle of a message; nothing is judged but its size.

    Raises:
        RequestError: it has no receipt, or its chain is too long.
    """
    if not message.HasField("envelope"):
        raise RequestError("REQUIRED", "a bundle holds a receipt", field="bundle.envelope")
    key_list = read_envelope(message.key_list) if message.HasField("key_list") else None
    return Bundle(read_envelope(message.envelope), tuple(read_envelope(each) for each in message.chain), key_list)


def read_chain(messages: Iterable[envelope_pb2.Envelope]) -> tuple[Envelope, ...]:
    """Return the envelopes of a chain; nothing is judged but its size.

    Raises:
        RequestError: LIMIT_EXCEEDED.
    """
    chain = tuple(read_envelope(each) for each in messages)
    _check_chain(chain)
    return chain


def bundle_message(bundle: Bundle) -> envelope_pb2.Bundle:
    """Return a bundle as the contract's message."""
    key_list = None if bundle.key_list is None else envelope_message(bundle.key_list)
    chain = [envelope_message(each) for each in bundle.chain]
    return envelope_pb2.Bundle(envelope=envelope_message(bundle.envelope), chain=chain, key_list=key_list)


def _check_chain(chain: Sequence[Envelope]) -> None:
    size_bytes = sum(len(each.payload) for each in chain)
    for limit, value, maximum in (("chain", len(chain), MAX_CHAIN), ("chain_bytes", size_bytes, MAX_CHAIN_BYTES)):
        if value > maximum:
            raise RequestError(
                "LIMIT_EXCEEDED",
                f"{limit}: {value} is above {maximum}",
                field="chain",
                limit=limit,
                maximum=maximum,
                value=str(value),
            )
