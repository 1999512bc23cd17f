"""Claims as blocks: `with ledger.claim(...)`, `with claim:`, and their twins for asyncio."""

from __future__ import annotations

import asyncio
import warnings
from functools import partial
from types import TracebackType
from typing import Any
from weakref import WeakKeyDictionary

from keyledger._codec import Codec
from keyledger._kept import RESULT, Asked
from keyledger._native import Block, Claim, Ledger, Response
from keyledger._running import Within
from keyledger._settling import Means, Named, Settlement, granted
from keyledger.errors import ClaimLost, ClaimSettled, KeyledgerError, Reentrant


class _Responses(Codec[Response]):
    """For handlers whose answers are what `Claim.complete` takes."""

    def encode(self, result: Any) -> Response:
        match result:
            case Response():
                return result
            case str():
                return Response.of_text(result)
            case bytes():
                return Response.of_bytes(result)
            case _:
                pass
        kind = type(result).__qualname__
        raise TypeError(
            f"the handler returned a {kind}; an answer is a Response, str or bytes: keyledger.Response.json takes JSON values"
        )

    def decode(self, response: Response) -> Response:
        return response

    def encode_error(self, error: Exception) -> Response:
        response = getattr(error, "response", None)
        return response if isinstance(response, Response) else super().encode_error(error)


RESPONSES = _Responses()


class Leaving:
    """What leaving a claim's block means: by an error it is settled as that says, else it is dropped if it is not settled yet."""

    __slots__ = ("_means", "_within")

    def __init__(self, within: Within, means: Means) -> None:
        self._within, self._means = within, means

    def leave(self, claim: Claim, error: BaseException | None) -> None:
        """On return the claim is settled, on disk, if it left by an error. Interrupted, it is called again."""
        self._within.__exit__()
        if error is None:
            _drop(claim)
            return
        try:
            self._settlement(error).settle(claim)
        except (ClaimLost, ClaimSettled):
            pass
        except KeyledgerError:
            if isinstance(error, Exception):
                raise

    async def leave_async(self, claim: Claim, error: BaseException | None) -> None:
        """`leave` on an event loop."""
        if error is None or isinstance(error, GeneratorExit):
            self.leave(claim, error)
            return
        self._within.__exit__()
        try:
            await self._settlement(error).settle_async(claim)
        except (ClaimLost, ClaimSettled):
            pass
        except KeyledgerError:
            if isinstance(error, Exception):
                raise

    def _settlement(self, error: BaseException) -> Settlement:
        return self._means.settlement(error, RESPONSES)


def _drop(claim: Claim) -> None:
    """S2: the lease of a claim that nobody settled is over now. Mostly somebody forgot."""
    if claim.drop():
        warnings.warn(
            "a claim's block was left without complete, fail, release or park: its lease is over, and the effect decides",
            ResourceWarning,
            stacklevel=4,
        )


class ClaimBlock(Block):
    """A block that holds a claim: made by `Ledger.claim`, for `with` or `async with`. One use.

    Example:
        with ledger.claim(CHARGE, "user-7", "order-1034", fingerprint) as claim:
            claim.complete("charged")

    """

    def __init__(
        self, ledger: Ledger, asked: tuple[Any, ...], terms: dict[str, Any], means: Means, *, heartbeat: bool
    ) -> None:
        self._ledger, self._asked, self._terms = ledger, asked, terms
        self._means, self._heartbeat = means, heartbeat
        self._entered: tuple[Claim, Leaving] | None = None

    def __enter__(self) -> Claim:
        asked = Asked(partial(self._ledger.begin, *self._asked, **self._terms))
        try:
            return self._enter(granted(asked[RESULT], self._named))
        except BaseException as error:
            asked.__exit__(None, error, None)
            raise

    def leave(self, error: BaseException | None) -> None:
        """The end of the block."""
        if self._entered is None:
            raise _not_entered()
        claim, leaving = self._entered
        leaving.leave(claim, error)
        self._entered = None

    async def __aenter__(self) -> Claim:
        with Asked(partial(self._ledger.begin_async, *self._asked, **self._terms)) as asked:
            asked[RESULT] = await asked[RESULT]
            return self._enter(granted(asked[RESULT], self._named), asyncio.get_running_loop())

    async def __aexit__(self, kind: object, error: BaseException | None, traceback: TracebackType | None) -> None:
        (claim, leaving), self._entered = self._inside(), None
        await leaving.leave_async(claim, error)

    @property
    def _named(self) -> Named:
        operation, scope, key, _ = self._asked
        return scope, operation.name, key

    def _enter(self, claim: Claim, loop: asyncio.AbstractEventLoop | None = None) -> Claim:
        within = Within(claim, heartbeat=self._heartbeat, loop=loop)
        self._entered = (claim, Leaving(within, self._means))
        within.__enter__()
        return claim

    def _inside(self) -> tuple[Claim, Leaving]:
        if self._entered is None:
            raise _not_entered()
        return self._entered


def _not_entered() -> RuntimeError:
    return RuntimeError("this block was not entered")


_blocks: WeakKeyDictionary[Claim, Leaving] = WeakKeyDictionary()
"""Claims whose own blocks are entered: whoever is inside holds them."""


def entered(claim: Claim, loop: asyncio.AbstractEventLoop | None = None) -> Claim:
    """`with claim:`, for a claim of a `match`. Once: the end of the block is the end of the claim."""
    if claim in _blocks:
        raise Reentrant(
            "this claim's block is entered already: its end is the claim's, so it cannot be entered inside itself"
        )
    within = Within(claim, heartbeat=True, loop=loop)
    _blocks[claim] = Leaving(within, Means())
    within.__enter__()
    return claim


def left(claim: Claim, error: BaseException | None) -> None:
    """The end of `with claim:`. Interrupted, it is called again."""
    _block(claim).leave(claim, error)
    del _blocks[claim]


async def entered_async(claim: Claim) -> Claim:
    """`async with claim:`."""
    return entered(claim, asyncio.get_running_loop())


async def left_async(claim: Claim, error: BaseException | None) -> None:
    """The end of `async with claim:`."""
    leaving = _block(claim)
    del _blocks[claim]
    await leaving.leave_async(claim, error)


def _block(claim: Claim) -> Leaving:
    leaving = _blocks.get(claim)
    if leaving is None:
        raise RuntimeError("this claim's block was not entered")
    return leaving
