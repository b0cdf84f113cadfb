"""The schemas of ListSystems against the service: what a form lets through is rolled.

What a form refuses is refused: that is one of the conformance suite's facts.
"""

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairroll import json_codec
from fairroll.errors import RequestError
from fairroll.v1 import service_pb2
from fairroll_rules.systems import systems
from tests.service.schema_requests import ROLLER, asked, requests, validate

LISTED = {
    system.name: json.loads(json_codec.dumps(system.check_schema))
    for system in ROLLER.list_systems(service_pb2.ListSystemsRequest()).systems
}
"""As a client gets them."""
GAMES = [name for name in systems() if name != "notation"]
CROSS_FIELD = {
    # Two fields together, which the schemas do not say: reason and the field that the refusal names.
    ("CONFLICT", "bands"),
    ("CONFLICT", "die_modifier"),
    ("CONFLICT", "name"),
    ("CONFLICT", "split"),
    ("CONFLICT", "statistic"),
    ("OUT_OF_RANGE", "at_least"),
    ("OUT_OF_RANGE", "exchange"),
    ("REQUIRED", "damage"),
    ("REQUIRED", "sides"),
    ("REQUIRED", "split"),
}


def rolls() -> list[Any]:
    """Each roll of each system, as the schema's groups name it."""
    return [pytest.param(name, roll, id=f"{name}-{roll}") for name in GAMES for roll in LISTED[name]["properties"]]


@pytest.mark.parametrize(("name", "roll"), rolls())
def test_what_the_schema_allows_is_rolled_or_refused_for_two_fields_together(name: str, roll: str) -> None:
    schema = LISTED[name]
    rolled, refused = 0, set()

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.fixed_dictionaries({roll: requests(schema["properties"][roll], schema)}))
    def try_one(body: dict[str, Any]) -> None:
        nonlocal rolled
        validate(body, schema)
        try:
            ROLLER.roll(asked(name, body), "local")
            rolled += 1
        except RequestError as error:
            last = re.sub(r"\[[0-9]+\]$", "", error.field).rpartition(".")[2]
            refused.add((error.reason, last))

    try_one()
    assert rolled
    assert refused <= CROSS_FIELD


def test_defaults_are_those_that_an_empty_field_means() -> None:
    roll = LISTED["crossroads"]["$defs"]["CrossroadsCheck.SkillRoll"]["properties"]
    assert roll["statistic"]["default"] == 0
    assert roll["change"]["default"] == "CHANGE_POLICY_NEVER"
    assert "default" not in roll["removal"]
    side = LISTED["meidlands"]["$defs"]["MeidlandsCheck.Side"]["properties"]
    assert (side["modifiers"]["default"], side["name"]["default"]) == ([], "")
    assert LISTED["msf_high"]["$defs"]["MsfHighCheck.HighestRoll"]["properties"]["count"]["default"] == 1
    assert LISTED["fortune_doom"]["$defs"]["FortuneDoomCheck.ResolutionRoll"]["properties"]["fear"]["default"] is False
