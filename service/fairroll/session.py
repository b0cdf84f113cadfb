"""A session and what its parties put into it (protocol section 2).

What exists here is valid: the constructors refuse the rest. The errors are
RequestErrors, since a service gets sessions from callers; a verifier that meets one
in a record turns it into its own error with the step it is in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hmac import compare_digest
from re import compile as compile_pattern
from typing import Self

from fairroll.errors import RequestError
from fairroll.hashing import HASH_BYTES, MAX_SEQ, SESSION_TAG, chain_back, co, one_off_value, tagged_hash

MAX_NAME_BYTES = 200
MAX_CONTRIBUTIONS = 32
MAX_ANCHORS = 4
MAX_CHAIN_LENGTH = 4096
MAX_ROUND = 2**64 - 1
ONE_OFF_PREFIX = "one-off/"

_ONE_OFF = compile_pattern(r"one-off/[0-9a-f]{64}")
_KEY_ID = compile_pattern(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class Participant:
    """What one participant drew at random and opened after the offer was shown."""

    entropy: bytes

    def __post_init__(self) -> None:
        check_length(self.entropy, "entropy")

    def hashed(self) -> bytes:
        """Return `01 | entropy[32]`."""
        return b"\x01" + self.entropy


@dataclass(frozen=True, slots=True)
class DrandRound:
    """A round of a drand chain, named before it existed.

    Its signature, by which it is checked, is not hashed and so not kept here.
    """

    chain_hash: bytes
    round: int
    randomness: bytes

    def __post_init__(self) -> None:
        check_length(self.chain_hash, "chain_hash")
        check_length(self.randomness, "randomness")
        check_round_number(self.round)

    def hashed(self) -> bytes:
        """Return `02 | chain_hash[32] | u64 round | randomness[32]`."""
        return b"\x02" + self.chain_hash + self.round.to_bytes(8, "big") + self.randomness


@dataclass(frozen=True, slots=True)
class Anchor:
    """The start e_0 of a co-seed chain."""

    anchor: bytes

    def __post_init__(self) -> None:
        check_length(self.anchor, "anchor")

    def hashed(self) -> bytes:
        """Return `03 | anchor[32]`."""
        return b"\x03" + self.anchor


Contribution = Participant | DrandRound | Anchor


@dataclass(frozen=True, slots=True)
class Session:
    """Where a roll belongs; fixed before seq 0.

    Attributes:
        origin: the service's configured name, 1..200 bytes.
        tenant: public id of the caller's credential, 1..200 bytes.
        table: the caller's name for it, 1..200 bytes; `one-off/` and 64 hex digits
            for a session that the service made for a single roll.
        vrf_key_id: 43 characters, base64url.
        contributions: at most 32, at most 4 of them anchors; order is significant.
    """

    origin: str
    tenant: str
    table: str
    vrf_key_id: str
    contributions: tuple[Contribution, ...] = ()

    def __post_init__(self) -> None:
        for name in ("origin", "tenant", "table"):
            check_name(getattr(self, name), name)
        check_key_id(self.vrf_key_id)
        check_count(len(self.contributions), MAX_CONTRIBUTIONS, "contributions")
        check_count(len(self.anchors), MAX_ANCHORS, "anchors")
        if self.is_one_off and (self.contributions or not _ONE_OFF.fullmatch(self.table)):
            raise RequestError(
                "ONE_OFF_MALFORMED",
                "a one-off table is one-off/ and 64 hex digits, in a session without contributions",
                field="session.table",
                value=self.table,
            )

    @classmethod
    def one_off(cls, origin: str, tenant: str, vrf_key_id: str, value: bytes) -> Self:
        """Make the session of a single roll.

        Args:
            origin: the service's name.
            tenant: public id of the caller's credential.
            vrf_key_id: the active key's.
            value: 32 random bytes, or `hashing.one_off_value` of a request_id.

        Raises:
            RequestError: a part is out of its range.
        """
        return cls(origin, tenant, ONE_OFF_PREFIX + value.hex(), vrf_key_id)

    @property
    def is_one_off(self) -> bool:
        """Whether the service made it for a single roll."""
        return self.table.startswith(ONE_OFF_PREFIX)

    @property
    def anchors(self) -> tuple[bytes, ...]:
        """The starts of the co-seed chains, in order, 32 bytes each."""
        return tuple(part.anchor for part in self.contributions if isinstance(part, Anchor))

    def session_id(self, vrf_public_key: bytes) -> bytes:
        """Return the 32 bytes that stand for this session under that VRF key."""
        return tagged_hash(
            SESSION_TAG,
            self.origin.encode(),
            self.tenant.encode(),
            self.table.encode(),
            vrf_public_key,
            *(part.hashed() for part in self.contributions),
        )

    def co(self, seq: int, reveals: Sequence[bytes]) -> bytes:
        """Check the reveals of a seq against the anchors; return co, 32 bytes.

        The reveal e_(s+1) of seq s hashes s+1 times down to its anchor.

        Args:
            seq: 0..2^53-1; 0..4095 where the session has anchors.
            reveals: one for each anchor, in their order, 32 bytes each.

        Raises:
            RequestError: seq is out of range, or the reveals are not the anchors'.
        """
        check_seq(seq)
        anchors = self.anchors if self.contributions else ()
        if anchors and seq >= MAX_CHAIN_LENGTH:
            raise RequestError(
                "CHAIN_EXHAUSTED",
                f"a session with anchors ends at seq {MAX_CHAIN_LENGTH - 1}",
                field="seq",
                limit="chain_seq",
                maximum=MAX_CHAIN_LENGTH - 1,
                value=str(seq),
            )
        if len(reveals) != len(anchors):
            raise RequestError(
                "REVEAL_COUNT",
                f"the session has {len(anchors)} anchors and the request {len(reveals)} reveals",
                field="reveals",
                value=str(len(reveals)),
            )
        for index, (anchor, reveal) in enumerate(zip(anchors, reveals, strict=True)):
            if len(reveal) != HASH_BYTES or not compare_digest(chain_back(reveal, seq + 1), anchor):
                raise RequestError(
                    "REVEAL_MISMATCH",
                    f"reveal {index} is not the next value of its chain",
                    field=f"reveals[{index}]",
                )
        return co(reveals)

    def check_one_off(self, request_id: str) -> None:
        """Recompute a one-off table from the request_id it was made for (step 4).

        Without a request_id the table is random and there is nothing to recompute.

        Raises:
            RequestError: it is a one-off table of something else.
        """
        if not (self.is_one_off and request_id):
            return
        if self.table != ONE_OFF_PREFIX + one_off_value(self.tenant, request_id).hex():
            raise RequestError(
                "ONE_OFF_MISMATCH",
                "the one-off table is not the one of this tenant and request_id",
                field="session.table",
                value=self.table,
            )


def refuse_one_off_table(table: str) -> None:
    """Return if a caller may name a table so.

    Raises:
        RequestError: the name is one that only the service gives.
    """
    if table.startswith(ONE_OFF_PREFIX):
        raise RequestError(
            "TABLE_RESERVED",
            f"a table's name must not begin with {ONE_OFF_PREFIX}",
            field="session.table",
            value=table,
        )


def check_seq(seq: int) -> None:
    """Return if seq is 0..2^53-1, the whole numbers that JavaScript holds exactly.

    Raises:
        RequestError: it is not.
    """
    if not 0 <= seq <= MAX_SEQ:
        raise RequestError(
            "SEQ_OUT_OF_RANGE",
            "seq is 0 to 2^53-1",
            field="seq",
            limit="seq",
            maximum=MAX_SEQ,
            value=str(seq),
        )


def check_name(text: str, name: str) -> None:
    """Return if the text of this session field has 1..200 bytes of UTF-8.

    Raises:
        RequestError: it has not, or is no valid Unicode.
    """
    try:
        size_bytes = len(text.encode())
    except UnicodeEncodeError as error:
        raise RequestError("TEXT_INVALID", f"{name} is not valid Unicode", field=f"session.{name}") from error
    if not 1 <= size_bytes <= MAX_NAME_BYTES:
        raise RequestError(
            "NAME_LENGTH",
            f"{name} has 1 to {MAX_NAME_BYTES} bytes of UTF-8",
            field=f"session.{name}",
            limit=f"{name}_bytes",
            maximum=MAX_NAME_BYTES,
            value=str(size_bytes),
        )


def check_key_id(text: str) -> None:
    """Return if the text is spelled as a key id: 43 characters of base64url.

    Raises:
        RequestError: it is not.
    """
    if not _KEY_ID.fullmatch(text):
        raise RequestError(
            "KEY_ID_MALFORMED", "a key id has 43 characters of base64url", field="session.vrf_key_id", value=text
        )


def check_round_number(number: int) -> None:
    """Return if the number is that of a drand round, 1..2^64-1.

    Raises:
        RequestError: it is not.
    """
    if not 1 <= number <= MAX_ROUND:
        raise RequestError(
            "ROUND_OUT_OF_RANGE",
            "a drand round is 1 to 2^64-1",
            field="session.contributions.round",
            value=str(number),
        )


def check_length(part: bytes, name: str) -> None:
    """Return if a part of a contribution has its 32 bytes.

    Raises:
        RequestError: it has not.
    """
    if len(part) != HASH_BYTES:
        raise RequestError(
            "CONTRIBUTION_LENGTH",
            f"{name} has 32 bytes",
            field=f"session.contributions.{name}",
            value=str(len(part)),
        )


def check_count(number: int, maximum: int, name: str) -> None:
    """Return if there are no more contributions, or anchors, than a session has.

    Raises:
        RequestError: there are.
    """
    if number > maximum:
        raise RequestError(
            "TOO_MANY_CONTRIBUTIONS",
            f"a session has at most {maximum} {name}",
            field="session.contributions",
            limit=name,
            maximum=maximum,
            value=str(number),
        )
