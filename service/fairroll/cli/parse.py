"""`fairroll parse`: what notation means. Nothing is rolled, and no service is asked."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from fairroll import json_codec
from fairroll.cli.notation_options import add_notation_options, dialect_of, notation_check, short_dialect
from fairroll.cli.output import EXIT_GOOD, EXIT_NO, caret, print_json, print_lines, read_file
from fairroll.errors import RequestError
from fairroll.notation_info import parse_notation
from fairroll.v1 import service_pb2

_NUMBERS = ("min", "max", "minimum", "maximum")

_EPILOG = """\
examples:
  fairroll parse 4d6kh3
  fairroll parse '1d20+@str' --var str=3 --json
  fairroll parse '4d6r1kh3' --dialect foundry --translate-to avrae --readings

exit codes: 0 a roll with it would be accepted, 1 it would be refused"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the notation and how to read it."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("text", metavar="NOTATION", help="such as 4d6kh3; - reads it from standard input")
    add_notation_options(parser)
    parser.add_argument("--translate-to", type=dialect_of, metavar="DIALECT", help="also write it in this dialect")
    parser.add_argument("--readings", action="store_true", help="also say how each dialect reads it")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Parse and print."""
    text = _standard_input() if options.text == "-" else options.text
    asked: dict[str, Any] = {"check": notation_check(text, options)}
    if options.translate_to:
        asked["translateTo"] = options.translate_to
    parsed = parse_notation(json_codec.from_value(service_pb2.ParseNotationRequest, asked))
    if options.json:
        print_json(_value(parsed))
    else:
        print_lines([*_lines(parsed, text), *(_readings(parsed) if options.readings else ())])
    return EXIT_GOOD if parsed.valid else EXIT_NO


def _standard_input() -> str:
    try:
        return read_file("-").decode().removesuffix("\n")
    except UnicodeDecodeError:
        raise RequestError("TEXT_INVALID", "the notation is not UTF-8", field="text") from None


def _value(parsed: service_pb2.ParseNotationResponse) -> dict[str, Any]:
    """Return the answer as JSON, without what a text that is refused does not have; bounds and limits are numbers."""
    value: dict[str, Any] = json_codec.to_value(parsed)
    _as_numbers(value)
    if parsed.valid:
        return value
    _as_numbers(value["error"].get("limit", {}))
    names = ["valid", "error", "warnings", "readings"]
    if parsed.tree:
        names += ["canonical", "canonicalDialect", "tree", *(["translation"] if parsed.HasField("translation") else [])]
    return {name: value[name] for name in names}


def _as_numbers(members: dict[str, Any]) -> None:
    """Turn 64-bit integers, which protobuf's JSON writes as text for JavaScript's sake, into numbers."""
    for name in _NUMBERS:
        if name in members:
            members[name] = int(members[name])


def _lines(parsed: service_pb2.ParseNotationResponse, text: str) -> Iterable[str]:
    if parsed.valid:
        yield f"canonical  {parsed.canonical}"
        yield f"total      {parsed.min} .. {parsed.max}" if parsed.HasField("min") else "total      none, it repeats"
        yield f"draws      {parsed.draws:,} before any die is rolled again"
        yield "tree"
        for node in parsed.tree:
            label = f" [{node.label}]" if node.label else ""
            source = text[node.span.start : node.span.end]
            yield f"  {'  ' * node.depth}{node.kind}{label}  {source}".rstrip()
    else:
        error = parsed.error
        yield f"not valid: {error.message} [{error.code}]"
        if error.HasField("span"):
            yield from caret(text, error.span.start, error.span.end)
        if error.expected:
            yield f"  expected: {', '.join(error.expected)}"
        if error.hint:
            yield f"  hint: {error.hint}"
    if parsed.translation.text:
        yield f"translated {parsed.translation.text}"
    elif parsed.HasField("translation"):
        error = parsed.translation.error
        yield f"cannot be translated: {error.message} [{error.code}]"
        yield from caret(text, error.span.start, error.span.end)
    for warning in parsed.warnings:
        yield f"warning: {warning.message} [{warning.code}]"
        yield from caret(text, warning.span.start, warning.span.end)


def _readings(parsed: service_pb2.ParseNotationResponse) -> Iterable[str]:
    yield "readings"
    for reading in parsed.readings:
        name = short_dialect(reading.dialect)
        if not reading.valid:
            yield f"  {name}: refused: {reading.error.message} [{reading.error.code}]"
        else:
            yield f"  {name}: {'differs' if reading.differs else 'the same'}: {reading.canonical}"
