"""What receipts are worth to an auditor: assurance levels L0 to L3, and what each rests on (protocol section 7).

A receipt cannot show who made a contribution. So levels above L0 are granted only against what the auditor kept: the
offer that was shown before anybody opened, and the log of a co-seed chain of the auditor's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fairroll.beacon import check_round
from fairroll.errors import RequestError
from fairroll.offer import Offer, OfferedAnchor
from fairroll.receipt import is_digest
from fairroll.replay import PREVIEWED
from fairroll.session import MAX_CHAIN_LENGTH, check_length, check_seq
from fairroll.session_message import read_session
from fairroll.v1 import service_pb2, session_pb2

DICE = "The dice are the only ones that the operator's VRF key can give for this session and seq; nobody chose them."
_CONTRIBUTION = "It rests on a contribution of somebody who helps nobody cheat: yours, or that of someone you believe."
_DROPPED = "Or a session that went badly was dropped and offered anew: you see an opened offer without a session."
L0 = (
    "L0 signed: the operator's key signed this request together with this outcome, and both can be held against it.",
    DICE,
    "Still possible: whoever asked tried many tables, or asked ahead and shaped the request to dice already known.",
)
L1 = (
    "L1 offered: the session is the one that your offer left, and no seq is missing; nobody could try many tables.",
    _CONTRIBUTION,
    DICE,
    "Still possible: whoever asked looked ahead and shaped the request to known dice, or previewed a decision.",
    _DROPPED,
)
L2 = (
    "L2 guarded: as L1, and each seq was used once, in order, and each pending receipt answered once.",
    "That is the operator's word: a second receipt for one seq would contradict it.",
    _CONTRIBUTION,
    DICE,
    "Still possible: operator and caller together looked ahead.",
    _DROPPED,
)
L3 = (
    "L3 co-seeded: as L1, and every request is the one for which a value of your own chain was given.",
    "It rests on your chain: nobody, the operator included, could know the dice before you gave the value.",
    DICE,
    "Still possible: nothing before a value was given; a party that gives none stalls the roll and cannot bend it.",
)
GUARDED = "guarded: each seq used once, each pending receipt answered once"
"""What the operator's guard gives below L2, by the operator's word; a second receipt would contradict it."""
COMPARE = "Compare the head with the other participants': no receipt shows whether the tail was cut off."
SEALED = "A roll is sealed and not opened: its digest stands for it, and no level above L0 is granted until it is."
CLOSED = "Closed: the last receipt is the session's close, so no tail was cut off."


@dataclass(frozen=True, slots=True)
class Facts:
    """What the receipts of one session show, as far as its level depends on it.

    Attributes:
        whole: whether every step of every receipt held and nothing is wrong with the session.
        guarded: whether every record says that there was a guard.
        previewed: whether a decision was answered without one.
        closed: whether the last receipt is the session's close.
        sealed: whether a roll is not opened.
    """

    whole: bool
    guarded: bool
    previewed: bool
    closed: bool
    sealed: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """What a session is worth.

    Attributes:
        name: `L0` to `L3`.
        rests_on: what that rests on and what is still possible, a sentence each.
    """

    name: str
    rests_on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RevealLog:
    """For which requests the owner of a co-seed chain gave its values.

    Attributes:
        anchor: the chain's, 32 bytes.
        requests: by seq, the digest of the request that the value was given for, 64 hex digits.
    """

    anchor: bytes
    requests: Mapping[int, str]

    def message(self) -> session_pb2.RevealLog:
        """Return the log as the contract's message."""
        reveals = [session_pb2.Reveal(seq=seq, request_digest=digest) for seq, digest in sorted(self.requests.items())]
        return session_pb2.RevealLog(anchor=self.anchor, reveals=reveals)


@dataclass(frozen=True, slots=True)
class Sealed:
    """A roll of which the auditor was told the digest.

    Attributes:
        session: as its records will hold it, serialised.
        table: the session's.
        seq: the roll's.
        digest: the receipt's, 64 hex digits.
    """

    session: bytes
    table: str
    seq: int
    digest: str

    def message(self) -> service_pb2.SealRollResponse:
        """Return it as the contract's message."""
        session = session_pb2.Session.FromString(self.session)
        return service_pb2.SealRollResponse(digest=self.digest, session=session, seq=self.seq)


