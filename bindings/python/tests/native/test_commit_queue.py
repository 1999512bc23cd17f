"""A closure in the commit queue needs the interpreter, so nobody who has the interpreter waits for the queue: there is no deadlock."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import pytest
from holding import held

import keyledger
from keyledger import Acquired, Batch, Begin, Fingerprint, KeyId, Ledger, Operation, Transaction

UNCHECKED = Fingerprint.unchecked()
ONCE = Operation("mail", "at_most_once")

CALLS: list[Callable[[Ledger], Any]] = [
    lambda ledger: ledger.begin(ONCE, "s", "2", UNCHECKED),
    lambda ledger: ledger.begin(ONCE, "s", "2", UNCHECKED, wait=1),
    lambda ledger: ledger.begin_many([Begin(ONCE, "s", "2", UNCHECKED)]),
    lambda ledger: ledger.ask(ONCE, "s", "1", UNCHECKED),
    lambda ledger: ledger.inspect(KeyId("s", "mail", "1")),
    lambda ledger: ledger.list(),
    lambda ledger: ledger.stats(),
    lambda ledger: ledger.sweep(),
    lambda ledger: ledger.forget_scope("t"),
    lambda ledger: ledger.recover(ONCE),
    lambda ledger: ledger.apply(Batch().put("rows", b"k", b"v")),
    lambda ledger: ledger.transaction(lambda tx: tx.put("rows", b"k", b"v")),
    lambda ledger: ledger.get("rows", b"k"),
    lambda ledger: ledger.scan("rows"),
    lambda ledger: ledger.check(),
    lambda ledger: ledger.inspect_file(),
    lambda ledger: ledger.suspend(),
    lambda ledger: ledger.close(),
    lambda ledger: ledger.outbox().enqueue("s", "mail", b"1", purpose="p"),
    lambda ledger: ledger.outbox().lease_due("s"),
    lambda ledger: keyledger.Janitor(ledger, start=False).tick(),
]


@pytest.mark.parametrize("call", CALLS)
def test_whoever_waits_for_the_queue_leaves_the_interpreter_to_others(
    ledger: Ledger, call: Callable[[Ledger], Any]
) -> None:
    """The holder of the queue is waited for by another thread of Python's, and goes on."""
    with held(ledger) as go:
        thread = threading.Thread(target=call, args=(ledger,))
        thread.start()
        # It runs into the queue, or is done without it. This thread has the interpreter all the same.
        thread.join(0.02)
        go.set()
        thread.join(30)
        assert not thread.is_alive()


ASYNC_CALLS: list[Callable[[Ledger], Any]] = [
    lambda ledger: ledger.begin_async(ONCE, "s", "2", UNCHECKED),
    lambda ledger: ledger.begin_many_async([Begin(ONCE, "s", "2", UNCHECKED)]),
    lambda ledger: ledger.sweep_async(),
    lambda ledger: ledger.forget_scope_async("t"),
    lambda ledger: ledger.recover_async(ONCE),
    lambda ledger: ledger.transaction_async(lambda tx: tx.put("rows", b"k", b"v")),
]


@pytest.mark.parametrize("call", ASYNC_CALLS)
def test_a_loop_that_calls_while_the_queue_is_held_goes_on(ledger: Ledger, call: Callable[[Ledger], Any]) -> None:
    async def main() -> None:
        with held(ledger) as go:
            told = call(ledger)
            await asyncio.sleep(0.001)
            assert not told.done()
            go.set()
            await asyncio.wait_for(told, 30)

    asyncio.run(main())


def test_errors_of_closures_cross_the_queue_from_both_sides(ledger: Ledger) -> None:
    """Two threads whose completions are refused in the queue, while a third keeps the interpreter busy."""
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            sum(range(500))

    lost: list[str] = []

    def complete_lost(number: int) -> None:
        for turn in range(20):
            decision = ledger.begin(ONCE, "s", f"{number}-{turn}", UNCHECKED)
            assert isinstance(decision, Acquired)
            claim = decision.claim
            ledger.park(claim.key_id, claim.fence, "by hand")
            with pytest.raises(keyledger.ClaimLost):
                claim.complete_with(lambda tx: "done")
            lost.append(f"{number}-{turn}")

    threads = [threading.Thread(target=busy), *(threading.Thread(target=complete_lost, args=(n,)) for n in range(3))]
    for thread in threads:
        thread.start()
    for thread in threads[1:]:
        thread.join(60)
    stop.set()
    assert len(lost) == 60


def test_a_ledger_that_is_let_go_of_while_closures_are_under_way_is_no_deadlock() -> None:
    code = """
        import asyncio, gc, keyledger

        async def main():
            for _ in range(50):
                ledger = keyledger.in_memory()
                told = [ledger.transaction_async(lambda tx: sum(range(1000))) for _ in range(5)]
                del ledger
                gc.collect()
                await asyncio.gather(*told)

        asyncio.run(main())
        print("done")
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "done\n", "")


def test_a_claim_that_is_dropped_while_the_queue_is_held_is_no_deadlock(ledger: Ledger) -> None:
    decision: Any = ledger.begin(ONCE, "s", "1", UNCHECKED)
    with held(ledger):
        del decision
        gc.collect()
    assert ledger.ask(ONCE, "s", "1", UNCHECKED).KIND == "parked"


def test_a_transaction_of_a_loop_and_one_of_a_thread_take_turns(ledger: Ledger) -> None:
    def count(tx: Transaction) -> None:
        tx.put("rows", b"n", str(int(tx.get("rows", b"n") or b"0") + 1).encode())

    def many() -> None:
        for _ in range(50):
            ledger.transaction(count)

    async def main() -> None:
        thread = threading.Thread(target=many)
        thread.start()
        for _ in range(10):
            await asyncio.gather(*(ledger.transaction_async(count) for _ in range(5)))
        await asyncio.to_thread(thread.join)

    asyncio.run(main())
    assert ledger.get("rows", b"n") == b"100"
