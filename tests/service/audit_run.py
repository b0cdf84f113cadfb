"""Receipts for audits: tables that play, written as people keep them."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random

from fairroll.bundle import Bundle, format_bundle
from fairroll.receipt import read_envelope
from fairroll.roll import Roller
from fairroll.v1 import notation_pb2, roll_pb2
from tests.service.rolling import ROOT, roller, service_keys
from tests.service.sample_checks import SAMPLES
from tests.service.table_play import Table

ROOT_KEY = ROOT.public_key.hex()
TEXTS = ("4d6kh3", "1d20+5", "2d6", "1d100", "5d6!", "d20")


def bundles(responses: Iterable[roll_pb2.RollResponse]) -> list[bytes]:
    """Each receipt as a bundle without its chain."""
    keys = service_keys().envelope
    return [format_bundle(Bundle(read_envelope(each.envelope), (), keys)) for each in responses]


def write_lines(path: Path, lines: Iterable[bytes]) -> Path:
    """Write a receipt a line."""
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def notation_check(text: str, actor: str = "", label: str = "") -> roll_pb2.Check:
    """A check of notation."""
    return roll_pb2.Check(notation=notation_pb2.NotationCheck(text=text), actor=actor, label=label)


def play(
    count: int, name: str = "table-42", actors: Sequence[str] = ("Ann", "Bob"), service: Roller | None = None
) -> Table:
    """A table that rolled so many times, notation and every system; always the same."""
    random = Random(name)
    table = Table(service=service or roller(), name=name)
    for _ in range(count):
        check = random.choice(SAMPLES).message() if random.random() < 0.3 else notation_check(random.choice(TEXTS))
        check.actor, check.label = random.choice(actors), random.choice(("strength", "attack"))
        table.roll(check)
    return table
