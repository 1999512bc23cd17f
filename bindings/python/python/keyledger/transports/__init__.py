"""Transports that send what the outbox hands out over HTTP.

`keyledger.transports.httpx` has `HttpxTransport` and `AsyncHttpxTransport`, `keyledger.transports.requests` has
`RequestsTransport`; each wants its library (`pip install "keyledger[httpx]"`, `"keyledger[requests]"`). They can be
imported from here, too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from keyledger.transports._http import Fields, NotNow, SignedOut

if TYPE_CHECKING:
    from keyledger.transports.httpx import AsyncHttpxTransport as AsyncHttpxTransport
    from keyledger.transports.httpx import HttpxTransport as HttpxTransport
    from keyledger.transports.requests import RequestsTransport as RequestsTransport

__all__ = ["Fields", "NotNow", "SignedOut"]

_LIBRARIES = {"AsyncHttpxTransport": "httpx", "HttpxTransport": "httpx", "RequestsTransport": "requests"}


def __getattr__(name: str) -> Any:
    """A transport, whose library is imported when it is asked for."""
    library = _LIBRARIES.get(name)
    if library is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{library}"), name)
    except ModuleNotFoundError as missing:
        raise ImportError(f'{name} needs {missing.name}: pip install "keyledger[{library}]"') from missing
