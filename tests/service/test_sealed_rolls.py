"""Sealed rolls through both doors and the command line: the digest now, the receipt later."""

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import json_format

from fairroll.levels import SEALED, Mine, read_sealed
from fairroll.v1.roll_pb2 import RollRequest
from fairroll.v1.service_pb2 import SealRollRequest, SealRollResponse
from tests.service.cli_run import Run, runner
from tests.service.grpc_door import refusal_of
from tests.service.process import ServiceProcess, start_service
from tests.service.test_levels import CO_SEEDED, PLAIN, log_of, played, report
from tests.service.test_two_doors import notation, over_rest, post, roll


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], service: ServiceProcess, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("FAIRROLL_SERVER", service.rest)
    return runner(capsys)


def sealed(service: ServiceProcess, request: dict[str, Any]) -> tuple[int, Any]:
    return post(service, "/v1/rolls:seal", json.dumps({"roll": request}).encode())


def test_both_doors_tell_the_digest_of_the_receipt_and_nothing_that_it_holds(service: ServiceProcess) -> None:
    request = roll(notation("3d6"), session={"table": "sealed-both"})
    status, told = sealed(service, request)
    assert status == 200
    assert told.keys() == {"digest", "session", "seq"}
    opened = over_rest(service, request)[1]
    assert told == {"digest": opened["digest"], "session": opened["record"]["session"], "seq": "0"}
    with service.stub() as stub:
        over_grpc = stub.SealRoll(SealRollRequest(roll=json_format.ParseDict(request, RollRequest())))
    assert json_format.MessageToDict(over_grpc)["digest"] == told["digest"]


REFUSED = [
    (roll(notation("d6")), "SESSION_REQUIRED", "roll.session"),
    (roll(notation("d6"), requestId="a"), "SESSION_REQUIRED", "roll.session"),
    (roll(notation("d0"), session={"table": "t"}), "SIDES_TOO_FEW", "roll.checks[0].notation.text"),
    (roll(notation("d6"), session={"table": "t", "tenant": "acme"}), "TENANT_MISMATCH", "roll.session.tenant"),
]


@pytest.mark.parametrize(("request_", "reason", "field"), REFUSED)
def test_both_doors_refuse_alike(service: ServiceProcess, request_: dict[str, Any], reason: str, field: str) -> None:
    _, problem = sealed(service, request_)
    assert (problem["reason"], problem["field"]) == (reason, field)
    message = SealRollRequest(roll=json_format.ParseDict(request_, RollRequest()))
    with service.stub() as stub, pytest.raises(grpc.RpcError) as refused:
        stub.SealRoll(message)
    refusal = refusal_of(refused.value)
    assert (refusal.info.reason, refusal.fields) == (reason, [field])


def test_a_sealed_roll_is_opened_to_the_receipt_that_was_told(
    run: Run, service: ServiceProcess, tmp_path: Path
) -> None:
    hidden, receipt = tmp_path / "dragon.sealed", tmp_path / "dragon.json"
    done = run("seal", "1d20+3", "--label", "does the dragon wake", "--save", hidden)
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines] == ["sealed", "session", "saved"]
    assert "1d20" not in done.out
    assert hidden.stat().st_mode & 0o777 == 0o600
    opened = run("open", hidden, "--save", receipt)
    assert opened.code == 0
    assert opened.out.startswith("1d20+3: ")
    assert lines[0].split()[1] in opened.out
    assert run("verify", receipt, "--root", service.root_key).code == 0
    assert run("open", hidden, "--json").json["digest"] == lines[0].split()[1]


