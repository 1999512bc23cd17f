"""What a scenario runs in: a ledger, its clock, and the claims and fences that have names."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keyledger
from keyledger import Claim, KeyId, Ledger, Operation
from keyledger.testing import ManualClock

from .compare import Names
from .mail import Mail
from .values import operation_name, to_key, to_operation, to_scope

# Where the wall clock stands when a scenario starts: far enough from zero for it to go back.
START_MS = 1_000_000_000_000


@dataclass
class Held:
    """What a scenario knows by the name of a claim. The object is used up by settling."""

    key_id: KeyId
    op: str
    claim: Claim | None


def _settings_of_outbox(loaded: dict[str, Any], scenario: dict[str, Any]) -> dict[str, Any] | None:
    said = [of["outbox"] for of in (loaded, scenario) if "outbox" in of]
    return {name: value for settings in said for name, value in settings.items()} if said else None


class World:
    """One scenario's."""

    def __init__(self, loaded: dict[str, Any], scenario: dict[str, Any], folder: Path | None) -> None:
        self.clock = ManualClock(START_MS)
        self.folder = folder
        self.copy = 0
        self.options = scenario.get("options", {})
        self.operations = {**loaded["operations"], **scenario.get("operations", {})}
        self.claims: dict[str, Held] = {}
        self.names = Names()
        # Claims that no step names: kept, because dropping one ends its lease (S2).
        self.unnamed: list[Claim] = []
        # Whether the closure or handler of the step under way has run.
        self.ran = False
        self.mail = Mail(
            {**loaded.get("outbox", {}), **scenario["outbox"]} if "outbox" in scenario else loaded.get("outbox")
        )
        self.ledger = self._open()
        self.mail.open(self.ledger)

    @property
    def path(self) -> Path | None:
        return None if self.folder is None else self.folder / f"ledger-{self.copy}.kl"

    def _open(self) -> Ledger:
        if self.path is None:
            return keyledger.in_memory(clock=self.clock, **self.options)
        return keyledger.open(self.path, clock=self.clock, **self.options)

    def restart(self) -> None:
        """A new process on the same file, after the old one has closed it."""
        self.ledger.close()
        self.ledger = self._open()
        self.mail.open(self.ledger)

    def kill(self) -> None:
        """A new process on what the old one has left, which had no time to close."""
        before = self.path
        self.copy += 1
        assert before is not None
        assert self.path is not None
        shutil.copyfile(before, self.path)
        self.ledger.close()
        self.ledger = self._open()
        self.mail.open(self.ledger)

    def file_bytes(self) -> bytes | None:
        return None if self.path is None else self.path.read_bytes()

    def operation(self, alias: str) -> Operation:
        return to_operation(self.operations[alias], alias)

    def operation_name(self, alias: str) -> str:
        return operation_name(self.operations[alias], alias)

    def key_id(self, step: dict[str, Any]) -> KeyId:
        return KeyId(to_scope(step.get("scope")), self.operation_name(step["op"]), to_key(step.get("key")))

    def keep(self, name: str | None, op: str, claim: Claim) -> None:
        if name is None:
            self.unnamed.append(claim)
            return
        self.names.fences[name] = claim.fence
        self.claims[name] = Held(claim.key_id, op, claim)

    def claim(self, name: str) -> Claim:
        claim = self.claims[name].claim
        assert claim is not None, f"the claim {name} is used up"
        return claim

    def end(self) -> None:
        for held in self.claims.values():
            held.claim = None
        self.unnamed.clear()
        self.ledger.close()
