"""Which claim this code runs under: of this thread, of this task, and of what they call."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

if TYPE_CHECKING:
    from keyledger._native import Claim


class _Within(NamedTuple):
    claim: ref[Claim]
    """Weak: an interrupt may come before whatever would leave. Whoever runs under the claim holds it."""
    outer: _Within | None


_within: ContextVar[_Within | None] = ContextVar("keyledger.current_claim", default=None)


def current_claim() -> Claim:
    """The claim of the innermost decorated call, claim block or request that this code runs in.

    A thread of your own begins without one, unless it runs in a `contextvars.copy_context()`; tasks of asyncio and
    `asyncio.to_thread` take it along.

    Raises:
        RuntimeError: there is none here.

    Example:
        @ledger.idempotent(operation="charge", effect="repeatable", scope="user", key="order")
        def charge(user: str, order: str) -> None:
            bank.charge(990, idempotency_key=keyledger.current_claim().derive_key("charge"))

        charge("user-7", "order-1034")

    """
    within = _within.get()
    while within is not None:
        if (claim := within.claim()) is not None:
            return claim
        within = within.outer
    raise RuntimeError("no claim here: call this from inside a decorated function or a `with` block of a claim")


def enter(claim: Claim) -> None:
    """From now on `claim` is the current one, until `leave`."""
    _within.set(_Within(ref(claim), _within.get()))


def leave(claim: Claim) -> None:
    """What was current before `claim` is current again, and nothing that was entered since."""
    within = _within.get()
    while within is not None:
        if within.claim() is claim:
            _within.set(within.outer)
            return
        within = within.outer
