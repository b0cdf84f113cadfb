"""The seam, tried: a made-up sixth system is its module, its proto file, its samples and its arm in two oneofs.

It is added in a process of its own, to copies of the contract in a folder of the test's; the project is as it is. The
conformance suite then runs over it as over the others, and over faulty ones, each of which breaks one fact.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PROTOS = PROJECT / "proto"

MODULE = '''
"""Coins: flip some, count those wanted. Made up by a test."""
from __future__ import annotations
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, NamedTuple
from fairroll_rules.fields import Entries, Name, Range, require_fields
from fairroll_rules.outcome import Die, Fate, Text

TITLE = "Coins"
ENGINE = 3
SEEN = []


class Side(Enum):
    HEADS = 1
    TAILS = 2


@dataclass(frozen=True, slots=True)
class Purse:
    owner: Name
    coins: Annotated[int, Range(1, 10)]

    def __post_init__(self):
        require_fields(self)


@dataclass(frozen=True, slots=True)
class FlipRoll:
    purses: Annotated[tuple[Purse, ...], Entries(1, 5)]
    wanted: Side = Side.HEADS
    needed: Annotated[int, Range(0, 50)] | None = None

    def __post_init__(self):
        require_fields(self)


@dataclass(frozen=True, slots=True)
class FlipOutcome:
    dice: tuple[Die, ...]
    hits: int
    enough: bool | None


class FlipValue(NamedTuple):
    hits: int


CHECKS = (FlipRoll,)
OUTCOMES = (FlipOutcome,)


def draws(check):
    return sum(purse.coins for purse in check.purses)


def resolve(dice, decisions, check):
    purses = check.purses
    flips = [(purse.coins, check.wanted) for purse in purses]
    hits, shown = dice.parts(flip, flips, [purse.owner for purse in purses])
    total = sum(hits)
    if None in shown:
        return FlipValue(total), None
    enough = None if check.needed is None else total >= check.needed
    return FlipValue(total), FlipOutcome(tuple(die for each in shown for die in each), total, enough)


def flip(dice, decisions, count, wanted):
    faces = dice.pool(count, 2)
    hits = sum(face == wanted.value for face in faces)
    fates = {True: (Fate.KEPT, Fate.SUCCESS), False: (Fate.KEPT,)}
    return hits, [Die(face.draw, int(face), fates[face == wanted.value]) for face in faces]


def text(check, outcome, draws):
    return Text(f"{outcome.hits} hits", ())
'''

PROTO = """
syntax = "proto3";
package fairroll.v1;
import "fairroll/v1/outcome.proto";

// Coins.
message CoinsCheck {
  // A side.
  enum Side {
    // HEADS.
    SIDE_UNSPECIFIED = 0;
    // Heads.
    SIDE_HEADS = 1;
    // Tails.
    SIDE_TAILS = 2;
  }
  // A purse.
  message Purse {
    // Whose, 1..100 bytes.
    string owner = 1;
    // How many, 1..10.
    optional int32 coins = 2;
  }
  // Flip them.
  message FlipRoll {
    // Of whom, 1..5.
    repeated Purse purses = 1;
    // Which side counts.
    Side wanted = 2;
    // How many are enough, 0..50.
    optional int32 needed = 3;
  }
  // The roll.
  oneof roll {
    // Flip.
    FlipRoll flip_roll = 1;
  }
}

