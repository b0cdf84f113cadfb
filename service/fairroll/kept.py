"""What a participant keeps of an offer: the entropy that it commits to, and the offer that it was opened for.

    {"entropy":"q83v..=","offer":{..}}

A private file. The entropy is drawn once and opened for one offer alone: opened for a second one, the caller could
have chosen between the two by the dice. The offer is kept before anything is shown, as evidence for the auditor.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from secrets import token_bytes

from fairroll import files, hashing, json_codec, strict_json
from fairroll.beacon import refuse_published
from fairroll.errors import KeyFileError, RequestError
from fairroll.offer import Commit, Offer, OfferedRound, read_offer
from fairroll.v1 import session_pb2


@dataclass(frozen=True, slots=True)
class Kept:
    """A participant's file.

    Attributes:
        entropy: 32 bytes, secret until the offer is opened.
        offer: the one that it was opened for, and that is kept; None until then.
    """

    entropy: bytes
    offer: Offer | None = None

    @property
    def commit(self) -> bytes:
        """What an offer shows of the entropy, 32 bytes."""
        return hashing.commit(self.entropy)


def draw(path: Path) -> Kept:
    """Draw fresh entropy into a private file, which must not exist yet.

    Raises:
        KeyFileError: it exists, or cannot be written.
    """
    kept = Kept(token_bytes(hashing.HASH_BYTES))
    files.create(path, _format(kept))
    return kept


def open_for(path: Path, offer: Offer, now: datetime) -> Kept:
    """Keep an offer beside the entropy that it commits to, so that the entropy may be shown; again for the same offer.

    Args:
        path: what `draw` wrote.
        offer: the whole offer, as it is shown to all.
        now: the time by which a round of a beacon does not exist yet.

    Raises:
        RequestError: OFFER_LACKS_COMMIT, nobody asks for this entropy; OPENED_ALREADY, it was opened for another
            offer; ROUND_PAST, a beacon's round that the offer names exists already. The file is left as it was.
        KeyFileError: the file is no such file, is open to others, or cannot be written.
    """
    with files.alone(path):
        kept = parse_kept(files.read_private(path), path.name)
        if Commit(kept.commit) not in offer.contributions:
            raise RequestError("OFFER_LACKS_COMMIT", "the offer does not show the commit of this entropy")
        if kept.offer is not None and kept.offer.digest != offer.digest:
            raise RequestError(
                "OPENED_ALREADY",
                f"the entropy was opened for offer {kept.offer.digest}; draw fresh entropy for another one",
                value=kept.offer.digest,
            )
        if kept.offer is None:
            refuse_past_rounds(offer, now)
            kept = Kept(kept.entropy, offer)
            files.replace(path, _format(kept), files.PRIVATE_FILE_MODE)
        return kept


def parse_kept(text: bytes, name: str) -> Kept:
    """Read a participant's file.

    Raises:
        KeyFileError: KEPT_FILE_INVALID, it is none.
    """
    try:
        parts = strict_json.members(strict_json.parse(text), ("entropy", "offer"), "kept")
        entropy = strict_json.base64(parts["entropy"], "kept.entropy")
        if len(entropy) != hashing.HASH_BYTES:
            raise RequestError("CONTRIBUTION_LENGTH", "entropy has 32 bytes", field="kept.entropy")
        offer = parts["offer"]
        message = None if offer is None else json_codec.loads(session_pb2.Offer, strict_json.to_text(offer))
        return Kept(entropy, None if message is None else read_offer(message))
    except RequestError as error:
        raise KeyFileError("KEPT_FILE_INVALID", f"{name} is no file of `fairroll offer draw`", field=name) from error


def _format(kept: Kept) -> bytes:
    offer = None if kept.offer is None else json_codec.to_value(kept.offer.message())
    return strict_json.to_text({"entropy": strict_json.to_base64(kept.entropy), "offer": offer}) + b"\n"


def refuse_past_rounds(offer: Offer, now: datetime) -> None:
    """Return if no round of a beacon that an offer names exists yet, as far as its beacon is known.

    Raises:
        RequestError: ROUND_PAST.
    """
    for part in offer.contributions:
        if isinstance(part, OfferedRound):
            refuse_published(part.chain_hash, part.round, now)
