"""The ledger of Python: the native one, with blocks, runs and decorators."""

from __future__ import annotations

from typing import Any

from keyledger import _native
from keyledger._claims import Claims
from keyledger.idempotent import idempotent


class Ledger(Claims, _native.Ledger):
    """A key ledger in one file, or in memory."""

    def idempotent(self, **settings: Any) -> Any:
        """`keyledger.idempotent` with this ledger."""
        return idempotent(ledger=self, **settings)
