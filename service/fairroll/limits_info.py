"""GetLimits: every limit by the name under which errors report it."""

from __future__ import annotations

from functools import cache

from fairroll import (
    bundle,
    checks,
    cited,
    door,
    hashing,
    json_codec,
    receipt,
    session,
    session_message,
    stream_items,
    verify_call,
)
from fairroll.odds import answer as odds
from fairroll.odds import chances, estimates
from fairroll.v1 import service_pb2
from fairroll_rules import limits
from fairroll_rules.notation import limits as notation

_NAME = "Bytes of UTF-8 of "

LIMITS: dict[str, tuple[int, str]] = {
    # One call.
    "head_bytes": (door.MAX_HEAD_BYTES, "Bytes of the request line and headers on REST."),
    "message_bytes": (door.MAX_BODY_BYTES, "Bytes of a request, in protobuf or JSON."),
    "json_depth": (json_codec.MAX_DEPTH, "Levels of nesting of a JSON body."),
    "item_id_bytes": (stream_items.MAX_ITEM_ID_BYTES, f"{_NAME}the id of an item of a stream."),
    # One record.
    "checks": (limits.MAX_CHECKS, "Checks of one roll; at least 1."),
    "draws": (limits.MAX_DRAWS, "Draws of one record, those of explosions and rerolls included."),
    "text_bytes": (limits.MAX_TEXT_BYTES, "Bytes of UTF-8 of all text of one record's request."),
    "record_nodes": (limits.MAX_NODES, "Nodes of all notation of one record."),
    "receipt_bytes": (receipt.MAX_RECEIPT_BYTES, "Bytes of a receipt's payload."),
    "cites": (checks.MAX_CITES, "Receipts that one check cites."),
    "cited": (cited.MAX_CITED, "Receipts that one request shows because its checks cite them."),
    "cited_bytes": (cited.MAX_CITED_BYTES, "Bytes of all payloads of cited receipts that one request shows."),
    "label_bytes": (limits.MAX_NAME_BYTES, f"{_NAME}a check's label, or of one in notation."),
    "actor_bytes": (limits.MAX_NAME_BYTES, f"{_NAME}who rolls a check."),
    "name_bytes": (limits.MAX_NAME_BYTES, f"{_NAME}a name inside a check; at least 1."),
    "actors": (limits.MAX_ACTORS, "Actors, helpers or hinderers of one check."),
    "request_id_bytes": (checks.MAX_REQUEST_ID_BYTES, f"{_NAME}a request_id."),
    "chain": (bundle.MAX_CHAIN, "Receipts in the chain of an answer; a check that could ask more often is refused."),
    "chain_bytes": (
        bundle.MAX_CHAIN_BYTES,
        "Bytes of all payloads in the chain of an answer; a check whose answers could come to more is refused.",
    ),
    # One session.
    "session_receipts": (verify_call.MAX_SESSION_RECEIPTS, "Receipts of one call of VerifySession; at least 1."),
    "kept": (verify_call.MAX_KEPT, "Offers in one `mine`, logs of co-seed chains, and sealed rolls: each."),
    "origin_bytes": (session.MAX_NAME_BYTES, f"{_NAME}an origin; at least 1."),
    "tenant_bytes": (session.MAX_NAME_BYTES, f"{_NAME}a tenant; at least 1."),
    "table_bytes": (session.MAX_NAME_BYTES, f"{_NAME}a table; at least 1."),
    "contributions": (session.MAX_CONTRIBUTIONS, "Contributions to one session."),
    "anchors": (session.MAX_ANCHORS, "Co-seed chains of one session."),
    "beacon_signature_bytes": (session_message.MAX_BEACON_SIGNATURE_BYTES, "Bytes of a beacon round's signature."),
    "seq": (hashing.MAX_SEQ, "The highest seq of a session."),
    "chain_seq": (session.MAX_CHAIN_LENGTH - 1, "The highest seq of a session with co-seed chains."),
    # Dice of any system.
    "sides": (limits.MAX_SIDES, "Sides of one die; at least 1."),
    "dice_per_pool": (limits.MAX_POOL, "Dice of one pool."),
    "again_per_die": (limits.MAX_AGAIN, "Times that one die is rerolled or exploded."),
    # One notation.
    "characters": (notation.MAX_CHARACTERS, "Code points of one notation; at least 1."),
    "depth": (notation.MAX_DEPTH, "Parentheses, groups, functions and signs inside each other."),
    "nodes": (notation.MAX_TREE_NODES, "Nodes of one notation, modifiers included."),
    "modifiers": (notation.MAX_MODIFIERS, "Modifiers of one pool or group."),
    "digits": (notation.MAX_DIGITS, "Digits of one number, those after the point included."),
    "exponent": (notation.MAX_EXPONENT, "The highest exponent; at least 0."),
    "repeat": (notation.MAX_REPEAT, "Results of a repeat; at least 1."),
    "weight": (notation.MAX_WEIGHT, "What one die counts for as a success or failure; at least 1."),
    "dice_per_match": (limits.MAX_POOL, "Dice that must match to count; at least 2."),
    "work": (notation.MAX_WORK, "Dice that all modifiers of one notation look at together."),
    "number_bits": (notation.MAX_NUMBER_BITS, "Bits of a value inside one notation."),
    "total": (notation.MAX_TOTAL, "The highest total of one notation."),
    "variables": (notation.MAX_VARIABLES, "Variables of one notation."),
    "variable_bytes": (limits.MAX_NAME_BYTES, f"{_NAME}a variable's name; at least 1."),
    # Odds of one check.
    "odds_work": (chances.MAX_WORK, "Work for exact odds, in paths of the rules; what is beyond it is simulated."),
    "odds_values": (chances.MAX_VALUES, "Values that a number with exact odds may have."),
    "odds_bytes": (odds.MAX_ODDS_BYTES, "Bytes of an answer with odds."),
    "fraction_digits": (odds.MAX_FRACTION_DIGITS, "Digits of a numerator or denominator of exact odds."),
    "simulated_draws": (estimates.MAX_SIMULATED_DRAWS, "Draws of all rolls of one simulation."),
}
"""Name to highest value and meaning."""


@cache
def get_limits() -> service_pb2.GetLimitsResponse:
    """Return the limits in alphabetical order of their names."""
    return service_pb2.GetLimitsResponse(
        limits=[
            service_pb2.Limit(name=name, maximum=maximum, description=description)
            for name, (maximum, description) in sorted(LIMITS.items())
        ]
    )
