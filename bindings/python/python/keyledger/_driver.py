"""Who keeps an outbox going: on threads, or with coroutines on an event loop."""

from __future__ import annotations

import asyncio
import inspect
import math
import os
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict, TypeVar, cast

from keyledger import _native
from keyledger._exit import before_exit
from keyledger._native import Delivery, DeliveryOutcome, Drained, Stop
from keyledger._progress import showing
from keyledger._telling import tell

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Unpack

    from keyledger._outbox import Outbox, Progress
    from keyledger._values import Span

T = TypeVar("T")


class Transport(Protocol):
    """Sends deliveries, blocking.

    It neither begins nor waits past `delivery.lease_left_seconds`, and says what came of it.
    What it raises counts as a retry whose outcome is unknown. It is given to `on_error`, or logged by the logger
    `keyledger`; the entry keeps the error's type alone, as its words may hold what must not be in the file (O14).

    Of a request over HTTP `keyledger.HttpSend.of(delivery, keyledger.KeyField())` has method, address, fields and body.

    Example:
        class OverTheWire:
            def send(self, delivery: Delivery) -> DeliveryOutcome:
                if not bank.charge(990, idempotency_key=delivery.key):
                    return DeliveryOutcome.retry("the bank is closed")
                return DeliveryOutcome.yes("charged")

        outbox.drain("user-7", OverTheWire())

    """

    def send(self, delivery: Delivery, /) -> DeliveryOutcome:
        """Send one delivery and say what came of it."""
        ...


class AsyncTransport(Protocol):
    """Sends deliveries, in asyncio. The rules are those of `Transport`.

    Example:
        class OverTheWire:
            async def send(self, delivery: Delivery) -> DeliveryOutcome:
                return DeliveryOutcome.yes("charged")

        asyncio.run(outbox.drain_async("user-7", OverTheWire()))

    """

    async def send(self, delivery: Delivery, /) -> DeliveryOutcome:
        """Send one delivery and say what came of it."""
        ...


Sends: TypeAlias = "Callable[[Delivery], DeliveryOutcome | Awaitable[DeliveryOutcome]]"
AnyTransport: TypeAlias = "Transport | AsyncTransport | Sends"


OnError: TypeAlias = "Callable[[Exception], object]"


class _Settings(TypedDict):
    in_flight: int | None
    stop: Stop | None
    on_error: OnError | None


class RunningDriver:
    """A driver at work while its block runs; made by `Outbox.driver`."""

    def __init__(
        self,
        outbox: Outbox,
        scope: str,
        transport: AnyTransport,
        **settings: Unpack[_Settings],
    ) -> None:
        """Start nothing yet: the block does."""
        self._outbox = outbox
        self._scope = scope
        self._transport = transport
        self._stop = settings["stop"] = settings["stop"] or Stop()
        self._settings = settings
        self._process = os.getpid()
        self._handle: _native.DriverHandle | None = None

    def start(self) -> RunningDriver:
        """Start it without a block; `stop` ends it. The transport has to be one that blocks."""
        if _is_async(self._transport):
            raise TypeError("this transport is asynchronous; use `async with outbox.driver(...)`")
        return self._start(self._transport)

    def _start(self, transport: Any) -> RunningDriver:
        if self._handle is not None:
            raise RuntimeError("this driver was started before; make another")
        driver = _driver(self._outbox, self._scope, transport, self._settings)
        self._handle = driver.start()
        _RUNNING.add(self)
        return self

    def stop(self) -> None:
        """Lease nothing more, and wait until what is in flight is sent and settled, or its leases are over.

        Raises why it ended before; `.reports` of that are outcomes that it could not store.
        """
        _RUNNING.discard(self)
        if self._handle is not None:
            self._handle.stop()

    @property
    def is_running(self) -> bool:
        """Whether it still works, in this process. It ends by itself when the ledger is closed."""
        return self._handle is not None and self._handle.is_running

    def __enter__(self) -> RunningDriver:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        # In a forked child it is not at work: it is in the parent.
        if os.getpid() == self._process:
            self.stop()

    async def __aenter__(self) -> RunningDriver:
        return self._start(_on_loop(self._transport, asyncio.get_running_loop(), self._stop))

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The coroutines in flight need the event loop, so that another thread waits for them.
        await _to_the_end(_in_thread(self.stop), lambda: None)


