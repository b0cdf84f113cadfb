"""`fairroll offer`, and `--mine` of `fairroll verify`: what a walk through the documentation does not show."""

import json
from pathlib import Path

import pytest

from fairroll import json_codec
from fairroll.beacon import QUICKNET
from fairroll.bundle import format_bundle
from fairroll.offer import Offer, OfferedRound
from fairroll.roll import Roller
from fairroll.v1 import roll_pb2, session_pb2
from tests.service.cli_run import Run, runner
from tests.service.process import ServiceProcess
from tests.service.rolling import ORIGIN, ROOT, epoch_keys, notation, roller
from tests.service.table_play import bundle
from tests.service.test_beacon import ROUNDS

KEY = epoch_keys().vrf_key_id
ANCHOR = ("--anchor", "aa" * 32)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


def offered(run: Run, folder: Path, *parts: str, table: str = "crypt") -> Path:
    """An offer's file."""
    saved = folder / f"{table}.json"
    names = ["--table", table, "--origin", ORIGIN, "--tenant", "local", "--vrf-key-id", KEY]
    assert run("offer", "new", *names, *parts, "--save", saved).code == 0
    return saved


def played(folder: Path, session: Path, service: Roller | None = None) -> Path:
    """A receipt of seq 0 in a session."""
    request = roll_pb2.RollRequest(
        session=json_codec.loads(session_pb2.Session, session.read_bytes()), checks=notation("d20")
    )
    receipt = folder / "receipt.json"
    receipt.write_bytes(format_bundle(bundle((service or roller()).roll(request, "local"))))
    return receipt


def verified(run: Run, receipt: Path, *mine: Path) -> str:
    """The level that `verify --mine` prints, or what is wrong."""
    given = [word for each in mine for word in ("--mine", each)]
    done = run("verify", receipt, "--root", ROOT.public_key.hex(), *given, "--json")
    (session,) = done.json["sessions"]
    assert done.code == (0 if done.json["verified"] else 1)
    return str(session["level"] or session["findings"][0]["reason"])


@pytest.mark.parametrize(
    ("parts", "code", "said"),
    [
        ((), 2, "[NOTHING_OFFERED]"),
        (("--commit", "aa" * 32, "--anchor", "bb" * 32, "--commit", "AA" * 32), 2, "contribution 3 is there already"),
        (("--beacon", "quicknett:7"), 2, "no beacon is called 'quicknett' here: write quicknet, or its chain hash"),
        (("--beacon", "zz" * 32 + ":7"), 2, "write 64 hex digits"),
    ],
)
def test_what_offers_nothing_is_refused(run: Run, tmp_path: Path, parts: tuple[str, ...], code: int, said: str) -> None:
    saved = tmp_path / "offer.json"
    done = run("offer", "new", "--table", "t", "--origin", ORIGIN, "--vrf-key-id", KEY, *parts, "--save", saved)
    assert (done.code, said in done.err, saved.exists()) == (code, True, False)


def test_an_offer_is_no_sealed_roll(run: Run, tmp_path: Path) -> None:
    saved = offered(run, tmp_path, "--commit", "aa" * 32)
    assert "offer.json is no file of `fairroll seal`" in run("open", saved.rename(tmp_path / "offer.json")).err


def test_contributions_stand_in_the_order_in_which_they_were_given(run: Run, tmp_path: Path) -> None:
    saved = offered(run, tmp_path, "--anchor", "aa" * 32, "--beacon", "quicknet:1000000000", "--commit", "bb" * 32)
    shown = json_codec.loads(session_pb2.Offer, saved.read_bytes())
    assert [part.WhichOneof("kind") for part in shown.contributions] == ["anchor", "beacon_round", "commit"]
    lines = run("offer", "check", saved).out.splitlines()
    assert lines[3:] == [
        f"  1 co-seed  anchor {'aa' * 32}",
        "  2 beacon   quicknet round 1000000000, published 2118-09-16 20:29:24 UTC",
        f"  3 entropy  commit {'bb' * 32}",
    ]


def test_an_offer_asks_the_service_for_what_is_left_out(run: Run, tmp_path: Path, service: ServiceProcess) -> None:
    saved = tmp_path / "offer.json"
    done = run("offer", "new", "--table", "t", *ANCHOR, "--save", saved, "--server", service.rest, "--json")
    shown = done.json["offer"]
    assert (shown["origin"], shown["tenant"], shown["table"]) == ("localhost/v1", "local", "t")
    session = json.dumps({"table": "t", "vrfKeyId": shown["vrfKeyId"]})
    (tmp_path / "session.json").write_text(session)
    rolled = run("roll", "d6", "--session", tmp_path / "session.json", "--server", service.rest, "--json")
    assert rolled.json["record"]["session"]["vrfKeyId"] == shown["vrfKeyId"]


