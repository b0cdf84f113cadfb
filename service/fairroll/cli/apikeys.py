"""`fairroll apikeys`: who may call, and as which tenant."""

import argparse
from pathlib import Path

from fairroll.callers import add_api_key, read_api_keys, revoke_api_key
from fairroll.cli.output import EXIT_GOOD, print_json
from fairroll.errors import RequestError, WrongUseError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `add`, `list` and `revoke`."""
    commands = parser.add_subparsers(metavar="ACTION", required=True)
    add = commands.add_parser("add", help="make a key for a tenant and print it: it is shown only this once")
    add.add_argument("--tenant", required=True, help="whose rolls those of its callers are; public, and stays for good")
    add.set_defaults(action=_add)
    show = commands.add_parser("list", help="list the keys by id and tenant")
    show.set_defaults(action=_list)
    revoke = commands.add_parser("revoke", help="take a key out of the file; a running service notices within a second")
    revoke.add_argument("key_id", help="the key's id, as `list` shows it")
    revoke.set_defaults(action=_revoke)
    for command in (add, show, revoke):
        command.add_argument("file", type=Path, help="the file of API keys; `add` makes it if it is missing")
        command.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Run the action that was named."""
    options.action(options)
    return EXIT_GOOD


def _add(options: argparse.Namespace) -> None:
    try:
        key = add_api_key(options.file, options.tenant)
    except RequestError as error:
        raise WrongUseError(error.reason, error.message, field="--tenant", value=error.value) from None
    if options.json:
        print_json({"key": key, "tenant": options.tenant})
    else:
        print(key)


def _list(options: argparse.Namespace) -> None:
    keys = read_api_keys(options.file)
    if options.json:
        print_json({"keys": [{"keyId": key.key_id, "tenant": key.tenant} for key in keys]})
        return
    for key in keys:
        print(f"{key.key_id}  {key.tenant}")


def _revoke(options: argparse.Namespace) -> None:
    revoke_api_key(options.file, options.key_id)
    if options.json:
        print_json({"revoked": options.key_id})
    else:
        print(f"revoked {options.key_id}")
