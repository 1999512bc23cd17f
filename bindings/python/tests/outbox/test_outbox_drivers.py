"""Drivers and drains, on threads and in asyncio (O15, P3)."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from stage import Program, eventually, outbox_of

from keyledger import Outbox, _native, errors
from keyledger._driver import _OnLoop
from keyledger._native import Delivery, DeliveryOutcome, Drained, DrainProgress, Lane, Stop

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def filled(count: int = 10, **settings: Any) -> Outbox:
    outbox = outbox_of(**settings)
    for number in range(count):
        outbox.enqueue("user", "charge", str(number))
    return outbox


def yes(delivery: Delivery) -> DeliveryOutcome:
    return DeliveryOutcome.yes(delivery.request)


async def later(delivery: Delivery) -> DeliveryOutcome:
    await asyncio.sleep(0.02)
    return DeliveryOutcome.yes(delivery.request)


def test_o15_a_driver_sends_what_comes_and_leaving_its_block_finishes_what_is_in_flight() -> None:
    outbox, begun = outbox_of(), threading.Event()

    def slow(_delivery: Delivery) -> DeliveryOutcome:
        begun.set()
        time.sleep(0.3)
        return DeliveryOutcome.yes("done")

    with outbox.driver("user", slow) as driver:
        entry = outbox.enqueue("user", "charge", "a").entry
        assert begun.wait(10)
        assert driver.is_running
    assert not driver.is_running
    assert entry.result(0).body == b"done"
    driver.stop()


def test_o4_a_driver_serves_its_own_scope_and_keeps_an_ordered_lane_in_order() -> None:
    outbox, seen = outbox_of(lanes=[Lane.ordered("orders")]), []
    for number in range(20):
        outbox.enqueue("user", "charge", str(number), lane="orders")
    outbox.enqueue("other", "charge", "not mine")

    def send(delivery: Delivery) -> DeliveryOutcome:
        seen.append(delivery.request)
        return DeliveryOutcome.yes("done")

    outbox.drain("user", send)
    assert seen == [str(number).encode() for number in range(20)]
    assert outbox.stats().unsettled == 1


@pytest.mark.parametrize("returned", [None, b"yes", ValueError("s3cret")])
def test_o5_what_a_transport_raises_or_wrongly_returns_is_a_retry_in_doubt(returned: Any) -> None:
    def send(_delivery: Delivery) -> Any:
        if isinstance(returned, Exception):
            raise returned
        return returned

    outbox = filled(1, backoff=(60, 60, 1))
    outbox.drain("user", send)
    (entry,) = outbox.list().entries
    assert (entry.state, entry.may_have_taken_effect) == ("pending", True)
    assert "s3cret" not in entry.errors[0].error


def test_o5_a_driver_settles_its_deliveries_itself() -> None:
    outbox, raised = filled(1), []

    def send(delivery: Delivery) -> DeliveryOutcome:
        with pytest.raises(errors.ClaimSettled) as error:
            delivery.settle(DeliveryOutcome.yes("mine"))
        raised.append(error.value)
        return DeliveryOutcome.yes("the driver's")

    outbox.drain("user", send)
    assert len(raised) == 1
    assert outbox.list().entries[0].result(0).body == b"the driver's"


def test_o8_a_transport_with_other_credentials_resumes_what_is_held() -> None:
    class Transport:
        def __init__(self) -> None:
            self.signed_in = False

        def send(self, _delivery: Delivery) -> DeliveryOutcome:
            return DeliveryOutcome.yes("done") if self.signed_in else DeliveryOutcome.hold_lane("sign in")

        def has_other_credentials(self, scope: str) -> bool:
            assert scope == "user"
            return self.signed_in

    outbox, transport = filled(3), Transport()
    assert outbox.drain("user", transport).counts["held"] == 3
    transport.signed_in = True
    assert outbox.drain("user", transport).counts["answered"] == 3


def test_o15_a_drain_tells_how_far_it_is_on_the_callers_thread() -> None:
    told: list[tuple[int, int, int, str]] = []

    def tell(now: DrainProgress) -> None:
        told.append((now.sent, now.settled, now.remaining, threading.current_thread().name))

    drained = filled(10).drain("user", yes, progress=tell)
    assert (drained.sent, drained.settled, drained.unsettled, drained.was_stopped) == (10, 10, 0, False)
    assert told[0] == (0, 0, 10, "MainThread")
    assert told[-1] == (10, 10, 0, "MainThread")


def test_o15_what_progress_raises_stops_the_drain_and_comes_out_of_it() -> None:
    outbox, error = filled(100), ValueError("enough")

    def tell(now: DrainProgress) -> None:
        if now.sent >= 8:
            raise error

    with pytest.raises(ValueError, match="enough") as raised:
        outbox.drain("user", lambda _: time.sleep(0.02) or DeliveryOutcome.yes("done"), progress=tell)
    assert raised.value is error
    assert 0 < outbox.stats().unsettled < 100


@pytest.mark.parametrize("missing", [(), ("tqdm",), ("tqdm", "rich")])
def test_o15_progress_can_be_a_bar_whichever_is_installed(
    missing: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.setitem(sys.modules, f"{name}.progress", None)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert filled(10).drain("user", yes, progress=True).settled == 10
    assert "10" in "".join(capsys.readouterr())


def test_o15_a_stop_from_another_thread_ends_a_drain_that_waits() -> None:
    outbox, stop = filled(1, backoff=(60, 60, 1)), Stop()
    threading.Timer(0.2, stop.stop).start()
    drained = outbox.drain("user", lambda _: DeliveryOutcome.retry("busy"), until=None, stop=stop)
    assert (drained.was_stopped, drained.unsettled) == (True, 1)


def test_p7_a_driver_ends_when_the_ledger_is_closed_and_tells_on_error() -> None:
    ledger = _native.Ledger(None)
    outbox, told = Outbox(ledger), []
    driver = outbox.driver("user", yes, on_error=told.append).start()
    eventually(lambda: driver.is_running)
    time.sleep(0.05)
    ledger.close()
    eventually(lambda: not driver.is_running)
    with pytest.raises(errors.Closed):
        driver.stop()
    assert [type(error) for error in told] == [errors.Closed]


def test_an_asynchronous_transport_is_refused_where_there_is_no_event_loop() -> None:
    with pytest.raises(TypeError, match="async with"), filled(1).driver("user", later):
        pass
    with pytest.raises(TypeError, match="drain_async"):
        filled(1).drain("user", later)
    with pytest.raises(TypeError, match="a transport is"):
        filled(1).drain("user", 7)  # type: ignore[arg-type]


@pytest.mark.asyncio
async def test_o15_an_asyncio_driver_runs_coroutines_on_the_loop_many_at_a_time() -> None:
    outbox, threads = outbox_of(), set()

    async def send(delivery: Delivery) -> DeliveryOutcome:
        threads.add(threading.current_thread())
        return await later(delivery)

    async with outbox.driver("user", send):
        entries = [(await outbox.enqueue_async("user", "charge", str(number))).entry for number in range(40)]
        bodies = [(await entry.result_async(10)).body for entry in entries]
    assert bodies == [str(number).encode() for number in range(40)]
    assert threads == {threading.current_thread()}


@pytest.mark.asyncio
async def test_o15_drain_async_sends_all_and_tells_on_the_loop() -> None:
    told: list[threading.Thread] = []
    drained = await filled(20).drain_async("user", later, progress=lambda _: told.append(threading.current_thread()))
    assert drained.settled == 20
    assert set(told) == {threading.current_thread()}


@pytest.mark.asyncio
async def test_s3_a_cancelled_drain_finishes_what_is_in_flight() -> None:
    outbox, done = filled(100), []

    async def send(delivery: Delivery) -> DeliveryOutcome:
        await asyncio.sleep(0.2)
        done.append(delivery.id)
        return DeliveryOutcome.yes("done")

    draining: asyncio.Task[Drained] = asyncio.create_task(outbox.drain_async("user", send))
    await asyncio.sleep(0.1)
    draining.cancel()
    with pytest.raises(asyncio.CancelledError):
        await draining
    assert len(done) == 8
    assert outbox.stats().counts["answered"] == 8
    assert outbox.stats().counts["sending"] == 0


@pytest.mark.asyncio
async def test_o7_a_coroutine_is_cancelled_when_its_lease_is_over() -> None:
    outbox, cancelled = filled(1, lease=0.2, backoff=(60, 60, 1)), []

    async def send(delivery: Delivery) -> DeliveryOutcome:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(delivery.id)
            raise
        raise AssertionError

    await outbox.drain_async("user", send)
    await asyncio.sleep(0.05)
    assert len(cancelled) == 1
    assert outbox.list().entries[0].may_have_taken_effect


def test_o9_what_a_closed_loop_never_began_is_not_in_doubt() -> None:
    loop, stop = asyncio.new_event_loop(), Stop()
    (delivery,) = filled(1).lease_due("user")
    threading.Timer(0.2, loop.close).start()
    outcome = _OnLoop(later, loop, stop).send(delivery)
    assert outcome == DeliveryOutcome.retry("the event loop was closed").not_taken()
    assert stop.is_stopped
    assert _OnLoop(later, loop, stop).send(delivery) == outcome


ABANDONED = """
    import asyncio
    from keyledger._native import DeliveryOutcome
    from stage import outbox_of
    outbox = outbox_of()
    entry = outbox.enqueue("user", "charge", "a").entry

    async def send(delivery):
        await asyncio.sleep(60)

    async def main():
        driver = outbox.driver("user", send)
        await driver.__aenter__()
        await asyncio.sleep(0.2)

    asyncio.run(main())
    print(outbox.wait_until(entry, lambda seen: seen.state != "sending", 10).may_have_taken_effect)
