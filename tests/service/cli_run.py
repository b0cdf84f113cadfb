"""Command lines in this process, and receipts to give them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fairroll.bundle import Bundle, format_bundle
from fairroll.cli import main
from fairroll.envelope import Envelope
from fairroll.keys import ServiceKeys, init_keys, load_keys
from fairroll.receipt import read_envelope
from fairroll.roll import Roller
from fairroll.v1 import notation_pb2, roll_pb2

ORIGIN = "rolls.example/v1"


@dataclass(frozen=True)
class Done:
    """What came of a command line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401  any JSON value
        """Its standard output, which is one JSON document; nothing else was said anywhere."""
        assert self.err == ""
        return json.loads(self.out)


Run = Callable[..., Done]


def runner(capsys: pytest.CaptureFixture[str]) -> Run:
    """A function that runs one command line; argparse's exit is its exit code."""

    def run(*arguments: str | Path) -> Done:
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run


@dataclass(frozen=True)
class Operator:
    """One who has keys, and rolls with them."""

    folder: Path
    keys: ServiceKeys

    @property
    def root(self) -> Path:
        """The file of the root public key."""
        return self.folder / "root.pub"

    def answer(self, *texts: str, label: str = "", actor: str = "") -> roll_pb2.RollResponse:
        """Roll a one-off of some notation."""
        checks = [
            roll_pb2.Check(notation=notation_pb2.NotationCheck(text=text), label=label, actor=actor) for text in texts
        ]
        return Roller(self.keys).roll(roll_pb2.RollRequest(checks=checks), "local")

    def bundle(self, *texts: str, key_list: Envelope | None = None, label: str = "", actor: str = "") -> bytes:
        """Roll, and return the bundle."""
        answer = self.answer(*texts, label=label, actor=actor)
        return format_bundle(Bundle(read_envelope(answer.envelope), (), key_list or self.keys.envelope))


def operator(folder: Path, *, development: bool = False) -> Operator:
    """Make keys in a folder that is not there yet."""
    init_keys(folder, ORIGIN, development=development)
    return Operator(folder, load_keys(folder))
