"""H9, S3: whoever cancels a request that runs under a key stops neither the handler nor the storing."""

from __future__ import annotations

import asyncio
from typing import Any

from keyledger import asgi
from keyledger._native import KeyId, Ledger
from keyledger.asgi import IdempotencyMiddleware, Route


def test_h9_s3_a_request_that_is_cancelled_runs_to_its_end_and_is_stored() -> None:
    ledger = Ledger(None)
    asyncio.run(cancelled_in_the_middle(ledger))
    view = ledger.inspect(KeyId("ada", "POST /charges", "key-1"))
    assert view is not None
    assert view.state == "completed"


async def cancelled_in_the_middle(ledger: Ledger) -> None:
    begun, goes_on = asyncio.Event(), asyncio.Event()

    async def handler(_scope: Any, _receive: Any, send: Any) -> None:
        begun.set()
        await goes_on.wait()
        await send({"type": "http.response.start", "status": 201, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_message: Any) -> None:
        raise OSError("the client is gone")

    app = IdempotencyMiddleware(handler, ledger=ledger, route=Route.required("repeatable"), scope=lambda _: "ada")
    headers = [(b"idempotency-key", b'"key-1"'), (b"content-length", b"0")]
    scope = {"type": "http", "method": "POST", "path": "/charges", "raw_path": b"/charges", "headers": headers}
    request = asyncio.create_task(app(scope, receive, send))
    await begun.wait()
    request.cancel()
    await asyncio.wait({request})
    assert request.cancelled()
    goes_on.set()
    await app.idle()


def test_idle_waits_for_handlers_of_its_own_loop_and_for_none_of_another_which_may_have_been_closed() -> None:
    ledger, loop = Ledger(None), asyncio.new_event_loop()
    goes_on = asyncio.Event()

    async def handler(_scope: Any, _receive: Any, send: Any) -> None:
        loop.stop()
        await goes_on.wait()
        await send({"type": "http.response.start", "status": 201, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})

    request = loop.create_task(asked(ledger, handler))
    loop.run_forever()
    assert asgi._tasks
    try:
        asyncio.run(asyncio.wait_for(IdempotencyMiddleware.idle(), 5))
    finally:
        goes_on.set()
        loop.run_until_complete(request)
        loop.close()


async def asked(ledger: Ledger, handler: Any) -> None:
    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_message: Any) -> None:
        """To nobody."""

    app = IdempotencyMiddleware(handler, ledger=ledger, route=Route.required("repeatable"), scope=lambda _: "ann")
    headers = [(b"idempotency-key", b'"1"'), (b"content-length", b"0")]
    await app({"type": "http", "method": "POST", "path": "/x", "raw_path": b"/x", "headers": headers}, receive, send)