def test_a_session_goes_on_behind_a_sealed_roll(run: Run, service: ServiceProcess, tmp_path: Path) -> None:
    hidden = tmp_path / "1.sealed"
    scene = tmp_path / "scene"
    scene.mkdir()
    run("roll", "d20", "--table", "behind", "--save", scene / "0.json")
    told = run("seal", "d100", "--after", scene / "0.json", "--save", hidden, "--json").json
    assert told["seq"] == "1"
    after = run("roll", "d20", "--after", hidden, "--save", scene / "2.json", "--json").json
    assert after["record"]["request"]["previous"] == told["digest"]
    closed = run("verify", scene, "--root", service.root_key, "--json")
    assert [each["reason"] for each in closed.json["sessions"][0]["findings"]] == ["SEQ_MISSING"]
    # Whoever sealed has the private file, and what was told stands in it.
    kept = run("verify", scene, "--root", service.root_key, "--mine", hidden, "--json")
    assert (kept.code, kept.json["sessions"][0]["sealed"]) == (0, ["1"])
    assert run("audit", scene, "--root", service.root_key, "--mine", hidden).code == 0
    run("open", hidden, "--save", scene / "1.json")
    assert run("verify", scene, "--root", service.root_key).code == 0
    assert run("verify", scene, "--root", service.root_key, "--mine", hidden).code == 0
    hidden.chmod(0o644)
    exposed = run("verify", scene, "--root", service.root_key, "--mine", hidden)
    assert (exposed.code, "KEY_FILE_EXPOSED" in exposed.err) == (2, True)
    hidden.write_text('{"digest":"ab","request":{}}')
    hidden.chmod(0o600)
    assert "SEALED_FILE_INVALID" in run("verify", scene, "--root", service.root_key, "--mine", hidden).err


