"""Fixtures of what the native half promises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import keyledger
from keyledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A ledger in a file."""
    with keyledger.open(tmp_path / "file.kl") as opened:
        yield opened
