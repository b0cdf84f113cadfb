"""The container without an engine: the Dockerfile is linted, and its steps are carried out in a clean folder."""

import json
import os
import re
import signal
import subprocess
import sysconfig
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.dockerfile import Workshop, exec_form, files_below, matching, packages, parse

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "Dockerfile").read_text()
STAGES = parse(TEXT)
RESULT = STAGES[-1]
SCRIPTS = Path(sysconfig.get_path("scripts"))
FREE = "127.0.0.1:0"


def test_the_linter_finds_nothing() -> None:
    done = subprocess.run([SCRIPTS / "hadolint", ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_both_stages_start_from_one_exact_slim_image() -> None:
    bases = {stage.base for stage in STAGES}
    assert len(STAGES) == 2
    assert len(bases) == 1
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-[a-z]+", bases.pop())


def test_it_runs_as_a_number_that_is_not_root() -> None:
    # A number, since Kubernetes cannot tell of a name whether it is root.
    user, group = map(int, RESULT.last("USER").split(":"))
    assert min(user, group) > 9999
    assert [kind for kind, _ in RESULT.steps].index("USER") > [kind for kind, _ in RESULT.steps].index("RUN")


def test_nothing_secret_is_copied_or_set() -> None:
    copied = " ".join(text for stage in STAGES for kind, text in stage.steps if kind == "COPY")
    assert not re.search(r"seed|api-keys|var|\s\.\s", copied)
    assert [RESULT.environment[f"FAIRROLL_{name}"] for name in ("KEYS", "API_KEYS")] == [
        "/etc/fairroll/keys",
        "/etc/fairroll/api-keys.json",
    ]


def test_what_it_exposes_is_where_it_listens() -> None:
    names = ("GRPC", "REST", "ADMIN")
    listens = [RESULT.environment[f"FAIRROLL_{name}_ADDRESS"] for name in names]
    assert [f"0.0.0.0:{port}" for port in RESULT.last("EXPOSE").split()] == listens


# The steps, carried out

INSTALLERS = (
    "/usr/local/bin/pip",
    "/usr/local/bin/pip3.13",
    "/usr/local/lib/python3.13/ensurepip/__init__.py",
    "/usr/local/lib/python3.13/site-packages/pip/__main__.py",
)
"""As the base image has them."""


@pytest.mark.slow
def test_its_steps_give_what_runs_and_nothing_that_builds(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """One test, since the steps take their time, and each worker would carry them out anew."""
    workshop = Workshop(tmp_path_factory.mktemp("container"), ROOT, base=(*INSTALLERS, "/usr/local/bin/python3.13"))
    workshop.build(STAGES)
    nothing_that_builds_or_installs_is_in_it(workshop)
    the_user_is_made_without_home_or_shell(workshop)
    the_service_answers_from_it_and_writes_nothing(workshop, variables(workshop), tmp_path)


def variables(workshop: Workshop) -> dict[str, str]:
    """Return what the image sets, with its paths below the folder, and free ports of loopback."""
    settings = {name: workshop.inside(value) for name, value in RESULT.environment.items()}
    ports = dict.fromkeys([name for name in settings if name.endswith("_ADDRESS")], FREE)
    return {"PATH": os.environ["PATH"], **settings, **ports, "FAIRROLL_DRAIN_SECONDS": "0"}


def nothing_that_builds_or_installs_is_in_it(workshop: Workshop) -> None:
    locked = re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements/server.lock").read_text(), re.MULTILINE)
    # What a lock has for other systems stays away.
    there = packages(workshop.image / "opt/fairroll")
    assert {"fairroll", "grpcio", "fastapi", "uvloop"} <= there <= {"fairroll", *locked}
    assert not matching(there, "pip", "setuptools", "wheel", "hatch*", "uv", "*-tools", "pytest*", "mypy*")
    assert not list(workshop.image.rglob("opt/fairroll/bin/pip*"))
    assert sorted(path.name for path in workshop.image.iterdir()) == ["opt", "usr"]
    assert list(files_below(workshop.image / "usr")) == ["local/bin/python3.13"]
    assert sorted(path.name for path in (workshop.image / "opt").iterdir()) == ["fairroll"]


def the_user_is_made_without_home_or_shell(workshop: Workshop) -> None:
    user = RESULT.last("USER").partition(":")[0]
    made = f"useradd --system --uid {user} --no-create-home --shell /usr/sbin/nologin fairroll"
    assert workshop.recorded == [workshop.inside(made)]


def the_service_answers_from_it_and_writes_nothing(
    workshop: Workshop, environment: dict[str, str], folder: Path
) -> None:
    etc = Path(environment["FAIRROLL_KEYS"]).parent
    etc.mkdir(parents=True)
    command = workshop.inside(exec_form(RESULT.last("ENTRYPOINT"))[0])
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    said = [
        subprocess.run([command, *words], env=environment, capture_output=True, text=True, check=True).stdout
        for words in (
            ["keys", "init", environment["FAIRROLL_KEYS"], "--origin", "localhost/v1"],
            ["apikeys", "add", "--tenant", "acme", environment["FAIRROLL_API_KEYS"]],
        )
    ]
    api_key = said[-1].strip()
    before = files_below(workshop.image)
    log = folder / "log"
    with running(workshop, environment, folder, log) as ready:
        assert (ready["version"], ready["origin"]) == (version, "localhost/v1")
        assert len(rolled(ready["rest"], api_key)["envelope"]["signatures"]) == 1
        # The image's own health check, asked of the port that was free.
        check = workshop.inside(RESULT.last("HEALTHCHECK")).replace("http://127.0.0.1:9090", ready["admin"])
        assert subprocess.run(exec_form(check), env=environment, check=False, timeout=10).returncode == 0
    assert subprocess.run(exec_form(check), env=environment, check=False, stderr=subprocess.DEVNULL).returncode != 0
    assert files_below(workshop.image) == before
    assert list(folder.iterdir()) == [log]


@contextmanager
def running(workshop: Workshop, environment: dict[str, str], folder: Path, log: Path) -> Iterator[dict[str, Any]]:
    """Start the image's entry point and give the line in which it says where it listens."""
    entry = [workshop.inside(word) for word in exec_form(RESULT.last("ENTRYPOINT"))]
    with log.open("wb") as stderr:
        process = subprocess.Popen(entry, env=environment, cwd=folder, stderr=stderr)
    try:
        yield ready_line(process, log)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()


def ready_line(process: subprocess.Popen[bytes], log: Path) -> dict[str, Any]:
    end = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < end:
        for text in log.read_text().splitlines(keepends=True):
            if text.endswith("\n") and "fairroll is ready" in text:
                line: dict[str, Any] = json.loads(text)
                return line
        time.sleep(0.02)
    raise AssertionError(f"it did not start:\n{log.read_text()}")


def rolled(address: str, api_key: str) -> dict[str, Any]:
    import httpx

    body = {"checks": [{"notation": {"text": "4d6kh3"}}]}
    answer = httpx.post(f"{address}/v1/rolls", json=body, headers={"x-api-key": api_key})
    assert answer.status_code == 200, answer.text
    content: dict[str, Any] = answer.json()
    return content
