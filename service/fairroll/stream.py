"""From beta to faces (protocol.md, first screen and section 4). Pure: bytes in.

Each check of a roll has words of its own:
`block_i,j = HMAC-SHA256(beta, "fairroll/v1/stream" 00 | u32be(i) | u32be(j))` holds
words 8j..8j+7 of check i, u32be. So a check more or less shifts no other check's faces.
"""

from collections.abc import Iterator
from hmac import digest
from itertools import count
from struct import Struct

from fairroll.errors import RequestError
from fairroll.hashing import STREAM_TAG

WORD_RANGE = 2**32
MAX_SIDES = 2**31

_BLOCK = Struct(">8I")
_INDEX = Struct(">I")


def words(beta: bytes, check_index: int) -> Iterator[int]:
    """Yield the words of one check, each 0..2^32-1; a block is made when needed.

    Args:
        beta: 64 bytes.
        check_index: the check's place in its record, from 0.
    """
    front = STREAM_TAG + b"\x00" + _INDEX.pack(check_index)
    for block_index in count():
        block = digest(beta, front + _INDEX.pack(block_index), "sha256")
        yield from _BLOCK.unpack(block)


def draw(source: Iterator[int], n: int, word_range: int = WORD_RANGE) -> int:
    """Return 0..n-1, each equally often over all words: the first word that fits, mod n.

    A word at or above the greatest multiple of n is passed over, n = 1 takes a word
    like any other.

    Args:
        source: words, each 0..word_range-1.
        n: 1..2^31, and not above word_range.
        word_range: how many words there are; another one only for the exact bias test.

    Raises:
        RequestError: n is out of range.
    """
    if not 1 <= n <= MAX_SIDES:
        raise RequestError(
            "SIDES_OUT_OF_RANGE",
            f"a draw is out of 1 to {MAX_SIDES}",
            limit="sides",
            maximum=MAX_SIDES,
            value=str(n),
        )
    limit = word_range - word_range % n
    word = next(source)
    while word >= limit:
        word = next(source)
    return word % n


class Stream:
    """The draws of one check, in order; asking again draws again."""

    __slots__ = ("_words",)

    def __init__(self, beta: bytes, check_index: int) -> None:
        """Begin at word 0.

        Args:
            beta: 64 bytes.
            check_index: the check's place in its record, from 0.
        """
        self._words = words(beta, check_index)

    def draw(self, n: int) -> int:
        """Return 0..n-1 for 1 <= n <= 2^31, or raise RequestError."""
        return draw(self._words, n)

    def face(self, sides: int) -> int:
        """Return the face of a die, 1..sides: draw(sides) + 1, with its errors."""
        return draw(self._words, sides) + 1
