"""What a transport raises is a bug, and its author hears of it (O14: the file keeps the type alone)."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Any

import pytest
from stage import outbox_of

from keyledger import Delivery, DeliveryOutcome, Entry, Outbox, transports


def one(outbox: Outbox) -> Entry:
    return outbox.enqueue("user", "charge", "a").entry


def wrong(_delivery: Delivery) -> DeliveryOutcome:
    raise ValueError("my bug")


def kept(outbox: Outbox, entry: Entry) -> list[str]:
    found = outbox.get(entry)
    assert found is not None
    return [error.error for error in found.errors]


def test_o14_what_a_transport_raises_is_logged_with_its_words_and_kept_without(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outbox = outbox_of(backoff=(60, 60, 1))
    entry = one(outbox)
    outbox.drain("user", wrong)
    assert [(record.name, record.levelno) for record in caplog.records] == [("keyledger", logging.ERROR)]
    assert "ValueError: my bug" in caplog.text
    assert f"entry {entry.id} ('charge')" in caplog.text
    assert kept(outbox, entry) == ["the transport raised ValueError"]


def test_o5_on_error_is_given_it_instead_and_what_is_no_outcome_too(caplog: pytest.LogCaptureFixture) -> None:
    outbox, told = outbox_of(backoff=(60, 60, 1)), []
    entry = one(outbox)

    async def forgetful(_delivery: Delivery) -> None:
        """Returns nothing."""

    asyncio.run(outbox.drain_async("user", forgetful, on_error=told.append))  # type: ignore[arg-type]
    assert [str(error) for error in told] == ["the transport returned a NoneType, not a keyledger.DeliveryOutcome"]
    assert kept(outbox, entry) == ["the transport raised TypeError"]
    assert caplog.records == []


def test_what_on_error_raises_itself_goes_to_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    outbox, seen = outbox_of(backoff=(60, 60, 1)), []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)

    def careless(_error: Exception) -> None:
        raise KeyError("careless")

    entry = one(outbox)
    outbox.drain("user", wrong, on_error=careless)
    assert [type(one.exc_value) for one in seen] == [KeyError]
    assert kept(outbox, entry) == ["the transport raised ValueError"]


def test_transports_are_found_in_their_package_and_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert transports.HttpxTransport.__module__ == "keyledger.transports.httpx"
    assert transports.RequestsTransport.__module__ == "keyledger.transports.requests"
    monkeypatch.setitem(sys.modules, "keyledger.transports.httpx", None)
    with pytest.raises(ImportError, match=r'AsyncHttpxTransport needs .*pip install "keyledger\[httpx\]"'):
        _ = transports.AsyncHttpxTransport
    with pytest.raises(AttributeError, match="no attribute 'Carrier'"):
        _ = transports.Carrier


@pytest.mark.parametrize(("setting", "value"), [("backoff", 3), ("retry_budget", 100), ("bounds", [1, 2])])
def test_a_setting_of_several_values_says_which(setting: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"{setting} is a tuple of "):
        outbox_of(**{setting: value})
