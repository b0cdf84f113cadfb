"""A service through the life of its keys: rotation, overlap, retirement and the day of a leak, over restarts."""

from collections.abc import Callable
from pathlib import Path
from shutil import copy

import pytest

from tests.service.cli_run import Done, Run, runner
from tests.service.process import ServiceProcess, start_service


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


def rolled(run: Run, service: ServiceProcess, *arguments: str | Path) -> Done:
    """A roll over REST."""
    return run("roll", "d20", *arguments, "--server", service.rest, "--json")


def key_of(done: Done) -> str:
    """The VRF key that proved a roll."""
    return str(done.json["record"]["session"]["vrfKeyId"])


def test_sessions_stay_on_their_epoch_until_it_is_retired_and_receipts_stay_good(run: Run, tmp_path: Path) -> None:
    keys, safe = tmp_path / "keys", tmp_path / "root.seed"
    with start_service(tmp_path) as service:
        first = rolled(run, service, "--table", "friday", "--save", tmp_path / "0.json")
        root = service.root_key
    (keys / "root.seed").rename(safe)
    assert run("keys", "rotate", keys, "--root-seed", safe).code == 0
    with start_service(tmp_path) as service:
        second = rolled(run, service, "--after", tmp_path / "0.json", "--save", tmp_path / "1.json")
        newer = rolled(run, service, "--table", "saturday")
        assert service.root_key == root
    assert key_of(second) == key_of(first) != key_of(newer)
    assert run("verify", tmp_path / "0.json", tmp_path / "1.json", "--root", root).code == 0

    told = run("keys", "retire", "1", keys, "--root-seed", safe).out
    assert "remove vrf-1.seed, receipt-1.seed" in told
    for name in ("vrf-1.seed", "receipt-1.seed"):
        (keys / name).unlink()
    with start_service(tmp_path) as service:
        over = rolled(run, service, "--after", tmp_path / "1.json")
        assert (over.code, over.json["error"]["code"]) == (1, "VRF_KEY_NOT_HELD")
        assert key_of(rolled(run, service, "--table", "sunday")) == key_of(newer)
    judged = run("verify", tmp_path / "1.json", "--root", root, "--keys", keys / "key-list.json")
    assert judged.code == 0
    assert "epoch 1, retired" in judged.out


@pytest.fixture
def leaked(run: Run, tmp_path: Path, service: ServiceProcess) -> Callable[[str], Path]:
    """The key list after the key of some use was revoked; the running service knows nothing of it."""

    def leak(use: str) -> Path:
        offline = tmp_path / "offline"
        offline.mkdir(mode=0o700)
        for name in ("root.seed", "root.pub", "key-list.json"):
            copy(service.keys / name, offline / name)
        (wanted,) = [row["keyId"] for row in run("keys", "list", offline, "--json").json["keys"] if row["use"] == use]
        assert run("keys", "rotate", offline).code == 0
        assert run("keys", "revoke", wanted, offline).code == 0
        return offline / "key-list.json"

    return leak


@pytest.mark.parametrize("use", ["vrf", "receipt"])
def test_after_a_leak_old_bundles_are_refused_by_whoever_saw_the_new_list(
    run: Run, tmp_path: Path, service: ServiceProcess, leaked: Callable[[str], Path], use: str
) -> None:
    receipt, trust = tmp_path / "receipt.json", tmp_path / "trust.json"
    digest = rolled(run, service, "--save", receipt).json["digest"]
    judge = ("verify", receipt, "--root", service.root_key, "--trust", trust)
    assert run(*judge).code == 0
    newer = leaked(use)
    assert run("keys", "list", "--keys", newer, "--root", service.root_key, "--trust", trust).code == 0
    refused = run(*judge)
    assert refused.code == 1
    assert "[KEY_REVOKED]" in refused.out
    saved = run(*judge, "--saved", digest)
    assert saved.code == 0
    assert "REVOKED KEY" in saved.out
    old = ("keys", "list", "--keys", service.keys / "key-list.json", "--root", service.root_key, "--trust", trust)
    assert (run(*old).code, run(*old, "--json").json["error"]["code"]) == (1, "KEY_LIST_OLDER")


def test_a_list_is_judged_before_it_is_shown_or_kept(run: Run, tmp_path: Path, service: ServiceProcess) -> None:
    trust, shown = tmp_path / "trust.json", service.keys / "key-list.json"
    for arguments, code, reason in (
        (("--keys", shown), 2, "ROOT_KEY_INVALID"),
        (("--keys", shown, "--root", "ab" * 32), 1, "UNKNOWN_KEY"),
        (("--keys", service.keys / "root.pub", "--root", service.root_key), 2, "KEY_LIST_UNREADABLE"),
    ):
        done = run("keys", "list", *arguments, "--trust", trust)
        assert (done.code, done.out) == (code, "")
        assert f"[{reason}]" in done.err
    assert not trust.exists()


def test_keys_change_only_by_the_root_and_one_that_is_there(run: Run, tmp_path: Path) -> None:
    keys, other = tmp_path / "keys", tmp_path / "other"
    for folder in (keys, other):
        assert run("keys", "init", folder, "--origin", "rolls.example/v1").code == 0
    before = (keys / "key-list.json").read_bytes()
    for arguments, code, reason in (
        (("rotate", keys, "--root-seed", other / "root.seed"), 2, "KEY_LIST_INVALID"),
        (("revoke", "1", keys, "--root-seed", tmp_path / "nowhere"), 2, "FILE_NOT_READ"),
        (("revoke", "2", keys), 1, "UNKNOWN_KEY"),
        (("retire", "1", keys), 2, "ROTATE_FIRST"),
    ):
        done = run("keys", *arguments)
        assert (done.code, done.out) == (code, "")
        assert f"[{reason}]" in done.err
    assert (keys / "key-list.json").read_bytes() == before
    assert sorted(path.name for path in keys.glob("*.seed")) == ["receipt-1.seed", "root.seed", "vrf-1.seed"]


def test_who_revokes_the_newest_epoch_is_told_what_new_sessions_get(run: Run, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    run("keys", "init", keys, "--origin", "rolls.example/v1")
    run("keys", "rotate", keys)
    assert "New sessions" not in run("keys", "rotate", keys).out
    assert "New sessions" not in run("keys", "revoke", "1", keys).out
    assert "New sessions get the keys of epoch 2 from now on: rotate." in run("keys", "revoke", "3", keys).out
    assert "New sessions have no keys: rotate." in run("keys", "revoke", "2", keys).out


def test_the_list_says_which_seeds_are_here(run: Run, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    run("keys", "init", keys, "--origin", "rolls.example/v1")
    run("keys", "rotate", keys)
    (keys / "vrf-1.seed").unlink()
    rows = run("keys", "list", keys, "--json").json["keys"]
    assert [(row["use"], row["epoch"], row["held"]) for row in rows] == [
        ("vrf", 1, False),
        ("receipt", 1, True),
        ("vrf", 2, True),
        ("receipt", 2, True),
    ]


def test_who_retires_what_was_revoked_is_told_that_nothing_changed(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    run("keys", "init", folder, "--origin", "rolls.example/v1")
    run("keys", "rotate", folder)
    assert "Nothing changed" not in run("keys", "revoke", "1", folder).out
    done = run("keys", "retire", "1", folder)
    assert (done.code, "key list  version 3\n" in done.out) == (0, True)
    assert "Nothing changed: 1 was retired before, or is revoked.\n" in done.out
