"""Sweeping and recovery by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from keyledger import _native
from keyledger._exit import stop_at_exit
from keyledger._native import Claim, Growth, Ledger, Operation, Stats
from keyledger._values import Span


class Janitor(_native.Janitor):
    """Sweeps what is due and runs recovery handlers, on a thread of its own, or a step at a time with `tick`.

    It ends with its block, with `stop`, when it is dropped, and before the process exits. Whoever ends it waits for the step that it is
    in: one transaction of a sweep, and the handlers of at most `batch` lost calls for each of `recover`. Where they take long, and it has to
    end soon, say a smaller `batch`.

    `interval` (60 s, give or take a fifth): how often it works. `batch` (1,000): so many records to a transaction. `recover`: pairs of
    an operation and a handler, which is given the claim on a call that was lost (its lease is over, or it was parked because of that;
    not what an error has parked), finds out what happened, and settles it. An error of it ends the lease, or parks the record again, and the
    others of the step have their turn; the next step hands it out again, for as long as the handler raises: `claim.park(reason)` ends that.
    `quiet`: asked with the wall clock (milliseconds since 1970 UTC) before each step; while it says True, nothing is swept.
    `on_growth`: pairs of a `Growth` and an alert, which is called with it and the `Stats` each time that figure rises to the threshold
    (T4). `start=False`: no thread; call `tick`.

    `on_error` is called with each exception: that of a step, which is tried again with backoff, and whatever a handler, `quiet` or an
    alert raises. Without it they are logged by the logger `keyledger`; what `on_error` raises goes to `sys.unraisablehook`.

    Example:
        with keyledger.Janitor(ledger, interval=30, on_growth=[(keyledger.Growth("parked", 1), print)]):
            pass  # the program

    """

    def __new__(
        cls,
        ledger: Ledger,
        *,
        interval: Span | None = None,
        batch: int | None = None,
        quiet: Callable[[int], bool] | None = None,
        recover: Iterable[tuple[Operation, Callable[[Claim], object]]] = (),
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
            recover=list(recover),
            on_growth=list(on_growth),
            on_error=on_error,
            start=start,
        )
        stop_at_exit(made)
        return made
