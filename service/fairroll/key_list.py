"""The operator's signed list of public keys (protocol section 7).

JSON in DSSE, type `application/vnd.fairroll.key-list.v1+json`, signed by the offline
root key that verifiers pin. One spelling only: a payload is accepted if writing what
was read gives the same bytes. A payload, without its line breaks:

    {"origin":"rolls.example/v1","list_version":1,"keys":[
     {"key_id":"2Rjpp2ll..","use":"vrf","alg":"ECVRF-EDWARDS25519-SHA512-TAI",
      "public_key":"VzcPVbBF..=","epoch":1,"status":"active","development":false},..]}

Key ids are base64url without padding, public keys standard base64.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fairroll import hashing, strict_json
from fairroll.envelope import KEY_LIST_TYPE, Envelope, sign_envelope, verify_envelope
from fairroll.errors import RequestError, Step, VerificationError
from fairroll.session import check_name
from fairroll.signer import PUBLIC_KEY_BYTES, SigningKey


class KeyUse(StrEnum):
    """What a key is for; part of its id, so that no key serves twice."""

    VRF = "vrf"
    RECEIPT = "receipt"
    ROOT = "root"


class KeyStatus(StrEnum):
    """How far a key is trusted, in the only order in which that changes."""

    ACTIVE = "active"
    RETIRED = "retired"
    REVOKED = "revoked"

    def follows(self, other: KeyStatus) -> bool:
        """Whether a key of this status is trusted less than one of the other."""
        return _STATUS_ORDER.index(self) > _STATUS_ORDER.index(other)


ALGORITHMS: Mapping[KeyUse, str] = {KeyUse.VRF: "ECVRF-EDWARDS25519-SHA512-TAI", KeyUse.RECEIPT: "Ed25519"}

_STATUS_ORDER = tuple(KeyStatus)
_KEY_FIELDS = ("key_id", "use", "alg", "public_key", "epoch", "status", "development")
_LIST_FIELDS = ("origin", "list_version", "keys")


def key_id(use: KeyUse, public_key: bytes) -> str:
    """Return the id of a public key for one use: base64url, 43 characters."""
    return hashing.key_id(use.value, public_key)


@dataclass(frozen=True, slots=True)
class Key:
    """One public key of the list.

    Attributes:
        use: vrf or receipt; the root key is never in a list that it signs.
        public_key: 32 bytes.
        epoch: 1..2^53-1; the two keys of an epoch serve the same sessions.
        status: active; retired, its receipts stay good; revoked, they are refused.
        development: whether the key is for trying out, and proves nothing.
        key_id: follows from use and public key.
    """

    use: KeyUse
    public_key: bytes
    epoch: int
    status: KeyStatus = KeyStatus.ACTIVE
    development: bool = False
    key_id: str = field(init=False)

    def __post_init__(self) -> None:
        if self.use not in ALGORITHMS:
            raise RequestError("KEY_USE", "a key list holds keys of use vrf and receipt", field="keys.use")
        if len(self.public_key) != PUBLIC_KEY_BYTES:
            raise RequestError("KEY_LENGTH", "a public key has 32 bytes", field="keys.public_key")
        object.__setattr__(self, "key_id", key_id(self.use, self.public_key))

    @property
    def alg(self) -> str:
        """The algorithm's name; there is one for each use."""
        return ALGORITHMS[self.use]

    @property
    def described(self) -> str:
        """The key for people: id, epoch and status."""
        development = ", DEVELOPMENT: proves nothing" if self.development else ""
        return f"{self.key_id} (epoch {self.epoch}, {self.status}{development})"


@dataclass(frozen=True, slots=True)
class KeyList:
    """All keys that an origin ever published, in order of publication.

    Attributes:
        origin: the service's configured name, 1..200 bytes.
        list_version: 1..2^53-1, greater in every later list.
        keys: none twice, not even for another use: from a proof and a signature under
            one seed anybody computes the private key.
    """

    origin: str
    list_version: int
    keys: tuple[Key, ...]

    def __post_init__(self) -> None:
        check_name(self.origin, "origin")
        if len({key.public_key for key in self.keys}) != len(self.keys):
            raise RequestError("DUPLICATE_KEY", "a public key stands twice in the list", field="keys")

    def find(self, wanted_id: str, use: KeyUse) -> Key | None:
        """Return the key of that id and use, whatever its status, or None."""
        for key in self.keys:
            if key.key_id == wanted_id and key.use is use:
                return key
        return None

    @property
    def active_epochs(self) -> tuple[int, ...]:
        """The epochs of which both keys are active, oldest first."""
        active = [(key.epoch, key.use) for key in self.keys if key.status is KeyStatus.ACTIVE]
        return tuple(
            sorted(
                each for each in {epoch for epoch, _ in active} if {(each, use) for use in ALGORITHMS} <= set(active)
            )
        )


