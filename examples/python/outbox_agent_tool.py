"""A tool of an agent: the model may call it twice, and the program may die between; the mail goes out once.

    pip install keyledger
    python examples/python/outbox_agent_tool.py

The tool's call has an id that the model's message gives it, and the purpose is made of that: a call that is made again,
by a model that repeats itself or by a program that goes on after a crash, finds what the first has stored.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import keyledger
from keyledger import Delivery, DeliveryOutcome, Outbox
from keyledger.errors import AnsweredNo, EntryError, NoResultYet

SENT: list[str] = []


async def post(delivery: Delivery) -> DeliveryOutcome:
    """The provider of mail, which remembers keys. Here it loses its first answer."""
    if delivery.key in SENT:
        return DeliveryOutcome.yes(json.dumps({"id": f"mail-{SENT.index(delivery.key)}"})).replayed()
    mail = json.loads(delivery.request)
    if "@" not in mail["to"]:
        return DeliveryOutcome.no("that is no address")
    SENT.append(delivery.key)
    return DeliveryOutcome.retry("the connection broke before the answer came")


async def send_mail(outbox: Outbox, conversation: str, call_id: str, arguments: dict[str, Any]) -> str:
    """The tool. What it returns is read by the model: what happened, or that it is open and not to be tried again."""
    entry, created = await outbox.enqueue_async(
        conversation,
        "send_mail",
        json.dumps(arguments, sort_keys=True),
        media_type="application/json",
        purpose=f"tool call {call_id}",
    )
    try:
        response = await entry.result_async(timeout=10)
    except AnsweredNo as no:
        return f"refused: {(no.response.body or b'').decode()}"
    except NoResultYet:
        return f"accepted as {entry.id}; it is being sent, do not call again"
    except EntryError as stopped:
        return f"not done: {stopped}"
    return f"{'sent' if created else 'was sent before'}: {(response.body or b'').decode()}"


async def main() -> None:
    """One conversation."""
    with tempfile.TemporaryDirectory() as folder, keyledger.open(Path(folder) / "agent.kl") as ledger:
        outbox = ledger.outbox(backoff=(0.05, 1, 2))
        async with outbox.driver("conversation-1", post):
            mail = {"to": "ann@example.org", "text": "the report is done"}
            for call_id, arguments in [("call-1", mail), ("call-1", mail), ("call-2", {"to": "ann", "text": "hello"})]:
                print(call_id, await send_mail(outbox, "conversation-1", call_id, arguments))
        assert len(SENT) == 1


if __name__ == "__main__":
    asyncio.run(main())
