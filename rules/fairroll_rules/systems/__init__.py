"""The registry: each module in this folder is a system, named as the module is.

What a module must have is written in `System`; nothing else names it anywhere. It may have `quantities(check)` as well,
for odds (`fairroll_rules.quantities`), and one with a policy ASK is `Asking` too; that one may have
`rows(check, draws)`, a line for the dice of everyone so far, where a plain list would mix what the game tells apart.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairroll_rules.decisions import Decisions, MostAsked
    from fairroll_rules.dice import Dice, Draw
    from fairroll_rules.outcome import Text


class System(Protocol):
    """What a module of this folder offers; checks and outcomes are frozen, validated dataclasses."""

    TITLE: str
    """The game's own name."""

    ENGINE: int
    """Engine version, from 1; every change of a draw's order or of an outcome is a new one."""

    CHECKS: tuple[type, ...]
    """The dataclass of each roll, named as its message in the proto file."""

    OUTCOMES: tuple[type, ...]
    """The dataclass of each roll's outcome, in the order of CHECKS."""

    def resolve(self, dice: Dice, decisions: Decisions, check: Any) -> tuple[Any, Any]:  # noqa: ANN401  each system has its own types
        """Return the value (hashable numbers in a NamedTuple) and the outcome of a check."""

    def draws(self, check: Any) -> int:  # noqa: ANN401  each system has its own types
        """Return the most draws that the check takes before any die is rolled again."""

    def text(self, check: Any, outcome: Any, draws: Sequence[Draw], /) -> Text:  # noqa: ANN401  each system has its own types
        """Return the outcome in the game's words; `draws` are those that its dice point into."""


class Asking(System, Protocol):
    """What a module offers whose checks have a policy ASK."""

    def most_asked(self, check: Any) -> MostAsked:  # noqa: ANN401  each system has its own types
        """Return what the decisions of the check come to at most: no roll may begin whose answers cannot be sent."""


@cache
def systems() -> Mapping[str, System]:
    """Return every system by its name, in alphabetical order."""
    names = sorted(module.name for module in iter_modules(__path__) if not module.name.startswith("_"))
    return MappingProxyType({name: import_module(f"{__name__}.{name}") for name in names})


def system_of(check: object) -> str:
    """Return the name of the system that a check or outcome belongs to: its class's module."""
    kind: type = type(check)
    return _system_of_type(kind)


@cache
def _system_of_type(kind: type) -> str:
    return kind.__module__.rpartition(".")[2]
