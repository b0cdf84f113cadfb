"""The use case and its keys with a clock and counters around them; they know of neither."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fairroll.ecvrf import VrfKey
from fairroll.keys import ServiceKeys
from fairroll.metrics import Metrics
from fairroll.roll import Prepared, Roller
from fairroll.v1.roll_pb2 import RollResponse


class MeasuredRoller(Roller):
    """A Roller whose rolls and proofs are counted."""

    def __init__(self, keys: ServiceKeys, metrics: Metrics, **options: Any) -> None:  # noqa: ANN401  the Roller's own
        """Roll with `keys`, count with `metrics`."""
        epochs = tuple(replace(epoch, vrf=_TimedVrfKey(epoch.vrf, metrics.observe_vrf)) for epoch in keys.epochs)
        super().__init__(replace(keys, epochs=epochs), **options)
        self._metrics = metrics

    def prove(self, prepared: Prepared) -> RollResponse:
        """Roll, and count what it gave."""
        response = super().prove(prepared)
        self._metrics.observe_roll(response.record)
        return response


class _TimedVrfKey(VrfKey):
    """A VRF key that tells how long each proof took."""

    __slots__ = ("_key", "_observe")

    def __init__(self, key: VrfKey, observe: Callable[[float], None]) -> None:
        self.public_key = key.public_key
        self._key = key
        self._observe = observe

    def prove(self, alpha: bytes) -> tuple[bytes, bytes]:
        started = time.perf_counter()
        proof = self._key.prove(alpha)
        self._observe(time.perf_counter() - started)
        return proof
