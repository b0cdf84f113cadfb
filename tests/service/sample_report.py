"""The sample report that the docs show: a game at which two things are wrong.

    python -m tests.service.sample_report        writes docs/sample-report.html and .json anew

Two tables play fair; at one of them the operator signed two requests for one seq. Mallory rolls one-offs, each twice,
and shows the better one: every receipt holds, and only statistics can tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import chdir
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from fairroll import json_codec
from fairroll.cli import main as fairroll
from fairroll.v1 import roll_pb2
from tests.service.audit_run import ROOT_KEY, TEXTS, bundles, notation_check, write_lines
from tests.service.rolling import TENANT, roller
from tests.service.sample_checks import SAMPLES
from tests.service.table_play import Table
from tests.service.test_levels import PLAIN, OfferedTable

DOCS = Path(__file__).resolve().parents[2] / "docs"
ROLLS = 3_000
HONEST = ("Ann", "Bob", "Cleo")


def check(random: Random, actor: str) -> roll_pb2.Check:
    """A check as such a table rolls them."""
    asked = random.choice(SAMPLES).message() if random.random() < 0.3 else notation_check(random.choice(TEXTS))
    asked.actor, asked.label = actor, random.choice(("attack", "defence", "perception"))
    return asked


def offered(random: Random, rolls: int) -> Table:
    """A table whose session was offered before anybody opened, with a guard and a close."""
    service = roller()
    service.guard_mode = roll_pb2.GUARD_MODE_SQLITE
    table = OfferedTable(service, offer=PLAIN)
    for _ in range(rolls):
        table.roll(check(random, random.choice(HONEST)))
    table.close()
    return table


def asked_twice(random: Random, rolls: int) -> Table:
    """A table at one seq of which there are two receipts."""
    table = Table(name="market")
    for _ in range(rolls):
        table.roll(check(random, random.choice(HONEST)))
    again = Table(name="market", receipts=table.receipts[: rolls // 2])
    again.roll(notation_check("2d20kh1", actor="Bob", label="attack"))
    table.receipts.append(again.receipts[-1])
    return table


def better_ones(random: Random, rolls: int) -> Iterator[roll_pb2.RollResponse]:
    """One-offs of which each was rolled twice."""
    service = roller(token_bytes=random.randbytes)
    for _ in range(rolls):
        asked = notation_check(random.choice(("1d20+5", "2d6", "4d6kh3", "d100")), actor="Mallory", label="attack")
        tries = [service.roll(roll_pb2.RollRequest(checks=[asked]), TENANT) for _ in range(2)]
        yield max(tries, key=lambda each: each.record.outcomes[0].notation.total)


def write(folder: Path, rolls: int = ROLLS) -> int:
    """Write the receipts of a game, a folder `game`, and audit it into `report.html` and `report.json`."""
    random = Random(2)
    (folder / "game").mkdir()
    write_lines(folder / "game" / "crypt.jsonl", bundles(offered(random, rolls * 2 // 5).receipts))
    write_lines(folder / "game" / "market.jsonl", bundles(asked_twice(random, rolls * 2 // 5).receipts))
    write_lines(folder / "game" / "mallory.jsonl", bundles(better_ones(random, rolls // 5)))
    (folder / "offer.json").write_bytes(json_codec.dumps(PLAIN.message()))
    chdir(folder)  # so that the report names the game, and not where it lay
    reports = ["--html", "report.html", "--json", "report.json"]
    return fairroll(["audit", "game", "--root", ROOT_KEY, "--mine", "offer.json", *reports])


def main() -> None:
    """Write the sample that the docs show."""
    with TemporaryDirectory() as name:
        write(Path(name))
        for suffix in ("html", "json"):
            (DOCS / f"sample-report.{suffix}").write_bytes(Path(name, f"report.{suffix}").read_bytes())


if __name__ == "__main__":
    main()
