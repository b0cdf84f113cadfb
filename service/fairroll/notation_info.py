"""ParseNotation: what a text means, before anything is rolled."""

from __future__ import annotations

from collections.abc import Iterator

from fairroll.convert import read_check
from fairroll.errors import MAX_VALUE_CHARACTERS, RequestError, cut
from fairroll.v1 import errors_pb2, notation_pb2, roll_pb2, service_pb2
from fairroll_rules.errors import CheckError, Span
from fairroll_rules.notation import Dialect, Explained, Tree, outline, parse
from fairroll_rules.notation.dialects import reading_of
from fairroll_rules.notation.exact import ROUND
from fairroll_rules.systems import notation

_SYSTEM = "notation"


def parse_notation(request: service_pb2.ParseNotationRequest) -> service_pb2.ParseNotationResponse:
    """Return what a text means; one that is refused is an answer that says why, with the tree if it has one."""
    response = service_pb2.ParseNotationResponse()
    try:
        check = read_check(roll_pb2.Check(notation=request.check))
    except RequestError as error:
        response.error.CopyFrom(_error_message(error))
        tree = _tree_alone(request.check)
    else:
        response.valid = True
        program = notation.program_of(check)
        tree = program.tree
        response.draws = program.bounds.draws
        if program.times is None:
            to_whole = ROUND[check.rounding or reading_of(check.dialect).rounding]
            response.min = to_whole(program.bounds.minimum)
            response.max = to_whole(program.bounds.maximum)
    if tree is not None:
        _add_tree(response, tree)
    return response


def _tree_alone(check: notation_pb2.NotationCheck) -> Tree | None:
    """Return the tree of a text whose bounds or variables are refused; None where it does not parse either."""
    try:
        return parse(check.text, Dialect(check.dialect or Dialect.STANDARD.value))
    except (CheckError, ValueError):
        return None


def _add_tree(response: service_pb2.ParseNotationResponse, tree: Tree) -> None:
    response.canonical = tree.canonical
    response.canonical_dialect = notation_pb2.NotationCheck.Dialect.ValueType(tree.canonical_dialect.value)
    response.tree.extend(_node_messages(outline(tree.root, tree.dialect), 0))
    for warning in tree.warnings:
        response.warnings.add(code=warning.code, message=warning.message, span=_span_message(warning.span))


def _node_messages(node: Explained, depth: int) -> Iterator[service_pb2.NotationNode]:
    span = _span_message(node.span)
    yield service_pb2.NotationNode(kind=node.kind, depth=depth, span=span, label=node.label)
    for child in node.children:
        yield from _node_messages(child, depth + 1)


def _span_message(span: Span) -> errors_pb2.Span:
    return errors_pb2.Span(start=span.start, end=span.end)


def _error_message(error: RequestError) -> service_pb2.ParseError:
    message = service_pb2.ParseError(
        code=error.reason,
        message=error.message,
        field=error.field.removeprefix(_SYSTEM).removeprefix("."),
        expected=error.expected,
        hint=error.hint,
    )
    if error.span is not None:
        message.span.CopyFrom(errors_pb2.Span(start=error.span[0], end=error.span[1]))
    if error.limit or error.minimum is not None or error.maximum is not None:
        message.limit.CopyFrom(
            errors_pb2.LimitViolation(
                limit=error.limit or message.field,
                minimum=error.minimum,
                maximum=error.maximum,
                value=cut(error.value, MAX_VALUE_CHARACTERS),
            )
        )
    return message
