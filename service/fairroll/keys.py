"""The key directory of a service (protocol section 7).

    root.seed         signs key lists; not needed to serve: take it offline
    root.pub          what verifiers pin
    vrf-1.seed        proves the rolls of epoch 1
    receipt-1.seed    signs the receipts of epoch 1
    key-list.json     the signed key list, public

Seeds are independent, 64 hex digits each. A later epoch adds a pair of seeds: new
sessions get its keys, sessions of an earlier epoch keep theirs while those are active.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from re import compile as compile_pattern
from secrets import token_bytes

from fairroll import files
from fairroll.ecvrf import SEED_BYTES, VrfKey
from fairroll.envelope import Envelope, format_envelope, parse_envelope
from fairroll.errors import KeyFileError, RequestError, StateError, VerificationError, WrongUseError
from fairroll.key_list import Key, KeyList, KeyStatus, KeyUse, check_successor, key_id, sign_key_list, verify_key_list
from fairroll.signer import SigningKey

ROOT_SEED_FILE = "root.seed"
ROOT_PUBLIC_FILE = "root.pub"
KEY_LIST_FILE = "key-list.json"

_SEED_FILE = compile_pattern(r"vrf-([1-9][0-9]{0,8})\.seed")
_HEX = compile_pattern(rb"([0-9a-f]{64})\n?")


@dataclass(frozen=True, slots=True)
class EpochKeys:
    """The two keys that serve the sessions of one epoch.

    Attributes:
        epoch: from 1.
        vrf: proves; `vrf_key_id` names it in sessions.
        receipt: signs; `receipt_key_id` names it in records.
        development: whether either key proves nothing.
    """

    epoch: int
    vrf: VrfKey
    vrf_key_id: str
    receipt: SigningKey
    receipt_key_id: str
    development: bool


@dataclass(frozen=True, slots=True)
class ServiceKeys:
    """All that a service needs to prove, sign and publish.

    Attributes:
        epochs: the active pairs, oldest first, at least one.
        key_list: what the envelope says.
        envelope: the signed key list, to be published as it is.
        root_public_key: 32 bytes; verifiers get it by another way than this service.
    """

    epochs: tuple[EpochKeys, ...]
    key_list: KeyList
    envelope: Envelope
    root_public_key: bytes

    @property
    def origin(self) -> str:
        """The service's configured name."""
        return self.key_list.origin

    @property
    def current(self) -> EpochKeys:
        """The keys of new sessions."""
        return self.epochs[-1]

    @property
    def receipt_keys(self) -> dict[str, bytes]:
        """The public keys of its receipts, by their ids."""
        return {keys.receipt_key_id: keys.receipt.public_key for keys in self.epochs}

    @property
    def development(self) -> bool:
        """Whether any key proves nothing: such a service stays on loopback."""
        return any(keys.development for keys in self.epochs)

    def of_session(self, vrf_key_id: str) -> EpochKeys:
        """Return the keys that a session keeps for life.

        Raises:
            StateError: the service does not hold that VRF key, or holds it no longer.
        """
        for keys in self.epochs:
            if keys.vrf_key_id == vrf_key_id:
                return keys
        raise StateError(
            "VRF_KEY_NOT_HELD",
            "this service does not hold the session's VRF key; begin a new session",
            field="session.vrf_key_id",
            value=vrf_key_id,
        )


def init_keys(directory: Path, origin: str, *, development: bool = False) -> KeyList:
    """Make a root key, the keys of epoch 1 and the signed list of the latter.

    Args:
        directory: made with mode 0700 if it does not exist.
        origin: the service's name, 1..200 bytes.
        development: mark the keys as proving nothing.

    Raises:
        RequestError: the origin is empty or too long.
        KeyFileError: a key file exists already, others may enter the directory, or a
            file cannot be written.
    """
    KeyList(origin, 1, ())  # refuses a wrong origin before a file is made
    # The list is written last: without one, whatever else is there was never published.
    cut_short = (
        ""
        if (directory / KEY_LIST_FILE).exists()
        else (
            f"without a {KEY_LIST_FILE} nothing of these was published: after an init that was cut short, remove them"
        )
    )
    files.make_private_directory(directory)
    for name in (
        ROOT_SEED_FILE,
        ROOT_PUBLIC_FILE,
        KEY_LIST_FILE,
        _seed_name(KeyUse.VRF, 1),
        _seed_name(KeyUse.RECEIPT, 1),
    ):
        if (directory / name).exists():
            raise KeyFileError("FILE_EXISTS", f"{name} exists and is left as it is", field=name, hint=cut_short)
    root_seed = token_bytes(SEED_BYTES)
    root = SigningKey(root_seed)
    files.create(directory / ROOT_SEED_FILE, _hex_line(root_seed))
    files.create(directory / ROOT_PUBLIC_FILE, _hex_line(root.public_key), files.PUBLIC_FILE_MODE)
    key_list = KeyList(origin, 1, _make_epoch(directory, 1, development=development))
    _publish(directory, root, key_list)
    return key_list


