"""Each command of README.md and docs/*.md, run as it stands against a real service; only the ports are others.

A block that is run is fenced as ```console; what a machine without docker or kubectl cannot run stands in ```text.
After a command stands what it printed. Dice and digests differ each time, so the shapes are compared: line by line,
with `..` for what is left out.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.service.process import ServiceProcess, environment, start_service

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SERVE = re.compile(r"(?:FAIRROLL_GUARD=(\S+) )?make serve")
_HEREDOC = re.compile(r"<<'(\w+)'")
_LEFT_OUT = ".."
_REFUSED = re.compile(r"not valid|REFUSED|NOT VERIFIED|WITHOUT A SESSION|BRANCH|^fairroll: ")
"""What a command prints that ends with the answer no."""
_CHANGING = re.compile(r"[0-9a-f]{64}|[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])|\(?-?[0-9]+\)?")
"""Digests, key ids, and numbers; a die that was dropped stands in parentheses."""


@dataclass(frozen=True)
class Command:
    """A command of a page, and what it printed."""

    page: Path
    text: str
    output: list[str]


def commands(page: Path) -> Iterator[Command]:
    """Yield the commands of a page in order."""
    for block in _FENCE.findall(page.read_text()):
        lines = block.splitlines()
        while lines:
            text = lines.pop(0).removeprefix("$ ")
            while text.endswith("\\"):
                text += "\n" + lines.pop(0)
            if heredoc := _HEREDOC.search(text):
                while not text.endswith("\n" + heredoc[1]):
                    text += "\n" + lines.pop(0)
            output = []
            while lines and not lines[0].startswith("$ "):
                output.append(lines.pop(0))
            yield Command(page, text, output)


def shape(line: str) -> str:
    """Return what does not change from roll to roll: the same pool may show its dropped die anywhere."""
    return re.sub(r"(#[ ,]*)+", "# ", _CHANGING.sub("#", line)).strip()


def fits(printed: list[str], expected: list[str]) -> bool:
    """Whether each printed line has the shape of an expected one; `..` alone stands for any number of lines."""
    if not expected:
        return not printed
    first, *rest = expected
    if first.strip() == _LEFT_OUT:
        return any(fits(printed[skipped:], rest) for skipped in range(len(printed) + 1))
    if not printed:
        return False
    return line_fits(printed[0], first) and fits(printed[1:], rest)


def line_fits(printed: str, expected: str) -> bool:
    """Whether a line has the shape of another; what dice mean may differ, so of a line with numbers the beginning."""
    parts = [re.escape(part) for part in map(shape, expected.split(_LEFT_OUT))]
    if re.fullmatch(r"\s*.*\s*".join(parts), shape(printed)):
        return True
    beginnings = {_CHANGING.sub("#", line.split(maxsplit=1)[0]) for line in (printed, expected) if line.strip()}
    return "#" in shape(printed) and len(beginnings) == 1


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like a clone after `make serve`: its .venv has the same Python and the same command."""
    folder = tmp_path_factory.mktemp("clone")
    binaries = folder / ".venv" / "bin"
    binaries.mkdir(parents=True)
    for name, command in (("python", [sys.executable]), ("fairroll", [sys.executable, "-m", "fairroll.cli"])):
        (binaries / name).write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        (binaries / name).chmod(0o755)
    shutil.copy(ROOT / "Makefile", folder)
    return folder


class Services:
    """The services that pages start and stop, one for each guard that they name; all with the same keys."""

    def __init__(self, clone: Path, stack: ExitStack) -> None:
        self._clone = clone
        self._stack = stack
        self._running: dict[str, ServiceProcess] = {}

    def with_guard(self, guard: str) -> ServiceProcess:
        """Return the one with this guard."""
        if guard not in self._running:
            started = start_service(self._clone, keys=str(self._clone / "var" / "keys"), guard=guard)
            self._running[guard] = self._stack.enter_context(started)
        return self._running[guard]


