"""One request under a key in a server's thread: the response is held back until its outcome is stored (H8, H9)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from keyledger import _current, _kept
from keyledger._heartbeat import Heartbeat
from keyledger._http import Line, flowing, log, own
from keyledger._kept import RESULT, Kept
from keyledger._native import Answer, Asked, Claim, Route

_R = TypeVar("_R")


class Held(NamedTuple):
    """A response whose body is still to be made."""

    status: int
    fields: list[Line]
    pieces: Iterator[bytes]
    close: Callable[[], None]

    @property
    def length(self) -> int | None:
        """What the handler says of the body's length."""
        said = [value for name, value in self.fields if name.lower() == "content-length"]
        return int(said[0]) if said and said[0].isdigit() else None


class Flowing(NamedTuple):
    """A response that leaves as it is made."""

    status: int
    fields: list[Line]
    pieces: _Rest


def never_whole(_: object) -> None:
    """Of what a handler returns its pieces tell more than that it is there."""


class Course:
    """From a grant to the answer."""

    def __init__(self, route: Route, asked: Asked, granted: _kept.Asked, method: str) -> None:
        self._route, self._asked, self._granted, self._method = route, asked, granted, method
        self._claim: Claim = granted[RESULT]
        self._heart: Heartbeat | None = None
        self._ended: tuple[Held, list[bytes]] | None = None
        self._whole: Callable[[], Answer | None] = lambda: None

    def run(
        self,
        handler: Callable[[], _R],
        hear: Callable[[_R], Held],
        whole: Callable[[_R], Answer | None] = never_whole,
    ) -> Answer | Flowing:
        """Runs the handler, and says what is sent. What is returned whole is on disk by then.

        `hear` makes of what it returned a response whose body is still to be made, once; `whole` all of it, where its body is there.
        The handler is a `partial`: see `Kept`.
        """
        ran = Kept(handler)
        self._whole = lambda: whole(ran[RESULT]) if RESULT in ran else None
        self._heart = Heartbeat.start(self._claim)
        _current.enter(self._claim)
        try:
            return self._run(ran, hear)
        except BaseException as error:
            told = self._ended_by(error)
            if isinstance(error, Exception):
                return told
            raise

    def _run(self, ran: Kept, hear: Callable[[Any], Held]) -> Answer | Flowing:
        is_over = True
        try:
            self._granted.is_begun = True
            held = hear(ran[RESULT])
            if self._route.is_stream and not self._claim.is_settled:
                is_over = False
                return Flowing(
                    held.status, flowing(held.fields, Route.exposed()), _Rest(self._streamed(held), self._left)
                )
            told = self._hold(held)
            is_over = not isinstance(told, Flowing)
            return told
        finally:
            _current.leave(self._claim)
            if is_over:
                self._stop()

    def _ended_by(self, error: BaseException) -> Answer:
        """S3: a response that was whole when a signal's error came is on disk all the same. Else the effect decides (S8)."""
        response = None if self._claim.is_settled else self._response()
        if response is None:
            return self._failed(error)
        told = self._told(response)
        log.error("a request was interrupted after its handler had answered; that is stored", exc_info=error)
        return told

    def _response(self) -> Answer | None:
        """All of the response, where it is there. One that cannot be put together is none."""
        with contextlib.suppress(Exception):
            return self._whole() if self._ended is None else _joined(*self._ended)
        return None

    def _told(self, response: Answer) -> Answer:
        conclusion = self._asked.conclude(self._claim, response)
        return conclusion if isinstance(conclusion, Answer) else own(response, conclusion, self._method)

    def _failed(self, error: BaseException) -> Answer:
        answer, _ = self._asked.conclude_failure(self._claim)
        log.error("the handler of a request under a key raised; the client is told %s", answer.status, exc_info=error)
        return answer

    def _hold(self, held: Held) -> Answer | Flowing:
        """Holds the body back until it ends or passes the limit."""
        body: list[bytes] = []
        length = 0
        try:
            for piece in held.pieces:
                body.append(piece)
                length += len(piece)
                # One that ends with this, by its own word, is known whole: its length and hash can be told (H11).
                if length > self._route.max_body_bytes and length != held.length:
                    return self._past_limit(held, body)
            # No call before this: a signal that comes from here on finds it ended.
            self._ended = held, body
        except BaseException:
            held.close()
            raise
        held.close()
        return self._told(_joined(held, body))

    def _past_limit(self, held: Held, beginning: list[bytes]) -> Answer | Flowing:
        conclusion = self._asked.conclude_past_limit(self._claim, Answer(held.status, held.fields))
        if isinstance(conclusion, Answer):
            held.close()
            return conclusion
        return Flowing(held.status, flowing(held.fields, conclusion), _Rest(self._poured(held, beginning), self._left))

    def _poured(self, held: Held, beginning: list[bytes]) -> Iterator[bytes]:
        """All of a body that was settled when it passed the limit."""
        self._stop()
        try:
            yield from beginning
            yield from held.pieces
        finally:
            held.close()

    def _streamed(self, held: Held) -> Iterator[bytes]:
        """H8: what comes leaves at once; the end is told when it is stored."""
        copy: list[bytes] | None = []
        length, is_ended = 0, False
        try:
            for piece in held.pieces:
                length += len(piece)
                if length > self._route.max_body_bytes:
                    copy = None
                elif copy is not None:
                    copy.append(piece)
                yield piece
            is_ended = True
            self._conclude(held, copy)
        except BaseException:
            if is_ended and not self._claim.is_settled:
                self._conclude(held, copy)
            self._left()
            raise
        finally:
            self._stop()
            held.close()

    def _left(self) -> None:
        """Settles a body that flows and has broken off."""
        if self._claim.is_settled:
            return
        response = self._response()
        if response is None:
            self._asked.conclude_failure(self._claim)
        else:
            self._asked.conclude(self._claim, response)

    def _conclude(self, held: Held, copy: list[bytes] | None) -> None:
        conclude = self._asked.conclude_past_limit if copy is None else self._asked.conclude
        conclude(self._claim, _joined(held, copy or []))

    def _stop(self) -> None:
        if self._heart is not None:
            self._heart.stop()
            self._heart = None


def _joined(held: Held, body: list[bytes]) -> Answer:
    return Answer(held.status, held.fields, b"".join(body))


class _Rest:
    """A body that flows. A client that goes away, told by closing it, does not stop what makes it (H9)."""

    def __init__(self, pieces: Iterator[bytes], left: Callable[[], None]) -> None:
        self._pieces, self._left = pieces, left

    def __iter__(self) -> _Rest:
        return self

    def __next__(self) -> bytes:
        return next(self._pieces)

    def close(self) -> None:
        """Runs it to its end. Where a signal's error came in its first line there is no more of it."""
        for _ in self._pieces:
            pass
        self._left()


def never_asked(told: Answer | Flowing) -> None:
    """An error came before the server had what `run` has told. A body that flows is run to its end: nobody will ask for it."""
    if isinstance(told, Flowing):
        told.pieces.close()
