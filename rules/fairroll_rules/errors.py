"""Every error that a rule raises: one base, then by whose fault."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of notation text: `start` inclusive, `end` exclusive, in code points from 0."""

    start: int
    end: int


class RuleError(Exception):
    """Base of all errors of the rules.

    `reason` is a stable code in upper snake case; `field` a path in the check such as `advantage` or
    `actors[2].name`, empty for the check as a whole; `limit` names the limit that was hit, `maximum` is its
    value (with `minimum` where a range was left) and `value` what was given instead; `span`, `expected` and
    `hint` are set by the notation.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        field: str = "",
        limit: str = "",
        minimum: int | None = None,
        maximum: int | None = None,
        value: str = "",
        span: Span | None = None,
        expected: tuple[str, ...] = (),
        hint: str = "",
    ) -> None:
        super().__init__(reason, message)  # what unpickling calls again: odds may run in another process
        self.reason = reason
        self.message = message
        self.field = field
        self.limit = limit
        self.minimum = minimum
        self.maximum = maximum
        self.value = value
        self.span = span
        self.expected = expected
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class CheckError(RuleError):
    """The check itself is refused: the caller's fault, found before any draw."""


class AnswerError(RuleError):
    """Given faces or answers do not fit the check: the fault of whoever gave them."""


class LimitReached(RuleError):
    """A cap was reached while drawing: nobody's fault. The roll ends without a total, its draws stand."""


def require_range(field: str, value: int, minimum: int, maximum: int) -> None:
    """Refuse a value outside minimum..maximum.

    Raises:
        CheckError: OUT_OF_RANGE, with the field, both ends and the value.
    """
    if not minimum <= value <= maximum:
        raise CheckError(
            "OUT_OF_RANGE",
            f"{field} must be {minimum}..{maximum}, not {value}",
            field=field,
            minimum=minimum,
            maximum=maximum,
            value=str(value),
        )
