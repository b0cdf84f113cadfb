"""Who calls: a file of API keys, hashed, each naming its tenant; without one, everybody is the tenant `local`.

    {"keys":[{"key_id":"b1946ac9","tenant":"acme","hash":"5891b5b5.."}]}

A key is `frk_` and 43 characters of base64url, so 256 random bits: a plain SHA-256 hides it as well as any slow hash
would, and costs a call a microsecond. The file holds no key, but it decides who is who: only its owner may write it.
"""

from __future__ import annotations

import hmac
import logging
import os
import secrets
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from re import compile as compile_pattern

from fairroll import files, strict_json
from fairroll.errors import CallerError, FairrollError, KeyFileError, RequestError

LOCAL_TENANT = "local"
"""Whose rolls those of anonymous callers are; on loopback only."""

KEY_PREFIX = "frk_"
SECRET_BYTES = 32
RELOAD_SECONDS = 1.0
"""How long a changed file may go unnoticed."""
FILE_MODE = 0o600

MAX_TENANT_CHARACTERS = 64
_TENANT = compile_pattern(r"[A-Za-z0-9._-]{1,64}")
_KEY_ID = compile_pattern(r"[0-9a-f]{8}")
_HASH = compile_pattern(r"[0-9a-f]{64}")
_LOG = logging.getLogger("fairroll.callers")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One API key as it is kept.

    Attributes:
        key_id: 8 hex digits, for people who list and revoke; the first of the hash.
        tenant: whose rolls those of its callers are, 1..64 of a-z, A-Z, 0-9, `.`, `_` and `-`, and not `local`; public
            and permanent, part of every session id.
        hash: SHA-256 of the key, 64 hex digits.
    """

    key_id: str
    tenant: str
    hash: str

    def __post_init__(self) -> None:
        _check_tenant(self.tenant)
        if not _KEY_ID.fullmatch(self.key_id) or not _HASH.fullmatch(self.hash):
            raise KeyFileError("API_KEY_FILE_INVALID", "an API key has an id of 8 and a hash of 64 hex digits")


class Callers:
    """The API keys of a file, read again when it changes; a broken new file leaves the last good one in force."""

    def __init__(self, path: Path | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Read the file; None means that there is none.

        Raises:
            KeyFileError: it cannot be read, others may write it, or it is not a file of API keys.
        """
        self._path = path
        self._clock = clock
        self._keys: tuple[tuple[bytes, str], ...] = ()
        self._seen: object = None
        self._next_look = 0.0
        if path is not None:
            self._read(path)
            self._next_look = clock() + RELOAD_SECONDS

    @property
    def anonymous(self) -> bool:
        """Whether callers need no key."""
        return self._path is None

    def tenant_of(self, key: str | None) -> str:
        """Return the tenant of who shows this key.

        Raises:
            CallerError: API_KEY_MISSING or API_KEY_UNKNOWN, where there is a file of keys.
        """
        if self._path is None:
            return LOCAL_TENANT
        if self._clock() >= self._next_look:
            self._look(self._path)
        if not key:
            raise CallerError("API_KEY_MISSING", "send an API key as x-api-key")
        shown = sha256(key.encode("utf-8", "replace")).hexdigest().encode()
        tenant = None
        # Every hash is compared, each in constant time, so that the time tells nothing of what is in the file.
        for known, whose in self._keys:
            if hmac.compare_digest(known, shown):
                tenant = whose
        if tenant is None:
            raise CallerError("API_KEY_UNKNOWN", "no such API key, or it was revoked")
        return tenant

    def _look(self, path: Path) -> None:
        self._next_look = self._clock() + RELOAD_SECONDS
        try:
            if _stamp(path) != self._seen:
                self._read(path)
                _LOG.info("API keys read again")
        except FairrollError as error:
            _LOG.error("the file of API keys is broken; the keys read before stay in force: %s", error.message)

    def _read(self, path: Path) -> None:
        self._seen = _stamp(path)
        self._keys = tuple((key.hash.encode(), key.tenant) for key in read_api_keys(path))


def add_api_key(path: Path, tenant: str) -> str:
    """Add a key for a tenant to the file, which is made if it is missing, and return the key: it is shown only now.

    Raises:
        KeyFileError: the file cannot be read or written.
        RequestError: TENANT_INVALID, nobody can be called so.
    """
    key = KEY_PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    digest = sha256(key.encode()).hexdigest()
    with files.alone(path):
        known = read_api_keys(path) if path.exists() else ()
        _write(path, (*known, ApiKey(digest[:8], tenant, digest)))
    return key


def revoke_api_key(path: Path, key_id: str) -> None:
    """Take a key out of the file.

    Raises:
        KeyFileError: the file cannot be read or written, or API_KEY_ID_UNKNOWN.
    """
    with files.alone(path):
        known = read_api_keys(path)
        left = tuple(key for key in known if key.key_id != key_id)
        if len(left) == len(known):
            raise KeyFileError("API_KEY_ID_UNKNOWN", "the file has no key of this id", value=key_id)
        _write(path, left)


def read_api_keys(path: Path) -> tuple[ApiKey, ...]:
    """Read the file.

    Raises:
        KeyFileError: it cannot be read, others may write it, or it is not a file of API keys.
    """
    _refuse_writable(path)
    try:
        document = strict_json.members(strict_json.parse(files.read(path)), ("keys",), "file")
        return tuple(_api_key(row) for row in strict_json.items(document["keys"], "keys"))
    except KeyFileError:
        raise
    except FairrollError as error:
        raise KeyFileError("API_KEY_FILE_INVALID", f"{path.name}: {error.message}", field=path.name) from None


def _check_tenant(tenant: str) -> None:
    """Refuse a name that people could take for another one, or that stands for anonymous callers."""
    if tenant == LOCAL_TENANT or not _TENANT.fullmatch(tenant):
        raise RequestError(
            "TENANT_INVALID",
            f"a tenant is 1 to {MAX_TENANT_CHARACTERS} of the characters a-z, A-Z, 0-9, . _ and -, "
            f"and is not {LOCAL_TENANT}, which is that of anonymous callers",
            field="tenant",
            minimum=1,
            maximum=MAX_TENANT_CHARACTERS,
            value=tenant,
        )


def _api_key(row: object) -> ApiKey:
    fields = strict_json.members(row, ("key_id", "tenant", "hash"), "key")
    return ApiKey(*(strict_json.string(fields[name], name) for name in ("key_id", "tenant", "hash")))


def _write(path: Path, keys: Sequence[ApiKey]) -> None:
    rows = [{"key_id": key.key_id, "tenant": key.tenant, "hash": key.hash} for key in keys]
    files.replace(path, strict_json.to_text({"keys": rows}) + b"\n", FILE_MODE)


def _refuse_writable(path: Path) -> None:
    """Whoever can write the file can be any tenant, so only its owner may."""
    mode = _status(path).st_mode
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise KeyFileError(
            "API_KEY_FILE_EXPOSED",
            f"{path.name} can be written by others",
            field=path.name,
            value=f"{mode & 0o777:04o}",
        )


def _stamp(path: Path) -> tuple[int, int, int]:
    status = _status(path)
    return status.st_ino, status.st_mtime_ns, status.st_size


def _status(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise KeyFileError("FILE_NOT_READ", f"{path.name}: {error.strerror}", field=path.name) from None