def drain(
    outbox: Outbox,
    scope: str,
    transport: AnyTransport,
    until: Span | None,
    progress: Progress,
    **settings: Unpack[_Settings],
) -> Drained:
    """See `Outbox.drain`."""
    if _is_async(transport):
        raise TypeError("this transport is asynchronous; use `await outbox.drain_async(...)`")
    driver = _driver(outbox, scope, transport, settings)
    _DRAINS.add(driver)
    with showing(progress) as show:
        return driver.drain(until, show)


async def drain_async(
    outbox: Outbox,
    scope: str,
    transport: AnyTransport,
    until: Span | None,
    progress: Progress,
    **settings: Unpack[_Settings],
) -> Drained:
    """See `Outbox.drain_async`."""
    stop = settings["stop"] = settings["stop"] or Stop()
    loop = asyncio.get_running_loop()
    driver = _driver(outbox, scope, _on_loop(transport, loop, stop), settings)
    _DRAINS.add(driver)
    with showing(progress) as show:
        told = None if show is None else _told_on(loop, show)
        return await _to_the_end(_in_thread(lambda: driver.drain(until, told)), stop.stop)


def _told_on(loop: asyncio.AbstractEventLoop, show: Callable[[Any], object]) -> Callable[[Any], object]:
    async def tell(progress: Any) -> None:
        show(progress)

    return lambda progress: _ended(loop, tell(progress), math.inf)


async def _to_the_end(future: asyncio.Future[T], stop: Callable[[], object]) -> T:
    """Wait for what another thread does; cancelled, ask it to stop and wait all the same: but only once."""
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        stop()
        if not future.cancelled():
            await asyncio.wait([future])
            if not future.cancelled():
                future.exception()
        raise


def _in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Do `work` on a thread of its own: the loop's own threads may all be taken by what it waits for."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(cast("T", result))
        else:
            future.set_exception(error)

    def run() -> None:
        result, raised = None, None
        try:
            result = work()
        except BaseException as error:
            raised = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, raised)

    threading.Thread(target=run, name="keyledger-waits", daemon=True).start()
    return future


def _is_async(transport: object) -> bool:
    send = getattr(transport, "send", transport)
    call = getattr(send, "__call__", None)  # noqa: B004 - whether the call itself is a coroutine function
    return inspect.iscoroutinefunction(send) or inspect.iscoroutinefunction(call)


class _Told:
    """A transport of which everybody hears what it raises: a bug in it is not only a retry."""

    def __init__(self, transport: object, send: Callable[[Delivery], Any], on_error: OnError | None) -> None:
        self._send, self._on_error = send, on_error
        self._ask = getattr(transport, "has_other_credentials", None)

    def send(self, delivery: Delivery) -> DeliveryOutcome:
        try:
            outcome = self._send(delivery)
            if isinstance(outcome, DeliveryOutcome):
                return outcome
            raise TypeError(f"the transport returned a {type(outcome).__qualname__}, not a keyledger.DeliveryOutcome")
        except Exception as error:
            what = f"the transport raised; entry {delivery.id} ({delivery.operation!r}) is tried again later"
            tell(error, what, self._on_error)
            return DeliveryOutcome.retry(f"the transport raised {type(error).__name__}")

    def has_other_credentials(self, scope: str) -> bool:
        try:
            return self._ask is not None and bool(self._ask(scope))
        except Exception as error:
            tell(error, f"has_other_credentials raised for the scope {scope!r}", self._on_error)
            return False


