"""What the interpreter's last garbage collection calls when no other thread runs any more: it ends, and so does the process (P7)."""

from __future__ import annotations

import pytest

from .scripts import ended

BEGINNING = """
import keyledger
ledger = keyledger.in_memory()
X, UNCHECKED = keyledger.Operation("x", "repeatable"), keyledger.Fingerprint.unchecked()

@ledger.idempotent(operation="flush", effect="repeatable", scope=keyledger.SINGLE, key="key")
def flush(key):
    print("flushed", key, flush=True)

def work(key="1"):
    with ledger.claim(X, "s", key, UNCHECKED):
        yield
"""

FIRST_TO_FLUSH = """
class Client:
    def __del__(self):
        flush("last")
client = Client()
"""

LEFT = {
    "a block in a suspended generator": ("left = work(); next(left)", ""),
    "the same with the ledger closed": ("left = work(); next(left); ledger.close()", ""),
    "many blocks": ("left = [work(str(number)) for number in range(50)]; [next(one) for one in left]", ""),
    "a finalizer that makes the first decorated call": (FIRST_TO_FLUSH, "flushed last\n"),
    "a finalizer that makes another": ("flush('first')" + FIRST_TO_FLUSH, "flushed first\nflushed last\n"),
    "a call at the very end of atexit": (
        "import atexit; atexit._clear(); atexit.register(flush, 'last'); from keyledger import _exit; atexit.register(_exit._end)",
        "flushed last\n",
    ),
}


@pytest.mark.parametrize("what", LEFT)
def test_p7_the_last_garbage_collection_waits_for_no_thread_and_starts_none(what: str) -> None:
    lines, says = LEFT[what]
    script = ended(f"{BEGINNING}\n{lines}\n", seconds=20)
    assert (script.returncode, script.stdout) == (0, says), script.stderr
    assert "Exception ignored" not in script.stderr or "ledger closed" in what
