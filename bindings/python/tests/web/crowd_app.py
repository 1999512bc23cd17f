"""What uvicorn serves in `test_servers`: one route to each effect, and a log of when handlers begin and end."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from keyledger._current import current_claim
from keyledger._native import Ledger
from keyledger.asgi import Answer, IdempotencyMiddleware, Route

_LEASE = 2.0
_ROUTES = {
    "/in_ledger": Route.required("in_ledger", lease=_LEASE),
    "/repeatable": Route.required("repeatable", lease=_LEASE),
    "/at_most_once": Route.required("at_most_once", lease=_LEASE),
}
_LOG = os.open(os.environ["CROWD_LOG"], os.O_WRONLY | os.O_APPEND)


def note(what: str, path: str, key: str) -> None:
    os.write(_LOG, f"{what} {path} {key} {os.getpid()}\n".encode())


async def handler(scope: Any, _receive: Any, send: Any) -> None:
    path = scope["path"]
    key = dict(scope["headers"])[b"idempotency-key"].decode().strip('"')
    claim = current_claim()
    note("begin", path, key)
    try:
        body = await charged(claim, path, key)
    finally:
        note("end", path, key)
    await send({"type": "http.response.start", "status": 201, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": body})


async def charged(claim: Any, path: str, key: str) -> bytes:
    """Takes a while, and leaves a row where the route is InLedger."""
    await asyncio.sleep(0.005)
    body = f"{path} {key} by the claim {claim.fence}".encode()

    def rows(tx: Any) -> Any:
        tx.insert_unique("effects", key.encode(), body)
        return Answer(201, [("Content-Type", "text/plain")], body).to_stored()

    if path == "/in_ledger":
        await asyncio.to_thread(claim.complete_with, rows)
    return body


app = IdempotencyMiddleware(
    handler,
    ledger=Ledger(os.environ["CROWD_LEDGER"], shared=True),
    route=lambda connection: _ROUTES.get(connection["path"]),
    scope=lambda _: "everybody",
)
