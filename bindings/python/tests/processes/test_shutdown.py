"""A script that ends with things open: it ends at once, with its own exit code, and what it has stored is there."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

import keyledger
from keyledger import Fingerprint, Operation

from .scripts import Started, ended

OPEN = {
    "a ledger and a claim": "decision = ledger.begin(CHARGE, 's', 'open', UNCHECKED)",
    "a block that was entered": "block = ledger.claim(CHARGE, 's', 'open', UNCHECKED); block.__enter__()",
    "a janitor": "janitor = keyledger.Janitor(ledger, interval=0.001, recover=[(CHARGE, lambda claim: claim.release())])",
    "an outbox that sends": """
outbox = ledger.outbox()
driver = outbox.driver("s", ScriptedTransport()).start()
for number in range(20):
    outbox.enqueue("s", "mail", b"x")
""",
    "an outbox that is stuck": """
outbox = ledger.outbox(lease=0.5)
outbox.enqueue("s", "mail", b"x")
driver = outbox.driver("s", lambda delivery: time.sleep(60)).start()
time.sleep(0.05)
""",
    "a daemon that commits": """
def commit():
    for number in range(10**9):
        ledger.begin(CHARGE, "daemon", str(number), UNCHECKED).claim.complete("done")
threading.Thread(target=commit, daemon=True).start()
time.sleep(0.05)
""",
    "a daemon that waits": """
held = ledger.begin(CHARGE, "s", "held", UNCHECKED)
wait = lambda: ledger.begin(CHARGE, "s", "held", UNCHECKED, wait=60)
threading.Thread(target=wait, daemon=True).start()
time.sleep(0.05)
""",
    "a loop that is left": """
held = ledger.begin(CHARGE, "s", "held", UNCHECKED)
loop = asyncio.new_event_loop()
async def wait():
    return await ledger.begin_async(CHARGE, "s", "held", UNCHECKED, wait=60)
task = loop.create_task(wait())
loop.run_until_complete(asyncio.sleep(0.05))
""",
    "a loop on a daemon": """
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()
async def commit():
    for number in range(10**9):
        decision = await ledger.begin_async(CHARGE, "loop", str(number), UNCHECKED)
        await decision.claim.complete_async("done")
future = asyncio.run_coroutine_threadsafe(commit(), loop)
time.sleep(0.05)
""",
    "a decorated call on a daemon": """
@ledger.idempotent(operation="slow", effect="at_most_once", scope=keyledger.SINGLE, key="key", lease=0.05)
def slow(key):
    time.sleep(60)
threading.Thread(target=slow, args=("1",), daemon=True).start()
time.sleep(0.1)
""",
    "a cycle that nobody can see": """
class Holder: pass
holder = Holder()
holder.itself, holder.ledger = holder, ledger
holder.claim = ledger.begin(CHARGE, "s", "open", UNCHECKED)
holder.janitor = keyledger.Janitor(ledger, interval=0.001)
del holder
""",
}

LEAVES_A_TASK = ("a loop that is left", "a loop on a daemon")
TOLD_BY_ASYNCIO = ("Task was destroyed but it is pending!", "task: <Task pending ")
"""Of a task that was left, as of any."""

WITH_OPEN = """
import asyncio, sys, threading, time
import keyledger
from keyledger import Fingerprint, Operation
from keyledger.testing import ScriptedTransport

CHARGE, UNCHECKED = Operation("charge", "repeatable"), Fingerprint.unchecked()
ledger = keyledger.open(sys.argv[1], shared=sys.argv[2] == "shared")
decision = ledger.begin(CHARGE, "s", "stored", UNCHECKED)
decision.claim.complete("stored")
{open}
print("ends", flush=True)
{ends}
"""

ENDS = {"its last line": ("", 0), "sys.exit": ("sys.exit(3)", 3), "an error": ("raise ValueError('the end')", 1)}


def looked_at(file: Path) -> tuple[str, list[str]]:
    """What became of the claim that was completed, and what is wrong with the file."""
    with keyledger.open(file) as ledger:
        stored = ledger.begin(Operation("charge", "repeatable"), "s", "stored", Fingerprint.unchecked())
        return stored.KIND, ledger.check().faults


@pytest.mark.parametrize("what", OPEN)
@pytest.mark.parametrize("end", ENDS)
def test_p7_a_script_that_ends_with_this_open_ends_well(what: str, end: str, tmp_path: Path) -> None:
    line, code = ENDS[end]
    file = tmp_path / "left.kl"
    script = ended(WITH_OPEN.format(open=OPEN[what], ends=line), file, "exclusive", seconds=20)
    words = script.stderr.splitlines()
    assert (script.returncode, script.stdout) == (code, "ends\n"), script.stderr
    complaints = [word for word in words if "panicked" in word or "Fatal" in word or "Exception ignored" in word]
    assert complaints == [], script.stderr
    if end != "an error":
        assert [word for word in words if what not in LEAVES_A_TASK or not word.startswith(TOLD_BY_ASYNCIO)] == []
    assert looked_at(file) == ("replay", [])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_p7_a_signal_ends_a_script_with_everything_open(number: int, tmp_path: Path) -> None:
    file = tmp_path / "left.kl"
    everything = "\n".join(OPEN[name] for name in ("a janitor", "an outbox that sends", "a daemon that commits"))
    with Started(WITH_OPEN.format(open=everything, ends="signal = time.sleep(60)"), file, "exclusive") as script:
        assert script.says() == "ends"
        script.send(number)
        assert script.wait(20) in (-number, 1, 130)
    assert looked_at(file) == ("replay", [])
