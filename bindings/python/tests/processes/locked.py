"""Which calls let go of the interpreter's lock: each is made while another thread ticks, on a disk that syncs slowly.

The switch interval is an hour, so that the ticker gets the lock when it is let go of, and never by its time being up.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import keyledger
from keyledger import Batch, DeliveryOutcome, Fingerprint, KeyId, Ledger, Operation, Response
from keyledger.testing import ScriptedTransport

CHARGE = Operation("charge", "repeatable")
MAIL = Operation("mail", "at_most_once")
ROWS = Operation("rows", "in_ledger")
UNCHECKED = Fingerprint.unchecked()


class Ticker:
    """A thread that counts milliseconds, whenever it gets the interpreter's lock."""

    def __init__(self) -> None:
        self.ticks = 0
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(0.001)
            self.ticks += 1


class Calls:
    """Every call that may sync, each made ready before it is looked at."""

    def __init__(self, path: str) -> None:
        self.path, self.number = path, 0
        self.ledger: Ledger = keyledger.open(path)
        self.outbox = self.ledger.outbox()

    def key(self) -> str:
        self.number += 1
        return str(self.number)

    def claim(self, operation: Operation = CHARGE) -> keyledger.Claim:
        decision = self.ledger.begin(operation, "s", self.key(), UNCHECKED)
        assert isinstance(decision, keyledger.Acquired)
        return decision.claim

    def parked(self) -> tuple[KeyId, int]:
        claim = self.claim(MAIL)
        of = claim.key_id, claim.fence
        claim.park("unclear")
        return of

    def settled(self) -> KeyId:
        claim = self.claim()
        claim.complete("done")
        return claim.key_id

    def decorated(self) -> Callable[[], Any]:
        @self.ledger.idempotent(operation=CHARGE, scope="s", key="k", fingerprint=None)
        def call(s: str, k: str) -> int:
            return 1

        return lambda: call("s", self.key())

    def enqueued(self) -> int:
        return self.outbox.enqueue("s", "mail", b"x").entry.id

    def delivery(self) -> Any:
        self.enqueued()
        return self.outbox.lease_due("s", 1)[0]

    def all(self) -> dict[str, Callable[[], Callable[[], Any]]]:
        """By name, what makes each ready, and gives the call."""
        ledger, outbox = self.ledger, self.outbox

        def of_claim(call: Callable[[keyledger.Claim], Any], operation: Operation = CHARGE) -> Any:
            def ready() -> Callable[[], Any]:
                claim = self.claim(operation)
                return lambda: call(claim)

            return ready

        def of(made: Callable[[], Any], call: Callable[[Any], Any]) -> Any:
            def ready() -> Callable[[], Any]:
                with_it = made()
                return lambda: call(with_it)

            return ready

        def batch() -> Batch:
            return Batch().put("t", b"k", os.urandom(4))

        def put(tx: Any) -> Any:
            tx.put("t", b"k", os.urandom(4))
            return "done"

        return {
            "begin": of(self.key, lambda key: ledger.begin(CHARGE, "s", key, UNCHECKED)),
            "begin_with": of(self.key, lambda key: ledger.begin_with(keyledger.Begin(CHARGE, "s", key, UNCHECKED))),
            "begin_many": of(self.key, lambda key: ledger.begin_many([keyledger.Begin(CHARGE, "s", key, UNCHECKED)])),
            "complete": of_claim(lambda claim: claim.complete("done")),
            "complete in_ledger": of_claim(lambda claim: claim.complete("done"), ROWS),
            "fail": of_claim(lambda claim: claim.fail("no")),
            "release": of_claim(lambda claim: claim.release()),
            "park": of_claim(lambda claim: claim.park("unclear")),
            "settle_by_effect": of_claim(lambda claim: claim.settle_by_effect(), MAIL),
            "record_step": of_claim(lambda claim: claim.record_step("one", b"1")),
            "step": of_claim(lambda claim: claim.step("one", lambda: b"1")),
            "complete_with": of_claim(lambda claim: claim.complete_with(put), ROWS),
            "complete_batch": of_claim(lambda claim: claim.complete_batch(batch(), Response.empty()), ROWS),
            "block": lambda: self.block,
            "decorated": self.decorated,
            "run": of(self.key, lambda key: ledger.run(CHARGE, "s", key, UNCHECKED, lambda _: Response.empty())),
            "transaction": lambda: lambda: ledger.transaction(put),
            "apply": lambda: lambda: ledger.apply(batch()),
            "resolve": of(
                self.parked,
                lambda of: ledger.resolve(of[0], of[1], "completed", "done", who="ann", note="in the log"),
            ),
            "resolve_many": of(self.parked, lambda _: ledger.resolve_many("failed", "no", who="ann", note="no")),
            "recover": of(lambda: self.claim(MAIL).drop(), lambda _: ledger.recover(MAIL, 1)),
            "forget": of(self.settled, ledger.forget),
            "forget_scope": of(self.settled, lambda _: ledger.forget_scope("s")),
            "ledger.complete": of_claim(lambda claim: ledger.complete(claim.key_id, claim.fence, "done")),
            "snapshot": lambda: lambda: ledger.snapshot(f"{self.path}.{self.key()}"),
            "compact": lambda: lambda: ledger.compact(even_with_claims=True),
            "enqueue": lambda: self.enqueued,
            "lease_due": of(self.enqueued, lambda _: outbox.lease_due("s", 1)),
            "answered": of(self.delivery, lambda delivery: delivery.settle(DeliveryOutcome.yes("done"))),
            "retry": of(self.delivery, lambda delivery: delivery.settle(DeliveryOutcome.retry("503"))),
            "cancel": of(self.enqueued, outbox.cancel),
            "drain": of(self.enqueued, lambda _: outbox.drain("s", ScriptedTransport())),
            "suspend": of(self.settled, lambda _: ledger.suspend()),
            "resume": lambda: ledger.resume,
            "reopen": of(self.settled, lambda _: ledger.reopen()),
            "open": lambda: lambda: keyledger.open(f"{self.path}.{self.key()}").close(),
            "close": of(self.settled, lambda _: ledger.close()),
        }

    def block(self) -> None:
        with self.ledger.claim(CHARGE, "s", self.key(), UNCHECKED) as claim:
            claim.complete("done")


