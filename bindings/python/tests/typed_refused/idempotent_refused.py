"""Lines that type checkers have to refuse. Nobody runs them."""

from __future__ import annotations

import keyledger
from keyledger import JsonCodec, Ledger, Operation
from keyledger.http import Route

CHARGE = Operation("charge", "repeatable")


def key_of(user: str, order: str) -> str:
    return user + order


def refused(ledger: Ledger) -> None:
    @ledger.idempotent(operation=CHARGE, scope="user", key=key_of, codec=JsonCodec(int))
    def count(user: str, order: str) -> int:
        return 1

    count("ann")  # expect: error
    count("ann", 1)  # expect: error
    count("ann", "1").upper()  # expect: error
    count.key_id()  # expect: error
    ledger.idempotent(operation="x", effect="repeatable", scope="user")  # expect: error
    ledger.idempotent(operation="x", effect="repeatable", scope="user", key="key", keys="key")  # expect: error
    ledger.claim(CHARGE, "user", "1")  # expect: error
    ledger.idempotent(operation="x", effect="repeated", scope="user", key="key")  # expect: error
    ledger.idempotent(operation="x", scope="user", key="key")  # expect: error
    ledger.idempotent(operation=CHARGE, effect="repeatable", scope="user", key="key")  # expect: error
    keyledger.idempotent(ledger=ledger, operation="x", scope="user", key="key")  # expect: error
    Route.required()  # expect: error
    Route.required("repeated")  # expect: error


def get_ledger() -> Ledger:
    return keyledger.in_memory()


class Shop:
    """A method."""

    @keyledger.idempotent(ledger=get_ledger, operation="sell", effect="repeatable", scope=keyledger.SINGLE, key="order")
    def sell(self, order: str) -> int:
        return 1

    @classmethod
    @keyledger.idempotent(ledger=get_ledger, operation="open", effect="repeatable", scope=keyledger.SINGLE, key="day")
    def opened(cls, day: str) -> str:
        return day


def method(shop: Shop) -> None:
    shop.sell(1)  # expect: error
    Shop.sell("1")  # expect: error
    shop.opened(1)  # expect: error
    Shop.opened(Shop, "monday")  # expect: error
