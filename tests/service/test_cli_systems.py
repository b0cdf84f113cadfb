"""`fairroll systems` and its use of the contract's comments."""

import pytest

from fairroll.v1 import roll_pb2
from fairroll_rules.systems import systems
from tests.service.cli_run import Run, runner


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


def test_every_system_is_listed_with_its_engine(run: Run) -> None:
    done = run("systems")
    assert done.code == 0
    listed = [line.split()[0] for line in done.out.splitlines()]
    assert listed == [f"{name}/{system.ENGINE}" for name, system in systems().items()]
    assert [system["name"] for system in run("systems", "--json").json["systems"]] == list(systems())


@pytest.mark.parametrize("name", list(systems()))
def test_a_system_shows_every_roll_and_field_with_its_comment(run: Run, name: str) -> None:
    (system,) = run("systems", name, "--json").json["systems"]
    text = run("systems", name).out
    check = roll_pb2.Check.DESCRIPTOR.fields_by_name[name].message_type
    assert check is not None
    rolls = {name: check}
    if "roll" in check.oneofs_by_name:
        rolls = {
            arm.name: arm.message_type for arm in check.oneofs_by_name["roll"].fields if arm.message_type is not None
        }
    assert [roll["name"] for roll in system["rolls"]] == list(rolls)
    assert set(system["checkSchema"]["properties"]) == {field.json_name for field in check.fields}
    assert system["outcomeSchema"]["type"] == "object"
    for roll in system["rolls"]:
        assert roll["comment"]
        assert [field["name"] for field in roll["fields"]] == list(rolls[roll["name"]].fields_by_name)
        for field in roll["fields"]:
            assert field["comment"], field["name"]
            assert f"  {field['name']}" in text


def test_policies_and_choices_are_shown_by_their_short_names(run: Run) -> None:
    done = run("systems", "crossroads")
    assert "lowest | highest | ask (policy, in JSON REMOVAL_POLICY_..)" in done.out
    assert "simple | all-together (in JSON GROUP_MODE_..)" in done.out
    (system,) = run("systems", "crossroads", "--json").json["systems"]
    fields = {field["name"]: field for field in system["rolls"][0]["fields"]}
    assert fields["removal"]["policy"] is True
    assert list(fields["removal"]["choices"]) == ["lowest", "highest", "ask"]
    assert fields["removal"]["prefix"] == "REMOVAL_POLICY_"
    assert fields["statistic"]["policy"] is False
    assert fields["peril_die"]["oneOf"] == "opposition"
    assert "oneOf" not in fields["removal"], "`optional` is no choice between fields"


def test_a_name_may_be_spelled_with_dashes(run: Run) -> None:
    assert run("systems", "fortune-doom").out == run("systems", "fortune_doom").out


@pytest.mark.parametrize("name", ["CROSSROADS", "Crossroads", "D6 Dungeons", "d6dungeons", "Msf-High"])
def test_the_case_of_a_name_does_not_matter(run: Run, name: str) -> None:
    assert run("systems", name).code == 0


def test_a_misspelled_system_is_answered_with_the_nearest(run: Run) -> None:
    assert "hint: did you mean crossroads?" in run("systems", "crossroad").err


def test_an_unknown_system_is_answered_with_those_there_are(run: Run) -> None:
    done = run("systems", "chess", "--json")
    assert done.code == 1
    assert done.json["error"]["code"] == "SYSTEM_UNKNOWN"
    assert done.json["error"]["expected"] == list(systems())
