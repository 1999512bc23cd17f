"""What a route says of itself, and responses as values. Adapters: `keyledger.asgi`, `wsgi`, `fastapi`, `django`."""

from __future__ import annotations

from keyledger._http import KEY_FIELD
from keyledger._native import Answer, Route, Stored

__all__ = ["KEY_FIELD", "Answer", "Route", "Stored"]
