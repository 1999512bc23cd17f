"""Lines about the outbox and servers that type checkers have to refuse. Nobody runs them."""

from __future__ import annotations

from keyledger import Decision, Delivery, Ledger
from keyledger.http import Route


def not_a_transport(delivery: Delivery) -> int:
    return delivery.fence


def refused(ledger: Ledger, decision: Decision) -> None:
    outbox = ledger.outbox(lease=30)
    ledger.outbox(leese=30)  # expect: error
    ledger.outbox(lanes="orders")  # expect: error
    outbox.enqueue("user", "charge", 1999)  # expect: error
    outbox.drain("user", not_a_transport)  # expect: error
    outbox.list(state="sent")  # expect: error
    Route.required("repeatable", leese=30)  # expect: error
    Route.required("repeated")  # expect: error
    Route.optional("charge")  # expect: error
    decision.claim.complete("yes")  # expect: error
