"""What tests of programs that use keyledger need: a clock, a scripted transport, and a kit that tries a transport of yours."""

from __future__ import annotations

from keyledger._native import ManualClock
from keyledger.testing.kit import CASES, Case, check_transport
from keyledger.testing.scripted import ScriptedTransport
from keyledger.testing.server import Reply, Seen, TransportServer

__all__ = [
    "CASES",
    "Case",
    "ManualClock",
    "Reply",
    "ScriptedTransport",
    "Seen",
    "TransportServer",
    "check_transport",
]
