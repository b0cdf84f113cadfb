"""Whoever is shown an answer is told whether its decider could have previewed it, whatever shows it."""

import json
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from fairroll import json_codec
from fairroll.bundle import Bundle, bundle_message, parse_bundle
from fairroll.v1 import roll_pb2, service_pb2
from tests.service.cli_run import Run, runner
from tests.service.process import ServiceProcess, start_service

PREVIEWED = "No guard: the decider could have previewed this answer."
CHECK = '{"crossroads":{"skillRoll":{"advantage":1,"removal":"REMOVAL_POLICY_ASK"}}}'


@dataclass
class Scene:
    """A pending receipt and its answer, as one player keeps them.

    Attributes:
        service: with or without a guard.
        folder: holds root.json and answer.json, which are bundles.
        request: the answer's.
    """

    service: ServiceProcess
    run: Run
    folder: Path
    request: roll_pb2.RollRequest

    @property
    def answer(self) -> Path:
        return self.folder / "answer.json"

    @property
    def bundle(self) -> Bundle:
        """The answer's, without its key list."""
        return replace(parse_bundle(self.answer.read_bytes()), key_list=None)

    def post(self, path: str, body: object) -> str:
        """What REST answers."""
        request = urllib.request.Request(  # noqa: S310  our own
            f"{self.service.rest}{path}", json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310  our own
            text: str = answer.read().decode()
        return text


@pytest.fixture(scope="module", params=["none", "sqlite"])
def either(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    folder = tmp_path_factory.mktemp("service")
    guard = "none" if request.param == "none" else f"sqlite:{folder / 'guard.db'}"
    with start_service(folder, guard=guard) as service:
        yield service


@pytest.fixture
def scene(
    either: ServiceProcess, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Scene:
    monkeypatch.setenv("FAIRROLL_SERVER", either.rest)
    run, folder = runner(capsys), tmp_path / "scene"
    folder.mkdir()
    root, announced = folder / "root.json", tmp_path / "request.json"
    tables = (f"{tmp_path.name} {number}" for number in count())
    # Four dice alike leave nothing to decide.
    while run("roll", "--check", CHECK, "--table", next(tables), "--save", root).out.count("REMOVE_") < 2:
        root.unlink()
    assert run("decide", root, "--option", "1", "--announce", announced).code == 0
    assert run("roll", "--request", announced, "--save", folder / "answer.json").code == 0
    request = json_codec.loads(roll_pb2.RollRequest, announced.read_bytes())
    return Scene(either, run, folder, request)


def roll_sends(scene: Scene) -> str:
    announced = scene.folder.parent / "request.json"
    return scene.run("roll", "--request", announced).out


def decide(scene: Scene) -> str:
    return scene.run("decide", scene.folder / "root.json", "--option", "1").out


def decide_json(scene: Scene) -> str:
    return scene.run("decide", scene.folder / "root.json", "--option", "1", "--json").out


def verify(scene: Scene) -> str:
    return scene.run("verify", scene.answer, "--root", scene.service.root_key).out


def verify_json(scene: Scene) -> str:
    return scene.run("verify", scene.answer, "--root", scene.service.root_key, "--json").out


def verify_folder(scene: Scene) -> str:
    return scene.run("verify", scene.folder, "--root", scene.service.root_key).out


def verify_folder_json(scene: Scene) -> str:
    return scene.run("verify", scene.folder, "--root", scene.service.root_key, "--json").out


def audit(scene: Scene) -> str:
    return scene.run("audit", scene.folder, "--root", scene.service.root_key).out


def audit_json(scene: Scene) -> str:
    report = scene.folder.parent / "report.json"
    assert scene.run("audit", scene.folder, "--root", scene.service.root_key, "--json", report).code == 0
    return report.read_text()


def audit_page(scene: Scene) -> str:
    page = scene.folder.parent / "report.html"
    assert scene.run("audit", scene.folder, "--root", scene.service.root_key, "--html", page).code == 0
    return page.read_text()


def opened(scene: Scene) -> str:
    """Of a sealed answer: what opens it is made by hand, as `seal` makes it of a root."""
    from fairroll.sealed_file import SealedFile, create_sealed

    path = scene.folder.parent / "answer.sealed"
    create_sealed(path, SealedFile(scene.bundle.envelope.digest, scene.request))
    return scene.run("open", path).out


def rest_roll(scene: Scene) -> str:
    return scene.post("/v1/rolls", json_codec.to_value(scene.request))


def rest_verify(scene: Scene) -> str:
    return scene.post("/v1/rolls:verify", {"bundle": bundle_value(scene.bundle)})


def rest_verify_session(scene: Scene) -> str:
    root = replace(parse_bundle((scene.folder / "root.json").read_bytes()), key_list=None)
    return scene.post("/v1/sessions:verify", {"bundles": [bundle_value(root), bundle_value(scene.bundle)]})


def rest_stream(scene: Scene) -> str:
    line = json.dumps({"itemId": "1", "request": json_codec.to_value(scene.request)})
    request = urllib.request.Request(  # noqa: S310  our own
        f"{scene.service.rest}/v1/rolls:stream", f"{line}\n".encode(), {"content-type": "application/x-ndjson"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310  our own
        text: str = answer.read().decode()
    return text


def grpc_roll(scene: Scene) -> str:
    with scene.service.stub() as stub:
        return stub.Roll(scene.request).texts[0].plain


def grpc_stream(scene: Scene) -> str:
    with scene.service.stub() as stub:
        (item,) = stub.StreamRolls(iter([service_pb2.StreamRollsRequest(item_id="1", request=scene.request)]))
        return item.receipt.texts[0].plain


def grpc_verify(scene: Scene) -> str:
    with scene.service.stub() as stub:
        asked = service_pb2.VerifyReceiptRequest(bundle=bundle_message(scene.bundle))
        return "\n".join(stub.VerifyReceipt(asked).rests_on)


def grpc_verify_session(scene: Scene) -> str:
    root = replace(parse_bundle((scene.folder / "root.json").read_bytes()), key_list=None)
    bundles = [bundle_message(root), bundle_message(scene.bundle)]
    with scene.service.stub() as stub:
        (session,) = stub.VerifySession(service_pb2.VerifySessionRequest(bundles=bundles)).sessions
        return "\n".join(session.rests_on)


def bundle_value(bundle: Bundle) -> Any:  # noqa: ANN401  any JSON value
    return json_codec.to_value(bundle_message(bundle))


SHOWN: tuple[Callable[[Scene], str], ...] = (
    roll_sends,
    decide,
    decide_json,
    verify,
    verify_json,
    verify_folder,
    verify_folder_json,
    audit,
    audit_json,
    audit_page,
    opened,
    rest_roll,
    rest_stream,
    rest_verify,
    rest_verify_session,
    grpc_roll,
    grpc_stream,
    grpc_verify,
    grpc_verify_session,
)


@pytest.mark.parametrize("show", SHOWN, ids=lambda each: each.__name__)
def test_every_tool_says_where_there_was_no_guard_that_the_answer_could_be_previewed(
    scene: Scene, show: Callable[[Scene], str]
) -> None:
    record = roll_pb2.RollRecord.FromString(scene.bundle.envelope.payload)
    shown = show(scene)
    assert shown.strip()
    assert (PREVIEWED in shown) is (record.guard_mode == roll_pb2.GUARD_MODE_NONE)
