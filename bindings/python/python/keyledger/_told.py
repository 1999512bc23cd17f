"""The future of a call that grants something: what its caller is not told of is given back."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from functools import partial
from typing import Any

from keyledger._native import nobody_was_told


class Told(asyncio.Future[Any]):
    """A future of asyncio that knows whether anybody has its answer.

    A task that is cancelled in the moment in which the answer has arrived never sees it: asyncio throws the cancellation in its place.
    No handler can have run then, so that a claim is released and a delivery is not counted as a try (section 4, O6). The same goes for a
    future that is cancelled with its answer, or dropped with it.
    """

    _untold: Any = None
    _is_taken_back = False
    _waiters = 0

    def set_result(self, result: Any) -> None:
        """There is an answer."""
        self._untold = result
        super().set_result(result)

    def result(self) -> Any:
        """The answer: it is told now."""
        if self._is_taken_back:
            raise asyncio.CancelledError
        self._untold = None
        return super().result()

    def exception(self) -> BaseException | None:
        """Why there is no answer."""
        if self._is_taken_back:
            raise asyncio.CancelledError
        return super().exception()

    def cancelled(self) -> bool:
        """Whether it was cancelled before anybody had its answer."""
        return self._is_taken_back or super().cancelled()

    def cancel(self, msg: Any | None = None) -> bool:
        """Nobody wants the answer any more."""
        try:
            is_cancelled = super().cancel(msg)
        except RuntimeError:
            # It is cancelled, and those who wait for it never hear of it: their loop is closed.
            if not self.get_loop().is_closed():
                raise
            is_cancelled = True
        return self._take_back() or is_cancelled

    def __await__(self) -> Generator[Any, None, Any]:
        """Waits by a future of its own: a task asks the one that it waits for for its result, also when it throws that away."""
        if not self.done():
            waiter: asyncio.Future[None] = self.get_loop().create_future()
            self.add_done_callback(partial(_wake, waiter))
            self._waiters += 1
            try:
                yield from waiter
            except BaseException:
                self._waiters -= 1
                if not self._waiters:
                    self.cancel()
                raise
            self._waiters -= 1
        return self.result()

    __iter__ = __await__

    def __del__(self) -> None:
        """Nobody can ask for the answer any more."""
        self._take_back()
        super().__del__()

    def _take_back(self, give_back: Any = nobody_was_told) -> bool:
        untold, self._untold = self._untold, None
        if untold is None:
            return False
        self._is_taken_back = True
        give_back(untold)
        return True


def _wake(waiter: asyncio.Future[None], _: asyncio.Future[Any]) -> None:
    if not waiter.done():
        waiter.set_result(None)
