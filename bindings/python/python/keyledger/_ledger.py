"""The ledger: one handle, for every thread and task of a process."""

from __future__ import annotations

import os
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from keyledger import (
    _native,
    _told,  # noqa: F401 # pyright: ignore[reportUnusedImport] - the native half looks it up; a child forked amid an import never could (P3)
)
from keyledger._checked import ErrorClasses, means_of
from keyledger._claims import RESPONSES, ClaimBlock
from keyledger._idempotent import ByName, Declared, idempotent
from keyledger._kept import RESULT, Asked, Kept
from keyledger._native import Acquired, Fingerprint
from keyledger._opened import explain, note
from keyledger._outbox import Outbox, OutboxSettings
from keyledger._running import run_claimed, run_claimed_async
from keyledger._settling import Course
from keyledger._unbegun import awaited, has_run, is_async, runs_when_called
from keyledger.errors import AlreadyOpen, Unavailable

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Sequence

    from typing_extensions import Self, Unpack

    from keyledger._native import (
        Begin,
        Claim,
        Gone,
        InProgress,
        ManualClock,
        Mismatch,
        Operation,
        Parked,
        Replay,
        Response,
        Transaction,
    )
    from keyledger._typed import Decorator
    from keyledger._values import Answer, Span

    _T = TypeVar("_T")
    Decision = Acquired | Replay | InProgress | Mismatch | Parked | Gone


