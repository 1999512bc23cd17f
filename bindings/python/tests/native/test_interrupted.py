"""Ctrl-C ends every wait within 100 ms, and nothing is lost by it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from holding import held

from keyledger import Acquired, Delivery, DeliveryOutcome, Fingerprint, Janitor, Ledger, Operation, Transaction

UNCHECKED = Fingerprint.unchecked()
ONCE = Operation("mail", "at_most_once")
WITHIN = 0.1


def interrupted_after(wait: Callable[[], Any]) -> float:
    """How long the call goes on after Ctrl-C, in seconds: the best of three, for other processes are at work as well."""

    def once() -> float:
        pressed: list[float] = []

        def press() -> None:
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.15, press)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            wait()
            pytest.fail("it came back")
        took = time.monotonic() - pressed[0]
        timer.join()
        return took

    return min(once() for _ in range(3))


def test_a_begin_that_waits_is_interrupted(ledger: Ledger) -> None:
    first = ledger.begin(ONCE, "s", "1", UNCHECKED)
    assert isinstance(first, Acquired)
    assert interrupted_after(lambda: ledger.begin(ONCE, "s", "1", UNCHECKED, wait=30)) < WITHIN
    first.claim.release()
    assert isinstance(ledger.begin(ONCE, "s", "1", UNCHECKED), Acquired)


def test_a_block_and_a_decorated_call_that_wait_are_interrupted(ledger: Ledger) -> None:
    first = ledger.begin(ONCE, "s", "1", UNCHECKED)
    assert isinstance(first, Acquired)

    def block() -> None:
        with ledger.claim(ONCE, "s", "1", UNCHECKED, wait=30):
            pytest.fail("it was granted")

    @ledger.idempotent(operation="mail", effect="at_most_once", scope="scope", key="key", fingerprint=None, wait=30)
    def send(scope: str, key: str) -> None:
        pytest.fail("it ran")

    assert interrupted_after(block) < WITHIN
    assert interrupted_after(lambda: send("s", "1")) < WITHIN
    first.claim.complete("done")


def test_a_claim_that_is_granted_while_ctrl_c_is_pressed_is_released(ledger: Ledger) -> None:
    """The commit goes on to its end; whoever pressed Ctrl-C never sees the claim, so that AtMostOnce is not parked for it."""
    with held(ledger) as go:

        def press() -> None:
            os.kill(os.getpid(), signal.SIGINT)
            go.set()

        timer = threading.Timer(0.1, press)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            ledger.begin(ONCE, "s", "1", UNCHECKED)
            pytest.fail("it came back")
        timer.join()
    assert isinstance(ledger.begin(ONCE, "s", "1", UNCHECKED, wait=5), Acquired)


def test_waits_for_an_entry_are_interrupted(ledger: Ledger) -> None:
    outbox = ledger.outbox()
    entry, _ = outbox.enqueue("s", "mail", b"1", purpose="welcome")
    assert interrupted_after(lambda: entry.result(30)) < WITHIN
    assert interrupted_after(lambda: outbox.wait(entry, 30)) < WITHIN
    assert interrupted_after(lambda: outbox.wait_until(entry, lambda _: False, 30)) < WITHIN
    assert outbox.get(entry).state == "pending"


def test_waits_for_changes_are_interrupted_and_lose_none(ledger: Ledger) -> None:
    outbox = ledger.outbox()
    changes = outbox.changes()
    assert interrupted_after(lambda: changes.next(30)) < WITHIN
    assert interrupted_after(lambda: next(changes)) < WITHIN
    entry, _ = outbox.enqueue("s", "mail", b"1", purpose="welcome")
    assert changes.next(5) == entry


def test_a_drain_that_rests_is_interrupted(ledger: Ledger) -> None:
    outbox = ledger.outbox(backoff=(20, 20, 1), _without_jitter=True)
    entry, _ = outbox.enqueue("s", "mail", b"1", purpose="welcome")

    def busy(_: Delivery) -> DeliveryOutcome:
        return DeliveryOutcome.retry("busy")

    assert interrupted_after(lambda: outbox.drain("s", busy, until=60)) < WITHIN
    assert outbox.get(entry).tries == 1


def test_a_second_ctrl_c_does_not_wait_for_what_a_driver_has_in_flight(ledger: Ledger) -> None:
    outbox = ledger.outbox()
    outbox.enqueue("s", "mail", b"1", purpose="welcome")
    sending, go = threading.Event(), threading.Event()

    def slow(_: Delivery) -> DeliveryOutcome:
        sending.set()
        go.wait(30)
        return DeliveryOutcome.retry("slow")

    driver = outbox.driver("s", slow).start()
    assert sending.wait(10)
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        driver.stop()
    assert time.monotonic() - began < 5
    go.set()
    driver.stop()


def test_stopping_a_janitor_whose_handler_is_at_work_is_interrupted(ledger: Ledger) -> None:
    at_work, go = threading.Event(), threading.Event()

    def quiet(_: int) -> bool:
        at_work.set()
        go.wait(30)
        return True

    janitor = Janitor(ledger, quiet=quiet)
    assert at_work.wait(10)
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        janitor.stop()
    assert time.monotonic() - began < 5
    go.set()
    janitor.stop()


def test_a_closure_of_a_transaction_is_interrupted_and_stores_nothing(ledger: Ledger) -> None:
    def endless(tx: Transaction) -> None:
        tx.put("rows", b"k", b"v")
        while True:
            time.sleep(0.01)

    assert interrupted_after(lambda: ledger.transaction(endless)) < WITHIN
    assert ledger.get("rows", b"k") is None
