"""Claims as blocks, runs, and heartbeats while inside."""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
from typing import Any

import pytest

import keyledger
from keyledger import Acquired, Fingerprint, InProgress, Ledger, Operation, Refused, Replay, ReplayedFailure, Response
from keyledger.testing import ManualClock

UNCHECKED = Fingerprint.unchecked()
MAIL = Operation("mail", "at_most_once")


def asked(operation: Operation = MAIL, key: str = "1") -> tuple[Operation, str, str, Fingerprint]:
    return (operation, "s", key, UNCHECKED)


def test_a_block_holds_the_claim_and_the_next_is_refused_with_the_replay(ledger: Ledger) -> None:
    with ledger.claim(*asked()) as claim:
        assert keyledger.current_claim() is claim
        with pytest.raises(Refused) as refused, ledger.claim(*asked()):
            pass
        assert isinstance(refused.value.decision, InProgress)
        claim.complete("sent")
    with pytest.raises(Refused) as refused, ledger.claim(*asked()):
        pass
    assert isinstance(refused.value.decision, Replay)
    assert refused.value.decision.response.body == b"sent"


@pytest.mark.parametrize("error", [ValueError(), KeyboardInterrupt(), GeneratorExit(), SystemExit()])
def test_s8_an_error_in_a_block_goes_by_the_effect(ledger: Ledger, error: BaseException) -> None:
    for effect, then in (("at_most_once", "parked"), ("repeatable", "acquired"), ("in_ledger", "acquired")):
        with pytest.raises(type(error)), ledger.claim(*asked(Operation(effect, effect))):
            raise error
        assert ledger.begin(*asked(Operation(effect, effect))).KIND == then


def test_s8_a_block_takes_the_two_lists(ledger: Ledger) -> None:
    with pytest.raises(OSError, match="no route"), ledger.claim(*asked(), not_done=(OSError,)):
        raise OSError("no route")
    with pytest.raises(ValueError, match="no such"), ledger.claim(*asked(), final=(ValueError,)):
        raise ValueError("no such address")
    with pytest.raises(ReplayedFailure), ledger.claim(*asked()):
        pass


def test_a_claim_of_a_match_is_a_block_too(ledger: Ledger) -> None:
    match ledger.begin(*asked()):
        case Acquired(claim):
            with pytest.raises(ValueError, match="odd"), claim as same:
                assert same is claim is keyledger.current_claim()
                raise ValueError("odd")
        case other:
            pytest.fail(f"{other}")
    assert ledger.begin(*asked()).KIND == "parked"

    async def block() -> None:
        decision = await ledger.begin_async(*asked(key="2"))
        assert isinstance(decision, Acquired)
        async with decision.claim as claim:
            await claim.complete_async("sent")

    asyncio.run(block())
    assert ledger.begin(*asked(key="2")).KIND == "replay"


def test_a_claims_block_inside_itself_is_refused_with_a_code(ledger: Ledger) -> None:
    decision = ledger.begin(*asked())
    assert isinstance(decision, keyledger.Acquired)
    with decision.claim as claim:
        with pytest.raises(keyledger.Reentrant) as refused, claim:
            pytest.fail("it was entered")
        assert refused.value.code == "reentrant"
        claim.complete("done")
    assert ledger.begin(*asked()).KIND == "replay"
    with pytest.raises(RuntimeError, match="not entered"):
        claim.__exit__(None, None, None)


def test_s2_a_block_left_unsettled_ends_its_lease_and_warns(ledger: Ledger) -> None:
    operation = Operation("charge", "repeatable")
    with pytest.warns(ResourceWarning, match="without complete"), ledger.claim(*asked(operation)):
        pass
    assert ledger.begin(*asked(operation)).KIND == "acquired"


def test_an_error_after_settling_changes_nothing(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="later"), ledger.claim(*asked()) as claim:
        claim.complete("sent")
        raise ValueError("later")
    assert ledger.begin(*asked()).KIND == "replay"


def test_runs_answer_with_responses(ledger: Ledger) -> None:
    def handler(claim: keyledger.Claim) -> Response:
        runs.append(claim.derive_key("k"))
        return Response.of_text(f"run {len(runs)}")

    async def handler_async(claim: keyledger.Claim) -> Response:
        return handler(claim)

    runs: list[str] = []
    assert [ledger.run(*asked(), handler).body for _ in range(2)] == [b"run 1"] * 2
    assert asyncio.run(ledger.run_async(*asked(), handler_async)).body == b"run 1"
    assert asyncio.run(ledger.run_async(*asked(key="2"), handler_async)).body == b"run 2"
    assert len(set(runs)) == 2


