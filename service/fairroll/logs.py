"""Log lines on stderr: one for each call, plain or JSON, with nothing secret in them."""

import json
import logging
import sys
import time
from functools import lru_cache
from typing import Literal

_CALLS = logging.getLogger("fairroll.calls")
# `json.dumps` would make an encoder for each line.
_encode = json.JSONEncoder(separators=(",", ":")).encode


class JsonFormatter(logging.Formatter):
    """One JSON object a line; what a record carries under `fields` becomes members."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _time(record.created),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _encode(line)


class PlainFormatter(logging.Formatter):
    """A line for people; fields follow as name=value."""

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        parts = [_time(record.created), record.levelname, record.getMessage()]
        line = " ".join([*parts, *(f"{name}={value}" for name, value in fields.items())])
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def set_up_logs(form: Literal["plain", "json"]) -> None:
    """Send what this process logs to stderr: our lines from INFO, those of libraries from WARNING."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else PlainFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # What no line of ours shows, and each record would look up.
    logging.logThreads = logging.logMultiprocessing = logging.logProcesses = False
    root.setLevel(logging.WARNING)
    logging.getLogger("fairroll").setLevel(logging.INFO)


def log_call(door: str, method: str, code: str, seconds: float, call_id: str, *, reason: str) -> None:
    """Write the line of one call, with the reason where it was refused: no body, no address, no credential."""
    if _CALLS.isEnabledFor(logging.INFO):
        # A record made by hand: `info` would look for the line that called it, which takes longer than all the rest.
        record = logging.LogRecord(_CALLS.name, logging.INFO, "", 0, "call", (), None)
        fields = {"door": door, "method": method, "code": code, "ms": round(seconds * 1000, 3), "id": call_id}
        record.fields = {**fields, "reason": reason} if reason else fields
        _CALLS.handle(record)


def _time(created: float) -> str:
    return f"{_second(int(created))}.{int(created % 1 * 1000):03d}Z"


@lru_cache(maxsize=4)
def _second(whole: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
