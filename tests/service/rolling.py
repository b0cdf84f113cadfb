"""A service's keys without files, a roller with everything pinned, and receipts to tamper with."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

from fairroll.bundle import Bundle
from fairroll.ecvrf import VrfKey
from fairroll.envelope import ROLL_RECORD_TYPE, Envelope, sign_envelope
from fairroll.key_list import Key, KeyList, KeyStatus, KeyUse, sign_key_list
from fairroll.keys import EpochKeys, ServiceKeys
from fairroll.receipt import read_envelope, serialise
from fairroll.roll import Roller
from fairroll.signer import SigningKey
from fairroll.v1 import notation_pb2, roll_pb2, session_pb2

ORIGIN = "rolls.example/v1"
TENANT = "tenant-7"
NOON = datetime(2026, 1, 2, 12, 0, 0, 500_000, tzinfo=UTC)


def seed(name: str) -> bytes:
    """Thirty-two bytes of its own for each name."""
    return sha256(name.encode()).digest()


ROOT = SigningKey(seed("root"))


class CountingVrfKey(VrfKey):
    """A VRF key that counts its proofs: what is refused must not have proved."""

    __slots__ = ("proofs",)

    def __init__(self, secret: bytes) -> None:
        super().__init__(secret)
        self.proofs = 0

    def prove(self, alpha: bytes) -> tuple[bytes, bytes]:
        self.proofs += 1
        return super().prove(alpha)


def epoch_keys(epoch: int = 1) -> EpochKeys:
    vrf, receipt = CountingVrfKey(seed(f"vrf-{epoch}")), SigningKey(seed(f"receipt-{epoch}"))
    vrf_id = Key(KeyUse.VRF, vrf.public_key, epoch).key_id
    receipt_id = Key(KeyUse.RECEIPT, receipt.public_key, epoch).key_id
    return EpochKeys(epoch, vrf, vrf_id, receipt, receipt_id, development=False)


def key_list_of(*epochs: EpochKeys, version: int = 1, origin: str = ORIGIN) -> KeyList:
    keys = (
        key
        for each in epochs
        for key in (
            Key(KeyUse.VRF, each.vrf.public_key, each.epoch),
            Key(KeyUse.RECEIPT, each.receipt.public_key, each.epoch),
        )
    )
    return KeyList(origin, version, tuple(keys))


def service_keys(*epochs: EpochKeys) -> ServiceKeys:
    held = epochs or (epoch_keys(),)
    listed = key_list_of(*held)
    return ServiceKeys(held, listed, sign_key_list(ROOT, listed), ROOT.public_key)


def roller(
    keys: ServiceKeys | None = None, token_bytes: Callable[[int], bytes] = lambda size: b"\x2a" * size
) -> Roller:
    """A roller whose every byte follows from its keys and requests."""
    return Roller(keys or service_keys(), clock=lambda: NOON, token_bytes=token_bytes)


def proofs_of(service: Roller) -> int:
    """How often the service proved."""
    vrf = service.keys.current.vrf
    assert isinstance(vrf, CountingVrfKey)
    return vrf.proofs


def notation(*texts: str) -> list[roll_pb2.Check]:
    """One check each."""
    return [roll_pb2.Check(notation=notation_pb2.NotationCheck(text=text)) for text in texts]


def request(*texts: str, seq: int = 0, table: str = "table-42") -> roll_pb2.RollRequest:
    """A roll of notation in a session; above seq 0 the key and a previous receipt are named."""
    asked = roll_pb2.RollRequest(session=session_pb2.Session(table=table), seq=seq, checks=notation(*texts))
    if seq:
        asked.session.vrf_key_id = epoch_keys().vrf_key_id
        asked.previous = "ab" * 32
    return asked


def bundle_of(response: roll_pb2.RollResponse, keys: ServiceKeys | None = None) -> Bundle:
    """The receipt with the key list of its service."""
    return Bundle(read_envelope(response.envelope), (), (keys or service_keys()).envelope)


def signed(record: roll_pb2.RollRecord | bytes, keys: EpochKeys | None = None) -> Bundle:
    """A bundle whose record is signed by the right key, whatever stands in it: the operator lies."""
    by = keys or epoch_keys()
    payload = record if isinstance(record, bytes) else serialise(record)
    return Bundle(sign_envelope(ROLL_RECORD_TYPE, payload, by.receipt_key_id, by.receipt), (), service_keys().envelope)


def record_of(response: roll_pb2.RollResponse) -> roll_pb2.RollRecord:
    """A copy of the record, to tamper with."""
    record = roll_pb2.RollRecord()
    record.CopyFrom(response.record)
    return record


def listed_with(status: KeyStatus, use: KeyUse, *, version: int = 2, development: bool = False) -> Envelope:
    """The service's next key list, in which the key of that use has another status."""
    listed = service_keys().key_list
    keys = tuple(replace(key, status=status, development=development) if key.use is use else key for key in listed.keys)
    return sign_key_list(ROOT, KeyList(listed.origin, version, keys))


__all__ = [
    "NOON",
    "ORIGIN",
    "ROOT",
    "TENANT",
    "bundle_of",
    "epoch_keys",
    "key_list_of",
    "listed_with",
    "notation",
    "proofs_of",
    "record_of",
    "request",
    "roller",
    "seed",
    "service_keys",
    "signed",
]
