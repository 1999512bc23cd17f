"""A receiver of webhooks over Flask: an event that is delivered twice is taken once.

    pip install keyledger flask
    python examples/python/flask_webhook.py

It delivers to itself, and ends. To serve it: `gunicorn --workers 4 --chdir examples/python flask_webhook:app`.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import os
import tempfile
from typing import Any

from flask import Flask, request

import keyledger
from keyledger.wsgi import Answer, IdempotencyMiddleware, Route

SECRET = os.environ.get("WEBHOOK_SECRET", "only for this example").encode()
FILE = os.environ.get("WEBHOOK_LEDGER") or os.path.join(tempfile.mkdtemp(), "webhook.kl")
ledger = keyledger.open(FILE, shared=True)
app = Flask(__name__)


@app.post("/events")
def take() -> dict[str, str]:
    """InLedger: the event's row and the answer are stored together, or not at all, and told from there."""
    event = request.get_json()
    claim = keyledger.current_claim()

    def store(tx: Any) -> Any:
        tx.insert_unique("events", event["id"].encode(), json.dumps(event).encode())
        return Answer(200, [("Content-Type", "application/json")], b'{"taken": true}').to_stored()

    claim.complete_with(store)
    return {"taken": "yes"}


def scope(environ: dict[str, Any]) -> str | None:
    """Only what the sender has signed is anybody's: a receiver has no other credential."""
    return "the payment provider" if environ.get("webhook.signed") else None


def signature_checked(inner: Any) -> Any:
    """Checks the signature before anything else, and gives the body on."""

    def check(environ: dict[str, Any], start_response: Any) -> Any:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        wanted = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        environ["webhook.signed"] = hmac.compare_digest(wanted, environ.get("HTTP_SIGNATURE", ""))
        # H17: whoever reads the body before the adapter puts it back.
        environ["wsgi.input"] = io.BytesIO(body)
        return inner(environ, start_response)

    return check


guarded = IdempotencyMiddleware(app.wsgi_app, ledger=ledger, route=Route.required("in_ledger"), scope=scope)
app.wsgi_app = signature_checked(guarded)  # type: ignore[method-assign]


def main() -> None:
    """Delivers one event twice, and once without a signature."""
    body = json.dumps({"id": "evt_1034", "paid": 1999}).encode()
    signed = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    client = app.test_client()
    for signature in (signed, signed, "forged"):
        fields = {"Idempotency-Key": '"evt_1034"', "Signature": signature, "Content-Type": "application/json"}
        answer = client.post("/events", data=body, headers=fields)
        print(f"{answer.status_code}, replayed: {answer.headers.get('Idempotent-Replayed', 'false')}, {answer.text}")


if __name__ == "__main__":
    main()
