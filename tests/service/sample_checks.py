"""Checks of every roll of every system, as a caller would write them: the conformance suite runs over all.

Each system has a file in tests/vectors/systems, named as its module is: its engine, and checks of each of its rolls, at
least one, and more of those that differ in shape. Beside a check stands the order in which it draws, in `SNAPSHOTS`
runs: for each draw the sides, face, purpose, the draw that it follows, and the actor. Another order is another engine.

`python -m tests.service.sample_checks` writes the orders anew, whatever they were; the checks are written by hand.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairroll import json_codec
from fairroll.convert import read_check
from fairroll.replay import engine_of, resolve_check
from fairroll.v1 import roll_pb2

FOLDER = Path(__file__).resolve().parents[1] / "vectors" / "systems"
BETA = bytes(range(64))
SNAPSHOTS = 3

Run = list[list[Any]]
"""The draws of one run."""


@dataclass(frozen=True)
class Sample:
    """One check: its system, the dataclass of its roll, its JSON under the system's name, and its orders of draws."""

    name: str
    roll: str
    body: dict[str, Any]
    engine: str
    runs: tuple[Run, ...]

    def message(self) -> roll_pb2.Check:
        return json_codec.from_value(roll_pb2.Check, {self.name: _numbers_as_read(self.body)})


def drawn(message: roll_pb2.Check) -> tuple[Run, ...]:
    """The order in which a check draws, in each run."""
    check = read_check(message)
    return tuple(
        [
            [draw.sides, draw.face, draw.purpose.name, draw.of, draw.actor]
            for draw in resolve_check(check, BETA, index, 0).draws
        ]
        for index in range(SNAPSHOTS)
    )


def read(folder: Path) -> Iterator[Sample]:
    """The samples of each file, those of notation first."""
    for file in sorted(folder.glob("*.json"), key=lambda file: (file.stem != "notation", file.stem)):
        content = json.loads(file.read_text())
        for row in content["checks"]:
            yield Sample(file.stem, row["roll"], row["check"], content["engine"], tuple(row["draws"]))


def _numbers_as_read(value: Any) -> Any:  # noqa: ANN401  any JSON
    """Let the codec parse it, which keeps the digits of a number as they stood."""
    return json_codec.parse(json.dumps(value))


SAMPLES = list(read(FOLDER))


def write(folder: Path) -> None:
    """Write the orders of draws, and the engines, as they are now."""
    samples = list(read(folder))
    for name in dict.fromkeys(sample.name for sample in samples):
        rows = []
        for sample in [each for each in samples if each.name == name]:
            runs = ",\n    ".join(json.dumps(run) for run in drawn(sample.message()))
            row = f'"roll": {json.dumps(sample.roll)}, "check": {json.dumps(sample.body)}'
            rows.append(f'  {{{row}, "draws": [\n    {runs}]}}')
        head = f'{{"engine": {json.dumps(engine_of(name))}, "checks": [\n'
        (folder / f"{name}.json").write_text(head + ",\n".join(rows) + "\n]}\n")


if __name__ == "__main__":
    write(FOLDER)
