"""`fairroll serve`: start the service."""

import argparse

from fairroll.errors import ServiceError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare nothing: the environment configures the service, as docs/configuration.md says."""
    parser.epilog = "Settings come from the environment, FAIRROLL_*: see docs/configuration.md."


def run(options: argparse.Namespace) -> int:  # noqa: ARG001  every command takes its options
    """Serve until a signal ends it."""
    try:
        from fairroll.main import serve
    except ModuleNotFoundError as error:
        raise ServiceError(
            "SERVER_NOT_INSTALLED", "install fairroll[server] to serve", value=error.name or ""
        ) from None
    return serve()
