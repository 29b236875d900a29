"""A small HTTP proxy that injects faults in front of an S3 server.

It passes on the Host header as it came, so that signatures still verify. A rule sees each
request's method, path and number (from 1) and says what shall happen to it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from enum import Enum
from urllib.parse import urlsplit


class Fault(Enum):
    """What happens to a request."""

    DROP_REQUEST = "the server never sees it"
    DROP_RESPONSE = "the server acts on it, and its answer is lost"
    TRUNCATE = "the answer's body is cut in the middle"
    SLOW_DOWN = "the server is overloaded (503)"
    BROKEN = "the server has failed (500)"
    DELAY = "the answer comes late"
    SILENCE = "no answer comes"
    EXPIRED = "the credentials have expired"
    DENIED = "the credentials may not do this"
    SHORTENED = "the answer's body is cut, by its own account it is whole"


Rule = Callable[[str, str, int], "Fault | None"]

_LATE_S = 0.02
_REFUSALS = {
    Fault.SLOW_DOWN: (503, "SlowDown"),
    Fault.BROKEN: (500, "InternalError"),
    Fault.EXPIRED: (400, "ExpiredToken"),
    Fault.DENIED: (403, "AccessDenied"),
}


class FaultProxy:
    """Listens on a free port of this machine, in a thread of its own."""

    def __init__(self, endpoint: str, rule: Rule) -> None:
        parts = urlsplit(endpoint)
        self._upstream = (parts.hostname, parts.port)
        self._rule = rule
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.log: list[tuple[str, str, Fault | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> FaultProxy:
        self._thread.start()
        opening = asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(opening, self._loop).result()
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.split(b"\r\n")
            method, path = lines[0].decode().split(" ")[:2]
            headers = dict(line.lower().split(b": ", 1) for line in lines[1:] if b": " in line)
            if headers.get(b"expect") == b"100-continue":
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = await self._body(reader, headers)
            fault = self._rule(method, path, len(self.log) + 1)
            self.log.append((method, path, fault))
            if fault is Fault.DROP_REQUEST:
                writer.transport.abort()
                return
            if fault is Fault.SILENCE:
                await reader.read()  # until the client goes
                return
            if fault is Fault.DELAY:
                await asyncio.sleep(_LATE_S)
            if fault in _REFUSALS:
                answer = self._refusal(method, *_REFUSALS[fault])
            else:
                answer = await self._ask(lines, body)
            if fault is Fault.DROP_RESPONSE:
                writer.transport.abort()
                return
            if fault is Fault.TRUNCATE:
                start = answer.index(b"\r\n\r\n") + 4
                answer = answer[: start + (len(answer) - start) // 2]
            if fault is Fault.SHORTENED and method == "GET":
                answer = self._shortened(answer)
            writer.write(answer)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # a client that went away is what faults are about
        finally:
            writer.close()

    @staticmethod
    async def _body(reader: asyncio.StreamReader, headers: dict[bytes, bytes]) -> bytes:
        if b"content-length" in headers:
            return await reader.readexactly(int(headers[b"content-length"]))
        if headers.get(b"transfer-encoding") != b"chunked":
            return b""
        body = b""
        while True:
            line = await reader.readline()
            size = int(line.split(b";")[0], 16)
            body += line + await reader.readexactly(size + 2)
            if size == 0:
                return body

    async def _ask(self, lines: list[bytes], body: bytes) -> bytes:
        """The server's whole answer; one connection for each request."""
        reader, writer = await asyncio.open_connection(*self._upstream)
        kept = [
            line
            for line in lines
            if line and not line.lower().startswith((b"connection:", b"expect:"))
        ]
        writer.write(b"\r\n".join([*kept, b"Connection: close"]) + b"\r\n\r\n" + body)
        await writer.drain()
        answer = await reader.read()
        writer.close()
        return answer

    @staticmethod
    def _shortened(answer: bytes) -> bytes:
        """Half of the body, with a length to match."""
        head, _, body = answer.partition(b"\r\n\r\n")
        half = body[: len(body) // 2]
        kept = [
            line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length:")
        ]
        return b"\r\n".join([*kept, b"Content-Length: %d" % len(half)]) + b"\r\n\r\n" + half

    @staticmethod
    def _refusal(method: str, status: int, code: str) -> bytes:
        """As S3 refuses; the answer to a HEAD has no body."""
        xml = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{code}</Message></Error>"
        head = f"HTTP/1.1 {status} {code}\r\nContent-Type: application/xml\r\nConnection: close\r\n"
        length = f"Content-Length: {len(xml)}\r\n\r\n"
        return (head + length + ("" if method == "HEAD" else xml)).encode()
