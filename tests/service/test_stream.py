"""From beta to faces: exactly fair, lazy, and each check on its own."""

import hmac
from collections import Counter
from itertools import islice

import pytest

from fairroll import stream
from fairroll.errors import RequestError
from fairroll.stream import Stream, draw, words

BETA = bytes(range(64))


@pytest.mark.parametrize("n", range(1, 257))
def test_over_all_8_bit_words_each_face_comes_up_equally_often(n: int) -> None:
    counts: Counter[int] = Counter()
    source = iter(range(256))
    while True:
        try:
            counts[draw(source, n, 256)] += 1
        except StopIteration:
            break
    assert dict(counts) == dict.fromkeys(range(n), 256 // n)


def test_words_are_big_endian_in_blocks_of_eight() -> None:
    def block(check: int, number: int) -> bytes:
        message = b"fairroll/v1/stream\0" + check.to_bytes(4, "big") + number.to_bytes(4, "big")
        return hmac.new(BETA, message, "sha256").digest()

    text = b"".join(block(7, number) for number in range(3))
    expected = [int.from_bytes(text[place : place + 4], "big") for place in range(0, 96, 4)]
    assert list(islice(words(BETA, 7), 24)) == expected


def test_a_block_is_made_only_when_a_word_of_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def count(key: bytes, message: bytes, name: str) -> bytes:
        made.append(message)
        return hmac.digest(key, message, name)

    monkeypatch.setattr(stream, "digest", count)
    dice = Stream(BETA, 0)
    assert len(made) == 0
    for _ in range(8):
        dice.draw(1)
    assert len(made) == 1
    dice.draw(1)
    assert len(made) == 2


def test_checks_of_one_beta_have_words_of_their_own() -> None:
    first, second = (list(islice(words(BETA, check), 64)) for check in (0, 1))
    assert not set(first) & set(second)


@pytest.mark.parametrize(("word", "fits"), [(2**32 - 5, True), (2**32 - 4, False), (2**32 - 1, False), (0, True)])
def test_a_word_at_or_above_the_greatest_multiple_is_passed_over(word: int, fits: bool) -> None:
    # 2^32 mod 6 = 4
    assert draw(iter([word, 1]), 6) == (word % 6 if fits else 1)


def test_a_draw_of_one_takes_a_word_like_any_other() -> None:
    source = iter([5, 6])
    assert draw(source, 1) == 0
    assert next(source) == 6


def test_a_face_is_the_draw_plus_one() -> None:
    dice, again = Stream(BETA, 3), Stream(BETA, 3)
    sides = [2, 3, 4, 6, 8, 10, 12, 20, 100, 1000, 2**31]
    assert [dice.face(n) for n in sides] == [again.draw(n) + 1 for n in sides]


@pytest.mark.parametrize("n", [0, -1, 2**31 + 1])
def test_sides_out_of_range_are_refused_and_use_no_word(n: int) -> None:
    source = iter([9])
    with pytest.raises(RequestError) as caught:
        draw(source, n)
    assert caught.value.reason == "SIDES_OUT_OF_RANGE"
    assert next(source) == 9