def rotate_keys(directory: Path, root_seed_file: Path) -> KeyList:
    """Add the keys of the next epoch and sign the list that holds them as well.

    Older epochs stay active; retire them when their sessions are over. Seeds of that epoch that are there already were
    left by a rotation that was cut short before its list: they are used, and nothing is drawn in their place.

    Raises:
        KeyFileError: a file is missing, exposed or wrong, or cannot be written.
    """
    with files.alone(directory / KEY_LIST_FILE):
        root, older = _open_list(directory, root_seed_file)
        epoch = max(key.epoch for key in older.keys) + 1
        development = any(key.development for key in older.keys)
        added = _make_epoch(directory, epoch, development=development)
        newer = KeyList(older.origin, older.list_version + 1, (*older.keys, *added))
        _publish(directory, root, newer)
        return newer


def set_key_status(directory: Path, root_seed_file: Path, which: str, status: KeyStatus) -> KeyList:
    """Sign a list in which keys are retired or revoked; nothing is signed where they are so already.

    The service refuses to start while the seed of such a key is in its directory.

    Args:
        directory: where the key list is.
        root_seed_file: signs the new one.
        which: the number of an epoch, for both its keys as far as they were not revoked before; or a key id.
        status: retired or revoked.

    Raises:
        RequestError: UNKNOWN_KEY, the list has no such key.
        WrongUseError: ROTATE_FIRST, it is the epoch that new sessions use, and they would go back to an older one, or
            have none; a leak does not wait for that, so it holds back only who retires.
        VerificationError: the key would be trusted more than before.
        KeyFileError: a file is missing, exposed or wrong, or cannot be written.
    """
    with files.alone(directory / KEY_LIST_FILE):
        return _set_key_status(directory, root_seed_file, which, status)


def _set_key_status(directory: Path, root_seed_file: Path, which: str, status: KeyStatus) -> KeyList:
    root, older = _open_list(directory, root_seed_file)
    chosen = [key for key in older.keys if which in (key.key_id, str(key.epoch))]
    if not chosen:
        raise RequestError("UNKNOWN_KEY", "no key of the list has this id or epoch", field="which", value=which)
    changed = {key.key_id for key in chosen if which == key.key_id or status.follows(key.status)}
    keys = tuple(replace(key, status=status) if key.key_id in changed else key for key in older.keys)
    if keys == older.keys:
        return older
    newer = KeyList(older.origin, older.list_version + 1, keys)
    check_successor(older, newer)
    newest = older.active_epochs[-1:]
    if status is KeyStatus.RETIRED and newest != newer.active_epochs[-1:]:
        raise WrongUseError(
            "ROTATE_FIRST", f"new sessions use epoch {newest[0]}: rotate first", field="which", value=which
        )
    _publish(directory, root, newer)
    return newer


def read_key_list(directory: Path) -> tuple[KeyList, bytes]:
    """Return the list of a key directory, whatever seeds are there, and the root public key that signed it.

    Raises:
        KeyFileError: a file is missing or wrong, or a seed is open to others.
    """
    for path in directory.glob("*.seed"):
        files.require_private_where_present(path)
    root_public_key = _read_hex(directory / ROOT_PUBLIC_FILE, private=False)
    return _read_list(directory, root_public_key)[1], root_public_key


def seeds_held(directory: Path, epoch: int) -> list[str]:
    """Return the names of the seed files of an epoch that are in a directory."""
    names = (_seed_name(use, epoch) for use in (KeyUse.VRF, KeyUse.RECEIPT))
    return [name for name in names if (directory / name).exists()]


