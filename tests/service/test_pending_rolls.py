"""A roll that waits for decisions, its answers, its close: what is signed, what is refused, what a verifier finds."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fairroll import hashing, json_codec
from fairroll.errors import RequestError, StateError, Step, VerificationError
from fairroll.receipt import read_envelope
from fairroll.session_message import read_session
from fairroll.stream import Stream
from fairroll.v1 import roll_pb2
from fairroll.verify import Verified, verify
from fairroll.verify_session import verify_sessions
from fairroll_rules.systems import systems
from tests.service.rolling import ROOT, TENANT, epoch_keys, proofs_of, record_of, roller, signed
from tests.service.table_play import Table, bundle, envelopes, group, is_pending, remove, waiting

PREVIEWED = "No guard: the decider could have previewed this answer."
KEYS = epoch_keys()
Request = roll_pb2.RollRequest


def judged(*chain: roll_pb2.RollResponse) -> Verified:
    return verify(bundle(*chain), ROOT.public_key)


def stopped(names: tuple[str, ...] = ("Ann", "Ben", "Cas", "Dan", "Eve", "Fay"), zero: bool = False) -> Table:
    """A table whose last receipt waits for at least two decisions."""
    for number in range(200):
        table = Table(name=f"table {number}")
        table.roll()
        if is_pending(table.roll(group(*names, zero=zero))) and len(waiting(table.receipts[-1])) > 1:
            return table
    raise AssertionError("no roll stopped")


# What is signed


def test_a_roll_that_asks_stops_with_its_faces_and_all_decisions_that_stand_side_by_side() -> None:
    response = stopped().receipts[-1]
    outcome = response.record.outcomes[0]
    assert outcome.status == roll_pb2.CHECK_STATUS_PENDING
    assert len(outcome.draws) == 18
    assert outcome.WhichOneof("system") is None
    assert not outcome.earlier_draws
    for decision in waiting(response):
        assert (decision.kind, decision.decider, decision.option_id) == ("CHANGE", roll_pb2.DECIDER_PLAYER, "")
        own = sorted(draw.face for draw in outcome.draws if draw.actor == decision.actor)
        assert any(own.count(face) > 1 for face in (2, 3, 4, 5))
        assert decision.options[0].id == "KEEP"
        assert all(option.meaning for option in decision.options)
        assert f"{decision.kind} of {decision.actor}" in response.texts[0].line
    assert judged(response).complete


def test_an_answer_draws_from_its_own_seq_and_holds_the_whole_outcome() -> None:
    table = stopped()
    chain = [table.receipts[-1]]
    table.roll()  # other rolls may lie between
    chain.append(table.send(table.answering(chain, option=1)))
    record = chain[1].record
    assert (record.request.root, record.request.continues) == (chain[0].digest, chain[0].digest)
    assert not record.request.checks
    assert not record.request.chain
    outcome = record.outcomes[0]
    beta = judged(*chain).steps[6].detail.removeprefix("beta ")
    stream = Stream(bytes.fromhex(beta), 0)
    assert [draw.face for draw in outcome.draws] == [stream.face(6) for _ in waiting(chain[0])]
    assert list(outcome.earlier_draws) == list(chain[0].record.outcomes[0].draws)
    assert {draw.of for draw in outcome.draws} <= set(range(18))
    assert outcome.status == roll_pb2.CHECK_STATUS_RESOLVED
    assert len(outcome.crossroads.group_roll.throws) == 6
    assert [each.policy for each in outcome.decisions if each.kind == "CHANGE"] == [""] * len(waiting(chain[0]))


def test_each_question_of_a_roll_is_a_receipt_of_its_own_and_the_whole_chain_verifies() -> None:
    lengths = set()
    for number in range(12):
        table = Table(name=f"scene {number}")
        chain = table.finish(remove(), option=number)
        lengths.add(len(chain))
        for end in range(1, len(chain) + 1):
            assert judged(*chain[:end]).complete
        assert chain[-1].record.outcomes[0].status == roll_pb2.CHECK_STATUS_RESOLVED
    assert max(lengths) > 2


ASKING = {
    "crossroads": """{"skillRoll": {"advantage": 1, "removal": "REMOVAL_POLICY_ASK", "change": "CHANGE_POLICY_ASK",
        "zeroResult": "ZERO_RESULT_POLICY_ASK", "greatSuccess": "GREAT_SUCCESS_POLICY_ASK",
        "opposingRoll": {"name": "ogre", "advantage": 1, "removal": "REMOVAL_POLICY_ASK",
            "change": "CHANGE_POLICY_ASK"}}}""",
    "meidlands": """{"opposedRoll": {
        "attacker": {"name": "Ann", "pool": 6, "modifiers": [-2], "rerolls": "REROLL_POLICY_ASK",
            "penalties": "PENALTY_POLICY_ASK"},
        "defender": {"name": "wolf", "pool": 4, "modifiers": [2], "rerolls": "REROLL_POLICY_ASK"},
        "damage": "A/12", "armour": "L2/4", "usesCriticalDice": true, "pick": "PICK_POLICY_ASK"}}""",
    "d6Dungeons": """{"skillRoll": {"difficulty": 5, "skill": 3, "ones": "ONES_POLICY_ASK"}}""",
    "fortuneDoom": """{"resolutionRoll": {"advantage": true, "tie": "TIE_CHOICE_ASK"}}""",
}
KINDS = {
    "crossroads": {"REMOVE", "CHANGE", "ZERO_RESULT", "GREAT_SUCCESS"},
    "meidlands": {"REROLL", "PENALTY", "PICK"},
    "d6Dungeons": {"ONES"},
    "fortuneDoom": {"TIE"},
}


def test_a_decision_names_whoever_the_check_names_for_it() -> None:
    """A member or side by its own name; a roll of one, and what all decide for the group, by the check's actor."""
    for system, names in (
        ("crossroads", {"Ann", "ogre"}),
        ("meidlands", {"Ann", "wolf"}),
        ("d6Dungeons", {"Zoe"}),
        ("fortuneDoom", {"Zoe"}),
    ):
        actor = "Zoe" if len(names) == 1 else "Ann"
        check = json_codec.loads(roll_pb2.Check, f'{{"actor": "{actor}", "{system}": {ASKING[system]}}}'.encode())
        named: set[str] = set()
        for number in range(40):
            for each in Table(name=f"{system} {number}").finish(check):
                named |= {decision.actor for decision in each.record.outcomes[0].decisions}
        assert named == names
    nobody = json_codec.loads(roll_pb2.Check, f'{{"d6Dungeons": {ASKING["d6Dungeons"]}}}'.encode())
    chains = [Table(name=f"nobody {number}").finish(nobody) for number in range(40)]
    assert {each.actor for chain in chains for one in chain for each in one.record.outcomes[0].decisions} == {""}


