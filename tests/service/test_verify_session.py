"""A session verified whole: what only receipts beside one another can show."""

import json
import urllib.request
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from google.protobuf import json_format

from fairroll import hashing
from fairroll.bundle import Bundle, bundle_message, format_bundle
from fairroll.errors import RequestError
from fairroll.key_list import KeyStatus, KeyUse
from fairroll.levels import GUARDED
from fairroll.offer import Commit, Offer
from fairroll.receipt import read_envelope
from fairroll.roll import Roller
from fairroll.v1 import roll_pb2, service_pb2
from fairroll.verify_session import Judged, SessionReport, verify_sessions
from tests.service.cli_run import Run, runner
from tests.service.process import ServiceProcess
from tests.service.rolling import ROOT, TENANT, listed_with, notation, record_of, roller, signed
from tests.service.table_play import Table, bundle, is_pending, remove, waiting
from tests.service.test_two_doors import post

PREVIEWED = "No guard: the decider could have previewed this answer."


def bundles(responses: Sequence[roll_pb2.RollResponse]) -> list[Bundle]:
    """Receipts without their chains."""
    return [bundle(each) for each in responses]


def judge(given: Sequence[Bundle]) -> tuple[list[Judged], list[SessionReport]]:
    return verify_sessions([(str(number), each) for number, each in enumerate(given)], ROOT.public_key)


def report(given: Sequence[Bundle]) -> SessionReport:
    _, (only,) = judge(given)
    return only


def reasons(given: Sequence[Bundle]) -> list[tuple[str, int]]:
    return [(each.reason, each.seq) for each in report(given).findings]


def guarded_roller() -> Roller:
    """A service that says it has a guard; nobody here needs it to have one."""
    service = roller()
    service.guard_mode = roll_pb2.GUARD_MODE_SQLITE
    return service


@pytest.fixture(scope="module")
def scene() -> Table:
    """A roll, two rolls with decisions to their end, and a close."""
    table = Table(guarded_roller())
    table.roll()
    table.finish(remove(), 1)
    table.finish(remove(), 0)
    closing = table.request()
    closing.close = True
    table.send(closing)
    return table


def test_a_whole_session_is_verified_whatever_the_order_and_without_chains_of_its_own(scene: Table) -> None:
    judged, (found,) = judge(bundles(scene.receipts)[::-1])
    assert found.verified
    assert [each.record.request.seq for each in found.receipts] == list(range(len(scene.receipts)))
    assert all(each.verified is not None and each.verified.complete for each in judged)
    assert all([int(step.step) for step in each.steps] == list(range(9)) for each in judged)
    assert (found.level.name, found.head, found.table) == ("L0", scene.receipts[-1].digest, "table-42")
    assert GUARDED in found.level.rests_on
    assert PREVIEWED not in found.level.rests_on
    assert not found.open_decisions


def test_without_a_guard_nothing_says_guarded_and_answers_could_be_previewed() -> None:
    table = Table()
    table.finish(remove())
    found = report(bundles(table.receipts))
    assert found.verified
    assert GUARDED not in found.level.rests_on
    assert PREVIEWED in found.level.rests_on


def test_a_receipt_twice_is_one_receipt(scene: Table) -> None:
    assert report(bundles([*scene.receipts, *scene.receipts[:2]])).verified


def test_a_gap_is_found_at_its_seq(scene: Table) -> None:
    assert reasons(bundles([scene.receipts[0], *scene.receipts[2:]]))[0] == ("SEQ_MISSING", 1)
    assert reasons(bundles(scene.receipts[1:2])) == [("SEQ_MISSING", 0)]


def test_a_cut_tail_shows_nothing_but_an_open_decision() -> None:
    table = Table()
    table.roll(remove())
    found = report(bundles(table.receipts))
    assert found.verified
    assert [(each.seq, each.decision) for each in found.open_decisions] == [(0, waiting(table.receipts[0])[0])]


def test_two_requests_at_one_seq_are_found() -> None:
    table = Table()
    table.roll()
    other = Table()
    request = other.request()
    request.checks.extend(notation("d6"))
    other.send(request)
    assert reasons(bundles([*table.receipts, *other.receipts])) == [("SEQ_TWICE", 0)]


