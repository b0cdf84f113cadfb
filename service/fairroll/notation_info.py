"""ParseNotation: what a text means, before anything is rolled."""

from __future__ import annotations

from collections.abc import Iterator

from fairroll.convert import read_check, request_error
from fairroll.errors import MAX_VALUE_CHARACTERS, RequestError, cut
from fairroll.v1 import errors_pb2, notation_pb2, roll_pb2, service_pb2
from fairroll_rules.errors import CheckError, Span
from fairroll_rules.notation import Dialect, Explained, Program, Rounding, Tree, outline, parse
from fairroll_rules.notation.dialects import reading_of
from fairroll_rules.notation.exact import ROUND
from fairroll_rules.notation.translate import translated
from fairroll_rules.systems import notation

_SYSTEM = "notation"


def parse_notation(request: service_pb2.ParseNotationRequest) -> service_pb2.ParseNotationResponse:
    """Return what a text means; one that is refused is an answer that says why, with the tree if it has one.

    Raises:
        RequestError: ENUM_UNKNOWN, `translate_to` is no dialect.
    """
    if request.translate_to not in notation_pb2.NotationCheck.Dialect.values():
        raise RequestError(
            "ENUM_UNKNOWN", "there is no such dialect", field="translate_to", value=str(request.translate_to)
        )
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
        if request.translate_to:
            _add_translation(response.translation, tree, request)
    response.readings.extend(_readings(request.check))
    return response


def _add_translation(
    translation: service_pb2.NotationTranslation, tree: Tree, request: service_pb2.ParseNotationRequest
) -> None:
    check = request.check
    # Of a check that is refused only the text may be fine.
    rounding = next((each for each in Rounding if each.value == check.rounding), None)
    bound = {each.name: each.choice or each.value for each in check.variables}
    try:
        translation.text = translated(tree, Dialect(request.translate_to), bound, rounding)
    except CheckError as error:
        translation.error.CopyFrom(_error_message(request_error(error)))


def _readings(check: notation_pb2.NotationCheck) -> list[service_pb2.NotationReading]:
    """Return how each dialect reads a text."""
    readings: list[service_pb2.NotationReading] = []
    programs: dict[Dialect, Program] = {}
    for dialect in Dialect:
        reading = service_pb2.NotationReading(dialect=_number(dialect))
        asked = notation_pb2.NotationCheck()
        asked.CopyFrom(check)
        asked.dialect = _number(dialect)
        try:
            program = notation.program_of(read_check(roll_pb2.Check(notation=asked)))
        except RequestError as error:
            reading.error.CopyFrom(_error_message(error))
        else:
            programs[dialect] = program
            reading.valid = True
            reading.canonical = program.tree.canonical
            reading.canonical_dialect = _number(program.tree.canonical_dialect)
        readings.append(reading)
    dialect_of_check = _dialect_of(check)
    own = programs.get(dialect_of_check) if dialect_of_check else None
    own = own or next(iter(programs.values()), None)
    for reading in readings:
        if reading.valid and own is not None:
            reading.differs = _differ(own, programs[Dialect(reading.dialect)], chosen=check.HasField("rounding"))
    return readings


def _differ(one: Program, other: Program, *, chosen: bool) -> bool:
    """Tell whether two readings come to different totals; `chosen` where the check says how to round."""
    if one.tree.root != other.tree.root:
        return True
    roundings = {reading_of(each.tree.dialect).rounding for each in (one, other)}
    # Below zero the dialects' own roundings part ways.
    return len(roundings) > 1 and not (chosen or one.bounds.whole or one.bounds.minimum >= 0)


def _dialect_of(check: notation_pb2.NotationCheck) -> Dialect | None:
    try:
        return Dialect(check.dialect or Dialect.STANDARD.value)
    except ValueError:
        return None


def _number(dialect: Dialect) -> notation_pb2.NotationCheck.Dialect.ValueType:
    return notation_pb2.NotationCheck.Dialect.ValueType(dialect.value)


def _tree_alone(check: notation_pb2.NotationCheck) -> Tree | None:
    """Return the tree of a text whose bounds or variables are refused; None where it does not parse either."""
    try:
        return parse(check.text, Dialect(check.dialect or Dialect.STANDARD.value))
    except (CheckError, ValueError):
        return None


def _add_tree(response: service_pb2.ParseNotationResponse, tree: Tree) -> None:
    response.canonical = tree.canonical
    response.canonical_dialect = _number(tree.canonical_dialect)
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