def format_key_list(key_list: KeyList) -> bytes:
    """Write the one spelling of a list: the bytes that are signed."""
    return strict_json.to_text(
        {
            "origin": key_list.origin,
            "list_version": key_list.list_version,
            "keys": [
                {
                    "key_id": key.key_id,
                    "use": key.use.value,
                    "alg": key.alg,
                    "public_key": strict_json.to_base64(key.public_key),
                    "epoch": key.epoch,
                    "status": key.status.value,
                    "development": key.development,
                }
                for key in key_list.keys
            ],
        }
    )


def parse_key_list(payload: bytes) -> KeyList:
    """Read a list.

    Raises:
        RequestError: any field is missing, unknown, twice there, of another type or out
            of range, an id or alg does not follow from its key, or the bytes are not
            those that `format_key_list` writes.
    """
    parts = strict_json.members(strict_json.parse(payload), _LIST_FIELDS, "key_list")
    key_list = KeyList(
        strict_json.string(parts["origin"], "origin"),
        strict_json.integer(parts["list_version"], "list_version"),
        tuple(_key_of(item, f"keys[{index}]") for index, item in enumerate(strict_json.items(parts["keys"], "keys"))),
    )
    # Also what finds an id or alg that is not its key's: both are derived, not read.
    if format_key_list(key_list) != payload:
        raise RequestError("KEY_LIST_NOT_CANONICAL", "writing the key list again gives other bytes")
    return key_list


def sign_key_list(root: SigningKey, key_list: KeyList) -> Envelope:
    """Sign the list with the root key."""
    root_id = key_id(KeyUse.ROOT, root.public_key)
    return sign_envelope(KEY_LIST_TYPE, format_key_list(key_list), root_id, root)


def verify_key_list(envelope: Envelope, root_public_key: bytes) -> KeyList:
    """Return the list that the pinned root key signed.

    Args:
        envelope: a signed key list.
        root_public_key: 32 bytes that the verifier knows from elsewhere.

    Raises:
        VerificationError: at step KEY_LIST; another type or signer, or not a valid list.
    """
    root_id = key_id(KeyUse.ROOT, root_public_key)
    verify_envelope(envelope, KEY_LIST_TYPE, {root_id: root_public_key}, Step.KEY_LIST)
    try:
        key_list = parse_key_list(envelope.payload)
    except RequestError as error:
        raise _refused(error.reason, error.message, error.field) from error
    if any(key.public_key == root_public_key for key in key_list.keys):
        raise _refused("ROOT_KEY_LISTED", "the root key also stands in the list", "keys")
    return key_list


def check_successor(older: KeyList, newer: KeyList) -> None:
    """Return if one list may follow another of the same origin and root.

    Raises:
        VerificationError: at step KEY_LIST; the version does not rise, or a key was
            dropped, changed, or is trusted more than before.
    """
    if newer.list_version <= older.list_version:
        raise _refused("KEY_LIST_OLDER", "the key list is not newer than the one seen", "list_version")
    for key in older.keys:
        successor = newer.find(key.key_id, key.use)
        if successor is None:
            raise _refused("KEY_DROPPED", f"the newer key list drops key {key.key_id}", "keys")
        if (successor.epoch, successor.development) != (key.epoch, key.development):
            raise _refused("KEY_CHANGED", f"the newer key list changes key {key.key_id}", "keys")
        if key.status.follows(successor.status):
            raise _refused("KEY_REVIVED", f"the newer key list revives key {key.key_id}", "keys")


def _key_of(value: object, where: str) -> Key:
    parts = strict_json.members(value, _KEY_FIELDS, where)
    return Key(
        use=strict_json.enum(parts["use"], KeyUse, f"{where}.use"),
        public_key=strict_json.base64(parts["public_key"], f"{where}.public_key"),
        epoch=strict_json.integer(parts["epoch"], f"{where}.epoch"),
        status=strict_json.enum(parts["status"], KeyStatus, f"{where}.status"),
        development=strict_json.boolean(parts["development"], f"{where}.development"),
    )


def _refused(reason: str, message: str, where: str) -> VerificationError:
    return VerificationError(Step.KEY_LIST, reason, message, field=where)
