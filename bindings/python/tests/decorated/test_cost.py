"""What the decorator adds to a replay."""

from __future__ import annotations

import json
import timeit
from collections.abc import Callable

import pytest

from keyledger import Fingerprint, Ledger, Replay

LIMIT_MICROSECONDS = 10.0
# What `known` takes on the machines that the limit was set for: a slower one has more time, in proportion.
KNOWN_MICROSECONDS = 3.0
CALLS, ROUNDS = 200, 200


@pytest.mark.alone
def test_a_replay_through_the_decorator_costs_under_10_us_over_begin(
    ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    @ledger.idempotent(operation="charge", effect="repeatable", scope="user", key="order")
    def charge(user: str, order: str, amount: int) -> dict[str, str]:
        return {"receipt": "x" * 186}

    charge("ann", "1", 5)
    fingerprint = Fingerprint.of_json({"user": "ann", "order": "1", "amount": 5})

    def begin() -> Replay:
        decision = ledger.begin(charge.operation, "ann", "1", fingerprint)
        assert isinstance(decision, Replay)
        return decision

    assert len(begin().response.body or b"") == 200
    turns = [(once(begin), once(lambda: charge("ann", "1", 5)), once(known)) for _ in range(ROUNDS)]
    core, decorated, slowness = (min(times) for times in zip(*turns, strict=True))
    limit = LIMIT_MICROSECONDS * max(1.0, slowness / KNOWN_MICROSECONDS)
    with capsys.disabled():
        print(
            f"\nreplay of 200 bytes: begin {core:.2f} us, decorated {decorated:.2f} us, over it {decorated - core:.2f} us "
            f"(limit {limit:.1f}; {slowness:.2f} us for what takes {KNOWN_MICROSECONDS} us)"
        )
    assert decorated - core < limit


def known() -> object:
    """Work of Python's own, to know how fast the machine is."""
    return json.loads(json.dumps({"receipt": "x" * 186}))


def once(call: Callable[[], object]) -> float:
    """Microseconds of one call, in a round so short that others of the machine may leave it alone."""
    return timeit.timeit(call, number=CALLS) / CALLS * 1e6
