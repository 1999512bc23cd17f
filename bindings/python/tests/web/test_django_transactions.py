"""A view under a key stores its outcome when it returns: not while a transaction around it may still be undone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

import keyledger
from keyledger import KeyId, Ledger
from keyledger.django import Route, idempotent, middleware

from . import served_django as _settings  # noqa: F401 # Django is set up once in a process


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with keyledger.in_memory() as opened:
        yield opened


@pytest.fixture(autouse=True)
def rows() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("create table parent(id integer primary key)")
        cursor.execute("create table child(of integer references parent(id) deferrable initially deferred)")
    yield
    with connection.cursor() as cursor:
        cursor.execute("drop table child")
        cursor.execute("drop table parent")


class Charges:
    """A view that is decorated, and how often it ran. Its row is refused when its transaction commits."""

    def __init__(self, ledger: Ledger, *, atomic_inside: bool = False) -> None:
        self.ledger, self.runs = ledger, 0

        def charge(_request: HttpRequest) -> HttpResponse:
            self.runs += 1
            if atomic_inside:
                with transaction.atomic():
                    self.insert()
            else:
                self.insert()
            return HttpResponse("charged")

        self.plain = charge
        self.view: Any = idempotent(ledger=ledger, route=Route.required("repeatable"), scope=lambda _: "ann")(charge)

    def insert(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("insert into child values (99)")

    def stored(self) -> Any:
        view = self.ledger.inspect(KeyId("ann", "POST /charges", "order-1"))
        return None if view is None else view.state


def asked() -> HttpRequest:
    return RequestFactory().post("/charges", b"{}", "application/json", headers={"Idempotency-Key": '"order-1"'})


def test_in_an_open_transaction_of_the_database_a_view_under_a_key_is_not_run(ledger: Ledger) -> None:
    charges = Charges(ledger)
    for _ in range(2):
        with pytest.raises(ImproperlyConfigured, match="non_atomic_requests"), transaction.atomic():
            charges.view(asked())
    assert (charges.runs, charges.stored()) == (0, None)


def test_a_transaction_that_is_over_when_the_view_returns_decides_what_is_stored(ledger: Ledger) -> None:
    charges = Charges(ledger, atomic_inside=True)
    told = [charges.view(asked()) for _ in range(2)]
    # The commit fails, so the claim was released both times, and nobody is told a yes.
    assert [response.status_code for response in told] == [500, 500]
    assert charges.runs == 2


def test_the_middleware_is_around_the_transaction_so_that_a_commit_that_fails_is_no_yes(ledger: Ledger) -> None:
    charges = Charges(ledger)
    guard = middleware(ledger=ledger, route=Route.required("repeatable"), scope=lambda _: "ann")
    served = guard(transaction.atomic(charges.plain))
    assert [served(asked()).status_code for _ in range(2)] == [500, 500]
    assert charges.runs == 2


def test_what_the_middleware_holds_already_may_be_called_in_a_transaction(ledger: Ledger) -> None:
    charges = Charges(ledger)
    charges.insert = lambda: None  # type: ignore[method-assign]
    guard = middleware(ledger=ledger, route=Route.required("repeatable"), scope=lambda _: "ann")
    served = guard(transaction.atomic(charges.view))
    assert [served(asked()).status_code for _ in range(2)] == [200, 200]
    assert charges.runs == 1


def test_a_transaction_of_a_test_case_is_none(ledger: Ledger) -> None:
    charges = Charges(ledger)
    charges.insert = lambda: None  # type: ignore[method-assign]
    around = transaction.atomic()
    around._from_testcase = True  # as django.test.TestCase marks its own
    with around:
        assert charges.view(asked()).status_code == 200
        with pytest.raises(ImproperlyConfigured), transaction.atomic():
            charges.view(asked())
    assert charges.runs == 1
