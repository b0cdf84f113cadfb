"""The reference questions about odds, without any memory of answers; notation beside `icepool` used directly.

Both sides end in the same message of the same fields, written by the same code, so that the ratio is of finding the
odds and telling them. Then the latency of rolls while odds are asked as fast as they are answered.
"""

import json
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import icepool

from bench import servers
from bench.generators import ROLL, Load, framed, missing
from bench.measure import Row, cpu, in_turns
from fairroll import json_codec
from fairroll.odds.answer import Found, get_odds, write_quantity
from fairroll.odds.chances import Chances
from fairroll.odds.summary import summary
from fairroll.v1 import notation_pb2, odds_pb2, roll_pb2

AIM_PEER, AIM_MS, AIM_SHARE, AIM_P99 = 2.0, 200.0, 0.95, 2.0
LATENCY_SECONDS, TRIES, ASKERS = 6, 3, 4

D4, D6, D10, D12, D20 = (icepool.d(sides) for sides in (4, 6, 10, 12, 20))
CHAIN = 22
"""Explosions after which 6^-22 of a die's chains are left, where ours are cut as well."""

NOTATION: dict[str, Callable[[], dict[str, Any]]] = {
    "4d6kh3": lambda: {"total": D6.highest(4, 3)},
    "10d10>=8f1": lambda: {
        "total": 10 @ D10.map(lambda face: (face >= 8) - (face == 1)),
        "successes": 10 @ D10.map(lambda face: int(face >= 8)),
        "failures": 10 @ D10.map(lambda face: int(face == 1)),
    },
    "8d6!": lambda: {"total": 8 @ D6.explode(depth=CHAIN)},
    "20d6kh10": lambda: {"total": D6.highest(20, 10)},
    "2d20kh1+1d4+3": lambda: {"total": D20.highest(2) + D4 + 3},
    "{2d20,1d12}kh1": lambda: {"total": icepool.highest(2 @ D20, D12)},
}
_MEMBERS = [{"name": name, "statistic": 1} for name in "abcdef"]
SYSTEMS: dict[str, dict[str, Any]] = {
    **{
        f"Crossroads, {name} {level}": {"crossroads": {"skillRoll": {"statistic": 1, name: level}}}
        for name in ("advantage", "disadvantage")
        for level in (1, 2, 3)
    },
    "Crossroads, none": {"crossroads": {"skillRoll": {"statistic": 1}}},
    "Crossroads, opposed": {
        "crossroads": {"skillRoll": {"statistic": 1, "advantage": 1, "opposingRoll": {"name": "o", "statistic": 1}}}
    },
    "Crossroads, a group of six": {
        "crossroads": {"groupRoll": {"mode": "GROUP_MODE_ALL_TOGETHER", "members": _MEMBERS}}
    },
    "D6 Dungeons, a team of five": {
        "d6Dungeons": {"teamRoll": {"difficulty": 9, "members": [{"name": name, "skill": 4} for name in "abcde"]}}
    },
    "MSF High, 5d12": {"msfHigh": {"skillRoll": {"skill": 5, "statistic": 12}}},
    "Fortune and Doom, all options": {
        "fortuneDoom": {
            "resolutionRoll": {
                "attribute": 2, "help": [1, 2], "hinder": [-1], "advantage": True, "condition": True, "fear": True,
                "hope": True, "successThreshold": 13,
            }
        }
    },
    "The Meidlands, 7 against 7": {"meidlands": {"opposedRoll": {"attacker": {"pool": 7}, "defender": {"pool": 7}}}},
}  # fmt: skip


def rows(rounds: int) -> list[Row]:
    """Print how long each question takes, measure rolls under a load of odds, and return the ratios."""
    asked = {text: _question({"notation": {"text": text}}) for text in NOTATION}
    asked |= {name: _question(check) for name, check in SYSTEMS.items()}
    ours = {name: cpu(lambda request=request: get_odds(request).SerializeToString()) for name, request in asked.items()}  # type: ignore[misc]  # a bound default
    theirs = {name: cpu(lambda dice=dice: _told(dice())) for name, dice in NOTATION.items()}  # type: ignore[misc]  # as above
    for name, dice in NOTATION.items():
        _compare(name, asked[name], dice())
    took = in_turns(ours | {f"icepool {name}": work for name, work in theirs.items()}, rounds)
    print(_table({name: took[name] / 1000 for name in asked}))
    return [
        *(Row(f"odds of {name}", took[name], "icepool", took[f"icepool {name}"], AIM_PEER) for name in NOTATION),
        *_under_load(),
    ]


