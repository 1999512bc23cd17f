"""Which head of a WSGI app counts: the last before its first byte, as PEP 3333 has it, and it is what is stored."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import keyledger
from keyledger.wsgi import IdempotencyMiddleware, Route

Answer = tuple[str, bytes]


def _asked(app: Callable[..., Any]) -> Answer:
    """One request under the key `k`, as a server makes it."""
    told: list[str] = []

    def start(status: str, _headers: Any, _exc_info: Any = None) -> None:
        told.append(status)

    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/",
        "QUERY_STRING": "",
        "CONTENT_LENGTH": "0",
        "HTTP_IDEMPOTENCY_KEY": '"k"',
        "wsgi.input": io.BytesIO(),
    }
    body = b"".join(app(environ, start))
    return told[-1], body


def _guarded(app: Callable[..., Any], *, stream: bool) -> IdempotencyMiddleware:
    route = Route.required("repeatable", stream=stream)
    return IdempotencyMiddleware(app, ledger=keyledger.in_memory(), route=route, scope=lambda _: "u")


@pytest.mark.parametrize("stream", [False, True])
def test_h8_the_last_head_before_the_first_byte_is_told_and_stored(stream: bool) -> None:
    runs: list[int] = []

    def app(_environ: Any, start: Any) -> Iterator[bytes]:
        runs.append(1)
        start("200 OK", [("Content-Type", "text/plain")])
        yield b""
        try:
            raise ValueError("no charge")
        except ValueError:
            start("402 Payment Required", [("Content-Type", "text/plain")], sys.exc_info())
        yield b"declined"

    guarded = _guarded(app, stream=stream)
    assert [_asked(guarded), _asked(guarded)] == [("402 Payment Required", b"declined")] * 2
    assert runs == [1]


def _late(_environ: Any, start: Any) -> Iterator[bytes]:
    start("200 OK", [])
    yield b"begun"
    try:
        raise ValueError("broke")
    except ValueError:
        start("500 Oops", [], sys.exc_info())
    yield b"error page"


def _late_after_write(_environ: Any, start: Any) -> list[bytes]:
    start("200 OK", [])(b"begun")
    try:
        raise ValueError("broke")
    except ValueError:
        start("500 Oops", [], sys.exc_info())
    return [b"error page"]


def test_h8_a_head_after_the_first_byte_is_the_error_of_a_stream() -> None:
    with pytest.raises(ValueError, match="broke"):
        _asked(_guarded(_late, stream=True))


@pytest.mark.parametrize(("app", "stream"), [(_late, False), (_late_after_write, False), (_late_after_write, True)])
def test_h9_a_head_after_the_first_byte_is_a_handler_that_failed(app: Any, stream: bool) -> None:
    status, body = _asked(_guarded(app, stream=stream))
    assert status == "500 Internal Server Error"
    assert b"handler-failed" in body


def test_a_second_head_without_an_error_fails_as_with_a_server() -> None:
    def app(_environ: Any, start: Any) -> list[bytes]:
        start("200 OK", [])
        start("201 Created", [])
        return [b"x"]

    assert _asked(_guarded(app, stream=False))[0] == "500 Internal Server Error"


@pytest.mark.parametrize("stream", [False, True])
def test_an_app_that_breaks_before_its_first_byte_is_closed(stream: bool) -> None:
    closed: list[int] = []

    class Body:
        def __iter__(self) -> Iterator[bytes]:
            yield b""
            raise ValueError("broke")

        def close(self) -> None:
            closed.append(1)

    def app(_environ: Any, start: Any) -> Body:
        start("200 OK", [])
        return Body()

    assert _asked(_guarded(app, stream=stream))[0] == "500 Internal Server Error"
    assert closed == [1]
