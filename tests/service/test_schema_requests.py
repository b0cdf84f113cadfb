"""The schemas of ListSystems against the service: what a form lets through is rolled, what it refuses is refused."""

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairroll import json_codec
from fairroll.errors import RequestError
from fairroll.v1 import roll_pb2, service_pb2
from fairroll_rules.systems import systems
from tests.service.rolling import roller
from tests.service.schema_requests import Outside, is_valid, outsides, requests, resolved, validate

ROLLER = roller()
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

REASONS = {"required": "REQUIRED", "pattern": "NOTATION_INVALID", "oneOf": "ENUM_UNKNOWN"}


def rolls() -> list[Any]:
    """Each roll of each system, as the schema's groups name it."""
    return [pytest.param(name, roll, id=f"{name}-{roll}") for name in GAMES for roll in LISTED[name]["properties"]]


def asked(name: str, body: object) -> roll_pb2.RollRequest:
    """A roll in a session, where decisions may be left open."""
    arm = roll_pb2.Check.DESCRIPTOR.fields_by_name[name].json_name
    request = {"session": {"table": "form"}, "checks": [{arm: body}]}
    return json_codec.loads(roll_pb2.RollRequest, json.dumps(request))


def refusal(name: str, body: object) -> RequestError:
    with pytest.raises(RequestError) as refused:
        ROLLER.roll(asked(name, body), "local")
    return refused.value


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


def steps_outside() -> list[Any]:
    return [
        pytest.param(name, outside, id=f"{outside.path}-{outside.keyword}-{number}")
        for name in GAMES
        for number, outside in enumerate(outsides(LISTED[name]))
    ]


@pytest.mark.parametrize(("name", "outside"), steps_outside())
def test_a_step_outside_is_refused_by_the_schema_and_by_the_service_with_its_place(name: str, outside: Outside) -> None:
    assert not is_valid(outside.request, LISTED[name])
    error = refusal(name, outside.request)
    assert error.field == f"checks[0].{name}.{outside.path}"
    if outside.keyword in ("minimum", "minLength", "minItems"):
        assert (error.reason, error.minimum) == ("OUT_OF_RANGE", outside.bound)
    elif outside.keyword in ("maximum", "maxLength", "maxItems"):
        assert (error.reason, error.maximum) == ("OUT_OF_RANGE", outside.bound)
    elif outside.path.endswith(".members"):  # protobuf does not tell an empty list from none
        assert (error.reason, error.minimum) == ("OUT_OF_RANGE", 1)
    else:
        assert error.reason == REASONS[outside.keyword]


def test_there_is_a_step_outside_of_every_field_but_flags() -> None:
    for name in GAMES:
        stepped = {outside.path for outside in outsides(LISTED[name])}
        for roll, reference in LISTED[name]["properties"].items():
            fields = resolved(reference, LISTED[name])["properties"]
            plain = {field for field, schema in fields.items() if "type" in schema and schema["type"] != "boolean"}
            snake = {re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", f"{roll}.{field}").lower() for field in plain}
            assert snake <= stepped


@pytest.mark.parametrize("name", list(systems()))
def test_a_range_of_a_schema_is_the_one_that_its_description_tells(name: str) -> None:
    """The comments of the contract are for people, and say the same."""
    for definition in LISTED[name]["$defs"].values():
        for field, schema in definition.get("properties", {}).items():
            told = schema["description"].replace(",", "")
            for minimum, maximum in (("minimum", "maximum"), ("minLength", "maxLength")):
                if maximum in schema and schema.get(minimum, 0) > -(2**31):
                    low = max(schema[minimum], 1) if minimum == "minLength" else schema[minimum]
                    assert f"{low}..{schema[maximum]}" in told, (field, told)
            if "maxItems" in schema:
                least, most = schema["minItems"], schema["maxItems"]
                assert f"{least}..{most}" in told or (least == 0 and f"at most {most}" in told.lower()), (field, told)
            items = schema.get("items", {})
            if "minimum" in items:
                assert f"{items['minimum']}..{items['maximum']} each" in told


@pytest.mark.parametrize("name", list(systems()))
def test_every_field_and_choice_has_a_label_and_words(name: str) -> None:
    schema = LISTED[name]
    for definition in (schema, *schema["$defs"].values()):
        assert definition["title"]
        assert definition["description"]
        for field in definition.get("properties", {}).values():
            assert field["title"][:1].isupper()
            assert field["description"]
        for choice in definition.get("oneOf", ()):
            assert choice["title"]
            assert choice["description"]
            assert not choice["const"].endswith("UNSPECIFIED")


def test_defaults_are_those_that_an_empty_field_means() -> None:
    roll = LISTED["crossroads"]["$defs"]["CrossroadsCheck.SkillRoll"]["properties"]
    assert roll["statistic"]["default"] == 0
    assert roll["change"]["default"] == "CHANGE_POLICY_NEVER"
    assert "default" not in roll["removal"]
    side = LISTED["meidlands"]["$defs"]["MeidlandsCheck.Side"]["properties"]
    assert (side["modifiers"]["default"], side["name"]["default"]) == ([], "")
    assert LISTED["msf_high"]["$defs"]["MsfHighCheck.HighestRoll"]["properties"]["count"]["default"] == 1
    assert LISTED["fortune_doom"]["$defs"]["FortuneDoomCheck.ResolutionRoll"]["properties"]["fear"]["default"] is False
