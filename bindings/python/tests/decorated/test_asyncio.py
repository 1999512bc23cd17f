"""Decorated coroutines: cancellation never loses an outcome (S3)."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

import keyledger
from keyledger import Acquired, Fingerprint, Ledger, Operation, Refused, ReplayedFailure

UNCHECKED = Fingerprint.unchecked()


def test_the_second_call_gets_the_first_ones_result_and_it_stays_a_coroutine_function(ledger: Ledger) -> None:
    runs: list[str] = []

    @ledger.idempotent(operation="x", effect="at_most_once", scope=keyledger.SINGLE, key="key")
    async def call(key: str) -> list[str]:
        await asyncio.sleep(0)
        runs.append(key)
        return runs

    async def both() -> list[Any]:
        return [await call("1"), await call("1"), await call("2")]

    assert inspect.iscoroutinefunction(call)
    assert asyncio.run(both()) == [["1"], ["1"], ["1", "2"]]


def test_s3_a_caller_that_is_cancelled_does_not_lose_the_outcome(ledger: Ledger) -> None:
    sent: list[str] = []

    @ledger.idempotent(operation="mail", effect="at_most_once", scope=keyledger.SINGLE, key="key", wait=5)
    async def mail(key: str) -> str:
        await asyncio.sleep(0.05)
        sent.append(key)
        return "sent"

    async def hurried() -> str:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(mail("1"), 0.01)
        return await mail("1")

    assert asyncio.run(hurried()) == "sent"
    assert sent == ["1"]


@pytest.mark.parametrize(("effect", "then"), [("at_most_once", "parked"), ("repeatable", "acquired")])
def test_s8_a_loop_that_ends_cancels_the_handler_and_the_effect_decides(ledger: Ledger, effect: str, then: str) -> None:
    @ledger.idempotent(operation="x", effect=effect, scope=keyledger.SINGLE, key="key", fingerprint=None)
    async def call(key: str) -> None:
        begun.set()
        await asyncio.sleep(60)

    async def left_behind() -> None:
        running = asyncio.create_task(call("1"))
        await asyncio.wait_for(begun.wait(), 10)
        assert not running.done()

    begun = asyncio.Event()
    asyncio.run(left_behind())
    assert ledger.begin(call.operation, "(single)", "1", UNCHECKED).KIND == then


def test_what_a_coroutine_raises_is_what_its_lists_say(ledger: Ledger) -> None:
    @ledger.idempotent(
        operation="x",
        effect="at_most_once",
        scope=keyledger.SINGLE,
        key="key",
        not_done=(OSError,),
        final=(ValueError,),
    )
    async def call(key: str) -> str:
        if len(errors) > 0:
            raise errors.pop()
        return "ran"

    errors: list[BaseException] = [OSError()]

    async def calls() -> None:
        with pytest.raises(OSError):
            await call("1")
        assert await call("1") == "ran"
        errors.append(ValueError("no"))
        with pytest.raises(ValueError, match="no"):
            await call("2")
        with pytest.raises(ReplayedFailure):
            await call("2")
        errors.append(KeyError())
        with pytest.raises(KeyError):
            await call("3")
        with pytest.raises(Refused, match="nobody knows"):
            await call("3")

    asyncio.run(calls())


def test_tasks_and_threads_take_the_current_claim_along(ledger: Ledger) -> None:
    @ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key")
    async def call(key: str) -> list[int]:
        def fence() -> int:
            return keyledger.current_claim().fence

        async def fence_of_task() -> int:
            return fence()

        return [fence(), await asyncio.create_task(fence_of_task()), await asyncio.to_thread(fence)]

    async def both() -> list[list[int]]:
        told = await asyncio.gather(call("1"), call("2"))
        with pytest.raises(RuntimeError):
            keyledger.current_claim()
        return told

    one, two = asyncio.run(both())
    assert len(set(one)) == len(set(two)) == 1
    assert one != two


def test_section_4_a_begin_that_is_cancelled_releases_what_it_was_granted(tmp_path: Any) -> None:
    """Its handler cannot have run: AtMostOnce is not parked, whenever the cancellation came."""
    operation = Operation("x", "at_most_once")

    async def cancelled(ledger: Ledger, number: int) -> None:
        async def block() -> None:
            async with ledger.claim(operation, "s", str(number), UNCHECKED) as claim:
                entered.append(number)
                claim.complete("done")

        entered: list[int] = []
        task = asyncio.create_task(block())
        for _ in range(number % 4):
            await asyncio.sleep(0)
        await asyncio.sleep(0.0001 * (number % 30))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if not entered:
            decision = await ledger.begin_async(operation, "s", str(number), UNCHECKED, wait=5)
            assert isinstance(decision, Acquired), (number, decision)
            never_entered.append(number)

    async def all_of_them() -> None:
        with keyledger.open(tmp_path / "file.kl") as ledger:
            for number in range(150):
                await cancelled(ledger, number)

    never_entered: list[int] = []
    asyncio.run(all_of_them())
    assert never_entered


def test_a_block_that_is_cancelled_goes_by_the_effect(ledger: Ledger) -> None:
    operation = Operation("x", "at_most_once")

    async def block() -> None:
        async with ledger.claim(operation, "s", "1", UNCHECKED):
            begun.set()
            await asyncio.sleep(60)

    begun = asyncio.Event()

    async def cancel() -> None:
        task = asyncio.create_task(block())
        await asyncio.wait_for(begun.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    decision = ledger.ask(operation, "s", "1", UNCHECKED)
    assert isinstance(decision, keyledger.Parked)
    assert "raised" in decision.reason


def test_a_coroutine_that_is_closed_settles_where_it_stands(ledger: Ledger) -> None:
    operation = Operation("x", "at_most_once")

    async def pages() -> Any:
        async with ledger.claim(operation, "s", "1", UNCHECKED):
            yield 1
            yield 2

    async def first() -> None:
        generator = pages()
        assert await generator.__anext__() == 1
        await generator.aclose()

    asyncio.run(first())
    assert ledger.ask(operation, "s", "1", UNCHECKED).KIND == "parked"
