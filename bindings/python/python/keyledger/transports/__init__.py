"""Transports that send what the outbox hands out over HTTP.

`keyledger.transports.httpx` has `HttpxTransport` and `AsyncHttpxTransport`, `keyledger.transports.requests` has
`RequestsTransport`; each wants its library (`pip install keyledger[httpx]`).
"""

from __future__ import annotations

from keyledger.transports._http import Fields, NotNow, SignedOut

__all__ = ["Fields", "NotNow", "SignedOut"]
