"""A receiver of webhooks over Flask: an event that is delivered twice is taken once.

    pip install keyledger flask gunicorn
    gunicorn --workers 4 --chdir examples/python flask_webhook:app

    body='{"id": "evt_1034", "paid": 1999}'
    curl -i -H 'Idempotency-Key: "evt_1034"' -H 'Content-Type: application/json' -d "$body" \
        -H "Signature: $(printf '%s' "$body" | openssl dgst -sha256 -hmac 'only for this example' -r | cut -d' ' -f1)" \
        http://127.0.0.1:8000/events

Send it again, and look at http://127.0.0.1:8000/events: it is there once.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import os
from typing import Any

from flask import Flask, request

import keyledger
from keyledger import Response, Transaction
from keyledger.wsgi import Answer, IdempotencyMiddleware, Route

SECRET = os.environ.get("WEBHOOK_SECRET", "only for this example").encode()
ledger = keyledger.open(os.environ.get("WEBHOOK_LEDGER", "webhook.kl"), shared=True)
app = Flask(__name__)


@app.post("/events")
def take() -> dict[str, bool]:
    """InLedger: the event's row and the answer are stored together, or not at all."""
    event = request.get_json()

    def store(tx: Transaction) -> Response:
        tx.insert_unique("events", event["id"].encode(), json.dumps(event).encode())
        return Answer(200, [("Content-Type", "application/json")], b'{"taken":true}').to_stored()

    keyledger.current_claim().complete_with(store)
    return {"taken": True}


@app.get("/events")
def events() -> list[Any]:
    """What has been taken."""
    return [json.loads(row) for _, row in ledger.scan("events")]


def scope(environ: dict[str, Any]) -> str | None:
    """Only what the sender has signed is anybody's: a receiver has no other credential."""
    return "the payment provider" if environ.get("webhook.signed") else None


def signature_checked(inner: Any) -> Any:
    """Checks the signature before anything else, and puts the body back for whoever reads it next."""

    def check(environ: dict[str, Any], start_response: Any) -> Any:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        wanted = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        environ["webhook.signed"] = hmac.compare_digest(wanted, environ.get("HTTP_SIGNATURE", ""))
        environ["wsgi.input"] = io.BytesIO(body)
        return inner(environ, start_response)

    return check


guarded = IdempotencyMiddleware(app.wsgi_app, ledger=ledger, route=Route.required("in_ledger"), scope=scope)
app.wsgi_app = signature_checked(guarded)  # type: ignore[method-assign]
