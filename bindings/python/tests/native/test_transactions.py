"""A transaction belongs to the function that it is given to: whoever keeps it, or takes it elsewhere, is told so (src/borrowed.rs)."""

from __future__ import annotations

import asyncio
import functools
import gc
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import greenlet
import pytest

import keyledger
from keyledger import Acquired, Batch, Claim, Enqueue, Fingerprint, InvalidArgument, Ledger, Operation, Reentrant
from keyledger import Transaction as Tx

UNCHECKED = Fingerprint.unchecked()
IN_LEDGER = Operation("charge", "in_ledger")

USES: list[Callable[[Ledger, Tx], Any]] = [
    lambda ledger, tx: tx.get("rows", b"k"),
    lambda ledger, tx: tx.scan("rows"),
    lambda ledger, tx: tx.put("rows", b"k", b"late"),
    lambda ledger, tx: tx.delete("rows", b"k"),
    lambda ledger, tx: tx.insert_unique("rows", b"new", b"late"),
    lambda ledger, tx: tx.compare_and_set("rows", b"k", b"v", b"late"),
    lambda ledger, tx: tx.apply(Batch().put("rows", b"k", b"late")),
    lambda ledger, tx: tx.complete(keyledger.KeyId("s", "charge", "1"), 1, "late"),
    lambda ledger, tx: tx.enqueue(ledger.outbox(), Enqueue("s", "mail", b"late", purpose="p")),
]


@pytest.mark.parametrize("use", USES)
def test_a_transaction_that_was_kept_is_of_no_use(ledger: Ledger, use: Callable[[Ledger, Tx], Any]) -> None:
    kept: list[Tx] = []

    def keep(tx: Tx) -> None:
        tx.put("rows", b"k", b"v")
        kept.append(tx)

    ledger.transaction(keep)
    for _ in range(2):
        with pytest.raises(InvalidArgument, match="over"):
            use(ledger, kept[0])
    assert ledger.scan("rows") == [(b"k", b"v")]
    assert ledger.outbox().stats().unsettled == 0


def test_one_that_was_kept_is_of_no_use_in_a_later_transaction(ledger: Ledger) -> None:
    kept: list[Tx] = []
    ledger.transaction(kept.append)

    def later(tx: Tx) -> None:
        tx.put("rows", b"k", b"v")
        with pytest.raises(InvalidArgument):
            kept[0].put("rows", b"k", b"late")

    ledger.transaction(later)
    assert ledger.get("rows", b"k") == b"v"


def test_one_that_was_kept_by_a_closure_that_raised_is_of_no_use(ledger: Ledger) -> None:
    kept: list[Tx] = []

    def fail(tx: Tx) -> None:
        kept.append(tx)
        tx.put("rows", b"k", b"v")
        raise raised

    raised = ValueError("no")
    with pytest.raises(ValueError, match="no") as told:
        ledger.transaction(fail)
    assert told.value is raised
    with pytest.raises(InvalidArgument):
        kept[0].put("rows", b"k", b"late")
    assert ledger.get("rows", b"k") is None


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError])
def test_whatever_a_closure_raises_comes_out_and_nothing_is_stored(ledger: Ledger, error: type[BaseException]) -> None:
    def fail(tx: Tx) -> None:
        tx.put("rows", b"k", b"v")
        raise error

    with pytest.raises(error):
        ledger.transaction(fail)
    assert ledger.get("rows", b"k") is None


@pytest.mark.parametrize("use", USES)
def test_another_thread_cannot_use_it(ledger: Ledger, use: Callable[[Ledger, Tx], Any]) -> None:
    told: list[BaseException] = []

    def elsewhere(tx: Tx) -> None:
        try:
            use(ledger, tx)
        except BaseException as error:
            told.append(error)

    def hand_on(tx: Tx) -> None:
        tx.put("rows", b"k", b"v")
        # The outbox of one of them is opened from there: that commits, and would wait for this.
        if use is not USES[-1]:
            thread = threading.Thread(target=elsewhere, args=(tx,))
            thread.start()
            thread.join()
            assert isinstance(told[0], InvalidArgument)
        # Here it is of use as before.
        assert tx.get("rows", b"k") == b"v"

    ledger.transaction(hand_on)
    assert ledger.scan("rows") == [(b"k", b"v")]


