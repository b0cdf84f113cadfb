"""Answers that a cache may keep: each with its ETag, and 304 without a body for whoever has it already."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request


def cached_response(request: Request, body: bytes, headers: Mapping[str, str], media_type: str) -> Response:
    """Return the answer 200, or 304 where If-None-Match names it; the ETag is made from the body."""
    etag = f'"{sha256(body).hexdigest()[:32]}"'
    headers = {**headers, "etag": etag}
    if _names(request.headers.get("if-none-match", ""), etag):
        return Response(b"", 304, headers)
    return Response(body, 200, headers, media_type)


def _names(header: str, etag: str) -> bool:
    """Whether an If-None-Match names the tag; weak ones compare as strong ones do (RFC 9110, 13.1.2)."""
    tags = {tag.strip().removeprefix("W/") for tag in header.split(",")}
    return bool(tags & {etag, "*"})
