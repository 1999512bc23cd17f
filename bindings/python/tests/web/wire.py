"""Requests and responses as bytes on a connection."""

from __future__ import annotations

import contextlib
import itertools
import random
import socket

from keyledger.http import Answer

from .scenarios import Request

PATIENCE = 20.0


def send(port: int, request: Request) -> socket.socket:
    """A connection on which `request` has been sent."""
    connection = socket.create_connection(("127.0.0.1", port), PATIENCE)
    with contextlib.suppress(OSError):  # a server may answer, and close, before it has read everything
        connection.sendall(_head(request))
        connection.sendall(_framed(request))
    return connection


def send_half(port: int, request: Request) -> None:
    """The same, but the body is cut in its middle."""
    body = _framed(request)
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        connection.sendall(_head(request) + body[: len(body) // 2])


def receive(connection: socket.socket, *, has_body: bool) -> Answer | None:
    """Reads to the end of the answer or of the connection; None for an answer that does not come to its own end."""
    read = b""
    with connection, contextlib.suppress(ConnectionResetError):
        while (answer := _understood(read, has_body=has_body)) is None:
            piece = connection.recv(1 << 20)
            if not piece:
                return None
            read += piece
        return answer
    return None


def _understood(read: bytes, *, has_body: bool) -> Answer | None:
    """The answer, once all of it is there."""
    head, found, rest = read.partition(b"\r\n\r\n")
    if not found:
        return None
    first, *lines = head.split(b"\r\n")
    fields = [(name.decode(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    status = int(first.split()[1])
    if not has_body or status in {204, 304}:
        return Answer(status, fields, rest)
    body = _unframed({name.lower(): value for name, value in fields}, rest)
    return None if body is None else Answer(status, fields, body)


def _head(request: Request) -> bytes:
    chunked = request.pieces is not None
    framing = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(request.body)}"
    first = f"{request.method} {request.target} HTTP/1.1"
    lines = [first, "Host: pay.example", "Connection: close", framing, *request.lines()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _framed(request: Request) -> bytes:
    if request.pieces is None:
        return request.body
    chance = random.Random(len(request.body) + request.pieces)
    cuts = sorted({0, len(request.body), *(chance.randrange(1, len(request.body)) for _ in range(request.pieces - 1))})
    pieces = [request.body[start:end] for start, end in itertools.pairwise(cuts)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def _unframed(fields: dict[str, bytes], rest: bytes) -> bytes | None:
    if fields.get("transfer-encoding") == b"chunked":
        return _unchunked(rest)
    length = fields.get("content-length")
    return rest if length is not None and int(length) == len(rest) else None


def _unchunked(rest: bytes) -> bytes | None:
    body = b""
    while True:
        line, found, rest = rest.partition(b"\r\n")
        if not found:
            return None
        size = int(line, 16)
        if len(rest) < size + 2:
            return None
        if size == 0:
            return body
        body, rest = body + rest[:size], rest[size + 2 :]
