"""Reads a Dockerfile and carries its steps out in a folder, where no container engine is at hand.

Absolute paths of the image become paths below one folder. What a step cannot do without being root in a container of
its own (adding a user) is recorded by a stand-in that is found first on PATH.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

STAND_INS = ("useradd",)
_PLACES = re.compile(r"(?<![\w.])/(opt|src|dist|etc|usr)\b")


@dataclass
class Stage:
    """One FROM and the steps below it.

    Attributes:
        base: the image that it starts from.
        name: what later stages call it; empty for the last.
        steps: instruction and argument, in order, lines joined.
        environment: what its ENV steps set, as written.
    """

    base: str
    name: str = ""
    steps: list[tuple[str, str]] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    def last(self, instruction: str) -> str:
        """Return the argument of the last step of a kind, or the empty string."""
        return next((text for kind, text in reversed(self.steps) if kind == instruction), "")


def parse(text: str) -> list[Stage]:
    """Read the stages of a Dockerfile."""
    whole = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    stages: list[Stage] = []
    defaults: dict[str, str] = {}
    for line in whole.replace("\\\n", " ").splitlines():
        if not line.strip():
            continue
        kind, rest = line.split(maxsplit=1)
        if kind == "ARG" and not stages:
            name, _, value = rest.partition("=")
            defaults["${" + name + "}"] = value
        elif kind == "FROM":
            base, _, name = rest.partition(" AS ")
            stages.append(Stage(defaults.get(base, base), name))
        elif kind == "ENV":
            stages[-1].environment |= dict(pair.split("=", 1) for pair in rest.split())
        else:
            stages[-1].steps.append((kind, rest.strip()))
    return stages


@dataclass
class Workshop:
    """Where the stages are carried out, one after another, each as `folder/image`.

    Attributes:
        folder: an empty folder.
        source: the folder of the Dockerfile.
        base: files that every stage finds, as the base image would have them.
    """

    folder: Path
    source: Path
    base: tuple[str, ...] = ()
    recorded: list[str] = field(default_factory=list)

    @property
    def image(self) -> Path:
        """What would be the root of the file system."""
        return self.folder / "image"

    def inside(self, text: str) -> str:
        """Return a text with the image's paths as those below `image`."""
        return _PLACES.sub(lambda found: f"{self.image}/{found[1]}", text)

    def build(self, stages: list[Stage]) -> None:
        """Carry all stages out; the last one's files are then in `image`."""
        context = self._context()
        for stage in stages:
            self.image.mkdir()
            for name in self.base:
                path = self.image / name.lstrip("/")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            work = self.image
            for kind, text in stage.steps:
                if kind == "WORKDIR":
                    work = self.image / text.lstrip("/")
                    work.mkdir(parents=True, exist_ok=True)
                elif kind == "RUN":
                    self._run(text, work)
                elif kind == "COPY":
                    self._copy(text, work, context)
            if stage.name:
                self.image.rename(self.folder / stage.name)

    def _context(self) -> Path:
        """Return a folder with what .dockerignore lets through."""
        lines = (self.source / ".dockerignore").read_text().split()
        kept = [line[1:] for line in lines if line.startswith("!")]
        left_out = [line.removeprefix("**/") for line in lines if line.startswith("**/")]
        context = self.folder / "context"
        context.mkdir()
        for name in kept:
            path = self.source / name
            if path.is_dir():
                shutil.copytree(path, context / name, ignore=shutil.ignore_patterns(*left_out))
            else:
                shutil.copy(path, context / name)
        return context

    def _copy(self, text: str, work: Path, context: Path) -> None:
        *sources, target = text.split()
        staged = sources.pop(0).removeprefix("--from=") if sources[0].startswith("--from=") else ""
        place = self.folder / staged if staged else context
        into = self.image / target.lstrip("/") if target.startswith("/") else work / target
        for source in sources:
            path = place / source.lstrip("/")
            if path.is_dir():
                shutil.copytree(path, into, symlinks=True, dirs_exist_ok=True)
            else:
                (into if target.endswith("/") else into.parent).mkdir(parents=True, exist_ok=True)
                shutil.copy(path, into)

    def _run(self, text: str, work: Path) -> None:
        tools = self._tools()
        path = f"{tools}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["/bin/sh", "-euc", self.inside(text)],
            cwd=work,
            # The machine's own settings of its package index, and nothing else.
            env={"PATH": path, "HOME": os.environ.get("HOME", "/"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
            capture_output=True,
            text=True,
            timeout=250,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f"RUN {text}\n{done.stdout}\n{done.stderr}")
        record = tools / "recorded"
        self.recorded += record.read_text().splitlines() if record.exists() else []
        record.unlink(missing_ok=True)

    def _tools(self) -> Path:
        """Return a folder with the image's `python`, which is this one's base, and the stand-ins."""
        tools = self.folder / "tools"
        if not tools.exists():
            tools.mkdir()
            python = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
            (tools / "python").write_text(f'#!/bin/sh\nexec "{python}" "$@"\n')
            for name in STAND_INS:
                (tools / name).write_text(f'#!/bin/sh\necho "{name} $*" >>"{tools}/recorded"\n')
            for script in tools.iterdir():
                script.chmod(0o755)
        return tools


def exec_form(text: str) -> list[str]:
    """Return the words of an instruction written as a JSON list, after its options."""
    words: list[str] = json.loads(text[text.index("[") :])
    return words


def files_below(folder: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of change of every file below a folder."""
    found = (path for path in folder.rglob("*") if not path.is_symlink() and path.is_file())
    return {str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def packages(python_folder: Path) -> set[str]:
    """Return the names of the installed packages of an environment."""
    folders = python_folder.glob("lib/python3*/site-packages/*.dist-info")
    return {path.name.split("-")[0].lower().replace("_", "-") for path in folders}


def matching(names: set[str], *patterns: str) -> set[str]:
    """Return the names that one of the patterns fits."""
    return {name for name in names if any(fnmatch(name, pattern) for pattern in patterns)}