class Ledger(_native.Ledger):
    """A key ledger in one file, or in memory: made by `keyledger.open` and `keyledger.in_memory`.

    Share one among all threads and tasks of a process. Blocking calls return when what they promise is on disk, and let go of the
    interpreter's lock meanwhile; those that one request waits for have a twin for asyncio whose name ends in `_async`. As a `with`
    block it is closed at the end.

    Example:
        with keyledger.open("payments.kl") as ledger:
            match ledger.begin(CHARGE, "user-7", "order-1034", keyledger.fingerprint({"cents": 990})):
                case keyledger.Acquired(claim):
                    claim.complete("charged")
                case keyledger.Replay(response):
                    print(response.body)
                case other:
                    print(other.advice)

    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        *,
        shared: bool = False,
        clock: ManualClock | None = None,
        admin_socket: bool | str | os.PathLike[str] = False,
        max_response_bytes: int | None = None,
        cache_bytes: int | None = None,
    ) -> None:
        """`open`, or with no path `in_memory`. The native half has opened it by then."""
        _ = shared, clock, admin_socket, max_response_bytes, cache_bytes
        self._path = path

    def __repr__(self) -> str:
        """Which file it is."""
        return f"<keyledger.Ledger {'in memory' if self._path is None else repr(os.fspath(self._path))}>"

    # These three are written in Python for Ctrl-C, which Python raises between a call of C and whatever its caller does with the answer,
    # but not between a function's return and that (from 3.11 on): see `Kept`.

    def begin(
        self,
        operation: Operation,
        scope: str,
        key: str,
        fingerprint: Fingerprint,
        *,
        memo: bytes = b"",
        wait: Span | None = None,
    ) -> Decision:
        """Asks for a key under a scope and an operation: exactly one caller gets the claim (contract section 4).

        Returns `Acquired`, `Replay`, `InProgress`, `Mismatch`, `Parked` or `Gone`. For `repeatable` and `at_most_once` the claim is on
        disk on return; for `in_ledger` it need not be (E2). `memo` is up to 4 KiB for whoever recovers the record; `wait` is how long,
        in seconds, to wait for another owner to settle before answering `InProgress`.

        Raises `InvalidKey`, `InvalidArgument`, `TooLarge` for the memo, and those of storage. A `begin` that raises has granted nothing
        (S6), `KeyboardInterrupt` included.

        Example:
            decision = ledger.begin(CHARGE, "user-7", "order-1034", keyledger.fingerprint({"cents": 990}))
            print(decision.KIND)

        """
        return Kept(partial(super().begin, operation, scope, key, fingerprint, memo=memo, wait=wait))[RESULT]  # type: ignore[no-any-return]

    def begin_with(self, begin: Begin) -> Decision:
        """`begin` of what is asked for as a value."""
        return Kept(partial(super().begin_with, begin))[RESULT]  # type: ignore[no-any-return]

    def begin_many(self, begins: Sequence[Begin]) -> list[Decision]:
        """Decides each as if alone, in order, all in one commit. Waits are not looked at. One invalid entry refuses the whole call."""
        return Kept(partial(super().begin_many, begins))[RESULT]  # type: ignore[no-any-return]

    def transaction(self, f: Callable[[Transaction], _T]) -> _T:
        """Runs `f` with a `Transaction` on the ledger's own tables: all that it changes is stored, or nothing. On return it is on disk.

        `f` runs once; while it runs others wait: keep it short, do not call the ledger from inside it, and do not wait there for a thread
        that calls it (G2). Returns what `f` returns. What `f` raises comes out as it is; then nothing is stored.

        Raises `TypeError` for an async function or a generator function, of which nothing would run.

        Example:
            ledger.transaction(lambda tx: tx.put("balances", b"user-7", b"990"))

        """
        return super().transaction(runs_when_called(f))

    def transaction_async(self, f: Callable[[Transaction], _T]) -> asyncio.Future[_T]:
        """`transaction` on an event loop: `f`, a plain function too, runs on the ledger's own thread. What it stored stays if nobody waits."""
        return super().transaction_async(runs_when_called(f))

    @overload
    def idempotent(self, bare: None = None, /, **settings: Unpack[ByName]) -> Decorator: ...
    @overload
    def idempotent(self, bare: None = None, /, **settings: Unpack[Declared]) -> Decorator: ...
    def idempotent(self, bare: None = None, /, **settings: Any) -> Decorator:
        """Makes a function happen once for each key: see `keyledger.idempotent`, whose arguments these are.

        Example:
            @ledger.idempotent(operation="receipt", effect="at_most_once", scope=keyledger.SINGLE, key="order_id")
            def send_receipt(order_id: str) -> None: ...

            send_receipt("order-1034")

        """
        if bare is not None:
            raise TypeError("idempotent is called: @ledger.idempotent(operation=..., effect=..., scope=..., key=...)")
        return idempotent(ledger=self, **settings)

    def claim(
        self,
        operation: Operation,
        scope: str,
        key: str,
        fingerprint: Fingerprint,
        *,
        memo: bytes = b"",
        wait: Span | None = None,
        not_done: ErrorClasses = (),
        final: ErrorClasses = (),
        heartbeat: bool = True,
    ) -> ClaimBlock:
        """A block, `with` or `async with`, that holds the claim. Settle it inside.

        Leaving by an error settles it: errors of `final` as a final no, those of `not_done` as released (the narrower class counts, where
        both lists have one of the error's), all others, cancellation and interrupts included, by the record's effect (AtMostOnce is parked,
        others are released; S8). Leaving without an error and
        unsettled ends the lease at once (S2), with a `ResourceWarning`. Inside, `keyledger.current_claim()` is the claim, and its lease
        is renewed by a thread every third of it; `heartbeat=False` leaves that to you.

        Raises:
            Refused: no claim was granted; `refused.decision` says what instead: `Replay`, `InProgress`, `Mismatch`, `Parked` or `Gone`.
                A block cannot be skipped, so that a stored yes raises it, too: `refused.decision.response` is the answer.
            ReplayedFailure: a final no is stored.

        Example:
            with ledger.claim(CHARGE, "user-7", "order-1034", fingerprint) as claim:
                bank.charge(990, idempotency_key=claim.derive_key("charge"))
                claim.complete(keyledger.Response.json({"charged": 990}))

        """
        terms: dict[str, Any] = {"memo": memo, "wait": wait}
        asked = (operation, scope, key, _checked(fingerprint))
        return ClaimBlock(self, asked, terms, means_of(not_done, final), heartbeat=heartbeat)

    def run(
        self,
        operation: Operation,
        scope: str,
        key: str,
        fingerprint: Fingerprint,
        handler: Callable[[Claim], Answer],
        *,
        memo: bytes = b"",
        wait: Span | None = None,
        not_done: ErrorClasses = (),
        final: ErrorClasses = (),
        heartbeat: bool = True,
    ) -> Response:
        """Begins the key, runs `handler(claim)` if the claim is granted, and settles it; or returns the stored response.

        On return the response is on disk, and every later caller is told the same. A handler may settle the claim itself: what it
        stored is then the answer. Its errors mean what they mean in `claim`, and are raised.

        Raises:
            Refused: the handler was not run, and there is no answer (S9).
            ReplayedFailure: a final no is stored.
            TypeError: the handler is async; nothing was begun.

        Example:
            def charge(claim: keyledger.Claim) -> keyledger.Response:
                bank.charge(990, idempotency_key=claim.derive_key("charge"))
                return keyledger.Response.json({"charged": 990})

            first = ledger.run(CHARGE, "user-7", "order-1034", fingerprint, charge)
            assert ledger.run(CHARGE, "user-7", "order-1034", fingerprint, charge) == first

        """
        if is_async(handler):
            raise TypeError("this handler is async: await run_async(..., handler)")
        asked = (operation, scope, key, _checked(fingerprint))
        course = Course(RESPONSES, means_of(not_done, final))
        with Asked(partial(self.begin, *asked, memo=memo, wait=wait)) as granted:
            decision = granted[RESULT]
            if not isinstance(decision, Acquired):
                return course.told(decision, (scope, operation.name, key))  # type: ignore[no-any-return]
            ran = partial(handler, decision.claim)
            check = partial(has_run, handler, codec=RESPONSES)
            return run_claimed(granted, ran, course, partial(self.ask, *asked), heartbeat=heartbeat, check=check)  # type: ignore[no-any-return]

    async def run_async(
        self,
        operation: Operation,
        scope: str,
        key: str,
        fingerprint: Fingerprint,
        handler: Callable[[Claim], Awaitable[Answer]],
        *,
        memo: bytes = b"",
        wait: Span | None = None,
        not_done: ErrorClasses = (),
        final: ErrorClasses = (),
        heartbeat: bool = True,
    ) -> Response:
        """`run` on an event loop. The handler runs in a task of its own: if the caller is cancelled, it runs on, and its outcome is stored (S3).

        Example:
            async def charge(claim: keyledger.Claim) -> keyledger.Response:
                return keyledger.Response.json({"charged": 990})

            asyncio.run(ledger.run_async(CHARGE, "user-7", "order-1034", fingerprint, charge))

        """
        asked = (operation, scope, key, _checked(fingerprint))
        course = Course(RESPONSES, means_of(not_done, final))
        with Asked(partial(self.begin_async, *asked, memo=memo, wait=wait)) as granted:
            decision = granted[RESULT] = await granted[RESULT]
            if not isinstance(decision, Acquired):
                return course.told(decision, (scope, operation.name, key))  # type: ignore[no-any-return]
            run = partial(_answer, handler, decision.claim)
            ran = run_claimed_async(granted, run, course, partial(self.ask, *asked), heartbeat=heartbeat)
            return await ran  # type: ignore[no-any-return]

    def outbox(self, **settings: Unpack[OutboxSettings]) -> Outbox:
        """The client half: requests are stored with their keys before they are sent. The settings are those of `keyledger.Outbox`.

        Example:
            outbox = ledger.outbox(lease=10, lanes=[keyledger.Lane.ordered("orders")])

        """
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


