"""A loop that is closed in the middle of a call: its handlers can never go on, and their claims are let go (S2)."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import keyledger
from keyledger import Fingerprint, Ledger, Operation, Refused

UNCHECKED = Fingerprint.unchecked()

pytestmark = [
    pytest.mark.usefixtures("quiet_about_left_tasks"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


def closed_in_the_middle(
    work: Any, stands_there: Callable[[asyncio.AbstractEventLoop], object]
) -> asyncio.AbstractEventLoop:
    """The loop of `work`, closed after the turn of it in which that stands there."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    until = time.monotonic() + 10
    while not stands_there(loop):
        assert time.monotonic() < until
        loop.call_soon(loop.stop)
        loop.run_forever()
    assert not task.done()
    loop.close()
    return loop


def charging(ledger: Ledger, effect: str, runs: list[str], *, lease: float = 60) -> Any:
    """A decorated handler that stays in its middle."""

    @ledger.idempotent(operation="x", effect=effect, scope=keyledger.SINGLE, key="key", fingerprint=None, lease=lease)
    async def charge(key: str) -> None:
        runs.append(key)
        await asyncio.sleep(60)

    return charge


def kind_of(charge: Any, ledger: Ledger, effect: str, key: str, *, wait: float = 0) -> str:
    """What whoever comes next is told."""
    scope, operation, key = charge.key_id(key)
    decision: Any = ledger.begin(Operation(operation, effect), scope, key, UNCHECKED, wait=wait)  # type: ignore[arg-type]
    return str(decision.KIND)


def kind_once_collected(charge: Any, ledger: Ledger, effect: str, key: str) -> str:
    """The same, once the garbage is gone: the thread that has told the loop may hold it for a moment more."""
    until = time.monotonic() + 10
    gc.collect()
    while (kind := kind_of(charge, ledger, effect, key)) == "in_progress" and time.monotonic() < until:
        time.sleep(0.01)
        gc.collect()
    return kind


@pytest.mark.parametrize(("effect", "then"), [("at_most_once", "parked"), ("repeatable", "acquired")])
def test_s2_a_handler_goes_with_its_closed_loop(ledger: Ledger, effect: str, then: str) -> None:
    runs: list[str] = []
    charge = charging(ledger, effect, runs)
    closed_in_the_middle(charge("1"), lambda _: runs)
    assert runs == ["1"]
    assert kind_once_collected(charge, ledger, effect, "1") == then


def test_s2_a_heartbeat_lets_go_of_a_claim_whose_loop_is_closed_and_kept(ledger: Ledger) -> None:
    runs: list[str] = []
    charge = charging(ledger, "repeatable", runs, lease=0.6)
    kept = closed_in_the_middle(charge("1"), lambda _: runs)
    assert kind_of(charge, ledger, "repeatable", "1", wait=10) == "acquired"
    assert kept.is_closed()


def test_s2_a_block_whose_loop_is_closed_and_kept_is_let_go(ledger: Ledger) -> None:
    operation = Operation("y", "repeatable", lease=0.6)

    runs: list[str] = []

    async def inside() -> None:
        async with ledger.claim(operation, "s", "1", UNCHECKED):
            runs.append("1")
            await asyncio.sleep(60)

    kept = closed_in_the_middle(inside(), lambda _: runs)
    assert ledger.begin(operation, "s", "1", UNCHECKED, wait=10).KIND == "acquired"
    assert kept.is_closed()


def test_s2_a_recovery_whose_loop_is_closed_and_kept_lets_its_claim_go(ledger: Ledger) -> None:
    charge = charging(ledger, "at_most_once", [], lease=0.6)
    scope, operation, key = charge.key_id("1")
    once = Operation(operation, "at_most_once", lease=0.6)
    lost: Any = ledger.begin(once, scope, key, UNCHECKED)
    lost.claim.drop()
    recovered: list[Any] = []

    async def find_out(claim: Any) -> None:
        recovered.append(claim)
        await asyncio.sleep(60)

    kept = closed_in_the_middle(charge.recover_async(find_out), lambda _: recovered)
    time.sleep(1)
    assert len(ledger.recover(once, 10)) == 1
    assert kept.is_closed()


@pytest.mark.parametrize("effect", ["at_most_once", "repeatable"])
def test_section_4_a_handler_that_never_began_releases_its_claim(ledger: Ledger, effect: str) -> None:
    runs: list[str] = []
    charge = charging(ledger, effect, runs)
    # Its task is made, and has its first turn in the loop's next one.
    closed_in_the_middle(charge("1"), lambda loop: getattr(loop, "_keyledger_under_way", None))
    assert runs == []
    assert kind_once_collected(charge, ledger, effect, "1") == "acquired"


def test_section_4_who_waits_on_a_closed_loop_can_be_closed_and_gives_back(ledger: Ledger) -> None:
    operation = Operation("mail", "at_most_once")
    held: Any = ledger.begin(operation, "s", "1", UNCHECKED)
    waits: list[str] = []

    async def wait() -> None:
        waits.append("1")
        await ledger.begin_async(operation, "s", "1", UNCHECKED, wait=10)

    waiting = wait()
    closed_in_the_middle(waiting, lambda _: waits)
    waiting.close()
    held.claim.release()
    assert ledger.begin(operation, "s", "1", UNCHECKED, wait=10).KIND == "acquired"


def test_a_request_on_a_loop_of_its_own_that_timed_out_can_be_tried_again(ledger: Ledger) -> None:
    seconds = [60.0, 0.0]

    @ledger.idempotent(operation="z", effect="repeatable", scope=keyledger.SINGLE, key="key", lease=0.6)
    async def charge(key: str) -> str:
        await asyncio.sleep(seconds.pop(0))
        return "paid"

    def request(timeout: float) -> str:
        loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(asyncio.wait_for(charge("1"), timeout))
        except (asyncio.TimeoutError, Refused) as error:
            return type(error).__name__
        finally:
            loop.close()

    assert request(0.1) == "TimeoutError"
    until = time.monotonic() + 10
    while (said := request(5)) == "Refused" and time.monotonic() < until:
        threading.Event().wait(0.05)
    assert said == "paid"
