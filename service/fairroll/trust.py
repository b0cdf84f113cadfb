"""The trust file: the newest key list that a verifier saw, whole, per origin and root.

Without it an operator could show an old list again in which a stolen key is not yet
revoked (protocol section 7). JSON, unsigned, the verifier's own:

    {"key_lists":[{"origin":"rolls.example/v1","root_key_id":"J0x..","envelope":{..}}]}

Written as a whole and at once; of two verifiers that write in the same moment the
later wins, and the other list is seen again with its next bundle.
"""

from dataclasses import dataclass
from pathlib import Path

from fairroll import files, strict_json
from fairroll.envelope import Envelope, envelope_json, envelope_of
from fairroll.errors import KeyFileError, RequestError, Step, VerificationError
from fairroll.key_list import KeyList, KeyUse, check_successor, key_id, verify_key_list

_FILE_MODE = 0o600
_ENTRY_FIELDS = ("origin", "root_key_id", "envelope")
_Place = tuple[str, str]  # origin, root key id
_Entries = dict[_Place, Envelope]


@dataclass(frozen=True, slots=True)
class TrustFile:
    """The lists kept in one file; a file that does not exist keeps none.

    Attributes:
        path: where the file is or will be; its directory must exist.
    """

    path: Path

    def judge(self, envelope: Envelope, root_public_key: bytes, *, given: bool) -> KeyList:
        """Return the list to verify with, and keep the one shown if it is newer.

        Args:
            envelope: a signed key list, out of a bundle or given explicitly.
            root_public_key: 32 bytes that the verifier pinned.
            given: whether somebody named this very list. Then an older one is an
                error; in a bundle it is only old, and the kept one is used.

        Raises:
            VerificationError: at step KEY_LIST; the list is not the root's, is older
                than the kept one though given, differs from it in the same version, or
                drops, changes or revives a key.
            KeyFileError: the file cannot be read or written, or is not a trust file.
        """
        shown = verify_key_list(envelope, root_public_key)
        place = (shown.origin, key_id(KeyUse.ROOT, root_public_key))
        entries = self._read()
        kept = self._kept(entries, place, root_public_key)
        if kept is not None:
            if kept.list_version >= shown.list_version:
                return _older_or_same(kept, shown, given=given)
            check_successor(kept, shown)
        self._write({**entries, place: envelope})
        return shown

    def _kept(self, entries: _Entries, place: _Place, root_public_key: bytes) -> KeyList | None:
        if place not in entries:
            return None
        try:
            kept = verify_key_list(entries[place], root_public_key)
        except VerificationError as error:
            raise self._invalid("key_lists.envelope") from error
        if kept.origin != place[0]:
            raise self._invalid("key_lists.origin")
        return kept

    def _read(self) -> _Entries:
        if not self.path.exists():
            return {}
        try:
            parts = strict_json.members(strict_json.parse(files.read(self.path)), ("key_lists",), "trust")
            return dict(_entry_of(item) for item in strict_json.items(parts["key_lists"], "key_lists"))
        except RequestError as error:
            raise self._invalid(error.field) from error

    def _write(self, entries: _Entries) -> None:
        rows = [
            {"origin": origin, "root_key_id": root_id, "envelope": envelope_json(envelope)}
            for (origin, root_id), envelope in entries.items()
        ]
        files.replace(self.path, strict_json.to_text({"key_lists": rows}) + b"\n", _FILE_MODE)

    def _invalid(self, where: str) -> KeyFileError:
        """Refuse: to begin anew over a broken file would forget what was revoked."""
        return KeyFileError("TRUST_FILE_INVALID", f"{self.path.name} is not a trust file", field=where)


def _older_or_same(kept: KeyList, shown: KeyList, *, given: bool) -> KeyList:
    if kept.list_version == shown.list_version:
        if kept != shown:
            raise VerificationError(
                Step.KEY_LIST,
                "KEY_LIST_CONFLICT",
                "two key lists of one version differ: the operator signed both",
                field="list_version",
                value=str(shown.list_version),
            )
        return kept
    if given:
        raise VerificationError(
            Step.KEY_LIST,
            "KEY_LIST_OLDER",
            f"key list {shown.list_version} was given, but list {kept.list_version} has been seen",
            field="list_version",
            value=str(shown.list_version),
        )
    # What follows the shown list must still follow from it.
    check_successor(shown, kept)
    return kept


def _entry_of(value: object) -> tuple[_Place, Envelope]:
    parts = strict_json.members(value, _ENTRY_FIELDS, "key_lists")
    place = (
        strict_json.string(parts["origin"], "key_lists.origin"),
        strict_json.string(parts["root_key_id"], "key_lists.root_key_id"),
    )
    return place, envelope_of(parts["envelope"], "key_lists.envelope")
