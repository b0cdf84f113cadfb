"""The corpus for verifiers: it is what its script writes, and this verifier says of it what its index says."""

import json
from pathlib import Path
from typing import Any

import pytest

from fairroll import json_codec
from fairroll.bundle import Bundle, parse_bundle
from fairroll.errors import VerificationError
from fairroll.levels import Mine, read_reveal_log, read_sealed
from fairroll.offer import read_offer
from fairroll.v1 import roll_pb2, service_pb2, session_pb2
from fairroll.verify import verification
from fairroll.verify_session import verify_sessions
from tests.service import receipt_corpus
from tests.service.receipt_corpus import FOLDER

ROOT_KEY = bytes.fromhex((FOLDER / "root.pub").read_text())
INDEX: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / "index.json").read_bytes())


def read(entry: dict[str, Any]) -> bytes:
    """A file of the corpus."""
    name: str = entry["file"]
    return (FOLDER / name).read_bytes()


def result_of(bundle: Bundle) -> tuple[int, str]:
    """The last step, and whether it held."""
    step, held = -1, True
    try:
        for taken in verification(bundle, ROOT_KEY):
            step, held = int(taken.step), taken.held
    except VerificationError as error:
        return int(error.step), "fails"
    return step, "holds" if held else "cannot be judged"


def test_the_script_writes_the_bytes_that_are_there() -> None:
    made = receipt_corpus.files()
    there = {str(path.relative_to(FOLDER)): path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}
    differ = sorted(path for path in made.keys() | there.keys() if made.get(path) != there.get(path))
    assert not differ, f"run {receipt_corpus.COMMAND}, and look at the difference: a signed byte is a promise"


@pytest.mark.parametrize("entry", INDEX["good"], ids=lambda entry: Path(entry["file"]).stem)
def test_a_good_bundle_holds_in_every_step(entry: dict[str, Any]) -> None:
    assert result_of(parse_bundle(read(entry))) == (8, "holds")


@pytest.mark.parametrize("entry", INDEX["bad"], ids=lambda entry: Path(entry["file"]).stem)
def test_a_bundle_with_one_defect_fails_at_its_step(entry: dict[str, Any]) -> None:
    assert result_of(parse_bundle(read(entry))) == (entry["step"], entry["result"])


@pytest.mark.parametrize("entry", INDEX["sessions"], ids=lambda entry: Path(entry["file"]).stem)
def test_a_session_has_its_level_and_what_is_wrong_with_it(entry: dict[str, Any]) -> None:
    offers, logs, sealed = [], [], []
    for name in entry["kept"]:
        text = (FOLDER / name).read_bytes()
        if name.endswith(".log.json"):
            logs.append(read_reveal_log(json_codec.loads(session_pb2.RevealLog, text)))
        elif name.endswith(".told.json"):
            sealed.append(read_sealed(json_codec.loads(service_pb2.SealRollResponse, text)))
        else:
            offers.append(read_offer(json_codec.loads(session_pb2.Offer, text)))
    bundles = [("", parse_bundle(line)) for line in read(entry).splitlines()]
    judged, (only,) = verify_sessions(bundles, ROOT_KEY, mine=Mine(tuple(offers), tuple(logs), tuple(sealed)))
    assert all(each.verified for each in judged)
    assert [{"reason": each.reason, "seq": each.seq} for each in only.findings] == entry["findings"]
    assert (only.level.name if only.verified else "") == entry["level"]


def test_the_corpus_has_every_roll_status_guard_mode_level_and_step() -> None:
    records = [roll_pb2.RollRecord.FromString(parse_bundle(read(entry)).envelope.payload) for entry in INDEX["good"]]
    systems = {check.WhichOneof("system") for record in records for check in record.request.checks}
    assert systems == {each.name for each in roll_pb2.Check.DESCRIPTOR.oneofs_by_name["system"].fields}
    assert {record.guard_mode for record in records} == set(roll_pb2.GuardMode.values()[1:])
    statuses = {outcome.status for record in records for outcome in record.outcomes}
    assert statuses == set(roll_pb2.CheckStatus.values()[1:])
    kinds = {each.WhichOneof("kind") for record in records for each in record.session.contributions}
    assert kinds == {"entropy", "beacon_round", "anchor"}
    assert any(record.request.close for record in records)
    assert any(record.request.answers for record in records)
    assert {entry["level"] for entry in INDEX["sessions"]} == {"", "L0", "L1", "L2", "L3"}
    assert {entry["step"] for entry in INDEX["bad"]} == set(range(9))
