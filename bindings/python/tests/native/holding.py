"""A commit queue that somebody holds, so that a call of a test is surely under way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from keyledger import Ledger, Transaction


@contextmanager
def held(ledger: Ledger) -> Iterator[threading.Event]:
    """Inside the block nobody commits. Setting the event lets them."""
    inside, go = threading.Event(), threading.Event()

    def hold(_: Transaction) -> None:
        inside.set()
        assert go.wait(30)

    thread = threading.Thread(target=ledger.transaction, args=(hold,))
    thread.start()
    assert inside.wait(30)
    try:
        yield go
    finally:
        go.set()
        thread.join()
