"""Where a roll's time goes: servers that each do more than the one before, and what each part adds to a call."""

import tempfile
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

from bench import servers
from bench.generators import ROLL, Load, framed, missing
from bench.load import Scenario, measure, one_roll
from bench.measure import Row
from bench.part_server import PARTS
from fairroll.keys import init_keys, load_keys
from fairroll.roll import Roller


def rows(rounds: int) -> list[Row]:
    """Measure all of them in turns, each against the one before."""
    absent = missing()
    if absent:
        print(f"parts: not measured, since there is no {' and no '.join(absent)}")
        return []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        init_keys(folder / "keys", "localhost/v1", development=True)
        body = folder / "one"
        body.write_bytes(framed(one_roll(1).SerializeToString()))
        size = Roller(load_keys(folder / "keys")).roll(one_roll(1), "local").ByteSize()
        started = {"echo": stack.enter_context(servers.echo("grpc", size - 8))}
        for part in PARTS:
            started[part] = stack.enter_context(servers.part(part, folder))
        whole, _ = stack.enter_context(servers.fairroll(folder))
        scenarios = {
            name: Scenario(name, Load(ROLL, body), server) for name, server in {**started, "service": whole}.items()
        }
        measure(scenarios, rounds)
    return [
        Row(f"a call of {name}", scenarios[name].us, before, scenarios[before].us)
        for before, name in pairwise(scenarios)
    ]
