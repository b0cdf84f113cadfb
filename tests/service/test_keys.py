"""The key directory: made once, for its owner alone, and served only as listed."""

import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fairroll import files
from fairroll.ecvrf import verify as verify_proof
from fairroll.envelope import format_envelope
from fairroll.errors import KeyFileError, RequestError, StateError, VerificationError, WrongUseError
from fairroll.key_list import KeyStatus, KeyUse, key_id, sign_key_list, verify_key_list
from fairroll.keys import init_keys, load_keys, rotate_keys, set_key_status
from fairroll.signer import SigningKey
from fairroll.signer import verify as verify_signature

ORIGIN = "rolls.example/v1"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    place = tmp_path / "keys"
    init_keys(place, ORIGIN)
    return place


def refused(directory: Path) -> tuple[str, str]:
    """Reason and file for which the directory is refused."""
    with pytest.raises(KeyFileError) as caught:
        load_keys(directory)
    return caught.value.reason, caught.value.field


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_seeds_are_for_their_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        init_keys(tmp_path / "keys", ORIGIN)
    finally:
        os.umask(before)
    assert mode(tmp_path / "keys") == 0o700
    assert {path.name: mode(path) for path in (tmp_path / "keys").iterdir()} == {
        "root.seed": 0o600,
        "vrf-1.seed": 0o600,
        "receipt-1.seed": 0o600,
        "root.pub": 0o644,
        "key-list.json": 0o644,
    }


def test_seeds_are_independent(directory: Path) -> None:
    assert len({path.read_bytes() for path in directory.glob("*.seed")}) == 3


def test_what_was_made_serves_without_the_root_seed(directory: Path) -> None:
    (directory / "root.seed").unlink()
    keys = load_keys(directory)
    current = keys.current
    assert keys.origin == ORIGIN
    assert verify_key_list(keys.envelope, keys.root_public_key) == keys.key_list
    assert current.vrf_key_id == key_id(KeyUse.VRF, current.vrf.public_key)
    assert current.receipt_key_id == key_id(KeyUse.RECEIPT, current.receipt.public_key)
    pi, beta = current.vrf.prove(b"alpha")
    assert verify_proof(current.vrf.public_key, b"alpha", pi) == beta
    verify_signature(current.receipt.public_key, b"message", current.receipt.sign(b"message"))


@pytest.mark.parametrize("development", [False, True])
def test_development_keys_are_marked_in_the_list_and_in_what_is_loaded(tmp_path: Path, development: bool) -> None:
    key_list = init_keys(tmp_path / "keys", ORIGIN, development=development)
    assert {key.development for key in key_list.keys} == {development}
    assert load_keys(tmp_path / "keys").development is development


@pytest.mark.parametrize("name", ["root.seed", "root.pub", "vrf-1.seed", "receipt-1.seed", "key-list.json"])
def test_nothing_is_overwritten_and_nothing_added_beside_it(directory: Path, name: str) -> None:
    for path in directory.iterdir():
        if path.name != name:
            path.unlink()
    before = (directory / name).read_bytes()
    with pytest.raises(KeyFileError) as caught:
        init_keys(directory, ORIGIN)
    assert caught.value.reason == "FILE_EXISTS"
    assert [path.name for path in directory.iterdir()] == [name]
    assert (directory / name).read_bytes() == before


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "x.seed").write_bytes(b"mine")
    with pytest.raises(KeyFileError) as caught:
        files.create(tmp_path / "x.seed", b"theirs")
    assert caught.value.reason == "FILE_EXISTS"
    assert (tmp_path / "x.seed").read_bytes() == b"mine"