def test_nothing_is_overwritten(run: Run, tmp_path: Path) -> None:
    saved = offered(run, tmp_path, *ANCHOR)
    before = saved.read_bytes()
    names = ["--table", "other", "--origin", ORIGIN, "--vrf-key-id", KEY, *ANCHOR]
    assert "FILE_EXISTS" in run("offer", "new", *names, "--save", saved).err
    session = tmp_path / "session.json"
    session.write_text("mine")
    assert "FILE_EXISTS" in run("offer", "check", saved, "--session", session).err
    assert (saved.read_bytes(), session.read_text()) == (before, "mine")


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["check", "nowhere.json"], 2, "FILE_NOT_READ"),
        (["new", "--table", "t", "--commit", "ab", "--save", "x"], 2, "64 hex digits"),
        (["new", "--table", "t", "--beacon", "quicknet", "--save", "x"], 2, "quicknet:ROUND"),
        (["new", "--table", "t", "--beacon", "quicknet:0", "--save", "x"], 2, "2^64-1"),
        (["new", "--table", "t", "--origin", "o", "--vrf-key-id", "k", *ANCHOR, "--save", "x"], 1, "KEY_ID_MALFORMED"),
        (
            ["new", "--table", "t", "--origin", "o", "--vrf-key-id", KEY, "--beacon", "quicknet:100", "--save", "x"],
            1,
            "ROUND_PAST",
        ),
        (["new", "--table", "t", *ANCHOR, "--save", "x", "--server", "http://127.0.0.1:9"], 2, "SERVICE_UNREACHABLE"),
        (["open", "nowhere.json", "--entropy", "x"], 2, "FILE_NOT_READ"),
    ],
)
def test_wrong_use_has_its_word(run: Run, arguments: list[str], code: int, word: str) -> None:
    done = run("offer", *arguments)
    assert done.code == code
    assert word in done.err
    assert done.out == ""


def test_what_is_no_offer_is_refused(run: Run, tmp_path: Path) -> None:
    wrong = tmp_path / "offer.json"
    for text, reason in (("{", "JSON_UNREADABLE"), ('{"tabel":"t"}', "UNKNOWN_FIELD"), ("{}", "NAME_LENGTH")):
        wrong.write_text(text)
        done = run("offer", "check", wrong, "--json")
        assert (done.code, done.json["error"]["code"]) == (1, reason)


def test_a_round_of_a_beacon_opens_its_place_in_the_offer(run: Run, tmp_path: Path) -> None:
    """As drand's relays show it, with the members that they add for people."""
    signature, randomness = ROUNDS[1000]
    shown = {"round": 1000, "randomness": randomness, "signature": signature}
    relayed = tmp_path / "round.json"
    relayed.write_text(json.dumps(shown))
    # An offer of before that round; today `offer new` would refuse it.
    offer = Offer(ORIGIN, "local", "crypt", KEY, (OfferedRound(QUICKNET.chain_hash, 1000),))
    saved = tmp_path / "offer.json"
    saved.write_bytes(json_codec.dumps(offer.message()))
    session = tmp_path / "session.json"
    assert run("offer", "check", saved, "--round", relayed, "--session", session).code == 0
    assert verified(run, played(tmp_path, session), saved) == "L1"
    for change, reason in (
        ({"randomness": "00" * 32}, "BEACON_INVALID"),
        ({"round": 1001}, "OPENING_UNKNOWN"),
        ({"signature": 5}, "ROUND_UNREADABLE"),
        ({"round": "1000"}, "JSON_TYPE"),
    ):
        relayed.write_text(json.dumps(shown | change))
        done = run("offer", "check", saved, "--round", relayed, "--session", tmp_path / "other.json")
        assert done.code == 1
        assert reason in done.err
    assert not (tmp_path / "other.json").exists()


def test_a_players_file_and_the_offer_alone_are_worth_the_same(run: Run, tmp_path: Path) -> None:
    ann = tmp_path / "ann.json"
    saved = offered(run, tmp_path, "--commit", run("offer", "draw", ann).out.strip())
    early = run("verify", saved, "--root", ROOT.public_key.hex(), "--mine", ann)
    assert (early.code, "opened for no offer yet" in early.err) == (2, True)
    session = tmp_path / "session.json"
    opened = run("offer", "open", saved, "--entropy", ann).out.strip()
    assert run("offer", "check", saved, "--opened", opened, "--session", session).code == 0
    receipt = played(tmp_path, session)
    assert verified(run, receipt, saved) == verified(run, receipt, ann) == verified(run, receipt, ann, saved) == "L1"
    other = offered(run, tmp_path, "--commit", "ab" * 32, table="elsewhere")
    done = run("verify", receipt, "--root", ROOT.public_key.hex(), "--mine", ann, "--mine", other)
    assert done.code == 1
    assert "\nOFFER WITHOUT A SESSION" in done.out
    assert "nothing that you kept says whether it was opened" in done.out
    assert "OPENED" not in done.out