def test_another_previous_is_found() -> None:
    table = Table()
    table.roll()
    record = record_of(table.roll())
    record.request.previous = "ab" * 32
    assert reasons([*bundles(table.receipts[:1]), signed(record)]) == [("PREVIOUS_DIFFERS", 1)]


def test_what_follows_a_close_is_found() -> None:
    table = Table()
    closing = table.request()
    closing.close = True
    table.send(closing)
    table.roll()
    assert reasons(bundles(table.receipts)) == [("AFTER_CLOSE", 1)]


def branched(*, at_one_seq: bool) -> tuple[Table, roll_pb2.RollResponse]:
    """A pending receipt that a service without a guard let be answered twice."""
    table = Table()
    root = table.roll(remove())
    first = table.send(table.answering([root], 0))
    request = table.answering([root], 1)
    if at_one_seq:
        request.seq, request.previous = 1, root.digest
    second = table.service.roll(request, TENANT)
    assert second.digest != first.digest
    return table, second


def test_two_answers_to_one_pending_receipt_are_a_branch_whatever_their_seqs() -> None:
    table, second = branched(at_one_seq=False)
    assert reasons(bundles([*table.receipts, second])) == [("BRANCH", 0)]


def test_two_answers_at_one_seq_are_a_branch() -> None:
    table, second = branched(at_one_seq=True)
    assert ("BRANCH", 0) in reasons(bundles([*table.receipts, second]))


def test_two_answers_to_two_records_of_one_pending_seq_are_a_branch() -> None:
    """The operator signs the pending record twice, and lets each be answered: the parents' digests differ."""
    table = Table()
    root = table.roll(remove())
    twin = Table()
    check = remove()
    check.label = "another"
    other = twin.roll(check)
    assert is_pending(other)
    first = table.send(table.answering([root], 0))
    request = table.answering([other], 0)
    second = table.service.roll(request, TENANT)
    given = [bundle(root), bundle(root, first), bundle(other, second)]
    assert ("BRANCH", 0) in reasons(given)


def test_sessions_are_reported_each_by_itself(scene: Table) -> None:
    other = Table(name="elsewhere")
    other.roll()
    _, found = judge(bundles([*scene.receipts, *other.receipts]))
    assert [(each.table, each.verified) for each in found] == [("table-42", True), ("elsewhere", True)]


def test_an_answer_whose_parent_is_nowhere_leaves_the_session_unverified(scene: Table) -> None:
    answer = next(each for each in scene.receipts if each.record.request.continues)
    found = report(bundles([answer]))
    assert not found.verified
    assert found.receipts[0].steps[-1].detail == "not checked: parent missing"


def test_a_refused_receipt_leaves_its_session_unverified(scene: Table) -> None:
    given = bundles(scene.receipts)
    broken = replace(given[0], envelope=replace(given[0].envelope, payload=given[0].envelope.payload + b"\0"))
    judged, (found,) = judge([broken, *given[1:]])
    assert judged[0].error is not None
    assert not found.verified


# As a call


def ask(service: Roller, given: Sequence[Bundle]) -> service_pb2.VerifySessionResponse:
    messages = [bundle_message(replace(each, key_list=None)) for each in given]
    return service.verify_session(service_pb2.VerifySessionRequest(bundles=messages))


def test_the_call_answers_what_the_verifier_finds(scene: Table) -> None:
    answer = ask(scene.service, bundles(scene.receipts))
    assert answer.verified
    assert [len(each.steps) for each in answer.receipts] == [9] * len(scene.receipts)
    (session,) = answer.sessions
    assert (session.verified, session.level, session.receipts) == (True, "L0", len(scene.receipts))
    assert session.head == scene.receipts[-1].digest
    assert GUARDED in session.rests_on
    table, second = branched(at_one_seq=False)
    refused = ask(table.service, bundles([*table.receipts, second]))
    assert not refused.verified
    assert [each.reason for each in refused.sessions[0].findings] == ["BRANCH"]
    assert refused.sessions[0].level == ""


