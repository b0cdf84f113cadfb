"""Which guard a setting names."""

from __future__ import annotations

from pathlib import Path

from fairroll.errors import SettingsError
from fairroll.guard.claims import Guard
from fairroll.guard.sqlite import SqliteGuard
from fairroll.settings import GuardPlace


def open_guard(place: GuardPlace) -> Guard | None:
    """Return the guard at a place, which is not opened yet; None where there is none.

    Raises:
        SettingsError: GUARD_NOT_INSTALLED, its driver is not there.
    """
    if place.kind == "none":
        return None
    if place.kind == "sqlite":
        return SqliteGuard(Path(place.place))
    try:
        from fairroll.guard.postgresql import PostgresqlGuard  # noqa: PLC0415  the driver is an extra
    except ModuleNotFoundError:
        raise SettingsError("GUARD_NOT_INSTALLED", "install fairroll[postgresql] for a guard in PostgreSQL") from None
    return PostgresqlGuard(place.place)
