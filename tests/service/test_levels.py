"""What a session is worth against what the auditor kept: levels, and what contradicts them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from fairroll.beacon import QUICKNET
from fairroll.bundle import bundle_message
from fairroll.errors import RequestError
from fairroll.hashing import chain_back
from fairroll.levels import CLOSED, COMPARE, GUARDED, NOTHING_KEPT, Mine, RevealLog, WithoutSession
from fairroll.offer import Commit, Offer, Offered, OfferedAnchor, OfferedRound, open_offer
from fairroll.roll import Roller
from fairroll.v1 import roll_pb2, service_pb2, session_pb2
from fairroll.verify_session import SessionReport, verify_sessions
from tests.service.rolling import ORIGIN, ROOT, TENANT, epoch_keys, roller, seed
from tests.service.table_play import Table, bundle, remove
from tests.service.test_beacon import published
from tests.service.test_offer import ANN, commit_of

LAST = seed("last of the chain")
ANCHOR = chain_back(LAST, 8)
PREVIEWED = "No guard: the decider could have previewed this answer."


def offer_of(*contributions: Offered, table: str = "crypt") -> Offer:
    return Offer(ORIGIN, TENANT, table, epoch_keys().vrf_key_id, contributions)


PLAIN = offer_of(Commit(commit_of(ANN)))
CO_SEEDED = offer_of(Commit(commit_of(ANN)), OfferedAnchor(ANCHOR))
WITH_ROUND = offer_of(Commit(commit_of(ANN)), OfferedRound(QUICKNET.chain_hash, 1000))


@dataclass
class OfferedTable(Table):
    """A table whose session is the one of an offer; values of its chain are given as they are needed."""

    offer: Offer = PLAIN
    session: session_pb2.Session = field(init=False)

    def __post_init__(self) -> None:
        rounds = {part: published(1000) for part in self.offer.contributions if isinstance(part, OfferedRound)}
        opened = [ANN] if self.offer.contributions else []
        self.session = open_offer(self.offer, opened, rounds)

    def request(self) -> roll_pb2.RollRequest:
        request = super().request()
        request.session.CopyFrom(self.session)
        if any(part.HasField("anchor") for part in self.session.contributions):
            request.reveals.append(chain_back(LAST, 7 - request.seq))
        return request

    def close(self) -> None:
        closing = self.request()
        closing.close = True
        self.send(closing)


def played(offer: Offer = PLAIN, *, guarded: bool = False, rolls: int = 3, decision: bool = False) -> OfferedTable:
    service = roller()
    if guarded:
        service.guard_mode = roll_pb2.GUARD_MODE_SQLITE
    table = OfferedTable(service, offer=offer)
    for _ in range(rolls):
        table.roll()
    if decision:
        table.finish(remove())
    return table


def report(table: Table, mine: Mine) -> SessionReport:
    _, (only,) = verify_sessions([("", bundle(each)) for each in table.receipts], ROOT.public_key, mine=mine)
    return only


def log_of(table: Table) -> RevealLog:
    """The log of an owner who gave each value for the request that was then made."""
    asked = report(table, NOTHING_KEPT).receipts
    return RevealLog(ANCHOR, {each.record.request.seq: each.request_digest for each in asked})


def reasons(found: SessionReport) -> list[tuple[str, int]]:
    return [(each.reason, each.seq) for each in found.findings]


def test_without_an_offer_a_session_is_worth_l0_whatever_its_contributions() -> None:
    found = report(played(CO_SEEDED, guarded=True), NOTHING_KEPT)
    assert found.verified
    assert found.level.name == "L0"
    assert GUARDED in found.level.rests_on


@pytest.mark.parametrize(
    ("offer", "guarded", "logged", "level"),
    [
        (PLAIN, False, False, "L1"),
        (PLAIN, True, False, "L2"),
        (CO_SEEDED, False, False, "L1"),
        (CO_SEEDED, True, False, "L2"),
        (CO_SEEDED, False, True, "L3"),
        (CO_SEEDED, True, True, "L3"),
        (PLAIN, False, True, "L1"),
        (WITH_ROUND, False, False, "L1"),
    ],
)
def test_each_level_needs_what_the_protocol_says(offer: Offer, guarded: bool, logged: bool, level: str) -> None:
    table = played(offer, guarded=guarded)
    found = report(table, Mine((offer,), (log_of(table),) if logged else ()))
    assert found.verified
    assert found.level.name == level
    assert found.level.rests_on[0].startswith(level)
    assert found.level.rests_on[-1] == COMPARE
    assert GUARDED not in found.level.rests_on


def test_decisions_can_be_previewed_below_l2_only() -> None:
    for offer, guarded, logged, previewed in (
        (PLAIN, False, False, True),
        (PLAIN, True, False, False),
        (CO_SEEDED, False, True, False),
    ):
        table = played(offer, guarded=guarded, decision=True)
        found = report(table, Mine((offer,), (log_of(table),) if logged else ()))
        assert (PREVIEWED in found.level.rests_on) is previewed


def test_a_closed_session_shows_that_no_tail_was_cut() -> None:
    table = played()
    table.close()
    whole = report(table, Mine((PLAIN,)))
    assert whole.closed
    assert (whole.level.name, whole.level.rests_on[-1]) == ("L1", CLOSED)
    table.receipts.pop()
    cut = report(table, Mine((PLAIN,)))
    assert not cut.closed
    assert cut.level.rests_on[-1] == COMPARE


def test_a_gap_takes_the_level_away() -> None:
    table = played()
    del table.receipts[1]
    found = report(table, Mine((PLAIN,)))
    assert ("SEQ_MISSING", 1) in reasons(found)
    assert found.level.name == "L0"


def test_another_session_at_the_place_of_an_offer_is_found() -> None:
    table = played()
    for offer in (offer_of(Commit(commit_of(b"x" * 32))), offer_of(*PLAIN.contributions, OfferedAnchor(ANCHOR))):
        found = report(table, Mine((offer,)))
        assert reasons(found) == [("OFFER_NOT_OPENED", 0)]
        assert not found.verified
    # One of several offers for a table is enough: the others have no session.
    assert report(table, Mine((offer_of(Commit(b"x" * 32)), PLAIN))).level.name == "L1"


def test_an_opened_offer_without_a_session_is_told() -> None:
    dropped = offer_of(*PLAIN.contributions, table="dropped")
    mine = Mine((dropped, PLAIN))
    table = played()
    assert mine.without_session([report(table, mine).session]) == WithoutSession(offers=(dropped,))
    assert mine.without_session([]) == WithoutSession(offers=(dropped, PLAIN))
    assert not Mine((PLAIN,)).without_session([report(table, mine).session])


def test_an_offer_is_told_as_opened_where_the_auditors_own_papers_say_so() -> None:
    """Entropy was shown for it, or a value of a chain of it was given; a chain that gave nothing says nothing."""
    shown = Mine((PLAIN, CO_SEEDED, PLAIN), opened=frozenset({PLAIN.digest}))
    assert shown.without_session([]) == WithoutSession(opened=(PLAIN,), offers=(CO_SEEDED,))
    given, idle = RevealLog(ANCHOR, {0: "ab" * 32}), RevealLog(ANCHOR, {})
    assert Mine((CO_SEEDED,), (given,)).without_session([]) == WithoutSession(opened=(CO_SEEDED,), logs=(given,))
    assert Mine((CO_SEEDED,), (idle,)).without_session([]) == WithoutSession(offers=(CO_SEEDED,))


def test_values_of_a_chain_without_any_receipt_of_its_session_are_told() -> None:
    table = played(CO_SEEDED)
    session = report(table, NOTHING_KEPT).session
    log = log_of(table)
    other = RevealLog(b"\x01" * 32, {0: "ab" * 32})
    missing = Mine(logs=(log, other)).without_session([session])
    assert missing == WithoutSession(logs=(other,))
    assert missing
    assert [each.anchor for each in missing.message().reveal_logs] == [other.anchor]


def test_an_offer_without_contributions_is_worth_nothing() -> None:
    offer = offer_of()
    found = report(played(offer), Mine((offer,)))
    assert (found.verified, found.level.name) == (True, "L0")
    assert "The offer holds no contribution, so many tables could be tried before it was shown." in found.level.rests_on


def test_a_beacon_that_cannot_be_judged_keeps_the_level_down(monkeypatch: pytest.MonkeyPatch) -> None:
    table = OfferedTable(roller(), offer=WITH_ROUND)
    table.session.contributions[1].beacon_round.ClearField("signature")
    table.roll()
    found = report(table, Mine((WITH_ROUND,)))
    assert (found.verified, found.level.name) == (True, "L0")
    assert any("round 1000 of a beacon was not checked" in sentence for sentence in found.level.rests_on)


def test_a_round_that_the_beacon_never_published_is_found_by_anyone() -> None:
    table = OfferedTable(roller(), offer=WITH_ROUND)
    table.session.contributions[1].beacon_round.randomness = bytes(32)
    table.roll()
    assert reasons(report(table, NOTHING_KEPT)) == [("BEACON_INVALID", 0)]


def test_a_value_given_for_another_request_or_for_none_is_found() -> None:
    table = played(CO_SEEDED)
    log = log_of(table)
    bent = RevealLog(ANCHOR, {**log.requests, 1: "ab" * 32})
    assert reasons(report(table, Mine((CO_SEEDED,), (bent,)))) == [("REVEAL_DIFFERS", 1)]
    short = RevealLog(ANCHOR, {seq: digest for seq, digest in log.requests.items() if seq != 2})
    found = report(table, Mine((CO_SEEDED,), (short,)))
    assert reasons(found) == [("REVEAL_NOT_GIVEN", 2)]
    assert not found.verified


# As a call


def ask(service: Roller, table: Table, **kept: Sequence[object]) -> service_pb2.VerifySessionResponse:
    messages = [bundle_message(replace(bundle(each), key_list=None)) for each in table.receipts]
    mine = service_pb2.Mine(**kept)  # type: ignore[arg-type]
    return service.verify_session(service_pb2.VerifySessionRequest(bundles=messages, mine=mine))


def log_message(table: OfferedTable) -> session_pb2.RevealLog:
    log = session_pb2.RevealLog(anchor=ANCHOR)
    for seq, digest in log_of(table).requests.items():
        log.reveals.add(seq=seq, request_digest=digest)
    return log


def ask_of_one(table: Table, place: int, mine: service_pb2.Mine | None) -> service_pb2.VerifyReceiptResponse:
    shown = bundle_message(replace(bundle(table.receipts[place]), key_list=None))
    return table.service.verify_receipt(service_pb2.VerifyReceiptRequest(bundle=shown, mine=mine))


def test_the_call_grants_levels_against_the_offers_and_logs_of_the_caller() -> None:
    table = played(CO_SEEDED)
    log = log_message(table)
    assert ask(table.service, table).sessions[0].level == "L0"
    assert ask(table.service, table, offers=[CO_SEEDED.message()]).sessions[0].level == "L1"
    answer = ask(table.service, table, offers=[CO_SEEDED.message()], reveal_logs=[log])
    assert (answer.verified, answer.sessions[0].level) == (True, "L3")
    dropped = offer_of(*PLAIN.contributions, table="dropped").message()
    told = ask(table.service, table, offers=[CO_SEEDED.message(), dropped])
    assert not told.verified
    assert told.without_session == service_pb2.WithoutSession(offers=[dropped])
    opened = ask(table.service, table, offers=[CO_SEEDED.message()], opened_offers=[dropped])
    assert (opened.verified, opened.sessions[0].level) == (False, "L1")
    assert opened.without_session == service_pb2.WithoutSession(opened_offers=[dropped])
    assert not answer.HasField("without_session")


def test_the_call_for_one_receipt_judges_it_against_what_the_caller_kept() -> None:
    table = played(CO_SEEDED, rolls=1)
    mine = service_pb2.Mine(offers=[CO_SEEDED.message()], reveal_logs=[log_message(table)])
    alone = ask_of_one(table, 0, None)
    assert (alone.verified, alone.level, alone.HasField("session")) == (True, "L0", False)
    found = ask_of_one(table, 0, mine)
    assert (found.verified, found.level, found.session.level) == (True, "L3", "L3")
    assert found.rests_on == found.session.rests_on
    assert found.rests_on[0].startswith("L3 co-seeded")
    mine.reveal_logs[0].reveals[0].request_digest = "ab" * 32
    bent = ask_of_one(table, 0, mine)
    assert (bent.verified, bent.level) == (False, "")
    assert [each.reason for each in bent.session.findings] == ["REVEAL_DIFFERS"]
    assert {step.result for step in bent.steps} == {service_pb2.STEP_RESULT_HELD}


def test_the_call_for_one_receipt_tells_what_has_no_session() -> None:
    table = played(rolls=2)
    dropped = offer_of(*PLAIN.contributions, table="dropped").message()
    found = ask_of_one(table, 0, service_pb2.Mine(offers=[PLAIN.message(), dropped]))
    assert (found.verified, found.level, found.session.level) == (False, "", "L1")
    assert found.without_session == service_pb2.WithoutSession(offers=[dropped])
    # It is all that is shown of its session, and above seq 0 that is not enough.
    later = ask_of_one(table, 1, service_pb2.Mine(offers=[PLAIN.message()]))
    assert not later.verified
    assert [each.reason for each in later.session.findings] == ["SEQ_MISSING"]


def test_the_call_for_a_receipt_that_is_refused_has_no_session_and_no_level() -> None:
    table = played(rolls=1)
    table.receipts[0].envelope.payload += b"\0"
    found = ask_of_one(table, 0, service_pb2.Mine(offers=[PLAIN.message()]))
    assert (found.verified, found.level, found.HasField("session"), len(found.rests_on)) == (False, "", False, 0)
    assert found.steps[-1].result == service_pb2.STEP_RESULT_FAILED
    assert found.without_session == service_pb2.WithoutSession(offers=[PLAIN.message()])


def test_the_call_refuses_what_is_no_offer_or_log_and_too_many() -> None:
    table = played(rolls=1)
    good = PLAIN.message()
    bad = session_pb2.Offer()
    bad.CopyFrom(good)
    bad.vrf_key_id = ""
    twice = session_pb2.RevealLog(anchor=ANCHOR, reveals=[session_pb2.Reveal(seq=1), session_pb2.Reveal(seq=1)])
    for kept, field_name in (
        ({"offers": [good, bad]}, "mine.offers[1].vrf_key_id"),
        ({"reveal_logs": [twice]}, "mine.reveal_logs[0].reveals[1].seq"),
        ({"reveal_logs": [session_pb2.RevealLog()]}, "mine.reveal_logs[0].anchor"),
        ({"offers": [good] * 101}, "mine.offers"),
    ):
        with pytest.raises(RequestError) as refused:
            ask(table.service, table, **kept)
        assert refused.value.field == field_name
        with pytest.raises(RequestError) as refused_alone:
            ask_of_one(table, 0, service_pb2.Mine(**kept))
        assert refused_alone.value.field == field_name
