"""Decisions, rows, and what people ask, as callers write them, for type checkers: mypy --strict and pyright. Nobody runs it."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from typing_extensions import assert_never, assert_type

import keyledger
from keyledger import (
    Acquired,
    Batch,
    Begin,
    Claim,
    Decision,
    Effect,
    Fingerprint,
    Forgotten,
    Gone,
    InProgress,
    Janitor,
    KeyId,
    KeyledgerError,
    Ledger,
    Mismatch,
    Operation,
    Page,
    Parked,
    RecordView,
    Replay,
    Response,
    Swept,
    Transaction,
)

CHARGE = Operation("charge", Effect.REPEATABLE, lease=timedelta(minutes=1), max_attempts=3)


def every_decision_has_its_case(decision: Decision) -> str:
    match decision:
        case Acquired(claim):
            assert_type(claim, Claim)
            return "yours"
        case Replay(response, outcome):
            assert_type(response, Response)
            assert_type(outcome, Literal["completed", "failed"])
            return "done"
        case InProgress(retry_after):
            assert_type(retry_after, float)
            return "later"
        case Mismatch():
            return "another request"
        case Parked(reason, since_ms):
            assert_type(reason, str)
            assert_type(since_ms, int)
            return "nobody knows"
        case Gone():
            return "gone"
    assert_never(decision)


def advice_of_all_but_the_claim(decision: Decision) -> str:
    if isinstance(decision, Acquired):
        return decision.KIND
    return f"{decision.advice} ({decision.key_advice})"


def many(ledger: Ledger) -> None:
    begin = Begin(CHARGE, "user-7", "order-1034", Fingerprint.unchecked(), memo=b"cart 42", wait=1)
    assert_type(ledger.begin_many([begin]), list[Decision])
    assert_type(ledger.begin_with(begin), Decision)


def rows(ledger: Ledger, claim: Claim) -> None:
    def store(tx: Transaction) -> Response:
        tx.insert_unique("orders", b"1034", b"paid")
        assert_type(tx.get("orders", b"1034"), "bytes | None")
        return Response.json({"paid": True})

    assert_type(claim.complete_with(store), Response)
    assert_type(claim.step("pay", lambda: b"paid"), bytes)
    assert_type(ledger.transaction(lambda tx: len(tx.scan("orders"))), int)
    ledger.apply(Batch().put("orders", b"1035", b"open").delete("orders", b"1033"))


def people(ledger: Ledger) -> None:
    page = ledger.list(state="parked", older_than=timedelta(days=1), limit=10)
    assert_type(page, Page)
    for record in page.records:
        assert_type(record, RecordView)
        ledger.resolve(record.key_id, record.fence, "completed", "found in the log", who="ann", note="ticket 7")
    assert_type(ledger.inspect(KeyId("user-7", "charge", "order-1034")), "RecordView | None")
    assert_type(ledger.forget_scope("user-7"), Forgotten)
    assert_type(ledger.sweep(), Swept)
    with Janitor(ledger, recover=[(CHARGE, lambda claim: claim.release())]) as janitor:
        assert_type(janitor.tick().recovered, int)


def errors(ledger: Ledger) -> str:
    try:
        ledger.check()
    except keyledger.errors.Corrupt as corrupt:
        return corrupt.code
    except KeyledgerError as error:
        return error.code
    return "well"


async def twins(ledger: Ledger, claim: Claim) -> None:
    assert_type(await ledger.begin_async(CHARGE, "user-7", "order-1034", Fingerprint.unchecked()), Decision)
    await claim.complete_async("charged")
    assert_type(await ledger.recover_async(CHARGE), list[Claim])