@pytest.mark.parametrize("system", ASKING)
def test_every_kind_of_decision_is_asked_answered_and_verified(system: str) -> None:
    check = json_codec.loads(roll_pb2.Check, f'{{"actor": "Ann", "{system}": {ASKING[system]}}}'.encode())
    met: set[str] = set()
    for number in range(200):
        chain = Table(name=f"{system} {number}").finish(check, option=number)
        kinds = {decision.kind for each in chain for decision in waiting(each)}
        if kinds <= met:
            continue
        met |= kinds
        assert all(judged(*chain[:end]).complete for end in range(1, len(chain) + 1))
        outcome = chain[-1].record.outcomes[0]
        answered = {(each.decision_id, each.option_id) for one in chain for each in one.record.request.answers}
        assert answered <= {(each.id, each.option_id) for each in outcome.decisions}
    assert met == KINDS[system]


def test_the_page_says_of_every_system_what_it_asks() -> None:
    text = (Path(__file__).parents[2] / "docs/decisions-in-a-roll.md").read_text()
    rows = [[cell.strip("` ") for cell in line.split("|")] for line in text.splitlines() if line.startswith("| ")]
    asked: dict[str, list[str]] = {}
    for _, system, kind, *_ in rows[1:]:
        asked.setdefault(system or list(asked)[-1], []).append(kind)
    assert [sorted(filter(None, kinds)) for kinds in asked.values()] == [
        *(sorted(KINDS[name]) for name in ("crossroads", "d6Dungeons", "meidlands")),
        [],
        sorted(KINDS["fortuneDoom"]),
        [],
    ]
    assert len(asked) == len(systems())


def test_the_same_answer_gives_the_same_bytes() -> None:
    table = stopped()
    request = table.answering([table.receipts[-1]])
    again = roller().roll(request, TENANT)
    assert table.send(request).envelope == again.envelope


