"""Django: the middleware under WSGI, and async under ASGI."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any

import django
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import re_path

from keyledger.django import middleware

from . import served_asgi, served_wsgi
from .handler import Ending
from .served_asgi import principal
from .served_wsgi import pieces
from .stage import World

settings.configure(
    ALLOWED_HOSTS=["*"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DATA_UPLOAD_MAX_MEMORY_SIZE=None,
    LOGGING_CONFIG=None,
    MIDDLEWARE=["web.served_django.guard"],
    ROOT_URLCONF="web.served_django",
    SECRET_KEY="for tests",
)
django.setup()

worlds: list[World] = []


def scope(request: HttpRequest) -> str | None:
    return principal(request.headers.get("User"))


guard = middleware(ledger=lambda: worlds[-1].ledger, route=lambda _: worlds[-1].route, scope=scope)


def view(request: HttpRequest) -> Any:
    _ = request.body
    return respond(served_wsgi.play(worlds[-1]).end(), pieces)


async def view_async(request: HttpRequest) -> Any:
    _ = request.body
    return respond((await served_asgi.play(worlds[-1])).end(), pieces_async)


urlpatterns = [re_path("^", view)]


def respond(ending: Ending, broken: Any) -> Any:
    if ending.answer is None:
        raise ValueError("the handler raises")
    breaks = ending.breaks or ending.raises
    body = ending.answer.body
    response: Any = StreamingHttpResponse(broken(body)) if breaks else HttpResponse(body)
    response.status_code = ending.answer.status
    del response.headers["Content-Type"]
    for name, value in ending.answer.fields:
        text = value.decode("latin-1")
        if name.lower() == "set-cookie":
            response.cookies.load(text)
        else:
            before = response.headers.get(name)
            response.headers[name] = text if before is None else f"{before}, {text}"
    return response


async def pieces_async(body: bytes) -> AsyncIterator[bytes]:
    yield body
    raise ValueError("the body raises")


def _serving(world: World, handler: Any, chosen: Any) -> Any:
    worlds[:] = [world]
    urls = ModuleType("urls")
    urls.urlpatterns = [re_path("^", chosen)]  # type: ignore[attr-defined]
    settings.ROOT_URLCONF = urls
    return handler()


def under_wsgi(world: World) -> Any:
    return _serving(world, WSGIHandler, view)


def under_asgi(world: World) -> Any:
    return _serving(world, ASGIHandler, view_async)
