"""Sweeping and recovery by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from keyledger import _native
from keyledger._claims import RESPONSES
from keyledger._exit import stop_at_exit
from keyledger._native import Claim, Growth, Ledger, Operation, Stats
from keyledger._recovery import Recovery
from keyledger._settling import Course, Means
from keyledger._typed import Idempotent
from keyledger._unbegun import is_async
from keyledger._values import Span


class Janitor(_native.Janitor):
    """Sweeps what is due and runs recovery handlers, on a thread of its own, or a step at a time with `tick`.

    It ends with its block, with `stop`, when it is dropped, and before the process exits. Whoever ends it waits for the step that it is
    in: one transaction of a sweep, and the handlers of at most `batch` lost calls for each of `recover`. Where they take long, and it has to
    end soon, say a smaller `batch`.

    `interval` (60 s, give or take a fifth): how often it works. `batch` (1,000): so many records to a transaction. `recover`: pairs of
    a decorated function, or an operation, and a handler, which is given the claim on a call that was lost (its lease is over, or it was
    parked because of that; not what an error has parked) and finds out what happened. As in `recover` of the function, what it returns
    completes the claim, as a result of the function's, or for a bare operation as a `Response`, text or bytes; or it settles the claim itself.
    An error of it, or what is no such result, ends the lease, or parks the record again, and the others of the step have their turn; the next
    step hands it out again, for as long as that goes on: `claim.park(reason)` ends it. Errors of the function's lists settle it.
    `quiet`: asked with the wall clock (milliseconds since 1970 UTC) before each step; while it says True, nothing is swept.
    `on_growth`: pairs of a `Growth` and an alert, which is called with it and the `Stats` each time that figure rises to the threshold
    (T4). `start=False`: no thread; call `tick`.

    `on_error` is called with each exception: that of a step, which is tried again with backoff, and whatever a handler, `quiet` or an
    alert raises. Without it they are logged by the logger `keyledger`; what `on_error` raises goes to `sys.unraisablehook`.

    Raises:
        TypeError: a handler is async, or what it is for is neither a decorated function nor an operation.

    Example:
        @ledger.idempotent(operation="mail", effect="at_most_once", scope="user", key="order")
        def mail(user: str, order: str) -> str: ...

        def find_out(claim: keyledger.Claim) -> str:
            return "sent"

        with keyledger.Janitor(ledger, interval=30, recover=[(mail, find_out)], on_growth=[(keyledger.Growth("parked", 1), print)]):
            pass  # the program

    """

    def __new__(
        cls,
        ledger: Ledger,
        *,
        interval: Span | None = None,
        batch: int | None = None,
        quiet: Callable[[int], bool] | None = None,
        recover: Iterable[tuple[Operation | Idempotent[..., Any], Callable[[Claim], object]]] = (),
        on_growth: Iterable[tuple[Growth, Callable[[Growth, Stats], object]]] = (),
        on_error: Callable[[Exception], object] | None = None,
        start: bool = True,
    ) -> Janitor:
        """Start it."""
        made = super().__new__(
            cls,
            ledger,
            interval=interval,
            batch=batch,
            quiet=quiet,
            recover=[_finding(of, handler) for of, handler in recover],
            on_growth=list(on_growth),
            on_error=on_error,
            start=start,
        )
        stop_at_exit(made)
        return made


_ANSWERS = Course(RESPONSES, Means())


def _finding(of: Any, handler: Callable[[Claim], object]) -> tuple[Operation, Callable[[Claim], object]]:
    """The operation, and the handler with what it returns stored."""
    if is_async(handler):
        raise TypeError("this handler is async, and a janitor calls handlers on a thread: await recover_async(handler)")
    if isinstance(of, Operation):
        return of, partial(_answered, handler)
    recovery = getattr(getattr(of, "recover", None), "__self__", None)
    if not isinstance(recovery, Recovery):
        raise TypeError(f"recover has a {type(of).__qualname__}: it takes decorated functions and operations")
    return of.operation, recovery.for_janitor(handler)


def _answered(handler: Callable[[Claim], object], claim: Claim) -> None:
    answer = handler(claim)
    # None is no answer: the native half tells of a claim that is left unsettled.
    if answer is not None:
        _ANSWERS.found_out(claim, answer)
