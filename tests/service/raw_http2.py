"""HTTP/2 frames by hand, for what no client library lets a caller do."""

import socket
import struct
import time
from contextlib import suppress
from typing import NamedTuple, Self

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, PING, GOAWAY = 4, 6, 7
ACK = 1


class Frame(NamedTuple):
    kind: int
    flags: int
    payload: bytes


class Http2Connection:
    """A connection that sends the preface and then what it is told; no stream is ever opened on it."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), 5)
        self._rest = b""
        self._socket.sendall(PREFACE)
        self._send(SETTINGS, 0, b"")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ping(self) -> None:
        self._send(PING, 0, b"fairroll")

    def frames(self, seconds: float) -> list[Frame]:
        """Return the frames that arrive in that time; SETTINGS and PING are acknowledged."""
        end = time.monotonic() + seconds
        found: list[Frame] = []
        while (left := end - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                received = self._socket.recv(65536)
            except (TimeoutError, ConnectionResetError):
                break
            if not received:
                break
            self._rest += received
            found += self._whole_frames()
        return found

    def _whole_frames(self) -> list[Frame]:
        found = []
        while len(self._rest) >= 9:
            length = int.from_bytes(self._rest[:3], "big")
            if len(self._rest) < 9 + length:
                break
            frame = Frame(self._rest[3], self._rest[4], self._rest[9 : 9 + length])
            self._rest = self._rest[9 + length :]
            found.append(frame)
            if frame.kind in (SETTINGS, PING) and not frame.flags & ACK:
                # A server that has sent GOAWAY may be gone before the acknowledgement; what it said still stands.
                with suppress(BrokenPipeError, ConnectionResetError):
                    self._send(frame.kind, ACK, frame.payload if frame.kind == PING else b"")
        return found

    def _send(self, kind: int, flags: int, payload: bytes) -> None:
        header = len(payload).to_bytes(3, "big") + struct.pack(">BBI", kind, flags, 0)
        self._socket.sendall(header + payload)
