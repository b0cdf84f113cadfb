"""`fairroll audit`: what an auditor with a folder of receipts is told."""

import io
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message

from fairroll import json_codec
from fairroll.audit.page import page
from fairroll.audit.reading import MAX_ITEM_BYTES, Item, Reading
from fairroll.bundle import format_bundle, parse_bundle
from fairroll.cli import audit as cli_audit
from fairroll.cli.receipts import parse_receipt
from fairroll.envelope import Envelope, format_envelope
from fairroll.key_list import KeyStatus, KeyUse
from fairroll.receipt import read_envelope
from fairroll.strict_json import to_text
from fairroll.v1 import roll_pb2, service_pb2
from fairroll.verify_session import verify_sessions
from tests.service.audit_run import ROOT_KEY, bundles, notation_check, play, write_lines
from tests.service.cli_run import Done, Run, runner
from tests.service.rolling import ROOT, listed_with, record_of, service_keys, signed
from tests.service.table_play import Table, group, remove
from tests.service.test_levels import CO_SEEDED, PLAIN, log_of, played


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


def report_of(run: Run, folder: Path, *arguments: str | Path) -> tuple[Done, dict[str, Any]]:
    """Audit, and return what was printed and the JSON report."""
    path = folder / "report.json"
    done = run("audit", *arguments, "--root", ROOT_KEY, "--json", path, "--overwrite", "--jobs", "1")
    assert path.exists(), done
    value: dict[str, Any] = json.loads(path.read_bytes())
    assert done.code == (0 if value["verified"] else 1)
    return done, value


def reasons(value: dict[str, Any]) -> list[tuple[int | None, str, int]]:
    """The steps that failed, why, and how often."""
    return [(each["step"], each["reason"], each["receipts"]) for each in value["failuresByReason"]]


def findings(value: dict[str, Any]) -> list[tuple[str, int]]:
    """What was found in the first session."""
    return [(each["reason"], each["seq"]) for each in value["sessions"]["shown"][0]["findings"]]


def rests_on(value: dict[str, Any]) -> list[str]:
    """What the level of the first sessions rests on."""
    return [each["sentence"] for each in value["level"]["sessions"][0]["restsOn"]]


# What holds


def test_a_whole_session_verifies_with_its_steps_told(run: Run, tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "scene.jsonl", bundles(play(30).receipts))
    done, value = report_of(run, tmp_path, lines)
    assert done.code == 0
    assert done.err == ""
    assert "VERIFIED, level L0 (1 session)" in done.out
    assert [step["held"] for step in value["steps"]] == [30] * 9
    assert value["read"] == {
        "items": 30,
        "receipts": 30,
        "copies": 0,
        "failed": 0,
        "notChecked": 0,
        "savedBeforeRevocation": 0,
        "changedFiles": [],
        "passedOverFiles": 0,
        "passedOverReports": [],
    }
    assert value["keyLists"] == [{"origin": "rolls.example/v1", "listVersion": 1, "keys": 2}]


def test_folders_inside_folders_single_files_lines_and_standard_input_are_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = bundles(play(6).receipts)
    (tmp_path / "all" / "bob").mkdir(parents=True)
    (tmp_path / "all" / "0.json").write_bytes(texts[0])
    (tmp_path / "all" / "notes.txt").write_text("not read")
    write_lines(tmp_path / "all" / "bob" / "more.jsonl", [texts[1], b"", texts[2]])
    (tmp_path / "3.json").write_bytes(texts[3])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n".join(texts[4:]) + b"\n")))
    _, value = report_of(run, tmp_path, tmp_path / "all", tmp_path / "3.json", "-")
    assert value["verified"]
    assert value["read"]["receipts"] == 6
    assert value["read"]["passedOverFiles"] == 1


