"""Fixtures for pytest, which finds them by itself where keyledger is installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import keyledger
from keyledger.testing import ManualClock, ScriptedTransport, TransportServer


@pytest.fixture
def keyledger_clock() -> ManualClock:
    """A clock that stands still until the test moves it."""
    return ManualClock()


@pytest.fixture
def keyledger_ledger(keyledger_clock: ManualClock) -> Iterator[keyledger.Ledger]:
    """A ledger in memory, by `keyledger_clock`."""
    with keyledger.in_memory(clock=keyledger_clock) as ledger:
        yield ledger


@pytest.fixture
def keyledger_transport() -> ScriptedTransport:
    """A transport that answers yes, and notes what was sent."""
    return ScriptedTransport()


@pytest.fixture
def keyledger_server() -> Iterator[TransportServer]:
    """A server on this machine that answers 200, and notes what came."""
    with TransportServer() as server:
        yield server
