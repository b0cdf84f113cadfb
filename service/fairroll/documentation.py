"""The documentation page: /openapi.json, and Swagger UI over it from files of our own, none from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from fairroll.cached import cached_response
from fairroll.openapi import openapi

if TYPE_CHECKING:
    from fastapi import FastAPI

    from fairroll.roll import Roller

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>fairroll</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
_START = 'SwaggerUIBundle({url: "/openapi.json", dom_id: "#page", deepLinking: true, tryItOutEnabled: true});\n'
_PACKAGED = {"swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript"}
_HEADERS = {
    # The browser itself sees to it that nothing comes from elsewhere. Swagger UI writes styles into its elements.
    "content-security-policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:",
    "cache-control": "public, max-age=3600",
}


def add_documentation(app: FastAPI, roller: Roller, *, anonymous: bool, guard: bool) -> None:
    """Add the page, what it loads, and the document; each is made when it is first asked for."""

    @cache
    def document() -> bytes:
        return json.dumps(openapi(app, roller, anonymous=anonymous, guard=guard), ensure_ascii=False).encode()

    def add(path: str, media_type: str, body: Callable[[], bytes]) -> None:
        async def answer(request: Request) -> Response:
            return cached_response(request, body(), _HEADERS, media_type)

        app.add_route(path, answer, methods=["GET"])

    async def to_page(_: Request) -> Response:
        return RedirectResponse("/docs")

    app.add_route("/", to_page, methods=["GET"])
    add("/openapi.json", "application/json", document)
    add("/docs", "text/html", _PAGE.encode)
    add("/docs/start.js", "text/javascript", _START.encode)
    for name, media_type in _PACKAGED.items():
        add(f"/docs/{name}", media_type, partial(_packaged, name))


@cache
def _packaged(name: str) -> bytes:
    # Imported by whoever looks at the page: no other call should wait for it.
    bundle = import_module("swagger_ui_bundle")
    content: bytes = bundle.swagger_ui_path.joinpath(name).read_bytes()
    return content
