"""Errors of the service layer, by whose fault they are.

Each carries what its mapping to gRPC and REST needs (a stable reason, the field,
the limit), so that no caller has to read the message.
"""

from enum import IntEnum


class FairrollError(Exception):
    """Base of every error that this package raises on purpose.

    Attributes:
        reason: stable code in UPPER_SNAKE, made for programs.
        message: one sentence for people; holds no path and no secret.
        field: the offending field as the contract spells it (`session.table`), or "".
        limit: the name of the limit that was passed (`table_bytes`), or "".
        minimum: the least value that the range allows, or None.
        maximum: the greatest value that the limit or range allows, or None.
        value: what was given, as text, or "".
        span: first code point of the notation at fault and the one after its last, or None.
        expected: what could have stood there.
        hint: a way out, or "".
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
        span: tuple[int, int] | None = None,
        expected: tuple[str, ...] = (),
        hint: str = "",
    ) -> None:
        """Keep the reason, the message and the hints for the mapping."""
        super().__init__(message)
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


class RequestError(FairrollError):
    """The caller's input is refused, and would be refused again."""


class StateError(FairrollError):
    """The input is well formed but does not fit what the service holds or has done."""


class KeyFileError(FairrollError):
    """The operator's key or trust files are missing, exposed or in contradiction."""


class ServiceError(FairrollError):
    """The service itself failed, whatever the caller or the operator did."""


class Step(IntEnum):
    """The steps of verification (protocol section 6); 0 is judging the key list."""

    KEY_LIST = 0
    SIGNATURE = 1
    PARSE = 2
    KEYS = 3
    SESSION = 4
    REVEALS = 5
    VRF = 6
    DRAWS = 7
    RULES = 8


class VerificationError(FairrollError):
    """A receipt, or the key list it rests on, does not verify.

    Attributes:
        step: the step of protocol section 6 that failed.
    """

    def __init__(
        self,
        step: Step,
        reason: str,
        message: str,
        *,
        field: str = "",
        value: str = "",
    ) -> None:
        """Keep the step beside what every error carries."""
        super().__init__(reason, message, field=field, value=value)
        self.step = step