def test_without_a_guard_the_answer_says_that_it_could_be_previewed() -> None:
    table = stopped()
    chain = [table.receipts[-1], table.send(table.answering([table.receipts[-1]]))]
    assert PREVIEWED in chain[1].texts[0].plain
    assert PREVIEWED in judged(*chain).rests_on
    assert PREVIEWED not in judged(chain[0]).rests_on


def test_a_close_has_a_proof_and_nothing_else() -> None:
    table = Table()
    table.roll()
    request = table.request()
    request.close = True
    closed = table.send(request)
    assert closed.record.request.close
    assert not closed.record.outcomes
    assert len(closed.record.proof) == 80
    assert judged(closed).complete


# What the service refuses before it proves


def no_chain(request: Request, _: Table) -> None:
    request.ClearField("chain")


def forged_parent(request: Request, _: Table) -> None:
    request.chain[0].payload = request.chain[0].payload[:-2] + b"\x18\x02"


def other_service(request: Request, table: Table) -> None:
    record = record_of(table.receipts[-1])
    other = epoch_keys(2)
    record.receipt_key_id = other.receipt_key_id
    use(request, signed(record, other).envelope)


def use(request: Request, envelope: object) -> None:
    """Let a request continue another receipt."""
    from fairroll.envelope import Envelope
    from fairroll.receipt import envelope_message

    assert isinstance(envelope, Envelope)
    request.ClearField("chain")
    request.chain.append(envelope_message(envelope))
    request.root = request.continues = envelope.digest


def resolved_parent(request: Request, table: Table) -> None:
    use(request, read_envelope(table.receipts[0].envelope))


def another_session(request: Request, _: Table) -> None:
    request.session.table = "elsewhere"


def not_later(request: Request, _: Table) -> None:
    request.seq = 1


def one_answer_too_few(request: Request, _: Table) -> None:
    del request.answers[-1]


def no_such_option(request: Request, _: Table) -> None:
    request.answers[1].option_id = "REROLL_ALL"


def no_such_decision(request: Request, _: Table) -> None:
    request.answers.add(decision_id="9:9", option_id="KEEP")


def answered_twice(request: Request, _: Table) -> None:
    request.answers.add().CopyFrom(request.answers[0])


def another_root(request: Request, _: Table) -> None:
    request.root = "ab" * 32


def another_parent(request: Request, _: Table) -> None:
    request.continues = "ab" * 32


def too_long(request: Request, _: Table) -> None:
    request.chain.extend([request.chain[0]] * 32)


def no_session(request: Request, _: Table) -> None:
    request.ClearField("session")
    request.ClearField("seq")
    request.ClearField("previous")


REFUSED: list[tuple[Callable[[Request, Table], None], str, str]] = [
    (no_chain, "REQUIRED", "chain"),
    (forged_parent, "SIGNATURE_INVALID", "chain[0]"),
    (other_service, "UNKNOWN_KEY", "chain[0].signatures[0].keyid"),
    (resolved_parent, "NOT_PENDING", "chain[0]"),
    (another_session, "PARENT_SESSION", "chain[0]"),
    (not_later, "CHAIN_ORDER", "chain[0]"),
    (one_answer_too_few, "ANSWER_MISSING", "answers"),
    (no_such_option, "OPTION_UNKNOWN", "answers[1].option_id"),
    (no_such_decision, "DECISION_UNKNOWN", "answers[{n}].decision_id"),
    (answered_twice, "CONFLICT", "answers[{n}].decision_id"),
    (another_root, "CHAIN_DIFFERS", "root"),
    (another_parent, "CHAIN_DIFFERS", "continues"),
    (too_long, "LIMIT_EXCEEDED", "chain"),
    (no_session, "SESSION_REQUIRED", "answers"),
]


@pytest.mark.parametrize(("change", "reason", "field"), REFUSED, ids=lambda each: getattr(each, "__name__", ""))
def test_an_answer_that_does_not_fit_is_refused_before_it_is_proved(
    change: Callable[[Request, Table], None], reason: str, field: str
) -> None:
    table = stopped()
    request = table.answering([table.receipts[-1]])
    count = len(request.answers)
    change(request, table)
    proofs = proofs_of(table.service)
    with pytest.raises(RequestError) as refused:
        table.service.roll(request, TENANT)
    assert (refused.value.reason, refused.value.field) == (reason, field.format(n=count))
    assert proofs_of(table.service) == proofs


