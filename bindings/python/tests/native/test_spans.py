"""Spans of time: seconds, finite and zero or more, or a timedelta; what is none is refused by its argument's name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import keyledger
from keyledger import Begin, Claim, DeliveryOutcome, Fingerprint, Growth, InvalidArgument, Janitor, Ledger, Operation
from keyledger.http import Route
from keyledger.testing import ManualClock

UNCHECKED = Fingerprint.unchecked()
ONCE = Operation("mail", "at_most_once")

TAKES: dict[str, Callable[[Ledger, Any], Any]] = {
    "lease": lambda ledger, span: Operation("a", "repeatable", lease=span),
    "retention": lambda ledger, span: Operation("a", "repeatable", retention=span),
    "tombstone": lambda ledger, span: Operation("a", "repeatable", tombstone=span),
    "remembered_for": lambda ledger, span: Operation("a", "repeatable", remembered_for=span),
    "wait": lambda ledger, span: ledger.begin(ONCE, "s", "1", UNCHECKED, wait=span),
    "wait of a value": lambda ledger, span: Begin(ONCE, "s", "1", UNCHECKED, wait=span),
    "lease of a heartbeat": lambda ledger, span: claim_of(ledger).heartbeat(span),
    "lease by fence": lambda ledger, span: ledger.heartbeat(claim_of(ledger).key_id, 1, span),
    "older_than": lambda ledger, span: ledger.list(older_than=span),
    "newer_than": lambda ledger, span: ledger.list(newer_than=span),
    "interval": lambda ledger, span: Janitor(ledger, interval=span, start=False),
    "threshold": lambda ledger, span: Growth("oldest_unsettled", span),
    "span": lambda ledger, span: ManualClock().advance(span),
    "span of an outcome": lambda ledger, span: DeliveryOutcome.retry("busy").not_before(span),
    "span of a key": lambda ledger, span: DeliveryOutcome.retry("busy").key_expires_after(span),
    "max_age": lambda ledger, span: ledger.outbox(max_age=span),
    "backoff": lambda ledger, span: ledger.outbox(backoff=(1, span, 2)),
    "retry_budget": lambda ledger, span: ledger.outbox(retry_budget=(1, span)),
    "older_than of entries": lambda ledger, span: ledger.outbox().list(older_than=span),
    "timeout": lambda ledger, span: ledger.outbox().wait(1, span),
    "timeout of changes": lambda ledger, span: ledger.outbox().changes().next(span),
    "retention of a route": lambda ledger, span: Route.required("repeatable", retention=span),
}


def claim_of(ledger: Ledger) -> Claim:
    decision: Any = ledger.begin(ONCE, "s", "held", UNCHECKED)
    return decision.claim  # type: ignore[no-any-return]


@pytest.fixture
def ledger() -> Any:
    with keyledger.in_memory() as opened:
        yield opened


@pytest.mark.parametrize("name", TAKES)
@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1, timedelta(seconds=-1)])
def test_no_span_is_negative_or_without_end(ledger: Ledger, name: str, wrong: Any) -> None:
    argument = name.partition(" ")[0]
    with pytest.raises(InvalidArgument, match=f"{argument} is .* seconds; it must be zero or more, and finite"):
        TAKES[name](ledger, wrong)


@pytest.mark.parametrize("name", TAKES)
@pytest.mark.parametrize("wrong", [True, "3", [3]])
def test_a_span_is_a_number_of_seconds_or_a_timedelta(ledger: Ledger, name: str, wrong: Any) -> None:
    argument, kind = name.partition(" ")[0], type(wrong).__name__
    with pytest.raises(TypeError, match=f"a number of seconds or a datetime.timedelta, not {kind}") as told:
        TAKES[name](ledger, wrong)
    # Of arguments the name is in a note, which Python has since 3.11.
    said = [str(told.value), *getattr(told.value, "__notes__", [])]
    assert sys.version_info < (3, 11) or any(f"'{argument}'" in each for each in said)
