"""One view of Django's: a form that is sent twice books one seat.

    pip install 'keyledger[django]'
    python examples/python/django_view.py

All of a project in one file. It asks itself, and ends. To serve it:
`gunicorn --chdir examples/python django_view:application`.
"""

from __future__ import annotations

import os
import tempfile

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, JsonResponse
from django.test import Client
from django.urls import path

import keyledger
from keyledger.django import Route, idempotent

settings.configure(
    ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY=os.environ.get("DJANGO_SECRET_KEY", "only for this example")
)
django.setup()

FILE = os.environ.get("SEATS_LEDGER") or os.path.join(tempfile.mkdtemp(), "seats.kl")
ledger = keyledger.open(FILE, shared=True)


def scope(request: HttpRequest) -> str | None:
    """Whose key it is. With accounts: `str(request.user.pk) if request.user.is_authenticated else None`."""
    return request.headers.get("User")


@idempotent(ledger=ledger, route=Route.required("repeatable"), scope=scope)
def book(request: HttpRequest) -> JsonResponse:
    """Runs once for each key."""
    airline_key = keyledger.current_claim().derive_key("seat")
    return JsonResponse({"seat": request.POST["seat"], "booked_under": airline_key}, status=201)


urlpatterns = [path("bookings", book)]
application = get_wsgi_application()


def main() -> None:
    """Sends one form twice, and another under the same key."""
    client = Client(headers={"User": "ada", "Idempotency-Key": '"booking-7"'})
    for seat in ("12A", "12A", "14C"):
        answer = client.post("/bookings", f"seat={seat}", content_type="application/x-www-form-urlencoded")
        print(f"{seat}: {answer.status_code}, replayed: {answer.headers.get('Idempotent-Replayed', 'false')}")


if __name__ == "__main__":
    main()
