"""The notation corpus against the package d20, from text to total (or to the Markdown text).

Both have their parsed forms in their caches and draw from `random`'s plain generator. d20 runs in an environment of
its own, as a process that is asked for one round at a time, so that both are measured in turns.
"""

import json
import os
import random
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

from bench.corpus import PAIRS
from bench.measure import Row, cpu, in_turns
from fairroll_rules.dice import Source
from fairroll_rules.resolve import resolve
from fairroll_rules.simulate import random_faces
from fairroll_rules.systems import notation

TIMES = 20
SEEDS = 20
WORKER = Path(__file__).with_name("d20_worker.py")
AIM = 1 / 1.5


class D20:
    """The other process."""

    def __init__(self) -> None:
        """Start it with the Python of the peers' environment, which `make bench` names."""
        python = os.environ.get("PEERS_PYTHON", ".venv-peers/bin/python")
        self._process = subprocess.Popen(
            [python, str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, *, render: bool) -> list[float]:
        """Seconds for one roll of each text of the corpus."""
        answer: list[float] = self._ask(times=TIMES, render=render)
        return answer

    def totals(self) -> list[list[int]]:
        """For each text its total from each of the seeds."""
        answer: list[list[int]] = self._ask(seeds=SEEDS)
        return answer

    def _ask(self, **request: int) -> Any:  # noqa: ANN401  the worker's JSON
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"texts": [text for _, text in PAIRS], **request}), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def _ours(source: Source, *, render: bool) -> list[float]:
    """Seconds for one roll of each text of the corpus: from text to total, or to the Markdown text."""

    def roll(text: str) -> object:
        check = notation.NotationCheck(text)
        resolved = resolve(check, source)
        outcome = resolved.outcome
        return notation.text(check, outcome, resolved.draws).markdown() if render else outcome.total

    return [cpu(partial(roll, text), TIMES)() for text, _ in PAIRS]


def _compare(totals: list[list[int]]) -> None:
    """Roll from the seeds that d20 rolled from: the totals must be the same, or the texts do not mean the same.

    Most of them, where dice are rolled again: d20 takes them in the order of a set.
    """
    for (text, theirs), expected in zip(PAIRS, totals, strict=True):
        check = notation.NotationCheck(text)
        rolled = [resolve(check, random_faces(random.Random(seed).randrange)).outcome.total for seed in range(SEEDS)]
        same = sum(a == b for a, b in zip(rolled, expected, strict=True))
        if same < (SEEDS // 2 if "ro" in text or "rr" in text else SEEDS):
            raise RuntimeError(f"{text} is not what d20 rolls for {theirs}: {rolled} and {expected}")


def rows(rounds: int) -> list[Row]:
    """The whole corpus, summed: without text, and with it."""
    source, peer = random_faces(random.Random(7).randrange), D20()
    try:
        _compare(peer.totals())
        return [_row(source, peer, rounds, render=render) for render in (False, True)]
    finally:
        peer.close()


def _row(source: Source, peer: D20, rounds: int, *, render: bool) -> Row:
    took = in_turns(
        {
            "ours": lambda: sum(_ours(source, render=render)),
            "d20": lambda: sum(peer.seconds(render=render)),
        },
        rounds,
    )
    name = f"notation, {len(PAIRS)} texts" + (", rendered" if render else "")
    return Row(name, took["ours"], "d20", took["d20"], AIM)