// What they came to.
message CoinsOutcome {
  // Flipped.
  message FlipOutcome {
    // All.
    repeated Die dice = 1;
    // Wanted.
    int32 hits = 2;
    // Whether that is enough.
    optional bool enough = 3;
  }
  // The roll.
  oneof roll {
    // Flip.
    FlipOutcome flip_roll = 1;
  }
}
"""

BODY = {"purses": [{"owner": "Ann", "coins": 2}, {"owner": "Bob", "coins": 3}], "wanted": "SIDE_TAILS", "needed": 0}
FACES = ((2, 1, 2, 1, 2), (1, 2, 1, 1, 1), (2, 2, 1, 2, 2))
"""The first words of the streams that samples are drawn from, odd or even."""
SAMPLES = {
    "engine": "coins/3",
    "checks": [
        {
            "roll": "FlipRoll",
            "check": {"flipRoll": BODY},
            "draws": [
                [[2, face, "ROLL", None, "Ann" if at < 2 else "Bob"] for at, face in enumerate(faces)]
                for faces in FACES
            ],
        }
    ],
}


REMEMBERED = """SEEN.append(0)
    total = sum(hits) + len(SEEN)"""


@dataclass(frozen=True)
class Coins:
    """The sixth system, or a faulty one like it.

    Attributes:
        name: of the module and the arm.
        found_by: the test of the conformance suite that it fails; none for the good one.
        module: a text in the module, and what stands there instead.
        proto: the same in the proto file; None where there is no such file.
        samples: whether there are any.
    """

    name: str = "coins"
    found_by: str = ""
    module: tuple[str, str] = ("", "")
    proto: tuple[str, str] | None = ("", "")
    samples: bool = True

    @property
    def message(self) -> str:
        return "".join(word.capitalize() for word in self.name.split("_"))

    def write(self, folder: Path) -> None:
        (folder / "systems" / f"{self.name}.py").write_text(changed(MODULE, self.module))
        if self.proto is not None:
            text = changed(PROTO, self.proto).replace("message Coins", f"message {self.message}")
            (folder / "proto" / "fairroll" / "v1" / f"{self.name}.proto").write_text(text)
        if self.samples:
            samples = json.dumps(SAMPLES | {"engine": f"{self.name}/3"})
            (folder / "samples" / f"{self.name}.json").write_text(samples)


def changed(text: str, change: tuple[str, str]) -> str:
    old, new = change
    assert old in text
    return text.replace(old, new) if old else text


FAULTY = [
    Coins("coins_without_an_arm", "test_arms_equal_modules", proto=None, samples=False),
    Coins("coins_without_a_sample", "test_every_roll_has_a_sample", samples=False),
    Coins(
        "coins_of_another_name",
        "test_messages_are_named_as_the_dataclasses",
        proto=("FlipOutcome", "FlippedOutcome"),
    ),
    Coins(
        "coins_with_a_field_more",
        "test_fields_of_messages_are_fields_of_dataclasses",
        ("    enough: bool | None\n", "    enough: bool | None\n    luck: int = 0\n"),
    ),
    Coins(
        "coins_with_a_float",
        "test_only_the_seams_types_are_used",
        ("    hits: int\n    enough", "    hits: float\n    enough"),
    ),
    Coins(
        "coins_as_a_list",
        "test_an_outcome_survives_to_protobuf_and_back",
        ("tuple(die for each in shown for die in each)", "[die for each in shown for die in each]"),
    ),
    Coins("coins_that_remember", "test_the_same_faces_give_the_same_outcome", ("total = sum(hits)", REMEMBERED)),
    Coins("coins_by_place", "test_permuting_a_pool_changes_no_value", ("hits = sum(face ==", "hits = sum(faces[0] ==")),
    Coins("coins_that_hide", "test_every_draw_is_used_or_explained", ("for face in faces]", "for face in faces[1:]]")),
    Coins("coins_without_a_fate", "test_every_draw_is_used_or_explained", ("False: (Fate.KEPT,)", "False: ()")),
    Coins(
        "coins_in_another_order",
        "test_the_order_of_draws_is_that_of_the_snapshot",
        ("purses = check.purses", "purses = check.purses[::-1]"),
    ),
    Coins("coins_of_another_engine", "test_the_order_of_draws_is_that_of_the_snapshot", ("ENGINE = 3", "ENGINE = 4")),
    Coins(
        "coins_without_number",
        "test_draws_bounds_what_is_drawn_before_any_reroll",
        ("return sum(purse", "return max(purse"),
    ),
    Coins("coins_without_a_word", "test_texts_and_values_are_there", ('f"{outcome.hits} hits"', '""')),
    Coins(
        "coins_by_detail",
        "test_odds_and_lost_weight_sum_to_one",
        ("total = sum(hits)", "total = sum(die.value == check.wanted.value for each in shown for die in each)"),
    ),
    Coins(
        "coins_without_a_range",
        "test_every_field_says_what_it_may_hold",
        ("needed: Annotated[int, Range(0, 50)] | None", "needed: int | None"),
    ),
    Coins(
        "coins_without_an_end",
        "test_every_field_says_what_it_may_hold",
        ("purses: Annotated[tuple[Purse, ...], Entries(1, 5)]", "purses: tuple[Purse, ...]"),
    ),
    Coins(
        "coins_that_tell_no_range",
        "test_what_a_field_may_hold_is_what_its_comment_tells",
        proto=("How many are enough, 0..50.", "How many are enough."),
    ),
    Coins(
        "coins_that_take_anything",
        "test_what_lies_outside_is_refused_by_the_schema_and_by_the_service_with_its_place",
        (
            "    coins: Annotated[int, Range(1, 10)]\n\n    def __post_init__(self):\n        require_fields(self)\n",
            "    coins: Annotated[int, Range(1, 10)]\n",
        ),
    ),
    Coins(
        "coins_without_words",
        "test_everything_in_a_schema_has_a_label_and_words",
        proto=("// Whether that is enough.", ""),
    ),
]

PLUGIN = """
import json
from pathlib import Path

