"""Idempotency keys for any ASGI app: a middleware, to stand behind whatever checks credentials.

Example:
    from keyledger.asgi import IdempotencyMiddleware, Route

    def scope(connection):
        return connection["state"]["user_id"]      # put there by your authentication; None is answered with 401

    app = IdempotencyMiddleware(app, ledger=keyledger.open("shop.kl"), route=Route.required("repeatable"), scope=scope)

"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import quote

from keyledger._exchange import Exchange, Receive, Send, send_answer
from keyledger._http import HELD, Head, LedgerOf, Principal, asked, chosen, no_scope
from keyledger._native import Answer, Asked, Claim, Route

__all__ = ["Answer", "IdempotencyMiddleware", "Route"]

Connection = MutableMapping[str, Any]
App = Callable[[Connection, Receive, Send], Awaitable[None]]
ScopeOf = Callable[[Connection], Principal | Awaitable[Principal]]
RouteOf = Callable[[Connection], "Route | None"]

_tasks: set[asyncio.Task[None]] = set()


class IdempotencyMiddleware:
    """Guards what is below it: a request with a key runs once, and every retry is told that answer.

    `route` is one `Route` for all that comes here, or a function of the ASGI connection scope that gives one, or None
    where keys are inert. `scope` is a function of the same, async or not, that reads what authentication has left
    there: text, a whole number or a UUID; raising, or returning None, is a 401 and touches no record. `ledger` may be a
    function that returns one, such as where it is opened after forking.

    The handler runs in a task of its own: a client that goes away stops neither it nor the storing. It finds its
    claim as `keyledger.current_claim()` and in `scope["state"]["claim"]`.
    """

    def __init__(self, app: App, *, ledger: LedgerOf, route: Route | RouteOf, scope: ScopeOf) -> None:
        self.app = app
        self._ledger, self._route, self._scope = ledger, route, scope

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Serves a request."""
        if scope["type"] != "http" or (route := chosen(self._route, scope)) is None:
            return await self.app(scope, receive, send)
        key = route.receive(scope["method"], key_lines(scope))
        if key is None:
            return await self.app(scope, receive, send)
        if isinstance(key, Answer):
            return await send_answer(send, key, scope["method"])
        told = await self._asked(scope, receive, route, key)
        if isinstance(told, Answer):
            return await send_answer(send, told, scope["method"])
        question, body = told
        if question.key_id in scope.get(HELD, ()):
            return await self.app(scope, replayed(body, receive), send)
        ruling = await ruled(question, route, receive)
        if isinstance(ruling, Answer):
            return await send_answer(send, ruling, scope["method"])
        if ruling is None:
            return None
        exchange = Exchange(route, send, scope)
        exchange.grant(question, ruling)
        return await run_apart(self.app, held(scope, question, ruling), body, exchange)

    async def _asked(self, scope: Connection, receive: Receive, route: Route, key: str) -> tuple[Asked, bytes] | Answer:
        principal = await principal_of(self._scope, scope)
        if not isinstance(principal, str):
            return route.no_principal()
        head = head_of(scope)
        body = await read(receive, head, route)
        if isinstance(body, Answer):
            return body
        question = asked(self._ledger, route, principal, key, head, body)
        return question if isinstance(question, Answer) else (question, body)

    @staticmethod
    async def idle() -> None:
        """Returns when no handler runs under a key on this event loop, for clients that are gone either, and what they came to is stored.

        To be awaited when the server has stopped, before the ledger is closed. Handlers on a loop that was closed in their middle never
        come to anything: their leases end (S2).
        """
        loop = asyncio.get_running_loop()
        while tasks := {task for task in list(_tasks) if task.get_loop() is loop}:
            await asyncio.wait(tasks)


def key_lines(scope: Connection) -> list[bytes]:
    """The values of the lines that carry the key."""
    return [value for name, value in scope["headers"] if name.lower() == b"idempotency-key"]


def head_of(scope: Connection) -> Head:
    """The request but for its body."""
    lines = {name.lower(): value for name, value in reversed(list(scope["headers"]))}
    raw = scope.get("raw_path") or quote(scope["path"], safe="/:@!$&'()*+,;=~-._%").encode()
    return Head(
        method=scope["method"],
        path=raw.partition(b"?")[0],
        query=scope.get("query_string", b""),
        content_type=lines.get(b"content-type"),
        content_length=lines.get(b"content-length"),
        is_chunked=b"transfer-encoding" in lines,
    )


async def principal_of(scope_of: Callable[[Any], Any], request: Any) -> object:
    """What the scope function says; nothing where it raises (H13)."""
    try:
        told = scope_of(request)
        return await told if inspect.isawaitable(told) else told
    except Exception as error:
        no_scope(error)
        return None


async def read(receive: Receive, head: Head, route: Route) -> bytes | Answer:
    """The body, or the answer where it is too long or breaks off."""
    limit = route.max_request_bytes
    if head.announces_over(limit):
        return route.too_large()
    pieces: list[bytes] = []
    length, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return route.unreadable()
        pieces.append(message.get("body", b""))
        length += len(pieces[-1])
        more = message.get("more_body", False)
        if length > limit:
            return route.too_large()
    return b"".join(pieces)


async def ruled(question: Asked, route: Route, receive: Receive) -> Claim | Answer | None:
    """What the ledger says; None where the client has gone while it waited: then nothing is granted."""
    ruling = question.rule_async()
    if ruling.done() or not route.wait_seconds:
        return await ruling
    gone = asyncio.ensure_future(_gone(receive))
    try:
        waited: set[asyncio.Future[Any]] = {ruling, gone}
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        return ruling.result() if ruling.done() else None
    finally:
        gone.cancel()
        ruling.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body again, then what `receive` has."""
    is_given = False

    async def replay() -> MutableMapping[str, Any]:
        nonlocal is_given
        if is_given:
            return await receive()
        # Whoever only looks whether something is there, as Starlette's `is_disconnected`, cancels this, and the body stays.
        await asyncio.sleep(0)
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def held(scope: Connection, question: Asked, claim: Claim) -> Connection:
    """The connection as the handler sees it (H14)."""
    state = {**scope.get("state", {}), "claim": claim}
    return {**guarded(scope), "state": state, HELD: (*scope.get(HELD, ()), question.key_id)}


def guarded(scope: Connection) -> Connection:
    """Without the ways to answer past `send`."""
    extensions: dict[str, Any] = scope.get("extensions") or {}
    kept = {name: value for name, value in extensions.items() if not name.startswith("http.response.")}
    return {**scope, "extensions": kept}


async def run_apart(app: App, scope: Connection, body: bytes, exchange: Exchange) -> None:
    """Runs the app in a task of its own, which a client that goes away does not cancel (H9, S3)."""
    task = asyncio.create_task(exchange.run(app, scope, replayed(body, exchange.ended)))
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    await asyncio.shield(task)
