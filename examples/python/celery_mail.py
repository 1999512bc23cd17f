"""A worker of Celery's that sends mail: once, and never twice; what was lost is found out in the mail server's log.

    pip install "keyledger[celery]"
    celery --workdir examples/python --app celery_mail worker &
    python examples/python/celery_mail.py send 1034 ann@example.org
    python examples/python/celery_mail.py send 1034 ann@example.org     # no second mail
    python examples/python/celery_mail.py recover                       # from time to time, as a timer or a cron job

Kill the worker's processes while they send (`kill -9`): the task is delivered again, and parked, since nobody knows whether the mail
has left. `recover` looks into the log: mail that is there was sent; mail that is not is sent by the next delivery.
"""

# ruff: noqa: ARG001 (a key is an argument for the decorator alone)

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from celery import Celery

import keyledger
from keyledger import Claim
from keyledger.celery import Task

FOLDER = Path(os.environ.get("MAIL_FOLDER", "mail"))
SERVER_LOG = FOLDER / "server.log"
for name in ("messages", "control"):
    (FOLDER / name).mkdir(parents=True, exist_ok=True)

# Messages are files here, so that nothing else has to be installed. Yours come from Redis or RabbitMQ.
app = Celery("celery_mail", broker="filesystem://")
app.conf.broker_transport_options = {
    "data_folder_in": str(FOLDER / "messages"),
    "data_folder_out": str(FOLDER / "messages"),
    "control_folder": str(FOLDER / "control"),
    "polling_interval": 0.1,
}


def smtp(message_id: str, address: str) -> None:
    """The mail server. It knows no keys, sends what it is told, and takes its time to say so. Its log has every message's id."""
    with SERVER_LOG.open("a") as log:
        log.write(f"{message_id} {address}\n")
    time.sleep(1)


@app.task(
    base=Task,
    keyledger={
        "ledger": FOLDER / "mail.kl",
        "effect": "at_most_once",
        "key": "order_id",
        "memo": ("order_id", "address"),
        "not_done": (ConnectionRefusedError,),
        "final": (ValueError,),
        "lease": 3,
    },
)
def send_receipt(order_id: str, address: str) -> str:
    """Sends one. The message's id is derived from the key, so that it can be found again."""
    if "@" not in address:
        raise ValueError(f"{address} is no address")
    smtp(keyledger.current_claim().derive_key("message"), address)
    return f"sent to {address}"


def find_out(claim: Claim) -> str | None:
    """The recovery handler: it looks for the message in the log. What it returns is the task's result from now on."""
    asked = json.loads(claim.memo)
    if claim.derive_key("message") in SERVER_LOG.read_text():
        return f"sent to {asked['address']}, as the log says"
    # Only since the lost owner can no longer act: its lease is over, and the log is complete.
    claim.release()
    return None


if __name__ == "__main__":
    if sys.argv[1:2] == ["send"]:
        send_receipt.delay(*sys.argv[2:])
    else:
        print("found out:", send_receipt.recover(find_out))