def test_a_roll_of_an_engine_that_runs_no_more_is_not_continued() -> None:
    table = stopped()
    record = record_of(table.receipts[-1])
    record.outcomes[0].engine = "crossroads/99"
    request = table.answering([table.receipts[-1]])
    use(request, signed(record).envelope)
    with pytest.raises(StateError) as refused:
        table.service.roll(request, TENANT)
    assert refused.value.reason == "ENGINE_GONE"


# What a verifier refuses, though the operator signed it


def answered(zero: bool = False) -> list[roll_pb2.RollResponse]:
    table = stopped(zero=zero)
    chain = [table.receipts[-1]]
    chain.append(table.send(table.answering(chain, option=1)))
    return chain


def refused_with(record: roll_pb2.RollRecord, *parents: roll_pb2.RollResponse) -> VerificationError:
    made = replace(signed(record), chain=tuple(read_envelope(each) for each in envelopes(*parents)))
    with pytest.raises(VerificationError) as refused:
        verify(made, ROOT.public_key)
    return refused.value


def test_without_its_chain_an_answer_is_not_checked_and_not_verified() -> None:
    verified = judged(answered()[1])
    assert not verified.complete
    assert (verified.steps[-1].step, verified.steps[-1].held) == (Step.RULES, False)
    assert verified.steps[-1].detail == "not checked: parent missing"
    assert all(step.held for step in verified.steps[:-1])


def test_an_answer_that_was_not_among_the_options_is_found() -> None:
    chain = answered()
    record = record_of(chain[1])
    record.request.answers[0].option_id = "REROLL_ALL"
    error = refused_with(record, chain[0])
    assert (error.step, error.reason) == (Step.RULES, "OPTION_UNKNOWN")


def test_another_answer_than_the_outcome_shows_is_found() -> None:
    chain = answered()
    record = record_of(chain[1])
    record.request.answers[0].option_id = "KEEP"
    assert refused_with(record, chain[0]).step == Step.RULES


def test_an_answer_to_what_did_not_wait_is_found() -> None:
    table = stopped()
    chain = [table.receipts[-1], table.send(table.answering([table.receipts[-1]]))]
    record = record_of(chain[1])
    record.request.root = record.request.continues = table.receipts[0].digest
    error = refused_with(record, table.receipts[0])
    assert (error.step, error.reason) == (Step.RULES, "NOT_PENDING")


def test_an_answer_after_the_roll_has_ended_is_found() -> None:
    chain = answered()
    record = record_of(chain[1])
    record.request.seq, record.request.previous = 3, chain[1].digest
    record.request.continues = chain[1].digest
    del record.outcomes[0].draws[:]
    error = refused_with(proved(record), *chain)
    assert (error.step, error.reason, error.field) == (Step.RULES, "NOT_PENDING", "chain[1]")


def test_a_parent_of_another_session_is_found() -> None:
    chain = answered()
    record = record_of(chain[1])
    moved = Table(name="far away")
    moved.roll()
    while not is_pending(moved.roll(group("Ann", "Ben", "Cas", "Dan", "Eve", "Fay"))):
        pass
    record.request.root = record.request.continues = moved.receipts[-1].digest
    error = refused_with(record, moved.receipts[-1])
    assert (error.step, error.reason) == (Step.RULES, "PARENT_SESSION")


def test_a_second_answer_in_one_chain_is_found() -> None:
    scenes = (Table(name=f"scene {number}").finish(remove()) for number in range(50))
    chain = next(scene for scene in scenes if len(scene) > 2)
    record = record_of(chain[2])
    record.request.continues = chain[0].digest
    error = refused_with(record, *chain[:2])
    assert (error.step, error.reason) == (Step.RULES, "BRANCH")


def test_a_second_answer_beside_the_first_is_found() -> None:
    """Each is good by itself: only both together convict."""
    table = stopped()
    chain = [table.receipts[-1], table.send(table.answering([table.receipts[-1]], option=1))]
    second = table.send(table.answering(chain[:1], option=0))
    assert judged(chain[0], second).complete
    assert judged(*chain).complete
    given = [(str(number), bundle(each)) for number, each in enumerate([*table.receipts[:1], *chain, second])]
    _, (report,) = verify_sessions(given, ROOT.public_key)
    assert [(each.reason, each.seq) for each in report.findings] == [("BRANCH", 1)]