@dataclass(frozen=True, slots=True)
class WithoutSession:
    """What an auditor kept, and of whose session no receipt is shown.

    Attributes:
        opened: offers that were opened, as far as the auditor's papers show.
        offers: others: nothing kept says whether anybody opened them.
        logs: of chains of which values were given.
        sealed: rolls whose digest was told.
    """

    opened: tuple[Offer, ...] = ()
    offers: tuple[Offer, ...] = ()
    logs: tuple[RevealLog, ...] = ()
    sealed: tuple[Sealed, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.opened or self.offers or self.logs or self.sealed)

    def message(self) -> service_pb2.WithoutSession:
        """Return it as the contract's message."""
        return service_pb2.WithoutSession(
            opened_offers=[offer.message() for offer in self.opened],
            offers=[offer.message() for offer in self.offers],
            reveal_logs=[log.message() for log in self.logs],
            sealed=[each.message() for each in self.sealed],
        )


@dataclass(frozen=True)
class Mine:
    """What an auditor kept; nothing by default.

    Attributes:
        offers: that were shown before anybody opened.
        logs: of co-seed chains of the auditor's own, or of somebody who helps neither operator nor caller.
        sealed: the rolls whose digest was told before their receipts; of one place the one that was named first.
        opened: the digests of those offers for which the auditor showed entropy, 64 hex digits each.
    """

    offers: tuple[Offer, ...] = ()
    logs: tuple[RevealLog, ...] = field(default=())
    sealed: tuple[Sealed, ...] = ()
    opened: frozenset[str] = frozenset()

    @cached_property
    def _logs(self) -> Mapping[bytes, RevealLog]:
        return {log.anchor: log for log in self.logs}

    @cached_property
    def _sealed(self) -> Mapping[bytes, Mapping[int, str]]:
        by_session: dict[bytes, dict[int, str]] = {}
        for each in self.sealed:
            by_session.setdefault(each.session, {}).setdefault(each.seq, each.digest)
        return by_session

    def sealed_in(self, session: session_pb2.Session) -> Mapping[int, str]:
        """Return by seq the digests that were told of a session's rolls, 64 hex digits each."""
        return self._sealed.get(_key(session), {}) if self.sealed else {}

    def offer_of(self, session: session_pb2.Session) -> Offer | None:
        """Return the offer that a session opens, if there is one."""
        parts = read_session(session).contributions
        return next(
            (
                offer
                for offer in self.offers
                if offer.names_place_of(session) and not offer.difference(session.vrf_key_id, parts)
            ),
            None,
        )

    def differences(
        self, session: session_pb2.Session, requests: Iterable[tuple[int, str]]
    ) -> Iterator[tuple[str, int, str]]:
        """Yield what a session's receipts contradict of what the auditor kept: reason, seq, a sentence.

        Args:
            session: as the records hold it.
            requests: the seq and the request digest of each receipt, in any order.
        """
        yield from self._offer_differences(session)
        asked = tuple(requests)
        for log in self._logs_of(session):
            yield from _log_differences(log, asked, self.sealed_in(session))

    def concern(self, session: session_pb2.Session) -> bool:
        """Whether anything that was kept is of a session."""
        return bool(self.offer_of(session) or self.sealed_in(session) or self._logs_of(session))

    def without_session(self, sessions: Iterable[session_pb2.Session]) -> WithoutSession:
        """Return what is of none of these sessions: someone may have looked ahead and dropped theirs."""
        shown = tuple(sessions)
        played = {offer.digest for offer in map(self.offer_of, shown) if offer is not None}
        missing = {offer.digest: offer for offer in self.offers if offer.digest not in played}.values()
        revealed = {log.anchor for session in shown for log in self._logs_of(session)}
        keys = set(map(_key, shown))
        return WithoutSession(
            tuple(offer for offer in missing if self._is_opened(offer)),
            tuple(offer for offer in missing if not self._is_opened(offer)),
            tuple(log for log in self.logs if log.requests and log.anchor not in revealed),
            tuple(each for each in self.sealed if each.session not in keys),
        )

    def _is_opened(self, offer: Offer) -> bool:
        anchors = (part.anchor for part in offer.contributions if isinstance(part, OfferedAnchor))
        return offer.digest in self.opened or any(
            anchor in self._logs and self._logs[anchor].requests for anchor in anchors
        )

    def level(self, session: session_pb2.Session, facts: Facts) -> Level:
        """Return what a session is worth, as far as the auditor can tell."""
        tail = (*((SEALED,) if facts.sealed else ()), CLOSED if facts.closed and facts.whole else COMPARE)
        previewed = (PREVIEWED,) if facts.previewed else ()
        guarded = (GUARDED,) if facts.whole and facts.guarded else ()
        offer = self.offer_of(session) if facts.whole and not facts.sealed else None
        if offer is None:
            return Level("L0", (*L0, *guarded, *previewed, *tail))
        if reasons := _why_not_l1(offer, session):
            return Level("L0", (*L0, *reasons, *guarded, *previewed, *tail))
        if self._logs_of(session):
            return Level("L3", (*L3, *tail))
        if facts.guarded:
            return Level("L2", (*L2, *tail))
        return Level("L1", (*L1, *previewed, *tail))

    def _offer_differences(self, session: session_pb2.Session) -> Iterator[tuple[str, int, str]]:
        parts = read_session(session).contributions
        differences = [
            offer.difference(session.vrf_key_id, parts) for offer in self.offers if offer.names_place_of(session)
        ]
        if differences and all(differences):
            yield "OFFER_NOT_OPENED", 0, f"the session is not the one that was offered: {differences[0]}"
        for part in session.contributions:
            try:
                if part.HasField("beacon_round"):
                    check_round(part.beacon_round)
            except RequestError as error:
                yield error.reason, 0, f"round {part.beacon_round.round} of the beacon: {error.message}"

    def _logs_of(self, session: session_pb2.Session) -> list[RevealLog]:
        """Return the logs of the auditor's own chains in a session."""
        anchors = (part.anchor for part in session.contributions if part.HasField("anchor"))
        return [self._logs[anchor] for anchor in anchors if anchor in self._logs]


