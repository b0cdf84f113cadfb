"""What a roll costs a server, beside what the stack and the cryptography cost without us.

All servers run at once and are asked in turns. Cost is the whole process's user and system time for a call at
saturation. Latencies are at half the highest rate. Run it on a machine that does nothing else: the generators have
one core's fifth, and the servers one core and a third.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median

from bench import servers
from bench.generators import ROLL, STREAM_ROLLS, Load, framed, missing
from bench.measure import Round, Row, cpu
from fairroll import ecvrf, json_codec, signer
from fairroll.keys import init_keys, load_keys
from fairroll.roll import Roller
from fairroll.v1.notation_pb2 import NotationCheck
from fairroll.v1.roll_pb2 import Check, RollRequest, RollResponse
from fairroll.v1.service_pb2 import StreamRollsRequest

ITEMS = CHECKS = 100
CALLS = 1500
LATENCY_SECONDS = 5
AIM_ROLL, AIM_CHECKS, AIM_STREAM, AIM_REST = 1.15, 1 / 15, 1.0, 1.1
SEED = bytes(range(32))


@dataclass
class Scenario:
    """One line of the table.

    Attributes:
        name: with the letter that its ratios are given by.
        load: what is sent.
        server: who answers.
        calls: how many a round.
        parts: how many rolls are in one call.
    """

    name: str
    load: Load
    server: servers.Server
    calls: int = CALLS
    parts: int = 1
    costs_us: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    def round(self) -> None:
        """Send the calls, and keep what each cost and how fast they went."""
        before = self.server.cpu_seconds()
        done, rate = self.load.saturate(self.server.address, self.calls)
        self.costs_us.append((self.server.cpu_seconds() - before) / (done * self.parts) * 1e6)
        self.rates.append(rate * self.parts)

    @property
    def us(self) -> float:
        """The cost of one roll in microseconds."""
        return median(self.costs_us)


def rows(rounds: int) -> list[Row]:
    """Measure, print the table of costs, rates and latencies, and return the ratios that have aims."""
    absent = missing()
    if absent:
        print(f"load: not measured, since there is no {' and no '.join(absent)}")
        return []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        scenarios, answer = _scenarios(stack, folder)
        prove_sign = cpu(prove_and_sign(len(answer.envelope.payload)), 300)
        bare = measure(scenarios, rounds, prove_sign)
        line = ("(b) prove and sign alone", f"{bare:.0f}", "", "", "")
        print(costs_table(scenarios, LATENCY_SECONDS, folder / "latencies", line))
    costs = {letter: scenario.us for letter, scenario in scenarios.items()}
    roll = costs["c"]
    return [
        Row("(c) Roll 4d6kh3", roll, "(a) bare echo + (b) prove and sign", costs["a"] + bare, AIM_ROLL),
        Row("(c) Roll 4d6kh3", roll, "(a) that does (b) in each call", costs["ab"]),
        Row("(d) a check of 100", costs["d"], "(c) a Roll", roll, AIM_CHECKS),
        Row("(e) an item of StreamRolls", costs["e"], "(c) a Roll", roll, AIM_STREAM),
        Row("(f) a roll over REST", costs["f"], "(c) a Roll", roll, AIM_REST),
        Row("(g) bare FastAPI echo", costs["g"], "(a) bare gRPC echo", costs["a"]),
    ]


def measure(scenarios: Mapping[str, Scenario], rounds: int, beside: Round = lambda: 0.0) -> float:
    """Send what the scenarios send, in turns; return the median of what was timed beside them, in microseconds."""
    taken: list[float] = []
    for number in range(rounds + 1):
        for scenario in scenarios.values():
            scenario.round()
        taken.append(beside())
        if number == 0:  # to warm every cache
            taken.clear()
            for scenario in scenarios.values():
                scenario.costs_us.clear()
                scenario.rates.clear()
    return median(taken) * 1e6


def _scenarios(stack: ExitStack, folder: Path) -> tuple[dict[str, Scenario], RollResponse]:
    one, hundred = one_roll(1), one_roll(CHECKS)
    items = [StreamRollsRequest(item_id=str(number), request=one).SerializeToString() for number in range(ITEMS)]
    init_keys(folder / "keys", "localhost/v1", development=True)
    answer = Roller(load_keys(folder / "keys")).roll(one, "local")
    # Strings have one length in both; what an answer's message adds around its bytes is a few bytes.
    grpc_echo = stack.enter_context(servers.echo("grpc", answer.ByteSize() - 8))
    signed_echo = stack.enter_context(servers.echo("signed", answer.ByteSize() - 8))
    rest_echo = stack.enter_context(servers.echo("rest", len(json_codec.dumps(answer))))
    grpc, rest = stack.enter_context(servers.fairroll(folder))

    def load(name: str, path: str, body: bytes, *, is_rest: bool = False) -> Load:
        file = folder / name
        file.write_bytes(body)
        return Load(path, file, is_rest)

    unary = load("one", ROLL, framed(one.SerializeToString()))
    over_rest = load("rest", "/v1/rolls", json_codec.dumps(one), is_rest=True)
    scenarios = {
        "a": Scenario("(a) bare grpc.aio echo", unary, grpc_echo),
        "ab": Scenario("(a) that does (b) in each call", unary, signed_echo),
        "c": Scenario("(c) Roll, one 4d6kh3", unary, grpc),
        "d": Scenario(
            "(d) Roll, 100 checks, a check",
            load("hundred", ROLL, framed(hundred.SerializeToString())),
            grpc,
            CALLS // 10,
            CHECKS,
        ),
        "e": Scenario(
            "(e) StreamRolls, an item of 100", load("items", STREAM_ROLLS, framed(*items)), grpc, CALLS // 40, ITEMS
        ),
        "f": Scenario("(f) the same roll over REST", over_rest, rest),
        "g": Scenario("(g) bare FastAPI echo", over_rest, rest_echo),
    }
    return scenarios, answer


def one_roll(checks: int) -> RollRequest:
    """A roll of so many times 4d6kh3, each time that it is sent a session of its own."""
    return RollRequest(checks=[Check(notation=NotationCheck(text="4d6kh3"))] * checks)


def prove_and_sign(size: int) -> Callable[[], None]:
    """Return what proves another alpha each time and signs so many bytes: what a roll cannot do without."""
    vrf_key, signing_key = ecvrf.VrfKey(SEED), signer.SigningKey(SEED)
    message, alphas = bytes(size), _alphas()

    def work() -> None:
        vrf_key.prove(next(alphas))
        signing_key.sign(message)

    return work


def _alphas() -> Iterator[bytes]:
    # Another one each time: how many tries a point needs depends on alpha, two on average.
    return (b"fairroll/v1/alpha\x00" + bytes(32) + number.to_bytes(8, "big") + bytes(32) for number in count())


def costs_table(scenarios: Mapping[str, Scenario], seconds: int, log: Path, *more: tuple[str, ...]) -> str:
    """Measure latencies for so many seconds each, and return everything as text; `more` goes below the first line."""
    lines: list[tuple[str, ...]] = [("", "CPU us", "highest rate /s", "p50 ms", "p99 ms")]
    for scenario in scenarios.values():
        rate = median(scenario.rates)
        calls = rate / scenario.parts
        p50, p99 = scenario.load.latencies(scenario.server.address, calls / 2, seconds, log)
        lines.append((scenario.name, f"{scenario.us:.0f}", f"{rate:.0f}", f"{p50:.2f}", f"{p99:.2f}"))
    lines[2:2] = more
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = "\n".join(
        "  ".join(f"{cell:{'>' if column else '<'}{widths[column]}}" for column, cell in enumerate(line))
        for line in lines
    )
    return f"{text}\nlatencies: of a whole call at half its highest rate\n"
