"""S3: a caller that is cancelled loses neither what it has told the ledger, nor its claim."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from typing import Any

import pytest
from holding import held

import keyledger
from keyledger import Acquired, Claim, Fingerprint, Ledger, Operation, Transaction

ONCE = Operation("mail", "at_most_once")
UNCHECKED = Fingerprint.unchecked()


def granted(ledger: Ledger, key: str = "1") -> Claim:
    decision = ledger.begin(ONCE, "s", key, UNCHECKED)
    assert isinstance(decision, Acquired)
    return decision.claim


def cancelled_under_way(ledger: Ledger, call: Callable[[], Any]) -> None:
    """Makes the call while nobody commits, and cancels whoever waits for it."""

    async def caller() -> None:
        await call()

    async def main() -> None:
        with held(ledger):
            task = asyncio.create_task(caller())
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


def test_s3_a_step_is_recorded_and_its_claim_is_kept_though_its_caller_was_cancelled(ledger: Ledger) -> None:
    claim = granted(ledger)
    cancelled_under_way(ledger, lambda: claim.record_step_async("sent", b"yes"))
    # Queued after it, so that it is on disk when this is; the claim hears of it on a thread of its own.
    claim.record_step("logged", b"yes")
    until = time.monotonic() + 10
    while claim.recorded_step("sent") is None and time.monotonic() < until:
        time.sleep(0.001)
    assert claim.recorded_step("sent") == b"yes"
    assert not claim.is_settled
    claim.complete("done")
    assert ledger.ask(ONCE, "s", "1", UNCHECKED).KIND == "replay"


def test_a_step_that_is_being_recorded_leaves_the_claim_to_others(ledger: Ledger) -> None:
    """Settled meanwhile, the claim is settled after the step."""
    claim = granted(ledger)

    async def main() -> None:
        with held(ledger) as go:
            step = claim.record_step_async("sent", b"yes")
            assert not claim.is_settled
            done = claim.complete_async("done")
            go.set()
            await asyncio.gather(step, done)

    asyncio.run(main())
    assert ledger.ask(ONCE, "s", "1", UNCHECKED).KIND == "replay"


@pytest.mark.parametrize(
    ("settle", "kind"),
    [
        (lambda claim: claim.complete_async("yes"), "replay"),
        (lambda claim: claim.fail_async("no"), "replay"),
        (lambda claim: claim.park_async("look"), "parked"),
        (lambda claim: claim.settle_by_effect_async(), "parked"),
        (lambda claim: claim.release_async(), "in_progress"),
        (lambda claim: claim.complete_with_async(lambda tx: "yes"), "replay"),
    ],
)
def test_s3_a_settlement_arrives_though_its_caller_was_cancelled(
    ledger: Ledger, settle: Callable[[Claim], Any], kind: str
) -> None:
    claim = granted(ledger)
    cancelled_under_way(ledger, lambda: settle(claim))
    ledger.sweep(1)
    # Where `begin` would grant, `ask` says `in_progress`, at once to be asked again.
    answer = ledger.ask(ONCE, "s", "1", UNCHECKED)
    assert answer.KIND == kind
    if kind == "in_progress":
        assert answer.retry_after_seconds == 0


def test_a_claim_whose_completion_failed_is_given_back_though_its_caller_was_cancelled(ledger: Ledger) -> None:
    claim = granted(ledger)

    def refuse(tx: Transaction) -> str:
        tx.put("rows", b"k", b"v")
        raise ValueError("no")

    cancelled_under_way(ledger, lambda: claim.complete_with_async(refuse))
    ledger.sweep(1)
    wait_until(lambda: not claim.is_settled)
    assert ledger.get("rows", b"k") is None
    claim.complete("done")
    assert ledger.ask(ONCE, "s", "1", UNCHECKED).KIND == "replay"


def wait_until(holds: Callable[[], bool]) -> None:
    """What a thread of the ledger's does next is done soon."""

    async def look() -> None:
        while not holds():
            await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(look(), 10))


def cancelled_by_the_answer(ledger: Ledger, call: Callable[[], Any], caller: Callable[[Any], Any]) -> None:
    """Cancels whoever waits in the moment in which the answer has arrived."""

    async def main() -> None:
        with held(ledger) as go:
            told = call()
            assert not told.done()
            task: asyncio.Task[Any]
            told.add_done_callback(lambda _: task.cancel())
            task = asyncio.create_task(caller(told))
            await asyncio.sleep(0)
            go.set()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


async def bare(told: Any) -> None:
    """`await ledger.begin_async(...)`, and then its handler."""
    await told
    raise AssertionError("it was cancelled")


async def grouped(told: Any) -> None:
    """One of those that `asyncio.wait` waits for."""
    await asyncio.wait([told])
    raise AssertionError("it was cancelled")


async def shielded(told: Any) -> None:
    """Nobody has the inner future when the outer one was cancelled."""
    await asyncio.shield(told)
    raise AssertionError("it was cancelled")


@pytest.mark.parametrize("caller", [bare, grouped, shielded])
def test_section_4_a_claim_that_nobody_was_told_of_is_released(ledger: Ledger, caller: Callable[[Any], Any]) -> None:
    """AtMostOnce is not parked: no handler can have run."""
    cancelled_by_the_answer(ledger, lambda: ledger.begin_async(ONCE, "s", "1", UNCHECKED), caller)
    assert isinstance(ledger.begin(ONCE, "s", "1", UNCHECKED, wait=5), Acquired)


def test_section_4_claims_that_nobody_was_told_of_are_released(ledger: Ledger) -> None:
    many = [keyledger.Begin(ONCE, "s", str(number), UNCHECKED) for number in range(3)]
    cancelled_by_the_answer(ledger, lambda: ledger.begin_many_async(many), bare)
    for number in range(3):
        assert isinstance(ledger.begin(ONCE, "s", str(number), UNCHECKED, wait=5), Acquired)


def test_o6_deliveries_that_nobody_was_told_of_are_not_tries(ledger: Ledger) -> None:
    outbox = ledger.outbox()
    entry, _ = outbox.enqueue("s", "mail", b"1", purpose="welcome")
    cancelled_by_the_answer(ledger, lambda: outbox.lease_due_async("s"), bare)
    wait_until(lambda: outbox.get(entry).state == "pending")
    assert not outbox.get(entry).may_have_taken_effect


def test_s2_a_claim_that_was_told_and_dropped_ends_as_ever(ledger: Ledger) -> None:
    """Whoever was told of it may have done it."""

    async def main() -> None:
        assert isinstance(await ledger.begin_async(ONCE, "s", "1", UNCHECKED), Acquired)
        told = ledger.begin_async(ONCE, "s", "2", UNCHECKED)
        await asyncio.wait([told])
        assert isinstance(told.result(), Acquired)

    asyncio.run(main())
    gc.collect()
    assert ledger.ask(ONCE, "s", "1", UNCHECKED).KIND == "parked"
    assert ledger.ask(ONCE, "s", "2", UNCHECKED).KIND == "parked"


def test_a_future_of_a_decision_is_one_of_asyncio(ledger: Ledger) -> None:
    async def main() -> None:
        told = ledger.begin_async(ONCE, "s", "1", UNCHECKED)
        assert asyncio.isfuture(told)
        (decision,) = await asyncio.gather(told)
        assert isinstance(decision, Acquired)
        decision.claim.complete("done")
        assert (await asyncio.wait_for(ledger.begin_async(ONCE, "s", "1", UNCHECKED), 5)).KIND == "replay"

    asyncio.run(main())
