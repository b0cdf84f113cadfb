"""A process that answers odds, one question after another, from standard input to standard output.

A question is a form, the length of its request and the request; an answer is a kind, its length and its bytes. The
process that asks may end this one at any moment, and does so when a deadline passes.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import traceback
from collections.abc import Callable
from typing import BinaryIO

from fairroll import json_codec
from fairroll.errors import RequestError
from fairroll.odds.answer import get_odds
from fairroll.odds.picture import picture
from fairroll.v1 import odds_pb2

HEAD = struct.Struct(">BI")
"""Form or kind, and the length of what follows in bytes."""

PROTO, JSON, SVG = 1, 2, 3
"""The forms of an answer."""

_FORMS: dict[int, Callable[[odds_pb2.GetOddsResponse], bytes]] = {
    PROTO: odds_pb2.GetOddsResponse.SerializeToString,
    JSON: json_codec.dumps,
    SVG: lambda odds: picture(odds).encode(),
}

ANSWERED, REFUSED, FAILED = 1, 2, 3
"""The kinds of an answer: the odds in the form asked for, the members of a RequestError as JSON, a traceback."""

NICE = 10
"""Rolls come first where processors are scarce."""


def main() -> None:
    """Answer until standard input ends."""
    os.nice(NICE)
    os.setpgid(0, 0)  # what interrupts the service at a terminal must not interrupt an answer
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr  # nothing that is printed may stand between answers
    while head := asked.read(HEAD.size):
        form, size = HEAD.unpack(head)
        _write(answers, *answer(form, asked.read(size)))


def answer(form: int, request: bytes) -> tuple[int, bytes]:
    """Return the kind and the bytes of an answer."""
    try:
        odds = get_odds(odds_pb2.GetOddsRequest.FromString(request))
        return ANSWERED, _FORMS[form](odds)
    except RequestError as error:
        return REFUSED, json.dumps(vars(error)).encode()
    except Exception:  # noqa: BLE001  the last boundary: who asked logs it, and the next question is answered
        return FAILED, traceback.format_exc().encode()


def refusal(members: bytes) -> RequestError:
    """Return the error that a REFUSED answer holds."""
    read = json.loads(members)
    read["expected"] = tuple(read["expected"])
    read["span"] = read["span"] and tuple(read["span"])
    return RequestError(read.pop("reason"), read.pop("message"), **read)


def _write(answers: BinaryIO, kind: int, content: bytes) -> None:
    answers.write(HEAD.pack(kind, len(content)))
    answers.write(content)
    answers.flush()


if __name__ == "__main__":
    main()
