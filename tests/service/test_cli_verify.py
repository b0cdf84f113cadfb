"""`fairroll verify`: what an auditor is told, and how a script reads it."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from fairroll import json_codec
from fairroll.envelope import ROLL_RECORD_TYPE, Envelope, format_envelope, parse_envelope, sign_envelope
from fairroll.key_list import KeyList, KeyStatus, KeyUse, sign_key_list
from fairroll.signer import SigningKey
from fairroll.strict_json import to_text
from fairroll.v1 import roll_pb2, service_pb2
from tests.service.cli_run import Operator, Run, operator, runner

STEPS = ["key list", "signature", "record", "keys", "session", "reveals", "VRF proof", "draws", "rules"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Operator:
    return operator(tmp_path_factory.mktemp("house") / "keys")


@pytest.fixture
def receipt(house: Operator, tmp_path: Path) -> Path:
    path = tmp_path / "receipt.json"
    path.write_bytes(house.bundle("4d6kh3", "2d8+1", label="strength", actor="Ann"))
    return path


def newer_list(house: Operator, revoked: KeyUse | None = None) -> Envelope:
    """The operator's next key list, in which the key of that use is revoked."""
    keys = tuple(
        replace(key, status=KeyStatus.REVOKED) if key.use is revoked else key for key in house.keys.key_list.keys
    )
    root = SigningKey(bytes.fromhex((house.folder / "root.seed").read_text()))
    return sign_key_list(root, KeyList(house.keys.origin, house.keys.key_list.list_version + 1, keys))


def test_every_step_is_told_with_its_value(run: Run, house: Operator, receipt: Path) -> None:
    done = run("verify", receipt, "--root", house.root)
    assert done.code == 0
    assert done.err == ""
    told = [line.split()[0] for line in done.out.splitlines() if line.startswith("  ") and line[2].isdigit()]
    assert told == list("012345678")
    for name in STEPS:
        assert f" {name} " in done.out
    assert done.out.count(" ok ") == len(STEPS)
    assert "VERIFIED, level L0" in done.out
    assert "Still possible: whoever asked" in done.out
    assert "check 1: notation/1, Ann, strength" in done.out
    assert "DEVELOPMENT" not in done.out


def test_the_dice_and_the_outcome_are_those_of_the_roll(run: Run, house: Operator, tmp_path: Path) -> None:
    answer = house.answer("4d6kh3")
    path = tmp_path / "answer.json"
    path.write_bytes(json_codec.dumps(answer))
    keys = tmp_path / "keys.json"
    keys.write_bytes(format_envelope(house.keys.envelope))
    done = run("verify", path, "--root", house.root, "--keys", keys)
    assert done.code == 0
    assert "dice  " + ", ".join(f"d6={draw.face}" for draw in answer.record.outcomes[0].draws) in done.out
    assert answer.texts[0].line in done.out


def test_json_has_the_steps_the_level_the_dice_and_the_outcome(run: Run, house: Operator, receipt: Path) -> None:
    done = run("verify", receipt, "--root", house.keys.root_public_key.hex(), "--json")
    assert done.code == 0
    answer = done.json
    assert answer["verified"] is True
    (report,) = answer["receipts"]
    assert report["file"] == str(receipt)
    assert [(step["number"], step["name"], step["result"]) for step in report["steps"]] == [
        (number, name, "STEP_RESULT_HELD") for number, name in enumerate(STEPS)
    ]
    assert report["level"] == "L0"
    assert report["development"] is False
    assert len(report["record"]["outcomes"][0]["draws"]) == 4
    assert len(report["texts"]) == 2
    assert report["steps"][1]["detail"] == f"digest {report['digest']}"


def test_development_keys_are_pointed_out(run: Run, tmp_path: Path) -> None:
    house = operator(tmp_path / "keys", development=True)
    path = tmp_path / "receipt.json"
    path.write_bytes(house.bundle("d20"))
    done = run("verify", path, "--root", house.root)
    assert done.code == 0
    assert "DEVELOPMENT KEYS" in done.out
    assert run("verify", path, "--root", house.root, "--json").json["receipts"][0]["development"] is True


