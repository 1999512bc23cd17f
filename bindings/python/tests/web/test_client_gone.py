"""What a handler under a key hears of its client on `receive`: nothing until it has answered (H9), and the body is never lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse

import keyledger
from keyledger.asgi import IdempotencyMiddleware, Route


async def _played(app: Callable[..., Any]) -> list[Any]:
    """What is sent to a client that is gone as soon as its body has come."""
    sent: list[Any] = []
    messages = [{"type": "http.request", "body": b"abc", "more_body": False}]

    async def receive() -> Any:
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    route = Route.required("repeatable")
    guarded = IdempotencyMiddleware(app, ledger=keyledger.in_memory(), route=route, scope=lambda _: "ada")
    headers = [(b"idempotency-key", b'"k"'), (b"content-length", b"3")]
    scope = {"type": "http", "method": "POST", "path": "/", "raw_path": b"/", "query_string": b"", "headers": headers}
    await asyncio.wait_for(guarded(scope, receive, send), 5)
    return sent


def _answer(app: Callable[..., Any]) -> tuple[int, bytes]:
    sent = asyncio.run(_played(app))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


@pytest.mark.parametrize("looks", [1, 3])
def test_whoever_looks_for_a_gone_client_before_reading_still_gets_the_body(looks: int) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        looked = [await request.is_disconnected() for _ in range(looks)]
        body = await request.body()
        looked.append(await request.is_disconnected())
        await PlainTextResponse(body + str(any(looked)).encode())(scope, receive, send)

    assert _answer(app) == (200, b"abcFalse")


def test_h9_a_streaming_response_is_not_cut_for_a_client_that_has_gone() -> None:
    """Starlette stops its stream when it hears of that: this is why it does not."""

    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b"a", b"b", b"c"):
            await asyncio.sleep(0.01)
            yield piece

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await Request(scope, receive).body()
        await StreamingResponse(pieces())(scope, receive, send)

    assert _answer(app) == (200, b"abc")


def test_an_app_that_waits_for_the_end_after_its_answer_is_told() -> None:
    heard: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        heard.append((await receive())["type"])
        await send({"type": "http.response.start", "status": 201, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})
        heard.append((await receive())["type"])

    assert _answer(app) == (201, b"done")
    assert heard == ["http.request", "http.disconnect"]
