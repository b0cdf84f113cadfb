"""What all see of a session before anybody opens (protocol section 1): how level L1 is earned.

    offer  = { origin, tenant, table, vrf_key_id, what is shown of each contribution, in order }
    shown  = 01 | TH("fairroll/v1/commit", entropy) | 02 | chain_hash | u64 round | 03 | anchor
    digest = TH("fairroll/v1/offer", origin, tenant, table, vrf_key_id, shown_1 .. shown_n)

An offer leaves one session that can follow it, so whoever keeps one can tell. What exists here is valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fairroll import hashing
from fairroll.errors import RequestError
from fairroll.session import (
    MAX_ANCHORS,
    MAX_CONTRIBUTIONS,
    Anchor,
    Contribution,
    DrandRound,
    Participant,
    check_count,
    check_key_id,
    check_length,
    check_name,
    check_round_number,
    refuse_one_off_table,
)
from fairroll.v1 import session_pb2


@dataclass(frozen=True, slots=True)
class Commit:
    """What is shown of a participant's entropy: `hashing.commit` of it, 32 bytes."""

    commit: bytes

    def __post_init__(self) -> None:
        check_length(self.commit, "commit")

    def shown(self) -> bytes:
        """Return `01 | commit[32]`."""
        return b"\x01" + self.commit

    def opened_by(self, contribution: Contribution) -> bool:
        """Whether this is what was shown of a contribution."""
        return isinstance(contribution, Participant) and hashing.commit(contribution.entropy) == self.commit


@dataclass(frozen=True, slots=True)
class OfferedRound:
    """A round of a drand chain, by name; it does not exist yet."""

    chain_hash: bytes
    round: int

    def __post_init__(self) -> None:
        check_length(self.chain_hash, "chain_hash")
        check_round_number(self.round)

    def shown(self) -> bytes:
        """Return `02 | chain_hash[32] | u64 round`."""
        return b"\x02" + self.chain_hash + self.round.to_bytes(8, "big")

    def opened_by(self, contribution: Contribution) -> bool:
        """Whether a contribution is that round; whether its randomness is the beacon's is `beacon.check_round`'s."""
        return isinstance(contribution, DrandRound) and (contribution.chain_hash, contribution.round) == (
            self.chain_hash,
            self.round,
        )


@dataclass(frozen=True, slots=True)
class OfferedAnchor:
    """The start of a co-seed chain, which is shown as it is."""

    anchor: bytes

    def __post_init__(self) -> None:
        check_length(self.anchor, "anchor")

    def shown(self) -> bytes:
        """Return `03 | anchor[32]`."""
        return b"\x03" + self.anchor

    def opened_by(self, contribution: Contribution) -> bool:
        """Whether a contribution is that anchor."""
        return contribution == Anchor(self.anchor)


Offered = Commit | OfferedRound | OfferedAnchor


@dataclass(frozen=True, slots=True)
class Offer:
    """All that is fixed of a session before anybody opens.

    Attributes:
        origin: the service's configured name, 1..200 bytes.
        tenant: public id of the caller's credential, 1..200 bytes.
        table: the caller's name for it, 1..200 bytes.
        vrf_key_id: 43 characters, base64url.
        contributions: what is shown of each, at most 32, at most 4 of them anchors; order is significant.
    """

    origin: str
    tenant: str
    table: str
    vrf_key_id: str
    contributions: tuple[Offered, ...] = ()

    def __post_init__(self) -> None:
        for name in ("origin", "tenant", "table"):
            check_name(getattr(self, name), name)
        check_key_id(self.vrf_key_id)
        refuse_one_off_table(self.table)
        check_count(len(self.contributions), MAX_CONTRIBUTIONS, "contributions")
        anchors = sum(isinstance(part, OfferedAnchor) for part in self.contributions)
        check_count(anchors, MAX_ANCHORS, "anchors")

    @property
    def digest(self) -> str:
        """What people compare to know that they hold the same offer, 64 hex digits."""
        names = (self.origin, self.tenant, self.table, self.vrf_key_id)
        shown = (part.shown() for part in self.contributions)
        return hashing.tagged_hash(hashing.OFFER_TAG, *(name.encode() for name in names), *shown).hex()

    def names_place_of(self, session: session_pb2.Session) -> bool:
        """Whether a session is of the offer's origin, tenant and table, whatever else it holds."""
        place = (session.origin, session.tenant, session.table)
        return place == (self.origin, self.tenant, self.table)

    def difference(self, vrf_key_id: str, contributions: Iterable[Contribution]) -> str:
        """Return what of a session at the offer's place is not what was offered; "" where it is that session."""
        if vrf_key_id != self.vrf_key_id:
            return "its VRF key is another than was offered"
        given = tuple(contributions)
        if len(given) != len(self.contributions):
            return f"it has {len(given)} contributions and {len(self.contributions)} were offered"
        for number, (offered, part) in enumerate(zip(self.contributions, given, strict=True), 1):
            if not offered.opened_by(part):
                return f"contribution {number} is not what was shown of it"
        return ""

    def message(self) -> session_pb2.Offer:
        """Return the offer as the contract's message."""
        return session_pb2.Offer(
            origin=self.origin,
            tenant=self.tenant,
            table=self.table,
            vrf_key_id=self.vrf_key_id,
            contributions=[_offered_message(part) for part in self.contributions],
        )


