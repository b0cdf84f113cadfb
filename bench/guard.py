"""What a guard costs a roll, and what an answer costs that follows a chain of three receipts.

Services without a guard, with SQLite and with PostgreSQL run at once and are asked in turns; each roll is a session of
its own, so that each is a claim of its own. Cost is the user and system time of our process for a call at saturation:
what PostgreSQL itself takes is not in it, and what waits for the disk shows in the latencies.
"""

import tempfile
from contextlib import ExitStack
from itertools import count
from pathlib import Path

from bench import servers
from bench.generators import ROLL, Load, framed, missing
from bench.load import LATENCY_SECONDS, Scenario, costs_table, measure, one_roll
from bench.measure import Row
from fairroll.keys import init_keys, load_keys
from fairroll.roll import Roller
from fairroll.v1.crossroads_pb2 import CrossroadsCheck
from fairroll.v1.roll_pb2 import CHECK_STATUS_PENDING, Check, RollRequest, RollResponse
from fairroll.v1.session_pb2 import Session
from tests.service.postgres import running_postgres

AIM_SQLITE, AIM_POSTGRESQL, AIM_ANSWER = 1.3, 1.6, 2.0
CHAIN = 3
TENANT = "local"


def rows(rounds: int) -> list[Row]:
    """Measure, print the table of costs, rates and latencies, and return the ratios."""
    absent = missing()
    if absent:
        print(f"guard: not measured, since there is no {' and no '.join(absent)}")
        return []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        scenarios = _scenarios(stack, folder)
        measure(scenarios, rounds)
        print(costs_table(scenarios, LATENCY_SECONDS, folder / "latencies"))
    costs = {letter: scenario.us for letter, scenario in scenarios.items()}
    return [
        Row("Roll under SQLite", costs["s"], "without a guard", costs["n"], AIM_SQLITE),
        Row("Roll under PostgreSQL", costs["p"], "without a guard", costs["n"], AIM_POSTGRESQL),
        Row("an answer to a chain of three", costs["a"], "the root roll of the same check", costs["r"], AIM_ANSWER),
    ]


def _scenarios(stack: ExitStack, folder: Path) -> dict[str, Scenario]:
    init_keys(folder / "keys", "localhost/v1", development=True)
    postgres = stack.enter_context(running_postgres())
    without, _ = stack.enter_context(servers.fairroll(folder))
    sqlite, _ = stack.enter_context(servers.fairroll(folder, f"sqlite:{folder / 'guard.db'}"))
    postgresql, _ = stack.enter_context(servers.fairroll(folder, postgres.make_database("guard")))
    root, answer = chain_of(Roller(load_keys(folder / "keys")), CHAIN)

    def load(name: str, request: RollRequest) -> Load:
        file = folder / name
        file.write_bytes(framed(request.SerializeToString()))
        return Load(ROLL, file)

    one = load("one", one_roll(1))
    return {
        "n": Scenario("Roll, one 4d6kh3, no guard", one, without),
        "s": Scenario("the same, SQLite", one, sqlite),
        "p": Scenario("the same, PostgreSQL", one, postgresql),
        "r": Scenario("a Crossroads roll that stops, no guard", load("root", root), without),
        "a": Scenario("its fourth receipt: an answer to a chain of three", load("answer", answer), without),
    }


def chain_of(roller: Roller, length: int) -> tuple[RollRequest, RollRequest]:
    """Return the request of a Crossroads roll, and the answer to its receipt of that number."""
    ask = CrossroadsCheck.SkillRoll(
        advantage=1,
        removal=CrossroadsCheck.REMOVAL_POLICY_ASK,
        change=CrossroadsCheck.CHANGE_POLICY_ASK,
        zero_result=CrossroadsCheck.ZERO_RESULT_POLICY_ASK,
        great_success=CrossroadsCheck.GREAT_SUCCESS_POLICY_ASK,
    )
    check = Check(crossroads=CrossroadsCheck(skill_roll=ask), actor="Ann")
    key_id = roller.keys.current.vrf_key_id
    for number in count():
        root = RollRequest(session=Session(table=f"scene {number}", vrf_key_id=key_id), checks=[check])
        chain = [roller.roll(root, TENANT)]
        while chain[-1].record.outcomes[0].status == CHECK_STATUS_PENDING:
            answer = _answer(root, chain)
            if len(chain) == length:
                return root, answer
            chain.append(roller.roll(answer, TENANT))
    raise AssertionError("count() ended")


def _answer(root: RollRequest, chain: list[RollResponse]) -> RollRequest:
    request = RollRequest(session=root.session, seq=len(chain), previous=chain[-1].digest)
    request.root, request.continues = chain[0].digest, chain[-1].digest
    request.chain.extend(each.envelope for each in chain)
    for decision in chain[-1].record.outcomes[0].decisions:
        if decision.options:
            request.answers.add(decision_id=decision.id, option_id=decision.options[-1].id)
    return request