def load_keys(directory: Path) -> ServiceKeys:
    """Read what serving needs; the root seed is not read and need not be there, but where it is, it must be private.

    Raises:
        KeyFileError: a file is missing, malformed or open to others, the list is not
            the root's, or a seed's key is not in it, of another use or epoch, or not
            active.
    """
    files.require_private_where_present(directory / ROOT_SEED_FILE)
    root_public_key = _read_hex(directory / ROOT_PUBLIC_FILE, private=False)
    envelope, key_list = _read_list(directory, root_public_key)
    found = (_SEED_FILE.fullmatch(path.name) for path in directory.glob("vrf-*.seed"))
    numbers = sorted(int(match[1]) for match in found if match)
    if not numbers:
        raise KeyFileError("KEY_MISSING", "the key directory holds no VRF seed")
    epochs = tuple(_load_epoch(directory, epoch, key_list) for epoch in numbers)
    return ServiceKeys(epochs, key_list, envelope, root_public_key)


def _load_epoch(directory: Path, epoch: int, key_list: KeyList) -> EpochKeys:
    vrf = VrfKey(_read_hex(directory / _seed_name(KeyUse.VRF, epoch)))
    receipt = SigningKey(_read_hex(directory / _seed_name(KeyUse.RECEIPT, epoch)))
    vrf_entry = _listed(key_list, KeyUse.VRF, vrf.public_key, epoch)
    receipt_entry = _listed(key_list, KeyUse.RECEIPT, receipt.public_key, epoch)
    development = vrf_entry.development or receipt_entry.development
    return EpochKeys(epoch, vrf, vrf_entry.key_id, receipt, receipt_entry.key_id, development)


def _listed(key_list: KeyList, use: KeyUse, public_key: bytes, epoch: int) -> Key:
    name = _seed_name(use, epoch)
    key = key_list.find(key_id(use, public_key), use)
    if key is None or key.epoch != epoch:
        raise KeyFileError("KEY_NOT_LISTED", f"the key of {name} is not in the key list for that use", field=name)
    if key.status is not KeyStatus.ACTIVE:
        raise KeyFileError("KEY_NOT_ACTIVE", f"the key of {name} is {key.status}; remove it", field=name)
    return key


def _make_epoch(directory: Path, epoch: int, *, development: bool) -> tuple[Key, Key]:
    vrf_seed = _make_seed(directory / _seed_name(KeyUse.VRF, epoch))
    receipt_seed = _make_seed(directory / _seed_name(KeyUse.RECEIPT, epoch))
    return (
        Key(KeyUse.VRF, VrfKey(vrf_seed).public_key, epoch, development=development),
        Key(KeyUse.RECEIPT, SigningKey(receipt_seed).public_key, epoch, development=development),
    )


def _make_seed(path: Path) -> bytes:
    """Draw a seed into its file; where there is one, return it: it may have been published from elsewhere."""
    if path.exists():
        return _read_hex(path)
    seed = token_bytes(SEED_BYTES)
    files.create(path, _hex_line(seed))
    return seed


def _open_list(directory: Path, root_seed_file: Path) -> tuple[SigningKey, KeyList]:
    root = SigningKey(_read_hex(root_seed_file))
    return root, _read_list(directory, root.public_key)[1]


def _read_list(directory: Path, root_public_key: bytes) -> tuple[Envelope, KeyList]:
    try:
        envelope = parse_envelope(files.read(directory / KEY_LIST_FILE).rstrip(b"\n"))
        return envelope, verify_key_list(envelope, root_public_key)
    except (RequestError, VerificationError) as error:
        raise KeyFileError(
            "KEY_LIST_INVALID", f"{KEY_LIST_FILE} is not a list of this root: {error.message}", field=KEY_LIST_FILE
        ) from error


def _publish(directory: Path, root: SigningKey, key_list: KeyList) -> None:
    text = format_envelope(sign_key_list(root, key_list)) + b"\n"
    files.replace(directory / KEY_LIST_FILE, text, files.PUBLIC_FILE_MODE)


def _read_hex(path: Path, *, private: bool = True) -> bytes:
    content = files.read_private(path) if private else files.read(path)
    match = _HEX.fullmatch(content)
    if match is None:
        raise KeyFileError("KEY_FILE_MALFORMED", f"{path.name} does not hold 64 hex digits", field=path.name)
    return bytes.fromhex(match[1].decode())


def _hex_line(value: bytes) -> bytes:
    return value.hex().encode() + b"\n"


def _seed_name(use: KeyUse, epoch: int) -> str:
    return f"{use}-{epoch}.seed"
