"""`fairroll chain`, with announced requests, against a real service: two owners of chains and a game master."""

import json
from dataclasses import dataclass
from pathlib import Path
from shutil import copy

import pytest

from tests.service.cli_run import Done, Run, runner
from tests.service.process import ServiceProcess

NAMES = ("ann", "bob")


@dataclass
class Game:
    """A folder with two chains, the offer of their session, and the session."""

    run: Run
    folder: Path
    service: ServiceProcess

    def __post_init__(self) -> None:
        parts = ["--commit", self.run("offer", "draw", self.path("cleo.json")).out.strip()]
        for name in NAMES:
            anchor = self.run("chain", "new", self.path(f"{name}.chain"), "--length", "8").out.strip()
            parts += ["--anchor", anchor]
        offer = self.path("offer.json")
        assert self.run("offer", "new", "--table", self.folder.name, *parts, "--save", offer).code == 0
        opened = self.run("offer", "open", offer, "--entropy", self.path("cleo.json")).out.strip()
        check = ("offer", "check", offer, "--opened", opened, "--session", self.path("session.json"))
        assert self.run(*check).code == 0

    def path(self, name: str) -> Path:
        """A file of the folder."""
        return self.folder / name

    def announce(self, seq: int, *what: str, name: str = "") -> Path:
        """The announced request of a seq."""
        request = self.path(name or f"request-{seq}.json")
        place = ("--after", self.path(f"{seq - 1}.json")) if seq else ("--session", self.path("session.json"))
        assert self.run("roll", *what, *place, "--announce", request).code == 0
        return request

    def reveal(self, name: str, request: Path, seq: int = 0) -> Done:
        """What an owner is told who is asked for the value of a request."""
        asked = ("chain", "reveal", self.path(f"{name}.chain"), request, "--root", self.service.root_key)
        judged = ("--receipt", self.path(f"{seq - 1}.json")) if seq else ("--keys", self.service.keys / "key-list.json")
        return self.run(*asked, *judged, "--mine", self.path("offer.json"))

    def play(self, request: Path, seq: int) -> Done:
        """Roll a request with the values that both owners give for it."""
        values = [word for name in NAMES for word in ("--reveal", self.reveal(name, request, seq).out.strip())]
        return self.run("roll", "--request", request, *values, "--save", self.path(f"{seq}.json"))

    def verify(self, *mine: str) -> Done:
        """The verdict on the receipts, against what is named."""
        receipts = sorted(self.folder.glob("[0-9].json"))
        given = [word for each in mine for word in ("--mine", self.path(each))]
        return self.run("verify", *receipts, "--root", self.service.root_key, *given, "--json")