def test_any_flipped_bit_is_refused_and_the_failing_step_named(run: Run, house: Operator, tmp_path: Path) -> None:
    """Every 97th byte and a few at random; in every one of them a receipt is refused at a step that has a name."""
    good = house.bundle("4d6kh3")
    path = tmp_path / "flipped.json"
    chance = random.Random(6)
    failed = set()
    for place in [*range(0, len(good), 97), *chance.sample(range(len(good)), 40)]:
        flipped = bytearray(good)
        flipped[place] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        done = run("verify", path, "--root", house.root, "--json")
        assert done.code == 1, place
        (report,) = done.json["receipts"]
        assert report["verified"] is False
        last = report["steps"][-1]
        assert last["result"] == "STEP_RESULT_FAILED"
        assert report["error"]["code"] in last["detail"]
        assert "record" not in report
        failed.add(last["name"])
    assert {"bundle", "key list", "signature"} <= failed


class Lie(NamedTuple):
    """What a thief of the receipt key may write into a record, and which step notices."""

    step: int
    reason: str
    write: Callable[[roll_pb2.RollRecord], object]


LIES = [
    Lie(8, "OUTCOME_DIFFERS", lambda record: setattr(record.request.checks[0].notation, "text", "4d6kh2")),
    Lie(8, "OUTCOME_DIFFERS", lambda record: setattr(record.outcomes[0].notation, "total", 19)),
    Lie(7, "DRAW_DIFFERS", lambda record: setattr(record.outcomes[0].draws[0], "sides", 2**31)),
    Lie(6, "PROOF_POINT_INVALID", lambda record: setattr(record, "proof", bytes(80))),
    Lie(
        6,
        "PROOF_INVALID",
        lambda record: setattr(record, "proof", record.proof[:40] + bytes([record.proof[40] ^ 1]) + record.proof[41:]),
    ),
    Lie(5, "REVEAL_COUNT", lambda record: record.request.reveals.append(bytes(32))),
    Lie(4, "ONE_OFF_MALFORMED", lambda record: setattr(record.session, "table", "one-off/" + "0" * 63)),
    Lie(3, "ORIGIN_DIFFERS_FROM_LIST", lambda record: setattr(record.session, "origin", "other/v1")),
    Lie(3, "UNKNOWN_KEY", lambda record: setattr(record.session, "vrf_key_id", "A" * 43)),
    Lie(2, "RECORD_NEWER", lambda record: setattr(record, "protocol_minor", 2)),
]


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: f"{lie.step}-{lie.reason}")
def test_a_record_that_lies_and_is_signed_all_the_same(run: Run, house: Operator, tmp_path: Path, lie: Lie) -> None:
    """Whoever has the receipt key still cannot choose dice, or say what they meant."""
    record = house.answer("4d6kh3").record
    lie.write(record)
    keys = house.keys.current
    payload = record.SerializeToString(deterministic=True)
    path = tmp_path / "lie.json"
    path.write_bytes(format_envelope(sign_envelope(ROLL_RECORD_TYPE, payload, keys.receipt_key_id, keys.receipt)))
    done = run("verify", path, "--root", house.root, "--keys", house.folder / "key-list.json", "--json")
    assert done.code == 1
    (report,) = done.json["receipts"]
    assert (report["error"]["step"], report["error"]["code"]) == (lie.step, lie.reason)
    assert [each["result"] for each in report["steps"]] == ["STEP_RESULT_HELD"] * lie.step + ["STEP_RESULT_FAILED"]
    text = run("verify", path, "--root", house.root, "--keys", house.folder / "key-list.json").out
    assert f"REFUSED at step {lie.step}, {STEPS[lie.step]}: " in text
    assert "VERIFIED" not in text


def test_an_unknown_engine_is_not_recomputed_and_not_good(run: Run, house: Operator, tmp_path: Path) -> None:
    record = house.answer("4d6kh3").record
    record.outcomes[0].engine = "notation/2"
    keys = house.keys.current
    payload = record.SerializeToString(deterministic=True)
    path = tmp_path / "newer.json"
    path.write_bytes(format_envelope(sign_envelope(ROLL_RECORD_TYPE, payload, keys.receipt_key_id, keys.receipt)))
    command = ("verify", path, "--root", house.root, "--keys", house.folder / "key-list.json")
    done = run(*command)
    assert done.code == 1
    assert "8 rules      not checked not recomputed" in done.out
    assert "NOT VERIFIED WHOLE" in done.out
    (report,) = run(*command, "--json").json["receipts"]
    assert report["verified"] is False
    assert report["level"] == ""
    assert report["steps"][-1]["result"] == "STEP_RESULT_NOT_CHECKED"
    assert report["steps"][7]["result"] == "STEP_RESULT_HELD"


