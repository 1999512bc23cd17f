"""A janitor: quiet hours, alerts, and errors of what it calls, which come to the program."""

from __future__ import annotations

import logging
import sys
import threading
import time
from typing import Any

import pytest

import keyledger
from keyledger import Acquired, Claim, Fingerprint, Growth, Janitor, Ledger, Operation, Stats
from keyledger.testing import ManualClock

UNCHECKED = Fingerprint.unchecked()
CHARGE = Operation("charge", "repeatable", lease=1)
MAIL = Operation("mail", "at_most_once", lease=1)


class Unclear(Exception):
    """The handler could not find out what happened."""


def unclear(_: Claim) -> None:
    raise Unclear("the bank is closed")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def ledger(clock: ManualClock) -> Any:
    with keyledger.in_memory(clock=clock) as opened:
        yield opened


def lose(ledger: Ledger, clock: ManualClock, operation: Operation, key: str = "1") -> None:
    decision = ledger.begin(operation, "s", key, UNCHECKED)
    assert isinstance(decision, Acquired)
    decision.claim.drop()
    clock.advance(2)


@pytest.mark.parametrize("operation", [CHARGE, MAIL])
def test_what_a_recovery_handler_raises_is_told_to_on_error(
    ledger: Ledger, clock: ManualClock, operation: Operation
) -> None:
    lose(ledger, clock, operation)
    told: list[Exception] = []
    janitor = Janitor(ledger, recover=[(operation, unclear)], on_error=told.append, start=False)
    assert janitor.tick().recovered == 1
    (error,) = told
    assert isinstance(error, Unclear)
    assert error.__traceback__ is not None


def test_without_on_error_it_is_logged(ledger: Ledger, clock: ManualClock, caplog: pytest.LogCaptureFixture) -> None:
    lose(ledger, clock, CHARGE)
    Janitor(ledger, recover=[(CHARGE, unclear)], start=False).tick()
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("keyledger", logging.ERROR)
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], Unclear)


def test_a_handler_that_leaves_the_claim_unsettled_is_told(ledger: Ledger, clock: ManualClock) -> None:
    lose(ledger, clock, CHARGE)
    told: list[Exception] = []
    Janitor(ledger, recover=[(CHARGE, lambda claim: None)], on_error=told.append, start=False).tick()
    assert "not settled" in str(told[0])


def test_what_on_error_raises_goes_to_the_hook(
    ledger: Ledger, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose(ledger, clock, CHARGE)
    seen: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)

    def careless(_: Exception) -> None:
        raise RuntimeError("careless")

    Janitor(ledger, recover=[(CHARGE, unclear)], on_error=careless, start=False).tick()
    assert str(seen[0].exc_value) == "careless"


