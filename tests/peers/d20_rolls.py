"""Rolls of the package d20 in the peers' environment: one request as JSON on standard input, one answer.

{"texts": [..], "seeds": 20}: each text rolled with the generators seeded 0..19.
{"texts": [..], "faces": [[..], ..]}: each text rolled once, on these faces in d20's own order.
{"texts": [..], "depth": 6, "most": 9000}: each text on every way to fall, cut at so many rolls again; at most 9,000.
It stands alone: that environment has neither fairroll nor this folder's other files.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import d20
from d20 import expression

Source = Callable[[int], int]

ADVANTAGE = {"adv": d20.AdvType.ADV, "dis": d20.AdvType.DIS}


class More(Exception):
    """The faces given are used up; the next die has so many sides."""

    def __init__(self, sides: int) -> None:
        super().__init__(sides)
        self.sides = sides


class Chance:
    """Stands in for the module `random` of d20, and notes who is rolled."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.draws: list[dict[str, Any]] = []
        self.of: int | None = None
        self.why = "ROLL"

    def randrange(self, *args: int) -> int:
        values = range(*args)
        face = self.source(len(values))
        self.draws.append({"sides": len(values), "face": face, "of": self.of, "why": self.why})
        return values[face - 1]


chance = Chance(int)


class Watched(expression.Die):  # type: ignore[misc]  # d20 has no types
    """Notes which of its faces a roll follows."""

    __slots__ = ("draw",)

    def reroll(self) -> None:
        chance.of, chance.why = self.draw, "REROLL"
        super().reroll()
        chance.of, chance.why = None, "ROLL"

    def explode(self) -> None:
        super().explode()
        chance.of, chance.why = self.draw, "EXPLODE"

    def _add_roll(self) -> None:
        super()._add_roll()
        self.draw = len(chance.draws) - 1


class Pool(expression.Dice):  # type: ignore[misc]  # d20 has no types
    """Forgets who exploded once the new die is there."""

    __slots__ = ()

    def roll_another(self) -> None:
        super().roll_another()
        chance.of, chance.why = None, "ROLL"


expression.Die = Watched
d20.dice.Dice = Pool


def kept(node: Any, standing: bool) -> Iterator[tuple[int, bool]]:  # noqa: ANN401  d20 has no types
    """Yield the values of the dice that count, and of those that do not."""
    standing = standing and node.kept
    if isinstance(node, expression.Dice):
        for die in node.values:
            yield die.number, standing and die.kept
    else:
        for child in node.children:
            yield from kept(child, standing)


def roll(text: str, source: Source) -> dict[str, Any]:
    global chance  # noqa: PLW0603  one roll at a time
    chance = Chance(source)
    d20.expression.random = chance
    words = text.rsplit(" ", 1)
    advantage = ADVANTAGE.get(words[-1], d20.AdvType.NONE)
    if advantage:
        text = words[0]
    result = d20.Roller().roll(text, allow_comments=True, advantage=advantage)
    dice = list(kept(result.expr, True))
    return {
        "total": result.total,
        "exact": result.expr.total,
        "draws": chance.draws,
        "kept": sorted(value for value, standing in dice if standing),
        "dropped": sorted(value for value, standing in dice if not standing),
    }


def seeded(text: str, seeds: int) -> list[dict[str, Any]]:
    return [roll(text, partial(random.Random(seed).randint, 1)) for seed in range(seeds)]


def given(text: str, faces: list[int]) -> dict[str, Any]:
    left = list(faces)

    def source(sides: int) -> int:
        if not left:
            raise More(sides)
        return left.pop(0)

    found = roll(text, source)
    if left:
        raise ValueError("faces left")
    return found


def walked(text: str, depth: int, most: int) -> dict[str, Any] | None:
    """The weight of each total, [[total, [[denominator, ways], ..]], ..], and of what was cut; None beyond `most`."""
    found: dict[int, dict[int, int]] = {}
    cut: dict[int, int] = {}
    stack: list[tuple[list[int], int, int]] = [([], 1, 0)]
    while stack:
        most -= 1
        if most < 0:
            return None
        faces, ways, chain = stack.pop()
        try:
            done = given(text, faces)
        except More as more:
            again = chance.why != "ROLL"
            if again and chain == depth:
                cut[ways] = cut.get(ways, 0) + 1
                continue
            stack += [([*faces, face], ways * more.sides, chain + again) for face in range(1, more.sides + 1)]
            continue
        counts = found.setdefault(done["total"], {})
        counts[ways] = counts.get(ways, 0) + 1
    return {"totals": [[total, list(counts.items())] for total, counts in found.items()], "cut": list(cut.items())}


def answer(request: dict[str, Any], index: int, text: str) -> Any:  # noqa: ANN401  JSON
    try:
        if "seeds" in request:
            return seeded(text, request["seeds"])
        if "faces" in request:
            return given(text, request["faces"][index])
        return walked(text, request["depth"], request["most"])
    except d20.RollError as error:
        return {"error": str(error)}


request = json.load(sys.stdin)
json.dump([answer(request, index, text) for index, text in enumerate(request["texts"])], sys.stdout)