import fairroll, fairroll_rules.systems as registry

FOLDER = Path(__file__).parent
fairroll.__path__.insert(0, str(FOLDER / "fairroll"))
registry.__path__.append(str(FOLDER / "systems"))

from tests.service import sample_checks

sample_checks.SAMPLES.extend(sample_checks.read(FOLDER / "samples"))
ran = []


def pytest_runtest_logreport(report):
    if report.failed or report.when == "call":
        ran.append([report.nodeid.rpartition("::")[2], report.failed])


def pytest_sessionfinish():
    (FOLDER / "ran.json").write_text(json.dumps(ran))
"""

PROGRAM = """
import json, sys
import coins_plugin
from fairroll import json_codec
from fairroll.errors import RequestError
from fairroll.systems_info import check_schema
from fairroll.v1 import roll_pb2, service_pb2
from fairroll.verify import verify
from tests.service.rolling import ROOT, bundle_of, roller

body = {"session": {"table": "t"}, "checks": [{"coins": {"flipRoll": json.loads(sys.argv[1])}}]}
service = roller()
response = service.roll(json_codec.loads(roll_pb2.RollRequest, json.dumps(body)), "t")
found = service.verify_receipt(service_pb2.VerifyReceiptRequest(bundle={"envelope": response.envelope}))
body["checks"][0]["coins"]["flipRoll"]["purses"][1]["coins"] = 11
try:
    service.roll(json_codec.loads(roll_pb2.RollRequest, json.dumps(body)), "t")
except RequestError as error:
    refused = [error.reason, error.field, error.value]
