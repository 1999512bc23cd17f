"""Responses of Django as what the other adapters know, and back."""

# Django has no types.
# pyright: basic

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, TypeAlias

from django.core.exceptions import ImproperlyConfigured
from django.db import connections
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from keyledger._course import Flowing, Held
from keyledger._exchange import Exchange, Message, start_of
from keyledger._http import Line, framed
from keyledger._native import Answer, Asked, Claim, Route
from keyledger.asgi import run_apart

Reply: TypeAlias = "HttpResponse | StreamingHttpResponse"


def refuse_in_transaction() -> None:
    """Asked before a claim is granted: its outcome would be stored before that of the transaction around it is known.

    A commit that fails then would be an error to the first caller, and a yes to every retry. Those that a `TestCase` opens are none:
    nobody commits them.
    """
    for connection in connections.all(initialized_only=True):
        if connection.in_atomic_block and not any(block._from_testcase for block in connection.atomic_blocks[-1:]):
            raise ImproperlyConfigured(
                f"a view under an idempotency key was called in an open transaction of the database {connection.alias!r}: its outcome "
                "would be stored, and told to every retry, before that has committed, and even if it never does. Where ATOMIC_REQUESTS "
                "has opened it, put @transaction.non_atomic_requests above @idempotent and transaction.atomic into the view, or use "
                "keyledger.django.middleware, which is around the transaction. Nothing was run."
            )


def lines_of(response: Any) -> list[Line]:
    """The field lines of a response."""
    cookies = [("Set-Cookie", cookie.OutputString().encode("latin-1")) for cookie in response.cookies.values()]
    return [*((name, value.encode("latin-1")) for name, value in response.items()), *cookies]


def spoken(response: Any) -> Held:
    """A response of a sync view."""
    pieces: Iterator[bytes] = iter(response) if response.streaming else iter([response.content])
    fields = lines_of(response)
    if not response.streaming and not response.has_header("Content-Length"):
        fields.append(("Content-Length", str(len(response.content)).encode()))
    return Held(response.status_code, fields, pieces, lambda: release(response))


def whole(response: Any) -> Answer | None:
    """All of a response of a sync view, where its body is there."""
    if response.streaming or not getattr(response, "is_rendered", True):
        return None
    held = spoken(response)
    return Answer(held.status, held.fields, response.content)


def release(response: Any) -> None:
    """Closes what a response has open. Its `close` would tell Django that the request has ended."""
    for closer in response._resource_closers:
        closer()


def answered(told: Answer | Flowing, request: HttpRequest) -> Reply:
    """A response of Django's."""
    if isinstance(told, Flowing):
        return _with(StreamingHttpResponse(told.pieces, status=told.status), told.fields)
    fields, body = framed(told, request.method or "")
    return _with(HttpResponse(body, status=told.status), fields)


def _with(response: Any, fields: list[Line]) -> Any:
    del response.headers["Content-Type"]
    for name, value in fields:
        text = value.decode("latin-1")
        if name.lower() == "set-cookie":
            response.cookies.load(text)
        else:
            # Django has one line of a name.
            before = response.headers.get(name)
            response.headers[name] = text if before is None else f"{before}, {text}"
    return response


async def run_async(
    route: Route, asked: Asked, claim: Claim, request: HttpRequest, view: Callable[[], Awaitable[Any]]
) -> Reply:
    """Runs an async view in a task of its own, and returns what its client is told."""
    sink = _Sink()
    exchange = Exchange(route, sink.send, {"method": request.method})
    exchange.grant(asked, claim)

    async def app(_scope: Any, _receive: Any, send: Callable[[Message], Awaitable[None]]) -> None:
        response = await view()
        try:
            await send(start_of(response.status_code, lines_of(response)))
            await _pour(response, send)
        finally:
            release(response)

    task = asyncio.ensure_future(run_apart(app, {}, b"", exchange))
    task.add_done_callback(sink.end)
    return await sink.response()


async def _pour(response: Any, send: Callable[[Message], Awaitable[None]]) -> None:
    if response.streaming:
        async for piece in response:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    body = b"" if response.streaming else response.content
    await send({"type": "http.response.body", "body": body, "more_body": False})


class _Sink:
    """What an exchange sends, as a response of Django's."""

    def __init__(self) -> None:
        self._head: Message | None = None
        self._made: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._pieces: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue()

    async def send(self, message: Message) -> None:
        """Takes one message."""
        if message["type"] == "http.response.start":
            self._head = message
            return
        assert self._head is not None
        more = message.get("more_body", False)
        if self._made.done():
            self._pieces.put_nowait(message["body"])
        elif more:
            self._pieces.put_nowait(message["body"])
            self._make(StreamingHttpResponse(self._poured(), status=self._head["status"]))
        else:
            self._make(HttpResponse(message["body"], status=self._head["status"]))
        if not more:
            self._pieces.put_nowait(None)

    def end(self, task: asyncio.Task[None]) -> None:
        """The exchange is over. Where it is in the middle of a body, that breaks off."""
        error = None if task.cancelled() else task.exception()
        self._pieces.put_nowait(error or RuntimeError("the response broke off"))
        if not self._made.done():
            self._made.set_exception(error or RuntimeError("the request was not answered"))

    async def response(self) -> Reply:
        """What is to be told, once its head is known. The task goes on if nobody waits any more."""
        return await asyncio.shield(self._made)

    def _make(self, response: Any) -> None:
        assert self._head is not None
        fields = [(name.decode("latin-1"), value) for name, value in self._head["headers"]]
        self._made.set_result(_with(response, fields))

    async def _poured(self) -> AsyncIterator[bytes]:
        while (piece := await self._pieces.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece
