"""The command `fairroll`: one module a subcommand, each imported only when it is called.

Exit codes: 0 good, 1 the answer is no (refused, not valid, not verified), 2 wrong use (arguments, files, no service).
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

from fairroll.cli.output import EXIT_NO, EXIT_USE, print_error
from fairroll.cli.parser import Parser, hide_dashes
from fairroll.errors import FairrollError, KeyFileError, ServiceError, WrongUseError

COMMANDS = {
    "serve": "start the service",
    "roll": "ask a running service for a roll and print the dice",
    "decide": "answer the decisions that wait in a bundle",
    "seal": "roll, and tell the digest of the receipt alone",
    "open": "show the receipt of a roll that was sealed",
    "offer": "show a session before anybody opens, and open it: what level L1 needs",
    "chain": "give values of a co-seed chain of one's own, each for one request: what level L3 needs",
    "verify": "verify receipts offline, step by step",
    "audit": "verify any number of receipts and sessions, and report",
    "parse": "say what notation means; nothing is rolled",
    "resolve": "resolve a check on given faces; nothing is rolled, nothing is proved",
    "odds": "say what a check can give, before it is rolled",
    "systems": "list the systems, their rolls and fields",
    "keys": "make, rotate, retire, revoke and list the keys of a service",
    "guard": "close idle sessions in the store that lets a seq be used once",
    "apikeys": "say who may call a service, and as which tenant",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A label or a file name may hold what the terminal cannot show; the answer matters more.
        sys.stdout.reconfigure(errors="backslashreplace")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser(given[0] if given else "").parse_args(hide_dashes(given))
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except FairrollError as error:
        print_error(error, as_json=getattr(options, "json", False))
        return EXIT_USE if isinstance(error, KeyFileError | ServiceError | WrongUseError) else EXIT_NO
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python would complain once more while closing.
        sys.stderr.close()
        return EXIT_NO
    except KeyboardInterrupt:
        return 130  # 128 + SIGINT, as shells count
    return code


def _parser(command: str) -> argparse.ArgumentParser:
    parser = Parser(prog="fairroll", description="What did the dice say, and how do I know?")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, purpose in COMMANDS.items():
        subparser = commands.add_parser(name, help=purpose, description=purpose[0].upper() + purpose[1:] + ".")
        if name == command:
            # Only the command at hand is imported, so that an auditor's install needs nothing of a server.
            module = import_module(f"fairroll.cli.{name}")
            module.add_arguments(subparser)
            subparser.set_defaults(run=module.run)
    parser.epilog = "Exit codes: 0 good, 1 the answer is no, 2 wrong use. `fairroll COMMAND --help` says more."
    return parser
