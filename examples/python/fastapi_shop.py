"""A shop over FastAPI: a request that is sent twice is carried out once, and both are told the same answer.

    pip install 'keyledger[fastapi]' uvicorn
    python examples/python/fastapi_shop.py

It asks itself, and ends. To ask it yourself: `uvicorn --app-dir examples/python fastapi_shop:app`, and

    curl -i -H 'Authorization: Bearer ada' -H 'Idempotency-Key: "order-1034"' -d '{"cents": 1999}' \
        -H 'Content-Type: application/json' http://127.0.0.1:8000/charges
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from typing import Annotated

import httpx
from fastapi import Depends, FastAPI, Header, HTTPException
from pydantic import BaseModel

import keyledger
from keyledger.fastapi import IdempotencyRoute, RequestClaim, Route, idempotent

FILE = os.environ.get("SHOP_LEDGER") or os.path.join(tempfile.mkdtemp(), "shop.kl")
# Shared: `uvicorn --workers 4` opens it four times.
ledger = keyledger.open(FILE, shared=True)


class Order(BaseModel):
    """What is to be paid."""

    cents: int


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


@app.post("/charges", status_code=201)
@idempotent(ledger=ledger, route=Route.required("repeatable"), scope=scope)
async def charge(order: Order, claim: RequestClaim) -> dict[str, str | int]:
    """Runs once for each key. What it calls gets a key of its own, the same on every attempt."""
    bank_key = claim.derive_key("charge")
    return {"charged": order.cents, "at_the_bank_under": bank_key}


async def main() -> None:
    """Sends one order twice, and another under the same key."""
    fields = {"Authorization": "Bearer ada", "Idempotency-Key": '"order-1034"'}
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://shop") as client:
        for cents in (1999, 1999, 2999):
            answer = await client.post("/charges", json={"cents": cents}, headers=fields)
            replayed = answer.headers.get("Idempotent-Replayed", "false")
            print(f"{cents} cents: {answer.status_code}, replayed: {replayed}, {answer.text}")


if __name__ == "__main__":
    asyncio.run(main())
