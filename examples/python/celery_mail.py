"""A worker of Celery's that sends mail: once, and never twice; what was lost is found out in the mail server's log.

    pip install "keyledger[celery]"
    python examples/python/celery_mail.py

It loses a mail's outcome on purpose, and finds out. To serve it, name a broker in MAIL_BROKER, and
`celery --workdir examples/python --app celery_mail worker`.
"""

# ruff: noqa: ARG001 (a key is an argument for the decorator alone)

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from celery import Celery
from celery.exceptions import Reject

import keyledger
from keyledger import Claim
from keyledger.celery import Task

FOLDER = Path(os.environ.get("MAIL_FOLDER") or tempfile.mkdtemp())
SERVER_LOG = FOLDER / "server.log"
app = Celery("celery_mail", broker=os.environ.get("MAIL_BROKER", "memory://"))


class Lost(Exception):
    """The connection broke before the mail server had answered."""


def smtp(message_id: str, address: str) -> None:
    """The mail server. It knows no keys, and sends what it is told; its log has the id of every message."""
    with SERVER_LOG.open("a") as log:
        log.write(f"{message_id} {address}\n")
    if address.startswith("lost"):
        raise Lost("no answer from the mail server")


@app.task(
    base=Task,
    keyledger={
        "ledger": FOLDER / "mail.kl",
        "effect": "at_most_once",
        "key": "order_id",
        "memo": ("order_id", "address"),
        "not_done": (ConnectionRefusedError,),
        "final": (ValueError,),
        "lease": 1,
    },
)
def send_receipt(order_id: str, address: str) -> str:
    """Sends one. The message's id is derived from the key, so that it can be found again."""
    if "@" not in address:
        raise ValueError(f"{address} is no address")
    try:
        smtp(keyledger.current_claim().derive_key("message"), address)
    except Lost:
        # Nobody knows: the lease ends, and the recovery handler finds out.
        keyledger.current_claim().drop()
        raise
    return f"sent to {address}"


def find_out(claim: Claim) -> str | None:
    """The recovery handler: it looks for the message in the log. What it returns is the task's result from now on."""
    asked = json.loads(claim.memo)
    if claim.derive_key("message") in SERVER_LOG.read_text():
        return f"sent to {asked['address']}, as the log says"
    # Only since the lost owner can no longer act: its lease is over, and the log is complete.
    claim.release()
    return None


def main() -> None:
    """Two orders; the outcome of the second is lost."""
    print(send_receipt("1", "ann@example.org"))
    print(send_receipt("1", "ann@example.org"), "(and once only)")
    try:
        send_receipt("2", "lost@example.org")
    except Lost as lost:
        print("lost:", lost)
    try:
        send_receipt("2", "lost@example.org")
    except Reject as rejected:
        print("rejected:", rejected.reason)
    print("found out:", send_receipt.recover(find_out))
    print(send_receipt("2", "lost@example.org"))
    print("mails sent:", len(SERVER_LOG.read_text().splitlines()))


if __name__ == "__main__":
    main()
