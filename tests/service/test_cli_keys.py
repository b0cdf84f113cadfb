"""`fairroll keys`, and what holds for every command: help, exit codes, errors as JSON."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fairroll.cli import COMMANDS
from tests.service.cli_run import Run, runner
from tests.service.process import environment

SECRETS = ("root.seed", "vrf-1.seed", "receipt-1.seed")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


def test_init_makes_owner_only_files_and_says_which_to_keep_offline(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    done = run("keys", "init", folder, "--origin", "rolls.example/v1")
    assert done.code == 0
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE((folder / name).stat().st_mode) for name in SECRETS} == {0o600}
    assert (folder / "root.pub").read_text().strip() in done.out
    assert f"Keep {folder / 'root.seed'} offline" in done.out
    for name in SECRETS:
        assert (folder / name).read_text().strip() not in done.out


def test_show_names_the_keys_and_no_secret(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    run("keys", "init", folder, "--origin", "rolls.example/v1", "--development")
    shown = run("keys", "list", folder, "--json").json
    assert (shown["origin"], shown["listVersion"]) == ("rolls.example/v1", 1)
    assert shown["root"] == (folder / "root.pub").read_text().strip()
    assert [(key["use"], key["status"], key["development"]) for key in shown["keys"]] == [
        ("vrf", "active", True),
        ("receipt", "active", True),
    ]
    assert run("keys", "list", folder).out.count("development") == 2


def test_init_with_json_prints_json_only(run: Run, tmp_path: Path) -> None:
    assert run("keys", "init", tmp_path / "keys", "--origin", "x", "--json").json["origin"] == "x"


def test_keys_that_are_there_are_left_as_they_are(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    run("keys", "init", folder, "--origin", "rolls.example/v1")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = run("keys", "init", folder, "--origin", "rolls.example/v1", "--json")
    assert done.code == 2
    assert done.json["error"]["code"] == "FILE_EXISTS"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_keys_that_others_can_read_are_refused(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    run("keys", "init", folder, "--origin", "rolls.example/v1")
    (folder / "vrf-1.seed").chmod(0o644)
    assert run("keys", "list", folder, "--json").json["error"]["code"] == "KEY_FILE_EXPOSED"


def test_the_key_directory_is_the_settings_one_where_none_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRROLL_KEYS", str(tmp_path / "keys"))
    assert run("keys", "init", "--origin", "x").code == 0
    assert run("keys", "list").code == 0
    assert (tmp_path / "keys" / "root.pub").exists()


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_has_a_help_that_says_what_it_does(run: Run, command: str) -> None:
    done = run(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert COMMANDS[command][1:] in " ".join(done.out.split())


def test_the_help_lists_every_command(run: Run) -> None:
    done = run("--help")
    assert done.code == 0
    for name, purpose in COMMANDS.items():
        assert f" {name} " in done.out
        assert purpose.split(";")[0] in " ".join(done.out.split())


@pytest.mark.parametrize("arguments", [(), ("dance",), ("verify",), ("parse",), ("keys",), ("parse", "d6", "--what")])
def test_wrong_use_exits_with_2_and_prints_nothing_on_stdout(run: Run, arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("usage: fairroll")
    assert run(*arguments, "--json").json["error"]["code"] == "WRONG_USE"


def test_an_origin_without_a_name_is_wrong_use(run: Run, tmp_path: Path) -> None:
    done = run("keys", "init", "--origin", "", str(tmp_path / "keys"), "--json")
    assert (done.code, done.json["error"]["field"]) == (2, "--origin")
    assert not (tmp_path / "keys").exists()


def test_serve_says_its_refusals_as_json_when_asked(tmp_path: Path) -> None:
    variables = environment(tmp_path, log_format="plain", rest_address="0.0.0.0:0")
    command = [sys.executable, "-m", "fairroll.cli", "serve", "--json"]
    ended = subprocess.run(
        command, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 2
    assert json.loads(ended.stderr)["error"]["code"] == "NOT_LOOPBACK"
