"""Decorated functions, blocks and runs as callers write them, for type checkers: mypy --strict and pyright. Nobody runs it."""

from __future__ import annotations

from typing_extensions import assert_type

import keyledger
from keyledger import (
    Claim,
    Codec,
    Fingerprint,
    Gone,
    InProgress,
    Janitor,
    KeyId,
    Ledger,
    Mismatch,
    Operation,
    Parked,
    RecordView,
    Refused,
    Replay,
    Response,
)

CHARGE = Operation("charge", "repeatable")


class Receipt:
    """A result."""


class Receipts(Codec[Receipt]):
    def encode(self, result: Receipt) -> Response:
        return Response.empty()

    def decode(self, response: Response) -> Receipt:
        return Receipt()


def get_ledger() -> Ledger:
    return keyledger.in_memory()


def functions(ledger: Ledger, record: RecordView) -> None:
    @ledger.idempotent(operation="charge", effect="repeatable", scope="user", key=("order", "page"), lease=5, wait=1.5)
    def charge(user: str, order: str, page: int = 1) -> Receipt:
        return Receipt()

    assert_type(charge("ann", "1"), Receipt)
    assert_type(charge("ann", order="1", page=2), Receipt)
    assert_type(charge.key_id("ann", "1"), KeyId)
    assert_type(ledger.inspect(charge.key_id("ann", "1")), RecordView | None)
    scope, _, _ = charge.key_id("ann", "1")
    assert_type(scope, str)
    assert_type(charge.operation, Operation)
    assert_type(charge.recover(lambda claim: Receipt(), limit=5), int)
    charge.resolve(record, Receipt(), who="ann", note="in the log")
    Janitor(ledger, recover=[(charge, lambda claim: Receipt()), (CHARGE, lambda claim: claim.release())])


async def coroutines(record: RecordView) -> None:
    @keyledger.idempotent(
        ledger=get_ledger, operation="greet", effect="at_most_once", scope=keyledger.SINGLE, key="name"
    )
    async def greet(name: str) -> list[str]:
        return [name]

    assert_type(await greet("ann"), list[str])
    greet.resolve(record, ["ann"], who="ann", note="in the log")
    await greet.resolve_async(record, ["ann"], who="ann", note="in the log")


class Shop:
    """Methods."""

    @keyledger.idempotent(ledger=get_ledger, operation="sell", effect="repeatable", scope=keyledger.SINGLE, key="order")
    def sell(self, order: str) -> int:
        return 1

    @classmethod
    @keyledger.idempotent(ledger=get_ledger, operation="open", effect="repeatable", scope=keyledger.SINGLE, key="day")
    def opened(cls, day: str) -> str:
        return day

    @keyledger.idempotent(ledger=get_ledger, operation="close", effect="repeatable", scope=keyledger.SINGLE, key="day")
    @classmethod
    def closed(cls, day: str) -> str:
        return day

    @staticmethod
    @keyledger.idempotent(ledger=get_ledger, operation="tax", effect="repeatable", scope=keyledger.SINGLE, key="year")
    def taxed(year: int, rate: float) -> float:
        return rate

    @keyledger.idempotent(ledger=get_ledger, operation="audit", effect="repeatable", scope=keyledger.SINGLE, key="year")
    @staticmethod
    async def audited(year: int) -> str:
        return "fine"


class Branch(Shop):
    """What it inherits."""


async def methods(shop: Shop) -> None:
    assert_type(shop.sell("1"), int)
    assert_type(Shop.sell(shop, "1"), int)
    assert_type([Shop.opened("monday"), shop.opened(day="monday"), Branch.opened("monday")], list[str])
    assert_type([Shop.closed("monday"), shop.closed(day="monday"), Branch.closed("monday")], list[str])
    assert_type(Shop.taxed(2026, rate=1.5), float)
    assert_type(await Branch.audited(2026), str)


def blocks(ledger: Ledger) -> None:
    try:
        with ledger.claim(
            CHARGE, "user", "1", Fingerprint.unchecked(), not_done=(OSError,), final=(ValueError,)
        ) as claim:
            assert_type(claim, Claim)
            assert_type(keyledger.current_claim(), Claim)
    except Refused as error:
        assert_type(error.retry_after_seconds, "float | None")
        assert_type(error.key_id, KeyId | None)
        if isinstance(error.decision, Parked):
            assert_type(error.decision.reason, str)
        elif not isinstance(error.decision, Replay):
            assert_type(error.decision, InProgress | Mismatch | Gone)
    response = ledger.run(CHARGE, "user", "1", Fingerprint.unchecked(), lambda claim: Response.empty())
    assert_type(response, Response)


async def blocks_async(ledger: Ledger) -> None:
    async with ledger.claim(CHARGE, "user", "1", Fingerprint.unchecked()) as claim:
        assert_type(claim, Claim)