def test_several_processes_report_what_one_does(run: Run, tmp_path: Path) -> None:
    tables = [play(250, f"table-{number}") for number in range(2)]
    texts = [text for pair in zip(*(bundles(table.receipts) for table in tables), strict=True) for text in pair]
    lines = write_lines(tmp_path / "scene.jsonl", [*texts, b"{}", texts[0]])
    reports = []
    for jobs in ("1", "2"):
        path, page_path = tmp_path / f"{jobs}.json", tmp_path / f"{jobs}.html"
        code = run("audit", lines, "--root", ROOT_KEY, "--json", path, "--html", page_path, "--jobs", jobs).code
        reports.append((code, path.read_bytes(), page_path.read_bytes()))
    assert reports[0] == reports[1]
    assert reports[0][0] == 1
    assert json.loads(reports[0][1])["read"]["copies"] == 1


def test_a_receipt_that_is_there_twice_counts_once(run: Run, tmp_path: Path) -> None:
    texts = bundles(play(5).receipts)
    _, value = report_of(
        run, tmp_path, write_lines(tmp_path / "a.jsonl", texts), write_lines(tmp_path / "b.jsonl", texts)
    )
    assert value["verified"]
    assert (value["read"]["receipts"], value["read"]["copies"]) == (5, 5)
    draws = sum(len(outcome.draws) for each in play(5).receipts for outcome in each.record.outcomes)
    assert value["statistics"]["draws"] == draws


def test_answers_find_the_receipts_that_they_continue_wherever_these_stand(run: Run, tmp_path: Path) -> None:
    table = Table()
    table.finish(group("Ann", "Bob"))
    table.roll()
    table.finish(remove())
    answered = [each for each in table.receipts if each.record.request.root]
    assert answered
    texts = bundles(table.receipts)[::-1]
    _, value = report_of(run, tmp_path, write_lines(tmp_path / "scene.jsonl", texts))
    assert value["verified"], value["notChecked"]
    assert any("previewed" in sentence for sentence in rests_on(value))


def test_an_answer_without_its_parent_is_not_checked_and_not_verified(run: Run, tmp_path: Path) -> None:
    table = Table()
    table.finish(remove())
    texts = bundles(table.receipts)
    done, value = report_of(run, tmp_path, write_lines(tmp_path / "scene.jsonl", texts[1:]))
    assert value["notChecked"][0]["reason"] == "not checked: parent missing"
    assert done.code == 1
    assert value["steps"][8]["notChecked"] == len(texts) - 1


def test_decisions_that_wait_are_told_and_break_nothing(run: Run, tmp_path: Path) -> None:
    table = Table()
    table.roll(remove())
    done, value = report_of(run, tmp_path, write_lines(tmp_path / "scene.jsonl", bundles(table.receipts)))
    assert value["verified"]
    assert value["sessions"]["shown"][0]["open"] == [{"seq": 0, "waitsFor": ["REMOVE of Ann"]}]
    assert "OPEN at seq 0" in done.out


