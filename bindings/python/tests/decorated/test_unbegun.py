"""What returns a coroutine or a generator, and objects that are called as functions: nothing is stored for what has not run."""

from __future__ import annotations

import asyncio
import functools
import gc
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import keyledger
from keyledger import Codec, Ledger, Response


def _made(ledger: Ledger, function: Any, effect: Any = "at_most_once", **settings: Any) -> Any:
    return ledger.idempotent(operation="x", effect=effect, scope=keyledger.SINGLE, key="k", **settings)(function)


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


@_plain
async def _coroutine(k: str) -> int:
    raise AssertionError


@_plain
def _generator(k: str) -> Iterator[int]:
    yield 1


@_plain
async def _async_generator(k: str) -> AsyncIterator[int]:
    yield 1


class AsyncTool:
    """An object with an async call."""

    def __init__(self) -> None:
        self.runs: list[str] = []

    async def __call__(self, k: str) -> tuple[int, ...]:
        self.runs.append(k)
        return (1, 2)


class Tool:
    """One with a plain one."""

    def __call__(self, k: str) -> tuple[int, ...]:
        return (1, 2)


class Generating:
    """One with a generator."""

    def __call__(self, k: str) -> Any:
        yield 1


class GeneratingLater:
    """One with an async one."""

    async def __call__(self, k: str) -> Any:
        yield 1


@pytest.mark.parametrize("function", [_coroutine, _generator, _async_generator])
@pytest.mark.parametrize("final", [(), (Exception,)])
def test_s8_what_a_wrapper_has_not_run_is_closed_and_its_key_released(
    ledger: Ledger, function: Any, final: tuple[type[Exception], ...]
) -> None:
    function.__annotations__["return"] = Any
    function.__wrapped__.__annotations__["return"] = Any
    made = _made(ledger, function, final=final)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(TypeError, match=f"{function.__name__} returned a .*its key is released"):
                made("1")
        gc.collect()
    decision = ledger.begin(made.operation, "(single)", "1", keyledger.Fingerprint.of_json({"k": "1"}))
    assert isinstance(decision, keyledger.Acquired)
    decision.claim.release()


def test_s8_what_ran_before_another_coroutine_was_made_nobody_knows(ledger: Ledger) -> None:
    """The function has run: only what it returned has not. At most once is at most once."""
    runs: list[str] = []

    async def told() -> None: ...

    def charge(k: str) -> Any:
        runs.append(k)
        return told()

    made = _made(ledger, charge)
    with pytest.raises(TypeError, match="returned a coroutine"):
        made("1")
    with pytest.raises(keyledger.Refused):
        made("1")
    assert runs == ["1"]


def test_s8_a_coroutine_that_an_async_def_did_not_await_is_told_and_goes_by_the_effect(ledger: Ledger) -> None:
    runs: list[str] = []

    async def told(k: str) -> str:
        return k

    async def charge(k: str) -> Any:
        runs.append(k)
        return told(k)

    made = _made(ledger, charge, "repeatable")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(TypeError, match="charge returned a coroutine, which was not run .*: await it"):
                asyncio.run(made("1"))
        gc.collect()
    assert runs == ["1", "1"]
    once = _made(keyledger.in_memory(), charge)
    with pytest.raises(TypeError, match="await it"):
        asyncio.run(once("1"))
    with pytest.raises(keyledger.Refused, match="nobody knows"):
        asyncio.run(once("1"))


def test_s8_the_coroutine_of_the_function_itself_that_its_wrapper_did_not_await_releases_the_key(
    ledger: Ledger,
) -> None:
    async def told(k: str) -> str:
        return k

    @functools.wraps(told)
    async def wrapper(k: str) -> Any:
        return told(k)

    made = _made(ledger, wrapper)
    for _ in range(2):
        with pytest.raises(TypeError, match="told returned a coroutine.*its key is released"):
            asyncio.run(made("1"))


def test_an_object_with_an_async_call_is_an_async_function(ledger: Ledger) -> None:
    tool = AsyncTool()
    made = _made(ledger, tool)

    async def twice() -> Any:
        return [await made("1"), await made("1")]

    assert asyncio.run(twice()) == [(1, 2), (1, 2)]
    assert tool.runs == ["1"]


def test_the_annotation_of_an_objects_call_is_read(ledger: Ledger) -> None:
    made = _made(ledger, Tool())
    assert made("1") == made("1") == (1, 2)


@pytest.mark.parametrize("function", [Generating(), GeneratingLater()])
def test_an_object_that_generates_is_refused_when_decorating(ledger: Ledger, function: Any) -> None:
    with pytest.raises(TypeError, match="generator function"):
        _made(ledger, function)


def test_a_codec_may_take_a_generator(ledger: Ledger) -> None:
    class Joined(Codec[Any]):
        def encode(self, result: Any) -> Response:
            return Response("text/plain", b"".join(result))

        def decode(self, response: Response) -> Any:
            return keyledger.stored_body(response)

    made = _made(ledger, lambda k: (piece for piece in (b"a", b"b")), codec=Joined())
    assert made("1") == made("1") == b"ab"
