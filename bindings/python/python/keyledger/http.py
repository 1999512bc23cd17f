"""HTTP: what a route says of itself, and responses as values. The adapters are `keyledger.asgi`, `wsgi`, `fastapi` and `django`."""

from __future__ import annotations

from keyledger._http import KEY_FIELD
from keyledger._native import Answer, Route, Stored

__all__ = ["KEY_FIELD", "Answer", "Route", "Stored"]
