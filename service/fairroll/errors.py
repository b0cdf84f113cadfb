"""Errors of the service layer, by whose fault they are.

Each carries what its mapping to gRPC and REST needs (a stable reason, the field,
the limit), so that no caller has to read the message. The mapping itself is `to_status`,
by the table of `fairroll.reasons`.
"""

from enum import IntEnum
from typing import TYPE_CHECKING

from fairroll.reasons import HTTP, TABLE, Code

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from google.rpc.status_pb2 import Status

DOMAIN = "fairroll"
"""The domain of our reasons in google.rpc.ErrorInfo."""
MAX_VALUE_CHARACTERS = 100
MAX_MESSAGE_CHARACTERS = 400
MAX_EXPECTED = 20


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


class UsedError(StateError):
    """What was used before is in the way.

    Attributes:
        digest: of the receipt that stands, 64 hex digits; "" where none does.
    """

    def __init__(self, reason: str, message: str, *, field: str = "", value: str = "", digest: str = "") -> None:
        """Keep the digest beside what every error carries."""
        super().__init__(reason, message, field=field, value=value)
        self.digest = digest


class WrongUseError(FairrollError):
    """The command line is not one that the command takes."""


class CallerError(FairrollError):
    """Nobody knows who calls."""


class KeyFileError(FairrollError):
    """The operator's key or trust files are missing, exposed or in contradiction."""


class SettingsError(FairrollError):
    """The operator's settings cannot be read, or the machine does not allow them."""


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


def code_of(error: FairrollError) -> Code:
    """Return the gRPC code of an error: its reason's, or that of whose fault it is where the table lacks it."""
    row = TABLE.get(error.reason)
    if row is not None:
        return row.code
    if isinstance(error, StateError):
        return Code.FAILED_PRECONDITION
    return Code.INVALID_ARGUMENT if isinstance(error, RequestError | VerificationError) else Code.INTERNAL


def http_status_of(error: FairrollError) -> int:
    """Return the HTTP status of an error."""
    row = TABLE.get(error.reason)
    return row.http if row is not None else HTTP[code_of(error)]


def to_status(error: FairrollError) -> "Status":
    """Return what a caller is told: code, message, and the details that the error carries.

    Only for errors that are the caller's business: one whose code is INTERNAL is answered by `internal_status`.
    Texts are cut, since they travel in trailers, of which clients take 8 KiB.
    """
    # Whoever only raises errors need not load messages.
    from google.rpc.error_details_pb2 import BadRequest, ErrorInfo  # noqa: PLC0415

    from fairroll.v1.errors_pb2 import LimitViolation, NotationViolation, Span  # noqa: PLC0415

    metadata = {"step": str(int(error.step))} if isinstance(error, VerificationError) else {}
    if isinstance(error, UsedError) and error.digest:
        metadata["digest"] = error.digest
    details: list[Message] = [ErrorInfo(reason=error.reason, domain=DOMAIN, metadata=metadata)]
    message = cut(error.message, MAX_MESSAGE_CHARACTERS)
    if error.field:
        violation = BadRequest.FieldViolation(field=error.field, description=message, reason=error.reason)
        details.append(BadRequest(field_violations=[violation]))
    if error.limit or error.minimum is not None or error.maximum is not None:
        details.append(
            LimitViolation(
                limit=error.limit or error.field,
                minimum=error.minimum,
                maximum=error.maximum,
                value=cut(error.value, MAX_VALUE_CHARACTERS),
            )
        )
    if error.span is not None or error.expected or error.hint:
        expected = [cut(each, MAX_VALUE_CHARACTERS) for each in error.expected[:MAX_EXPECTED]]
        span = None if error.span is None else Span(start=error.span[0], end=error.span[1])
        details.append(NotationViolation(span=span, expected=expected, hint=cut(error.hint, MAX_MESSAGE_CHARACTERS)))
    return _status(code_of(error), message, details)


def internal_status(call_id: str) -> "Status":
    """Return what a caller is told of a failure that must not happen: an id to report, and nothing else."""
    from google.rpc.error_details_pb2 import ErrorInfo  # noqa: PLC0415  as above

    info = ErrorInfo(reason="INTERNAL", domain=DOMAIN, metadata={"id": call_id})
    return _status(Code.INTERNAL, f"internal error {call_id}", [info])


def _status(code: Code, message: str, details: "list[Message]") -> "Status":
    from google.rpc.status_pb2 import Status  # noqa: PLC0415  as above

    status = Status(code=int(code), message=message)
    for detail in details:
        status.details.add().Pack(detail)
    return status


def cut(text: str, characters: int = MAX_MESSAGE_CHARACTERS) -> str:
    """Return text that is Unicode and no longer than that many characters."""
    clean = text.encode("utf-8", "replace").decode()  # half of a surrogate pair fits in no message
    return clean if len(clean) <= characters else clean[: characters - 3] + "..."
