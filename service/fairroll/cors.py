"""Which pages of other origins may call: preflights answered, and what is refused said as a problem."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from fairroll.problems import plain_problem
from fairroll.reasons import TABLE

_METHODS = ("GET", "HEAD", "POST")
_REASON = "CORS_REFUSED"
_SECONDS = 3600
"""How long a browser may remember what it was told."""


class Cors(CORSMiddleware):
    """Starlette's, with problem details for what it refuses."""

    def __init__(self, app: ASGIApp, allow_origins: Sequence[str], allow_headers: Sequence[str]) -> None:
        """Let pages of these origins call.

        Args:
            app: what they call.
            allow_origins: such as `https://table.example`; `*` is every origin.
            allow_headers: those that they may send, beside those that any page may.
        """
        super().__init__(
            app,
            allow_origins=allow_origins,
            allow_methods=_METHODS,
            allow_headers=allow_headers,
            expose_headers=["etag"],
            max_age=_SECONDS,
        )

    def preflight_response(self, request_headers: Headers) -> Response:
        """Answer what a browser asks before it sends a page's request."""
        answer = super().preflight_response(request_headers)
        if answer.status_code < 400:
            return answer
        allowed = self.is_allowed_origin(request_headers["origin"])
        words = "pages do not send this method or these headers" if allowed else "pages of this origin may not call"
        refused = plain_problem(TABLE[_REASON].http, _REASON, words)
        # What the browser would take from a good answer, so that it tells its user what is allowed.
        own = {"content-type", "content-length"}
        refused.headers.update({name: value for name, value in answer.headers.items() if name not in own})
        return refused
