"""The checks of a request, judged before anything is proved: what is refused here has drawn nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from fairroll.bundle import MAX_CHAIN, MAX_CHAIN_BYTES
from fairroll.convert import asks, check_path, join_path, open_policy, read_check, request_error
from fairroll.errors import RequestError
from fairroll.receipt import MAX_RECEIPT_BYTES, is_digest
from fairroll.v1 import roll_pb2, session_pb2
from fairroll_rules.decisions import Option
from fairroll_rules.errors import RuleError
from fairroll_rules.limits import MAX_CHECKS, MAX_DRAWS, MAX_NAME_BYTES, MAX_NODES, MAX_TEXT_BYTES
from fairroll_rules.systems import Asking, system_of, systems

MAX_CITES = 16
MAX_REQUEST_ID_BYTES = 100

_DRAW_BYTES = 64
"""What one draw adds to a record at most, in its draw and in its die, without the actor's name."""

_WAITING_BYTES = 640
"""What a record that waits has at most beside session, checks, answers, draws and decisions."""
_WAITING_DRAW_BYTES = 16
"""What one draw adds to it at most, without the actor's name; no die of an outcome stands there yet."""
_DECISION_BYTES = 80
"""What a decision adds to it at most, without the actor's name and without options."""
_ANSWER_BYTES = 40
"""What an answer adds at most to the record that brings it."""
_OPTION_BYTES = 8
"""What an option adds to the texts that it holds."""


def read_checks(
    request: roll_pb2.RollRequest, *, in_session: bool = True, session: session_pb2.Session | None = None
) -> list[Any]:
    """Return the checks of a request, each validated by its system.

    Args:
        request: as it stands in its record.
        in_session: whether later seqs can answer what a check asks.
        session: as it stands in every record of the roll, where there is one.

    Raises:
        RequestError: one is refused, all together pass a limit of a record, or what one asks could pass those of the
            chain that its last answer brings.
    """
    if not request.checks:
        raise RequestError("REQUIRED", "a roll has at least one check", field="checks")
    require_limit("checks", len(request.checks), MAX_CHECKS, "checks")
    checks = [_read_check(message, index) for index, message in enumerate(request.checks)]
    _check_asking(checks, in_session=in_session)
    _check_draws(request, checks)
    check_text(request)
    _check_nodes(checks)
    if len(checks) == 1 and asks(checks[0]):
        _check_chain(request, checks[0], 0 if session is None else session.ByteSize())
    return checks


def read_check_alone(message: roll_pb2.Check, path: str) -> Any:  # noqa: ANN401  each system has its own types
    """Return a check that is not rolled, held to what a roll of it alone is held to.

    Raises:
        RequestError: it is refused; the field's path begins with `path`.
    """
    try:
        (check,) = read_checks(roll_pb2.RollRequest(checks=[message]))
    except RequestError as error:
        error.field = path + error.field.removeprefix("checks").removeprefix("[0]")
        raise
    return check


def require_limit(limit: str, value: int, maximum: int, field: str) -> None:
    """Refuse a number above a limit of GetLimits.

    Raises:
        RequestError: LIMIT_EXCEEDED, with the limit's name, its value and what was given.
    """
    if value > maximum:
        raise RequestError(
            "LIMIT_EXCEEDED",
            f"{field}: {value} is above the limit {limit} of {maximum}",
            field=field,
            limit=limit,
            maximum=maximum,
            value=str(value),
        )


def require_digest(text: str, field: str) -> None:
    """Refuse what is not 64 lower-case hex digits.

    Raises:
        RequestError: DIGEST_MALFORMED.
    """
    if not is_digest(text):
        raise RequestError("DIGEST_MALFORMED", "a digest is 64 lower-case hex digits", field=field, value=text)


def _read_check(message: roll_pb2.Check, index: int) -> Any:  # noqa: ANN401  each system has its own types
    path = f"checks[{index}]"
    for name, text in (("label", message.label), ("actor", message.actor)):
        if text:
            require_limit(f"{name}_bytes", len(text.encode()), MAX_NAME_BYTES, f"{path}.{name}")
    if message.cites:
        require_limit("cites", len(message.cites), MAX_CITES, f"{path}.cites")
        for place, digest in enumerate(message.cites):
            require_digest(digest, f"{path}.cites[{place}]")
    try:
        return read_check(message)
    except RequestError as error:
        error.field = join_path(path, error.field)
        raise


def _check_asking(checks: list[Any], *, in_session: bool) -> None:
    if in_session and len(checks) == 1:
        return
    for index, check in enumerate(checks):
        if asking := open_policy(check):
            field = join_path(f"checks[{index}].{check_path(check)}", asking)
            if in_session:
                raise RequestError(
                    "ASK_NOT_ALONE", "a check whose policy is ASK stands alone in its request", field=field, value="ASK"
                )
            raise RequestError(
                "SESSION_REQUIRED",
                "the policy is ASK, and the answer is a later roll of the same session: name a table",
                field=field,
                value="ASK",
            )


