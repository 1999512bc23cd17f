"""The steps on the caller's own rows: transactions, batches, and reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyledger import Batch, KeyledgerError, Response, Transaction

from . import shown
from .checking import Raised, Step, check
from .outbox import enqueue_within
from .shown import told
from .values import to_bytes, to_response, to_text
from .world import World


def _maybe_bytes(value: Any) -> bytes | None:
    return None if value is None else to_bytes(value)


def _pairs(rows: list[tuple[bytes, bytes]]) -> list[Any]:
    return [[shown.shown_bytes(key), shown.shown_bytes(value)] for key, value in rows]


def _found(value: bytes | None) -> Any:
    return None if value is None else shown.shown_bytes(value)


def _written(to: Transaction | Batch, call: Step) -> Any:
    """A call that a transaction and a batch both have."""
    table, key = to_text(call["table"]), to_bytes(call["key"])
    match call["call"]:
        case "put":
            return to.put(table, key, to_bytes(call["value"]))
        case "delete":
            return to.delete(table, key)
        case "insert_unique":
            return to.insert_unique(table, key, to_bytes(call["value"]))
        case "compare_and_set":
            expected, value = _maybe_bytes(call.get("expected")), _maybe_bytes(call.get("value"))
            return to.compare_and_set(table, key, expected, value)
    raise AssertionError(call)


def _within(world: World, tx: Transaction, call: Step) -> Any:
    match call["call"]:
        case "get":
            return _found(tx.get(to_text(call["table"]), to_bytes(call["key"])))
        case "scan":
            to = _maybe_bytes(call.get("to"))
            return _pairs(tx.scan(to_text(call["table"]), to_bytes(call["from"]), to, call["limit"]))
        case "complete":
            held, fence = world.claims[call["claim"]], world.names.fences[call["claim"]]
            tx.complete(held.key_id, fence, to_response(call["response"]))
            return "ok"
        case "enqueue":
            return enqueue_within(world, tx, call)
        case "reenter":
            return world.ledger.stats()
    return _written(tx, call) or "ok"


def _calls(world: World, tx: Transaction, step: Step) -> None:
    for call in step["calls"]:
        try:
            happened = _within(world, tx, call)
        except KeyledgerError as error:
            if "expect" not in call:
                raise
            happened = shown.failed(error)
        if "expect" in call:
            check(world, call["expect"], happened)
    if step.get("end") == "abort":
        raise Raised("abort")


def _closing(call: Callable[[], Any]) -> Any:
    try:
        return told(call)
    except Raised as raised:
        return {"raised": str(raised)}


def _transaction(world: World, step: Step) -> Any:
    return _closing(lambda: world.ledger.transaction(lambda tx: _calls(world, tx, step)))


def _complete_with(world: World, step: Step) -> Any:
    def closure(tx: Transaction) -> Response:
        world.ran = True
        _calls(world, tx, step)
        return to_response(step["response"])

    def call() -> None:
        world.claim(step["claim"]).complete_with(closure)

    return _closing(call)


def _batch(world: World, step: Step) -> Batch:
    batch = Batch()
    for call in step["calls"]:
        if call["call"] == "enqueue":
            enqueue_within(world, batch, call)
        else:
            _written(batch, call)
    return batch


def _apply(world: World, step: Step) -> Any:
    return told(lambda: world.ledger.apply(_batch(world, step)))


def _complete_batch(world: World, step: Step) -> Any:
    def call() -> Any:
        world.claim(step["claim"]).complete_batch(_batch(world, step), to_response(step["response"]))

    return told(call)


def _get(world: World, step: Step) -> Any:
    try:
        return _found(world.ledger.get(to_text(step["table"]), to_bytes(step["key"])))
    except KeyledgerError as error:
        return shown.failed(error)


def _scan(world: World, step: Step) -> Any:
    table, start, to = to_text(step["table"]), to_bytes(step["from"]), _maybe_bytes(step["to"])
    return told(lambda: _pairs(world.ledger.scan(table, start, to, step["limit"])))


ROWS: dict[str, Callable[[World, Step], Any]] = {
    "transaction": _transaction,
    "complete_with": _complete_with,
    "apply": _apply,
    "complete_batch": _complete_batch,
    "get": _get,
    "scan": _scan,
}