NOTHING_KEPT = Mine()


def read_reveal_log(message: session_pb2.RevealLog) -> RevealLog:
    """Return the log of a message.

    Raises:
        RequestError: its anchor has another length, or a seq is out of range or stands there twice.
    """
    check_length(message.anchor, "anchor")
    requests: dict[int, str] = {}
    for index, each in enumerate(message.reveals):
        if each.seq >= MAX_CHAIN_LENGTH or each.seq in requests:
            raise RequestError(
                "SEQ_OUT_OF_RANGE",
                f"a log has each seq of 0 to {MAX_CHAIN_LENGTH - 1} once",
                field=f"reveals[{index}].seq",
                maximum=MAX_CHAIN_LENGTH - 1,
                value=str(each.seq),
            )
        requests[each.seq] = each.request_digest
    return RevealLog(message.anchor, requests)


def read_sealed(message: service_pb2.SealRollResponse) -> Sealed:
    """Return the sealed roll of a message.

    Raises:
        RequestError: its session is not whole, or its digest is none.
    """
    read_session(message.session)
    check_seq(message.seq)
    if not is_digest(message.digest):
        raise RequestError(
            "DIGEST_MALFORMED", "a digest is 64 lower-case hex digits", field="digest", value=message.digest
        )
    return Sealed(_key(message.session), message.session.table, message.seq, message.digest)


def _key(session: session_pb2.Session) -> bytes:
    """Return what is the same for two sessions only if they are one."""
    return session.SerializeToString(deterministic=True)


def _log_differences(
    log: RevealLog, requests: Sequence[tuple[int, str]], sealed: Mapping[int, str]
) -> Iterator[tuple[str, int, str]]:
    for seq, digest in requests:
        given = log.requests.get(seq)
        if given is None:
            yield "REVEAL_NOT_GIVEN", seq, f"your chain gave no value for seq {seq}, and the receipt has it"
        elif given != digest:
            yield "REVEAL_DIFFERS", seq, f"your chain's value was given for another request at seq {seq}"
    for seq in sorted(log.requests.keys() - {seq for seq, _ in requests} - sealed.keys()):
        yield "REVEAL_WITHOUT_RECEIPT", seq, f"your chain gave its value for seq {seq}, and there is no receipt of it"


def _why_not_l1(offer: Offer, session: session_pb2.Session) -> tuple[str, ...]:
    """Return why a session that opens its offer is worth no more than L0; nothing where it is."""
    if not offer.contributions:
        return ("The offer holds no contribution, so many tables could be tried before it was shown.",)
    return tuple(
        f"The round {part.beacon_round.round} of a beacon was {unchecked}"
        for part in session.contributions
        if part.HasField("beacon_round")
        for unchecked in [check_round(part.beacon_round)]
        if unchecked
    )
