"""The ledger: one handle, for every thread and task of a process."""

from __future__ import annotations

import os
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any

from keyledger._claims import Claims
from keyledger.idempotent import Settings, idempotent
from keyledger.outbox import Outbox

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from keyledger._native import ManualClock
    from keyledger._typed import Decorator

Span = float | timedelta


class Ledger(Claims):
    """A key ledger in one file, or in memory: made by `keyledger.open` and `keyledger.in_memory`.

    Share one among all threads and tasks of a process. Blocking calls return when what they promise is on disk, and let go of the
    interpreter's lock meanwhile; each has a twin for asyncio whose name ends in `_async`. As a `with` block it is closed at the end.
    """

    def idempotent(self, **settings: Unpack[Settings]) -> Decorator:
        """Makes a function happen once for each key: see `keyledger.idempotent`, whose arguments these are.

        Example:
            @ledger.idempotent(operation="receipt", effect="at_most_once", scope=keyledger.SINGLE, key="order_id")
            def send_receipt(order_id: str) -> None: ...
        """
        return idempotent(ledger=self, **settings)

    def outbox(self, **settings: Any) -> Outbox:
        """The client half: requests persisted with their keys before they are sent. The settings are those of `Outbox`."""
        return Outbox(self, **settings)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """A handle is of one process.

        Raises `TypeError`, which says what to do.
        """
        raise TypeError(
            "a ledger cannot be copied or sent to another process: open its file there, with shared=True (P2)"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _class: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()


def open(  # noqa: A001
    path: str | os.PathLike[str],
    *,
    shared: bool = False,
    clock: ManualClock | None = None,
    admin_socket: bool = False,
    max_response_bytes: int | None = None,
    cache_bytes: int | None = None,
) -> Ledger:
    """Opens the ledger file at `path`, or makes it: for this process alone, unless it is `shared`.

    `shared` lets other processes of this machine open the file as well, if they say so too (P2): for several workers of one server.
    `clock` is a `keyledger.testing.ManualClock`, for tests. `admin_socket` lets the command line reach the open ledger. Bodies of
    responses are kept up to `max_response_bytes` (1 MiB); `cache_bytes` is memory for pages of the file (64 MiB).

    Raises `AlreadyOpen`, `Unavailable`, `WrongFormat`, `Corrupt`, `Storage`. A file that is refused is not changed (I9).

    Example:
        with keyledger.open("payments.kl") as ledger:
            ...
    """
    return Ledger(
        path,
        shared=shared,
        clock=clock,
        admin_socket=admin_socket,
        max_response_bytes=max_response_bytes,
        cache_bytes=cache_bytes,
    )


def in_memory(*, clock: ManualClock | None = None, max_response_bytes: int | None = None) -> Ledger:
    """A ledger that is gone with the process: for tests."""
    return Ledger(None, clock=clock, max_response_bytes=max_response_bytes)
