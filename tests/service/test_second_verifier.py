"""A verifier that was written from docs/protocol.md finds in the corpus what its index says."""

import ast
import json
from base64 import b64decode
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from py_arkworks_bls12381 import G1Point

from fairroll.v1 import roll_pb2
from tests.service import second_pairing, second_verifier
from tests.service.receipt_corpus import FOLDER
from tests.service.test_beacon import published
from tests.service.test_receipt_corpus import INDEX, ROOT_KEY, read
from tests.service.vector_files import read_vectors

VECTORS = read_vectors("protocol_v1.json")
PROTOCOL = Path(__file__).resolve().parents[2] / "docs" / "protocol.md"


def bundle_of(entry: dict[str, Any]) -> dict[str, Any]:
    bundle: dict[str, Any] = json.loads(read(entry))
    return bundle


def known_here(bundle: dict[str, Any]) -> bool:
    """Whether the second verifier has the rules of every check."""
    record = roll_pb2.RollRecord.FromString(b64decode(bundle["envelope"]["payload"]))
    texts = [each.notation.text for each in record.request.checks if each.WhichOneof("system") == "notation"]
    known = [text for text in texts if second_verifier.NOTATION.fullmatch(text)]
    return not record.request.answers and len(known) == len(record.request.checks)


def test_it_shares_nothing_with_the_verifier_but_the_contracts_messages() -> None:
    assert imports(second_pairing) == {"__future__", "functools", "hashlib"}
    foreign = {name for name in imports(second_verifier) if name.startswith(("fairroll", "tests", "nacl", "py_"))}
    assert foreign == {"fairroll.v1", "tests.service"}
    assert "from tests.service import second_pairing\n" in Path(second_verifier.__file__).read_text()


def imports(module: ModuleType) -> set[str]:
    tree = ast.parse(Path(module.__file__ or "").read_text())
    return {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
    }


@pytest.mark.parametrize("message", [b"", b"abc", b"q128_" + b"q" * 128])
def test_it_hashes_to_the_curve_as_a_library_does(message: bytes) -> None:
    domain = second_verifier.BEACON_DOMAIN
    theirs = G1Point.hash_to_curve(message, domain).to_compressed_bytes()
    assert second_pairing.hashed(message, domain) == second_pairing.read_g1(bytes(theirs))


@pytest.mark.parametrize(
    ("number", "signed_as", "judged"), [(1000, 1000, True), (657413, 657413, True), (1000, 657413, False)]
)
def test_it_judges_rounds_that_are_known(number: int, signed_as: int, judged: bool) -> None:
    assert second_verifier.round_judged(published(number, signed_as=signed_as)) is judged


def test_it_takes_no_signature_that_is_no_point_of_the_group() -> None:
    shown = published(1000)
    for signature in (b"\xc0" + bytes(47), bytes(48), b"\x80" + bytes(46) + b"\x04", b"\x80" * 47):
        shown.signature, shown.randomness = signature, sha256(signature).digest()
        assert second_verifier.round_judged(shown) is False
    shown.chain_hash = bytes(32)
    assert second_verifier.round_judged(shown) is None


@pytest.mark.parametrize("entry", INDEX["good"], ids=lambda entry: Path(entry["file"]).stem)
def test_good_bundles_hold_as_far_as_its_rules_go(entry: dict[str, Any]) -> None:
    bundle = bundle_of(entry)
    assert second_verifier.verdict(bundle, ROOT_KEY) == (8, "holds" if known_here(bundle) else "cannot be judged")


def test_enough_good_bundles_are_judged_whole() -> None:
    assert sum(known_here(bundle_of(entry)) for entry in INDEX["good"]) >= 18


@pytest.mark.parametrize("entry", INDEX["bad"], ids=lambda entry: Path(entry["file"]).stem)
def test_each_defect_is_found_at_its_step(entry: dict[str, Any]) -> None:
    found = second_verifier.verdict(bundle_of(entry), ROOT_KEY)
    assert found == (entry["step"], entry["result"]) or (
        # What only rules of Crossroads find; without them it is not judged, and never called good.
        entry["defect"] == "an answer that chose something else" and found == (8, "cannot be judged")
    )


@pytest.mark.parametrize("entry", INDEX["sessions"], ids=lambda entry: Path(entry["file"]).stem)
def test_sessions_have_their_level_and_what_is_wrong_with_them(entry: dict[str, Any]) -> None:
    kept = {name: json.loads((FOLDER / name).read_bytes()) for name in entry["kept"]}
    offers = [value for name, value in kept.items() if name.endswith(".offer.json")]
    logs = [value for name, value in kept.items() if name.endswith(".log.json")]
    lines = [json.loads(line) for line in read(entry).splitlines()]
    seals = [value for name, value in kept.items() if name.endswith(".told.json")]
    level, findings = second_verifier.session_verdict(lines, ROOT_KEY, offers, logs, seals)
    assert [{"reason": reason, "seq": seq} for reason, seq in findings] == entry["findings"]
    assert level == entry["level"]


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: str(case["name"]))
def test_it_computes_the_worked_cases(case: dict[str, Any]) -> None:
    names = [case[name].encode() for name in ("origin", "tenant", "table")]
    parts = [bytes.fromhex(part) for part in case["contributions"]]
    public_key, alpha = bytes.fromhex(VECTORS["vrf_pk"]), bytes.fromhex(case["alpha"])
    session_id = second_verifier.th("fairroll/v1/session", *names, public_key, *parts)
    assert session_id.hex() == case["session_id"]
    assert session_id in alpha
    beta = second_verifier.beta_of(public_key, alpha, bytes.fromhex(case["pi"]))
    assert beta is not None
    assert beta.hex() == case["beta"]
    stream = second_verifier.words(beta, 0)
    assert [(sides, second_verifier.drawn(stream, sides) - 1) for sides, _ in case["draws"]] == [
        tuple(draw) for draw in case["draws"]
    ]


def test_the_first_screen_of_the_protocol_is_a_worked_case() -> None:
    case = VECTORS["cases"][0]
    shown = {}
    for line in PROTOCOL.read_text().partition("## Conventions")[0].splitlines():
        if line.startswith("    "):
            name, _, value = line.strip().partition("  ")
            shown[name.strip()] = value.strip()
    assert shown["session_id"] == case["session_id"]
    assert shown["seq"] == str(case["seq"])
    for name in ("pi", "beta"):
        assert shown[name].startswith(f"{case[name][:8]} .. {case[name][-8:]} ")
    assert shown["words of check 0"] == ", ".join(map(str, case["words"][:3])) + ", .."
    assert shown["d1 d2 d3 d4 d6 d8"].startswith(", ".join(str(value + 1) for _, value in case["draws"][:6]) + " ")
    assert shown["origin, tenant, table"].startswith(", ".join(case[name] for name in ("origin", "tenant", "table")))
