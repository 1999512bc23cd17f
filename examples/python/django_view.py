"""One view of Django's: a form that is sent twice books one seat.

    pip install 'keyledger[django]' gunicorn
    gunicorn --workers 4 --chdir examples/python django_view:application

    curl -i -H 'User: ada' -H 'Idempotency-Key: "booking-7"' -d seat=12A http://127.0.0.1:8000/bookings

Send it again: `airline.log` has one line. It is all of a project in one file.
"""

from __future__ import annotations

import os
from pathlib import Path

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import path

import keyledger
from keyledger.django import Route, idempotent

settings.configure(
    ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY=os.environ.get("DJANGO_SECRET_KEY", "only for this example")
)
django.setup()

FOLDER = Path(os.environ.get("SEATS_FOLDER", "."))
ledger = keyledger.open(FOLDER / "seats.kl", shared=True)


def ask_the_airline(key: str, seat: str) -> None:
    """The airline. It knows bookings by their keys."""
    with (FOLDER / "airline.log").open("a") as log:
        log.write(f"{seat} {key}\n")


def scope(request: HttpRequest) -> str | None:
    """Whose key it is. With accounts: `str(request.user.pk) if request.user.is_authenticated else None`."""
    return request.headers.get("User")


@idempotent(ledger=ledger, route=Route.required("repeatable"), scope=scope)
def book(request: HttpRequest) -> JsonResponse:
    """Runs once for each key."""
    key = keyledger.current_claim().derive_key("seat")
    ask_the_airline(key, request.POST["seat"])
    return JsonResponse({"seat": request.POST["seat"], "booked_under": key}, status=201)


urlpatterns = [path("bookings", book)]
application = get_wsgi_application()
