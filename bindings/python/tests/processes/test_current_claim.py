"""`current_claim()` is that of the innermost call here: threads, tasks, executors, two ledgers and two scopes never meet."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import keyledger
from keyledger import Fingerprint, Ledger, Operation, Refused

UNCHECKED = Fingerprint.unchecked()

Who = tuple[int, str, str]
"""Ledger, scope and key of a claim."""


def who() -> Who | None:
    """Whose claim is current here."""
    try:
        claim = keyledger.current_claim()
    except RuntimeError:
        return None
    return claim.ledger_number, claim.key_id.scope, claim.key_id.key


@pytest.fixture
def ledgers(tmp_path: Path) -> Iterator[list[Ledger]]:
    """Two: one in memory, one on a file."""
    with keyledger.in_memory() as one, keyledger.open(tmp_path / "two.kl") as two:
        yield [one, two]


def number_of(ledger: Ledger) -> int:
    claim: Any = ledger.begin(Operation("number", "in_ledger"), "s", "1", UNCHECKED)
    return int(claim.claim.ledger_number)


def echo(ledger: Ledger, meet: Callable[[], None]) -> Any:
    """Says who it is before and after it has met the others."""

    @ledger.idempotent(operation="echo", effect="repeatable", scope="user", key="order")
    def call(user: str, order: str) -> list[Any]:
        before = who()
        meet()
        return [before, who()]

    return call


def test_threads_of_two_ledgers_and_two_scopes_have_each_their_own(ledgers: list[Ledger]) -> None:
    """Sixteen at once, in the middle of their handlers all of them, and threads that are used again."""
    keys = [str(number) for number in range(4)]
    together = threading.Barrier(16)
    calls = [echo(ledger, lambda: together.wait(30) and None) for ledger in ledgers]
    asked = [(at, scope, key) for at in (0, 1) for scope in "ab" for key in keys]
    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(lambda one: calls[one[0]](one[1], one[2]), asked))
        after = list(pool.map(lambda _: who(), range(16)))
    numbers = [number_of(ledger) for ledger in ledgers]
    for (at, scope, key), (before, then) in zip(asked, told, strict=True):
        assert before == then == [numbers[at], scope, key]
    assert after == [None] * 16


def test_tasks_that_take_turns_have_each_their_own(ledgers: list[Ledger]) -> None:
    numbers = [number_of(ledger) for ledger in ledgers]

    def made(ledger: Ledger) -> Any:
        @ledger.idempotent(operation="echo", effect="repeatable", scope="user", key="order")
        async def call(user: str, order: str) -> list[Any]:
            seen = []
            for _ in range(5):
                seen.append(who())
                await asyncio.sleep(0)
            seen.append(await asyncio.to_thread(who))
            seen.append(await asyncio.create_task(later()))
            seen += await asyncio.gather(later(), later())
            return seen

        return call

    async def later() -> Who | None:
        await asyncio.sleep(0)
        return who()

    async def block(at: int, key: str) -> None:
        operation = Operation("block", "repeatable")
        async with ledgers[at].claim(operation, "blocks", key, UNCHECKED) as claim:
            for _ in range(5):
                await asyncio.sleep(0)
                assert who() == (numbers[at], "blocks", key)
            await claim.complete_async("done")
        assert who() is None

    async def all_of_them() -> None:
        calls = [made(ledger) for ledger in ledgers]
        asked = [(at, scope, str(key)) for at in (0, 1) for scope in "ab" for key in range(8)]
        blocks = [block(at, str(key)) for at in (0, 1) for key in range(8)]
        told = await asyncio.gather(*(calls[at](scope, key) for at, scope, key in asked), *blocks)
        for (at, scope, key), seen in zip(asked, told[: len(asked)], strict=True):
            assert seen == [[numbers[at], scope, key]] * 9
        assert who() is None

    asyncio.run(all_of_them())


def test_executors_take_nothing_along_unless_they_are_told_to(ledgers: list[Ledger]) -> None:
    ledger = ledgers[0]

    @ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key")
    async def call(key: str) -> list[Any]:
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()
        return [
            await loop.run_in_executor(None, who),
            await loop.run_in_executor(None, context.run, who),
            pool.submit(who).result(),
            pool.submit(contextvars.copy_context().run, who).result(),
        ]

    with ThreadPoolExecutor(1) as pool:
        own = [number_of(ledger), "(single)", "1"]
        assert asyncio.run(call("1")) == [None, own, None, own]


def test_nested_calls_blocks_and_runs_come_back_to_the_outer_one(ledgers: list[Ledger]) -> None:
    one, two = ledgers
    operation = Operation("inner", "repeatable")
    first, second = number_of(one), number_of(two)
    fails = [True]

    @two.idempotent(operation="inner call", effect="repeatable", scope=keyledger.SINGLE, key="key")
    def inner(key: str) -> Any:
        if key == "fails" and fails:
            raise ValueError(key)
        return who()

    @one.idempotent(operation="outer", effect="repeatable", scope=keyledger.SINGLE, key="key")
    def outer(key: str) -> list[Any]:
        seen = [who(), inner("1"), who()]
        with two.claim(operation, "s", "block", UNCHECKED) as claim:
            seen.append(who())
            claim.complete("done")
        seen.append(who())
        two.run(operation, "s", "run", UNCHECKED, lambda _: seen.append(who()) or keyledger.Response.empty())
        seen.append(who())
        with pytest.raises(ValueError, match="fails"):
            inner("fails")
        # Replayed, and refused: nothing is entered.
        inner("1")
        with pytest.raises(Refused), two.claim(operation, "s", "block", UNCHECKED):
            raise AssertionError
        return [*seen, who()]

    own = [first, "(single)", "o"]
    inner_own = [second, "(single)", "1"]
    assert outer("o") == [own, inner_own, own, [second, "s", "block"], own, [second, "s", "run"], own, own]
    assert who() is None


def test_a_call_under_its_own_key_is_refused_and_not_run_for_ever(ledgers: list[Ledger]) -> None:
    ledger = ledgers[0]

    @ledger.idempotent(operation="loop", effect="repeatable", scope=keyledger.SINGLE, key="key")
    def loop(key: str) -> str:
        with pytest.raises(Refused) as refused:
            loop(key)
        return str(refused.value.code)

    assert loop("1") == "in_progress"


def test_two_functions_with_the_same_arguments_both_run_at_once(ledgers: list[Ledger]) -> None:
    """Each waits for the other: neither may answer for it."""
    together = threading.Barrier(2)

    def named(name: str) -> Any:
        @ledgers[1].idempotent(operation=name, effect="at_most_once", scope="user", key="order")
        def call(user: str, order: str) -> str:
            together.wait(30)
            return name

        return call

    with ThreadPoolExecutor(2) as pool:
        told = list(pool.map(lambda call: call("ann", "1"), [named("charge"), named("mail")]))
    assert told == ["charge", "mail"]
