"""The outbox: requests are stored with their keys before they are sent, and sent until they are answered.

Example:
    outbox = ledger.outbox(lanes=[Lane.ordered("orders")])
    entry, created = outbox.enqueue("user-7", "charge", request, purpose="pay cart 42")
    with outbox.driver("user-7", HttpxTransport()):
        response = entry.result(timeout=30)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from keyledger import _native
from keyledger._driver import AnyTransport, RunningDriver, drain, drain_async
from keyledger._native import (
    Drained,
    DrainProgress,
    Enqueue,
    Enqueued,
    Entry,
    Fingerprint,
    HttpRequest,
    Lane,
    Stop,
)
from keyledger._values import Span

if TYPE_CHECKING:
    from asyncio import Future

    from typing_extensions import Unpack

Request: TypeAlias = "HttpRequest | bytes | str"
Progress: TypeAlias = "bool | Callable[[DrainProgress], object]"


class OutboxSettings(TypedDict, total=False):
    """The settings of an `Outbox`, by name. Spans are seconds or timedeltas."""

    lanes: Iterable[Lane]
    """Those that there are besides `default`."""
    lease: Span
    """How long one try lasts: 30 s."""
    backoff: tuple[Span, Span, int]
    """The longest wait after the first try, after any, and what multiplies it: 1 s, 5 min, 2."""
    max_tries: int
    """When an entry is given up: after 20."""
    max_age: Span
    """When an entry is given up, however few its tries: never."""
    resend_window: Span
    """For how long servers remember keys: 23 h. What is in doubt for longer is unknown, and not sent again."""
    purpose_retention: Span
    """For how long a purpose is answered with the entry that settled it: 24 h."""
    retention: Span
    """For how long settled entries stay: 7 days."""
    retry_after_max: Span
    """The longest wait that a server can ask for: 1 h."""
    retry_budget: tuple[int, Span]
    """So many retries when it is full, and one more in each span: 100, 1 s."""
    bounds: tuple[int, int]
    """How many unsettled entries there may be, and how many bytes their requests may have: 100,000 and 64 MiB."""
    max_request_bytes: int
    """1 MiB."""


_SEVERAL = {
    "backoff": (
        3,
        "three: the longest wait after the first try, the longest after any, what multiplies it: (1, 300, 2)",
    ),
    "retry_budget": (2, "two: how many retries when it is full, in which time one more comes: (100, 1)"),
    "bounds": (2, "two: unsettled entries, bytes of their requests: (100_000, 64 << 20)"),
}


class Outbox(_native.Outbox):
    """The outbox of a ledger; made by `Ledger.outbox`. Any number of threads and tasks may use it.

    Its settings hold for this object; lanes are stored. Spans are seconds or timedeltas.

    Args:
        ledger: the ledger that it is in.
        lanes: those that there are besides `default`.
        lease: how long one try lasts (30 s).
        backoff: the longest wait after the first try, after any, and what multiplies it (1 s, 5 min, 2).
        max_tries: when an entry is given up (20).
        max_age: when it is given up, however few its tries (never).
        resend_window: for how long servers remember keys (23 h). What is in doubt for longer is unknown, and not sent again.
        purpose_retention: for how long a purpose is answered with the entry that settled it (24 h).
        retention: for how long settled entries stay (7 days).
        retry_after_max: the longest wait that a server can ask for (1 h).
        retry_budget: so many retries when it is full, and one more in each span (100, 1 s).
        bounds: how many unsettled entries there may be, and how many bytes their requests may have (100,000; 64 MiB).
        max_request_bytes: 1 MiB.

    Example:
        outbox = ledger.outbox(lease=10, lanes=[Lane.ordered("orders")])
        outbox.enqueue("user-7", "charge", b"1999 cents", purpose="pay cart 42", lane="orders")

    """

    def __new__(cls, ledger: _native.Ledger, **settings: Unpack[OutboxSettings]) -> Outbox:
        """Open the outbox of `ledger`. On return the lanes are stored."""
        if "lanes" in settings:
            settings["lanes"] = list(settings["lanes"])
        for name, (length, what) in _SEVERAL.items():
            given: Any = settings.get(name)
            if given is not None and (given.__class__ is not tuple or len(given) != length):
                raise TypeError(f"{name} is a tuple of {what}")
        return super().__new__(cls, ledger, **settings)

    def enqueue(
        self,
        scope: str | Enqueue,
        operation: str = "",
        request: Request = b"",
        *,
        media_type: str | None = None,
        purpose: str | None = None,
        lane: str | None = None,
        key: str | None = None,
        fingerprint: Fingerprint | None = None,
        send_by: datetime | int | None = None,
        even_if_answered: bool = False,
    ) -> Enqueued:
        """Store a request with its key, to be sent; or find the entry that is there already for its purpose or key.

        On return it is on disk. A request is an `HttpRequest`, bytes or text; or give one `Enqueue` instead of all
        arguments.

        Give it a `purpose` ("pay cart 42") or a `key`: with neither, enqueueing it again is another request. `send_by`
        (a datetime with a zone, or milliseconds since 1970 UTC): it is cancelled unless it was sent by then.
        `even_if_answered`: a new entry is wanted even if the purpose was answered before.

        Raises `PurposeConflict` or `KeyConflict` (the purpose, or the key, has another request: `.entry`),
        `OutboxFull`, `InvalidKey`, `InvalidArgument` for a lane that was not declared, `TooLarge`; nothing is stored
        then.

        Example:
            entry, created = outbox.enqueue("user-7", "mail", b"...", purpose="welcome user-7")

        """
        asked = _asked(
            scope, operation, request, media_type, purpose, lane, key, fingerprint, send_by, even_if_answered
        )
        return super().enqueue(asked)

    def enqueue_async(
        self,
        scope: str | Enqueue,
        operation: str = "",
        request: Request = b"",
        *,
        media_type: str | None = None,
        purpose: str | None = None,
        lane: str | None = None,
        key: str | None = None,
        fingerprint: Fingerprint | None = None,
        send_by: datetime | int | None = None,
        even_if_answered: bool = False,
    ) -> Future[Enqueued]:
        """`enqueue` in asyncio. It is stored even if the task is cancelled while it waits.

        Example:
            async def welcome(user: str) -> None:
                await outbox.enqueue_async(user, "mail", b"...", purpose=f"welcome {user}")

        """
        asked = _asked(
            scope, operation, request, media_type, purpose, lane, key, fingerprint, send_by, even_if_answered
        )
        return super().enqueue_async(asked)

    def changes_of(self, entry: int | Entry) -> Iterator[Entry]:
        """Yield the entry as it is, and again with each change that is seen, until it is settled.

        Raises `NotFound` where there is no such entry, also when it was swept meanwhile.

        Example:
            entry, created = outbox.enqueue("user-7", "mail", b"...", purpose="welcome user-7")
            with outbox.driver("user-7", transport):
                for seen in outbox.changes_of(entry):
                    print(seen.state, seen.tries)

        """
        last = -1
        while True:
            now = self.wait_until(entry, partial(_is_past, last))
            yield now
            if now.is_settled:
                return
            last = now.change

    def driver(
        self,
        scope: str,
        transport: AnyTransport,
        *,
        in_flight: int | None = None,
        stop: Stop | None = None,
        on_error: Callable[[Exception], object] | None = None,
    ) -> RunningDriver:
        """Keep a scope going while a block runs: lease what is due, send it over `transport`, settle it.

        A transport is a callable that is given a `Delivery` and returns a `DeliveryOutcome`, or an object with
        `send(delivery)`, and perhaps with `has_other_credentials(scope)`; either may be `async`. `in_flight` (8): how
        many are sent at a time. `on_error` is called on the driver's thread with what the transport raises (that try is
        repeated) and what a call of the outbox raises; without it they are logged by the logger `keyledger`.

        `async with outbox.driver(...)` runs coroutines of the transport on this event loop. Leaving the block leases
        nothing more, and waits until what is in flight is sent and settled, or its leases are over.

        Example:
            entry, created = outbox.enqueue("user-7", "mail", b"...", purpose="welcome user-7")
            with outbox.driver("user-7", transport):
                entry.result(timeout=30)

        """
        return RunningDriver(self, scope, transport, in_flight=in_flight, stop=stop, on_error=on_error)

    def drain(
        self,
        scope: str,
        transport: AnyTransport,
        *,
        until: Span | None = 0,
        progress: Progress = False,
        in_flight: int | None = None,
        stop: Stop | None = None,
        on_error: Callable[[Exception], object] | None = None,
    ) -> Drained:
        """Send until nothing is due within `until` seconds from now; what was left, by state.

        With zero: what is due already, with what becomes due of itself meanwhile; None: until only people can bring
        anything on. `progress`: True shows a bar (with tqdm or rich, where one of them is installed), a callable is
        given each `DrainProgress`; what it raises stops the drain.

        Ctrl-C stops it cleanly: nothing more is leased, what is in flight is waited for, then KeyboardInterrupt is
        raised. A second one is raised at once.

        Example:
            left = outbox.drain("user-7", transport, until=30, progress=True)
            assert left.unsettled == 0

        """
        return drain(self, scope, transport, until, progress, in_flight=in_flight, stop=stop, on_error=on_error)

    async def drain_async(
        self,
        scope: str,
        transport: AnyTransport,
        *,
        until: Span | None = 0,
        progress: Progress = False,
        in_flight: int | None = None,
        stop: Stop | None = None,
        on_error: Callable[[Exception], object] | None = None,
    ) -> Drained:
        """`drain` in asyncio: coroutines of the transport run on this event loop.

        Cancelled, it stops as by Ctrl-C: it waits for what is in flight, then is cancelled; a second time at once.

        Example:
            async def send_all() -> None:
                await outbox.drain_async("user-7", transport, until=30)

        """
        return await drain_async(
            self, scope, transport, until, progress, in_flight=in_flight, stop=stop, on_error=on_error
        )


def _is_past(change: int, entry: Entry) -> bool:
    return entry.change != change


def _asked(scope: str | Enqueue, operation: str, request: Request, *wishes: Any) -> Enqueue:
    if isinstance(scope, Enqueue):
        return scope
    names = ("media_type", "purpose", "lane", "key", "fingerprint", "send_by", "even_if_answered")
    given: Mapping[str, Any] = dict(zip(names, wishes, strict=True))
    return Enqueue(scope, operation, request, **given)
