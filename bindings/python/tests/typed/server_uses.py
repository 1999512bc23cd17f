"""Adapters and what tests are given, as callers write them, for type checkers: mypy --strict and pyright. Nobody runs it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from typing import Annotated, Any

from fastapi import Depends, FastAPI
from typing_extensions import assert_type

import keyledger
from keyledger import Claim, DeliveryOutcome, Ledger
from keyledger.asgi import IdempotencyMiddleware as Asgi
from keyledger.fastapi import IdempotencyRoute, RequestClaim, Route, idempotent, route_class
from keyledger.http import Answer, Stored
from keyledger.testing import ManualClock, Reply, ScriptedTransport, TransportServer, check_transport
from keyledger.transports.httpx import HttpxTransport
from keyledger.wsgi import IdempotencyMiddleware as Wsgi


def get_ledger() -> Ledger:
    return keyledger.open("shop.kl", shared=True)


ROUTE = Route.required("repeatable", lease=30, statuses={"mismatch": 400}, redact=lambda stored: stored)


def user(name: str = "ann") -> str:
    return name


def scope(name: Annotated[str, Depends(user)]) -> str:
    return name


async def user_id(_: Any) -> int:
    return 7


app = FastAPI()
app.router.route_class = IdempotencyRoute


@app.post("/charges")
@idempotent(ledger=get_ledger, route=ROUTE, scope=scope)
async def charge(cents: int, claim: RequestClaim) -> dict[str, int]:
    assert_type(claim, Claim)
    return {"charged": cents}


def whole_apps(wsgi_app: Callable[..., Iterable[bytes]], asgi_app: Any) -> None:
    Wsgi(wsgi_app, ledger=get_ledger, route=ROUTE, scope=lambda environ: environ.get("REMOTE_USER"))
    Asgi(asgi_app, ledger=get_ledger, route=lambda connection: None, scope=lambda connection: "ann")
    Asgi(asgi_app, ledger=get_ledger, route=ROUTE, scope=user_id)
    Wsgi(wsgi_app, ledger=get_ledger, route=ROUTE, scope=lambda environ: uuid.UUID(environ["REMOTE_USER"]))
    assert_type(route_class(ledger=get_ledger, route=ROUTE, scope=scope), type[IdempotencyRoute])
    assert_type(Stored.of_response(Answer(201, [("Content-Type", "text/plain")], b"").to_stored()), Stored)


def tests(clock: ManualClock) -> None:
    with keyledger.in_memory(clock=clock) as ledger, TransportServer([Reply(503), Reply(cut="after")]) as server:
        clock.advance(60)
        transport = ScriptedTransport([DeliveryOutcome.yes("paid"), TimeoutError()])
        ledger.outbox(lease=5, bounds=(10, 1 << 20)).drain("ann", transport)
        assert_type([sent.key for sent in transport.sent], list[str])
        assert_type(server.url, str)
    check_transport(HttpxTransport)
