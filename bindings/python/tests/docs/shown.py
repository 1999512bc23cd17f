"""Examples in docstrings: where they are, and what is there for them already."""

from __future__ import annotations

import asyncio
import inspect
import re
import textwrap
from types import ModuleType
from typing import Any

import httpx

import keyledger
import keyledger.http
import keyledger.testing
from keyledger.testing import ScriptedTransport, TransportServer

EXAMPLE = re.compile(r"^Example:\n\n?(?P<code>(?:(?: {4}.*)?\n)+)", re.MULTILINE)


class Bank:
    """Whom examples charge."""

    def charge(self, cents: int, *, idempotency_key: str) -> dict[str, int]:
        assert idempotency_key
        return {"charged": cents}


def shown_in(value: Any) -> str:
    """The example in a docstring, or nothing."""
    own = value.__doc__ if inspect.ismodule(value) else inspect.getdoc(value)
    return "\n".join(textwrap.dedent(found["code"]) for found in EXAMPLE.finditer(f"{own or ''}\n"))


def ran_without_error(name: str, code: str) -> None:
    """Runs an example, with what is there in a program that somebody would write it into."""
    with keyledger.in_memory() as ledger, TransportServer() as server:
        module = ModuleType("example")
        module.__dict__.update({exported: getattr(keyledger, exported) for exported in keyledger.__all__})
        module.__dict__.update(
            keyledger=keyledger,
            asyncio=asyncio,
            httpx=httpx,
            app=lambda *_: None,
            bank=Bank(),
            current_user=lambda: "user-7",
            fingerprint=keyledger.fingerprint({"cents": 990}),
            ledger=ledger,
            outbox=ledger.outbox(backoff=(0.01, 0.1, 2)),
            request=b"990 cents",
            tokens={"user-7": "a token"},
            transport=ScriptedTransport(),
            url=server.url,
            Answer=keyledger.http.Answer,
            Route=keyledger.http.Route,
            CHARGE=keyledger.Operation("charge", "repeatable"),
        )
        exec(compile(code, f"the example of {name}", "exec"), module.__dict__)
