"""Errors as REST shows them: problem details (RFC 9457), from the one table of reasons."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from fairroll.errors import FairrollError, UsedError, cut, http_status_of
from fairroll.reasons import TABLE

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:fairroll:reason:"
_CHALLENGE = 'ApiKey realm="fairroll", header="x-api-key"'
"""A 401 names how to say who one is (RFC 9110, 11.6.1); no scheme that a browser answers with a window of its own."""


def problem(error: FairrollError) -> dict[str, Any]:
    """Return the problem details of an error; members that it does not have are left out."""
    status = http_status_of(error)
    row = TABLE.get(error.reason)
    members: dict[str, Any] = {
        "type": TYPE_PREFIX + error.reason,
        "title": row.sentence if row is not None else cut(error.message),
        "status": status,
        "detail": cut(error.message),
        "reason": error.reason,
    }
    if error.span is not None:
        members["span"] = {"start": error.span[0], "end": error.span[1]}
    for name in ("field", "limit", "value", "hint"):
        if text := getattr(error, name):
            members[name] = cut(text)
    for name in ("minimum", "maximum"):
        if (number := getattr(error, name)) is not None:
            members[name] = number
    if isinstance(error, UsedError) and error.digest:
        members["digest"] = error.digest
    if error.expected:
        members["expected"] = [cut(each) for each in error.expected]
    return members


def problem_response(error: FairrollError) -> Response:
    """Return the answer of a call that failed by our own error."""
    return _response(problem(error))


def plain_problem(status: int, reason: str, detail: str, **members: str) -> Response:
    """Return the answer of a call that failed before it reached us, or by no fault of the caller's."""
    row = TABLE.get(reason)
    title = row.sentence if row is not None else detail
    return _response(
        {"type": TYPE_PREFIX + reason, "title": title, "status": status, "detail": detail, "reason": reason, **members}
    )


def _response(members: dict[str, Any]) -> Response:
    body = json.dumps(members, ensure_ascii=False).encode()
    headers = {"cache-control": "no-store"}
    if members["status"] == 401:
        headers["www-authenticate"] = _CHALLENGE
    return Response(body, members["status"], headers, MEDIA_TYPE)
