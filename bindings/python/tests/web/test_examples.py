"""The examples of HTTP, each as its first lines say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[4] / "examples" / "python"


def lines_of(name: str) -> list[str]:
    run = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_the_shop_charges_once_and_refuses_another_order_under_the_key() -> None:
    first, again, other = lines_of("fastapi_shop.py")
    assert first.startswith("1999 cents: 201, replayed: false")
    assert again == first.replace("false", "true", 1)
    assert other.startswith("2999 cents: 422, replayed: false")


def test_the_receiver_takes_an_event_once_and_nothing_unsigned() -> None:
    first, again, forged = lines_of("flask_webhook.py")
    assert first == '200, replayed: false, {"taken": true}'
    assert again == '200, replayed: true, {"taken": true}'
    assert forged.startswith("401, replayed: false")


def test_the_view_books_one_seat() -> None:
    assert lines_of("django_view.py") == [
        "12A: 201, replayed: false",
        "12A: 201, replayed: true",
        "14C: 422, replayed: false",
    ]
