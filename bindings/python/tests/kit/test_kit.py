"""The kit that tries transports: ours pass, and those with a fault are found, each by the case that is about it."""

from __future__ import annotations

from typing import Any

import pytest
from plain import Plain

from keyledger import DeliveryOutcome
from keyledger.testing import CASES, Case, ManualClock, ScriptedTransport, TransportServer, check_transport
from keyledger.transports.httpx import AsyncHttpxTransport, HttpxTransport
from keyledger.transports.requests import RequestsTransport

FAULTS = {
    "new key": "went out as key",
    "other bytes": "other bytes",
    "all is well": "O8: 400 -> answered no",
    "errors are final": "O8: 500, 200",
    "cut means no": "O8: cut after reading",
    "forgets doubt": "O9: cut after reading, 404",
    "waits": "it waited past its lease",
}


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("make", [HttpxTransport, AsyncHttpxTransport, RequestsTransport, Plain])
def test_transports_without_a_fault_hold(case: Case, make: Any) -> None:
    case.check(make)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str) -> None:
    with pytest.raises(AssertionError, match=FAULTS[fault]):
        check_transport(lambda: Plain(fault))


def test_the_plugins_fixtures(
    keyledger_clock: ManualClock,
    keyledger_ledger: Any,
    keyledger_transport: ScriptedTransport,
    keyledger_server: TransportServer,
) -> None:
    outbox = keyledger_ledger.outbox()
    entry = outbox.enqueue("user", "x", b"1").entry
    outbox.drain("user", keyledger_transport)
    assert [(sent.key, sent.request) for sent in keyledger_transport.sent] == [(entry.key, b"1")]
    keyledger_clock.advance(1)
    assert keyledger_server.url.startswith("http://127.0.0.1:")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_script_is_followed(keyledger_ledger: Any, keyledger_clock: ManualClock) -> None:
    last = DeliveryOutcome.yes("paid")
    transport = ScriptedTransport([ValueError("odd"), DeliveryOutcome.retry("503"), lambda _: last])
    outbox = keyledger_ledger.outbox()
    entry = outbox.enqueue("user", "x", b"1").entry
    for _ in range(3):
        outbox.drain("user", transport)
        keyledger_clock.advance(600)
    assert outbox.get(entry).response.body == b"paid"
    assert [sent.key for sent in transport.sent] == [entry.key] * 3