def test_another_root_is_refused_at_the_key_list(run: Run, receipt: Path) -> None:
    done = run("verify", receipt, "--root", SigningKey(b"x" * 32).public_key.hex())
    assert done.code == 1
    assert "REFUSED at step 0, key list" in done.out


@pytest.mark.parametrize("root", ["", "00", "g" * 64, "no-such-file", "٠" * 64])
def test_what_is_no_root_key_is_wrong_use(run: Run, receipt: Path, root: str) -> None:
    done = run("verify", receipt, "--root", root)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("fairroll: ")
    assert run("verify", receipt, "--root", root, "--json").json["error"]["code"] in (
        "ROOT_KEY_INVALID",
        "FILE_NOT_READ",
    )


def test_of_several_receipts_each_is_reported_and_one_that_fails_is_enough(
    run: Run, house: Operator, receipt: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_bytes(receipt.read_bytes().replace(b'"chain":[]', b'"chain":{}'))
    done = run("verify", receipt, bad, receipt, "--root", house.root)
    assert done.code == 1
    assert done.out.count("VERIFIED, level L0") == 2
    assert "REFUSED at step 0, bundle" in done.out
    assert done.out.endswith("2 of 3 receipts verified\n")
    answer = run("verify", receipt, bad, "--root", house.root, "--json").json
    assert answer["verified"] is False
    assert [report["verified"] for report in answer["receipts"]] == [True, False]


def test_a_file_that_is_not_there_is_wrong_use_and_the_others_are_reported(
    run: Run, house: Operator, receipt: Path, tmp_path: Path
) -> None:
    done = run("verify", tmp_path / "absent.json", receipt, "--root", house.root)
    assert done.code == 2
    assert "NOT READ: absent.json" in done.out
    assert "VERIFIED, level L0" in done.out


def test_no_root_is_wrong_use(run: Run, receipt: Path) -> None:
    assert run("verify", receipt).code == 2
    assert run("verify", receipt, "--json").json["error"]["code"] == "WRONG_USE"


def test_an_envelope_without_a_key_list_needs_one(run: Run, house: Operator, receipt: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.json"
    bare.write_bytes(to_text(json.loads(receipt.read_bytes())["envelope"]))
    done = run("verify", bare, "--root", house.root)
    assert done.code == 1
    assert "[KEY_LIST_MISSING]" in done.out
    assert run("verify", bare, "--root", house.root, "--keys", house.folder / "key-list.json").code == 0


def test_the_answer_of_the_key_list_call_is_a_key_list(
    run: Run, house: Operator, receipt: Path, tmp_path: Path
) -> None:
    keys = tmp_path / "keys.json"
    envelope = house.keys.envelope
    answer = service_pb2.GetKeyListResponse()
    answer.envelope.payload, answer.envelope.payload_type = envelope.payload, envelope.payload_type
    answer.envelope.signatures.add(keyid=envelope.signatures[0].keyid, sig=envelope.signatures[0].sig)
    keys.write_bytes(json_codec.dumps(answer))
    assert run("verify", receipt, "--root", house.root, "--keys", keys).code == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda answer: setattr(answer.record.outcomes[0].notation, "total", 18), "RECORD_DIFFERS"),
        (lambda answer: setattr(answer, "digest", "0" * 64), "DIGEST_DIFFERS"),
        (lambda answer: setattr(answer.envelope, "payload", answer.envelope.payload + b"x"), "SIGNATURE_INVALID"),
    ],
)
def test_an_answer_that_shows_what_was_not_signed_is_refused(
    run: Run, house: Operator, tmp_path: Path, change: object, reason: str
) -> None:
    answer = house.answer("1d4+1")
    assert callable(change)
    change(answer)
    path = tmp_path / "answer.json"
    path.write_bytes(json_codec.dumps(answer))
    done = run("verify", path, "--root", house.root, "--keys", house.folder / "key-list.json", "--json")
    assert done.code == 1
    (receipt,) = done.json["receipts"]
    assert (receipt["error"]["code"], receipt["error"]["step"]) == (reason, 1 if "SIGNATURE" in reason else 2)
    assert [step["result"] for step in receipt["steps"]][-1] == "STEP_RESULT_FAILED"