async def _answer(handler: Callable[[Claim], Any], claim: Claim) -> Any:
    """What the handler answers, also one that has nothing to wait for."""
    return await awaited(handler(claim))


def _checked(fingerprint: object) -> Any:
    if isinstance(fingerprint, Fingerprint):
        return fingerprint
    raise TypeError(
        f"the fingerprint is a {type(fingerprint).__qualname__}, not a keyledger.Fingerprint: keyledger.fingerprint(...) makes "
        "one of a JSON value"
    )


def open(  # noqa: A001
    path: str | os.PathLike[str],
    *,
    shared: bool = False,
    clock: ManualClock | None = None,
    admin_socket: bool | str | os.PathLike[str] = False,
    max_response_bytes: int | None = None,
    cache_bytes: int | None = None,
) -> Ledger:
    """Opens the ledger file at `path`, or makes it: for this process alone, unless it is `shared`.

    Args:
        path: the file. It is made if it is not there; its folder is not.
        shared: other processes of this machine may open the file as well, if they say so too (P2): for several workers of one server.
        clock: a `keyledger.testing.ManualClock`, for tests.
        admin_socket: the command line reaches the ledger while it is open: True for a socket beside the file, or a path for it where
            that one would be too long.
        max_response_bytes: how long the body of a response may be to be kept (1 MiB).
        cache_bytes: memory for pages of the file (64 MiB).

    Raises:
        AlreadyOpen: this process has the file open already, shared or not, or another one has, and not both are `shared`.
        Unavailable: it cannot be read or made right now.
        WrongFormat: it is no ledger, or one of a later version. No file that is refused is changed (I9).
        Corrupt: it is damaged.
        Storage: the operating system refused.

    Example:
        with keyledger.open("payments.kl") as ledger:
            print(ledger.stats().completed)

    """
    try:
        ledger = Ledger(
            path,
            shared=shared,
            clock=clock,
            admin_socket=admin_socket,
            max_response_bytes=max_response_bytes,
            cache_bytes=cache_bytes,
        )
    except (AlreadyOpen, Unavailable) as error:
        explain(error, path)
        raise
    note(path, ledger)
    return ledger


def in_memory(*, clock: ManualClock | None = None, max_response_bytes: int | None = None) -> Ledger:
    """A ledger that is gone with the process: for tests. `clock` and `max_response_bytes` are those of `open`.

    Example:
        clock = keyledger.testing.ManualClock()
        with keyledger.in_memory(clock=clock) as ledger:
            clock.advance(60)

    """
    return Ledger(None, clock=clock, max_response_bytes=max_response_bytes)
