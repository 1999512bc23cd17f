"""FastAPI: the per-endpoint decorator on a route of its class."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse

from keyledger.fastapi import IdempotencyRoute, idempotent

from .handler import Ending
from .served_asgi import METHODS, play, principal
from .stage import World


def scope(request: Request) -> str | None:
    return principal(request.headers.get("user"))


def app(world: World) -> Any:
    made = FastAPI()
    made.router.route_class = IdempotencyRoute

    @made.api_route("/{rest:path}", methods=METHODS)
    @idempotent(ledger=world.ledger, route=lambda _: world.route, scope=scope)
    async def handler(request: Request) -> Response:
        await request.body()
        return respond((await play(world)).end())

    return made


def respond(ending: Ending) -> Response:
    if ending.answer is None:
        raise ValueError("the handler raises")
    breaks = ending.breaks or ending.raises
    response = StreamingResponse(_pieces(ending.answer.body)) if breaks else Response(ending.answer.body)
    response.status_code = ending.answer.status
    length = [] if breaks else [(b"content-length", str(len(ending.answer.body)).encode())]
    said = [(name.lower().encode(), value) for name, value in ending.answer.fields]
    response.raw_headers = [*(length if not any(name == b"content-length" for name, _ in said) else []), *said]
    return response


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    yield body
    raise ValueError("the body raises")
