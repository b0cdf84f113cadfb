"""Files that keep a secret or must never be half written."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EISDIR
from pathlib import Path
from tempfile import mkstemp

from fairroll.errors import KeyFileError

PRIVATE_FILE_MODE = 0o600
PRIVATE_DIRECTORY_MODE = 0o700
PUBLIC_FILE_MODE = 0o644
MAX_FILE_BYTES = 4 * 2**20


def create(path: Path, content: bytes, mode: int = PRIVATE_FILE_MODE) -> None:
    """Write a file that does not exist yet, with its mode from the first moment on.

    Raises:
        KeyFileError: it exists, or cannot be written.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            os.fsync(file.fileno())
    except FileExistsError as error:
        raise _exists(path) from error
    except OSError as error:
        raise _failed("FILE_NOT_WRITTEN", path, error) from error


def replace(path: Path, content: bytes, mode: int) -> None:
    """Write a file so that a reader sees the old content or the new, never a part.

    Raises:
        KeyFileError: it cannot be written.
    """
    try:
        descriptor, temporary = mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                os.fsync(file.fileno())
            Path(temporary).chmod(mode)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink()
            raise
    except OSError as error:
        raise _failed("FILE_NOT_WRITTEN", path, error) from error


def write(path: Path, content: bytes, mode: int) -> None:
    """Write a file that somebody named: as `replace` does where it is none yet or a plain one, also behind a link.

    A pipe, a terminal or a device is written to; it is not replaced.

    Raises:
        KeyFileError: it cannot be written.
    """
    try:
        if not path.exists() or path.is_file():
            replace(path.resolve(), content, mode)
            return
        with path.open("wb") as file:
            file.write(content)
    except OSError as error:
        raise _failed("FILE_NOT_WRITTEN", path, error) from error


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold a file, while it is read and replaced, against every other process that does the same.

    Its directory is what is locked, since the file itself is another one after it was replaced. Windows has no such
    lock; there, two processes at one moment are the owner's own to avoid.

    Raises:
        KeyFileError: FILE_NOT_READ, there is no such directory.
    """
    if sys.platform == "win32":
        yield
        return
    from fcntl import LOCK_EX, flock  # noqa: PLC0415  Windows has no such module

    try:
        descriptor = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        raise _failed("FILE_NOT_READ", path, error) from error
    try:
        flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def read(path: Path) -> bytes:
    """Read a public file of at most 4 MiB.

    Raises:
        KeyFileError: it cannot be read or is larger.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _failed("FILE_NOT_READ", path, error) from error
    if len(content) > MAX_FILE_BYTES:
        raise KeyFileError("FILE_TOO_LARGE", f"{path.name} has more than 4 MiB", field=path.name)
    return content


def read_private(path: Path) -> bytes:
    """Read a secret file, unless others could have read it too.

    Allowed is the owner alone. Where another user, such as root, owns the file and lends
    it, its group may read: so Kubernetes mounts a secret for a user who is not root.
    (PostgreSQL has the same rule for its server key.)

    Raises:
        KeyFileError: it cannot be read, or others can read or write it.
    """
    try:
        with path.open("rb") as file:
            # Asked of the open file, so that what is judged is what is read.
            _refuse_exposed(path, os.fstat(file.fileno()))
            return file.read(MAX_FILE_BYTES)
    except OSError as error:
        raise _failed("FILE_NOT_READ", path, error) from error


def require_private_where_present(path: Path) -> None:
    """Refuse a secret file that others can read or write, without reading it; one that is absent is well kept.

    Raises:
        KeyFileError: KEY_FILE_EXPOSED, by the rule of `read_private`.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise _failed("FILE_NOT_READ", path, error) from error
    _refuse_exposed(path, status)


def require_writable(path: Path) -> None:
    """Refuse a place where no file can be written, before there is something to lose; nothing is left there.

    Raises:
        KeyFileError: FILE_NOT_WRITTEN.
    """
    try:
        descriptor, temporary = mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(descriptor)
        Path(temporary).unlink()
        if path.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    except OSError as error:
        raise _failed("FILE_NOT_WRITTEN", path, error) from error


def require_absent(path: Path) -> None:
    """Refuse a file that exists, before there is something to lose that would be written there.

    Raises:
        KeyFileError: FILE_EXISTS.
    """
    if path.exists():
        raise _exists(path)


def _refuse_exposed(path: Path, status: os.stat_result) -> None:
    own = status.st_uid == os.geteuid()
    forbidden = 0o077 if own else 0o037
    if stat.S_IMODE(status.st_mode) & forbidden:
        raise KeyFileError(
            "KEY_FILE_EXPOSED",
            f"{path.name} is open to others; make it readable by its owner alone",
            field=path.name,
            value=f"{stat.S_IMODE(status.st_mode):04o}",
        )


def make_private_directory(path: Path) -> None:
    """Make a directory that only its owner enters; one that exists must be such.

    Raises:
        KeyFileError: it cannot be made, or others may enter it.
    """
    try:
        path.mkdir(mode=PRIVATE_DIRECTORY_MODE, parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        raise _failed("DIRECTORY_NOT_MADE", path, error) from error
    if mode & 0o077:
        raise KeyFileError("DIRECTORY_EXPOSED", f"{path.name} is open to others", field=path.name, value=f"{mode:04o}")


def _exists(path: Path) -> KeyFileError:
    return KeyFileError("FILE_EXISTS", f"{path.name} exists and is left as it is", field=path.name)


def _failed(reason: str, path: Path, error: OSError) -> KeyFileError:
    """Name the file and the cause; the whole path is the operator's own business."""
    name = path.name or str(path)  # such as "."
    return KeyFileError(reason, f"{name}: {error.strerror}", field=name)
