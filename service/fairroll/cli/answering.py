"""Decisions that wait, at the prompt and on the command line: what is asked, and the request that answers it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from google.protobuf.descriptor import Descriptor

from fairroll.cli.output import print_lines, printable
from fairroll.errors import RequestError
from fairroll.replay import PREVIEWED
from fairroll.v1 import roll_pb2

PENDING = "CHECK_STATUS_PENDING"


def waiting(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the decisions that wait in a record."""
    return [
        decision
        for outcome in record["outcomes"]
        if outcome["status"] == PENDING
        for decision in outcome["decisions"]
        if decision["options"]
    ]


def notes(record: dict[str, Any]) -> list[str]:
    """Return what is to be said of an answer that was given without a guard."""
    return [PREVIEWED] if record["request"]["continues"] and record["guardMode"] == "GUARD_MODE_NONE" else []


def option_lines(decision: dict[str, Any]) -> list[str]:
    """Return a decision for people."""
    who = decision["decider"].removeprefix("DECIDER_").lower().replace("_", " ")
    of = f" of {decision['actor']}" if decision["actor"] else ""
    options = (f"  {number} {each['id']}: {each['meaning']}" for number, each in enumerate(decision["options"], 1))
    return [f"{decision['kind']}{of} ({decision['id']}), the {who} decides:", *options]


def ask(decisions: Sequence[dict[str, Any]]) -> list[str]:
    """Ask for each decision at the prompt, by number or id; return the ids of the options.

    What is asked goes to standard error: standard output is for what was rolled.

    Raises:
        EOFError: nobody answers.
    """
    chosen = []
    sys.stdout.flush()
    for decision in decisions:
        print_lines(option_lines(decision), sys.stderr)
        ids = [option["id"] for option in decision["options"]]
        while (answer := _chosen(_prompt(), ids)) is None:
            print_lines([f"one of: 1..{len(ids)}, {', '.join(ids)}"], sys.stderr)
        chosen.append(answer)
    return chosen


def options_given(decisions: Sequence[dict[str, Any]], given: Sequence[str]) -> list[str]:
    """Return the options given on the command line, in the order of the decisions: an id or number, or `DECISION=ID`.

    Raises:
        RequestError: ANSWER_MISSING or ANSWERS_LEFT; whether they are options is the service's to say.
    """
    named = dict(each.split("=", 1) for each in given if "=" in each)
    rest = [each for each in given if "=" not in each]
    ids = [decision["id"] for decision in decisions]
    chosen = [named.pop(each) if each in named else rest.pop(0) if rest else "" for each in ids]
    if named or rest:
        raise RequestError("ANSWERS_LEFT", "no decision waits for that", field="--option", expected=tuple(ids))
    if "" in chosen:
        missing = decisions[chosen.index("")]
        expected = tuple(f"{missing['id']}={option['id']}" for option in missing["options"])
        raise RequestError("ANSWER_MISSING", "a decision has no --option", field="--option", expected=expected)
    return [_numbered(option, each) for option, each in zip(chosen, decisions, strict=True)]


def answer_request(
    record: dict[str, Any], digests: Sequence[str], chain: Sequence[dict[str, Any]], chosen: Sequence[str]
) -> dict[str, Any]:
    """Return the request that answers what waits in the last receipt of a chain, at the next seq.

    Args:
        record: of the last receipt.
        digests: of the chain's receipts, root first.
        chain: their envelopes.
        chosen: an option for each decision that waits.
    """
    answers = [
        {"decisionId": decision["id"], "optionId": option}
        for decision, option in zip(waiting(record), chosen, strict=True)
    ]
    return {
        "session": record["session"],
        "seq": str(int(record["request"]["seq"]) + 1),
        "previous": digests[-1],
        "root": digests[0],
        "continues": digests[-1],
        "chain": list(chain),
        "answers": answers,
    }


def set_policies_to_ask(check: dict[str, Any]) -> None:
    """Give every policy of a check that is not declared the value ASK."""
    _fill(check, roll_pb2.Check.DESCRIPTOR)


def _fill(content: dict[str, Any], message: Descriptor) -> None:
    for field in message.fields:
        given = content.get(field.name, content.get(field.json_name))
        if field.enum_type is not None and not field.is_repeated and given is None:
            asking = [value.name for value in field.enum_type.values if value.name.endswith("_ASK")]
            if asking:
                content[field.name] = asking[0]
        elif field.message_type is not None:
            for item in given if isinstance(given, list) else [given]:
                if isinstance(item, dict):
                    _fill(item, field.message_type)


def _prompt() -> str:
    print("> ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return printable(line.strip())


def _numbered(option: str, decision: dict[str, Any]) -> str:
    """Return an option's id where its number is given; no id is a number."""
    return _chosen(option, [each["id"] for each in decision["options"]]) or option


def _chosen(answer: str, ids: Sequence[str]) -> str | None:
    if answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(ids):
        return ids[int(answer) - 1]
    return answer.upper() if answer.upper() in ids else None