@pytest.fixture(scope="module")
def services(clone: Path) -> Iterator[Services]:
    with ExitStack() as stack:
        yield Services(clone, stack)


def run(command: Command, service: ServiceProcess, clone: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with the ports of this service."""
    text = command.text.replace("http://127.0.0.1:8080", service.rest).replace("127.0.0.1:50051", service.grpc)
    text = text.replace("http://127.0.0.1:9090", service.admin)
    if _SERVE.fullmatch(text):
        text = "make -n serve"  # it is running already
    variables = {**environment(clone), "FAIRROLL_SERVER": service.rest, "PATH": os.environ["PATH"]}
    return subprocess.run(
        ["sh", "-c", text],  # noqa: S607  whatever shell the reader has
        cwd=clone,
        env=variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_command_does_what_its_page_says(page: Path, services: Services, clone: Path) -> None:
    service = services.with_guard("none")
    for command in commands(page):
        serve = _SERVE.fullmatch(command.text)
        if serve:
            service = services.with_guard(serve[1] or "none")
        done = run(command, service, clone)
        printed = done.stdout.splitlines()
        if serve:
            assert done.returncode == 0
            assert "fairroll serve" in done.stdout
            continue
        refused = any(_REFUSED.search(line) for line in command.output)
        assert done.returncode in ((1, 2) if refused else (0,)), f"{command.text}\n{done.stdout}{done.stderr}"
        assert fits(printed, command.output), f"{command.text}\n\n{done.stdout}\nexpected:\n" + "\n".join(
            command.output
        )


def test_the_readme_has_the_two_commands_both_doors_and_a_verification() -> None:
    texts = [command.text for command in commands(ROOT / "README.md")]
    assert texts[0] == "make serve"
    assert texts[1].startswith("curl -d '4d6kh3' ")
    assert any("RollServiceStub" in text for text in texts)
    assert any("/v1/rolls " in text for text in texts)
    assert any("fairroll verify receipt.json" in text for text in texts)


def test_the_readme_plays_every_system() -> None:
    from fairroll.v1 import roll_pb2

    texts = "\n".join(command.text for command in commands(ROOT / "README.md"))
    for field in roll_pb2.Check.DESCRIPTOR.oneofs_by_name["system"].fields:
        assert f'"{field.json_name}":' in texts


def test_the_readme_plays_a_guarded_scene_in_which_a_second_answer_is_refused_and_a_forged_one_named() -> None:
    played = list(commands(ROOT / "README.md"))
    texts = [command.text for command in played]
    guarded = next(index for index, text in enumerate(texts) if text.startswith("FAIRROLL_GUARD="))
    scene = played[guarded : texts.index("make serve", guarded)]
    assert sum(".request.json" in command.text and "curl" in command.text for command in scene) == 4
    shown = "\n".join(line for command in scene for line in command.output)
    for found in (
        "REMOVE of Ann (0:0)",
        "CHANGE of Bob (0:0)",
        "SEQ_USED",
        "ANSWERED_ALREADY",
        "guarded: each seq used once",
    ):
        assert found in shown
    assert any("BRANCH" in line for command in played[guarded + len(scene) :] for line in command.output)


def test_links_of_the_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("4d6kh3: 5 6 3 (2) = 14", "4d6kh3: (1) 4 4 6 = 14", True),
        ("4d6kh3: 5 6 3 (2) = 14", "3d6 rolled 5 4 3 = 12", False),
        ("3d6 rolled 5 4 3: 12, Hit", "3d6 rolled 1 1 1: 3, Miss, and more", True),
        ("total 3 .. 18", "total 3 .. 18", True),
        ("receipt " + "a" * 64, "receipt " + "0" * 64, True),
        ("saved x", "saved y", False),
        ("a\nb\nc", "a\n..\nc", True),
        ("a\nb\nd", "a\n..\nc", False),
        ("a\nb", "a", False),
    ],
)
def test_shapes(printed: str, expected: str, same: bool) -> None:
    assert fits(printed.splitlines(), expected.splitlines()) is same
