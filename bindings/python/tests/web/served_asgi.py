"""uvicorn in a thread, and the bare ASGI adapter on it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import uvicorn

from keyledger import asgi
from keyledger._current import current_claim
from keyledger.asgi import IdempotencyMiddleware
from keyledger.http import Answer

from .handler import Ending, Play
from .stage import World, wait_until

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"]
SENT_AWAY = Answer(401, [("Content-Type", "text/plain")], b"who are you?")


class AsgiServer:
    """A uvicorn whose app is what `make` makes of each world."""

    def __init__(self, make: Any, *, joins: bool = False) -> None:
        self.joins = joins
        self._make, self._app, self._active = make, None, 0
        # The lifespan is no part of it: there is another app for each world.
        config = uvicorn.Config(
            self._serve, port=0, log_level="critical", interface="asgi3", lifespan="off", http="h11"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        wait_until("uvicorn is up", lambda: self._server.started)
        self.port: int = self._server.servers[0].sockets[0].getsockname()[1]

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        self._active += 1
        try:
            if dict(scope["headers"]).get(b"user") == b"sent-away":
                await asgi.send_answer(send, SENT_AWAY, scope["method"])
            else:
                await self._app(scope, receive, send)
        finally:
            self._active -= 1

    def serve(self, world: World) -> None:
        self._app = self._make(world)

    def is_idle(self) -> bool:
        return self._active == 0 and not asgi._tasks

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()


async def play(world: World) -> Play:
    """Plays to the point where a handler answers."""
    run = world.script.begin()
    if not run.waits_after:
        await _wait(world)
    run.act(claim_or_none())
    if run.waits_after:
        await _wait(world)
    return run


async def _wait(world: World) -> None:
    if gate := world.gate.pass_through():
        while not gate.is_set():
            await asyncio.sleep(0.001)


def claim_or_none() -> Any:
    try:
        return current_claim()
    except RuntimeError:
        return None


def principal(user: str | None) -> str | None:
    if user == "raises":
        raise ValueError("the scope function raises")
    return user


def bare(world: World) -> Any:
    """The adapter itself, around an app that knows no framework."""

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        ending = (await play(world)).end()
        if ending.answer is None:
            raise ValueError("the handler raises")
        headers = [(name.lower().encode(), value) for name, value in ending.answer.fields]
        await send({"type": "http.response.start", "status": ending.answer.status, "headers": headers})
        await _send_body(send, ending)

    def scope_of(scope: Any) -> str | None:
        user = dict(scope["headers"]).get(b"user")
        return principal(None if user is None else user.decode())

    return IdempotencyMiddleware(app, ledger=world.ledger, route=lambda _: world.route, scope=scope_of)


async def _send_body(send: Any, ending: Ending) -> None:
    assert ending.answer is not None
    breaks = ending.breaks or ending.raises
    await send({"type": "http.response.body", "body": ending.answer.body, "more_body": breaks})
    if ending.raises:
        raise ValueError("the body raises")
