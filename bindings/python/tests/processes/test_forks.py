"""P3: a forked child never touches its parent's handle, whatever runs in the parent when it forks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .scripts import told

MODES = ["exclusive", "shared"]

BUSY = """
import json, os, sys, threading
from processes.busy import Busy, in_child, reap

busy = Busy(sys.argv[1], shared=sys.argv[2] == "shared")
told = {"children": [], "ends": []}


def fork(number):
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.write(write, json.dumps(in_child(busy, number)).encode())
        os.close(write)
        if sys.argv[3] == "finalized":
            # As a script that runs to its end: every object goes, in whatever order.
            return True
        os._exit(0)
    os.close(write)
    told["ends"].append(reap(child))
    with open(read, "rb") as pipe:
        told["children"].append(json.loads(pipe.read() or b"null"))
    return False


is_child = fork(0)
if not is_child and sys.argv[3] == "left":
    # From a thread, too: os.fork takes that thread alone along.
    thread = threading.Thread(target=fork, args=(1,))
    thread.start()
    thread.join()
if not is_child:
    print(json.dumps({**told, **busy.end()}))
"""

FORKED = {
    "begin": "forked",
    "begin of what waits": "forked",
    "begin_async": "forked",
    "stats": "forked",
    "rows": "forked",
    "enqueue": "forked",
    "complete": "forked",
    "heartbeat": "forked",
    "tick": "forked",
}


@pytest.mark.parametrize("way", ["left", "finalized"])
@pytest.mark.parametrize("mode", MODES)
def test_p3_a_fork_in_the_middle_of_everything(mode: str, way: str, tmp_path: Path) -> None:
    """The janitor, the outbox's driver, an event loop with a waiter, and heartbeats go on in the parent, and are not in the child."""
    ended: dict[str, Any] = told(BUSY, tmp_path / "busy.kl", mode, way)
    assert set(ended["ends"]) == {0}
    for child in ended["children"]:
        assert (child["janitor"], child["driver"]) == ("done", "forked")
        if mode == "exclusive":
            assert {name: child[name] for name in FORKED} == FORKED
        else:
            assert (child["begin"], child["begin_async"], child["begin of what waits"]) == (
                "acquired",
                "acquired",
                "in_progress",
            )
            assert (child["stats"], child["rows"], child["enqueue"]) == ("done", "done", "done")
    assert (ended["entry"], ended["waiter"], ended["sent"], ended["faults"]) == ("", "replay", 1, [])


HAMMERED = """
import json, os, sys, threading
import keyledger
from processes.busy import CHARGE, UNCHECKED, committing, reap, tries

ledger = keyledger.open(sys.argv[1], shared=sys.argv[2] == "shared")
codes = []


def forks():
    for number in range(10):
        if (child := os.fork()) == 0:
            told = tries(lambda: ledger.begin(CHARGE, "child", str(os.getpid()), UNCHECKED))
            os._exit({"forked": 10, "acquired": 11}.get(told, 12))
        codes.append(reap(child))


with committing(ledger):
    forks()
    thread = threading.Thread(target=forks)
    thread.start()
    thread.join()
print(json.dumps({"codes": codes, "faults": ledger.check().faults}))
ledger.close()
"""


@pytest.mark.parametrize(("mode", "code"), [("exclusive", 10), ("shared", 11)])
def test_p3_a_fork_while_others_commit_leaves_no_lock_behind(mode: str, code: int, tmp_path: Path) -> None:
    ended = told(HAMMERED, tmp_path / "hammered.kl", mode)
    assert ended == {"codes": [code] * 20, "faults": []}


SILENT = """
import gc, json, os, subprocess, sys
import keyledger
from processes.busy import CHARGE, UNCHECKED, reap

path, mode = sys.argv[1:]
shared = mode == "shared"
ledger = keyledger.open(path, shared=shared)
decision = ledger.begin(CHARGE, "s", "held", UNCHECKED)
claim, fence = decision.claim, decision.claim.fence
with open(path, "rb") as file:
    before = file.read()
if (child := os.fork()) == 0:
    if os.environ["CHILD"] == "drops":
        del decision, claim, ledger
        gc.collect()
    sys.exit(7)
ends = reap(child)
with open(path, "rb") as file:
    unchanged = file.read() == before
second = [sys.executable, "-c", "import sys, keyledger\\nfrom processes.busy import tries\\n"
          "print(tries(lambda: keyledger.open(sys.argv[1], shared=sys.argv[2] == 'shared')))"]
held = ledger.begin(CHARGE, "s", "held", UNCHECKED).KIND
locked = subprocess.run([*second, path, mode], capture_output=True, text=True, check=True).stdout.strip()
claim.complete("mine")
again = ledger.begin(CHARGE, "s", "held", UNCHECKED)
print(json.dumps([ends, unchanged, held, locked, again.KIND, ledger.check().faults]))
"""


@pytest.mark.parametrize("child", ["ends", "drops"])
@pytest.mark.parametrize(("mode", "second"), [("exclusive", "already_open"), ("shared", "done")])
def test_p3_a_child_that_ends_without_a_word_loses_and_changes_nothing(
    mode: str, second: str, child: str, tmp_path: Path
) -> None:
    """Neither the file nor its lock, nor the claim that the parent holds."""
    ended = told(SILENT, tmp_path / "silent.kl", mode, CHILD=child)
    assert ended == [7, True, "in_progress", second, "replay", []]


OUTLIVED = """
import json, os, signal, sys
import keyledger
from processes.busy import CHARGE, UNCHECKED, reap

ledger = keyledger.open(sys.argv[1], shared=sys.argv[2] == "shared")
if (child := os.fork()) == 0:
    signal.pause()
ledger.close()
with keyledger.open(sys.argv[1]) as again:
    told = again.begin(CHARGE, "s", "1", UNCHECKED).KIND
os.kill(child, signal.SIGTERM)
print(json.dumps([told, reap(child)]))
"""


@pytest.mark.parametrize("mode", MODES)
def test_p3_a_child_that_lives_on_does_not_keep_the_file_locked(mode: str, tmp_path: Path) -> None:
    assert told(OUTLIVED, tmp_path / "outlived.kl", mode) == ["acquired", -15]
