"""A process in which everything runs when it forks: a janitor, an outbox's driver, an event loop, heartbeats, a wait."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import keyledger
from keyledger import Fingerprint, KeyledgerError, Ledger, Operation
from keyledger.testing import ScriptedTransport

CHARGE = Operation("charge", "repeatable")
UNCHECKED = Fingerprint.unchecked()


class Loop:
    """An event loop on a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def start(self, coroutine: Any) -> Any:
        """Runs it there."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)


class Busy:
    """The ledger, and all that works on it."""

    def __init__(self, path: str, *, shared: bool) -> None:
        self.path, self.shared = path, shared
        self.ledger = keyledger.open(path, shared=shared)
        self.janitor = keyledger.Janitor(self.ledger, interval=0.01)
        self.outbox = self.ledger.outbox()
        self.transport = ScriptedTransport()
        self.driver = self.outbox.driver("s", self.transport).start()
        self.held = self.acquire("held")
        self.loop = Loop()
        self.waiter = self.loop.start(self._wait())
        self.block = self.ledger.claim(Operation("beaten", "repeatable", lease=0.15), "s", "beaten", UNCHECKED)
        self.beaten = self.block.__enter__()

    async def _wait(self) -> str:
        decision = await self.ledger.begin_async(CHARGE, "s", "held", UNCHECKED, wait=60)
        return decision.KIND

    def acquire(self, key: str) -> keyledger.Claim:
        """A claim on a new key."""
        decision = self.ledger.begin(CHARGE, "s", key, UNCHECKED)
        assert isinstance(decision, keyledger.Acquired), decision
        return decision.claim

    def end(self) -> dict[str, Any]:
        """Everything still works, and ends."""
        entry, _ = self.outbox.enqueue("s", "mail", b"hello")
        answer = entry.result(30).body
        self.held.complete("held")
        told = {
            "entry": bytes(answer or b"").decode(),
            "waiter": self.waiter.result(30),
            "sent": len(self.transport.sent),
        }
        self.beaten.complete("beaten")
        self.block.__exit__(None, None, None)
        self.driver.stop()
        self.janitor.stop()
        told["faults"] = self.ledger.check().faults
        self.ledger.close()
        return told


def tries(call: Any) -> str:
    """What a call says, or why it does not."""
    try:
        told = call()
    except KeyledgerError as error:
        return error.code
    return str(getattr(told, "KIND", "done"))


def in_child(busy: Busy, number: int) -> dict[str, str]:
    """What a forked child is told, which calls everything that it has found."""
    ledger: Ledger = busy.ledger

    async def begun() -> Any:
        return await ledger.begin_async(CHARGE, "s", f"async {number}", UNCHECKED)

    calls = {
        "begin": lambda: ledger.begin(CHARGE, "s", f"child {number}", UNCHECKED),
        "begin of what waits": lambda: ledger.begin(CHARGE, "s", "held", UNCHECKED),
        "begin_async": lambda: asyncio.run(begun()),
        "stats": ledger.stats,
        "rows": lambda: ledger.scan("t", b"", None, 1),
        "enqueue": lambda: busy.outbox.enqueue("other", "mail", b"x"),
        "complete": lambda: busy.held.complete("by the child"),
        "heartbeat": busy.held.heartbeat,
        "tick": busy.janitor.tick,
        # They are not here, and nobody waits for them.
        "janitor": busy.janitor.stop,
        "driver": busy.driver.stop,
        "close": ledger.close,
    }
    return {name: tries(call) for name, call in calls.items()}


@contextlib.contextmanager
def committing(ledger: Ledger) -> Iterator[None]:
    """Two threads that never stop to commit: wherever a fork comes, somebody holds a lock."""
    over = threading.Event()

    def commit(name: str) -> None:
        number = 0
        while not over.is_set():
            number += 1
            decision = ledger.begin(CHARGE, name, str(number), UNCHECKED)
            assert isinstance(decision, keyledger.Acquired)
            decision.claim.complete(name)

    threads = [threading.Thread(target=commit, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def reap(child: int, seconds: float = 20) -> int:
    """How a child ended. One that hangs is killed, and counts as -1."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return -1
