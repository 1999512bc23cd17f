"""Everything public says what it is, and what is shown in a docstring runs."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from shown import ran_without_error, shown_in
from stubs import STUBS, stubs

import keyledger
import keyledger.transports
from keyledger.transports._http import Settings

MODULES = (
    "keyledger",
    "keyledger.errors",
    "keyledger.http",
    "keyledger.asgi",
    "keyledger.wsgi",
    "keyledger.fastapi",
    "keyledger.django",
    "keyledger.celery",
    "keyledger.testing",
    "keyledger.transports",
    "keyledger.transports.httpx",
    "keyledger.transports.requests",
)
WITH_AN_EXAMPLE = (
    "keyledger.Batch",
    "keyledger.Claim",
    "keyledger.DeliveryOutcome",
    "keyledger.Enqueue",
    "keyledger.Fingerprint",
    "keyledger.HttpRequest",
    "keyledger.Janitor",
    "keyledger.Lane",
    "keyledger.Operation",
    "keyledger.Response",
    "keyledger.Transaction",
    "keyledger.derive_key",
    "keyledger.http.Answer",
    "keyledger.testing.ManualClock",
    "keyledger.ClaimBlock",
    "keyledger.Codec",
    "keyledger.JsonCodec",
    "keyledger.Ledger",
    "keyledger.Outbox",
    "keyledger.current_claim",
    "keyledger.fingerprint",
    "keyledger.idempotent",
    "(decorated).key_id",
    "(decorated).recover",
    "(decorated).recover_async",
    "(decorated).resolve",
    "(decorated).resolve_async",
    "keyledger.in_memory",
    "keyledger.open",
    "keyledger.stored_body",
    "keyledger.Ledger.claim",
    "keyledger.Ledger.idempotent",
    "keyledger.Ledger.outbox",
    "keyledger.Ledger.run",
    "keyledger.Ledger.run_async",
    "keyledger.Outbox.changes_of",
    "keyledger.Outbox.drain",
    "keyledger.Outbox.drain_async",
    "keyledger.Outbox.driver",
    "keyledger.Outbox.enqueue",
    "keyledger.Outbox.enqueue_async",
    "keyledger.Transport",
    "keyledger.AsyncTransport",
    "keyledger.asgi",
    "keyledger.celery",
    "keyledger.django",
    "keyledger.fastapi",
    "keyledger.wsgi",
    "keyledger.testing.ScriptedTransport",
    "keyledger.testing.TransportServer",
    "keyledger.testing.check_transport",
    "keyledger.transports.httpx",
    "keyledger.transports.requests",
)
"""What a caller writes, and not what he is given."""


def public() -> dict[str, Any]:
    """Everything that somebody can import, and its public members, by name."""
    found: dict[str, Any] = {}
    for module in map(import_module, MODULES):
        found[module.__name__] = module
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                found[f"{module.__name__}.{name}"] = value
                found.update((f"{module.__name__}.{name}.{member}", own) for member, own in members(value))
    found.update((f"(decorated).{name}", value) for name, value in of_a_decorated_function())
    return found


def of_a_decorated_function() -> Iterator[tuple[str, Any]]:
    @keyledger.in_memory().idempotent(operation="x", effect="repeatable", scope="key", key="key")
    def plain(key: str) -> None: ...

    for name, value in vars(plain).items():
        if callable(value) and not name.startswith("_"):
            yield name, value


def members(of: Any) -> Iterator[tuple[str, Any]]:
    own = vars(of) if inspect.isclass(of) and of.__module__.startswith("keyledger") else {}
    for name, value in own.items():
        plain = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        is_told = callable(plain) or inspect.isdatadescriptor(plain) or inspect.ismethoddescriptor(plain)
        if is_told and not name.startswith("_") and not isinstance(plain, (type, types.MemberDescriptorType)):
            yield name, plain


PUBLIC = public()


def test_every_public_name_says_what_it_is() -> None:
    assert len(PUBLIC) > 500
    assert [name for name, value in PUBLIC.items() if not inspect.getdoc(value)] == []


def test_what_editors_show_of_the_native_half_is_what_help_tells() -> None:
    all_of_them = list(stubs(STUBS.read_text()))
    assert len(all_of_them) > 300
    assert [stub.name for stub in all_of_them if not stub.is_as_wanted] == [], "run tests/docs/stubs.py"
    assert [stub.name for stub in all_of_them if not stub.wanted] == []


def test_what_a_caller_writes_has_an_example() -> None:
    assert [name for name in WITH_AN_EXAMPLE if not shown_in(PUBLIC[name])] == []


SHOWN = {name: shown_in(value) for name, value in PUBLIC.items() if shown_in(value)}


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_runs(name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran_without_error(name, SHOWN[name])


def test_an_example_that_is_wrong_is_found() -> None:
    with pytest.raises(NameError):
        ran_without_error("keyledger.open", "nobody_has_told_of_this()")
    with pytest.raises(AssertionError):
        ran_without_error("keyledger.open", "assert keyledger.open is None")


def test_dir_tells_what_is_exported_and_each_is_told_by_one_name() -> None:
    told = [name for name in dir(keyledger) if not name.startswith("__")]
    assert told == sorted(keyledger.__all__)
    assert len(set(told)) == len(told)
    for name in told:
        value = getattr(keyledger, name)
        if inspect.isclass(value):
            assert value.__module__ in ("keyledger", "keyledger.errors"), name
            assert value.__qualname__ == name


@pytest.mark.parametrize("name", ["HttpxTransport", "AsyncHttpxTransport", "RequestsTransport"])
def test_help_on_a_transport_tells_each_of_its_settings(name: str) -> None:
    told = inspect.getdoc(getattr(keyledger.transports, name).__init__) or ""
    settings = {"authorize", *Settings.__optional_keys__}
    assert {setting for setting in settings if f"`{setting}" not in told} == set()
    assert "goes out with every scope's requests" in " ".join(told.split())
