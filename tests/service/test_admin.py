"""The admin port's application, called as uvicorn calls it."""

from pathlib import Path
from typing import Any

import pytest

from fairroll.admin import Message, Readiness, make_admin
from fairroll.metrics import Metrics
from fairroll.v1.roll_pb2 import CheckOutcome, Draw, RollRecord


async def ask(
    metrics: Metrics, readiness: Readiness, path: str, method: str = "GET"
) -> tuple[int, dict[str, str], str]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    await make_admin(metrics.registry, readiness)({"type": "http", "method": method, "path": path}, receive, send)
    start, body = sent
    headers: dict[Any, Any] = {name.decode(): value.decode() for name, value in start["headers"]}
    return start["status"], headers, body["body"].decode()


@pytest.mark.parametrize(("state", "status"), [("starting", 503), ("ready", 200), ("draining", 503)])
async def test_readyz_is_yes_only_between_start_and_drain(state: str, status: int) -> None:
    readiness = Readiness()
    assert readiness.state == "starting"
    readiness.state = state
    assert (await ask(Metrics(), readiness, "/readyz"))[::2] == (status, f"{state}\n")
    assert (await ask(Metrics(), readiness, "/livez"))[0] == 200


async def test_metrics_tell_what_was_counted() -> None:
    metrics = Metrics()
    metrics.observe_call("grpc", "Roll", "OK", 0.003)
    metrics.observe_call("grpc", "Roll", "OK", 0.03)
    metrics.observe_item("grpc", "INTERNAL")
    metrics.observe_vrf(0.00045)
    notation = CheckOutcome(engine="notation/1", draws=[Draw(), Draw(), Draw()])
    crossroads = CheckOutcome(engine="crossroads/1", draws=[Draw()])
    metrics.observe_roll(RollRecord(outcomes=[notation, crossroads, notation]))
    status, headers, body = await ask(metrics, Readiness(), "/metrics")
    assert (status, headers["content-type"].partition(";")[0]) == (200, "text/plain")
    for line in (
        'fairroll_calls_total{code="OK",door="grpc",method="Roll"} 2.0',
        'fairroll_call_seconds_bucket{door="grpc",le="0.005",method="Roll"} 1.0',
        'fairroll_call_seconds_count{door="grpc",method="Roll"} 2.0',
        'fairroll_stream_items_total{code="INTERNAL",door="grpc"} 1.0',
        'fairroll_vrf_seconds_bucket{le="0.0005"} 1.0',
        'fairroll_rolls_total{system="notation"} 1.0',
        'fairroll_rolls_total{system="crossroads"} 1.0',
        'fairroll_checks_total{system="notation"} 2.0',
        "fairroll_draws_total 7.0",
    ):
        assert line in body.splitlines()


async def test_two_sets_of_metrics_do_not_share_a_registry() -> None:
    one, other = Metrics(), Metrics()
    one.observe_vrf(1)
    assert other.registry.get_sample_value("fairroll_vrf_seconds_count") == 0


@pytest.mark.parametrize("path", ["/", "/metrics/", "/metricsx", "/admin"])
async def test_other_paths_are_not_found(path: str) -> None:
    assert (await ask(Metrics(), Readiness(), path))[0] == 404


async def test_only_reading_is_allowed() -> None:
    status, headers, _ = await ask(Metrics(), Readiness(), "/metrics", "POST")
    assert (status, headers["allow"]) == (405, "GET, HEAD")


async def test_head_has_the_headers_and_no_body() -> None:
    status, headers, body = await ask(Metrics(), Readiness(), "/livez", "HEAD")
    assert (status, headers["content-length"], body) == (200, "6", "")


def test_the_page_on_configuration_names_every_metric() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "configuration.md").read_text()
    named = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `fairroll_")}
    families = [family for family in Metrics().registry.collect() if family.name.startswith("fairroll_")]
    assert named == {f"{each.name}_total" if each.type == "counter" else each.name for each in families}