def read_offer(message: session_pb2.Offer) -> Offer:
    """Return the offer that a message holds whole.

    Raises:
        RequestError: a part is missing or out of its range.
    """
    parts = tuple(_offered(part, index) for index, part in enumerate(message.contributions))
    return Offer(message.origin, message.tenant, message.table, message.vrf_key_id, parts)


def open_offer(
    offer: Offer, entropies: Iterable[bytes], rounds: Mapping[OfferedRound, session_pb2.BeaconRound]
) -> session_pb2.Session:
    """Return the one session that an offer leaves, from what its parties opened, in any order.

    Args:
        offer: what was shown.
        entropies: 32 bytes each.
        rounds: those of the beacons, with randomness and signature.

    Raises:
        RequestError: OPENING_UNKNOWN, an entropy opens no commit; OPENING_MISSING, something is not opened yet.
    """
    opened: dict[bytes, bytes] = {}
    for entropy in entropies:
        commit = hashing.commit(Participant(entropy).entropy)
        if Commit(commit) not in offer.contributions:
            raise RequestError("OPENING_UNKNOWN", "no commit of the offer opens so", value=entropy.hex())
        opened[commit] = entropy
    session = session_pb2.Session(
        origin=offer.origin, tenant=offer.tenant, table=offer.table, vrf_key_id=offer.vrf_key_id
    )
    for number, part in enumerate(offer.contributions, 1):
        match part:
            case Commit(commit) if commit in opened:
                session.contributions.add(entropy=opened[commit])
            case OfferedRound() if part in rounds:
                session.contributions.add(beacon_round=rounds[part])
            case OfferedAnchor(anchor):
                session.contributions.add(anchor=anchor)
            case _:
                raise RequestError("OPENING_MISSING", f"contribution {number} is not opened yet", value=str(number))
    return session


def _offered(message: session_pb2.OfferedContribution, index: int) -> Offered:
    kind = message.WhichOneof("kind")
    try:
        if kind == "commit":
            return Commit(message.commit)
        if kind == "anchor":
            return OfferedAnchor(message.anchor)
        if kind == "beacon_round":
            return OfferedRound(message.beacon_round.chain_hash, message.beacon_round.round)
        raise RequestError("REQUIRED", "what is offered is a commit, a beacon round or an anchor")
    except RequestError as error:
        error.field = f"contributions[{index}]"
        raise


def _offered_message(part: Offered) -> session_pb2.OfferedContribution:
    match part:
        case Commit(commit):
            return session_pb2.OfferedContribution(commit=commit)
        case OfferedRound(chain_hash, number):
            beacon_round = session_pb2.OfferedRound(chain_hash=chain_hash, round=number)
            return session_pb2.OfferedContribution(beacon_round=beacon_round)
        case OfferedAnchor(anchor):
            return session_pb2.OfferedContribution(anchor=anchor)
