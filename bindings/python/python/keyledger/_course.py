"""One request under a key in a server's thread: the response is held back until its outcome is stored (H8, H9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from keyledger import _current
from keyledger._heartbeat import Heartbeat
from keyledger._http import Line, flowing, log, own
from keyledger._native import Answer, Asked, Claim, Route


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
    pieces: Iterator[bytes]


class Course:
    """From a grant to the answer."""

    def __init__(self, route: Route, asked: Asked, claim: Claim, method: str) -> None:
        self._route, self._asked, self._claim, self._method = route, asked, claim, method
        self._heart: Heartbeat | None = None

    def run(self, handler: Callable[[], Held]) -> Answer | Flowing:
        """Runs the handler, and says what is sent. What is returned whole is on disk by then."""
        self._heart = Heartbeat.start(self._claim)
        _current.enter(self._claim)
        is_over = True
        try:
            held = handler()
            if self._route.is_stream and not self._claim.is_settled:
                is_over = False
                return Flowing(held.status, flowing(held.fields, Route.exposed()), _Rest(self._streamed(held)))
            told = self._hold(held)
            is_over = not isinstance(told, Flowing)
            return told
        except Exception as error:
            return self._failed(error)
        except BaseException as interrupt:
            self._failed(interrupt)
            raise
        finally:
            _current.leave(self._claim)
            if is_over:
                self._stop()

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
        except BaseException:
            held.close()
            raise
        held.close()
        response = Answer(held.status, held.fields, b"".join(body))
        conclusion = self._asked.conclude(self._claim, response)
        return conclusion if isinstance(conclusion, Answer) else own(response, conclusion, self._method)

    def _past_limit(self, held: Held, beginning: list[bytes]) -> Answer | Flowing:
        conclusion = self._asked.conclude_past_limit(self._claim, Answer(held.status, held.fields))
        if isinstance(conclusion, Answer):
            held.close()
            return conclusion
        return Flowing(held.status, flowing(held.fields, conclusion), _Rest(self._poured(held, beginning)))

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
        length = 0
        try:
            for piece in held.pieces:
                length += len(piece)
                copy = None if copy is None or length > self._route.max_body_bytes else [*copy, piece]
                yield piece
            response = Answer(held.status, held.fields, b"" if copy is None else b"".join(copy))
            conclude = self._asked.conclude_past_limit if copy is None else self._asked.conclude
            conclude(self._claim, response)
        except BaseException:
            self._asked.conclude_failure(self._claim)
            raise
        finally:
            self._stop()
            held.close()

    def _stop(self) -> None:
        if self._heart is not None:
            self._heart.stop()
            self._heart = None


class _Rest:
    """A body that flows. A client that goes away, told by closing it, does not stop what makes it (H9)."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def __iter__(self) -> _Rest:
        return self

    def __next__(self) -> bytes:
        return next(self._pieces)

    def close(self) -> None:
        """Runs it to its end."""
        for _ in self._pieces:
            pass