def test_the_call_refuses_what_is_no_bundle_and_too_many() -> None:
    service = roller()
    with pytest.raises(RequestError) as nothing:
        service.verify_session(service_pb2.VerifySessionRequest())
    assert (nothing.value.reason, nothing.value.field) == ("REQUIRED", "bundles")
    many = service_pb2.VerifySessionRequest()
    many.bundles.add()
    with pytest.raises(RequestError) as empty:
        service.verify_session(many)
    assert (empty.value.reason, empty.value.field) == ("REQUIRED", "bundles[0].envelope")
    for _ in range(1000):
        many.bundles.add()
    with pytest.raises(RequestError) as refused:
        service.verify_session(many)
    assert (refused.value.limit, refused.value.maximum) == ("session_receipts", 1000)


def test_both_doors_verify_a_session(service: ServiceProcess) -> None:
    asked = roll_pb2.RollRequest(checks=notation("d20"))
    asked.session.table = "both doors"
    with service.stub() as stub:
        rolled = stub.Roll(asked)
        over_grpc = stub.VerifySession(
            service_pb2.VerifySessionRequest(bundles=[bundle_message(Bundle(read_envelope(rolled.envelope)))])
        )
    assert over_grpc.verified
    from fairroll import json_codec

    body = {"bundles": [{"envelope": json_codec.to_value(rolled.envelope)}]}
    request = urllib.request.Request(  # noqa: S310  our own
        f"{service.rest}/v1/sessions:verify", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310  our own
        over_rest = json.load(answer)
    assert over_rest["verified"] is True
    assert over_rest["sessions"][0]["head"] == over_grpc.sessions[0].head == rolled.digest


def test_both_doors_judge_against_what_the_caller_kept(service: ServiceProcess) -> None:
    """An offer that the session opens, another that none does, and a sealed roll that is told."""
    entropy = b"a" * 32
    asked = roll_pb2.RollRequest(checks=notation("d20"))
    asked.session.table = "kept, both doors"
    asked.session.contributions.add(entropy=entropy)
    with service.stub() as stub:
        rolled = stub.Roll(asked)
        used = rolled.record.session
        names = used.origin, used.tenant, used.table, used.vrf_key_id
        offer = Offer(*names, (Commit(hashing.commit(entropy)),)).message()
        other = Offer(used.origin, used.tenant, "elsewhere", used.vrf_key_id, ()).message()
        told = service_pb2.SealRollResponse(digest="ab" * 32, session=used, seq=1)
        shown = bundle_message(Bundle(read_envelope(rolled.envelope)))
        for mine, verified, level in (
            (service_pb2.Mine(), True, "L0"),
            (service_pb2.Mine(offers=[offer]), True, "L1"),
            (service_pb2.Mine(offers=[offer, other]), False, "L1"),
            (service_pb2.Mine(offers=[offer], sealed=[told]), True, "L0"),
        ):
            one = service_pb2.VerifyReceiptRequest(bundle=shown, mine=mine)
            whole = service_pb2.VerifySessionRequest(bundles=[shown], mine=mine)
            receipt, session = stub.VerifyReceipt(one), stub.VerifySession(whole)
            assert (receipt.verified, session.verified) == (verified, verified)
            assert (receipt.session.level, session.sessions[0].level) == (level, level)
            assert receipt.level == (level if verified else "")
            for path, request, answer in (("rolls", one, receipt), ("sessions", whole, session)):
                body = json_format.MessageToJson(request).encode()
                status, over_rest = post(service, f"/v1/{path}:verify", body)
                assert (status, json_format.ParseDict(over_rest, type(answer)())) == (200, answer)


# From the command line


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root.pub"
    path.write_text(ROOT.public_key.hex())
    return path


def folder_of(place: Path, given: Sequence[Bundle]) -> Path:
    folder = place / "scene"
    folder.mkdir()
    for number, each in enumerate(given):
        (folder / f"{number:03}.json").write_bytes(format_bundle(each))
    return folder


def test_a_folder_is_a_session(run: Run, scene: Table, root: Path, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, bundles(scene.receipts))
    done = run("verify", folder, "--root", root)
    assert done.code == 0
    assert done.out.count("8 steps ok") == len(scene.receipts)
    for line in ("VERIFIED, level L0", GUARDED, f"head {scene.receipts[-1].digest}", "session table-42"):
        assert line in done.out
    answer = run("verify", folder, "--root", root, "--json").json
    assert answer["verified"] is True
    assert len(answer["receipts"]) == len(scene.receipts)
    assert answer["sessions"][0]["head"] == scene.receipts[-1].digest


def test_the_files_of_a_folder_are_told_as_people_count(run: Run, scene: Table, root: Path, tmp_path: Path) -> None:
    held = bundles(scene.receipts)
    for number in (1, 2, 10):
        (tmp_path / f"{number}.json").write_bytes(format_bundle(held[0]))
    told = run("verify", tmp_path, "--root", root).out.splitlines()
    assert [Path(line.split(":")[0]).name for line in told[:3]] == ["1.json", "2.json", "10.json"]


def test_two_answers_at_one_seq_are_told_with_one_seq(run: Run, root: Path, tmp_path: Path) -> None:
    table, second = branched(at_one_seq=True)
    told = run("verify", folder_of(tmp_path, bundles([*table.receipts, second])), "--root", root).out
    assert "BRANCH at seq 0: the pending receipt of seq 0 was answered 2 times, at seq 1\n" in told


def test_a_receipt_a_line_is_a_session_and_a_branch_is_named(run: Run, root: Path, tmp_path: Path) -> None:
    table, second = branched(at_one_seq=False)
    lines = tmp_path / "scene.jsonl"
    lines.write_bytes(b"\n".join(format_bundle(each) for each in bundles([*table.receipts, second])) + b"\n")
    done = run("verify", lines, "--root", root)
    assert done.code == 1
    assert "BRANCH at seq 0: the pending receipt of seq 0 was answered 2 times, at seq 1 and 2" in done.out
    assert "NOT VERIFIED" in done.out
    assert PREVIEWED in done.out


def test_an_open_decision_is_told_and_is_no_fault(run: Run, root: Path, tmp_path: Path) -> None:
    table = Table()
    table.roll(remove())
    done = run("verify", folder_of(tmp_path, bundles(table.receipts)), "--root", root)
    assert done.code == 0
    assert "OPEN at seq 0: REMOVE" in done.out


@pytest.mark.parametrize("whole", [True, False])
def test_a_file_that_is_cut_verifies_no_session_and_its_last_line_says_so(
    run: Run, scene: Table, root: Path, tmp_path: Path, whole: bool
) -> None:
    texts = [format_bundle(each) for each in bundles(scene.receipts[:3])]
    lines = tmp_path / "cut.jsonl"
    lines.write_bytes(b"\n".join(texts) if whole else b"\n".join(texts)[:-700])
    done = run("verify", lines, "--root", root)
    if whole:
        assert (done.code, "NOT VERIFIED" in done.out) == (0, False)
        return
    assert done.code == 1
    assert "the file ends in the middle of a receipt: its tail is missing [RECEIPT_CUT]" in done.out
    assert "\n  NOT VERIFIED\n" in done.out
    assert "\n  VERIFIED" not in done.out
    last = done.out.splitlines()[-1]
    assert last == f"NOT VERIFIED: 1 of 3 receipts do not hold ({lines}:3: RECEIPT_CUT)"
    assert run("verify", lines, "--root", root, "--json").json["sessions"][0]["verified"] is False


def test_what_is_to_be_known_of_the_keys_is_said_of_sessions_too(
    run: Run, scene: Table, root: Path, tmp_path: Path
) -> None:
    development = listed_with(KeyStatus.ACTIVE, KeyUse.RECEIPT, development=True)
    given = [replace(each, key_list=development) for each in bundles(scene.receipts)]
    done = run("verify", folder_of(tmp_path, given), "--root", root)
    assert done.code == 0
    assert "  DEVELOPMENT KEYS: made for trying things out. They prove nothing." in done.out
    revoked = listed_with(KeyStatus.REVOKED, KeyUse.RECEIPT)
    given = [replace(each, key_list=revoked) for each in bundles(scene.receipts[:2])]
    (tmp_path / "saved").mkdir()
    folder = folder_of(tmp_path / "saved", given)
    saved = [word for each in given for word in ("--saved", each.envelope.digest)]
    kept = run("verify", folder, "--root", root, *saved)
    assert (kept.code, "DEVELOPMENT" in kept.out) == (0, False)
    assert "  REVOKED KEY: 2 receipts stand only because you saved the digest before." in kept.out


def test_a_file_that_ends_within_a_receipt_was_cut_and_one_that_is_too_large_is_for_the_audit(
    run: Run, scene: Table, root: Path, tmp_path: Path
) -> None:
    cut, foreign, large = tmp_path / "cut.json", tmp_path / "foreign.json", tmp_path / "large.jsonl"
    cut.write_bytes(format_bundle(bundles(scene.receipts[:1])[0])[:-20])
    foreign.write_text("a letter")
    for path, reason in ((cut, "RECEIPT_CUT"), (foreign, "JSON_INVALID")):
        assert f"[{reason}]" in run("verify", path, "--root", root).out
        assert f"[{reason}]" in run("audit", path, "--root", root).out
        (tmp_path / reason).mkdir()
        path.rename(tmp_path / reason / path.name)
        assert f"[{reason}]" in run("verify", tmp_path / reason, "--root", root).out
    large.write_bytes(b" " * (5 * 2**20))
    done = run("verify", large, "--root", root)
    assert (done.code, "large.jsonl has more than 4 MiB: `fairroll audit` reads files of any size" in done.out) == (
        2,
        True,
    )


def test_the_last_line_names_what_is_not_verified_though_another_session_is(
    run: Run, scene: Table, root: Path, tmp_path: Path
) -> None:
    table, second = branched(at_one_seq=False)
    good = Table(name="good")
    good.roll()
    folder = folder_of(tmp_path, bundles([*table.receipts, second, *good.receipts]))
    done = run("verify", folder, "--root", root)
    assert done.code == 1
    assert "session good" in done.out
    assert done.out.splitlines()[-1] == "NOT VERIFIED: BRANCH at seq 0 of table-42"
    broken = bundles(scene.receipts[:1])[0]
    envelope = replace(broken.envelope, payload=broken.envelope.payload + b"\0")
    for number in range(7):
        (folder / f"x{number}.json").write_bytes(format_bundle(replace(broken, envelope=envelope)))
    last = run("verify", folder, "--root", root).out.splitlines()[-1]
    assert last.startswith(f"NOT VERIFIED: 7 of {len(table.receipts) + 9} receipts do not hold ({folder}/x0.json: SIG")
    assert last.count("SIGNATURE_INVALID") == 5
    assert last.endswith(", ..); BRANCH at seq 0 of table-42")


def test_the_report_of_an_audit_among_the_receipts_is_passed_over(
    run: Run, scene: Table, root: Path, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path, bundles(scene.receipts))
    assert run("audit", folder, "--root", root, "--json", folder / "report.json").code == 0
    done = run("verify", folder, "--root", root)
    assert done.code == 0
    assert f"{folder / 'report.json'}: the report of an audit, passed over" in done.out
    alone = tmp_path / "alone"
    alone.mkdir()
    (folder / "report.json").rename(alone / "report.json")
    nothing = run("verify", alone, "--root", root)
    assert (nothing.code, "has no receipt" in nothing.out) == (2, True)


def test_what_cannot_be_read_is_said_and_the_rest_verified(run: Run, scene: Table, root: Path, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, bundles(scene.receipts))
    (folder / "000.json").write_text("{}")
    done = run("verify", folder, "--root", root)
    assert done.code == 1
    assert "NOT READ" in done.out or "REFUSED at step 0" in done.out
    assert "SEQ_MISSING at seq 0" in done.out
    (tmp_path / "empty").mkdir()
    assert run("verify", tmp_path / "empty", "--root", root).code == 2
