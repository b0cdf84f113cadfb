"""What is counted and timed, in a registry of its own that the composition root hands around."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector

if TYPE_CHECKING:
    from fairroll.v1.roll_pb2 import RollRecord

CALL_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
VRF_BUCKETS = (0.0002, 0.0003, 0.0004, 0.0005, 0.0006, 0.0008, 0.001, 0.002, 0.005, 0.02)
UNKNOWN_METHOD = "unknown"
"""The one label of all methods and routes that do not exist: what callers make up must not become a series."""


class Metrics:
    """The metrics of one process.

    Attributes:
        registry: for `/metrics`.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._calls = Counter("fairroll_calls", "Calls answered.", ("door", "method", "code"), registry=self.registry)
        self._seconds = Histogram(
            "fairroll_call_seconds",
            "Time from a call's arrival to its answer.",
            ("door", "method"),
            buckets=CALL_BUCKETS,
            registry=self.registry,
        )
        self._items = Counter(
            "fairroll_stream_items", "Items of streams answered.", ("door", "code"), registry=self.registry
        )
        self._rolls = Counter(
            "fairroll_rolls", "Rolls with at least one check of the system.", ("system",), registry=self.registry
        )
        self._checks = Counter("fairroll_checks", "Checks resolved.", ("system",), registry=self.registry)
        self._draws = Counter("fairroll_draws", "Faces drawn.", registry=self.registry)
        self._vrf = Histogram(
            "fairroll_vrf_seconds", "Time of one VRF proof.", buckets=VRF_BUCKETS, registry=self.registry
        )
        # Looking a child up costs more than counting does, so each is looked up once.
        self._bound_calls: dict[tuple[str, str, str], tuple[Counter, Histogram]] = {}
        self._bound_items: dict[tuple[str, str], Counter] = {}
        # By engine, such as `notation/1`.
        self._bound_systems: dict[str, tuple[Counter, Counter]] = {}

    def observe_call(self, door: str, method: str, code: str, seconds: float) -> None:
        """Count one answered call.

        Args:
            door: `grpc` or `rest`.
            method: the call's name in the contract such as `Roll`, or UNKNOWN_METHOD; never a raw path.
            code: the name of its gRPC code.
            seconds: from its arrival to its answer.
        """
        bound = self._bound_calls.get((door, method, code))
        if bound is None:
            bound = self._calls.labels(door, method, code), self._seconds.labels(door, method)
            self._bound_calls[door, method, code] = bound
        bound[0].inc()
        bound[1].observe(seconds)

    def observe_item(self, door: str, code: str) -> None:
        """Count one answered item of a stream."""
        bound = self._bound_items.get((door, code))
        if bound is None:
            bound = self._bound_items[door, code] = self._items.labels(door, code)
        bound.inc()

    def observe_roll(self, record: RollRecord) -> None:
        """Count what a roll gave: its systems, checks and draws."""
        outcomes = record.outcomes
        self._draws.inc(sum([len(outcome.draws) for outcome in outcomes]))
        engines = [outcome.engine for outcome in outcomes]
        for engine in dict.fromkeys(engines):
            bound = self._bound_systems.get(engine)
            if bound is None:
                system = engine.partition("/")[0]
                bound = self._bound_systems[engine] = self._rolls.labels(system), self._checks.labels(system)
            bound[0].inc()
            bound[1].inc(engines.count(engine))

    def observe_vrf(self, seconds: float) -> None:
        """Time one VRF proof."""
        self._vrf.observe(seconds)
