"""A signal's error on the event loop on which a driver's threads wait for coroutines: none of them waits for ever."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from stage import outbox_of

from keyledger import Delivery, DeliveryOutcome, Stop
from keyledger._driver import _OnLoop, _told_on


def interrupted_at(instant: int, waits: Callable[[asyncio.AbstractEventLoop, Callable[[], None]], object]) -> bool:
    """Whether `waits`, on a thread of its own, ends although the loop is ended at that call of C after its coroutine has run."""
    loop, ended = asyncio.new_event_loop(), threading.Event()
    calls = 0

    def count(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal calls
        calls += event == "c_return"
        if calls > instant:
            sys.setprofile(None)
            raise KeyboardInterrupt

    def work() -> None:
        with contextlib.suppress(BaseException):
            waits(loop, lambda: sys.setprofile(count))
        ended.set()
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(loop.stop)

    threading.Thread(target=work, daemon=True).start()
    try:
        with contextlib.suppress(KeyboardInterrupt):
            loop.run_forever()
    finally:
        sys.setprofile(None)
        loop.close()
    return ended.wait(5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("instant", range(12))
def test_a_driver_whose_loop_a_signal_has_ended_at_any_instant_waits_for_no_lock(
    instant: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyledger._driver._LOOK_SECONDS", 0.01)
    outbox = outbox_of()
    outbox.enqueue("user", "charge", "a")
    (delivery,) = outbox.lease_due("user")

    def sends(loop: asyncio.AbstractEventLoop, ran: Callable[[], None]) -> object:
        async def send(_: Delivery) -> DeliveryOutcome:
            ran()
            return DeliveryOutcome.yes("")

        return _OnLoop(send, loop, Stop()).send(delivery)

    def shows(loop: asyncio.AbstractEventLoop, ran: Callable[[], None]) -> object:
        return _told_on(loop, lambda _: ran())(None)

    assert interrupted_at(instant, sends)
    assert interrupted_at(instant, shows)
