"""The examples of HTTP, on real servers of two workers, asked over sockets, killed with SIGKILL and started again."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
from running import Server, gunicorn, until, uvicorn


def at_the_same_time(times: int, ask: Callable[[], httpx.Response]) -> list[httpx.Response]:
    with ThreadPoolExecutor(times) as pool:
        return [asked.result() for asked in [pool.submit(ask) for _ in range(times)]]


def test_the_shop_asks_the_bank_once_for_each_key_whoever_asks_and_whatever_is_killed(tmp_path: Path) -> None:
    bank = tmp_path / "bank"
    with uvicorn("fastapi_shop:app", tmp_path, SHOP_FOLDER=str(tmp_path)) as shop:
        answers = at_the_same_time(8, lambda: charge(shop))
        # Those that came while the first was at the bank are told to come again; then they hear what it heard.
        assert {answer.status_code for answer in answers} <= {201, 409}
        told = charge(shop)
        assert (told.status_code, told.headers["Idempotent-Replayed"]) == (201, "true")
        assert {answer.text for answer in answers if answer.status_code == 201} == {told.text}
        (book,) = bank.iterdir()
        assert (book.name, book.read_text()) == (told.json()["at_the_bank_under"], "1999\n")

        assert charge(shop, cents=2999).status_code == 422
        assert charge(shop, key=None).status_code == 400
        assert charge(shop, user=None).status_code == 401
        assert len(list(bank.iterdir())) == 1
        assert charge(shop, user="bob").status_code == 201
        assert len(list(bank.iterdir())) == 2
        lost = threading.Thread(target=charge_in_vain, args=(shop, "order-1035"))
        lost.start()
        until("the bank is asked", lambda: len(list(bank.iterdir())) == 3)
    lost.join()

    with uvicorn("fastapi_shop:app", tmp_path, SHOP_FOLDER=str(tmp_path)) as shop:
        assert (charge(shop).text, book.read_text()) == (told.text, "1999\n")
        # What was lost at the bank is asked again when its lease is over: under the same key, which the bank knows.
        again = until("it is charged", lambda: charged(shop, "order-1035"))
        assert "Idempotent-Replayed" not in again.headers
        assert (bank / again.json()["at_the_bank_under"]).read_text() == "1999\n1999\n"
        assert len(list(bank.iterdir())) == 3


def charge(shop: Server, key: str | None = "order-1034", cents: int = 1999, user: str | None = "ada") -> httpx.Response:
    fields = {"Idempotency-Key": f'"{key}"' if key else None, "Authorization": f"Bearer {user}" if user else None}
    sent = {name: value for name, value in fields.items() if value}
    return shop.post("/charges", json={"cents": cents}, headers=sent)


def charge_in_vain(shop: Server, key: str) -> None:
    with contextlib.suppress(httpx.TransportError):
        charge(shop, key)


def charged(shop: Server, key: str) -> httpx.Response | None:
    answer = charge(shop, key)
    assert answer.status_code in (201, 409), answer.text
    return answer if answer.status_code == 201 else None


def test_the_receiver_takes_an_event_once_and_nothing_unsigned(tmp_path: Path) -> None:
    body = b'{"id": "evt_1034", "paid": 1999}'
    signed = hmac.new(b"a secret", body, hashlib.sha256).hexdigest()
    environment = {"WEBHOOK_SECRET": "a secret", "WEBHOOK_LEDGER": str(tmp_path / "webhook.kl")}
    fields = {"Idempotency-Key": '"evt_1034"', "Content-Type": "application/json", "Signature": signed}
    with gunicorn("flask_webhook:app", tmp_path, **environment) as receiver:
        answers = at_the_same_time(8, lambda: receiver.post("/events", content=body, headers=fields))
        taken = [answer for answer in answers if answer.status_code == 200]
        assert {answer.text for answer in taken} == {'{"taken":true}'}
        assert {answer.status_code for answer in answers} <= {200, 409}
        forged = receiver.post("/events", content=body, headers={**fields, "Signature": "forged"})
        assert forged.status_code == 401
    with gunicorn("flask_webhook:app", tmp_path, **environment) as receiver:
        again = receiver.post("/events", content=body, headers=fields)
        assert (again.text, again.headers["Idempotent-Replayed"]) == ('{"taken":true}', "true")
        assert receiver.get("/events").json() == [{"id": "evt_1034", "paid": 1999}]


def test_the_view_books_one_seat(tmp_path: Path) -> None:
    fields = {"User": "ada", "Idempotency-Key": '"booking-7"'}
    with gunicorn("django_view:application", tmp_path, SEATS_FOLDER=str(tmp_path)) as seats:

        def book(seat: str) -> httpx.Response:
            return seats.post("/bookings", data={"seat": seat}, headers=fields)

        first, again, other = book("12A"), book("12A"), book("14C")
        assert (first.status_code, again.status_code, other.status_code) == (201, 201, 422)
        assert again.content == first.content
        assert (tmp_path / "airline.log").read_text() == f"12A {first.json()['booked_under']}\n"
