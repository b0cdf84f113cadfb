"""Notation and how to read it, as options: the same for all commands that take notation."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from fairroll.enums import full_name, short_names
from fairroll.errors import WrongUseError
from fairroll.v1 import notation_pb2
from fairroll.variables import variable_of

_ENUMS = {
    "dialect": notation_pb2.NotationCheck.Dialect.DESCRIPTOR,
    "rounding": notation_pb2.NotationCheck.Rounding.DESCRIPTOR,
}


def add_notation_options(parser: argparse.ArgumentParser) -> None:
    """Declare dialect, rounding and variables."""
    dialects, roundings = (", ".join(short_names(enum)) for enum in _ENUMS.values())
    parser.add_argument(
        "--dialect", type=_value_of("dialect"), help=f"whose notation it is: {dialects}; otherwise standard"
    )
    parser.add_argument(
        "--rounding",
        type=_value_of("rounding"),
        help=f"how the total is rounded: {roundings}; otherwise as the dialect does",
    )
    parser.add_argument(
        "--var",
        action="append",
        default=[],
        type=_variable,
        metavar="NAME=VALUE",
        help="a variable of the notation: an integer, or the label of an option that a query of Roll20 takes",
    )


def notation_check(text: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return a NotationCheck as JSON."""
    check: dict[str, Any] = {"text": text}
    check |= {name: chosen for name in _ENUMS if (chosen := getattr(options, name))}
    if options.var:
        check["variables"] = options.var
    return check


def require_no_reading(options: argparse.Namespace) -> None:
    """Refuse options that would change nothing, where no notation was given.

    Raises:
        WrongUseError: FIELD_CONFLICT.
    """
    for option in (*_ENUMS, "var"):
        if getattr(options, option):
            raise WrongUseError("FIELD_CONFLICT", "it is about notation, and none is given here", field=f"--{option}")


def _value_of(option: str) -> Callable[[str], str]:
    enum = _ENUMS[option]

    def read(text: str) -> str:
        name = full_name(text, enum)
        if name not in enum.values_by_name:
            raise argparse.ArgumentTypeError(f"choose one of {', '.join(short_names(enum))}, not {text!r}")
        return name

    return read


dialect_of = _value_of("dialect")
"""Reads the name of a dialect, short or as the contract has it."""


def short_dialect(number: int) -> str:
    """Return the short name of a dialect."""
    return short_names(_ENUMS["dialect"])[number - 1]


def _variable(text: str) -> dict[str, str]:
    variable = variable_of(text)
    if variable is None:
        raise argparse.ArgumentTypeError(f"write NAME=INTEGER, such as str=3, or NAME=LABEL, not {text!r}")
    return variable
