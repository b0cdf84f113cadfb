"""What an auditor installs has no grpc, no FastAPI and no pydantic, and needs no network."""

import os
import subprocess
import sys
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.service.cli_run import Operator, operator
from tests.service.process import SOURCE_ROOTS

SERVER_ONLY = (
    "fastapi", "grpc", "grpc_health", "grpc_reflection", "grpc_status", "httptools", "icepool", "orjson",
    "prometheus_client", "pydantic", "pydantic_settings", "starlette", "uvicorn", "uvloop",
)  # fmt: skip

# Runs before anything else: what the extra `server` brings cannot be imported, and no socket can be opened.
GUARD = f"""
import sys, socket
from importlib.abc import MetaPathFinder
class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {SERVER_ONLY!r}:
            raise ModuleNotFoundError(f"blocked: {{name}}", name=name)
sys.meta_path.insert(0, Blocked())
def refuse(*arguments, **named):
    raise AssertionError("a network was asked for")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
from fairroll.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Operator:
    house = operator(tmp_path_factory.mktemp("house") / "keys")
    (house.folder.parent / "receipt.json").write_bytes(house.bundle("4d6kh3"))
    return house


def commands(house: Operator) -> list[list[str]]:
    """A command line of each command that needs no service."""
    return [
        ["verify", str(house.folder.parent / "receipt.json"), "--root", str(house.root)],
        ["audit", str(house.folder.parent / "receipt.json"), "--root", str(house.root)],
        ["parse", "4d6kh3"],
        ["resolve", '{"crossroads":{"skillRoll":{"statistic":2}}}', "--faces", "5,4,3"],
        ["systems"],
        ["systems", "meidlands", "--json"],
        ["keys", "list", str(house.folder)],
        ["--help"],
    ]


def run(python: Path, code: list[str], arguments: list[str], path: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return subprocess.run(
        [str(python), *code, *arguments],
        env={**kept, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_without_what_the_server_needs_everything_else_works(house: Operator) -> None:
    for arguments in commands(house):
        done = run(Path(sys.executable), ["-c", GUARD], arguments, os.pathsep.join(SOURCE_ROOTS))
        assert (done.returncode, done.stderr) == (0, ""), arguments
        assert done.stdout


@pytest.mark.parametrize("arguments", [["serve"], ["odds", "4d6kh3"]], ids=["serve", "odds"])
def test_what_needs_the_server_says_what_is_missing(arguments: list[str]) -> None:
    done = run(Path(sys.executable), ["-c", GUARD], arguments, os.pathsep.join(SOURCE_ROOTS))
    assert done.returncode == 2
    assert "fairroll[server]" in done.stderr


def test_an_environment_with_the_base_dependencies_alone_verifies(house: Operator, tmp_path: Path) -> None:
    """A new environment into which the files of the base dependencies are linked, as an installer would put them."""
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    python = tmp_path / "venv" / "bin" / "python"
    site = tmp_path / "site"
    site.mkdir()
    for name in ("protobuf", "googleapis-common-protos", "pynacl", "cffi", "pycparser"):
        link_distribution(name, site)
    assert not (site / "grpc").exists()
    path = os.pathsep.join([*SOURCE_ROOTS, str(site)])
    for arguments in commands(house):
        done = run(python, ["-m", "fairroll.cli"], arguments, path)
        assert (done.returncode, done.stderr) == (0, ""), arguments


def link_distribution(name: str, site: Path) -> None:
    """Link every file that a distribution installed, and nothing else."""
    files = distribution(name).files or ()
    for file in files:
        source = Path(str(file.locate()))
        if ".." in file.parts or not source.is_file():
            continue  # scripts
        target = site / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source)