"""


def test_a_driver_whose_loop_is_gone_ends_with_the_program() -> None:
    begun = time.monotonic()
    code, out, err = Program(ABANDONED).end()
    assert (code, out) == (0, "True\n"), err
    assert "Fatal" not in err
    assert time.monotonic() - begun < 10


INTERRUPTED = """
    import os, sys, time
    from pathlib import Path
    from keyledger._native import DeliveryOutcome
    from stage import outbox_of
    outbox = outbox_of(Path(sys.argv[1]))
    for number in range(100):
        outbox.enqueue("user", "charge", str(number))

    def send(delivery):
        os.write(1, b"sending\\n")
        time.sleep(float(sys.argv[2]))
        return DeliveryOutcome.yes("done")

    try:
        outbox.drain("user", send)
    except KeyboardInterrupt:
        counts = outbox.stats().counts
        print("stopped", counts["answered"], counts["sending"], flush=True)
"""


def test_s3_ctrl_c_during_a_drain_finishes_what_is_in_flight(tmp_path: Path) -> None:
    program = Program(INTERRUPTED, tmp_path / "outbox.kl", 0.5)
    assert program.line() == "sending"
    program.interrupt()
    code, out, err = program.end()
    assert (code, out.splitlines()[-1]) == (0, "stopped 8 0"), err


def test_s3_a_second_ctrl_c_leaves_at_once(tmp_path: Path) -> None:
    program = Program(INTERRUPTED, tmp_path / "outbox.kl", 3)
    assert program.line() == "sending"
    begun = time.monotonic()
    program.interrupt()
    time.sleep(0.3)
    program.interrupt()
    while not (line := program.line()).startswith("stopped"):
        assert line == "sending"
    assert time.monotonic() - begun < 2
    assert line == "stopped 0 8"
    assert program.end()[0] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_p3_a_forked_child_does_not_touch_its_parents_outbox_or_driver() -> None:
    code, out, err = Program(FORKED).end()
    assert (code, out.splitlines()) == (0, ["child: Forked", "child: not running", "parent: done"]), err


FORKED = """
    import os, sys, tempfile
    from pathlib import Path
    from keyledger import errors
    from keyledger._native import DeliveryOutcome
    from stage import outbox_of
    outbox = outbox_of(Path(tempfile.mkdtemp()) / "outbox.kl")
    with outbox.driver("user", lambda _: DeliveryOutcome.yes("done")) as driver:
        child = os.fork()
        if child == 0:
            try:
                outbox.enqueue("user", "charge", "a")
            except errors.Forked:
                print("child: Forked")
            print("child: running" if driver.is_running else "child: not running", flush=True)
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        entry = outbox.enqueue("user", "charge", "a").entry
        print("parent:", entry.result(10).body.decode())
"""


SHARED_AND_FORKED = """
    import os, sys, tempfile
    from pathlib import Path
    from keyledger._native import DeliveryOutcome
    from stage import outbox_of
    outbox = outbox_of(Path(tempfile.mkdtemp()) / "outbox.kl", shared=True)
    with outbox.driver("user", lambda delivery: DeliveryOutcome.yes(f"by {os.getpid()}")):
        outbox.enqueue("user", "charge", "a").entry.result(10)
        child = os.fork()
        if child == 0:
            entry = outbox.enqueue("user", "charge", "b", purpose="b").entry
            sys.exit(0 if entry.result(10).body == f"by {os.getppid()}".encode() else 1)
        assert os.waitpid(child, 0)[1] == 0
        print(outbox.find("user", "b").state)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_p3_a_forked_child_of_a_shared_outbox_enqueues_and_the_parents_driver_sends() -> None:
    code, out, err = Program(SHARED_AND_FORKED).end()
    assert (code, out) == (0, "answered\n"), err
