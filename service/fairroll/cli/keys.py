"""`fairroll keys`: the keys of a service, from the first pair to the day one leaks; and anybody's key list."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fairroll.cli.output import EXIT_GOOD, print_json, print_lines, read_root_key
from fairroll.cli.receipts import key_list_at
from fairroll.errors import RequestError, WrongUseError
from fairroll.key_list import KeyList, KeyStatus
from fairroll.keys import ROOT_SEED_FILE, init_keys, read_key_list, rotate_keys, seeds_held, set_key_status
from fairroll.trust import TrustFile
from fairroll.verify import judge_key_list

if TYPE_CHECKING:
    pass

DEFAULT_KEYS = "var/keys"

_EPILOG = """\
The root key signs every list and stays offline: rotate, retire and revoke where it is, then copy key-list.json, and
new seeds after it, to the service. A list never drops a key and its version rises, so old receipts stay verifiable.

examples:
  fairroll keys init keys --origin rolls.example/v1
  fairroll keys rotate keys --root-seed /media/safe/root.seed
  fairroll keys retire 1 keys --root-seed /media/safe/root.seed
  fairroll keys revoke 2 keys --root-seed /media/safe/root.seed
  fairroll keys list keys
  fairroll keys list --keys keys.json --root root.pub --trust trust.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `init`, `rotate`, `retire`, `revoke` and `list`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    commands = parser.add_subparsers(metavar="ACTION", required=True)
    init = commands.add_parser("init", help="make a root key, a VRF key and a receipt key in owner-only files")
    init.add_argument("--origin", required=True, help="the service's name, such as rolls.example/v1; it stays for good")
    init.add_argument("--development", action="store_true", help="mark them as made for trying things out")
    init.set_defaults(action=_init)
    rotate = commands.add_parser("rotate", help="make the keys of the next epoch; older sessions keep theirs")
    rotate.set_defaults(action=_rotate)
    retire = commands.add_parser("retire", help="end the use of keys; their receipts stay good")
    retire.set_defaults(action=partial(_set_status, status=KeyStatus.RETIRED))
    revoke = commands.add_parser(
        "revoke", help="end the trust in keys that leaked; their receipts are refused from now on"
    )
    revoke.set_defaults(action=partial(_set_status, status=KeyStatus.REVOKED))
    for command in (retire, revoke):
        command.add_argument("which", metavar="EPOCH", help="an epoch, for both its keys; or the id of one key")
    showing = commands.add_parser(
        "list", help="show the root public key and the key list, of this directory or another's"
    )
    showing.add_argument("--keys", metavar="FILE", help="a signed key list, as a service shows it; needs --root")
    showing.add_argument("--root", metavar="KEY", help="with --keys: the root key, 64 hex digits, or a file of them")
    showing.add_argument(
        "--trust", type=Path, metavar="FILE", help="with --keys: keep the list in this trust file, unless it is older"
    )
    showing.set_defaults(action=_list)
    for command in (init, rotate, retire, revoke, showing):
        command.add_argument(
            "directory",
            type=Path,
            nargs="?",
            default=os.environ.get("FAIRROLL_KEYS", DEFAULT_KEYS),
            help=f"the key directory; otherwise FAIRROLL_KEYS, or {DEFAULT_KEYS}. init refuses one with keys",
        )
        command.add_argument("--json", action="store_true", help="print JSON")
    for command in (rotate, retire, revoke):
        command.add_argument(
            "--root-seed",
            type=Path,
            metavar="FILE",
            help=f"the root's seed; otherwise {ROOT_SEED_FILE} in the directory",
        )


def run(options: argparse.Namespace) -> int:
    """Run the action that was named."""
    options.action(options)
    return EXIT_GOOD


def _init(options: argparse.Namespace) -> None:
    try:
        init_keys(options.directory, options.origin, development=options.development)
    except RequestError as error:
        raise WrongUseError(error.reason, error.message, field="--origin", value=error.value) from None
    _show_directory(options)
    if not options.json:
        seed = options.directory / ROOT_SEED_FILE
        print_lines([f"Keep {seed} offline: the service does not need it, and whoever has it can name other keys."])


def _rotate(options: argparse.Namespace) -> None:
    rotate_keys(options.directory, _root_seed(options))
    _show_directory(options)
    if not options.json:
        print_lines(["Publish key-list.json first, and give the service the new seeds after it; both need a restart."])


def _set_status(options: argparse.Namespace, status: KeyStatus) -> None:
    before, _ = read_key_list(options.directory)
    key_list = set_key_status(options.directory, _root_seed(options), options.which, status)
    _show_directory(options)
    if key_list == before and not options.json:
        print_lines([f"Nothing changed: {options.which} was {status} before, or is revoked."])
    left = key_list.active_epochs[-1:]
    if left != before.active_epochs[-1:] and not options.json:
        now = f"get the keys of epoch {left[0]} from now on" if left else "have no keys"
        print_lines([f"New sessions {now}: rotate."])
    over = sorted({key.epoch for key in key_list.keys} - set(key_list.active_epochs))
    seeds = [name for epoch in over for name in seeds_held(options.directory, epoch)]
    if seeds and not options.json:
        print_lines([f"Publish key-list.json, and remove {', '.join(seeds)}: the service does not start with them."])


def _list(options: argparse.Namespace) -> None:
    if options.keys is None:
        _show_directory(options)
        return
    if options.root is None:
        raise WrongUseError("ROOT_KEY_INVALID", "a list is judged by a root key: name it with --root", field="--root")
    root = read_root_key(options.root)
    trust = None if options.trust is None else TrustFile(options.trust)
    _show(options, judge_key_list(None, root, key_list_at(options.keys), trust), root)


def _root_seed(options: argparse.Namespace) -> Path:
    given: Path | None = options.root_seed
    return given or Path(options.directory) / ROOT_SEED_FILE


def _show_directory(options: argparse.Namespace) -> None:
    key_list, root = read_key_list(options.directory)
    held = {name for key in key_list.keys for name in seeds_held(options.directory, key.epoch)}
    _show(options, key_list, root, held)


def _show(options: argparse.Namespace, key_list: KeyList, root: bytes, held: Collection[str] = ()) -> None:
    rows = _rows(key_list, held)
    if options.json:
        shown = {"origin": key_list.origin, "root": root.hex(), "listVersion": key_list.list_version, "keys": rows}
        print_json(shown)
        return
    lines = [f"origin    {key_list.origin}", f"root key  {root.hex()}", f"key list  version {key_list.list_version}"]
    for row in rows:
        marks = "".join(
            f"  {word}" for word, here in (("development", "development"), ("seed here", "held")) if row[here]
        )
        lines.append(f"  {row['use']:<8}{row['status']:<9}epoch {row['epoch']}  {row['keyId']}{marks}")
    print_lines(lines)


def _rows(key_list: KeyList, held: Collection[str]) -> list[dict[str, object]]:
    return [
        {
            "keyId": key.key_id,
            "use": str(key.use),
            "status": str(key.status),
            "epoch": key.epoch,
            "publicKey": key.public_key.hex(),
            "development": key.development,
            "held": f"{key.use}-{key.epoch}.seed" in held,
        }
        for key in key_list.keys
    ]
