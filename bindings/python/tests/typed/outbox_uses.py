"""The outbox as callers write it, for type checkers: mypy --strict and pyright. Nobody runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

from typing_extensions import assert_type

from keyledger import Delivery, DeliveryOutcome, Drained, Entry, HttpAnswer, HttpRequest, Lane, Outbox
from keyledger._native import Ledger, Response
from keyledger.errors import AnsweredNo
from keyledger.transports.httpx import AsyncHttpxTransport, HttpxTransport
from keyledger.transports.requests import RequestsTransport


def opened(ledger: Ledger) -> Outbox:
    return Outbox(ledger, lanes=[Lane.ordered("orders", on_stuck_head="skip")], lease=30, backoff=(1, timedelta(5), 2))


def authorize(scope: str, request: HttpRequest) -> dict[str, str]:
    return {"Authorization": f"Bearer {scope} {request.url}"}


async def authorize_later(scope: str, request: HttpRequest) -> list[tuple[str, bytes]]:
    return [("Authorization", scope.encode() + request.method.encode())]


def send(delivery: Delivery) -> DeliveryOutcome:
    return DeliveryOutcome.yes(delivery.request)


async def send_later(delivery: Delivery) -> DeliveryOutcome:
    return DeliveryOutcome.retry(delivery.key).not_before(timedelta(seconds=1)).pausing_lane()


def requests(fields: dict[str, str]) -> list[HttpRequest]:
    with_body = HttpRequest("POST", "https://bank.example/", [("A", "b"), ("C", b"d")], "1999 cents")
    return [with_body, HttpRequest("POST", "https://bank.example/", fields, json={"cents": 1999})]


def used(outbox: Outbox) -> None:
    entry = outbox.enqueue("user", "charge", b"...", purpose="pay cart 42").entry
    assert_type(entry, Entry)
    same, created = outbox.enqueue("user", "charge", b"...", purpose="pay cart 42")
    assert_type((same, created), tuple[Entry, bool])
    try:
        assert_type(entry.result(timeout=30), Response)
    except AnsweredNo as no:
        assert_type(HttpAnswer.of(no.response).status, int)
    for transport in (HttpxTransport(authorize=authorize), RequestsTransport(timeout=timedelta(seconds=5))):
        with outbox.driver("user", transport, in_flight=2) as driver:
            assert_type(driver.is_running, bool)
    assert_type(outbox.drain("user", send, until=30, progress=True), Drained)
    assert_type(outbox.changes_of(entry), Iterator[Entry])


async def used_in_asyncio(outbox: Outbox) -> AsyncIterator[Entry]:
    enqueued = await outbox.enqueue_async("user", "charge", "text", send_by=0)
    entry, created = enqueued
    assert_type((entry, created), tuple[Entry, bool])
    assert_type(await enqueued.entry.result_async(1.5), Response)
    async with outbox.driver("user", AsyncHttpxTransport(authorize=authorize_later)):
        (await outbox.lease_due_async("user"))[0].settle(DeliveryOutcome.no("no"))
    assert_type(await outbox.drain_async("user", send_later, until=None, progress=print), Drained)
    async for entry in outbox.changes():
        yield entry
