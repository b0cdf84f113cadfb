"""uvicorn's HTTP/1.1 with a bound on heads, of which it has none, and problem details for what is no HTTP at all."""

from __future__ import annotations

from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fairroll.door import MAX_HEAD_BYTES
from fairroll.errors import RequestError
from fairroll.problems import problem_response


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    _head_bytes: int | None = None
    """What has come of a head that is not whole yet; None between heads."""

    def data_received(self, data: bytes) -> None:
        """Read on, unless the head grows too large."""
        super().data_received(data)
        if self._head_bytes is not None and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(
                    RequestError(
                        "HEAD_TOO_LARGE",
                        f"request line and headers have at most {MAX_HEAD_BYTES} bytes",
                        limit="head_bytes",
                        maximum=MAX_HEAD_BYTES,
                        value=f"{self._head_bytes} or more",
                    )
                )

    def on_message_begin(self) -> None:
        """Begin to count."""
        self._head_bytes = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Count no more."""
        self._head_bytes = None
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  the library's words are not shown
        """Answer what is no HTTP, and close."""
        self._refuse(RequestError("HTTP_INVALID", "this is no HTTP/1.1 request"))

    def _refuse(self, error: RequestError) -> None:
        answer = problem_response(error)
        status = HTTPStatus(answer.status_code)
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode()
        lines = [name + b": " + value + b"\r\n" for name, value in answer.raw_headers]
        self.transport.write(b"".join((head, *lines, b"connection: close\r\n\r\n", bytes(answer.body))))
        self.transport.close()
