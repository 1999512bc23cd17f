"""One ASGI request under a key: what the app sends is held back until its outcome is stored (H8, H9)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any

from keyledger import _current
from keyledger._heartbeat import Heartbeat
from keyledger._http import flowing, framed, log, own, unfinished
from keyledger._native import Answer, Asked, Claim, Route

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]


async def send_answer(send: Send, answer: Answer, method: str) -> None:
    """Sends an answer as a whole."""
    fields, body = framed(answer, method)
    await send(start_of(answer.status, fields))
    await send({"type": "http.response.body", "body": body})


def start_of(status: int, fields: list[tuple[str, bytes]]) -> Message:
    """The message with a response's head."""
    headers = [(name.lower().encode("latin-1"), value) for name, value in fields]
    return {"type": "http.response.start", "status": status, "headers": headers}


class Exchange:
    """The app's `send`. Without a claim everything passes; with one, the response waits for its outcome."""

    def __init__(self, route: Route, send: Send, scope: MutableMapping[str, Any]) -> None:
        self.route = route
        self.answer: Answer | None = None
        """What is sent in place of the app's response."""
        self._send, self._scope, self._method = send, scope, scope["method"]
        self._asked: Asked | None = None
        self._claim: Claim | None = None
        self._heart: Heartbeat | None = None
        self._head: Answer | None = None
        self._pieces: list[bytes] | None = []
        self._length = 0
        self._has_begun = self._flows = self._is_over = False
        self._ended = asyncio.Event()

    def grant(self, asked: Asked, claim: Claim) -> None:
        """From now on the claim is renewed until the handler has ended (H10)."""
        self._asked, self._claim = asked, claim
        self._heart = Heartbeat.start(claim, asyncio.get_running_loop())

    async def run(self, app: Callable[..., Awaitable[None]], scope: Any, receive: Receive) -> None:
        """Runs the app to its end, and settles what it has left unsettled."""
        if self._claim is not None:
            _current.enter(self._claim)
        error: BaseException | None = None
        try:
            await app(scope, receive, self)
        except BaseException as raised:
            error = raised
        try:
            await self._end(error)
        finally:
            self._stop()
        if error is not None:
            raise error

    async def __call__(self, message: Message) -> None:
        """Takes one message of the app's."""
        await self._take(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._ended.set()

    async def ended(self) -> Message:
        """The end of the connection as the app sees it: its response has ended. Of a client that has gone it is not told (H9)."""
        await self._ended.wait()
        return {"type": "http.disconnect"}

    async def _take(self, message: Message) -> None:
        if self.answer is not None or self._is_over:
            return None
        if self._claim is None or self._flows:
            return await self._forward(message)
        if message["type"] == "http.response.start":
            await self._start(message)
        elif message["type"] == "http.response.body" and self._head is not None:
            await self._more(message.get("body", b""), is_last=not message.get("more_body", False))
        return None

    async def _start(self, message: Message) -> None:
        fields = [(bytes(name).decode("latin-1"), bytes(value)) for name, value in message.get("headers", ())]
        self._head = Answer(message["status"], fields)
        if self.route.is_stream and self._claim is not None and not self._claim.is_settled:
            self._has_begun = True
            await self._forward(start_of(message["status"], flowing(fields, Route.exposed())))

    async def _more(self, body: bytes, *, is_last: bool) -> None:
        self._length += len(body)
        is_long = self._length > self.route.max_body_bytes
        if self._has_begun:
            if is_long:
                self._pieces = None
            elif self._pieces is not None:
                self._pieces.append(body)
            return await self._stream(body, is_last=is_last)
        assert self._pieces is not None
        self._pieces.append(body)
        if is_last:
            await self._conclude_whole(b"".join(self._pieces))
        elif is_long:
            await self._conclude_past_limit(b"".join(self._pieces))
        return None

    async def _conclude_whole(self, body: bytes) -> None:
        asked, claim, head = self._parts()
        response = Answer(head.status, head.fields, body)
        conclusion = await asked.conclude_async(claim, response)
        self._stop()
        self._is_over = True
        instead = conclusion if isinstance(conclusion, Answer) else own(response, conclusion, self._method)
        await self._deliver(instead)

    async def _conclude_past_limit(self, beginning: bytes) -> None:
        asked, claim, head = self._parts()
        conclusion = await asked.conclude_past_limit_async(claim, head)
        self._stop()
        if isinstance(conclusion, Answer):
            self._is_over = True
            return await self._deliver(conclusion)
        self._flows = self._has_begun = True
        await self._forward(start_of(head.status, flowing(head.fields, conclusion)))
        await self._forward({"type": "http.response.body", "body": beginning, "more_body": True})
        return None

    async def _stream(self, body: bytes, *, is_last: bool) -> None:
        """H8: what comes leaves at once; the end is told when it is stored."""
        if body:
            await self._forward({"type": "http.response.body", "body": body, "more_body": True})
        if not is_last:
            return
        asked, claim, head = self._parts()
        if self._pieces is None:
            await asked.conclude_past_limit_async(claim, head)
        else:
            await asked.conclude_async(claim, Answer(head.status, head.fields, b"".join(self._pieces)))
        self._stop()
        self._is_over = True
        await self._forward({"type": "http.response.body", "body": b"", "more_body": False})

    async def _end(self, error: BaseException | None) -> None:
        if self.answer is not None:
            return await self._deliver(self.answer)
        if self._claim is None or self._is_over or self._flows:
            return None
        asked, claim = self._asked, self._claim
        assert asked is not None
        answer, has_to_be_told = await asked.conclude_failure_async(claim)
        self._stop()
        self._is_over = True
        if self._has_begun:
            raise error or unfinished()
        if error is None:
            log.error("%s", unfinished())
        elif not has_to_be_told and self._is_mapped():
            # H9: whoever has said how errors are told tells this one.
            return None
        await self._deliver(answer)
        return None

    def _is_mapped(self) -> bool:
        """Whether the app that this is a part of has a handler of its own for errors that nobody handles."""
        handlers: Any = getattr(self._scope.get("app"), "exception_handlers", None) or {}
        return HTTPStatus.INTERNAL_SERVER_ERROR in handlers or Exception in handlers

    async def _deliver(self, answer: Answer) -> None:
        try:
            await send_answer(self._send, answer, self._method)
        except Exception:
            log.debug("the client has gone before it was answered", exc_info=True)

    async def _forward(self, message: Message) -> None:
        if self._claim is None:
            return await self._send(message)
        try:
            await self._send(message)
        except Exception:
            log.debug("the client has gone while it was answered", exc_info=True)
        return None

    def _parts(self) -> tuple[Asked, Claim, Answer]:
        assert self._asked is not None and self._claim is not None and self._head is not None  # noqa: PT018
        return self._asked, self._claim, self._head

    def _stop(self) -> None:
        if self._heart is not None:
            self._heart.stop()
            self._heart = None
