"""A worker's application: its tasks write to a file what they do."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from celery import Celery

import keyledger
from keyledger.celery import Task

FOLDER = Path(os.environ["KEYLEDGER_TEST_FOLDER"])
LOG = FOLDER / "log"


def broker(name: str) -> str:
    """A folder of the broker's, made if it is not there."""
    folder = FOLDER / name
    folder.mkdir(exist_ok=True)
    return str(folder)


app = Celery("app", broker="filesystem://")
app.conf.update(
    broker_transport_options={
        "data_folder_in": broker("messages"),
        "data_folder_out": broker("messages"),
        "control_folder": broker("control"),
        "polling_interval": 0.1,
    },
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=False,
    # How long a killed process may still have said something: ten seconds otherwise.
    worker_lost_wait=0.5,
)


def settings(effect: str) -> dict[str, Any]:
    """A short lease, so that a killed task's is over soon."""
    return {
        "ledger": FOLDER / "tasks.kl",
        "effect": effect,
        "key": "order",
        "lease": 2,
        "fingerprint": ("order", "amount"),
    }


def work(order: str, seconds: float) -> str:
    """The first time slow, so that somebody can kill it."""
    is_first = f" {order} " not in read()
    with LOG.open("a") as log:
        log.write(f"ran {order} {os.getpid()} {keyledger.current_claim().derive_key('bank')}\n")
    if is_first:
        time.sleep(seconds)
    return "done"


def read() -> str:
    """What was done so far."""
    return LOG.read_text() if LOG.exists() else ""


@app.task(base=Task, keyledger=settings("repeatable"))
def charge(order: str, amount: int = 1, seconds: float = 0) -> str:
    """Whoever performs it deduplicates."""
    return work(order, seconds)


@app.task(base=Task, keyledger=settings("at_most_once"))
def mail(order: str, amount: int = 1, seconds: float = 0) -> str:
    """Nobody can tell whether it happened."""
    return work(order, seconds)


@app.task(base=Task, keyledger={"ledger": FOLDER / "tasks.kl", "effect": "repeatable", "lease": 2})
def by_id(order: str) -> str:
    """Its key is the task's id."""
    return work(order, 0)
