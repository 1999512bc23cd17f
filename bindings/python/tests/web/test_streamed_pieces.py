"""A response that leaves as it is made costs the same for each of its pieces, however many came before it."""

from __future__ import annotations

import asyncio
import io
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

import keyledger
from keyledger import KeyId, Ledger, asgi, wsgi
from keyledger.http import Route

PIECES = 4000
ROUTE = Route.required("repeatable", stream=True)


class Watch:
    """Counts the pieces during which as much memory was asked for as a list of half of all pieces has."""

    def __init__(self) -> None:
        self.costly = 0

    def begins(self) -> None:
        tracemalloc.reset_peak()
        self._before = tracemalloc.get_traced_memory()[0]

    def ends(self) -> None:
        if tracemalloc.get_traced_memory()[1] - self._before > PIECES // 2 * 8:
            self.costly += 1


@pytest.fixture
def watch() -> Iterator[Watch]:
    tracemalloc.start(1)
    yield Watch()
    tracemalloc.stop()


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with keyledger.in_memory() as opened:
        yield opened


def is_stored(ledger: Ledger) -> bool:
    view = ledger.inspect(KeyId("ann", "POST /tokens", "1"))
    return view is not None and view.state == "completed"


def test_of_wsgi(ledger: Ledger, watch: Watch) -> None:
    def app(_environ: Any, start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [])
        return (b"token " for _ in range(PIECES))

    guarded = wsgi.IdempotencyMiddleware(app, ledger=ledger, route=ROUTE, scope=lambda _: "ann")
    environ = {
        "CONTENT_LENGTH": "0",
        "HTTP_IDEMPOTENCY_KEY": '"1"',
        "PATH_INFO": "/tokens",
        "QUERY_STRING": "",
        "REQUEST_METHOD": "POST",
        "wsgi.input": io.BytesIO(),
    }
    pieces = iter(guarded(environ, lambda *_: None))
    watch.begins()
    for _ in pieces:
        watch.ends()
        watch.begins()
    assert watch.costly < PIECES / 100
    assert is_stored(ledger)


def test_of_asgi(ledger: Ledger, watch: Watch) -> None:
    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(PIECES):
            watch.begins()
            await send({"type": "http.response.body", "body": b"token ", "more_body": True})
            watch.ends()
        await send({"type": "http.response.body", "body": b""})

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_message: Any) -> None:
        """To nobody."""

    guarded = asgi.IdempotencyMiddleware(app, ledger=ledger, route=ROUTE, scope=lambda _: "ann")
    headers = [(b"idempotency-key", b'"1"')]
    scope = {"type": "http", "method": "POST", "path": "/tokens", "raw_path": b"/tokens", "headers": headers}
    asyncio.run(guarded(scope, receive, send))
    assert watch.costly < PIECES / 100
    assert is_stored(ledger)
