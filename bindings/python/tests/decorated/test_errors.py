"""What a handler raises, and what that means for its key (section 3, S3, S4, S8, S9)."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest

import keyledger
from keyledger import Fingerprint, JsonCodec, Ledger, Refused, ReplayedFailure, ResultNotStored

UNCHECKED = Fingerprint.unchecked()


class Declined(Exception):
    """A final no."""


class Untouched(Exception):
    """It surely did not happen."""


def stands(ledger: Ledger, operation: Any, key: str = "1") -> str:
    """How the key stands now."""
    decision = ledger.ask(operation, "(single)", key, UNCHECKED)
    return f"{decision.KIND} {getattr(decision, 'outcome', '')}".strip()


def raiser(ledger: Ledger, effect: str, **settings: Any) -> Any:
    """A decorated function that raises what it is given first, and returns the second time."""
    settings = {"not_done": (Untouched,), "final": (Declined,), **settings}

    @ledger.idempotent(
        operation=f"x {effect}", effect=effect, scope=keyledger.SINGLE, key="key", fingerprint="key", **settings
    )
    def call(key: str, error: BaseException | None = None) -> str:
        if error is not None:
            raise error
        return "ran"

    return call


INTERRUPTS = [KeyboardInterrupt(), SystemExit(3), GeneratorExit()]


@pytest.mark.parametrize("error", [ValueError("odd"), *INTERRUPTS], ids=lambda error: type(error).__name__)
def test_s8_an_error_goes_by_the_effect(ledger: Ledger, error: BaseException) -> None:
    for effect in ("in_ledger", "repeatable"):
        call = raiser(ledger, effect)
        with pytest.raises(type(error)) as raised:
            call("1", error)
        assert raised.value is error
        assert call("1") == "ran"
    call = raiser(ledger, "at_most_once")
    with pytest.raises(type(error)):
        call("1", error)
    with pytest.raises(Refused) as refused:
        call("1")
    assert (refused.value.code, refused.value.key_advice) == ("parked", "reconcile")


@pytest.mark.parametrize("effect", ["in_ledger", "repeatable", "at_most_once"])
def test_s8_not_done_releases_whatever_the_effect(ledger: Ledger, effect: str) -> None:
    call = raiser(ledger, effect)
    with pytest.raises(Untouched):
        call("1", Untouched())
    assert call("1") == "ran"


@pytest.mark.parametrize("effect", ["in_ledger", "repeatable", "at_most_once"])
def test_s9_final_is_told_to_every_retry(ledger: Ledger, effect: str) -> None:
    call = raiser(ledger, effect)
    with pytest.raises(Declined):
        call("1", Declined("no funds"))
    with pytest.raises(ReplayedFailure) as replayed:
        call("1")
    assert b"no funds" in replayed.value.response.body
    assert b"Declined" in replayed.value.response.body


def test_final_is_raised_again_as_itself_by_the_codec(ledger: Ledger) -> None:
    call = raiser(ledger, "repeatable", codec=JsonCodec(str, raises=(Declined,)))
    for _ in range(2):
        with pytest.raises(Declined) as declined:
            call("1", Declined("no funds", 7))
        assert declined.value.args == ("no funds", 7)
    assert isinstance(declined.value.__cause__, ReplayedFailure)


class Worded(Exception):
    """Its base is given other arguments than it takes."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code


