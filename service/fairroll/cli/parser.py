"""Command lines: argparse, with notation that begins with a minus, and with errors as JSON where JSON is asked for."""

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from fairroll.cli.output import EXIT_USE, print_json

_MARK = "\0"  # no argument of a process can hold it
_DASHED = re.compile(r"-(?!-|h$).", re.DOTALL)


class Parser(argparse.ArgumentParser):
    """A parser whose complaints about wrong use are JSON where the command line asks for JSON."""

    _wants_json = False

    def parse_known_args(  # type: ignore[override]  # typeshed has overloads for namespaces of other types
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        self._wants_json = "--json" in (sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:  # noqa: ANN401  typeshed says so
        """Read an argument without its mark, but leave those alone that another parser is still to read."""
        own = arg_string if action.nargs == argparse.PARSER else arg_string.removeprefix(_MARK)
        return super()._get_value(action, own)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line, and end."""
        if self._wants_json:
            print_json({"error": {"code": "WRONG_USE", "message": message.replace(_MARK, "")}})
        else:
            self.print_usage(sys.stderr)
            print(f"{self.prog}: error: {message.replace(_MARK, '')}", file=sys.stderr)
        self.exit(EXIT_USE)


def hide_dashes(arguments: Sequence[str]) -> list[str]:
    """Mark arguments such as `-2d6`, which argparse would take for options: ours are --long ones, and -h."""
    return [_MARK + argument if _DASHED.match(argument) else argument for argument in arguments]


def integers(text: str) -> tuple[int, ...]:
    """Read `5,4,3,2`; nothing at all is none.

    Raises:
        argparse.ArgumentTypeError: it is not written so.
    """
    if not text.strip():
        return ()
    items = [item.strip() for item in text.split(",")]
    if not all(re.fullmatch(r"-?[0-9]{1,10}", item, re.ASCII) for item in items):
        raise argparse.ArgumentTypeError("write integers with commas between them, such as 5,4,3,2")
    return tuple(map(int, items))


def words(text: str) -> tuple[str, ...]:
    """Read `KEEP,CHANGE`; nothing at all is none."""
    return tuple(item.strip() for item in text.split(",")) if text.strip() else ()