def ticks_of(ticker: Ticker, call: Callable[[], Any]) -> int:
    before = ticker.ticks
    call()
    return ticker.ticks - before


TICKS = 3
TRIES = 5
IN_TURN = ("suspend", "resume", "reopen", "close")
"""Each of them is ready when the one before was called."""


def syncing(path: str) -> dict[str, int]:
    """For each call how often the other thread ticked meanwhile, at best: a machine that is busy may let it wait, but not each time."""
    calls, ticker = Calls(path), Ticker()
    told: dict[str, int] = {}
    for name, ready in calls.all().items():
        for _ in range(1 if name in IN_TURN else TRIES):
            call = ready()
            told[name] = max(told.get(name, 0), ticks_of(ticker, call))
            if told[name] >= TICKS:
                break
    return told


def quick(path: str) -> dict[str, int]:
    """How often it ticked during a thousand of each call that cannot sync."""
    ledger, ticker = keyledger.open(path), Ticker()
    done = ledger.begin(CHARGE, "s", "done", UNCHECKED)
    held = ledger.begin(CHARGE, "s", "held", UNCHECKED)
    assert isinstance(held, keyledger.Acquired)
    other = Fingerprint.of_bytes(b"1")
    assert isinstance(done, keyledger.Acquired)
    mail = ledger.begin(MAIL, "s", "of another", other)
    assert isinstance(mail, keyledger.Acquired)
    done.claim.complete("done")

    @ledger.idempotent(operation=CHARGE, scope="s", key="k", fingerprint=None)
    def call(s: str, k: str) -> str:
        return "done"

    call("s", "decorated")
    of = {
        "replay": lambda: ledger.begin(CHARGE, "s", "done", UNCHECKED),
        "in_progress": lambda: ledger.begin(CHARGE, "s", "held", UNCHECKED),
        "mismatch": lambda: ledger.begin(MAIL, "s", "of another", Fingerprint.of_bytes(b"2")),
        "in_ledger": lambda: ledger.begin(ROWS, "s", str(next(numbers)), UNCHECKED),
        "decorated": lambda: call("s", "decorated"),
    }
    numbers = iter(range(10**9))
    told: dict[str, int] = {}
    for name, one in of.items():

        def many(one: Any = one) -> None:
            for _ in range(1000):
                one()

        told[name] = ticks_of(ticker, many)
    return told


def lateness(path: str) -> dict[str, float]:
    """How late an event loop is beside tasks that commit all the time. Milliseconds."""
    late: list[float] = []
    done = 0

    async def work(ledger: Ledger, name: str) -> None:
        nonlocal done
        for number in range(5):
            decision: Any = await ledger.begin_async(CHARGE, name, str(number), UNCHECKED)
            await decision.claim.record_step_async("one", b"1")
            await decision.claim.complete_async("done")
            done += 3

    async def watch() -> None:
        while True:
            due = time.perf_counter() + 0.002
            await asyncio.sleep(0.002)
            late.append((time.perf_counter() - due) * 1e3)

    async def all_of_them() -> None:
        with keyledger.open(path) as ledger:
            watching = asyncio.create_task(watch())
            started = time.perf_counter()
            await asyncio.gather(*(work(ledger, f"task {number}") for number in range(16)))
            told["seconds"] = time.perf_counter() - started
            watching.cancel()

    told: dict[str, float] = {}
    asyncio.run(all_of_them())
    late.sort()
    return {**told, "calls": done, "looks": len(late), "p99_ms": late[len(late) * 99 // 100], "worst_ms": late[-1]}


if __name__ == "__main__":
    what = {"syncing": syncing, "quick": quick, "lateness": lateness}[sys.argv[1]]
    if sys.argv[1] != "lateness":
        sys.setswitchinterval(3600)
    print(json.dumps(what(sys.argv[2])), flush=True)
    os._exit(0)
