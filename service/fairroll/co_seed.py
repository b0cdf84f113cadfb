"""The owner's side of a co-seed chain (protocol section 1): values are given one by one, each for one request.

    {"last":"q83v..=","length":4096,"session_id":"e9f5..","requests":["855c..",..]}

A private file: `last` is e_N, from which every value follows. `requests` holds the digest of the request that the value
of each seq was given for, and is written before the value is shown: so the file says later what a receipt must hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_bytes

from fairroll import files, hashing, strict_json
from fairroll.errors import KeyFileError, RequestError
from fairroll.levels import RevealLog
from fairroll.receipt import is_digest
from fairroll.session import MAX_CHAIN_LENGTH

_FIELDS = ("last", "length", "session_id", "requests")


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain and what its values were given for.

    Attributes:
        last: e_N, 32 bytes, secret.
        length: N, 1..4096: how many values there are.
        session_id: the one session that it is for, 64 hex digits; "" until the first value is given.
        requests: by seq, the digest of the request that the value was given for, 64 hex digits.
    """

    last: bytes
    length: int
    session_id: str = ""
    requests: tuple[str, ...] = ()

    @property
    def anchor(self) -> bytes:
        """e_0, which an offer shows; 32 bytes."""
        return hashing.chain_back(self.last, self.length)

    @property
    def log(self) -> RevealLog:
        """What an auditor needs of it; holds no secret."""
        return RevealLog(self.anchor, dict(enumerate(self.requests)))

    def value(self, seq: int) -> bytes:
        """Return e_(seq+1), the value of a seq below `length`; 32 bytes."""
        return hashing.chain_back(self.last, self.length - 1 - seq)


@dataclass(frozen=True, slots=True)
class Announced:
    """A request as it was shown to the table before anybody gave a value.

    Attributes:
        session_id: 32 bytes.
        anchors: the session's, 32 bytes each.
        seq: the request's.
        request_digest: what "the same request" means, 64 hex digits.
    """

    session_id: bytes
    anchors: tuple[bytes, ...]
    seq: int
    request_digest: str


def new_chain(path: Path, length: int = MAX_CHAIN_LENGTH) -> Chain:
    """Draw a chain into a private file, which must not exist yet.

    Args:
        path: the file.
        length: how many values it has, 1..4096; a session with it ends there.

    Raises:
        RequestError: OUT_OF_RANGE, the length.
        KeyFileError: the file exists, or cannot be written.
    """
    if not 1 <= length <= MAX_CHAIN_LENGTH:
        raise RequestError(
            "OUT_OF_RANGE",
            f"a chain has 1 to {MAX_CHAIN_LENGTH} values",
            field="length",
            minimum=1,
            maximum=MAX_CHAIN_LENGTH,
            value=str(length),
        )
    chain = Chain(token_bytes(hashing.HASH_BYTES), length)
    files.create(path, _format(chain))
    return chain


def reveal(path: Path, announced: Announced, check_before: Callable[[str], None]) -> bytes:
    """Give the value for a request that was announced, and remember it first; the same again for the same request.

    Args:
        path: what `new_chain` wrote.
        announced: the request.
        check_before: called above seq 0 where the value is new, with the digest of the request that the value before
            was given for; raises where the receipt of that seq is not shown, or is another request's.

    Raises:
        RequestError: CHAIN_FOREIGN, CHAIN_OTHER_SESSION, REVEAL_CONFLICT, REVEAL_GAP, CHAIN_EXHAUSTED, or what
            `check_before` raises. The file is left as it was.
        KeyFileError: the file is no such file, is open to others, or cannot be written.
    """
    with files.alone(path):
        chain = read_chain(path)
        seq, given = announced.seq, len(chain.requests)
        if chain.anchor not in announced.anchors:
            raise RequestError("CHAIN_FOREIGN", "the request's session does not hold the anchor of this chain")
        if chain.session_id not in ("", announced.session_id.hex()):
            raise RequestError(
                "CHAIN_OTHER_SESSION",
                "values of this chain were given in another session; draw a chain for each",
                value=chain.session_id,
            )
        if seq >= chain.length:
            raise RequestError(
                "CHAIN_EXHAUSTED",
                f"the chain ends at seq {chain.length - 1}",
                field="seq",
                maximum=chain.length - 1,
                value=str(seq),
            )
        if seq < given and chain.requests[seq] != announced.request_digest:
            raise RequestError(
                "REVEAL_CONFLICT",
                f"the value of seq {seq} was given for request {chain.requests[seq]}, and this is another",
                field="seq",
                value=str(seq),
            )
        if seq > given:
            raise RequestError(
                "REVEAL_GAP", f"the next value is that of seq {given}", field="seq", maximum=given, value=str(seq)
            )
        if seq == given:
            if seq:
                check_before(chain.requests[-1])
            requests = (*chain.requests, announced.request_digest)
            chain = replace(chain, session_id=announced.session_id.hex(), requests=requests)
            files.replace(path, _format(chain), files.PRIVATE_FILE_MODE)
        return chain.value(seq)


def read_chain(path: Path) -> Chain:
    """Read a chain's file.

    Raises:
        KeyFileError: CHAIN_FILE_INVALID, it is none; or it cannot be read, or is open to others.
    """
    content = files.read_private(path)
    try:
        parts = strict_json.members(strict_json.parse(content), _FIELDS, "chain")
        last = strict_json.base64(parts["last"], "chain.last")
        length = strict_json.integer(parts["length"], "chain.length")
        session_id = strict_json.string(parts["session_id"], "chain.session_id")
        requests = tuple(
            strict_json.string(each, "chain.requests") for each in strict_json.items(parts["requests"], "")
        )
    except RequestError as error:
        raise _invalid(path) from error
    good = len(last) == hashing.HASH_BYTES and len(requests) <= length <= MAX_CHAIN_LENGTH
    if not good or not all(map(is_digest, (*requests, *([session_id] if session_id or requests else [])))):
        raise _invalid(path)
    return Chain(last, length, session_id, requests)


def _format(chain: Chain) -> bytes:
    parts = (strict_json.to_base64(chain.last), chain.length, chain.session_id, list(chain.requests))
    return strict_json.to_text(dict(zip(_FIELDS, parts, strict=True))) + b"\n"


def _invalid(path: Path) -> KeyFileError:
    return KeyFileError("CHAIN_FILE_INVALID", f"{path.name} is no file of `fairroll chain new`", field=path.name)
