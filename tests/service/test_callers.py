"""The file of API keys: who is who, what is refused, what a running service notices."""

import json
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from fairroll.callers import LOCAL_TENANT, RELOAD_SECONDS, Callers, add_api_key, read_api_keys, revoke_api_key
from fairroll.errors import CallerError, KeyFileError, RequestError


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def pass_reload(self) -> None:
        self.now += RELOAD_SECONDS


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "apikeys.json"


def test_without_a_file_everybody_is_local() -> None:
    callers = Callers(None)
    assert callers.anonymous
    assert (callers.tenant_of(None), callers.tenant_of("anything")) == (LOCAL_TENANT, LOCAL_TENANT)


def test_each_key_names_its_tenant(file: Path) -> None:
    acme, other = add_api_key(file, "acme"), add_api_key(file, "other")
    callers = Callers(file)
    assert (callers.tenant_of(acme), callers.tenant_of(other)) == ("acme", "other")
    assert len({acme, other}) == 2
    assert len(acme) == 47


@pytest.mark.parametrize("shown", [None, ""])
def test_no_key_is_missing(file: Path, shown: str | None) -> None:
    add_api_key(file, "acme")
    with pytest.raises(CallerError) as caught:
        Callers(file).tenant_of(shown)
    assert caught.value.reason == "API_KEY_MISSING"


@pytest.mark.parametrize("change", [lambda key: key[:-1], lambda key: key + "A", str.upper, lambda key: "\ud800"])
def test_another_key_is_unknown(file: Path, change: Callable[[str], str]) -> None:
    key = add_api_key(file, "acme")
    with pytest.raises(CallerError) as caught:
        Callers(file).tenant_of(change(key))
    assert caught.value.reason == "API_KEY_UNKNOWN"


def test_the_file_holds_no_key_and_only_its_owner_may_touch_it(file: Path) -> None:
    key = add_api_key(file, "acme")
    assert key not in file.read_text()
    assert key.removeprefix("frk_") not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_an_added_key_is_noticed_without_a_restart(file: Path) -> None:
    clock = Clock()
    add_api_key(file, "acme")
    callers = Callers(file, clock)
    late = add_api_key(file, "late")
    with pytest.raises(CallerError):
        callers.tenant_of(late)
    clock.pass_reload()
    assert callers.tenant_of(late) == "late"


def test_a_revoked_key_is_refused_without_a_restart(file: Path) -> None:
    clock = Clock()
    key = add_api_key(file, "acme")
    callers = Callers(file, clock)
    assert callers.tenant_of(key) == "acme"
    revoke_api_key(file, read_api_keys(file)[0].key_id)
    clock.pass_reload()
    with pytest.raises(CallerError):
        callers.tenant_of(key)


def test_a_broken_new_file_leaves_the_last_good_one_in_force(file: Path) -> None:
    clock = Clock()
    key = add_api_key(file, "acme")
    callers = Callers(file, clock)
    file.write_text("{")
    clock.pass_reload()
    assert callers.tenant_of(key) == "acme"
    file.unlink()
    clock.pass_reload()
    assert callers.tenant_of(key) == "acme"


ROW = {"key_id": "00000000", "tenant": "acme", "hash": "0" * 64}
BROKEN = {
    "not JSON": "{",
    "another shape": "[]",
    "an unknown member": json.dumps({"keys": [{**ROW, "role": "x"}]}),
    "no tenant": json.dumps({"keys": [{**ROW, "tenant": ""}]}),
    "a short hash": json.dumps({"keys": [{**ROW, "hash": "0" * 63}]}),
    "an id that is none": json.dumps({"keys": [{**ROW, "key_id": "zzzzzzzz"}]}),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_at_the_start(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(KeyFileError) as caught:
        Callers(file)
    assert caught.value.reason == "API_KEY_FILE_INVALID"


def test_a_file_that_others_can_write_is_refused(file: Path) -> None:
    add_api_key(file, "acme")
    os.chmod(file, 0o620)  # noqa: PTH101  the mode is the point
    with pytest.raises(KeyFileError) as caught:
        Callers(file)
    assert caught.value.reason == "API_KEY_FILE_EXPOSED"


def test_a_missing_file_is_refused(file: Path) -> None:
    with pytest.raises(KeyFileError) as caught:
        Callers(file)
    assert caught.value.reason == "FILE_NOT_READ"


def test_keys_added_and_revoked_at_one_moment_are_all_kept_and_all_gone(file: Path) -> None:
    add_api_key(file, "first")
    (first,) = read_api_keys(file)
    with ProcessPoolExecutor(4) as pool:
        added = [pool.submit(add_api_key, file, f"tenant-{number}") for number in range(20)]
        revoked = pool.submit(revoke_api_key, file, first.key_id)
        keys = [each.result() for each in added]
        revoked.result()
    assert sorted(key.tenant for key in read_api_keys(file)) == sorted(f"tenant-{number}" for number in range(20))
    assert [Callers(file).tenant_of(key) for key in keys] == [f"tenant-{number}" for number in range(20)]


def test_an_unknown_id_cannot_be_revoked(file: Path) -> None:
    add_api_key(file, "acme")
    with pytest.raises(KeyFileError) as caught:
        revoke_api_key(file, "00000000")
    assert caught.value.reason == "API_KEY_ID_UNKNOWN"


@pytest.mark.parametrize("tenant", ["", "local", "a/b c", "acme ", "\u0430cme", "one-off/x", "a" * 65, "a\n"])
def test_a_tenant_that_could_be_taken_for_another_gets_no_key(file: Path, tenant: str) -> None:
    with pytest.raises(RequestError) as caught:
        add_api_key(file, tenant)
    error = caught.value
    assert (error.reason, error.minimum, error.maximum, error.value) == ("TENANT_INVALID", 1, 64, tenant)
    assert not file.exists()


@pytest.mark.parametrize("tenant", ["a", "a" * 64, "Acme_Games-2.test"])
def test_a_tenant_of_plain_characters_gets_its_key(file: Path, tenant: str) -> None:
    key = add_api_key(file, tenant)
    assert Callers(file).tenant_of(key) == tenant