def _question(check: dict[str, Any]) -> odds_pb2.GetOddsRequest:
    body = json.dumps({"check": check, "refuseEstimates": True}).encode()
    return json_codec.loads(odds_pb2.GetOddsRequest, body)


def _told(dice: dict[str, Any]) -> bytes:
    message = odds_pb2.GetOddsResponse()
    for name, die in dice.items():
        found = Found(name, summary(Chances(dict(die.items()), die.denominator())), None)
        write_quantity(message.odds.quantities.add(), found)
    return message.SerializeToString()


def _compare(name: str, request: odds_pb2.GetOddsRequest, dice: dict[str, Any]) -> None:
    """Both must mean the same."""
    for quantity in get_odds(request).odds.quantities:
        die = dice[quantity.name]
        for each in quantity.values:
            if abs(each.chance.value - die.quantity(each.value) / die.denominator()) > 1e-12:
                raise RuntimeError(f"{name} is not what icepool says: {quantity.name} {each.value}")


def _table(milliseconds: dict[str, float]) -> str:
    lines = [f"{name:<32}{taken:>9.2f} ms" for name, taken in milliseconds.items()]
    quick = sum(taken < AIM_MS for taken in milliseconds.values())
    missed = "" if quick >= AIM_SHARE * len(lines) else "  MISSED"
    return "\n".join([*lines, f"{quick} of {len(lines)} questions under {AIM_MS:.0f} ms{missed}\n"])


# Rolls under a load of odds


def _under_load() -> Iterator[Row]:
    """Latency of rolls at half their highest rate, without odds and beside as many as are answered, in turns."""
    absent = missing()
    if absent:
        print(f"rolls under a load of odds: not measured, since there is no {' and no '.join(absent)}")
        return
    with tempfile.TemporaryDirectory() as place, servers.fairroll(Path(place)) as (grpc, rest):
        folder = Path(place)
        body = folder / "roll"
        check = roll_pb2.Check(notation=notation_pb2.NotationCheck(text="4d6kh3"))
        body.write_bytes(framed(roll_pb2.RollRequest(checks=[check]).SerializeToString()))
        load = Load(ROLL, body)
        load.saturate(grpc.address, 500)
        _, rate = load.saturate(grpc.address, 2_000)
        quiet, busy = [], []
        answered = 0
        for _ in range(TRIES):
            quiet.append(load.latencies(grpc.address, rate / 2, LATENCY_SECONDS, folder / "latencies"))
            with _asking(rest.address) as counted:
                busy.append(load.latencies(grpc.address, rate / 2, LATENCY_SECONDS, folder / "latencies"))
            answered += len(counted)
    if not answered:
        raise RuntimeError("no question about odds was answered")
    print(f"{answered} questions were answered in {TRIES * LATENCY_SECONDS} s beside {rate / 2:.0f} rolls a second\n")
    for number, name in enumerate(("p50", "p99")):
        aim = AIM_P99 if name == "p99" else None
        mine, other = (median(each[number] for each in tries) * 1000 for tries in (busy, quiet))
        yield Row(f"{name} of a roll beside odds", mine, "the same without", other, aim)


@contextmanager
def _asking(address: str) -> Iterator[list[int]]:
    """Ask for odds from several threads until the end, each question another one; give what was answered."""
    end, seeds, answered = threading.Event(), count(), list[int]()

    def ask() -> None:
        while not end.is_set():
            # Another seed is another question to whoever remembers answers.
            question = {"check": {"notation": {"text": "8d6!"}}, "seed": next(seeds)}
            request = urllib.request.Request(
                f"http://{address}/v1/odds", json.dumps(question).encode(), {"content-type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310  our own
                answer.read()
            answered.append(1)

    threads = [threading.Thread(target=ask) for _ in range(ASKERS)]
    for thread in threads:
        thread.start()
    try:
        yield answered
    finally:
        end.set()
        for thread in threads:
            thread.join()
