"""The steps with a beacon in docs/trust-nobody.md, played with a round of the past by a clock of before it.

No test waits for a round, or asks the network for one: the page's own commands run with round 1000 of quicknet, which
is known, in place of one that is still to come. Whether it is the beacon's is judged as everywhere, by its signature.
"""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from fairroll.beacon import QUICKNET
from fairroll.cli import offer
from tests.service.cli_run import Done, Run, runner
from tests.service.process import ServiceProcess
from tests.service.test_beacon import ROUNDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "trust-nobody.md"
ROUND, FUTURE = 1000, "60000000"


def commands() -> list[str]:
    block = PAGE.read_text().partition("## Beacons")[2].partition("```text\n")[2].partition("```")[0]
    return block.replace(FUTURE, str(ROUND)).splitlines()


def play(run: Run, line: str, root: str) -> Done:
    """One line as a shell runs it, as far as the page needs a shell."""
    line, _, target = line.partition(" > ")
    words = re.sub(r"\$\(cat (\S+)\)", lambda match: Path(match[1]).read_text().strip(), line).split()
    assert words[0] == "fairroll"
    done = run(*[root if word == "root.pub" else word for word in words[1:]])
    if target:
        Path(target).write_text(done.out)
    return done


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], service: ServiceProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    monkeypatch.setenv("FAIRROLL_SERVER", service.rest)
    monkeypatch.chdir(tmp_path)
    return runner(capsys)


def test_a_session_with_a_beacons_round_goes_from_the_offer_to_level_l1(
    run: Run, service: ServiceProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = QUICKNET.time_of(ROUND)
    monkeypatch.setattr(offer, "clock", lambda: published - timedelta(minutes=10))
    *steps, verify = commands()
    for line in steps:
        if line.startswith("curl"):
            assert line.endswith(f"{QUICKNET.chain_hash.hex()}/public/{ROUND}")
            signature, randomness = ROUNDS[ROUND]
            shown = {"round": ROUND, "randomness": randomness, "signature": signature}
            Path("round.json").write_text(json.dumps(shown))
            monkeypatch.setattr(offer, "clock", lambda: published + timedelta(seconds=1))
            continue
        done = play(run, line, service.root_key)
        assert done.code == 0, (line, done)
    verdict = play(run, verify, service.root_key)
    assert (verdict.code, "VERIFIED, level L1" in verdict.out) == (0, True)
    # The same offer, too late.
    line = next(each for each in steps if each.startswith("fairroll offer new"))
    late = play(run, line.replace("--save offer.json", "--save late.json"), "")
    assert (late.code, late.out, "[ROUND_PAST]" in late.err) == (1, "", True)
    assert not Path("late.json").exists()