def _check_draws(request: roll_pb2.RollRequest, checks: list[Any]) -> None:
    total = 0
    for index, check in enumerate(checks):
        try:
            count = systems()[system_of(check)].draws(check)
        except RuleError as error:
            raise request_error(error, f"checks[{index}].{check_path(check)}") from error
        total += count
    require_limit("draws", total, MAX_DRAWS, "checks")
    # Every draw repeats its actor's name, so many draws with long names pass the size of a receipt first. Rerolls
    # come on top of `total`; no rule with actors rerolls more dice than it rolled.
    most = min(MAX_DRAWS, 2 * total)
    if most * (_DRAW_BYTES + MAX_NAME_BYTES) > MAX_RECEIPT_BYTES:
        require_limit("receipt_bytes", most * (_DRAW_BYTES + _longest_name(request)), MAX_RECEIPT_BYTES, "checks")


def _check_chain(request: roll_pb2.RollRequest, check: Any, session_bytes: int) -> None:  # noqa: ANN401  as above
    """Refuse a check whose last answer might have to bring a longer chain than one may: it could not be finished."""
    system = systems()[system_of(check)]
    most = cast("Asking", system).most_asked(check)
    name_bytes = _longest_name(request)
    # A draw without a name of its own is the check's actor's and names nobody; a decision then names that actor.
    decision_bytes = _DECISION_BYTES + max(name_bytes, len(request.checks[0].actor.encode()))
    draws_bytes = (system.draws(check) + most.again) * (_WAITING_DRAW_BYTES + name_bytes)
    stops, decisions, chain_bytes = 0, 0, request.ByteSize()
    for asked in most.rounds:
        # Each record repeats the draws and the decisions before it.
        decisions += len(asked)
        if any(asked):
            stops += 1
            chain_bytes += session_bytes + _WAITING_BYTES + draws_bytes + decisions * decision_bytes
            chain_bytes += sum(map(_options_bytes, asked)) + len(asked) * _ANSWER_BYTES
    for limit, value, maximum in (("chain", stops, MAX_CHAIN), ("chain_bytes", chain_bytes, MAX_CHAIN_BYTES)):
        if value > maximum:
            raise RequestError(
                "LIMIT_EXCEEDED",
                f"its answers could come to a {limit} of {value}, above the limit of {maximum}: "
                "the roll could not be finished",
                field="checks[0]",
                limit=limit,
                maximum=maximum,
                value=str(value),
                hint="name fewer actors, give them shorter names, or let policies decide more",
            )


@cache
def _options_bytes(options: tuple[Option, ...]) -> int:
    return sum([_OPTION_BYTES + len(each.id.encode()) + len(each.meaning.encode()) for each in options])


def check_text(request: roll_pb2.RollRequest) -> None:
    """Refuse more text than one record holds.

    Raises:
        RequestError: LIMIT_EXCEEDED.
    """
    # All text is in the message, so a message below the limit needs no counting.
    if request.ByteSize() > MAX_TEXT_BYTES:
        require_limit("text_bytes", sum(_text_sizes(request)), MAX_TEXT_BYTES, "checks")


def _check_nodes(checks: list[Any]) -> None:
    counters = _node_counters()
    total = sum([counters[name](check) for check in checks if (name := system_of(check)) in counters])
    require_limit("record_nodes", total, MAX_NODES, "checks")


@cache
def _node_counters() -> dict[str, Callable[[Any], int]]:
    """Return what counts the nodes of a check, for the systems that parse text and so have any."""
    return {name: count for name, system in systems().items() if (count := getattr(system, "nodes", None))}


def _longest_name(request: roll_pb2.RollRequest) -> int:
    """Return the bytes of the longest text that may be an actor's name: one of a message inside a system's."""
    sizes = (
        size
        for check in request.checks
        for _, content in getattr(check, check.WhichOneof("system") or "").ListFields()
        for message in (content if isinstance(content, Iterable) else (content,))
        if isinstance(message, Message)
        for size in _text_sizes(message)
    )
    return max((size for size in sizes if size <= MAX_NAME_BYTES), default=0)


def _text_sizes(message: Message) -> Iterable[int]:
    """Yield the bytes of every text in a message and in those inside it."""
    for field, content in message.ListFields():
        items = content if field.is_repeated else (content,)
        if field.message_type is not None:
            for item in items:
                yield from _text_sizes(item)
        elif field.type == FieldDescriptor.TYPE_STRING:
            for item in items:
                yield len(item.encode())
