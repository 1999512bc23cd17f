"""Functions that return what is still to run, a coroutine or a generator, and objects that are called as functions."""

# What callers bring here may be of any type.
# pyright: basic

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any, TypeVar

from keyledger._codec import Codec, JsonCodec

_F = TypeVar("_F", bound=Callable[..., Any])


class NotRun(TypeError):
    """What a call returned is still to run: that is no result."""


class NotBegun(NotRun):
    """The decorated function itself was called, and nothing of it has run: its key is released, whatever its effect."""


def called_of(function: Any) -> Any:
    """The function that a call of it runs: itself or, of an object, its class's `__call__`."""
    if isinstance(function, type) or inspect.isroutine(function) or not hasattr(type(function), "__call__"):  # noqa: B004
        return function
    return type(function).__call__ if isinstance(type(function).__call__, types.FunctionType) else function


def is_async(function: Any) -> bool:
    """Whether a call gives a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called_of(function))


async def awaited(value: Any) -> Any:
    """The value, or what it comes to."""
    return await value if inspect.isawaitable(value) else value


def is_generating(function: Any) -> bool:
    """Whether a call gives a generator of either kind."""
    called = called_of(function)
    return any(inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each) for each in (function, called))


def runs_when_called(function: _F) -> _F:
    """The function, which a transaction calls.

    Raises:
        TypeError: a call of it would make a coroutine or a generator, and run nothing.

    """
    if is_async(function) or is_generating(function):
        name = getattr(function, "__qualname__", repr(function))
        kind, advice = (
            ("an async function", "get what it waits for before the transaction")
            if is_async(function)
            else ("a generator function", "return a list")
        )
        raise TypeError(
            f"{name} is {kind}, of which nothing would run in the transaction: make it a plain def; {advice}"
        )
    return function


def has_run(function: Any, result: Any, codec: Codec[Any]) -> Any:
    """The result of a call.

    Raises:
        NotBegun: it is the coroutine or generator of `function` itself, under a wrapper that does not run it.
        NotRun: it is another one: what ran before it was made, nobody knows, so the claim goes by the effect (S8).

    """
    if not isinstance(result, (types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType)):
        return result
    is_coroutine = isinstance(result, types.CoroutineType)
    if not is_coroutine and not isinstance(codec, JsonCodec):
        return result
    begun = _has_begun(result)
    if not isinstance(result, types.AsyncGeneratorType):
        result.close()
    name = getattr(function, "__qualname__", repr(function))
    kind = type(result).__name__.replace("_", " ")
    advice = "return a list" if not is_coroutine else "await it" if is_async(function) else "make it an async def"
    told = f"{name} returned a {kind}, which was not run and cannot be stored: {advice}"
    if not begun and _code(result) is getattr(called_of(inspect.unwrap(function)), "__code__", None):
        raise NotBegun(f"{told}, or decorate below the wrapper; its key is released")
    raise NotRun(told)


def _has_begun(result: Any) -> bool:
    if isinstance(result, types.AsyncGeneratorType):
        # Python tells the state of these since 3.12 alone.
        state_of = getattr(inspect, "getasyncgenstate", None)
        return result.ag_frame is None if state_of is None else state_of(result) != "AGEN_CREATED"
    if isinstance(result, types.CoroutineType):
        return inspect.getcoroutinestate(result) != inspect.CORO_CREATED
    return inspect.getgeneratorstate(result) != inspect.GEN_CREATED


def _code(result: Any) -> Any:
    return next(getattr(result, name) for name in ("cr_code", "gi_code", "ag_code") if hasattr(result, name))
