"""Ctrl-C in a server's main thread: before the handler has begun, and once its response is whole (S3, S8)."""

from __future__ import annotations

import ctypes
import io
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

import keyledger
from keyledger import Ledger, django
from keyledger.wsgi import IdempotencyMiddleware, Route

from . import served_django as _configures_django  # noqa: F401

runs: list[int] = []


class Pressed:
    """`pressed.now` is Ctrl-C that Python hears of at its next look for signals: not in the expression itself, which is one of C."""

    now = property(ctypes.PYFUNCTYPE(None, ctypes.py_object)(("PyErr_SetInterrupt", ctypes.pythonapi)))


pressed = Pressed()


def _environ() -> dict[str, Any]:
    return {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/",
        "QUERY_STRING": "",
        "CONTENT_LENGTH": "0",
        "HTTP_IDEMPOTENCY_KEY": '"k"',
        "wsgi.input": io.BytesIO(),
    }


def _is_first() -> bool:
    runs.append(len(runs))
    return len(runs) == 1


def _list(_: Any, start: Any) -> Any:
    start("200 OK", [])
    return ([b"paid"], _is_first() and pressed.now)[0]


def _pieces(_: Any, start: Any) -> Iterator[bytes]:
    start("200 OK", [])
    is_first = _is_first()
    yield b"pa"
    yield b"id"
    return is_first and pressed.now


def _view(_: Any) -> HttpResponse:
    is_first = _is_first()
    response = HttpResponse("paid")
    return (response, is_first and pressed.now)[0]


def _wsgi(app: Callable[..., Any], *, stream: bool = False) -> Callable[[Ledger], bytes]:
    def ask(ledger: Ledger) -> bytes:
        route = Route.required("at_most_once", stream=stream)
        guarded = IdempotencyMiddleware(app, ledger=ledger, route=route, scope=lambda _: "u")
        pieces: Any = guarded(_environ(), lambda *_: None)
        try:
            return b"".join(pieces)
        finally:
            # As every server does (PEP 3333).
            if hasattr(pieces, "close"):
                pieces.close()

    return ask


def _django(view: Callable[[Any], HttpResponse]) -> Callable[[Ledger], bytes]:
    def ask(ledger: Ledger) -> bytes:
        guarded = django.idempotent(ledger=ledger, route=Route.required("at_most_once"), scope=lambda _: "u")(view)
        request = RequestFactory().post("/", HTTP_IDEMPOTENCY_KEY='"k"', data=b"", content_type="text/plain")
        return bytes(guarded(request).content)

    return ask


SERVED = {
    "list": _wsgi(_list),
    "pieces": _wsgi(_pieces),
    "streamed": _wsgi(_pieces, stream=True),
    "django": _django(_view),
}


def _interrupted(ask: Callable[[Ledger], bytes], ledger: Ledger) -> None:
    runs.clear()
    with pytest.raises(KeyboardInterrupt):
        ask(ledger)
        for _ in range(1000):
            pass


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="3.10 looks for signals between a generator's end and its loop's"
)
@pytest.mark.parametrize("name", SERVED)
def test_s3_a_signal_in_the_instant_in_which_a_response_is_whole_does_not_lose_it(name: str) -> None:
    with keyledger.in_memory() as ledger:
        _interrupted(SERVED[name], ledger)
        assert SERVED[name](ledger) == b"paid"
    assert runs == [0]


@pytest.mark.parametrize("name", SERVED)
def test_s8_a_signal_between_the_grant_and_the_handler_releases_the_claim(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with keyledger.in_memory() as ledger:
        with monkeypatch.context() as patch:
            patch.setattr("keyledger._course.Heartbeat.start", interrupt)
            _interrupted(SERVED[name], ledger)
        assert runs == []
        runs.append(-1)
        assert SERVED[name](ledger) == b"paid"
    assert runs == [-1, 1]


class SoftLimit(Exception):
    """What a signal handler raises that is no `KeyboardInterrupt`, as Celery's."""


def _answers(_: Any, start: Any) -> list[bytes]:
    runs.append(0)
    start("200 OK", [])
    return [b"pa", b"id"]


def _answers_and_writes(_: Any, start: Any) -> list[bytes]:
    runs.append(0)
    start("200 OK", [])(b"pa")
    return [b"id"]


def _answers_django(_: Any) -> HttpResponse:
    runs.append(0)
    return HttpResponse("paid")


WHOLE = {
    "list": _wsgi(_answers),
    "streamed": _wsgi(_answers, stream=True),
    "written": _wsgi(_answers_and_writes),
    "django": _django(_answers_django),
}


def _raised_at(instant: int, error: type[BaseException], ask: Callable[[], object]) -> bool:
    """Whether there is such an instant, after the handler has returned: where a function begins, or one of C has ended, Python looks for signals."""
    instants = itertools.count()
    has_returned = False

    def look(frame: Any, event: str, _: Any) -> None:
        nonlocal has_returned
        if has_returned and event in ("call", "c_return") and next(instants) == instant:
            sys.setprofile(None)
            raise error
        has_returned = has_returned or (event == "return" and frame.f_code.co_name.startswith("_answers"))

    sys.setprofile(look)
    try:
        ask()
    except error:
        pass
    finally:
        sys.setprofile(None)
    return next(instants) > instant


@pytest.mark.parametrize("error", [SoftLimit, KeyboardInterrupt])
@pytest.mark.parametrize("name", WHOLE)
def test_s3_a_signals_error_at_any_instant_after_the_whole_answer_does_not_lose_it(
    name: str, error: type[BaseException]
) -> None:
    for instant in itertools.count():
        runs.clear()
        with keyledger.in_memory() as ledger:
            if not _raised_at(instant, error, lambda ledger=ledger: WHOLE[name](ledger)):  # type: ignore[misc]
                break
            assert WHOLE[name](ledger) == b"paid", instant
        assert runs == [0], instant
    assert instant > 10