def test_no_keys_are_made_where_others_may_enter(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(KeyFileError) as caught:
        init_keys(tmp_path, ORIGIN)
    assert caught.value.reason == "DIRECTORY_EXPOSED"


def test_no_file_is_made_for_a_wrong_origin(tmp_path: Path) -> None:
    with pytest.raises(RequestError):
        init_keys(tmp_path / "keys", "")
    assert not (tmp_path / "keys").exists()


@pytest.mark.parametrize("name", ["root.seed", "vrf-1.seed", "receipt-1.seed"])
@pytest.mark.parametrize("bits", [0o640, 0o620, 0o604, 0o602, 0o601, 0o644])
def test_a_seed_that_others_can_use_is_refused(directory: Path, name: str, bits: int) -> None:
    (directory / name).chmod(bits)
    assert refused(directory) == ("KEY_FILE_EXPOSED", name)


@pytest.mark.parametrize(
    ("bits", "fits"), [(0o440, True), (0o640, True), (0o660, False), (0o444, False), (0o641, False)]
)
def test_a_seed_lent_by_another_owner_may_be_read_through_its_group(
    directory: Path, monkeypatch: pytest.MonkeyPatch, bits: int, fits: bool
) -> None:
    owner = (directory / "vrf-1.seed").stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    (directory / "vrf-1.seed").chmod(bits)
    if fits:
        load_keys(directory)
    else:
        assert refused(directory) == ("KEY_FILE_EXPOSED", "vrf-1.seed")


@pytest.mark.parametrize("name", ["vrf-1.seed", "receipt-1.seed", "root.pub"])
@pytest.mark.parametrize("content", [b"", b"0" * 63, b"0" * 65, b"A" * 64, b"0" * 64 + b"\n\n", b"\xff" * 32])
def test_a_key_file_holds_64_hex_digits(directory: Path, name: str, content: bytes) -> None:
    (directory / name).write_bytes(content)
    assert refused(directory) == ("KEY_FILE_MALFORMED", name)


@pytest.mark.parametrize("name", ["receipt-1.seed", "root.pub", "key-list.json"])
def test_a_missing_file_is_named(directory: Path, name: str) -> None:
    (directory / name).unlink()
    assert refused(directory) == ("FILE_NOT_READ", name)


def test_without_a_vrf_seed_there_is_nothing_to_serve(directory: Path) -> None:
    (directory / "vrf-1.seed").unlink()
    assert refused(directory)[0] == "KEY_MISSING"


@pytest.mark.parametrize("name", ["vrf-1.seed", "receipt-1.seed"])
def test_a_key_that_is_not_in_the_list_is_refused(directory: Path, name: str) -> None:
    (directory / name).write_bytes(b"1" * 64)
    assert refused(directory) == ("KEY_NOT_LISTED", name)


def test_keys_of_the_wrong_use_are_refused(directory: Path) -> None:
    vrf, receipt = (directory / "vrf-1.seed").read_bytes(), (directory / "receipt-1.seed").read_bytes()
    (directory / "vrf-1.seed").write_bytes(receipt)
    (directory / "receipt-1.seed").write_bytes(vrf)
    assert refused(directory) == ("KEY_NOT_LISTED", "vrf-1.seed")


def test_a_key_under_another_epoch_s_name_is_refused(directory: Path) -> None:
    for use in ("vrf", "receipt"):
        (directory / f"{use}-1.seed").rename(directory / f"{use}-2.seed")
    assert refused(directory) == ("KEY_NOT_LISTED", "vrf-2.seed")


def test_a_list_of_another_root_or_no_list_is_refused(directory: Path) -> None:
    key_list = load_keys(directory).key_list
    for text in (format_envelope(sign_key_list(SigningKey(bytes(32)), key_list)), b"{}", b"\xff"):
        (directory / "key-list.json").write_bytes(text)
        assert refused(directory) == ("KEY_LIST_INVALID", "key-list.json")


@pytest.mark.parametrize("status", [KeyStatus.RETIRED, KeyStatus.REVOKED])
@pytest.mark.parametrize("number", [0, 1])
def test_a_key_that_is_not_active_is_refused(directory: Path, status: KeyStatus, number: int) -> None:
    rotate_keys(directory, directory / "root.seed")
    key = load_keys(directory).key_list.keys[number]
    newer = set_key_status(directory, directory / "root.seed", key.key_id, status)
    assert newer.list_version == 3
    assert newer.keys[number] == replace(key, status=status)
    assert refused(directory) == ("KEY_NOT_ACTIVE", f"{key.use}-1.seed")


def test_a_key_is_never_trusted_again(directory: Path) -> None:
    root_file, key = directory / "root.seed", load_keys(directory).key_list.keys[0]
    set_key_status(directory, root_file, key.key_id, KeyStatus.REVOKED)
    with pytest.raises(VerificationError):
        set_key_status(directory, root_file, key.key_id, KeyStatus.ACTIVE)
    with pytest.raises(RequestError):
        set_key_status(directory, root_file, "unknown", KeyStatus.REVOKED)


def test_an_epoch_ends_as_a_whole_and_what_was_revoked_stays_so(directory: Path) -> None:
    root_file = directory / "root.seed"
    rotate_keys(directory, root_file)
    vrf, receipt, *newer = load_keys(directory).key_list.keys
    set_key_status(directory, root_file, receipt.key_id, KeyStatus.REVOKED)
    ended = set_key_status(directory, root_file, "1", KeyStatus.RETIRED)
    assert [key.status for key in ended.keys] == ["retired", "revoked", "active", "active"]
    assert list(ended.keys[2:]) == newer
    again = set_key_status(directory, root_file, "1", KeyStatus.RETIRED)
    assert again == ended  # and no new version of it
    assert set_key_status(directory, root_file, vrf.key_id, KeyStatus.REVOKED).list_version == ended.list_version + 1


def test_the_last_epoch_is_not_retired_and_can_be_revoked(directory: Path) -> None:
    root_file, before = directory / "root.seed", (directory / "key-list.json").read_bytes()
    with pytest.raises(WrongUseError) as caught:
        set_key_status(directory, root_file, "1", KeyStatus.RETIRED)
    assert caught.value.reason == "ROTATE_FIRST"
    assert (directory / "key-list.json").read_bytes() == before
    assert set_key_status(directory, root_file, "1", KeyStatus.REVOKED).active_epochs == ()


def test_the_epoch_that_new_sessions_use_is_not_retired_while_an_older_one_is_active(directory: Path) -> None:
    root_file = directory / "root.seed"
    newest = rotate_keys(directory, root_file).keys[2]
    for which in ("2", newest.key_id):
        with pytest.raises(WrongUseError) as caught:
            set_key_status(directory, root_file, which, KeyStatus.RETIRED)
        assert (caught.value.reason, caught.value.message) == (
            "ROTATE_FIRST",
            "new sessions use epoch 2: rotate first",
        )
    rotate_keys(directory, root_file)
    assert set_key_status(directory, root_file, "2", KeyStatus.RETIRED).active_epochs == (1, 3)


def failing(write: Callable[..., None], at: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def full(path: Path, *more: object) -> None:
        if path.name == at:
            monkeypatch.undo()
            raise KeyFileError("FILE_NOT_WRITTEN", f"{at}: No space left on device", field=at)
        write(path, *more)

    return full


def crash(monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    """Let writing one file fail as a full disk does, once."""
    for name in ("create", "replace"):
        monkeypatch.setattr(files, name, failing(getattr(files, name), at, monkeypatch))


@pytest.mark.parametrize("at", ["vrf-2.seed", "receipt-2.seed", "key-list.json"])
def test_a_rotation_that_was_cut_short_is_finished_by_the_next_with_the_seeds_that_it_left(
    directory: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    before = {path.name: path.read_bytes() for path in directory.iterdir()}
    crash(monkeypatch, at)
    with pytest.raises(KeyFileError):
        rotate_keys(directory, directory / "root.seed")
    left = {path.name: path.read_bytes() for path in directory.iterdir()}
    assert {name: left[name] for name in before} == before
    newer = rotate_keys(directory, directory / "root.seed")
    assert (newer.list_version, newer.active_epochs) == (2, (1, 2))
    assert load_keys(directory).current.epoch == 2
    after = {path.name: path.read_bytes() for path in directory.iterdir()}
    assert {name: after[name] for name in left if name != "key-list.json"} == {
        name: content for name, content in left.items() if name != "key-list.json"
    }


def test_a_seed_that_is_not_whole_or_is_in_use_elsewhere_is_no_key_of_a_new_epoch(directory: Path) -> None:
    before = (directory / "key-list.json").read_bytes()
    seed = directory / "vrf-2.seed"
    for content, reason in ((b"", "KEY_FILE_MALFORMED"), (b"ab" * 31, "KEY_FILE_MALFORMED")):
        seed.write_bytes(content)
        seed.chmod(0o600)
        with pytest.raises(KeyFileError) as caught:
            rotate_keys(directory, directory / "root.seed")
        assert (caught.value.reason, caught.value.field) == (reason, "vrf-2.seed")
    seed.write_bytes((directory / "receipt-1.seed").read_bytes())
    with pytest.raises(RequestError) as twice:
        rotate_keys(directory, directory / "root.seed")
    assert twice.value.reason == "DUPLICATE_KEY"
    seed.chmod(0o644)
    with pytest.raises(KeyFileError) as exposed:
        rotate_keys(directory, directory / "root.seed")
    assert exposed.value.reason == "KEY_FILE_EXPOSED"
    assert (directory / "key-list.json").read_bytes() == before


def test_an_init_that_was_cut_short_says_that_nothing_of_it_was_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash(monkeypatch, "key-list.json")
    with pytest.raises(KeyFileError):
        init_keys(tmp_path / "keys", "rolls.example/v1")
    with pytest.raises(KeyFileError) as caught:
        init_keys(tmp_path / "keys", "rolls.example/v1")
    assert caught.value.reason == "FILE_EXISTS"
    assert "nothing of these was published" in caught.value.hint
    for path in (tmp_path / "keys").iterdir():
        path.unlink()
    assert init_keys(tmp_path / "keys", "rolls.example/v1").list_version == 1


def test_a_new_list_is_published_before_the_service_holds_its_keys(directory: Path, tmp_path: Path) -> None:
    rotate_keys(directory, directory / "root.seed")
    for name in ("vrf-2.seed", "receipt-2.seed"):
        (directory / name).rename(tmp_path / name)
    published = load_keys(directory)
    assert (published.key_list.active_epochs, published.current.epoch) == ((1, 2), 1)


def test_new_sessions_get_the_new_epoch_and_old_ones_keep_theirs(directory: Path, tmp_path: Path) -> None:
    before = load_keys(directory)
    offline = (directory / "root.seed").rename(tmp_path / "offline.seed")
    newer = rotate_keys(directory, offline)
    after = load_keys(directory)
    assert after.key_list == newer
    assert newer.list_version == 2
    assert newer.keys[:2] == before.key_list.keys
    assert [keys.epoch for keys in after.epochs] == [1, 2]
    assert after.current is after.epochs[1]
    assert after.of_session(before.current.vrf_key_id).receipt_key_id == before.current.receipt_key_id
    assert after.of_session(after.current.vrf_key_id) is after.current


def test_epochs_are_ordered_as_numbers(directory: Path) -> None:
    for _ in range(9):
        rotate_keys(directory, directory / "root.seed")
    assert [keys.epoch for keys in load_keys(directory).epochs] == list(range(1, 11))


def test_a_session_of_a_key_that_is_not_held_cannot_go_on(directory: Path) -> None:
    with pytest.raises(StateError) as caught:
        load_keys(directory).of_session("x" * 43)
    assert caught.value.reason == "VRF_KEY_NOT_HELD"


def test_a_public_file_has_a_size_limit(directory: Path) -> None:
    (directory / "key-list.json").write_bytes(bytes(files.MAX_FILE_BYTES + 1))
    assert refused(directory) == ("FILE_TOO_LARGE", "key-list.json")