def proved(record: roll_pb2.RollRecord) -> roll_pb2.RollRecord:
    """The record with the proof of its own place, so that only what else is wrong with it can be found."""
    alpha = hashing.alpha(read_session(record.session).session_id(KEYS.vrf.public_key), record.request.seq, bytes(32))
    record.proof, _ = KEYS.vrf.prove(alpha)
    return record


def beta_of(*chain: roll_pb2.RollResponse) -> bytes:
    return bytes.fromhex(judged(*chain).steps[6].detail.removeprefix("beta "))


def unlike_the_own(chain: list[roll_pb2.RollResponse], faces: list[int]) -> roll_pb2.RollRecord:
    """The record of an answer that drew these faces, of which some are not those of its own stream."""
    record = record_of(chain[1])
    draws = record.outcomes[0].draws
    assert len(draws) == len(faces)
    assert [draw.face for draw in draws] != faces
    for draw, face in zip(draws, faces, strict=True):
        draw.face = face
    return record


def test_draws_of_the_parents_stream_are_found() -> None:
    """What the parent's stream would have given next, had the roll not stopped: known before the answer."""
    chain = answered()
    stream = Stream(beta_of(chain[0]), 0)
    drawn = [stream.face(6) for _ in chain[0].record.outcomes[0].draws]
    assert drawn == [draw.face for draw in chain[0].record.outcomes[0].draws]
    record = unlike_the_own(chain, [stream.face(6) for _ in chain[1].record.outcomes[0].draws])
    error = refused_with(record, chain[0])
    assert (error.step, error.reason) == (Step.DRAWS, "DRAW_DIFFERS")


def test_draws_of_another_checks_stream_are_found() -> None:
    chain = answered()
    stream = Stream(beta_of(*chain), 1)
    error = refused_with(unlike_the_own(chain, [stream.face(6) for _ in chain[1].record.outcomes[0].draws]), chain[0])
    assert (error.step, error.reason) == (Step.DRAWS, "DRAW_DIFFERS")


def test_the_parents_proof_gives_no_draws_to_the_answer() -> None:
    chain = answered()
    record = record_of(chain[1])
    record.proof = chain[0].record.proof
    assert refused_with(record, chain[0]).step == Step.VRF


def test_a_face_that_no_stream_gave_is_found() -> None:
    chain = answered()
    record = record_of(chain[1])
    record.outcomes[0].draws[0].face = record.outcomes[0].draws[0].face % 6 + 1
    error = refused_with(record, chain[0])
    assert (error.step, error.reason) == (Step.DRAWS, "DRAW_DIFFERS")


def test_a_parent_that_was_tampered_with_is_found_and_says_which_step_it_fails() -> None:
    chain = answered()
    parent = record_of(chain[0])
    parent.outcomes[0].draws[0].face = parent.outcomes[0].draws[0].face % 6 + 1
    forged = signed(parent).envelope
    record = record_of(chain[1])
    record.request.root = record.request.continues = forged.digest
    with pytest.raises(VerificationError) as refused:
        verify(replace(signed(record), chain=(forged,)), ROOT.public_key)
    assert (refused.value.step, refused.value.reason) == (Step.RULES, "DRAW_DIFFERS")
    assert "receipt 1 of the chain fails step 7" in refused.value.message


def test_earlier_faces_that_are_not_the_parents_are_found() -> None:
    chain = answered()
    record = record_of(chain[1])
    record.outcomes[0].earlier_draws[0].face = record.outcomes[0].earlier_draws[0].face % 6 + 1
    error = refused_with(record, chain[0])
    assert (error.reason, error.field) == ("OUTCOME_DIFFERS", "outcomes[0].earlier_draws")


def test_a_pending_receipt_that_hides_an_option_is_found() -> None:
    record = record_of(stopped().receipts[-1])
    del record.outcomes[0].decisions[-1].options[-1]
    assert refused_with(record).field == "outcomes[0].decisions"


def test_a_root_has_no_chain() -> None:
    table = stopped()
    assert refused_with(record_of(table.receipts[-1]), table.receipts[0]).reason == "CHAIN_DIFFERS"
