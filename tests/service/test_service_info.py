"""What a service says about itself: limits, systems, keys, and what notation means."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import fairroll
import fairroll_rules
from fairroll import json_codec
from fairroll.key_list import KeyStatus, KeyUse, verify_key_list
from fairroll.limits_info import LIMITS
from fairroll.receipt import read_envelope
from fairroll.v1 import key_list_pb2, notation_pb2, service_pb2
from fairroll_rules.systems import systems
from tests.service.rolling import ORIGIN, ROOT, epoch_keys, listed_with, roller, service_keys

NAMED = re.compile(r"""(?:\blimit=|beyond\(|require_limit\(|_check_count\([^"]*)"([a-z_]+)\"""")


def parsed(text: str, **variables: int) -> service_pb2.ParseNotationResponse:
    bound = [notation_pb2.NotationCheck.Variable(name=name, value=value) for name, value in variables.items()]
    check = notation_pb2.NotationCheck(text=text, variables=bound)
    return roller().parse_notation(service_pb2.ParseNotationRequest(check=check))


# Limits


def test_every_limit_that_an_error_names_is_listed() -> None:
    roots = [Path(str(package.__file__)).parent for package in (fairroll, fairroll_rules)]
    sources = [file.read_text() for root in roots for file in root.rglob("*.py") if "v1" not in file.parts]
    named = {name for source in sources for name in NAMED.findall(source)}
    assert len(named) > 20
    assert named <= set(LIMITS)


def test_limits_are_those_of_the_protocol_and_the_notation() -> None:
    listed = {limit.name: limit.maximum for limit in roller().get_limits(service_pb2.GetLimitsRequest()).limits}
    assert list(listed) == sorted(listed)
    expected = {
        "checks": 1_000,
        "draws": 10_000,
        "text_bytes": 65_536,
        "record_nodes": 5_000,
        "receipt_bytes": 1_048_576,
        "characters": 1_000,
        "depth": 64,
        "nodes": 200,
        "modifiers": 12,
        "digits": 10,
        "dice_per_pool": 1_000,
        "sides": 1_000_000,
        "again_per_die": 100,
        "contributions": 32,
        "anchors": 4,
        "chain": 32,
        "chain_bytes": 262_144,
        "seq": 2**53 - 1,
        "chain_seq": 4_095,
    }
    assert {name: listed[name] for name in expected} == expected


# Systems and keys


def test_systems_are_listed_with_their_engines() -> None:
    listed = roller().list_systems(service_pb2.ListSystemsRequest()).systems
    assert [(system.name, system.engine) for system in listed] == [
        (name, f"{name}/{system.ENGINE}") for name, system in systems().items()
    ]
    assert all(system.title and system.check_schema and system.outcome_schema for system in listed)


def test_whole_numbers_of_a_schema_are_printed_as_whole_numbers() -> None:
    printed = json_codec.dumps(roller().list_systems(service_pb2.ListSystemsRequest()))
    assert b'"minimum":0,' in printed
    assert not re.search(rb":-?[0-9]+\.0\b", printed)


def test_the_key_list_is_the_signed_one() -> None:
    answer = roller().get_key_list(service_pb2.GetKeyListRequest())
    keys, held = epoch_keys(), service_keys()
    assert read_envelope(answer.envelope) == held.envelope
    assert answer.root_key == ROOT.public_key
    assert (answer.key_list.origin, answer.key_list.list_version) == (ORIGIN, 1)
    assert [(key.key_id, key.use, key.status) for key in answer.key_list.keys] == [
        (keys.vrf_key_id, key_list_pb2.KEY_USE_VRF, key_list_pb2.KEY_STATUS_ACTIVE),
        (keys.receipt_key_id, key_list_pb2.KEY_USE_RECEIPT, key_list_pb2.KEY_STATUS_ACTIVE),
    ]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (KeyStatus.RETIRED, key_list_pb2.KEY_STATUS_RETIRED),
        (KeyStatus.REVOKED, key_list_pb2.KEY_STATUS_REVOKED),
    ],
)
def test_the_key_list_tells_the_status_and_development_of_a_key(
    status: KeyStatus, told: key_list_pb2.KeyStatus.ValueType
) -> None:
    held = service_keys()
    listed = listed_with(status, KeyUse.VRF, development=True)
    keys = replace(held, envelope=listed, key_list=verify_key_list(listed, ROOT.public_key))
    answer = roller(keys).get_key_list(service_pb2.GetKeyListRequest())
    assert [(key.status, key.development) for key in answer.key_list.keys] == [
        (told, True),
        (key_list_pb2.KEY_STATUS_ACTIVE, False),
    ]
    assert answer.key_list.list_version == 2


# Notation


def test_notation_is_told_with_bounds_tree_and_canonical_text() -> None:
    answer = parsed(" 4D6K3 [str] + 1 ")
    assert answer.valid
    assert answer.canonical == "4d6kh3[str]+1"
    assert answer.canonical_dialect == notation_pb2.NotationCheck.DIALECT_STANDARD
    assert (answer.min, answer.max, answer.draws) == (4, 19, 4)
    assert not answer.HasField("error")
    assert [(node.kind, node.depth) for node in answer.tree] == [
        ("chain", 0),
        ("labelled", 1),
        ("modified", 2),
        ("dice", 3),
        ("number", 4),
        ("number", 4),
        ("number", 3),
        ("number", 1),
    ]
    assert {node.label for node in answer.tree[1:7]} == {"str"}


def test_bounds_are_rounded_as_the_roll_would_be() -> None:
    assert (parsed("d6/2").min, parsed("d6/2").max) == (0, 3)
    check = notation_pb2.NotationCheck(text="d6/2", rounding=notation_pb2.NotationCheck.ROUNDING_UP)
    answer = roller().parse_notation(service_pb2.ParseNotationRequest(check=check))
    assert (answer.min, answer.max) == (1, 3)


def test_a_repeat_has_no_total() -> None:
    answer = parsed("6x{4d6kh3}")
    assert answer.valid
    assert (answer.HasField("min"), answer.HasField("max"), answer.draws) == (False, False, 24)


def test_notation_that_does_not_parse_is_an_answer_with_its_span() -> None:
    answer = parsed("2d6 ~ 3")
    assert not answer.valid
    assert (answer.error.field, answer.error.span.start, answer.error.span.end) == ("text", 4, 5)
    assert answer.error.code
    assert answer.error.message
    assert not answer.tree


def test_a_missing_variable_is_the_error_and_the_tree_is_there() -> None:
    answer = parsed("d20+@str")
    assert (answer.valid, answer.error.code, answer.canonical) == (False, "VARIABLE_MISSING", "1d20+@str")
    assert answer.tree[-1].kind == "variable"
    assert parsed("d20+@str", str=3).max == 23


def test_a_limit_is_told_with_its_value() -> None:
    answer = parsed("1001d6")
    assert (answer.error.limit.limit, answer.error.limit.maximum, answer.error.limit.value) == (
        "dice_per_pool",
        1000,
        "1001",
    )


def test_a_dialect_that_is_none_is_an_answer() -> None:
    check = notation_pb2.NotationCheck(text="d6", dialect=99)  # type: ignore[arg-type]  # any number may come
    answer = roller().parse_notation(service_pb2.ParseNotationRequest(check=check))
    assert not answer.valid
    assert answer.error.field == "dialect"
