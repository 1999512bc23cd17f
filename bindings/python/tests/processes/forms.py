"""One handler in every form in which this package runs handlers."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import keyledger
from keyledger import Claim, Fingerprint, Ledger, Operation, Response

EFFECTS = ("in_ledger", "repeatable", "at_most_once")
UNCHECKED = Fingerprint.unchecked()

Handler = Callable[[Claim], Any]
"""What is done inside; it may raise, block, or be killed."""


def decorated(ledger: Ledger, operation: Operation, key: str, handler: Handler) -> None:
    @ledger.idempotent(operation=operation, scope="s", key="k", fingerprint=None)
    def call(s: str, k: str) -> None:
        handler(keyledger.current_claim())

    call("s", key)


def block(ledger: Ledger, operation: Operation, key: str, handler: Handler) -> None:
    with ledger.claim(operation, "s", key, UNCHECKED) as claim:
        handler(claim)
        claim.complete("done")


def matched(ledger: Ledger, operation: Operation, key: str, handler: Handler) -> None:
    match ledger.begin(operation, "s", key, UNCHECKED):
        case keyledger.Acquired(claim):
            with claim:
                handler(claim)
                claim.complete("done")
        case other:
            raise AssertionError(other)


def run(ledger: Ledger, operation: Operation, key: str, handler: Handler) -> None:
    def answer(claim: Claim) -> Response:
        handler(claim)
        return Response.of_text("done")

    ledger.run(operation, "s", key, UNCHECKED, answer)


async def done(handled: Any) -> None:
    """Waits, where the handler gives something to wait for."""
    if inspect.isawaitable(handled):
        await handled


async def decorated_async(ledger: Ledger, operation: Operation, key: str, handler: Handler) -> None:
    @ledger.idempotent(operation=operation, scope="s", key="k", fingerprint=None)
    async def call(s: str, k: str) -> None:
        await asyncio.sleep(0)
        await done(handler(keyledger.current_claim()))

    await call("s", key)


async def block_async(ledger: Ledger, operation: Operation, key: str, handler: Handler) -> None:
    async with ledger.claim(operation, "s", key, UNCHECKED) as claim:
        await asyncio.sleep(0)
        await done(handler(claim))
        await claim.complete_async("done")


async def matched_async(ledger: Ledger, operation: Operation, key: str, handler: Handler) -> None:
    match await ledger.begin_async(operation, "s", key, UNCHECKED):
        case keyledger.Acquired(claim):
            async with claim:
                await asyncio.sleep(0)
                await done(handler(claim))
                await claim.complete_async("done")
        case other:
            raise AssertionError(other)


async def run_async(ledger: Ledger, operation: Operation, key: str, handler: Handler) -> None:
    async def answer(claim: Claim) -> Response:
        await asyncio.sleep(0)
        await done(handler(claim))
        return Response.of_text("done")

    await ledger.run_async(operation, "s", key, UNCHECKED, answer)


BLOCKING = {"decorated": decorated, "block": block, "matched": matched, "run": run}
AWAITING = {
    "decorated_async": decorated_async,
    "block_async": block_async,
    "matched_async": matched_async,
    "run_async": run_async,
}
FORMS = [*BLOCKING, *AWAITING]


def do(form: str, ledger: Ledger, operation: Operation, key: str, handler: Handler) -> None:
    """Runs the handler in that form."""
    if form in BLOCKING:
        BLOCKING[form](ledger, operation, key, handler)
    else:
        asyncio.run(AWAITING[form](ledger, operation, key, handler))


def stands(ledger: Ledger, operation: Operation, key: str, *, wait: float = 0) -> str:
    """What `begin` says, with what belongs to it; what it grants is let go at once."""
    decision: Any = ledger.begin(operation, "s", key, UNCHECKED, wait=wait)
    if isinstance(decision, keyledger.Acquired):
        attempt = decision.claim.attempt
        decision.claim.drop()
        return f"acquired, attempt {attempt}"
    return f"parked: {decision.reason}" if isinstance(decision, keyledger.Parked) else str(decision.KIND)
