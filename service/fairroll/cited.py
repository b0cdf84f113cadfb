"""Receipts that cite each other: whether what a check takes from another receipt is what that receipt says.

A citation alone proves nothing: the digest may be made up. What is taken from a receipt is proved where that receipt is
shown, and is refuted only where all are shown that the check cites, since another one might bear it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from fairroll.bundle import MAX_CHAIN, MAX_CHAIN_BYTES
from fairroll.checks import require_limit
from fairroll.convert import check_path, join_path, read_outcome
from fairroll.envelope import ROLL_RECORD_TYPE, verify_envelope
from fairroll.errors import RequestError, VerificationError
from fairroll.receipt import parse_record, read_envelope
from fairroll.v1 import roll_pb2
from fairroll.verify import Rolled, Verified
from fairroll_rules.systems import system_of, systems

MAX_CITED, MAX_CITED_BYTES = MAX_CHAIN, MAX_CHAIN_BYTES


class Bearing(Enum):
    """What is known of a cited receipt, for people."""

    NOT_SHOWN = "not among the receipts shown: what is taken from it is NOT PROVED"
    SHOWN = "shown and verified"
    DIFFERS = "shown and verified, and it DOES NOT SAY what is taken from it"


@dataclass(frozen=True, slots=True)
class Citation:
    """One citation.

    Attributes:
        digest: of the receipt that cites.
        check: the place of the check in it, from 0.
        cited: the digest that it cites.
        bearing: what is known of that receipt.
        field: of the check, what the cited receipt does not bear out; "" where it does, or where nothing is taken.
    """

    digest: str
    check: int
    cited: str
    bearing: Bearing
    field: str = ""


def citations(receipts: Sequence[Verified]) -> Iterator[Citation]:
    """Yield every citation of some verified receipts, in their order; receipts bear each other out."""
    known = {receipt.digest: receipt for receipt in receipts}
    for receipt in known.values():
        for index, check in enumerate(receipt.record.request.checks):
            shown = [known[digest] for digest in check.cites if digest in known]
            all_shown = len(shown) == len(check.cites)
            field = _not_borne_out(receipt.rolled[index], shown) if all_shown else ""
            for digest in check.cites:
                bearing = Bearing.NOT_SHOWN if digest not in known else Bearing.DIFFERS if field else Bearing.SHOWN
                yield Citation(receipt.digest, index, digest, bearing, field)


def require_borne_out(request: roll_pb2.RollRequest, checks: Sequence[Any], receipt_keys: Mapping[str, bytes]) -> None:
    """Return if the cited receipts that a request shows are ours, are cited, and say what is taken from them.

    Args:
        request: as the caller sent it.
        checks: its checks, each of its system.
        receipt_keys: public keys of the service's receipts, by their ids.

    Raises:
        RequestError: LIMIT_EXCEEDED, CITED_BY_NONE, CITED_DIFFERS, or why an envelope is no receipt of this service.
    """
    require_limit("cited", len(request.cited), MAX_CITED, "cited")
    require_limit("cited_bytes", sum(len(each.payload) for each in request.cited), MAX_CITED_BYTES, "cited")
    wanted = {digest for check in request.checks for digest in check.cites}
    records: dict[str, roll_pb2.RollRecord] = {}
    for index, message in enumerate(request.cited):
        envelope, field = read_envelope(message), f"cited[{index}]"
        if envelope.digest not in wanted:
            raise RequestError("CITED_BY_NONE", "no check cites this receipt", field=field, value=envelope.digest)
        try:
            verify_envelope(envelope, ROLL_RECORD_TYPE, receipt_keys)
            records[envelope.digest] = parse_record(envelope.payload)
        except VerificationError as error:
            path = join_path(field, error.field)
            raise RequestError(error.reason, error.message, field=path, value=error.value) from error
    for index, (check, message_of_check) in enumerate(zip(checks, request.checks, strict=True)):
        if not message_of_check.cites or not all(digest in records for digest in message_of_check.cites):
            continue
        outcomes = [outcome for digest in message_of_check.cites for outcome in records[digest].outcomes]
        resolved = [read_outcome(outcome) for outcome in outcomes if outcome.WhichOneof("system")]
        if field := _field_not_borne_out(check, resolved):
            raise RequestError(
                "CITED_DIFFERS",
                "none of the cited receipts says what is taken from them",
                field=join_path(f"checks[{index}].{check_path(check)}", field),
            )


def _not_borne_out(citing: Rolled | None, shown: Sequence[Verified]) -> str:
    if citing is None or not shown:
        return ""
    cited = [roll for receipt in shown for roll in receipt.rolled if roll is not None]
    return _field_not_borne_out(citing.check, [roll.resolved.outcome for roll in cited])


def _field_not_borne_out(check: object, outcomes: Iterable[object]) -> str:
    """Return the field for which no cited outcome of the check's own system stands, where the system can say so."""
    system = system_of(check)
    judge = getattr(systems()[system], "not_borne_out", None)
    if judge is None:
        return ""
    field: str = judge(check, [each for each in outcomes if each is not None and system_of(each) == system])
    return field