def test_progress_is_told_on_a_terminal_and_nowhere_else(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = write_lines(tmp_path / "scene.jsonl", bundles(play(70).receipts))
    assert run("audit", lines, "--root", ROOT_KEY).err == ""
    monkeypatch.setattr(cli_audit, "_SECONDS", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    told = run("audit", lines, "--root", ROOT_KEY).err.split("\r")
    assert [line.strip() for line in told if "judged" in line] == ["64 judged", "70 judged"]
    assert told[-2].isspace()


# What does not


def played_badly() -> Iterator[tuple[str, list[roll_pb2.RollResponse]]]:
    """Sessions with what only receipts beside one another show."""
    yield "gap", [each for each in play(6).receipts if each.record.request.seq != 3]
    yield "cut front", play(6).receipts[2:]
    twice = play(4)
    again = Table(receipts=list(twice.receipts[:2]))
    again.roll(notation_check("2d20"))
    yield "two requests for one seq", [*twice.receipts, again.receipts[2]]
    branch = Table()
    chain = [branch.roll(remove())]
    branch.send(branch.answering(chain, 0))
    branch.send(branch.answering(chain, 1))
    yield "branch", branch.receipts
    closed = play(2)
    closed.send(roll_pb2.RollRequest.FromString(closed.request().SerializeToString() + b"\x50\x01"))
    closed.roll()
    yield "after close", closed.receipts
    other, wrong = play(3), play(3, "table-43")
    linked = Table(receipts=[*other.receipts[:2], wrong.receipts[1]])
    yield "wrong link", [*other.receipts[:2], wrong.receipts[0], linked.receipts[0]]


@pytest.mark.parametrize(
    ("name", "receipts"), list(played_badly()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_sessions_are_judged_as_verify_judges_them(
    run: Run, tmp_path: Path, name: str, receipts: list[roll_pb2.RollResponse]
) -> None:
    """The audit reads sessions from disk in one pass; `verify` holds them whole."""
    texts = bundles(receipts)
    _, value = report_of(run, tmp_path, write_lines(tmp_path / "scene.jsonl", texts))
    _, sessions = verify_sessions([("", parse_bundle(text)) for text in texts], ROOT.public_key)
    assert len(value["sessions"]["shown"]) == len(sessions)
    for shown, report in zip(value["sessions"]["shown"], sessions, strict=True):
        told = sorted((each["reason"], each["seq"], each["message"]) for each in shown["findings"])
        assert told == sorted((each.reason, each.seq, each.message) for each in report.findings)
        assert shown["heads"][-1] == report.head or len(shown["heads"]) > 1
        assert shown["verified"] == report.verified
    assert value["verified"] == all(report.verified for report in sessions)


def test_two_receipts_for_one_seq_stand_side_by_side_as_evidence_that_others_can_check(
    run: Run, tmp_path: Path
) -> None:
    table = play(4)
    again = Table(receipts=list(table.receipts[:2]))
    again.roll(notation_check("2d20", label="no, that one"))
    texts = bundles([*table.receipts, again.receipts[2]])
    page_path = tmp_path / "report.html"
    _, value = report_of(run, tmp_path, write_lines(tmp_path / "scene.jsonl", texts), "--html", page_path)
    (evidence,) = value["evidence"]
    assert (evidence["reason"], evidence["seq"], evidence["differentRequests"]) == ("SEQ_TWICE", 2, True)
    assert {each["digest"] for each in evidence["receipts"]} == {table.receipts[2].digest, again.receipts[2].digest}
    for each in evidence["receipts"]:
        bundle = replace(parse_receipt(to_text(each["envelope"])), key_list=service_keys().envelope)
        (tmp_path / "evidence.json").write_bytes(format_bundle(bundle))
        assert run("verify", tmp_path / "evidence.json", "--root", ROOT_KEY).code == 0
    assert "no, that one" in page_path.read_text()
    assert "Two requests for one seq" in page_path.read_text()


def test_a_branch_is_evidence_too(run: Run, tmp_path: Path) -> None:
    table = Table()
    chain = [table.roll(remove())]
    table.send(table.answering(chain, 0))
    table.send(table.answering(chain, 1))
    _, value = report_of(run, tmp_path, write_lines(tmp_path / "scene.jsonl", bundles(table.receipts)))
    assert findings(value) == [("BRANCH", 0)]
    (evidence,) = value["evidence"]
    assert [each["digest"] for each in evidence["receipts"]] == [each.digest for each in table.receipts[1:]]


def test_a_receipt_that_lies_is_named_with_its_step(run: Run, tmp_path: Path) -> None:
    table = play(3)
    record = record_of(table.receipts[1])
    record.outcomes[0].draws[0].face = record.outcomes[0].draws[0].face % record.outcomes[0].draws[0].sides + 1
    texts = bundles(table.receipts)
    texts[1] = format_bundle(signed(record))
    done, value = report_of(run, tmp_path, write_lines(tmp_path / "scene.jsonl", texts))
    assert reasons(value) == [(7, "DRAW_DIFFERS", 1)]
    (failure,) = value["failures"]
    assert failure["receipt"].endswith("scene.jsonl:2")
    assert failure["claims"] == {"table": "table-42", "seq": 1}
    assert "scene.jsonl:2: FAILED at step 7, draws" in done.out
    assert findings(value) == [("SEQ_MISSING", 1)]
    assert [step["held"] for step in value["steps"]] == [3, 3, 3, 3, 3, 3, 3, 2, 2]


def test_a_head_that_another_participant_has_must_be_there(run: Run, tmp_path: Path) -> None:
    table = play(4)
    lines = write_lines(tmp_path / "scene.jsonl", bundles(table.receipts[:3]))
    last, inside, cut = (table.receipts[place].digest for place in (2, 1, 3))
    _, value = report_of(run, tmp_path, lines, "--head", last, "--head", inside)
    assert value["verified"]
    assert [(each["seq"], each["last"]) for each in value["heads"]] == [(2, True), (1, False)]
    done, value = report_of(run, tmp_path, lines, "--head", cut)
    assert done.code == 1
    assert f"A head that was named is not here: {cut}." in done.out


# What the auditor kept


def kept(folder: Path, name: str, message: Message) -> Path:
    """A file that --mine takes."""
    (folder / name).write_bytes(json_codec.dumps(message))
    return folder / name


@pytest.mark.parametrize(
    ("guarded", "logged", "level"), [(False, False, "L1"), (True, False, "L2"), (False, True, "L3")]
)
def test_levels_are_granted_against_what_was_kept(
    run: Run, tmp_path: Path, guarded: bool, logged: bool, level: str
) -> None:
    table = played(CO_SEEDED, guarded=guarded)
    table.close()
    mine: list[str | Path] = ["--mine", kept(tmp_path, "offer", CO_SEEDED.message())]
    if logged:
        mine += ["--mine", kept(tmp_path, "log", log_of(table).message())]
    lines = write_lines(tmp_path / "scene.jsonl", bundles([*table.receipts, *play(2).receipts]))
    done, value = report_of(run, tmp_path, lines, *mine, "--html", tmp_path / "report.html")
    assert value["verified"]
    assert [(each["level"], each["sessions"]) for each in value["level"]["sessions"]] == [("L0", 1), (level, 1)]
    assert f"VERIFIED, level L0 (1 session), {level} (1 session)" in done.out
    told = value["level"]["sessions"][1]["restsOn"]
    assert told[0]["sentence"].startswith(level)
    assert "Closed: the last receipt is the session's close" in told[-1]["sentence"]
    assert told[0]["sentence"] in (tmp_path / "report.html").read_text().replace("&#x27;", "'")


def test_what_contradicts_the_auditors_papers_is_found(run: Run, tmp_path: Path) -> None:
    table = played(CO_SEEDED)
    log = log_of(table)
    given = log.message()
    given.reveals[1].request_digest = "ab" * 32
    mine = kept(tmp_path, "offer", CO_SEEDED.message()), kept(tmp_path, "log", given)
    lines = write_lines(tmp_path / "scene.jsonl", bundles(table.receipts[:2]))
    _, value = report_of(run, tmp_path, lines, "--mine", mine[0], "--mine", mine[1])
    assert findings(value) == [("REVEAL_DIFFERS", 1), ("REVEAL_WITHOUT_RECEIPT", 2)]
    assert not value["verified"]


def told(table: Table, seq: int, digest: str = "") -> Message:
    """What everybody saw when the roll of a seq was sealed."""
    shown = table.receipts[seq]
    return service_pb2.SealRollResponse(digest=digest or shown.digest, session=shown.record.session, seq=seq)


@pytest.mark.parametrize("seq", [0, 1, 3])
def test_a_sealed_roll_stands_in_by_its_digest_until_it_is_opened(run: Run, tmp_path: Path, seq: int) -> None:
    table = play(4)
    shown = bundles(each for each in table.receipts if each.record.request.seq != seq)
    mine = "--mine", kept(tmp_path, "told", told(table, seq))
    lines = write_lines(tmp_path / "scene.jsonl", shown)
    done, value = report_of(run, tmp_path, lines, *mine, "--html", tmp_path / "report.html")
    assert value["verified"]
    assert value["sessions"]["shown"][0]["sealed"] == [seq]
    assert any("A roll is sealed and not opened" in sentence for sentence in rests_on(value))
    assert f"SEALED at seq {seq}" in done.out
    assert f"sealed at seq {seq}: not opened yet" in (tmp_path / "report.html").read_text()
    opened = write_lines(tmp_path / "opened.jsonl", bundles(table.receipts))
    _, value = report_of(run, tmp_path, opened, *mine)
    assert value["verified"]
    assert value["sessions"]["shown"][0]["sealed"] == []


def test_another_receipt_than_the_sealed_one_is_found(run: Run, tmp_path: Path) -> None:
    table = play(4)
    lines = write_lines(tmp_path / "scene.jsonl", bundles(table.receipts))
    _, value = report_of(run, tmp_path, lines, "--mine", kept(tmp_path, "told", told(table, 1, "ab" * 32)))
    assert findings(value) == [("SEAL_DIFFERS", 1)]


def test_an_offer_whose_session_does_not_verify_has_one_all_the_same(run: Run, tmp_path: Path) -> None:
    first, _, last = bundles(played().receipts)
    lines = write_lines(tmp_path / "scene.jsonl", [first, last])
    _, value = report_of(run, tmp_path, lines, "--mine", kept(tmp_path, "offer", PLAIN.message()))
    assert findings(value) == [("SEQ_MISSING", 1)]
    assert value["level"]["offersWithoutSession"] == []


def test_an_offer_without_a_session_is_told(run: Run, tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "scene.jsonl", bundles(play(2).receipts))
    page_path = tmp_path / "report.html"
    done, value = report_of(
        run, tmp_path, lines, "--mine", kept(tmp_path, "offer", PLAIN.message()), "--html", page_path
    )
    assert value["level"]["offersWithoutSession"] == [{"digest": PLAIN.digest, "table": "crypt", "opened": False}]
    assert not value["verified"]
    sentence = (
        f"An offer has no session here: {PLAIN.digest}, table crypt. Nothing that you kept says whether it was opened."
    )
    assert sentence in done.out
    assert sentence in page_path.read_text()


def test_an_offer_that_was_opened_and_a_chain_that_gave_values_are_told_apart(run: Run, tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "scene.jsonl", bundles(play(2).receipts))
    log = log_of(played(CO_SEEDED, rolls=1)).message()
    papers = [kept(tmp_path, "offer", CO_SEEDED.message()), kept(tmp_path, "log", log)]
    done, value = report_of(run, tmp_path, lines, *(word for each in papers for word in ("--mine", each)))
    assert value["level"]["offersWithoutSession"] == [{"digest": CO_SEEDED.digest, "table": "crypt", "opened": True}]
    assert f"An offer that was opened has no session here: {CO_SEEDED.digest}, table crypt." in done.out
    assert f"Of the session of a chain there is no receipt here: {log.anchor.hex()}, 1 value given." in done.out
    assert done.code == 1


# Key lists


def with_list(texts: list[bytes], key_list: Envelope) -> list[bytes]:
    return [format_bundle(replace(parse_bundle(text), key_list=key_list)) for text in texts]


@pytest.mark.parametrize("use", [KeyUse.RECEIPT, KeyUse.VRF])
def test_what_the_newest_list_revokes_does_not_stand_whatever_list_its_bundle_brings(
    run: Run, tmp_path: Path, use: KeyUse
) -> None:
    texts = bundles(play(4).receipts)
    newer = listed_with(KeyStatus.REVOKED, use)
    lines = write_lines(tmp_path / "scene.jsonl", [*texts[:3], *with_list(texts[3:], newer)])
    _, value = report_of(run, tmp_path, lines)
    assert reasons(value) == [(3, "KEY_REVOKED", 4)]
    saved = [each.digest for each in play(4).receipts]
    _, value = report_of(run, tmp_path, lines, *(part for digest in saved for part in ("--saved", digest)))
    assert value["verified"]


def test_a_key_list_beside_the_receipts_is_one_of_those_judged_by(run: Run, tmp_path: Path) -> None:
    write_lines(tmp_path / "scene.jsonl", bundles(play(2).receipts))
    (tmp_path / "keys.json").write_bytes(to_text(json.loads(bundle_list(listed_with(KeyStatus.REVOKED, KeyUse.VRF)))))
    _, value = report_of(run, tmp_path, tmp_path / "scene.jsonl", tmp_path / "keys.json")
    assert reasons(value) == [(3, "KEY_REVOKED", 2)]


def bundle_list(key_list: Envelope) -> bytes:
    from fairroll.envelope import format_envelope

    return format_envelope(key_list)


def test_the_trust_file_keeps_the_newest_list_and_judges_later_audits(run: Run, tmp_path: Path) -> None:
    trust = tmp_path / "trust.json"
    texts = bundles(play(2).receipts)
    newer = write_lines(tmp_path / "newer.jsonl", with_list(texts, listed_with(KeyStatus.RETIRED, KeyUse.VRF)))
    assert report_of(run, tmp_path, newer, "--trust", trust)[1]["verified"]
    _, value = report_of(run, tmp_path, write_lines(tmp_path / "older.jsonl", texts), "--trust", trust)
    assert value["verified"]
    assert value["keyLists"][0]["listVersion"] == 2
    revoked = with_list(texts, listed_with(KeyStatus.REVOKED, KeyUse.VRF, version=3))
    report_of(run, tmp_path, write_lines(tmp_path / "revoked.jsonl", revoked), "--trust", trust)
    _, value = report_of(run, tmp_path, write_lines(tmp_path / "older.jsonl", texts), "--trust", trust)
    assert reasons(value) == [(3, "KEY_REVOKED", 2)]


def test_lists_of_one_version_that_differ_are_a_finding(run: Run, tmp_path: Path) -> None:
    texts = bundles(play(2).receipts)
    lists = [listed_with(KeyStatus.ACTIVE, KeyUse.VRF), listed_with(KeyStatus.RETIRED, KeyUse.VRF)]
    lines = [with_list(texts[:1], lists[0])[0], with_list(texts[1:], lists[1])[0]]
    done, value = report_of(run, tmp_path, write_lines(tmp_path / "scene.jsonl", lines))
    assert [each["reason"] for each in value["keyListErrors"]] == ["KEY_LIST_CONFLICT"]
    assert done.code == 1


def test_a_bare_envelope_needs_a_list_and_takes_the_one_that_is_given(run: Run, tmp_path: Path) -> None:
    from fairroll.envelope import format_envelope

    lines = [format_envelope(read_envelope(each.envelope)) for each in play(2).receipts]
    path = write_lines(tmp_path / "scene.jsonl", lines)
    _, value = report_of(run, tmp_path, path)
    assert reasons(value) == [(0, "KEY_LIST_MISSING", 2)]
    (tmp_path / "keys.json").write_bytes(bundle_list(service_keys().envelope))
    assert report_of(run, tmp_path, path, "--keys", tmp_path / "keys.json")[1]["verified"]


def test_another_root_verifies_nothing(run: Run, tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "scene.jsonl", bundles(play(2).receipts))
    done = run("audit", lines, "--root", "ab" * 32)
    assert done.code == 1
    assert "FAILED at step 0, key list" in done.out


# Files that are not as they should be


def test_a_file_that_was_cut_says_so_and_the_rest_is_judged(run: Run, tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "scene.jsonl", bundles(play(3).receipts))
    lines.write_bytes(lines.read_bytes()[:-700])
    _, value = report_of(run, tmp_path, lines)
    assert reasons(value) == [(None, "RECEIPT_CUT", 1)]
    assert value["read"]["receipts"] == 2
    assert value["failures"][0]["receipt"].endswith(":3")


def test_a_last_line_without_its_end_is_no_cut_if_it_is_whole(run: Run, tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "scene.jsonl", bundles(play(3).receipts))
    lines.write_bytes(lines.read_bytes()[:-1])
    assert report_of(run, tmp_path, lines)[1]["verified"]


def test_bad_and_foreign_lines_are_named_and_end_nothing(run: Run, tmp_path: Path) -> None:
    good = bundles(play(2).receipts)
    strange = [
        b"{",
        b"\xff\xfe",
        b'{"name":"a character sheet"}',
        b"[]",
        b"4d6kh3",
        b'{"payload":"AA=="}',
        b"[" * 100_000,
    ]
    done, value = report_of(run, tmp_path, write_lines(tmp_path / "scene.jsonl", [good[0], *strange, good[1]]))
    assert value["read"]["receipts"] == 2
    assert [each["receipt"].rpartition(":")[2] for each in value["failures"]] == [str(n) for n in range(2, 9)]
    assert {each["step"] for each in value["failures"]} == {None}
    assert "7 items could not be read as a receipt." in done.out


def test_saved_answers_of_the_service_are_judged_like_bundles(run: Run, tmp_path: Path) -> None:
    """Whoever keeps what `POST /v1/rolls` answered keeps receipts: what was changed in one fails at its step."""
    folder = tmp_path / "answers"
    folder.mkdir()
    (tmp_path / "keys.json").write_bytes(format_envelope(service_keys().envelope))
    answers = play(5).receipts
    answers[1].envelope.payload += b"x"
    answers[2].record.outcomes[0].draws[0].face += 1
    answers[3].digest = "ab" * 32
    for number, answer in enumerate(answers):
        (folder / f"{number}.json").write_bytes(json_codec.dumps(answer))
    _, value = report_of(run, tmp_path, folder, "--keys", tmp_path / "keys.json")
    assert reasons(value) == [(1, "SIGNATURE_INVALID", 1), (2, "DIGEST_DIFFERS", 1), (2, "RECORD_DIFFERS", 1)]
    assert value["read"]["receipts"] == 2


def test_the_reports_of_an_earlier_audit_in_the_folder_are_passed_over_and_said(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "game"
    folder.mkdir()
    write_lines(folder / "scene.jsonl", bundles(play(3).receipts))
    reports = ("--html", folder / "report.html", "--json", folder / "report.json")
    assert run("audit", folder, "--root", ROOT_KEY, *reports).code == 0
    page_path = tmp_path / "again.html"
    done, value = report_of(run, tmp_path, folder, "--html", page_path)
    assert (done.code, value["read"]["items"], value["read"]["passedOverFiles"]) == (0, 3, 1)
    assert value["read"]["passedOverReports"] == [str(folder / "report.json")]
    assert f"{folder / 'report.json'}: the report of an audit, passed over" in done.out
    assert f"Passed over, the report of an audit: <bdi>{folder / 'report.json'}</bdi>" in page_path.read_text()
    # Only what says so of itself is one.
    (folder / "report.json").write_text('{"report":"of something else"}')
    assert report_of(run, tmp_path, folder)[1]["read"]["failed"] == 1


def test_a_million_empty_lines_are_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "scene.jsonl").write_bytes(b"\n" * 1_000_000 + bundles(play(1).receipts)[0] + b"\n")
    _, value = report_of(run, tmp_path, tmp_path / "scene.jsonl")
    assert value["verified"]
    assert value["read"]["items"] == 1


def test_a_line_longer_than_any_receipt_is_passed_over_without_being_held(tmp_path: Path) -> None:
    path = tmp_path / "scene.jsonl"
    path.write_bytes(b"x" * (3 * MAX_ITEM_BYTES) + b"\nnext\n")
    items = list(Reading([str(path)]).items())
    assert [getattr(item.text, "reason", item.text) for item in items] == ["LINE_TOO_LONG", b"next\n"]


@pytest.mark.parametrize("what", ["added", "taken", "written", "grown"])
def test_a_folder_that_changes_while_it_is_read_is_told(tmp_path: Path, what: str) -> None:
    for name in ("1.jsonl", "2.jsonl", "3.jsonl"):
        (tmp_path / name).write_bytes(b"first\nsecond\n")
    reading = Reading([str(tmp_path)])
    items = reading.items()
    read = [next(items)]
    changed = {"added": "4.jsonl", "taken": "2.jsonl", "written": "1.jsonl", "grown": "3.jsonl"}[what]
    if what == "taken":
        (tmp_path / changed).unlink()
    else:
        with (tmp_path / changed).open("ab") as file:
            file.write(b"third\n")
    read += items
    assert reading.changed == [str(tmp_path / changed)]
    texts = [item.text for item in read]
    assert b"third\n" not in texts  # what came later is not half in and half out
    assert any(getattr(text, "reason", "") == "FILE_NOT_READ" for text in texts) == (what == "taken")


def test_a_folder_that_changed_is_not_verified(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = write_lines(tmp_path / "scene.jsonl", bundles(play(2).receipts))
    whole = Reading.items

    def items(self: Reading) -> Iterator[Item]:
        for item in whole(self):
            yield item
            os.utime(lines, ns=(1, 1))

    monkeypatch.setattr(Reading, "items", items)
    done, value = report_of(run, tmp_path, lines)
    assert value["read"]["changedFiles"] == [str(lines)]
    assert "1 file changed while they were read: audit again, of a copy." in done.out


def test_a_report_of_nothing_says_that_it_says_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    page_path = tmp_path / "report.html"
    done, value = report_of(run, tmp_path, tmp_path / "empty", "--html", page_path)
    assert done.code == 1
    assert not value["verified"]
    assert value["verdict"] == ["There was no receipt to check: this report says nothing about any roll."]
    assert "this report says nothing about any roll" in page_path.read_text()
    assert "Verified" not in page_path.read_text()


# Wrong use


def test_reports_that_exist_are_left_as_they_are(run: Run, tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "scene.jsonl", bundles(play(1).receipts))
    path = tmp_path / "report.html"
    path.write_text("mine")
    done = run("audit", lines, "--root", ROOT_KEY, "--html", path)
    assert (done.code, done.out) == (2, "")
    assert "[FILE_EXISTS]" in done.err
    assert "--overwrite" in done.err
    assert path.read_text() == "mine"
    assert run("audit", lines, "--root", ROOT_KEY, "--html", path, "--overwrite").code == 0
    assert path.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nothing.jsonl"], "FILE_NOT_READ"),
        ([".", "--json", "no/where.json"], "FILE_NOT_WRITTEN"),
        ([".", "--keys", "nothing.json"], "FILE_NOT_READ"),
        ([".", "--jobs", "0"], "from 1 to 512"),
        ([".", "--head", "abc"], "64 lower-case hex digits"),
    ],
)
def test_wrong_use_is_refused_before_any_work(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("audit", *arguments, "--root", ROOT_KEY)
    assert done.code == 2
    assert reason in done.err + done.out


def test_without_scipy_a_report_is_refused_and_an_audit_is_not(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    lines = write_lines(tmp_path / "scene.jsonl", bundles(play(2).receipts))
    done = run("audit", lines, "--root", ROOT_KEY, "--html", tmp_path / "report.html")
    assert done.code == 2
    assert "pip install 'fairroll[audit]'" in done.err
    assert not (tmp_path / "report.html").exists()
    assert run("audit", lines, "--root", ROOT_KEY).code == 0


# The page


class Tags(HTMLParser):
    """What a browser would see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "action")]
        assert not [name for name, _ in attrs if name.startswith("on")]


HOSTILE = (
    '<script>alert("1")</script>',
    "\u202egnp.exe",
    "'\"><img src=x onerror=alert(1)>",
    "a\nb\x1b[31m",
    "</title></svg>",
)


def test_hostile_names_are_text_and_the_page_loads_and_runs_nothing(run: Run, tmp_path: Path) -> None:
    table = Table(name="</table>\u202e<b>")
    for index in range(60):
        table.roll(notation_check("2d6 # <i>", actor=HOSTILE[index % 5], label=HOSTILE[(index + 1) % 5]))
    lines = write_lines(tmp_path / "<b>scene<i>.jsonl", [*bundles(table.receipts), b"{}"])
    path = tmp_path / "report.html"
    done, value = report_of(run, tmp_path, lines, "--html", path)
    text = path.read_text()
    tags = Tags(text)
    assert not {"script", "img", "i", "link", "iframe", "object", "base", "form"} & set(tags.seen)
    assert not tags.links
    assert "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;" in text
    assert "\u202e" not in text + done.out
    assert "\x1b" not in text + done.out
    assert tags.seen.count("main") == tags.seen.count("title") - tags.seen.count("rect") - tags.seen.count(
        "svg"
    ) - tags.seen.count("circle")
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in text
    assert page(value) == text


def test_the_page_has_words_for_those_who_do_not_see_plots(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    report_of(run, tmp_path, write_lines(tmp_path / "scene.jsonl", bundles(play(80).receipts)), "--html", path)
    text = path.read_text()
    assert '<html lang="en">' in text
    assert text.count('<svg role="img"') == text.count("</svg>")
    assert all(part.partition(">")[2].startswith("<title>") for part in text.split("<svg")[1:])
    assert text.count("<th ") == text.count("scope=col")
