"""The examples of the gateway's document: each is sent to a real service by a test, as it stands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fairroll import hashing, json_codec
from fairroll.errors import RequestError, to_status
from fairroll.offer import Commit, Offer
from fairroll.v1 import notation_pb2, roll_pb2, service_pb2, session_pb2

if TYPE_CHECKING:
    from fairroll.roll import Roller

EXAMPLE_TENANT = "example"
EXAMPLES: Mapping[str, dict[str, Any]] = {
    "notation": {"checks": [{"label": "strength", "notation": {"text": "4d6kh3"}}]},
    "a batch in a session": {
        "session": {"table": "table-42"},
        "checks": [
            {"label": "to hit", "actor": "Ann", "notation": {"text": "1d20+5"}},
            {"label": "damage", "actor": "Ann", "notation": {"text": "2d6+3"}},
        ],
    },
    "a roll that can be retried": {"requestId": "a-name-of-yours", "checks": [{"notation": {"text": "2d20kh1"}}]},
    "Crossroads MVP": {"checks": [{"crossroads": {"skillRoll": {"statistic": 2, "advantage": 1}}}]},
    "D6 Dungeons": {"checks": [{"d6Dungeons": {"skillRoll": {"difficulty": 5, "skill": 3}}}]},
    "Fortune and Doom": {"checks": [{"fortuneDoom": {"resolutionRoll": {"attribute": 2, "successThreshold": 13}}}]},
    "The Meidlands": {
        "checks": [
            {
                "meidlands": {
                    "opposedRoll": {
                        "attacker": {"name": "Ann", "pool": 2, "modifiers": [4]},
                        "defender": {"name": "Bob", "pool": 2, "modifiers": [1]},
                        "damage": "A/12",
                        "armour": "L2/4",
                    }
                }
            }
        ]
    },
    "MSF High": {"checks": [{"msfHigh": {"skillRoll": {"skill": 4, "statistic": 12}}}]},
}


ODDS: Mapping[str, dict[str, Any]] = {
    "notation, and how often it is 15 or more": {"check": {"notation": {"text": "4d6kh3"}}, "atLeast": "15"},
    "two checks against each other": {
        "check": {"notation": {"text": "1d20+5"}},
        "against": {"notation": {"text": "2d20kh1"}},
    },
    "Crossroads MVP, its critical": {
        "check": {"crossroads": {"skillRoll": {"statistic": 2, "advantage": 1}}},
        "quantity": "critical",
    },
    "too much work, simulated": {"check": {"notation": {"text": "2d1000000"}}, "rolls": 1000, "seed": 7},
}


class Examples:
    """The examples of one document.

    Attributes:
        requests: by the name of the request's message, and then by what each shows.
        answers: likewise.
        lines: a body of lines.
        answered_lines: what answers it.
    """

    def __init__(self, roller: Roller) -> None:
        """Let `roller` make the receipt that is shown, so that it verifies."""
        request = json_codec.loads(roll_pb2.RollRequest, json.dumps(EXAMPLES["notation"]))
        receipt = json_codec.to_value(roller.roll(request, EXAMPLE_TENANT))
        bundle = {"envelope": receipt["envelope"]}
        offered = _offered(roller)
        self.requests: dict[str, dict[str, Any]] = {
            "RollRequest": dict(EXAMPLES),
            "SealRollRequest": {
                "a roll behind the screen": {
                    "roll": {"session": {"table": "table-43"}, "checks": [{"notation": {"text": "1d20+3"}}]}
                }
            },
            "VerifyReceiptRequest": {
                "the receipt of a roll": {"bundle": bundle},
                "against an offer that you kept": {"bundle": offered["bundles"][0], "mine": offered["mine"]},
            },
            "VerifySessionRequest": {
                "the receipts of a session": {"bundles": [bundle]},
                "against an offer that you kept": offered,
            },
            "ParseNotationRequest": {
                "notation": {"check": {"text": "4d6kh3"}},
                "notation with a fault": {"check": {"text": "4d6kh3("}},
            },
            "GetOddsRequest": dict(ODDS),
        }
        self.answers: dict[str, dict[str, Any]] = {"RollResponse": {"a roll": receipt}}
        items = [{"itemId": "first", "request": EXAMPLES["notation"]}, {"itemId": "second", "request": {"checks": []}}]
        error = RequestError("REQUIRED", "a roll has at least one check", field="request.checks")
        refused = service_pb2.StreamRollsResponse(item_id="second", status=to_status(error))
        self.lines = _lines(items)
        self.answered_lines = _lines([{"itemId": "first", "receipt": receipt}, json_codec.to_value(refused)])


def _offered(roller: Roller) -> dict[str, Any]:
    """Return the receipts of a session that was offered, and the offer."""
    entropy = sha256(b"an example, which everybody knows").digest()
    session = session_pb2.Session(table="table-44", contributions=[session_pb2.Contribution(entropy=entropy)])
    check = roll_pb2.Check(notation=notation_pb2.NotationCheck(text="4d6kh3"))
    receipt = roller.roll(roll_pb2.RollRequest(session=session, checks=[check]), EXAMPLE_TENANT)
    used = receipt.record.session
    offer = Offer(used.origin, used.tenant, used.table, used.vrf_key_id, (Commit(hashing.commit(entropy)),))
    return {
        "bundles": [{"envelope": json_codec.to_value(receipt.envelope)}],
        "mine": {"offers": [json_codec.to_value(offer.message())]},
    }


def _lines(items: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(item, ensure_ascii=False, separators=(",", ":")) + "\n" for item in items)
