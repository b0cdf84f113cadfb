"""Notation and how to read it, as options: the same for all commands that take notation."""

from __future__ import annotations

import argparse
from typing import Any

from fairroll.cli.enums import full_name, short_names
from fairroll.v1 import notation_pb2

_ENUMS = {
    "dialect": notation_pb2.NotationCheck.Dialect.DESCRIPTOR,
    "rounding": notation_pb2.NotationCheck.Rounding.DESCRIPTOR,
}


def add_notation_options(parser: argparse.ArgumentParser) -> None:
    """Declare dialect, rounding and variables."""
    dialects, roundings = (", ".join(short_names(enum)) for enum in _ENUMS.values())
    parser.add_argument("--dialect", help=f"whose notation it is: {dialects}; otherwise standard")
    parser.add_argument("--rounding", help=f"how the total is rounded: {roundings}; otherwise as the dialect does")
    parser.add_argument("--var", action="append", default=[], metavar="NAME=INTEGER", help="a variable of the notation")


def notation_check(text: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return a NotationCheck as JSON."""
    check: dict[str, Any] = {"text": text}
    for name, enum in _ENUMS.items():
        if word := getattr(options, name):
            check[name] = full_name(word, enum)
    if options.var:
        pairs = [pair.rpartition("=") for pair in options.var]
        check["variables"] = [{"name": name, "value": value} for name, _, value in pairs]
    return check
