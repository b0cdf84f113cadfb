"""An offer from the draw to the session: what it fixes, whom it lets open, and what is kept."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from fairroll import json_codec
from fairroll.beacon import QUICKNET
from fairroll.errors import KeyFileError, RequestError
from fairroll.kept import draw, open_for, parse_kept, refuse_past_rounds
from fairroll.offer import Commit, Offer, OfferedAnchor, OfferedRound, open_offer, read_offer
from fairroll.session_message import read_session
from fairroll.v1 import session_pb2
from tests.service.rolling import ORIGIN, TENANT, epoch_keys
from tests.service.test_beacon import published

ANN, BOB = b"a" * 32, b"b" * 32


def lp(part: bytes) -> bytes:
    return len(part).to_bytes(4, "big") + part


def commit_of(entropy: bytes) -> bytes:
    """By the protocol's words, without the code under test."""
    return sha256(lp(b"fairroll/v1/commit") + lp(entropy)).digest()


OFFER = Offer(
    ORIGIN,
    TENANT,
    "crypt",
    epoch_keys().vrf_key_id,
    (Commit(commit_of(ANN)), OfferedRound(QUICKNET.chain_hash, 1000), OfferedAnchor(b"e" * 32), Commit(commit_of(BOB))),
)
ROUNDS = {OfferedRound(QUICKNET.chain_hash, 1000): published(1000)}
BEFORE, AFTER = datetime(2023, 8, 23, 15, 59, 23, tzinfo=UTC), datetime(2023, 8, 23, 15, 59, 24, tzinfo=UTC)


def refusal(error: pytest.ExceptionInfo[RequestError]) -> str:
    return error.value.reason


def test_the_digest_is_over_everything_that_is_shown_in_order() -> None:
    shown = (
        b"\1" + commit_of(ANN),
        b"\2" + QUICKNET.chain_hash + (1000).to_bytes(8, "big"),
        b"\3" + b"e" * 32,
        b"\1" + commit_of(BOB),
    )
    names = (b"fairroll/v1/offer", ORIGIN.encode(), TENANT.encode(), b"crypt", epoch_keys().vrf_key_id.encode())
    assert OFFER.digest == sha256(b"".join(map(lp, (*names, *shown)))).hexdigest()


def test_an_offer_is_the_same_after_its_message_and_its_json() -> None:
    text = json_codec.dumps(OFFER.message())
    assert read_offer(json_codec.loads(session_pb2.Offer, text)) == OFFER


def test_the_session_of_an_offer_is_the_one_that_was_opened_whatever_the_order_of_openings() -> None:
    session = open_offer(OFFER, [BOB, ANN], ROUNDS)
    kinds = [part.WhichOneof("kind") for part in session.contributions]
    assert kinds == ["entropy", "beacon_round", "anchor", "entropy"]
    assert (session.contributions[0].entropy, session.contributions[3].entropy) == (ANN, BOB)
    assert OFFER.names_place_of(session)
    assert OFFER.difference(session.vrf_key_id, read_session(session).contributions) == ""


@pytest.mark.parametrize(
    ("opened", "rounds", "reason"),
    [
        ([ANN], ROUNDS, "OPENING_MISSING"),
        ([ANN, BOB], {}, "OPENING_MISSING"),
        ([ANN, BOB, b"c" * 32], ROUNDS, "OPENING_UNKNOWN"),
        ([ANN, BOB[:31]], ROUNDS, "CONTRIBUTION_LENGTH"),
    ],
)
def test_an_offer_that_is_not_opened_whole_leaves_no_session(
    opened: list[bytes], rounds: dict[OfferedRound, session_pb2.BeaconRound], reason: str
) -> None:
    with pytest.raises(RequestError) as refused:
        open_offer(OFFER, opened, rounds)
    assert refusal(refused) == reason


def other_key(session: session_pb2.Session) -> None:
    session.vrf_key_id = epoch_keys(2).vrf_key_id


def drop_last(session: session_pb2.Session) -> None:
    del session.contributions[3]


def other_entropy(session: session_pb2.Session) -> None:
    session.contributions[0].entropy = b"z" * 32


def other_round(session: session_pb2.Session) -> None:
    session.contributions[1].beacon_round.round = 1001


def other_beacon(session: session_pb2.Session) -> None:
    session.contributions[1].beacon_round.chain_hash = bytes(32)


def other_anchor(session: session_pb2.Session) -> None:
    session.contributions[2].anchor = b"f" * 32


def other_order(session: session_pb2.Session) -> None:
    session.contributions[0].entropy, session.contributions[3].entropy = BOB, ANN


def other_kind(session: session_pb2.Session) -> None:
    session.contributions[2].entropy = b"e" * 32


@pytest.mark.parametrize(
    "change",
    [other_key, drop_last, other_entropy, other_round, other_beacon, other_anchor, other_order, other_kind],
)
def test_no_other_session_opens_an_offer(change: object) -> None:
    session = open_offer(OFFER, [ANN, BOB], ROUNDS)
    assert callable(change)
    change(session)
    assert OFFER.difference(session.vrf_key_id, read_session(session).contributions) != ""


