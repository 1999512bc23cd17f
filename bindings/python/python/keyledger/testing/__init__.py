"""What tests of programs that use keyledger need."""

from __future__ import annotations

from keyledger._native import ManualClock

__all__ = ["ManualClock"]