def test_a_step_that_fails_is_logged_by_the_thread(ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    ledger.suspend()
    janitor = Janitor(ledger, interval=0.01)
    until = time.monotonic() + 10
    while not caplog.records and time.monotonic() < until:
        time.sleep(0.01)
    janitor.stop()
    assert caplog.records[0].name == "keyledger"
    assert caplog.records[0].exc_info is not None
    assert isinstance(caplog.records[0].exc_info[1], keyledger.Suspended)


def test_in_quiet_hours_nothing_is_swept(ledger: Ledger, clock: ManualClock) -> None:
    asked: list[int] = []

    def is_quiet(wall_ms: int) -> bool:
        asked.append(wall_ms)
        return len(asked) == 1

    janitor = Janitor(ledger, quiet=is_quiet, start=False)
    assert janitor.tick().swept is None
    assert janitor.tick().swept is not None
    assert asked == [clock.wall_ms, clock.wall_ms]


def test_quiet_hours_that_raise_are_told_and_are_quiet(ledger: Ledger) -> None:
    told: list[Exception] = []

    def is_quiet(_: int) -> bool:
        raise Unclear

    assert Janitor(ledger, quiet=is_quiet, on_error=told.append, start=False).tick().swept is None
    assert isinstance(told[0], Unclear)


def test_t4_an_alert_is_called_each_time_its_threshold_is_crossed_upwards(ledger: Ledger, clock: ManualClock) -> None:
    told: list[tuple[Growth, Stats]] = []
    janitor = Janitor(
        ledger,
        on_growth=[(Growth("parked", 1), lambda growth, stats: told.append((growth, stats)))],
        start=False,
    )
    janitor.tick()
    assert told == []
    lose(ledger, clock, MAIL)
    janitor.tick()
    janitor.tick()
    ((growth, stats),) = told
    assert (growth.figure, growth.threshold, stats.parked) == ("parked", 1, 1)


@pytest.mark.parametrize("figure", Growth.FIGURES)
def test_there_is_a_threshold_on_each_figure(figure: str) -> None:
    assert Growth(figure, 3).figure == figure
    assert Growth(figure, 3).threshold == 3
    assert eval(repr(Growth(figure, 3))) == Growth(figure, 3)


def test_a_threshold_on_a_figure_that_there_is_not_is_refused() -> None:
    with pytest.raises(keyledger.InvalidArgument, match="file_bytes"):
        Growth("rows", 3)


def test_what_an_alert_raises_is_told(ledger: Ledger) -> None:
    told: list[Exception] = []

    def alert(_: Growth, __: Stats) -> None:
        raise Unclear

    Janitor(ledger, on_growth=[(Growth("parked", 0), alert)], on_error=told.append, start=False).tick()
    assert isinstance(told[0], Unclear)


def test_a_handler_may_stop_its_own_janitor(clock: ManualClock, ledger: Ledger) -> None:
    lose(ledger, clock, CHARGE)
    stopped = threading.Event()

    def stop(claim: Claim) -> None:
        claim.release()
        janitor.stop()
        stopped.set()

    janitor = Janitor(ledger, recover=[(CHARGE, stop)], start=False)
    ticking = threading.Thread(target=janitor.tick, daemon=True)
    ticking.start()
    assert stopped.wait(10)
    ticking.join(10)
    with pytest.raises(RuntimeError, match="stopped"):
        janitor.tick()


def states(ledger: Ledger) -> list[str]:
    return [record.state for record in ledger.list().records]


def lost_count(ledger: Ledger, clock: ManualClock, **settings: Any) -> Any:
    """A decorated function, with a call that was lost."""

    @ledger.idempotent(
        operation="count", effect="at_most_once", scope="s", key="key", lease=1, fingerprint=None, **settings
    )
    def count(s: str, key: str) -> int:
        return 3

    lose(ledger, clock, count.operation)
    return count


def test_what_a_handler_returns_is_a_result_of_the_function_that_it_is_for(ledger: Ledger, clock: ManualClock) -> None:
    count = lost_count(ledger, clock)
    seen: list[Claim] = []

    def find_out(claim: Claim) -> int:
        seen.append(keyledger.current_claim())
        return 7

    assert Janitor(ledger, recover=[(count, find_out)], start=False).tick().recovered == 1
    assert (count("s", "1"), len(seen)) == (7, 1)


def test_what_is_no_result_of_the_function_is_an_error_and_the_call_is_handed_out_again(
    ledger: Ledger, clock: ManualClock
) -> None:
    count = lost_count(ledger, clock)
    told: list[Exception] = []
    answers: list[Any] = ["a slip", 7]
    janitor = Janitor(ledger, recover=[(count, lambda _: answers.pop(0))], on_error=told.append, start=False)
    assert janitor.tick().recovered == 1
    assert "str is no int" in str(told[0])
    assert states(ledger) == ["parked"]
    assert janitor.tick().recovered == 1
    assert count("s", "1") == 7


def test_errors_of_the_functions_lists_settle_what_was_lost(ledger: Ledger, clock: ManualClock) -> None:
    count = lost_count(ledger, clock, not_done=(Unclear,))
    told: list[Exception] = []
    Janitor(ledger, recover=[(count, unclear)], on_error=told.append, start=False).tick()
    assert isinstance(told[0], Unclear)
    assert states(ledger) == ["released"]


@pytest.mark.parametrize("answer", ["found", b"found", keyledger.Response.of_text("found")])
def test_for_a_bare_operation_a_handler_returns_a_response(ledger: Ledger, clock: ManualClock, answer: Any) -> None:
    lose(ledger, clock, MAIL)
    Janitor(ledger, recover=[(MAIL, lambda _: answer)], start=False).tick()
    replay = ledger.begin(MAIL, "s", "1", UNCHECKED)
    assert isinstance(replay, keyledger.Replay)
    assert replay.response.body == b"found"


def test_a_handler_that_settled_the_claim_may_return_anything(ledger: Ledger, clock: ManualClock) -> None:
    count = lost_count(ledger, clock)
    Janitor(ledger, recover=[(count, lambda claim: (claim.complete("9"), "odd")[1])], start=False).tick()
    assert states(ledger) == ["completed"]


def test_handlers_that_no_janitor_can_call_are_refused(ledger: Ledger) -> None:
    async def find_out(_: Claim) -> str:
        return "sent"

    of_nothing: Any = len
    with pytest.raises(TypeError, match="recover_async"):
        Janitor(ledger, recover=[(MAIL, find_out)], start=False)
    with pytest.raises(TypeError, match="decorated functions and operations"):
        Janitor(ledger, recover=[(of_nothing, unclear)], start=False)