def test_a_trust_file_remembers_a_newer_list_and_judges_old_bundles_by_it(
    run: Run, house: Operator, receipt: Path, tmp_path: Path
) -> None:
    trust, newer = tmp_path / "trust.json", tmp_path / "newer.json"
    newer.write_bytes(format_envelope(newer_list(house, KeyUse.RECEIPT)))
    assert run("verify", receipt, "--root", house.root, "--trust", trust).code == 0
    assert run("verify", receipt, "--root", house.root, "--trust", trust, "--keys", newer).code == 1
    done = run("verify", receipt, "--root", house.root, "--trust", trust)
    assert done.code == 1
    assert "[KEY_REVOKED]" in done.out
    assert run("verify", receipt, "--root", house.root).code == 0, "without the trust file the bundle is all there is"


def test_an_older_list_given_by_keys_is_refused(run: Run, house: Operator, receipt: Path, tmp_path: Path) -> None:
    trust, newer = tmp_path / "trust.json", tmp_path / "newer.json"
    newer.write_bytes(format_envelope(newer_list(house)))
    assert run("verify", receipt, "--root", house.root, "--trust", trust, "--keys", newer).code == 0
    older = house.folder / "key-list.json"
    done = run("verify", receipt, "--root", house.root, "--trust", trust, "--keys", older, "--json")
    assert done.code == 1
    assert done.json["receipts"][0]["error"]["code"] == "KEY_LIST_OLDER"
    assert done.json["receipts"][0]["steps"][-1]["number"] == 0
    newer_bundle = tmp_path / "newer-bundle.json"
    newer_bundle.write_bytes(house.bundle("d6", key_list=newer_list(house)))
    assert run("verify", newer_bundle, "--root", house.root, "--keys", older).code == 1, "older than the bundle's own"


def test_a_receipt_saved_before_its_key_was_revoked_stands_and_says_so(
    run: Run, house: Operator, receipt: Path, tmp_path: Path
) -> None:
    newer = tmp_path / "newer.json"
    newer.write_bytes(format_envelope(newer_list(house, KeyUse.VRF)))
    command = ("verify", receipt, "--root", house.root, "--keys", newer)
    assert run(*command).code == 1
    digest = parse_envelope(to_text(json.loads(receipt.read_bytes())["envelope"])).digest
    done = run(*command, "--saved", digest)
    assert done.code == 0
    assert "REVOKED KEY" in done.out
    assert run(*command, "--saved", "0" * 64).code == 1
    assert run(*command, "--saved", "0").code == 2


def test_a_broken_trust_file_is_wrong_use_and_stays_as_it_is(
    run: Run, house: Operator, receipt: Path, tmp_path: Path
) -> None:
    trust = tmp_path / "trust.json"
    trust.write_text("{}")
    assert run("verify", receipt, "--root", house.root, "--trust", trust).code == 2
    assert trust.read_text() == "{}"


def test_a_key_list_that_is_none_is_wrong_use(run: Run, house: Operator, receipt: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text("[]")
    done = run("verify", receipt, "--root", house.root, "--keys", keys, "--json")
    assert done.code == 2
    assert done.json["error"]["code"] == "KEY_LIST_UNREADABLE"


def test_a_name_in_a_receipt_cannot_steer_the_terminal(run: Run, house: Operator, tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    path.write_bytes(house.bundle("d6", label="\x1b[2J", actor="a\n  VERIFIED, level L3"))
    done = run("verify", path, "--root", house.root)
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\\x1b[2J" in done.out
    assert not any(line.startswith("  VERIFIED, level L3") for line in done.out.splitlines())


def test_verified_records_are_whole(run: Run, house: Operator, receipt: Path) -> None:
    shown = run("verify", receipt, "--root", house.root, "--json").json["receipts"][0]["record"]
    record = json_codec.from_value(roll_pb2.RollRecord, json_codec.parse(json.dumps(shown)))
    payload = parse_envelope(to_text(json.loads(receipt.read_bytes())["envelope"])).payload
    assert record.SerializeToString(deterministic=True) == payload


@pytest.mark.parametrize("content", ["", "\n" * 1000])
def test_a_file_without_a_receipt_is_no_verified_session(
    run: Run, house: Operator, tmp_path: Path, content: str
) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text(content)
    done = run("verify", empty, "--root", house.root)
    assert done.code == 2
    assert "has no receipt" in done.out + done.err
