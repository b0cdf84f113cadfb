"""A call to a running service over REST, with nothing but the standard library."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from http.client import HTTPException
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from fairroll.errors import FairrollError, ServiceError

_TIMEOUT_SECONDS = 30
_SERVER_FAULT = 500


class RefusedError(FairrollError):
    """The service refused the call; all that it said is kept."""


def call(server: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the service's answer: POST with a body, GET without.

    Raises:
        RefusedError: the service refused.
        ServiceError: there is no service, or something else answers there.
    """
    url = _url(server, path)
    content = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", "accept": "application/json"}
    if key := os.environ.get("FAIRROLL_API_KEY"):
        headers["x-api-key"] = key  # not an option: other users of the machine can read a command line
    request = urllib.request.Request(url, data=content, headers=headers)  # noqa: S310  _url checks the scheme
    try:
        with _opener(url).open(request, timeout=_TIMEOUT_SECONDS) as response:
            answer = json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(error.code, error.read(), server) from None
    except (OSError, HTTPException):
        raise ServiceError(
            "SERVICE_UNREACHABLE", f"no service answers at {server}; start one with: make serve", value=server
        ) from None
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise _unreadable(server)
    return answer


def _url(server: str, path: str) -> str:
    try:
        parts = urlsplit(server)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good or not server.isascii() or not server.isprintable() or " " in server:
        raise ServiceError(
            "SERVER_INVALID", "the service's address is written like http://127.0.0.1:8080", value=server
        )
    return server.rstrip("/") + path


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Return what opens a URL: a proxy of the environment's does not know this machine's own addresses."""
    host = urlsplit(url).hostname or ""
    try:
        local = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        local = False
    return urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if local else []))


def _refusal(status: int, body: bytes, server: str) -> FairrollError:
    try:
        problem = json.loads(body)
        if status >= _SERVER_FAULT:
            return ServiceError(problem["reason"], problem["detail"])
        span = problem.get("span")
        return RefusedError(
            problem["reason"],
            problem["detail"],
            field=problem.get("field", ""),
            limit=problem.get("limit", ""),
            minimum=problem.get("minimum"),
            maximum=problem.get("maximum"),
            value=problem.get("value", ""),
            span=(span["start"], span["end"]) if span else None,
            expected=tuple(problem.get("expected", ())),
            hint=problem.get("hint", ""),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return _unreadable(server)


def _unreadable(server: str) -> ServiceError:
    return ServiceError("SERVICE_UNREADABLE", f"what answers at {server} is not fairroll", value=server)