@pytest.fixture
def game(
    capsys: pytest.CaptureFixture[str], service: ServiceProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Game:
    monkeypatch.setenv("FAIRROLL_SERVER", service.rest)
    return Game(runner(capsys), tmp_path, service)


def change(path: Path, **members: object) -> Path:
    """The same JSON with other members."""
    path.write_text(json.dumps(json.loads(path.read_text()) | members))
    return path


def test_two_owners_and_a_game_master_reach_l3_with_a_decision_on_the_way(game: Game) -> None:
    assert game.play(game.announce(0, "2d6", "--label", "fall"), 0).code == 0
    asking = ("--system", "crossroads", "skill-roll", "advantage=1", "removal=ask", "change=never")
    assert game.play(game.announce(1, *asking, "zero-result=undecided"), 1).code == 0
    option = game.run("decide", game.path("1.json"), "--json").json["decisions"][0]["options"][0]["id"]
    answer = game.path("request-2.json")
    assert game.run("decide", game.path("1.json"), "--option", option, "--announce", answer).code == 0
    assert game.play(answer, 2).code == 0
    assert game.play(game.announce(3, "--close"), 3).code == 0
    for owner in NAMES:
        verdict = game.verify("offer.json", f"{owner}.chain")
        assert verdict.code == 0
        (session,) = verdict.json["sessions"]
        assert (session["level"], session["closed"]) == ("L3", True)
    assert game.verify("offer.json").json["sessions"][0]["level"] == "L1"


def test_the_log_alone_is_worth_as_much_as_the_chain(game: Game) -> None:
    game.play(game.announce(0, "d20"), 0)
    shown = game.run("chain", "show", game.path("ann.chain"), "--json")
    game.path("ann.log").write_text(shown.out)
    assert game.verify("offer.json", "ann.log").json["sessions"][0]["level"] == "L3"
    lines = game.run("chain", "show", game.path("ann.chain")).out.splitlines()
    assert lines[0].startswith("anchor    ")
    assert lines[1] == "given     1 of 8"
    assert shown.json["reveals"][0]["requestDigest"] in lines[2]


def test_the_value_is_given_once_whatever_else_is_asked_for_later(game: Game) -> None:
    request = game.announce(0, "d20")
    value = game.reveal("ann", request)
    assert game.reveal("ann", request).out == value.out
    before = game.path("ann.chain").read_bytes()
    refused = game.reveal("ann", game.announce(0, "d20", "--label", "a better one", name="again.json"))
    assert (refused.code, refused.out) == (1, "")
    assert "[REVEAL_CONFLICT]" in refused.err
    assert game.path("ann.chain").read_bytes() == before


def test_a_caller_who_rolls_another_request_than_was_announced_is_found(game: Game) -> None:
    announced = game.announce(0, "d20")
    values = [word for name in NAMES for word in ("--reveal", game.reveal(name, announced).out.strip())]
    bent = game.announce(0, "d20", "--label", "something else", name="bent.json")
    assert game.run("roll", "--request", bent, *values, "--save", game.path("0.json")).code == 0
    following = game.reveal("ann", game.announce(1, "d20"), 1)
    assert following.code == 1
    assert "[REVEAL_DIFFERS]" in following.err
    verdict = game.verify("offer.json", "ann.chain")
    assert verdict.code == 1
    assert [each["reason"] for each in verdict.json["sessions"][0]["findings"]] == ["REVEAL_DIFFERS"]


def test_a_roll_that_is_not_shown_after_its_value_was_given_is_found(game: Game) -> None:
    game.play(game.announce(0, "d20"), 0)
    game.play(game.announce(1, "d20"), 1)
    game.path("1.json").unlink()
    verdict = game.verify("offer.json", "ann.chain")
    assert verdict.code == 1
    (finding,) = verdict.json["sessions"][0]["findings"]
    assert (finding["reason"], finding["seq"]) == ("REVEAL_WITHOUT_RECEIPT", "1")


def test_the_service_rolls_nothing_without_the_right_values(game: Game) -> None:
    request = game.announce(0, "d20")
    ann, bob = (game.reveal(name, request).out.strip() for name in NAMES)
    for values, reason in (([], "REVEAL_COUNT"), ([ann], "REVEAL_COUNT"), ([bob, ann], "REVEAL_MISMATCH")):
        given = [word for value in values for word in ("--reveal", value)]
        refused = game.run("roll", "--request", request, *given, "--json")
        assert (refused.code, refused.json["error"]["code"]) == (1, reason)


def test_an_owner_gives_nothing_for_what_was_not_offered_or_not_shown(game: Game) -> None:
    request = game.announce(0, "d20")
    whole = json.loads(request.read_text())
    before = game.path("ann.chain").read_bytes()
    root = ("--root", game.service.root_key)
    asked = ("chain", "reveal", game.path("ann.chain"))
    for arguments, code, reason in (
        ((request, *root), 2, "KEY_LIST_MISSING"),
        ((request, *root, "--keys", game.service.keys / "key-list.json"), 2, "OFFER_NOT_SHOWN"),
        ((request, *root, "--keys", game.path("offer.json")), 2, "KEY_LIST_UNREADABLE"),
        ((request, "--root", "ab" * 32, "--keys", game.service.keys / "key-list.json"), 1, "UNKNOWN_KEY"),
        ((game.path("nowhere"), *root, "--keys", game.service.keys / "key-list.json"), 2, "FILE_NOT_READ"),
    ):
        refused = game.run(*asked, *arguments)
        assert (refused.code, refused.out) == (code, "")
        assert f"[{reason}]" in refused.err
    session = whole["session"]
    for members, reason in (
        ({"session": {**session, "table": "elsewhere"}}, "OFFER_NOT_OPENED"),
        ({"session": {**session, "vrfKeyId": "A" * 43}}, "UNKNOWN_KEY"),
        ({"session": {**session, "origin": "other/v1"}}, "UNKNOWN_KEY"),
        ({"session": {"table": "elsewhere"}}, "NAME_LENGTH"),
        ({"seq": "1"}, "REVEAL_GAP"),
        ({"seq": "8"}, "CHAIN_EXHAUSTED"),
    ):
        refused = game.reveal("ann", change(request, **whole | members))
        assert (refused.code, refused.out) == (1, "")
        assert f"[{reason}]" in refused.err
    assert game.path("ann.chain").read_bytes() == before


def test_an_owner_gives_nothing_under_a_key_that_is_revoked(game: Game) -> None:
    request, offline = game.announce(0, "d20"), game.path("offline")
    offline.mkdir(mode=0o700)
    for name in ("root.seed", "root.pub", "key-list.json"):
        copy(game.service.keys / name, offline / name)
    assert game.run("keys", "revoke", "1", offline).code == 0
    asked = ("chain", "reveal", game.path("ann.chain"), request, "--root", game.service.root_key)
    refused = game.run(*asked, "--keys", offline / "key-list.json")
    assert (refused.code, refused.out) == (1, "")
    assert "[KEY_REVOKED]" in refused.err


def test_the_next_value_needs_the_receipt_that_it_follows(game: Game) -> None:
    game.play(game.announce(0, "d20"), 0)
    game.play(game.announce(1, "d20"), 1)
    following = game.announce(2, "d20")
    before = game.path("ann.chain").read_bytes()
    for shown in (0, 1):  # none at all, then one too early
        refused = game.reveal("ann", following, shown)
        assert refused.code == 1
        assert "[RECEIPT_NOT_SHOWN]" in refused.err
    assert game.path("ann.chain").read_bytes() == before


def test_what_is_announced_is_of_a_whole_session_and_overwrites_nothing(game: Game) -> None:
    request = game.announce(0, "d20")
    before = request.read_bytes()
    again = game.run("roll", "d6", "--session", game.path("session.json"), "--announce", request)
    assert again.code == 2
    assert "[FILE_EXISTS]" in again.err
    assert request.read_bytes() == before
    one_off = game.run("roll", "d6", "--announce", game.path("one-off.json"))
    assert one_off.code == 2
    assert "[SESSION_NOT_WHOLE]" in one_off.err
    assert not game.path("one-off.json").exists()


def test_the_request_digest_is_the_one_that_the_receipt_will_have(game: Game) -> None:
    """Whatever a request leaves to the service that is signed, such as `previous` at seq 0."""
    request = game.announce(0, "d20")
    assert json.loads(request.read_text())["previous"] == ""
    asked = ("chain", "reveal", game.path("ann.chain"), request, "--root", game.service.root_key)
    shown = ("--keys", game.service.keys / "key-list.json", "--mine", game.path("offer.json"))
    given = game.run(*asked, *shown, "--json").json
    game.play(request, 0)
    (receipt,) = game.verify("offer.json").json["receipts"]
    assert given["requestDigest"] == receipt["requestDigest"]
