"""A shop over FastAPI: a charge that is sent twice is carried out once, and both are told the same answer.

    pip install 'keyledger[fastapi]' uvicorn
    uvicorn --app-dir examples/python fastapi_shop:app --workers 4

    curl -i -H 'Authorization: Bearer ada' -H 'Idempotency-Key: "order-1034"' -d '{"cents": 1999}' \
        -H 'Content-Type: application/json' http://127.0.0.1:8000/charges

Send it again, from as many terminals as you like, and kill the server in between: `bank/` has one charge, under one key.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

from fastapi import Depends, FastAPI, Header, HTTPException
from pydantic import BaseModel

import keyledger
from keyledger.fastapi import IdempotencyRoute, RequestClaim, Route, idempotent

FOLDER = Path(os.environ.get("SHOP_FOLDER", "."))
# Shared: each worker opens it for itself.
ledger = keyledger.open(FOLDER / "shop.kl", shared=True)


class Order(BaseModel):
    """What is to be paid."""

    cents: int


class Receipt(BaseModel):
    """What was paid, and under which name the bank knows it."""

    charged: int
    at_the_bank_under: str


def ask_the_bank(key: str, cents: int) -> None:
    """The bank, which is slow. It knows a charge by its key, and notes each time that it is asked."""
    (FOLDER / "bank").mkdir(exist_ok=True)
    with (FOLDER / "bank" / key).open("a") as book:
        book.write(f"{cents}\n")
    time.sleep(0.2)


def user(authorization: Annotated[str, Header()] = "") -> str:
    """Who is asking: your own check of credentials."""
    kind, _, name = authorization.partition(" ")
    if kind != "Bearer" or not name:
        raise HTTPException(401, "who are you?")
    return name


def scope(name: Annotated[str, Depends(user)]) -> str:
    """Whose key it is: a stable name of the user, never the credential itself."""
    return f"user {name}"


app = FastAPI(title="A shop")
app.router.route_class = IdempotencyRoute


# The lease is renewed while the endpoint runs; when its worker is killed, the next request may run after two seconds.
ROUTE = Route.required("repeatable", lease=2)


@app.post("/charges", status_code=201)
@idempotent(ledger=ledger, route=ROUTE, scope=scope)
def charge(order: Order, claim: RequestClaim) -> Receipt:
    """Runs once for each key. What it calls gets a key of its own, the same on every attempt."""
    key = claim.derive_key("charge")
    ask_the_bank(key, order.cents)
    return Receipt(charged=order.cents, at_the_bank_under=key)