def _driver(outbox: Outbox, scope: str, transport: object, settings: _Settings) -> _native.Driver:
    send = getattr(transport, "send", transport)
    told = _Told(transport, send, settings["on_error"]) if callable(send) else transport
    return _native.Driver(outbox, scope, cast("Any", told), **settings)


class _OnLoop:
    """A transport whose coroutines run on an event loop, for a driver whose threads wait for them, and ends with it."""

    def __init__(self, transport: object, loop: asyncio.AbstractEventLoop, stop: Stop) -> None:
        self._send: Callable[[Delivery], Awaitable[DeliveryOutcome]] = getattr(
            transport, "send", cast("Any", transport)
        )
        self._ask = getattr(transport, "has_other_credentials", None)
        self._loop = loop
        self._stop = stop

    def send(self, delivery: Delivery) -> DeliveryOutcome:
        begun: list[bool] = []

        async def sending() -> DeliveryOutcome:
            begun.append(True)
            return await self._send(delivery)

        ended = self._ended(sending(), delivery.lease_left_seconds)
        if not isinstance(ended, _Unended):
            return ended
        outcome = DeliveryOutcome.retry(ended.why)
        return outcome if begun else outcome.not_taken()

    def has_other_credentials(self, scope: str) -> bool:
        if self._ask is None:
            return False
        answer = self._ask(scope)
        if inspect.iscoroutine(answer):
            answer = self._ended(answer, _ASK_SECONDS)
        return not isinstance(answer, _Unended) and bool(answer)

    def _ended(self, work: Coroutine[Any, Any, T], seconds: float) -> T | _Unended:
        ended = _ended(self._loop, work, seconds)
        if isinstance(ended, _Unended) and ended.why == _CLOSED:
            self._stop.stop()
        return ended


def _ended(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T], seconds: float) -> T | _Unended:
    """What the coroutine returns on the loop of another thread. It raises what that raises.

    A future of `concurrent` has a lock, which that thread may take with it when a signal's error ends it; a queue of C has none.
    """
    tasks: list[asyncio.Task[T]] = []
    ended: SimpleQueue[asyncio.Task[T]] = SimpleQueue()

    def begin() -> None:
        tasks.append(loop.create_task(work))
        tasks[0].add_done_callback(ended.put)

    try:
        loop.call_soon_threadsafe(begin)
        ends = time.monotonic() + seconds
        while (task := _got(ended)) is None:
            # A loop that was closed before it came to this one never will.
            if loop.is_closed():
                raise RuntimeError(_CLOSED)
            if time.monotonic() >= ends:
                loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
                return _Unended("the lease was over before an answer came")
    except RuntimeError:
        if inspect.getcoroutinestate(work) == inspect.CORO_CREATED:
            work.close()
        return _Unended(_CLOSED)
    return _Unended("the send was cancelled") if task.cancelled() else task.result()


def _got(ended: SimpleQueue[T]) -> T | None:
    try:
        return ended.get(timeout=_LOOK_SECONDS)
    except Empty:
        return None


class _Unended:
    """A coroutine did not come to its end."""

    def __init__(self, why: str) -> None:
        self.why = why


_CLOSED = "the event loop was closed"
_ASK_SECONDS = 30.0
_LOOK_SECONDS = 0.1


def _on_loop(transport: object, loop: asyncio.AbstractEventLoop, stop: Stop) -> object:
    return _OnLoop(transport, loop, stop) if _is_async(transport) else transport


# Whoever forgets to stop a driver has one that works on: to stop it is to wait, and garbage collection must not.
_RUNNING: set[RunningDriver] = set()
_DRAINS: weakref.WeakSet[_native.Driver] = weakref.WeakSet()


@before_exit
def _stop_all() -> None:
    """Threads that call Python must be gone before the interpreter is."""
    for running in list(_RUNNING):
        if running.is_running:
            running.stop()
    while any(driver.is_draining for driver in list(_DRAINS)):
        time.sleep(0.01)
