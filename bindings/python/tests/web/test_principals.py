"""Whose key it is: what a scope function may give, and who hears of what is none (H13)."""

from __future__ import annotations

import enum
import logging
import uuid
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

import keyledger
from keyledger import Ledger
from keyledger._http import Head, asked
from keyledger._native import Answer
from keyledger.fastapi import IdempotencyRoute, Route, idempotent

ROUTE = Route.required("repeatable")
ID = uuid.UUID(int=7)


class Tenant(enum.Enum):
    EAST = "east"


def told(principal: Any, ledger: Ledger) -> Any:
    return asked(ledger, ROUTE, principal, "key-1", Head("POST", b"/", b"", None, b"0", is_chunked=False), b"")


@pytest.mark.parametrize(
    ("principal", "scope"), [("ann", "ann"), (7, "7"), (0, "0"), (ID, str(ID)), (Tenant.EAST, "east")]
)
def test_h13_text_whole_numbers_and_uuids_are_scopes_as_they_are_of_decorated_functions(
    principal: Any, scope: str
) -> None:
    with keyledger.in_memory() as ledger:
        assert told(principal, ledger).key_id[0] == scope


@pytest.mark.parametrize("principal", [1.5, True, b"ann", ["ann"], {"id": 7}])
def test_h13_whoever_runs_the_server_hears_of_what_is_no_scope_and_the_client_is_told_401(
    principal: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with keyledger.in_memory() as ledger:
        answer = told(principal, ledger)
    assert isinstance(answer, Answer)
    assert answer.status == 401
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("keyledger.http", logging.ERROR)
    assert type(principal).__name__ in record.getMessage()


def test_h13_nobody_is_no_error_of_the_servers(caplog: pytest.LogCaptureFixture) -> None:
    with keyledger.in_memory() as ledger:
        assert told(None, ledger).status == 401
    assert not caplog.records


def test_an_id_that_is_a_number_is_a_scope_for_fastapi() -> None:
    app = FastAPI()
    app.router.route_class = IdempotencyRoute
    with keyledger.in_memory() as ledger:

        @app.post("/charges")
        @idempotent(ledger=ledger, route=ROUTE, scope=lambda: 7)
        def charge() -> int:
            return 1

        client = TestClient(app, headers={"Idempotency-Key": '"key-1"'})
        first, again = client.post("/charges"), client.post("/charges")
        assert (first.status_code, again.headers["Idempotent-Replayed"]) == (200, "true")
        (record,) = ledger.list().records
        assert record.key_id.scope == "7"
