"""The stubs guide, run as it stands: the generators of Go, Java, C# and TypeScript take the contract, and one rolls."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.node import NODE, packages, run
from tests.service.process import ServiceProcess

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "docs/stubs.md").read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def checkout(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the guide finds in a clone after `make setup`, and npm's packages."""
    subprocess.run(["/bin/sh", ROOT / "tools/stub_generators.sh"], check=True, timeout=800)
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "proto", folder / "proto")
    (folder / ".venv").symlink_to(sys.prefix)
    shutil.copytree(packages(pytestconfig, HERE) / "node_modules", folder / "node_modules", symlinks=True)
    return folder


@pytest.fixture(scope="module")
def printed(checkout: Path, service: ServiceProcess) -> str:
    """What the commands of the guide print, all in one shell, at the first that fails an error."""
    commands = "set -eu\n" + "".join(BLOCKS).replace("127.0.0.1:50051", service.grpc)
    path = os.pathsep.join([f"{sys.prefix}/bin", str(NODE.parent), os.environ["PATH"]])
    return run(["/bin/sh", "-c", commands], cwd=checkout, env={"PATH": path, "HOME": str(checkout)})


def test_reflection_shows_the_calls_and_takes_a_roll(printed: str) -> None:
    methods, _, rolled = printed.partition("{")
    assert "fairroll.v1.RollService/Roll\n" in methods
    assert "fairroll.v1.RollService/StreamRolls\n" in methods
    assert json.loads("{" + rolled)["texts"][0]["plain"].startswith("4d6kh3: ")


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("fairroll/v1/service_grpc.pb.go", "func NewRollServiceClient("),
        ("fairroll/v1/crossroads.pb.go", "package fairrollv1"),
        ("dev/fairroll/v1/RollServiceGrpc.java", "public static RollServiceBlockingStub newBlockingStub("),
        ("dev/fairroll/v1/RollRequest.java", "package dev.fairroll.v1;"),
        ("Roll.cs", "namespace Fairroll.V1 {"),
        ("fairroll/v1/service.ts", "export const RollServiceClient"),
    ],
)
def test_each_language_gets_its_stubs(printed: str, checkout: Path, file: str, says: str) -> None:
    assert printed
    assert says in (checkout / "gen" / file).read_text()


def test_a_typescript_client_rolls_by_its_stubs(printed: str, checkout: Path, service: ServiceProcess) -> None:
    assert printed
    script = shutil.copy(HERE / "roll.ts", checkout)
    (checkout / "package.json").write_text('{"type": "module"}')
    told = json.loads(run([NODE, script, service.grpc]))
    assert told["text"].startswith("4d6kh3: ")
    assert re.fullmatch("[0-9a-f]{64}", told["digest"])
