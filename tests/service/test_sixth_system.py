"""The seam, tried: a made-up sixth system is its module, its proto file and its arm in two oneofs, and nothing else.

It is added in a process of its own, to copies of the contract in a folder of the test's; the project is as it is.
"""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

PROTOS = Path(__file__).parents[2] / "proto"

MODULE = '''
"""Coins: flip some, count heads. Made up by a test."""
from __future__ import annotations
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, NamedTuple
from fairroll_rules.fields import Entries, Range, require_fields
from fairroll_rules.outcome import Die, Fate, Text

TITLE = "Coins"
ENGINE = 3


class Side(Enum):
    HEADS = 1
    TAILS = 2


@dataclass(frozen=True, slots=True)
class Purse:
    coins: Annotated[int, Range(1, 10)]

    def __post_init__(self):
        require_fields(self)


@dataclass(frozen=True, slots=True)
class FlipRoll:
    purses: Annotated[tuple[Purse, ...], Entries(1, 5)]
    wanted: Side = Side.HEADS
    needed: int | None = None

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
    faces = dice.pool(draws(check), 2)
    fates = {True: (Fate.KEPT, Fate.SUCCESS), False: (Fate.KEPT,)}
    shown = tuple(Die(face.draw, int(face), fates[face == check.wanted.value]) for face in faces)
    hits = sum(face == check.wanted.value for face in faces)
    return FlipValue(hits), FlipOutcome(shown, hits, None if check.needed is None else hits >= check.needed)


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
    // How many.
    optional int32 coins = 1;
  }
  // Flip them.
  message FlipRoll {
    // Of whom.
    repeated Purse purses = 1;
    // Which side counts.
    Side wanted = 2;
    // How many are enough.
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

PROGRAM = """
import json, sys
import fairroll, fairroll_rules.systems as registry
fairroll.__path__.insert(0, sys.argv[1] + "/fairroll")
registry.__path__.append(sys.argv[1] + "/systems")

from fairroll import json_codec
from fairroll.errors import RequestError
from fairroll.systems_info import check_schema
from fairroll.v1 import roll_pb2, service_pb2
from fairroll.verify import verify
from tests.service.rolling import ROOT, bundle_of, roller

body = json.loads(sys.argv[2])
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

REQUEST = {
    "session": {"table": "t"},
    "checks": [{"coins": {"flipRoll": {"purses": [{"coins": 2}, {"coins": 3}], "wanted": "SIDE_TAILS", "needed": 0}}}],
}


def contract_with_coins(folder: Path) -> None:
    """Generate the contract's code anew, with one file and two arms more."""
    protos = folder / "proto" / "fairroll" / "v1"
    protos.mkdir(parents=True)
    for file in (PROTOS / "fairroll" / "v1").glob("*.proto"):
        (protos / file.name).write_text(file.read_text())
    (protos / "coins.proto").write_text(PROTO)
    roll = (protos / "roll.proto").read_text()
    roll = roll.replace("package fairroll.v1;", 'package fairroll.v1;\nimport "fairroll/v1/coins.proto";', 1)
    for kind in ("Check", "Outcome"):
        arm = f"Notation{kind} notation = 10;"
        assert arm in roll
        roll = roll.replace(arm, f"{arm}\n    // Coins.\n    Coins{kind} coins = 99;")
    (protos / "roll.proto").write_text(roll)
    (folder / "systems").mkdir()
    (folder / "systems" / "coins.py").write_text(MODULE)
    site = sysconfig.get_path("purelib")
    names = sorted(f"fairroll/v1/{file.name}" for file in protos.iterdir())
    command = [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        f"-I{folder / 'proto'}",
        f"-I{site}",
        f"--python_out={folder}",
    ]
    subprocess.run([*command, *names], check=True)
    (folder / "fairroll" / "v1" / "__init__.py").touch()
    describe = [*command[:-1], f"--descriptor_set_out={folder}/fairroll/v1/descriptors.binpb", "--include_source_info"]
    subprocess.run([*describe, *names], check=True)


def test_a_sixth_system_needs_its_module_its_proto_and_its_arms(tmp_path: Path) -> None:
    contract_with_coins(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), json.dumps(REQUEST)],
        env={"PYTHONPATH": ":".join(path for path in sys.path if path)},
        cwd=PROTOS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
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
    assert purse["required"] == ["coins"]
    assert (purse["properties"]["coins"]["minimum"], purse["properties"]["coins"]["maximum"]) == (1, 10)