def test_nothing_is_sealed_that_could_not_be_kept(run: Run, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    done = run("seal", "d20", "--table", "kept", "--save", taken)
    assert (done.code, done.out) == (2, "")
    assert "[FILE_EXISTS]" in done.err
    assert taken.read_text() == "mine"
    # Nobody was asked: under a guard the seq would be used, and what opens it lost.
    assert "[FILE_EXISTS]" in run("seal", "d20", "--save", taken, "--server", "http://127.0.0.1:9").err
    assert "[FILE_NOT_WRITTEN]" in run("seal", "d20", "--save", tmp_path / "nowhere" / "x").err
    refused = run("seal", "d0", "--save", tmp_path / "x", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "SIDES_TOO_FEW")
    assert not (tmp_path / "x").exists()


def test_another_receipt_than_was_told_is_refused_and_not_saved(run: Run, tmp_path: Path) -> None:
    hidden, receipt = tmp_path / "x.sealed", tmp_path / "x.json"
    run("seal", "d20", "--save", hidden)
    value = json.loads(hidden.read_text())
    value["request"]["checks"][0]["label"] = "another"
    hidden.write_text(json.dumps(value))
    done = run("open", hidden, "--save", receipt)
    assert (done.code, done.out) == (1, "")
    assert "[SEAL_DIFFERS]" in done.err
    assert not receipt.exists()


@pytest.mark.parametrize(
    "text", ["", "{}", '{"digest":"ab","request":{}}', f'{{"digest":"{"ab" * 32}","request":{{"seq":[]}}}}']
)
def test_a_file_that_opens_nothing_is_named(run: Run, tmp_path: Path, text: str) -> None:
    hidden = tmp_path / "x.sealed"
    hidden.touch(0o600)
    hidden.write_text(text)
    done = run("open", hidden)
    assert done.code == 2
    assert "[SEALED_FILE_INVALID]" in done.err


def test_a_sealed_roll_that_others_can_read_is_refused(run: Run, tmp_path: Path) -> None:
    hidden = tmp_path / "x.sealed"
    run("seal", "d20", "--save", hidden)
    hidden.chmod(0o644)
    assert "[KEY_FILE_EXPOSED]" in run("open", hidden).err
    assert "[KEY_FILE_EXPOSED]" in run("roll", "d6", "--after", hidden).err


def test_what_is_no_service_seals_nothing(run: Run, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
        done = run("seal", "d20", "--save", tmp_path / "x", "--server", nobody)
    assert done.code == 2
    assert "[SERVICE_UNREACHABLE]" in done.err
    assert not (tmp_path / "x").exists()


# What stands for a receipt until it is opened


@dataclass
class Scene:
    """A session of three rolls whose second is sealed, and the folder in which receipts are kept."""

    run: Run
    folder: Path
    service: ServiceProcess

    def __post_init__(self) -> None:
        self.receipts.mkdir()
        table = f"scene of {self.folder.name}"
        self.run("roll", "d20", "--table", table, "--save", self.receipts / "0.json")
        hidden, told = self.folder / "1.sealed", self.folder / "1.told"
        told.write_text(self.run("seal", "d100", "--after", self.receipts / "0.json", "--save", hidden, "--json").out)
        self.run("roll", "d20", "--after", hidden, "--save", self.receipts / "2.json")

    @property
    def receipts(self) -> Path:
        """The folder of receipts."""
        return self.folder / "receipts"

    def told(self, **changed: object) -> Path:
        """What the table was told, or something else."""
        path = self.folder / "told.json"
        path.write_text(json.dumps(json.loads((self.folder / "1.told").read_text()) | changed))
        return path

    def open(self) -> None:
        """Show the receipt."""
        assert self.run("open", self.folder / "1.sealed", "--save", self.receipts / "1.json").code == 0

    def verify(self, *told: Path) -> tuple[int, Any]:
        """Exit code and session of `fairroll verify`."""
        given = [word for each in told for word in ("--mine", each)]
        done = self.run("verify", self.receipts, "--root", self.service.root_key, *given, "--json")
        (session,) = done.json["sessions"]
        return done.code, session

    def audit(self, *told: Path) -> tuple[int, Any]:
        """Exit code and session of `fairroll audit`."""
        given = [word for each in told for word in ("--mine", each)]
        report = self.folder / "report.json"
        # --jobs 1: one process, so that two of them are not started for three receipts.
        arguments = ("audit", self.receipts, "--root", self.service.root_key, *given, "--jobs", "1", "--json", report)
        code = self.run(*arguments).code
        (session,) = json.loads(report.read_text())["sessions"]["shown"]
        report.unlink()
        return code, session


@pytest.fixture
def scene(run: Run, service: ServiceProcess, tmp_path: Path) -> Scene:
    return Scene(run, tmp_path, service)


def reasons(session: dict[str, Any]) -> list[tuple[str, int]]:
    return [(each["reason"], int(each["seq"])) for each in session["findings"]]


def test_the_digest_that_was_told_stands_for_the_receipt_until_it_is_opened(scene: Scene) -> None:
    for judge in (scene.verify, scene.audit):
        code, session = judge(scene.told())
        assert (code, session["verified"], session["level"]) == (0, True, "L0")
        assert [int(seq) for seq in session["sealed"]] == [1]
        assert reasons(judge()[1]) == [("SEQ_MISSING", 1)]
    scene.open()
    for judge in (scene.verify, scene.audit):
        code, session = judge(scene.told())
        assert (code, session["verified"], session["sealed"]) == (0, True, [])


def test_another_digest_than_was_told_is_found(scene: Scene) -> None:
    other = scene.told(digest="ab" * 32)
    for judge in (scene.verify, scene.audit):
        code, session = judge(other)
        assert (code, reasons(session)) == (1, [("PREVIOUS_DIFFERS", 2)])
    scene.open()
    for judge in (scene.verify, scene.audit):
        code, session = judge(other)
        assert (code, reasons(session)) == (1, [("SEAL_DIFFERS", 1)])


def test_a_sealed_roll_behind_the_last_receipt_shows_that_the_tail_was_cut(scene: Scene) -> None:
    for judge in (scene.verify, scene.audit):
        code, session = judge(scene.told(seq="4"), scene.folder / "1.told")
        assert (code, reasons(session)) == (1, [("SEQ_MISSING", 3)])


def test_a_sealed_roll_of_a_session_without_receipts_is_told(scene: Scene) -> None:
    session = json.loads((scene.folder / "1.told").read_text())["session"]
    elsewhere = scene.told(session={**session, "table": "elsewhere"})
    scene.open()
    assert scene.verify(elsewhere)[0] == 1
    assert scene.audit(elsewhere)[0] == 1
    shown = scene.run("verify", scene.receipts, "--root", scene.service.root_key, "--mine", elsewhere)
    assert "SEALED WITHOUT A SESSION" in shown.out


def test_an_offered_session_is_worth_its_level_once_all_is_opened() -> None:
    table = played(PLAIN)
    hidden = table.receipts.pop(1)
    told = read_sealed(SealRollResponse(digest=hidden.digest, session=hidden.record.session, seq=1))
    sealed_yet = report(table, Mine((PLAIN,), sealed=(told,)))
    assert (sealed_yet.verified, sealed_yet.level.name, sealed_yet.sealed) == (True, "L0", (1,))
    assert SEALED in sealed_yet.level.rests_on
    table.receipts.insert(1, hidden)
    assert report(table, Mine((PLAIN,), sealed=(told,))).level.name == "L1"


def test_a_co_seed_value_for_a_sealed_roll_has_no_receipt_yet() -> None:
    table = played(CO_SEEDED)
    log = log_of(table)
    hidden = table.receipts.pop(1)
    told = read_sealed(SealRollResponse(digest=hidden.digest, session=hidden.record.session, seq=1))
    assert report(table, Mine((CO_SEEDED,), (log,), (told,))).findings == ()
    found = report(table, Mine((CO_SEEDED,), (log,))).findings
    assert [each.reason for each in found] == ["SEQ_MISSING", "REVEAL_WITHOUT_RECEIPT"]


def test_the_call_takes_what_was_told(service: ServiceProcess) -> None:
    request = roll(notation("3d6"), session={"table": "called"})
    told = sealed(service, request)[1]
    opened = over_rest(service, request)[1]
    body = {"bundles": [{"envelope": opened["envelope"]}], "mine": {"sealed": [told]}}
    assert post(service, "/v1/sessions:verify", json.dumps(body).encode())[1]["verified"] is True
    elsewhere = {**told, "session": {**told["session"], "table": "elsewhere"}}
    answer = post(service, "/v1/sessions:verify", json.dumps(body | {"mine": {"sealed": [elsewhere]}}).encode())[1]
    assert (answer["verified"], answer["withoutSession"]["sealed"]) == (False, [elsewhere])
    for bad, field in (({"digest": "ab"}, "mine.sealed[0].digest"), ({"session": {}}, "mine.sealed[0].origin")):
        problem = post(service, "/v1/sessions:verify", json.dumps(body | {"mine": {"sealed": [told | bad]}}).encode())[
            1
        ]
        assert problem["field"] == field


# From whom it hides


@pytest.fixture
def under_guard(tmp_path: Path) -> Iterator[ServiceProcess]:
    with start_service(tmp_path, guard=f"sqlite:{tmp_path / 'guard.sqlite'}") as running:
        yield running


def faces(answer: dict[str, Any]) -> list[int]:
    return [draw["face"] for draw in answer["record"]["outcomes"][0]["draws"]]


def test_without_a_guard_any_request_of_the_tenant_tells_the_dice(service: ServiceProcess) -> None:
    request = roll({**notation("3d6"), "label": "secret"}, session={"table": "peek"})
    assert sealed(service, request)[0] == 200
    peeked = over_rest(service, roll(notation("3d6"), session={"table": "peek"}))[1]
    assert faces(peeked) == faces(over_rest(service, request)[1])


def test_under_a_guard_only_the_request_itself_opens_the_seal(under_guard: ServiceProcess) -> None:
    request = roll({**notation("3d6"), "label": "secret"}, session={"table": "peek"})
    told = sealed(under_guard, request)[1]
    status, refused = over_rest(under_guard, roll(notation("3d6"), session={"table": "peek"}))
    assert (status, refused["reason"]) == (409, "SEQ_USED")
    assert sealed(under_guard, request)[1] == told
    assert over_rest(under_guard, request)[1]["digest"] == told["digest"]
