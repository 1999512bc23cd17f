"""Forms with files: their bytes count, and with them the boundary that clients draw anew for each request (F3)."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

import keyledger
from keyledger.fastapi import IdempotencyRoute, Route, idempotent

KEY = {"Idempotency-Key": '"key-1"'}
FILES = {"file": ("a.txt", b"the same bytes")}


def test_f3_a_retry_of_a_form_with_files_has_to_have_the_same_boundary() -> None:
    """As the guide says, with what it says to write."""
    app = FastAPI()
    app.router.route_class = IdempotencyRoute
    with keyledger.in_memory() as ledger:

        @app.post("/files")
        @idempotent(ledger=ledger, route=Route.required("repeatable"), scope=lambda: "ann")
        async def upload(request: Request) -> int:
            return len(await request.body())

        client = TestClient(app)
        drawn = [client.post("/files", files=FILES, headers=KEY) for _ in range(2)]
        assert [answer.status_code for answer in drawn] == [200, 422]
        fields = {"Idempotency-Key": '"key-2"', "Content-Type": "multipart/form-data; boundary=key-2"}
        said = [client.post("/files", files=FILES, headers=fields) for _ in range(2)]
        assert [answer.status_code for answer in said] == [200, 200]
        assert said[1].headers["Idempotent-Replayed"] == "true"
