"""Fixtures of what is Python about the package."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import keyledger
from keyledger import Ledger


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    """A ledger in memory."""
    with keyledger.in_memory() as opened:
        yield opened
