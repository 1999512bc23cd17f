"""Fixtures of the outbox's tests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stage import Server, serving

from keyledger import Outbox
from keyledger._native import Drained
from keyledger.transports.httpx import AsyncHttpxTransport, HttpxTransport
from keyledger.transports.requests import RequestsTransport


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server in a process of its own."""
    with serving(tmp_path) as running:
        yield running


class Library:
    """One of the transports, and how an outbox is drained over it."""

    def __init__(self, transport: Any) -> None:
        self.transport = transport

    def make(self, **settings: Any) -> Any:
        return self.transport(**settings)

    def drain(self, outbox: Outbox, transport: Any, **how: Any) -> Drained:
        if self.transport is AsyncHttpxTransport:
            return asyncio.run(outbox.drain_async("user", transport, **how))
        return outbox.drain("user", transport, **how)

    def send_all(self, outbox: Outbox, until: float = 0, **settings: Any) -> Drained:
        return self.drain(outbox, self.make(**settings), until=until)


@pytest.fixture(params=[HttpxTransport, AsyncHttpxTransport, RequestsTransport], ids=lambda one: one.__name__)
def library(request: pytest.FixtureRequest) -> Library:
    """Every transport over HTTP."""
    return Library(request.param)
