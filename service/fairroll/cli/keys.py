"""`fairroll keys`: make the keys of a service and show them."""

import argparse
import os
from pathlib import Path

from fairroll.cli.output import EXIT_GOOD, print_json
from fairroll.errors import RequestError, WrongUseError
from fairroll.key_list import KeyList
from fairroll.keys import ROOT_SEED_FILE, init_keys, load_keys

DEFAULT_KEYS = "var/keys"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `init` and `show`."""
    commands = parser.add_subparsers(metavar="ACTION", required=True)
    init = commands.add_parser("init", help="make a root key, a VRF key and a receipt key in owner-only files")
    init.add_argument("--origin", required=True, help="the service's name, such as rolls.example/v1; it stays for good")
    init.add_argument("--development", action="store_true", help="mark them as made for trying things out")
    init.set_defaults(action=_init)
    show = commands.add_parser("show", help="show the root public key and the key list")
    show.set_defaults(action=_show)
    for command in (init, show):
        command.add_argument(
            "directory",
            type=Path,
            nargs="?",
            default=os.environ.get("FAIRROLL_KEYS", DEFAULT_KEYS),
            help=f"the key directory; otherwise FAIRROLL_KEYS, or {DEFAULT_KEYS}. init refuses one with keys",
        )
        command.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Run the action that was named."""
    code: int = options.action(options)
    return code


def _init(options: argparse.Namespace) -> int:
    try:
        init_keys(options.directory, options.origin, development=options.development)
    except RequestError as error:
        raise WrongUseError(error.reason, error.message, field="--origin", value=error.value) from None
    code = _show(options)
    if not options.json:
        seed = options.directory / ROOT_SEED_FILE
        print(f"Keep {seed} offline: the service does not need it, and whoever has it can name other keys.")
    return code


def _show(options: argparse.Namespace) -> int:
    keys = load_keys(options.directory)
    root = keys.root_public_key.hex()
    if options.json:
        print_json(
            {
                "origin": keys.origin,
                "root": root,
                "listVersion": keys.key_list.list_version,
                "keys": _rows(keys.key_list),
            }
        )
        return EXIT_GOOD
    print(f"origin    {keys.origin}\nroot key  {root}\nkey list  version {keys.key_list.list_version}")
    for row in _rows(keys.key_list):
        development = "  development" if row["development"] else ""
        print(f"  {row['use']:<8}{row['status']:<9}epoch {row['epoch']}  {row['keyId']}{development}")
    return EXIT_GOOD


def _rows(key_list: KeyList) -> list[dict[str, object]]:
    return [
        {
            "keyId": key.key_id,
            "use": str(key.use),
            "status": str(key.status),
            "epoch": key.epoch,
            "publicKey": key.public_key.hex(),
            "development": key.development,
        }
        for key in key_list.keys
    ]