def test_threads_that_hammer_a_transaction_of_another_get_nothing(ledger: Ledger) -> None:
    """While it is used, kept, and given back, in thousands of small steps."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    current: list[Tx] = []
    stop = threading.Event()
    stolen: list[Any] = []

    def steal() -> None:
        while not stop.is_set():
            for tx in current[-1:]:
                try:
                    tx.put("rows", b"stolen", b"v")
                    stolen.append(tx)
                except InvalidArgument:
                    pass

    def work(tx: Tx) -> None:
        current.append(tx)
        for number in range(200):
            tx.put("rows", b"k", str(number).encode())
            assert tx.get("rows", b"k") == str(number).encode()

    threads = [threading.Thread(target=steal) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            ledger.transaction(work)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert not stolen
    assert ledger.scan("rows") == [(b"k", b"199")]


CALLS: list[Callable[[Ledger, Tx, Claim], Any]] = [
    lambda ledger, tx, claim: ledger.transaction(lambda inner: None),
    lambda ledger, tx, claim: ledger.begin(Operation("x", "repeatable"), "s", "2", UNCHECKED),
    lambda ledger, tx, claim: ledger.begin(Operation("x", "repeatable"), "s", "2", UNCHECKED, wait=5),
    lambda ledger, tx, claim: ledger.apply(Batch().put("rows", b"k", b"x")),
    lambda ledger, tx, claim: ledger.sweep(),
    lambda ledger, tx, claim: ledger.close(),
    lambda ledger, tx, claim: claim.complete("x"),
    lambda ledger, tx, claim: claim.complete_with(lambda inner: "x"),
    lambda ledger, tx, claim: claim.heartbeat(),
]


@pytest.mark.parametrize("call", CALLS)
def test_a_closure_that_calls_the_ledger_is_reentrant(ledger: Ledger, call: Callable[[Ledger, Tx, Claim], Any]) -> None:
    decision = ledger.begin(Operation("y", "repeatable"), "s", "1", UNCHECKED)
    assert isinstance(decision, Acquired)

    def within(tx: Tx) -> None:
        tx.put("rows", b"k", b"v")
        with pytest.raises(Reentrant):
            call(ledger, tx, decision.claim)
        # What was refused has spoilt nothing.
        tx.put("rows", b"l", b"w")

    ledger.transaction(within)
    assert ledger.scan("rows") == [(b"k", b"v"), (b"l", b"w")]
    decision.claim.complete("done")


def test_a_closure_may_use_another_ledger(ledger: Ledger) -> None:
    with keyledger.in_memory() as other:

        def outer(tx: Tx) -> Any:
            def inner(inside: Tx) -> Any:
                inside.put("rows", b"k", tx.get("rows", b"k") or b"")
                tx.put("rows", b"l", b"outer")
                return "inner"

            tx.put("rows", b"k", b"v")
            return other.transaction(inner)

        assert ledger.transaction(outer) == "inner"
        assert other.get("rows", b"k") == b"v"
    assert ledger.get("rows", b"l") == b"outer"


def test_a_generator_reads_on_while_its_transaction_lasts(ledger: Ledger) -> None:
    def rows(tx: Tx) -> Iterator[bytes | None]:
        for key in (b"a", b"b"):
            tx.put("rows", key, key)
            yield tx.get("rows", key)

    generators: list[Iterator[bytes | None]] = []

    def within(tx: Tx) -> list[bytes | None]:
        generators.append(rows(tx))
        generators.append(rows(tx))
        assert next(generators[1]) == b"a"
        return list(generators[0])

    assert ledger.transaction(within) == [b"a", b"b"]
    with pytest.raises(InvalidArgument):
        next(generators[1])


def called(function: Callable[[Tx], Any]) -> Callable[[Tx], Any]:
    """A function that looks plain, and returns what is still to run."""

    def call(tx: Tx) -> Any:
        return function(tx)

    return call


def test_a_generator_that_a_closure_returns_stores_nothing_late(ledger: Ledger) -> None:
    """Its body runs when somebody iterates, and then it is over."""

    def lazy(tx: Tx) -> Iterator[None]:
        tx.put("rows", b"k", b"v")
        yield

    generator = ledger.transaction(called(lazy))
    with pytest.raises(InvalidArgument):
        next(generator)
    assert ledger.get("rows", b"k") is None


def test_a_coroutine_cannot_use_it_later(ledger: Ledger) -> None:
    async def late(tx: Tx) -> None:
        tx.put("rows", b"k", b"v")

    async def main() -> None:
        with pytest.raises(InvalidArgument):
            await ledger.transaction(called(late))
        with pytest.raises(InvalidArgument):
            await (await ledger.transaction_async(called(late)))

    asyncio.run(main())
    assert ledger.get("rows", b"k") is None


async def _coroutine(tx: Tx) -> None:
    tx.put("rows", b"k", b"v")


def _generator(tx: Tx) -> Iterator[None]:
    yield tx.put("rows", b"k", b"v")


async def _async_generator(tx: Tx) -> AsyncIterator[None]:
    yield tx.put("rows", b"k", b"v")


@pytest.mark.parametrize("closure", [_coroutine, _generator, _async_generator, functools.partial(_coroutine)])
def test_a_function_of_which_nothing_would_run_in_the_transaction_is_refused(ledger: Ledger, closure: Any) -> None:
    async def main() -> None:
        with pytest.raises(TypeError, match="nothing would run"):
            await ledger.transaction_async(closure)

    with pytest.raises(TypeError, match="nothing would run"):
        ledger.transaction(closure)
    asyncio.run(main())


def test_an_operand_that_uses_the_transaction_while_it_is_used(ledger: Ledger) -> None:
    """Arguments are made before the transaction is taken, so that code of theirs finds it free."""

    class Sneaky:
        def __init__(self, tx: Tx) -> None:
            self.tx = tx

        def __index__(self) -> int:
            self.tx.put("rows", b"sneaked", b"v")
            return 5

    def within(tx: Tx) -> int:
        tx.put("rows", b"k", b"v")
        limit: Any = Sneaky(tx)
        return len(tx.scan("rows", limit=limit))

    assert ledger.transaction(within) == 2


def test_a_finalizer_that_uses_a_dead_transaction_harms_nobody(ledger: Ledger) -> None:
    told: list[BaseException] = []

    class Last:
        def __init__(self, tx: Tx) -> None:
            self.tx, self.me = tx, self

        def __del__(self) -> None:
            try:
                self.tx.put("rows", b"k", b"late")
            except InvalidArgument as error:
                told.append(error)

    def within(tx: Tx) -> None:
        Last(tx)

    ledger.transaction(within)
    gc.collect()
    assert told
    assert ledger.get("rows", b"k") is None


def test_another_greenlet_cannot_use_it(ledger: Ledger) -> None:
    """A greenlet that is switched away has its stack moved, and the transaction with it."""
    kept: list[Tx] = []
    main = greenlet.getcurrent()

    def within(tx: Tx) -> bytes | None:
        kept.append(tx)
        tx.put("rows", b"k", b"v")
        main.switch()
        return tx.get("rows", b"k")

    lending = greenlet.greenlet(lambda: ledger.transaction(within))
    lending.switch()
    with pytest.raises(InvalidArgument):
        kept[0].put("rows", b"k", b"elsewhere")
    assert lending.switch() == b"v"
    assert ledger.get("rows", b"k") == b"v"


@pytest.mark.parametrize("effect", ["in_ledger", "repeatable"])
def test_a_completion_lends_its_transaction_in_the_same_way(ledger: Ledger, effect: str) -> None:
    decision = ledger.begin(Operation("charge", effect), "s", "1", UNCHECKED)
    assert isinstance(decision, Acquired)
    kept: list[Tx] = []

    def write(tx: Tx) -> str:
        kept.append(tx)
        tx.put("rows", b"k", b"v")
        return "done"

    assert decision.claim.complete_with(write).body == b"done"
    with pytest.raises(InvalidArgument):
        kept[0].put("rows", b"k", b"late")
    assert ledger.get("rows", b"k") == b"v"