def test_runs_answer_with_what_a_claim_is_completed_with(ledger: Ledger) -> None:
    answers: dict[str, Any] = {"text": "paid", "bytes": b"paid", "json": {"paid": True}}
    told = {name: ledger.run(*asked(key=name), lambda _, name=name: answers[name]) for name in ("text", "bytes")}
    assert told == {"text": Response.of_text("paid"), "bytes": Response.of_bytes(b"paid")}
    with pytest.raises(keyledger.ResultNotStored, match=r"returned a dict.*Response\.json"):
        ledger.run(*asked(key="json"), lambda _: answers["json"])


def test_the_lease_is_renewed_while_inside(ledger: Ledger) -> None:
    operation = Operation("slow", "repeatable", lease=0.15)
    with ledger.claim(*asked(operation)) as claim:
        time.sleep(0.5)
        assert ledger.begin(*asked(operation)).KIND == "in_progress"
        claim.complete("done")
    assert "keyledger-heartbeat" in [thread.name for thread in threading.enumerate()]


def test_heartbeats_can_be_left_out(ledger: Ledger) -> None:
    operation = Operation("slow", "repeatable", lease=0.05)
    with pytest.raises(keyledger.errors.ClaimLost), ledger.claim(*asked(operation), heartbeat=False) as claim:
        time.sleep(0.1)
        assert ledger.begin(*asked(operation)).KIND == "acquired"
        claim.complete("too late")


def test_a_heartbeat_that_finds_the_claim_lost_sets_the_signal(ledger: Ledger) -> None:
    operation = Operation("slow", "repeatable", lease=0.2)
    with pytest.raises(ValueError, match="lost"), ledger.claim(*asked(operation)) as claim:
        # Somebody else settles it, by its fence.
        ledger.complete(claim.key_id, claim.fence, "elsewhere")
        deadline = time.monotonic() + 5
        while not claim.is_lost and time.monotonic() < deadline:
            time.sleep(0.01)
        if claim.is_lost:
            raise ValueError("lost")


NEXT = {
    "in_progress": "or let wait= do so",
    "mismatch": "fingerprint=",
    "parked": "Ledger.resolve",
    "gone": "retention=",
    "replay": "refused.decision.response",
}


def refusals(ledger: Ledger, clock: ManualClock) -> list[Refused]:
    """One of each, of blocks, a decorated function and a run."""
    operation = Operation("mail", "at_most_once", retention=1)
    told: list[Refused] = []

    def ask(fingerprint: Fingerprint = UNCHECKED) -> None:
        with pytest.raises(Refused) as refused, ledger.claim(operation, "ann", "k", fingerprint):
            raise AssertionError
        told.append(refused.value)

    with ledger.claim(operation, "ann", "k", Fingerprint.of_bytes(b"1")) as claim:
        ask()
        ask(Fingerprint.of_bytes(b"2"))
        claim.complete("sent")
    ask()
    clock.advance(2)
    ask()
    decorated = ledger.idempotent(operation=operation, scope="user", key="key")(lambda user, key: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        decorated("ann", "other")
    with pytest.raises(Refused) as refused:
        decorated("ann", "other")
    with pytest.raises(Refused) as of_run:
        ledger.run(operation, "ann", "other", UNCHECKED, lambda _: Response.empty())
    return [*told, refused.value, of_run.value]


def test_a_refusal_names_its_record_and_what_to_do_next() -> None:
    clock = ManualClock()
    with keyledger.in_memory(clock=clock) as ledger:
        told = refusals(ledger, clock)
    assert {refused.code for refused in told} == set(NEXT)
    for refused in told:
        key = "other" if refused.code == "parked" else "k"
        assert refused.key_id == keyledger.KeyId("ann", "mail", key)
        assert str(refused).startswith(f"mail of scope 'ann', key '{key}': {refused.decision.advice}; ")
        assert NEXT[refused.code] in str(refused)
        back = pickle.loads(pickle.dumps(refused))
        assert (back.key_id, str(back), back.decision) == (refused.key_id, str(refused), refused.decision)
