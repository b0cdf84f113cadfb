"""Each rule system's checks against a notation roll of as many dice: in process, and as a call over gRPC.

In process is what a check costs beyond what every roll shares: reading it, resolving it from a proof, writing its
outcome and its text. Over gRPC is the server's whole processor time for a call, by a client in this process.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median

import grpc

from bench import servers
from bench.measure import Row, cpu, in_turns
from fairroll import json_codec
from fairroll.convert import read_check
from fairroll.keys import init_keys
from fairroll.replay import outcome_message, resolve_check, text_message
from fairroll.v1 import roll_pb2, service_pb2_grpc

AIM = 1.2
CALLS = 100
TURNS = 4
"""Short ones, several a round: what else the machine does falls on a check and on its notation alike."""
TIMES = 20

CHECKS = {
    "crossroads, 3d6": ('{"crossroads":{"skillRoll":{"statistic":2}}}', "3d6"),
    "crossroads, opposed": (
        '{"crossroads":{"skillRoll":{"statistic":2,"advantage":1,"opposingRoll":{"name":"guard","statistic":1}}}}',
        "7d6",
    ),
    "crossroads, group of 4": (
        (
            '{"crossroads":{"groupRoll":{"mode":"GROUP_MODE_ALL_TOGETHER","members":'
            '[{"name":"Ann"},{"name":"Bob"},{"name":"Cleo"},{"name":"Dan"}]}}}'
        ),
        "12d6",
    ),
    "d6_dungeons, skill 3": ('{"d6Dungeons":{"skillRoll":{"difficulty":5,"skill":3}}}', "3d6"),
    "d6_dungeons, team of 3": (
        (
            '{"d6Dungeons":{"teamRoll":{"difficulty":9,"members":'
            '[{"name":"Ann","skill":3},{"name":"Bob","skill":1},{"name":"Cleo"}]}}}'
        ),
        "5d6",
    ),
    "meidlands, an attack": (
        (
            '{"meidlands":{"opposedRoll":{"attacker":{"pool":3,"name":"Bran"},"defender":{"pool":2,"name":"wolf"},'
            '"damage":"A/12","attributeModifier":2,"armour":"L2/4"}}}'
        ),
        "9d6",
    ),
    "msf_high, skill 3": ('{"msfHigh":{"skillRoll":{"skill":3,"statistic":7}}}', "3d8!"),
    "fortune_doom": ('{"fortuneDoom":{"resolutionRoll":{"attribute":2,"hope":true}}}', "2d12"),
}
"""By what a row is called: the check, and notation that rolls as many dice."""


def rows(rounds: int) -> list[Row]:
    """Measure both ways; only the calls have an aim."""
    return [*_rows("in process", _in_process(rounds), None), *_rows("over gRPC", _over_grpc(rounds), AIM)]


def _rows(way: str, us: dict[str, float], aim: float | None) -> Iterator[Row]:
    for name, (_, notation) in CHECKS.items():
        yield Row(f"{name}, {way}", us[name], notation, us[notation], aim)


def _messages() -> dict[str, roll_pb2.Check]:
    """Return the checks by their names, and the notations by their texts."""
    texts = {name: check for name, (check, _) in CHECKS.items()}
    texts |= {notation: f'{{"notation":{{"text":"{notation}"}}}}' for _, notation in CHECKS.values()}
    return {name: json_codec.loads(roll_pb2.Check, text.encode()) for name, text in texts.items()}


def _in_process(rounds: int) -> dict[str, float]:
    numbers = count()

    def roll(message: roll_pb2.Check) -> None:
        check = read_check(message)
        # Another proof each time, so that rare faces count as often as they fall.
        resolved = resolve_check(check, next(numbers).to_bytes(64, "big"), 0, 0)
        outcome_message(check, resolved)
        text_message(check, resolved)

    return in_turns({name: cpu(partial(roll, message), TIMES) for name, message in _messages().items()}, rounds)


def _over_grpc(rounds: int) -> dict[str, float]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        init_keys(folder / "keys", "localhost/v1", development=True)
        server, _ = stack.enter_context(servers.fairroll(folder))
        channel = stack.enter_context(grpc.insecure_channel(server.address))
        stub = service_pb2_grpc.RollServiceStub(channel)
        calls = {name: _calls(server, stub, message) for name, message in _messages().items()}
        taken: dict[str, list[float]] = {name: [] for name in calls}
        for number in range(TURNS * rounds + 1):
            for name, each in calls.items():
                seconds = each()
                if number:  # the first is to warm every cache
                    taken[name].append(seconds)
    return {name: median(each) * 1e6 for name, each in taken.items()}


def _calls(
    server: servers.Server, stub: service_pb2_grpc.RollServiceStub, message: roll_pb2.Check
) -> Callable[[], float]:
    request = roll_pb2.RollRequest(checks=[message])

    def timed() -> float:
        before = server.cpu_seconds()
        for _ in range(CALLS):
            stub.Roll(request)
        return (server.cpu_seconds() - before) / CALLS

    return timed
