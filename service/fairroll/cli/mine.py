"""What an auditor kept, as files: `--mine` of every command that verifies."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from fairroll import files, json_codec, sealed_file, strict_json
from fairroll.cli.output import read_file
from fairroll.co_seed import read_chain
from fairroll.errors import KeyFileError, RequestError
from fairroll.kept import parse_kept
from fairroll.levels import Mine, RevealLog, Sealed, read_reveal_log, read_sealed
from fairroll.offer import Offer, read_offer
from fairroll.v1 import service_pb2, session_pb2


def add_mine(parser: argparse.ArgumentParser) -> None:
    """Declare --mine."""
    parser.add_argument(
        "--mine",
        action="append",
        default=[],
        metavar="FILE",
        help="what you kept: an offer, your file of `fairroll offer draw`, your chain or its log, a sealed roll "
        "that you were told or sealed; levels above L0 are granted against it alone; may be repeated",
    )


def read_mine(names: Sequence[str]) -> Mine:
    """Read what was named by --mine.

    Raises:
        KeyFileError: a file cannot be read, is open to others though it holds a secret, or is nothing that one keeps.
    """
    offers: list[Offer] = []
    logs: list[RevealLog] = []
    sealed: list[Sealed] = []
    opened: list[Offer] = []
    for name in names:
        try:
            _read(name, offers, opened, logs, sealed)
        except RequestError as error:
            raise KeyFileError("KEPT_FILE_INVALID", f"{name} is nothing that one keeps", field=name) from error
    # Whoever shows entropy keeps the offer beside it first: so that file says that the offer was opened.
    return Mine((*offers, *opened), tuple(logs), tuple(sealed), frozenset(offer.digest for offer in opened))


def _read(name: str, offers: list[Offer], opened: list[Offer], logs: list[RevealLog], sealed: list[Sealed]) -> None:
    text = read_file(name)
    value = strict_json.parse(text)
    if isinstance(value, dict) and "entropy" in value:
        kept = parse_kept(files.read_private(Path(name)), name)
        if kept.offer is None:
            raise KeyFileError("KEPT_FILE_INVALID", f"{name} was opened for no offer yet", field=name)
        opened.append(kept.offer)
    elif isinstance(value, dict) and "last" in value:
        logs.append(read_chain(Path(name)).log)
    elif isinstance(value, dict) and "request" in value:
        sealed.append(read_sealed(sealed_file.read_sealed(Path(name)).told))
    elif isinstance(value, dict) and "digest" in value:
        sealed.append(read_sealed(json_codec.loads(service_pb2.SealRollResponse, text)))
    elif isinstance(value, dict) and "reveals" in value:
        logs.append(read_reveal_log(json_codec.loads(session_pb2.RevealLog, text)))
    else:
        offers.append(read_offer(json_codec.loads(session_pb2.Offer, text)))
