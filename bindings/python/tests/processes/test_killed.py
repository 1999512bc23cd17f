"""A script that is killed in the middle of its handlers, and run again: what `begin` says then goes by the effect (section 4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .forms import EFFECTS, FORMS
from .scripts import Started, told

HANDLERS = """
import sys, threading
import keyledger
from keyledger import Operation
from processes.forms import EFFECTS, FORMS, do

ledger = keyledger.open(sys.argv[1])
never, said = threading.Event(), threading.Lock()


def handler(claim):
    with said:
        print(claim.key_id.operation + " " + claim.key_id.key, claim.derive_key("bank"), sep="=", flush=True)
    never.wait()


for effect in EFFECTS:
    for form in FORMS:
        operation = Operation(effect, effect, lease=3)
        threading.Thread(target=do, args=(form, ledger, operation, form, handler)).start()
"""

AGAIN = """
import json, sys, time
import keyledger
from keyledger import Acquired, Operation
from processes.forms import EFFECTS, FORMS, UNCHECKED, stands

told = {}
with keyledger.open(sys.argv[1]) as ledger:
    operations = {effect: Operation(effect, effect, lease=3) for effect in EFFECTS}
    at_once = {effect: [stands(ledger, operations[effect], form) for form in FORMS] for effect in EFFECTS}
    later, keys = {effect: [] for effect in EFFECTS}, {}
    for effect in EFFECTS:
        for form in FORMS:
            decision = ledger.begin(operations[effect], "s", form, UNCHECKED, wait=10)
            if isinstance(decision, Acquired):
                keys[f"{effect} {form}"] = decision.claim.derive_key("bank")
                later[effect].append(f"acquired, attempt {decision.claim.attempt}")
                decision.claim.complete("done")
            else:
                later[effect].append(f"{decision.KIND}: {getattr(decision, 'reason', '')}")
print(json.dumps([at_once, later, keys]))
"""


def test_a_killed_script_that_is_run_again_is_told_by_the_effect(tmp_path: Path) -> None:
    """InLedger: nothing was stored, so it never began. Repeatable: again, with the same derived keys. AtMostOnce: parked."""
    file = tmp_path / "killed.kl"
    with Started(HANDLERS, file) as script:
        keys = dict(script.says().split("=") for _ in range(len(EFFECTS) * len(FORMS)))
        script.kill()
    at_once, later, again = told(AGAIN, file)
    many = len(FORMS)
    assert at_once["in_ledger"] == ["acquired, attempt 1"] * many
    # Their leases are on disk, and nobody knows yet that the owner is gone.
    assert at_once["repeatable"] == at_once["at_most_once"] == ["in_progress"] * many
    assert later["repeatable"] == ["acquired, attempt 2"] * many
    assert later["at_most_once"] == ["parked: owner lost"] * many
    assert again == {name: key for name, key in keys.items() if not name.startswith("at_most_once")}


INVOICES = """
import os, sys
from pathlib import Path
import keyledger

ledger, sent = keyledger.open(sys.argv[1]), Path(sys.argv[2])


@ledger.idempotent(operation="invoice", effect="repeatable", scope=keyledger.SINGLE, key="number", lease=1, wait=5)
def invoice(number: int) -> int:
    key = keyledger.current_claim().derive_key("mailer")
    with sent.open("a") as log:
        log.write(f"{number} {key}\\n")
    if number == int(sys.argv[3]):
        print("half way", flush=True)
        input()
    return number


print([invoice(number) for number in range(8)], flush=True)
ledger.close()
"""


def test_invoices_that_were_interrupted_twice_are_all_sent_once_to_who_deduplicates(tmp_path: Path) -> None:
    words: list[Any] = [tmp_path / "invoices.kl", tmp_path / "sent"]
    for number in (2, 5):
        with Started(INVOICES, *words, number) as script:
            assert script.says() == "half way"
            script.kill()
    with Started(INVOICES, *words, -1) as script:
        assert json.loads(script.says()) == list(range(8))
        assert script.wait() == 0
    lines = (tmp_path / "sent").read_text().split("\n")[:-1]
    # Those in which it was killed came twice, under one key.
    assert [line.split()[0] for line in lines] == ["0", "1", "2", "2", "3", "4", "5", "5", "6", "7"]
    assert len(set(lines)) == 8
