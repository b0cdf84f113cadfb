"""`fairroll roll`: ask a running service over REST, print the dice, keep the bundle."""

import argparse
import json
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from fairroll import files
from fairroll.cli.output import EXIT_GOOD, print_error, print_json
from fairroll.errors import FairrollError, ServiceError

DEFAULT_SERVER = "http://127.0.0.1:8080"
_TIMEOUT_SECONDS = 30
_BUNDLE_MODE = 0o644


class RefusedError(FairrollError):
    """The service refused the roll; all that it said is kept."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what to roll, where, and what to keep."""
    parser.add_argument(
        "what",
        nargs="*",
        metavar="NOTATION",
        help="dice such as 4d6kh3, several for several checks; with --system: a roll's name, then field=value ..",
    )
    parser.add_argument("--system", help="a rule system, see `fairroll systems`")
    parser.add_argument("--dialect", help="the dialect of the notation, such as STANDARD")
    parser.add_argument("--var", action="append", default=[], metavar="NAME=INTEGER", help="a variable of the notation")
    parser.add_argument("--check", action="append", default=[], metavar="JSON", help="a check as JSON; may be repeated")
    parser.add_argument("--label", default="", help="what the roll is for")
    parser.add_argument("--actor", default="", help="who rolls")
    parser.add_argument("--table", default="", help="the session's table; without it the roll is a one-off")
    parser.add_argument("--vrf-key-id", default="", help="the session's VRF key, required when seq is above 0")
    parser.add_argument("--seq", type=int, default=0, help="the roll's number in its session")
    parser.add_argument("--previous", default="", help="the digest of the receipt before, required when seq is above 0")
    parser.add_argument("--request-id", default="", help="names a one-off, so that a retry gives the same bytes")
    parser.add_argument(
        "--server", default=os.environ.get("FAIRROLL_SERVER", DEFAULT_SERVER), help="the service's REST address"
    )
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the bundle: envelope, chain, signed key list")
    parser.add_argument("--json", action="store_true", help="print the service's whole answer as JSON")


def run(options: argparse.Namespace) -> int:
    """Roll, print, save."""
    request = _request(options)
    try:
        answer = _call(options.server, "/v1/rolls", request)
    except RefusedError as error:
        notation = options.what[0] if len(options.what) == 1 and not options.system else ""
        print_error(error, as_json=options.json, text=notation)
        return 1
    if options.save is not None:
        key_list = _call(options.server, "/.well-known/fairroll/keys", None)
        bundle = {"envelope": answer["envelope"], "chain": [], "keyList": key_list}
        files.replace(options.save, json.dumps(bundle, indent=2).encode() + b"\n", _BUNDLE_MODE)
    if options.json:
        print_json(answer)
    else:
        _print_roll(answer, options.save)
    return EXIT_GOOD


def _print_roll(answer: dict[str, Any], saved: Path | None) -> None:
    for text in answer["texts"]:
        print(text["line"])
    session = answer["record"]["session"]
    print(f"receipt   {answer['digest']}\nsession   {session['table']}, seq {answer['record']['request']['seq']}")
    if saved is not None:
        print(f"saved     {saved}")


def _request(options: argparse.Namespace) -> dict[str, Any]:
    checks = [_parsed(check, "--check") for check in options.check]
    if options.system:
        checks.append({options.system: _system_check(options.what)})
    else:
        checks.extend({"notation": _notation_check(text, options)} for text in options.what)
    if not checks:
        raise ServiceError("NOTHING_TO_ROLL", "name what to roll, such as: fairroll roll 4d6kh3")
    for check in checks:
        check |= {name: given for name in ("label", "actor") if (given := getattr(options, name))}
    request: dict[str, Any] = {"checks": checks, "seq": str(options.seq)}
    if options.table:
        request["session"] = {"table": options.table, "vrfKeyId": options.vrf_key_id}
    request |= {"previous": options.previous, "requestId": options.request_id}
    return request


def _notation_check(text: str, options: argparse.Namespace) -> dict[str, Any]:
    check: dict[str, Any] = {"text": text}
    if options.dialect:
        check["dialect"] = f"DIALECT_{options.dialect.upper()}"
    pairs = [pair.partition("=") for pair in options.var]
    if pairs:
        check["variables"] = [{"name": name, "value": value} for name, _, value in pairs]
    return check


def _system_check(words: list[str]) -> dict[str, Any]:
    """Return the check of `ROLL field=value field.inner=value ..`; a value is JSON, or else text."""
    if not words or "=" in words[0]:
        raise ServiceError("ROLL_NOT_NAMED", "name the roll first, see: fairroll systems SYSTEM")
    fields: dict[str, Any] = {}
    for word in words[1:]:
        name, equals, text = word.partition("=")
        if not equals:
            raise ServiceError("FIELD_NOT_GIVEN", "a field is given as field=value", value=word)
        *outer, last = name.split(".")
        place = fields
        for step in outer:
            place = place.setdefault(step, {})
        try:
            place[last] = json.loads(text)
        except ValueError:
            place[last] = text
    return {words[0]: fields}


def _parsed(text: str, field: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ServiceError("JSON_UNREADABLE", "a check is a JSON object", field=field)
    return value


def _call(server: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
    if not server.startswith(("http://", "https://")):
        raise ServiceError("SERVER_INVALID", "the service's address begins with http:// or https://", value=server)
    content = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", "accept": "application/json"}
    request = urllib.request.Request(server.rstrip("/") + path, data=content, headers=headers)  # noqa: S310  the scheme is checked above
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:  # noqa: S310  the scheme is checked above
            answer: dict[str, Any] = json.load(response)
            return answer
    except urllib.error.HTTPError as error:
        raise _refused(error.read()) from None
    except (OSError, ValueError):
        raise ServiceError(
            "SERVICE_UNREACHABLE", "no service answers there; start one with: make serve", value=server
        ) from None


def _refused(body: bytes) -> FairrollError:
    try:
        problem = json.loads(body)
        span = problem.get("span")
        return RefusedError(
            problem["reason"],
            problem["detail"],
            field=problem.get("field", ""),
            limit=problem.get("limit", ""),
            maximum=problem.get("maximum"),
            value=problem.get("value", ""),
            span=(span["start"], span["end"]) if span else None,
            expected=tuple(problem.get("expected", ())),
            hint=problem.get("hint", ""),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return ServiceError("SERVICE_UNREADABLE", "what answers there is not fairroll")
