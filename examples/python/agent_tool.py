"""Tools of an agent as plain functions: the model may call one twice, or the program may die between; each call is done once.

    pip install keyledger
    python examples/python/agent_tool.py      # and once more: nothing is done again

The id that the model gives a call is its key. Asked again, a tool answers what it answered before; what nobody knows is told to
the model as such, so that it does not try another way. For requests over HTTP, `outbox_agent_tool.py` has the outbox.
"""

# ruff: noqa: ARG001 (a key is an argument for the decorator alone)

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import keyledger
from keyledger import Ledger, Refused

FOLDER = Path(os.environ.get("AGENT_FOLDER", "."))
AIRLINE = FOLDER / "airline.log"


async def ask_the_airline(seat: str, key: str) -> str:
    """The airline, which knows bookings by their keys."""
    with AIRLINE.open("a") as log:
        log.write(f"{seat} {key}\n")
    return f"{seat} is booked"


def tools(ledger: Ledger) -> dict[str, Callable[..., Awaitable[str]]]:
    """The tools, by name."""

    @ledger.idempotent(operation="book_seat", effect="repeatable", scope="conversation", key="call_id")
    async def book_seat(conversation: str, call_id: str, seat: str) -> str:
        return await ask_the_airline(seat, keyledger.current_claim().derive_key("booking"))

    @ledger.idempotent(operation="call_taxi", effect="at_most_once", scope="conversation", key="call_id")
    async def call_taxi(conversation: str, call_id: str, to: str) -> str:
        raise TimeoutError("nobody answered the phone in time")

    return {"book_seat": book_seat, "call_taxi": call_taxi}


async def use(tool: Callable[..., Awaitable[str]], conversation: str, call: dict[str, Any]) -> str:
    """One call of the model's, and what it reads: a result, or why there is none and what to do."""
    try:
        return await tool(conversation, call["id"], **json.loads(call["arguments"]))
    except Refused as refused:
        return f"{refused.code}: {refused.decision.advice}"
    except Exception as error:
        return f"failed: {error}"


async def main() -> None:
    """A model that repeats itself."""
    calls = [
        {"id": "call-1", "name": "book_seat", "arguments": '{"seat": "12A"}'},
        {"id": "call-1", "name": "book_seat", "arguments": '{"seat": "12A"}'},
        {"id": "call-1", "name": "book_seat", "arguments": '{"seat": "14C"}'},
        {"id": "call-2", "name": "call_taxi", "arguments": '{"to": "the airport"}'},
        {"id": "call-2", "name": "call_taxi", "arguments": '{"to": "the airport"}'},
    ]
    with keyledger.open(FOLDER / "agent.kl") as ledger:
        known = tools(ledger)
        for call in calls:
            print(call["id"], await use(known[call["name"]], "conversation-1", call))


if __name__ == "__main__":
    asyncio.run(main())
