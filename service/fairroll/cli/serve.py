"""`fairroll serve`: start the service."""

import argparse

from fairroll.errors import ServiceError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is not a setting: those come from the environment, as docs/configuration.md says."""
    parser.add_argument(
        "--json", action="store_true", help="log JSON lines, as FAIRROLL_LOG_FORMAT=json does, and errors as JSON"
    )
    parser.epilog = "Settings come from the environment, FAIRROLL_*: see docs/configuration.md."


def run(options: argparse.Namespace) -> int:
    """Serve until a signal ends it."""
    try:
        from fairroll.main import serve
    except ModuleNotFoundError as error:
        raise ServiceError(
            "SERVER_NOT_INSTALLED", "install fairroll[server] to serve", value=error.name or ""
        ) from None
    return serve(as_json=options.json)
