"""What whoever sealed a roll keeps: the request, from which the receipt comes, and the digest that was told.

    {"digest":"855c..","request":{"session":{..},"seq":"3",..}}

A private file: under a guard, who knows the request can open the seal.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairroll import files, json_codec, strict_json
from fairroll.errors import KeyFileError, RequestError
from fairroll.receipt import is_digest
from fairroll.v1 import roll_pb2, service_pb2

_FIELDS = ("digest", "request")


@dataclass(frozen=True, slots=True)
class SealedFile:
    """A sealed roll.

    Attributes:
        digest: what was told, 64 hex digits.
        request: what opens it, with its session as it is used.
    """

    digest: str
    request: roll_pb2.RollRequest

    @property
    def told(self) -> service_pb2.SealRollResponse:
        """What everybody may see of it."""
        return service_pb2.SealRollResponse(digest=self.digest, session=self.request.session, seq=self.request.seq)


def create_sealed(path: Path, sealed: SealedFile) -> None:
    """Write a sealed roll into a private file, which must not exist yet.

    Raises:
        KeyFileError: it exists, or cannot be written.
    """
    parts = (sealed.digest, json_codec.to_value(sealed.request))
    files.create(path, strict_json.to_text(dict(zip(_FIELDS, parts, strict=True))) + b"\n")


def read_sealed(path: Path) -> SealedFile:
    """Read a sealed roll.

    Raises:
        KeyFileError: SEALED_FILE_INVALID, the file is none; or it cannot be read, or is open to others.
    """
    try:
        parts = strict_json.members(strict_json.parse(files.read_private(path)), _FIELDS, "sealed")
        digest = strict_json.string(parts["digest"], "sealed.digest")
        request = json_codec.loads(roll_pb2.RollRequest, strict_json.to_text(parts["request"]))
    except RequestError as error:
        raise no_sealed_file(path) from error
    if not is_digest(digest):
        raise no_sealed_file(path)
    return SealedFile(digest, request)


def find_sealed(path: Path) -> SealedFile | None:
    """Return the sealed roll of a file, or None where the file is of another kind.

    Raises:
        KeyFileError: it is meant as a sealed roll and is none, or is open to others; or it cannot be read.
    """
    try:
        value = strict_json.parse(files.read(path))
    except RequestError:
        return None
    return read_sealed(path) if isinstance(value, dict) and value.keys() == set(_FIELDS) else None


def no_sealed_file(path: Path) -> KeyFileError:
    """Return what is said of a file that is no sealed roll."""
    return KeyFileError("SEALED_FILE_INVALID", f"{path.name} is no file of `fairroll seal`", field=path.name)
