"""The trust file: what was seen is not unseen."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from fairroll.envelope import Envelope
from fairroll.errors import KeyFileError, VerificationError
from fairroll.key_list import Key, KeyList, KeyStatus, KeyUse, sign_key_list
from fairroll.signer import SigningKey
from fairroll.trust import TrustFile

ROOT, OTHER_ROOT = SigningKey(bytes(32)), SigningKey(b"x" * 32)
FIRST = KeyList("rolls.example/v1", 1, (Key(KeyUse.VRF, b"v" * 32, 1), Key(KeyUse.RECEIPT, b"r" * 32, 1)))
SECOND = replace(FIRST, list_version=2, keys=(FIRST.keys[0], replace(FIRST.keys[1], status=KeyStatus.REVOKED)))


@pytest.fixture
def trust(tmp_path: Path) -> TrustFile:
    return TrustFile(tmp_path / "trust.json")


def judge(trust: TrustFile, key_list: KeyList, root: SigningKey = ROOT, *, given: bool = False) -> KeyList:
    return trust.judge(sign_key_list(root, key_list), root.public_key, given=given)


def refused(trust: TrustFile, key_list: KeyList, *, given: bool = False) -> str:
    """The reason for which the list is refused, which leaves the file as it is."""
    before = trust.path.read_bytes()
    with pytest.raises(VerificationError) as caught:
        judge(trust, key_list, given=given)
    assert trust.path.read_bytes() == before
    return caught.value.reason


def test_the_first_list_is_kept_whole(trust: TrustFile) -> None:
    assert judge(trust, FIRST) == FIRST
    assert stat.S_IMODE(trust.path.stat().st_mode) == 0o600
    assert list(trust.path.parent.iterdir()) == [trust.path]


def test_a_newer_list_takes_the_place_of_an_older_one(trust: TrustFile) -> None:
    judge(trust, FIRST)
    assert judge(trust, SECOND) == SECOND
    assert judge(trust, SECOND, given=True) == SECOND


def test_a_bundle_with_an_older_list_is_judged_by_the_newer(trust: TrustFile) -> None:
    judge(trust, SECOND)
    assert judge(trust, FIRST) == SECOND
    assert judge(trust, FIRST).keys[1].status is KeyStatus.REVOKED


def test_an_older_list_given_explicitly_is_refused(trust: TrustFile) -> None:
    judge(trust, SECOND)
    assert refused(trust, FIRST, given=True) == "KEY_LIST_OLDER"


def test_two_lists_of_one_version_are_a_conflict(trust: TrustFile) -> None:
    judge(trust, SECOND)
    assert refused(trust, replace(FIRST, list_version=2)) == "KEY_LIST_CONFLICT"


def test_a_list_that_does_not_follow_is_refused(trust: TrustFile) -> None:
    judge(trust, SECOND)
    assert refused(trust, replace(SECOND, list_version=3, keys=SECOND.keys[:1])) == "KEY_DROPPED"
    assert refused(trust, replace(FIRST, list_version=3)) == "KEY_REVIVED"
    foreign = Key(KeyUse.VRF, b"w" * 32, 1)
    assert refused(trust, replace(FIRST, keys=(*FIRST.keys, foreign))) == "KEY_DROPPED"


def test_origins_and_roots_are_kept_apart(trust: TrustFile) -> None:
    judge(trust, SECOND)
    other_origin = replace(FIRST, origin="dice.example/v1")
    assert judge(trust, other_origin) == other_origin
    assert judge(trust, FIRST, OTHER_ROOT) == FIRST
    assert judge(trust, FIRST) == SECOND


def test_a_list_of_another_root_is_refused_and_not_kept(trust: TrustFile) -> None:
    envelope: Envelope = sign_key_list(OTHER_ROOT, FIRST)
    with pytest.raises(VerificationError):
        trust.judge(envelope, ROOT.public_key, given=False)
    assert not trust.path.exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"key_lists"', b'"lists"'),
        (b'"origin":"rolls', b'"origin":"dolls'),
        (b'"payload":"', b'"payload":"AAAA'),
        (b'"sig":"', b'"sig":"AAAA'),
        (b"}\n", b""),
    ],
)
def test_a_broken_file_is_an_error_and_never_begun_anew(trust: TrustFile, old: bytes, new: bytes) -> None:
    judge(trust, SECOND)
    broken = trust.path.read_bytes().replace(old, new, 1)
    trust.path.write_bytes(broken)
    shown = replace(FIRST, origin="dolls.example/v1") if b"dolls" in new else FIRST
    with pytest.raises(KeyFileError) as caught:
        judge(trust, shown)
    assert caught.value.reason == "TRUST_FILE_INVALID"
    assert trust.path.read_bytes() == broken


def test_a_failed_write_leaves_the_old_file(trust: TrustFile, monkeypatch: pytest.MonkeyPatch) -> None:
    judge(trust, FIRST)
    before = trust.path.read_bytes()

    def fail(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(KeyFileError) as caught:
        judge(trust, SECOND)
    assert caught.value.reason == "FILE_NOT_WRITTEN"
    assert trust.path.read_bytes() == before
    assert list(trust.path.parent.iterdir()) == [trust.path]
