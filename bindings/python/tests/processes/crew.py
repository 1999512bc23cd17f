"""A program that shares its work among processes of `multiprocessing`, and tells as JSON what each of them was answered."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from pathlib import Path
from typing import Any

import keyledger
from keyledger import Fingerprint, Ledger, Operation

CHARGE = Operation("charge", "repeatable")
UNCHECKED = Fingerprint.unchecked()

opened: dict[int, Ledger] = {}
"""The ledger that each process has opened, by its id; a forked child finds its parent's as well."""


def here() -> Ledger:
    """This process's own."""
    return opened[os.getpid()]


def inherited() -> Ledger:
    """The parent's, which a fork has brought along."""
    return next(iter(opened.values()))


def begin(ledger: Ledger, key: str) -> str:
    return ledger.begin(CHARGE, "s", key, UNCHECKED).KIND


def by_inherited(_: object) -> list[str]:
    """What the parent's handle says here: of a key that the parent holds, of one that it has completed, and of a new one."""
    return [begin(inherited(), key) for key in ("held", "done", f"new {os.getpid()}")]


def by_own(path: str, shared: bool) -> list[str]:
    """What a handle says that is opened here."""
    with keyledger.open(path, shared=shared) as ledger:
        return [begin(ledger, key) for key in ("held", "done", f"own {os.getpid()}")]


@keyledger.idempotent(
    ledger=here, operation="number", effect="repeatable", scope=keyledger.SINGLE, key="order", wait=20
)
def number(order: str) -> int:
    """The process that runs it."""
    with log.open("a") as lines:
        lines.write(f"{order}\n")
    return os.getpid()


log = Path(os.environ.get("CREW_LOG", os.devnull))


def start(path: str) -> None:
    """What each worker does first: opens the ledger, after forking."""
    opened[os.getpid()] = keyledger.open(path, shared=True)


def asked(pool: Any, function: Any, *arguments: Any) -> Any:
    """What a worker answers; an error comes back as its class has it."""
    try:
        return pool.apply(function, arguments)
    except keyledger.KeyledgerError as error:
        return [type(error).__name__, error.code, str(error)]


def main(method: str, path: str, shared: bool) -> dict[str, Any]:
    context: Any = multiprocessing.get_context(method)
    opened[os.getpid()] = ledger = keyledger.open(path, shared=shared)
    held = ledger.begin(CHARGE, "s", "held", UNCHECKED)
    done = ledger.begin(CHARGE, "s", "done", UNCHECKED)
    assert isinstance(held, keyledger.Acquired)
    assert isinstance(done, keyledger.Acquired)
    done.claim.complete("done")
    answers: dict[str, Any] = {}
    with context.Pool(1) as pool:
        answers["own"] = asked(pool, by_own, path, shared)
        if method == "fork":
            answers["inherited"] = asked(pool, by_inherited, None)
        try:
            pool.apply(begin, (ledger, "sent"))
        except TypeError as error:
            answers["sent"] = str(error)
    held.claim.complete("held")
    answers["parent"] = [begin(ledger, key) for key in ("held", "done", "new")]
    if shared:
        with context.Pool(3, start, (path,)) as pool:
            answers["numbers"] = pool.map(number, [str(turn % 5) for turn in range(40)], chunksize=1)
    answers["faults"] = ledger.check().faults
    ledger.close()
    return answers


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], sys.argv[3] == "shared")))
