"""What gunicorn serves in `test_servers`, preloaded: the ledger is opened before the fork, or after it."""

from __future__ import annotations

import functools
import os
from typing import Any

from flask import Flask

from keyledger._native import Ledger
from keyledger.wsgi import IdempotencyMiddleware, Route


def opened() -> Ledger:
    return Ledger(os.environ["FORKED_LEDGER"], shared=os.environ["FORKED_SHARED"] == "yes")


@functools.cache
def opened_here(_process: int) -> Ledger:
    return opened()


def after_fork() -> Ledger:
    return opened_here(os.getpid())


ledger: Any = opened() if os.environ["FORKED_WHEN"] == "before" else after_fork
app = Flask(__name__)


@app.post("/charges")
def charge() -> tuple[str, int]:
    return f"charged by {os.getpid()}", 201


app.wsgi_app = IdempotencyMiddleware(  # type: ignore[method-assign]
    app.wsgi_app, ledger=ledger, route=Route.required("repeatable"), scope=lambda _: "everybody"
)