def test_an_offer_is_held_to_what_its_session_will_be_held_to() -> None:
    for change, reason in (
        ({"table": "one-off/x"}, "TABLE_RESERVED"),
        ({"table": ""}, "NAME_LENGTH"),
        ({"vrf_key_id": "short"}, "KEY_ID_MALFORMED"),
    ):
        message = OFFER.message()
        for name, value in change.items():
            setattr(message, name, value)
        with pytest.raises(RequestError) as refused:
            read_offer(message)
        assert refusal(refused) == reason
    many = OFFER.message()
    many.contributions.extend([session_pb2.OfferedContribution(anchor=bytes([each]) * 32) for each in range(4)])
    with pytest.raises(RequestError) as refused:
        read_offer(many)
    assert refusal(refused) == "TOO_MANY_CONTRIBUTIONS"
    with pytest.raises(RequestError) as empty:
        read_offer(session_pb2.Offer(contributions=[session_pb2.OfferedContribution()]))
    assert (refusal(empty), empty.value.field) == ("REQUIRED", "contributions[0]")


# A participant's side


def offered(*commits: bytes, table: str = "crypt") -> Offer:
    return Offer(ORIGIN, TENANT, table, epoch_keys().vrf_key_id, tuple(Commit(each) for each in commits))


def test_entropy_is_drawn_once_into_a_private_file(tmp_path: Path) -> None:
    first, second = draw(tmp_path / "ann.json"), draw(tmp_path / "bob.json")
    assert first.entropy != second.entropy
    assert first.commit == commit_of(first.entropy)
    assert (tmp_path / "ann.json").stat().st_mode & 0o777 == 0o600
    before = (tmp_path / "ann.json").read_bytes()
    with pytest.raises(KeyFileError) as refused:
        draw(tmp_path / "ann.json")
    assert refused.value.reason == "FILE_EXISTS"
    assert (tmp_path / "ann.json").read_bytes() == before


def test_opening_keeps_the_whole_offer_first_and_says_the_same_again(tmp_path: Path) -> None:
    path = tmp_path / "ann.json"
    drawn = draw(path)
    offer = offered(drawn.commit, commit_of(BOB))
    opened = open_for(path, offer, BEFORE)
    assert (opened.entropy, opened.offer) == (drawn.entropy, offer)
    assert parse_kept(path.read_bytes(), "ann.json") == opened
    assert path.stat().st_mode & 0o777 == 0o600
    assert open_for(path, offer, BEFORE) == opened


def test_entropy_is_opened_for_one_offer_alone(tmp_path: Path) -> None:
    path = tmp_path / "ann.json"
    drawn = draw(path)
    first = offered(drawn.commit)
    open_for(path, first, BEFORE)
    before = path.read_bytes()
    with pytest.raises(RequestError) as refused:
        open_for(path, offered(drawn.commit, table="another"), BEFORE)
    assert (refusal(refused), refused.value.value) == ("OPENED_ALREADY", first.digest)
    assert path.read_bytes() == before


def test_an_offer_without_ones_commit_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "ann.json"
    draw(path)
    before = path.read_bytes()
    with pytest.raises(RequestError) as refused:
        open_for(path, offered(commit_of(BOB)), BEFORE)
    assert refusal(refused) == "OFFER_LACKS_COMMIT"
    assert path.read_bytes() == before


def test_a_beacon_round_that_exists_already_is_not_opened_for(tmp_path: Path) -> None:
    path = tmp_path / "ann.json"
    commit = Commit(draw(path).commit)
    offer = Offer(ORIGIN, TENANT, "crypt", epoch_keys().vrf_key_id, (commit, OfferedRound(QUICKNET.chain_hash, 1000)))
    with pytest.raises(RequestError) as refused:
        open_for(path, offer, AFTER)
    assert refusal(refused) == "ROUND_PAST"
    assert open_for(path, offer, BEFORE).offer == offer
    assert open_for(path, offer, AFTER).offer == offer  # it was kept in time


def test_an_offer_names_rounds_that_do_not_exist_yet_by_the_clock_that_is_given() -> None:
    number = 1000
    at = QUICKNET.time_of(number)
    offer = Offer(ORIGIN, TENANT, "crypt", epoch_keys().vrf_key_id, (OfferedRound(QUICKNET.chain_hash, number),))
    refuse_past_rounds(offer, at - timedelta(seconds=1))
    for late in (at, at + timedelta(days=1000)):
        with pytest.raises(RequestError) as refused:
            refuse_past_rounds(offer, late)
        assert refusal(refused) == "ROUND_PAST"
        coming = QUICKNET.next_round(late)
        assert refused.value.hint == f"the first round that is still to come is {coming}"
        assert QUICKNET.time_of(coming - 1) <= late < QUICKNET.time_of(coming)
    assert QUICKNET.next_round(QUICKNET.time_of(1) - timedelta(days=1)) == 1
    # Of a beacon that is not known here nobody can say it.
    unknown = Offer(ORIGIN, TENANT, "crypt", epoch_keys().vrf_key_id, (OfferedRound(bytes(32), 1),))
    refuse_past_rounds(unknown, at)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b'{"entropy":"QUJD","offer":null}',
        b'{"entropy":"' + b"A" * 43 + b'=","offer":{"table":1}}',
        b'{"entropy":"","offer":[]}',
        b"\xff",
    ],
)
def test_a_file_that_is_none_is_named(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "ann.json"
    path.touch(0o600)
    path.write_bytes(text)
    with pytest.raises(KeyFileError) as refused:
        open_for(path, OFFER, BEFORE)
    assert (refused.value.reason, refused.value.field) == ("KEPT_FILE_INVALID", "ann.json")
    assert path.read_bytes() == text
