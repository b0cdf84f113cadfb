"""The owner's side of a co-seed chain: a value for one request alone, in order, remembered before it is shown."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from fairroll import json_codec
from fairroll.co_seed import Announced, Chain, new_chain, read_chain, reveal
from fairroll.errors import KeyFileError, RequestError
from fairroll.levels import RevealLog, read_reveal_log
from fairroll.session import MAX_CHAIN_LENGTH
from fairroll.v1 import session_pb2

SESSION = b"s" * 32
FIRST, SECOND, OTHER = "11" * 32, "22" * 32, "99" * 32


def one_back(value: bytes) -> bytes:
    """One step of a chain by the protocol's words, without the code under test."""
    tag = b"fairroll/v1/chain"
    return sha256(len(tag).to_bytes(4, "big") + tag + (32).to_bytes(4, "big") + value).digest()


def shown(_: str) -> None:
    """The receipt before was shown and is right."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ann.chain"


@pytest.fixture
def chain(path: Path) -> Chain:
    return new_chain(path, 3)


@pytest.fixture
def announced(chain: Chain) -> Announced:
    return Announced(SESSION, (b"x" * 32, chain.anchor), 0, FIRST)


def refused(path: Path, announced: Announced, check_before: Callable[[str], None] = shown) -> str:
    """Why nothing was given; the file is as it was."""
    before = path.read_bytes()
    with pytest.raises(RequestError) as error:
        reveal(path, announced, check_before)
    assert path.read_bytes() == before
    return error.value.reason


def test_values_lead_back_to_the_anchor_one_step_more_for_each_seq(path: Path, announced: Announced) -> None:
    anchor = read_chain(path).anchor
    for seq, digest in enumerate((FIRST, SECOND, OTHER)):
        value = reveal(path, replace(announced, seq=seq, request_digest=digest), shown)
        for _ in range(seq + 1):
            value = one_back(value)
        assert value == anchor


def test_a_chain_is_drawn_once_into_a_private_file(path: Path, chain: Chain, tmp_path: Path) -> None:
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_chain(path) == chain
    assert new_chain(tmp_path / "bob.chain").length == MAX_CHAIN_LENGTH
    before = path.read_bytes()
    with pytest.raises(KeyFileError) as error:
        new_chain(path)
    assert error.value.reason == "FILE_EXISTS"
    assert path.read_bytes() == before


@pytest.mark.parametrize("length", [0, -1, MAX_CHAIN_LENGTH + 1])
def test_a_chain_has_1_to_4096_values(path: Path, length: int) -> None:
    with pytest.raises(RequestError) as error:
        new_chain(path, length)
    assert (error.value.reason, error.value.maximum) == ("OUT_OF_RANGE", 4096)
    assert not path.exists()


def test_the_same_request_gets_its_value_again_and_another_one_does_not(path: Path, announced: Announced) -> None:
    value = reveal(path, announced, shown)
    remembered = path.read_bytes()
    assert reveal(path, announced, shown) == value
    assert path.read_bytes() == remembered
    assert refused(path, replace(announced, request_digest=OTHER)) == "REVEAL_CONFLICT"


def test_a_value_is_given_in_its_place_alone(path: Path, announced: Announced) -> None:
    assert refused(path, replace(announced, seq=1)) == "REVEAL_GAP"
    assert refused(path, replace(announced, seq=3)) == "CHAIN_EXHAUSTED"
    assert refused(path, replace(announced, anchors=(b"x" * 32,))) == "CHAIN_FOREIGN"
    assert refused(path, replace(announced, anchors=())) == "CHAIN_FOREIGN"
    reveal(path, announced, shown)
    assert refused(path, replace(announced, session_id=b"t" * 32)) == "CHAIN_OTHER_SESSION"


def test_the_receipt_before_is_judged_before_the_next_value_is_given(path: Path, announced: Announced) -> None:
    judged: list[str] = []
    reveal(path, announced, judged.append)
    assert judged == []

    def another(_: str) -> None:
        raise RequestError("REVEAL_DIFFERS", "another request")

    following = replace(announced, seq=1, request_digest=SECOND)
    assert refused(path, following, another) == "REVEAL_DIFFERS"
    reveal(path, following, judged.append)
    assert judged == [FIRST]
    reveal(path, following, another)  # it was given, so there is nothing more to judge


def test_of_two_requests_at_one_moment_one_gets_the_value(path: Path, announced: Announced) -> None:
    def ask(number: int) -> str:
        try:
            reveal(path, replace(announced, request_digest=f"{number:064x}"), shown)
        except RequestError as error:
            return error.reason
        return "given"

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(32)))
    assert sorted(answers) == ["REVEAL_CONFLICT"] * 31 + ["given"]
    assert read_chain(path).requests == (f"{answers.index('given'):064x}",)


def test_the_log_says_what_values_were_given_for_and_no_value(path: Path, announced: Announced) -> None:
    reveal(path, announced, shown)
    chain = read_chain(path)
    assert chain.log == RevealLog(chain.anchor, {0: FIRST})
    text = json_codec.dumps(chain.log.message())
    assert read_reveal_log(json_codec.loads(session_pb2.RevealLog, text)) == chain.log
    value = json_codec.to_value(session_pb2.Contribution(entropy=chain.value(0)))["entropy"]
    assert value.encode() not in text


WHOLE = '{"last":"' + "A" * 43 + '=","length":3,"session_id":"","requests":[]}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        WHOLE.replace("AAAA", "", 1),
        WHOLE.replace("3", "4097"),
        WHOLE.replace("3", "0"),
        WHOLE.replace("[]", '["11"]'),
        WHOLE.replace("[]", f'["{FIRST}"]'),  # given in no session
        WHOLE.replace("[]", f'["{FIRST}","{FIRST}","{FIRST}","{FIRST}"]').replace('""', f'"{OTHER}"'),
        WHOLE.replace('""', '"crypt"'),
    ],
)
def test_a_file_that_is_no_chain_is_named_and_left(path: Path, text: str) -> None:
    path.touch(0o600)
    path.write_text(text)
    with pytest.raises(KeyFileError) as error:
        reveal(path, Announced(SESSION, (), 0, FIRST), shown)
    assert (error.value.reason, error.value.field) == ("CHAIN_FILE_INVALID", "ann.chain")
    assert path.read_text() == text


def test_the_file_that_those_are_spoilt_from_is_good(path: Path) -> None:
    path.touch(0o600)
    path.write_text(WHOLE)
    assert read_chain(path) == Chain(bytes(32), 3)


def test_a_chain_that_others_can_read_is_refused(path: Path, announced: Announced) -> None:
    path.chmod(0o644)
    with pytest.raises(KeyFileError) as error:
        reveal(path, announced, shown)
    assert error.value.reason == "KEY_FILE_EXPOSED"