print(json.dumps({
    "answer": json_codec.to_value(response),
    "complete": verify(bundle_of(response), ROOT.public_key).complete,
    "verified": found.verified,
    "refused": refused,
    "systems": [system.name for system in service.list_systems(service_pb2.ListSystemsRequest()).systems],
    "schema": check_schema("coins"),
}))
"""


def contract_with(folder: Path, added: Iterable[Coins]) -> None:
    """Generate the contract's code anew, with a file and two arms more for each system."""
    protos = folder / "proto" / "fairroll" / "v1"
    for each in (protos, folder / "systems", folder / "samples"):
        each.mkdir(parents=True)
    for file in (PROTOS / "fairroll" / "v1").glob("*.proto"):
        (protos / file.name).write_text(file.read_text())
    roll = (protos / "roll.proto").read_text()
    for number, coins in enumerate(added, 100):
        coins.write(folder)
        if coins.proto is None:
            continue
        imported = f'package fairroll.v1;\nimport "fairroll/v1/{coins.name}.proto";'
        roll = roll.replace("package fairroll.v1;", imported, 1)
        for kind in ("Check", "Outcome"):
            arm = f"Notation{kind} notation = 10;"
            assert arm in roll
            roll = roll.replace(arm, f"{arm}\n    // Coins.\n    {coins.message}{kind} {coins.name} = {number};")
    (protos / "roll.proto").write_text(roll)
    (folder / "coins_plugin.py").write_text(PLUGIN)
    site = sysconfig.get_path("purelib")
    names = sorted(f"fairroll/v1/{file.name}" for file in protos.iterdir())
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{folder / 'proto'}", f"-I{site}"]
    described = f"--descriptor_set_out={folder}/fairroll/v1/descriptors.binpb"
    (folder / "fairroll" / "v1").mkdir(parents=True)
    (folder / "fairroll" / "v1" / "__init__.py").touch()
    subprocess.run(
        [*command, f"--python_out={folder}", f"--grpc_python_out={folder}", described, "--include_source_info", *names],
        check=True,
    )


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run Python in the project with what the folder adds to it."""
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": ":".join([str(folder), *(path for path in sys.path if path)])},
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )


def conformance(folder: Path) -> dict[str, set[str]]:
    """Run the conformance suite over what was added; return the tests that failed, by system."""
    options = ("-n", "0", "-q", "-p", "coins_plugin", "-p", "no:cacheprovider", "-k", "coins")
    done = run(folder, "-m", "pytest", *options, "tests/service/test_conformance.py")
    failed: dict[str, set[str]] = {}
    assert (folder / "ran.json").exists(), done.stdout + done.stderr
    for test, has_failed in json.loads((folder / "ran.json").read_text()):
        name, _, parameters = test.partition("[")
        of = failed.setdefault(re.sub(r"[^a-z_].*", "", parameters[parameters.index("coins") :]), set())
        of |= {name} if has_failed else set()
    return failed


def test_a_sixth_system_needs_its_module_its_proto_and_its_arms(tmp_path: Path) -> None:
    contract_with(tmp_path, [Coins()])
    done = run(tmp_path, "-c", PROGRAM, json.dumps(BODY))
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    outcome = answer["answer"]["record"]["outcomes"][0]
    faces = [draw["face"] for draw in outcome["draws"]]
    assert outcome["engine"] == "coins/3"
    assert [draw["sides"] for draw in outcome["draws"]] == [2] * 5
    assert outcome["coins"]["flipRoll"]["hits"] == faces.count(2)
    assert outcome["coins"]["flipRoll"]["enough"] is True
    assert answer["answer"]["texts"][0]["line"] == f"{faces.count(2)} hits"
    assert answer["complete"]
    assert answer["verified"]
    assert answer["refused"] == ["OUT_OF_RANGE", "checks[0].coins.flip_roll.purses[1].coins", "11"]
    assert "coins" in answer["systems"]
    assert answer["schema"]["title"] == "Coins"
    fields = answer["schema"]["$defs"]["CoinsCheck.FlipRoll"]["properties"]
    assert fields["wanted"]["default"] == "SIDE_HEADS"
    assert (fields["purses"]["minItems"], fields["purses"]["maxItems"]) == (1, 5)
    purse = answer["schema"]["$defs"]["CoinsCheck.Purse"]
    assert purse["required"] == ["owner", "coins"]
    assert (purse["properties"]["coins"]["minimum"], purse["properties"]["coins"]["maximum"]) == (1, 10)


def test_the_conformance_suite_holds_a_sixth_system_to_every_fact(tmp_path: Path) -> None:
    """It passes as it is, and each fault is found by the test that is there for it."""
    contract_with(tmp_path, [Coins(), *FAULTY])
    failed = conformance(tmp_path)
    assert failed.pop("coins") == set()
    assert set(failed) == {faulty.name for faulty in FAULTY}
    missed = {faulty.name: failed[faulty.name] for faulty in FAULTY if faulty.found_by not in failed[faulty.name]}
    assert missed == {}