class Growing(Exception):
    """Made of its own arguments again it would say something else."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"declined: {reason}")


@pytest.mark.parametrize("no", [Worded(7, "no funds"), Growing("no funds")])
def test_s9_a_final_no_that_cannot_be_made_again_of_its_arguments_is_stored_and_replayed_as_one(
    ledger: Ledger, no: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    @ledger.idempotent(
        operation="x",
        effect="at_most_once",
        scope=keyledger.SINGLE,
        key="key",
        final=(Exception,),
        codec=JsonCodec(str, raises=(type(no),)),
    )
    def call(key: str) -> str:
        raise no

    with pytest.raises(type(no)):
        call("1")
    (told,) = caplog.records
    assert (told.name, type(no).__name__ in told.getMessage()) == ("keyledger", True)
    for _ in range(2):
        with pytest.raises(ReplayedFailure) as replayed:
            call("1")
        assert b"no funds" in replayed.value.response.body


def test_s9_a_final_no_whose_class_takes_other_arguments_by_now_is_replayed_as_one(ledger: Ledger) -> None:
    class Before(Exception):
        pass

    class After(Exception):
        def __init__(self, code: int, reason: str) -> None:
            super().__init__(code, reason)

    After.__qualname__ = Before.__qualname__
    response = JsonCodec(str, raises=(Before,)).encode_error(Before("no funds"))
    assert isinstance(JsonCodec(str, raises=(Before,)).decode_error(response), Before)
    assert JsonCodec(str, raises=(After,)).decode_error(response) is None


@pytest.mark.parametrize("effect", ["in_ledger", "repeatable", "at_most_once"])
def test_s4_a_result_that_cannot_be_stored_is_parked_and_not_lost(ledger: Ledger, effect: str) -> None:
    @ledger.idempotent(operation="x", effect=effect, scope=keyledger.SINGLE, key="key")
    def call(key: str) -> Any:
        return {"a set": {1}}

    with pytest.raises(ResultNotStored, match="parked") as lost:
        call("1")
    assert lost.value.result == {"a set": {1}}
    assert lost.value.code == "result_not_stored"
    assert stands(ledger, call.operation) == "parked"


def test_s4_a_result_over_the_limit_is_completed_and_its_replay_says_so() -> None:
    ledger = Ledger(None, max_response_bytes=100)
    runs: list[int] = []

    @ledger.idempotent(operation="x", effect="at_most_once", scope=keyledger.SINGLE, key="key")
    def call(key: str) -> str:
        runs.append(1)
        return "x" * 200

    assert call("1") == "x" * 200
    with pytest.raises(keyledger.errors.TooLarge, match="202 bytes"):
        call("1")
    assert runs == [1]


def test_s3_an_interrupt_after_the_handler_has_returned_does_not_lose_its_outcome(ledger: Ledger) -> None:
    class Interrupted(JsonCodec[str]):
        interrupts = 1

        def encode(self, result: str) -> keyledger.Response:
            if self.interrupts:
                self.interrupts -= 1
                os.kill(os.getpid(), signal.SIGINT)
            return super().encode(result)

    call = raiser(ledger, "at_most_once", codec=Interrupted(str))
    with pytest.raises(KeyboardInterrupt):
        call("1")
    assert call("1") == "ran"
    assert stands(ledger, call.operation) == "replay completed"


def test_a_handler_that_settles_its_claim_itself_has_told_the_answer(ledger: Ledger) -> None:
    @ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key", fingerprint=None)
    def call(key: str, then: str) -> str:
        claim = keyledger.current_claim()
        if then == "complete":
            claim.complete(keyledger.Response("application/json", b'"stored"'))
        elif then == "release":
            claim.release()
        else:
            claim.complete(keyledger.Response("application/json", b'"stored"'))
            raise ValueError(then)
        return "returned"

    assert call("1", "complete") == "stored"
    assert call("2", "raise") == "stored"
    with pytest.raises(Refused):
        call("3", "release")
    assert call("3", "complete") == "stored"


def test_s9_a_lost_claim_is_answered_as_begin_would(ledger: Ledger) -> None:
    """The lease is over while the function runs without heartbeats; another call takes over and answers."""

    @ledger.idempotent(
        operation="x",
        effect="repeatable",
        scope=keyledger.SINGLE,
        key="key",
        fingerprint=None,
        lease=0.05,
        heartbeat=False,
    )
    def call(key: str, outer: bool) -> str:
        if outer:
            assert wait_for(lambda: call("1", False) == "second")
            return "first"
        return "second"

    assert call("1", True) == "second"


def wait_for(holds: Any) -> bool:
    """Whether it holds before long; being refused is holding not yet."""
    for _ in range(200):
        try:
            if holds():
                return True
        except Refused:
            time.sleep(0.01)
    return False


def test_recover_hands_out_lost_calls_with_their_memo(ledger: Ledger) -> None:
    sent: list[str] = []

    @ledger.idempotent(
        operation="mail",
        effect="at_most_once",
        scope=keyledger.SINGLE,
        key="order",
        memo=("order", "address"),
        lease=0.05,
    )
    def mail(order: str, address: str) -> str:
        sent.append(address)
        return "sent"

    fingerprint = Fingerprint.of_json({"order": "1", "address": "a@b"})
    decision = ledger.begin(mail.operation, "(single)", "1", fingerprint, memo=b'{"order":"1","address":"a@b"}')
    assert isinstance(decision, keyledger.Acquired)
    decision.claim.drop()
    with pytest.raises(Refused):
        mail("1", "a@b")

    def unclear(claim: keyledger.Claim) -> str:
        raise ConnectionError(str(claim.attempt))

    with pytest.raises(ConnectionError):
        mail.recover(unclear)
    memos: list[bytes] = []

    def found_out(claim: keyledger.Claim) -> str:
        memos.append(claim.memo)
        return "found in the log"

    assert wait_for(lambda: mail.recover(found_out) == 1)
    assert (mail("1", "a@b"), memos, sent) == ("found in the log", [b'{"order":"1","address":"a@b"}'], [])