def test_a_players_file_says_that_the_offer_was_opened(run: Run, tmp_path: Path) -> None:
    ann = tmp_path / "ann.json"
    dropped = offered(run, tmp_path, "--commit", run("offer", "draw", ann).out.strip(), table="dropped")
    assert run("offer", "open", dropped, "--entropy", ann).code == 0
    receipt = tmp_path / "receipt.json"
    receipt.write_bytes(format_bundle(bundle(roller().roll(roll_pb2.RollRequest(checks=notation("d6")), "local"))))
    for mine in ((ann,), (dropped, ann)):
        given = [word for each in mine for word in ("--mine", each)]
        done = run("verify", receipt, "--root", ROOT.public_key.hex(), *given)
        assert (done.code, done.out.count("OPENED OFFER WITHOUT A SESSION")) == (1, 1)
        assert done.out.count("WITHOUT A SESSION") == 1
        told = run("verify", receipt, "--root", ROOT.public_key.hex(), *given, "--json").json["withoutSession"]
        assert [len(told[name]) for name in ("openedOffers", "offers", "revealLogs", "sealed")] == [1, 0, 0, 0]


def test_a_log_of_a_chain_is_read_beside_an_offer(run: Run, tmp_path: Path) -> None:
    from fairroll.hashing import chain_back

    anchor = chain_back(b"e" * 32, 1)
    saved = offered(run, tmp_path, "--anchor", anchor.hex())
    session = tmp_path / "session.json"
    run("offer", "check", saved, "--session", session)
    request = roll_pb2.RollRequest(
        session=json_codec.loads(session_pb2.Session, session.read_bytes()), checks=notation("d20"), reveals=[b"e" * 32]
    )
    answer = roller().roll(request, "local")
    receipt = tmp_path / "receipt.json"
    receipt.write_bytes(format_bundle(bundle(answer)))
    asked = run("verify", receipt, "--root", ROOT.public_key.hex(), "--json").json["receipts"][0]["requestDigest"]
    log = session_pb2.RevealLog(anchor=anchor, reveals=[session_pb2.Reveal(seq=0, request_digest=asked)])
    kept = tmp_path / "log.json"
    kept.write_bytes(json_codec.dumps(log))
    assert verified(run, receipt, saved, kept) == "L3"
    log.reveals[0].request_digest = "ab" * 32
    kept.write_bytes(json_codec.dumps(log))
    assert verified(run, receipt, saved, kept) == "REVEAL_DIFFERS"


def test_what_one_does_not_keep_is_refused(run: Run, tmp_path: Path) -> None:
    kept, receipt = tmp_path / "kept.json", tmp_path / "receipt.json"
    receipt.write_bytes(format_bundle(bundle(roller().roll(roll_pb2.RollRequest(checks=notation("d6")), "local"))))
    for text in ("[]", "{", '{"entropy":1}', '{"reveals":[]}', '{"keys":[]}'):
        kept.write_text(text)
        kept.chmod(0o600)
        done = run("verify", receipt, "--root", ROOT.public_key.hex(), "--mine", kept)
        assert done.code == 2
        assert "KEPT_FILE_INVALID" in done.err
    run("offer", "draw", tmp_path / "ann.json")
    (tmp_path / "ann.json").chmod(0o644)
    exposed = run("verify", receipt, "--root", ROOT.public_key.hex(), "--mine", tmp_path / "ann.json")
    assert (exposed.code, "KEY_FILE_EXPOSED" in exposed.err) == (2, True)


def test_a_session_goes_on_after_a_receipt_and_closes(run: Run, tmp_path: Path, service: ServiceProcess) -> None:
    first, second, third = (tmp_path / f"{number}.json" for number in range(3))
    at = ["--server", service.rest]
    assert run("roll", "d6", "--table", "goes on", "--save", first, *at).code == 0
    after = run("roll", "2d6", "--after", first, "--save", second, "--json", *at).json
    digest = json.loads(run("verify", first, "--root", service.root_key, "--json").out)["receipts"][0]["digest"]
    assert (after["record"]["request"]["seq"], after["record"]["request"]["previous"]) == ("1", digest)
    closed = run("roll", "--close", "--after", second, "--save", third, "--json", *at).json
    assert closed["record"]["request"]["close"] is True
    done = run("verify", first, second, third, tmp_path / "0.json", "--root", service.root_key, "--mine", third)
    assert done.code == 2  # a receipt is nothing that one keeps
    folder = tmp_path / "scene"
    folder.mkdir()
    for path in (first, second, third):
        path.rename(folder / path.name)
    assert run("verify", folder, "--root", service.root_key, "--json").json["sessions"][0]["closed"] is True
    alone = run("roll", "--close", *at)
    assert (alone.code, "SESSION_REQUIRED" in alone.err) == (1, True)


def test_a_receipt_of_no_service_is_not_gone_on_from(run: Run, tmp_path: Path) -> None:
    wrong = tmp_path / "receipt.json"
    wrong.write_text("{}")
    assert run("roll", "d6", "--after", wrong).code == 1
