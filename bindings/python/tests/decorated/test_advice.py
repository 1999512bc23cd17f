"""Common mistakes are told with what to write instead; and what recovery is handed, as its texts say."""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import keyledger
from keyledger import (
    AlreadyOpen,
    Claim,
    InvalidArgument,
    Ledger,
    Operation,
    Refused,
    ReplayedFailure,
    Response,
    Unavailable,
)

CHARGE = Operation("charge", "repeatable")


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("again", [False, True])
def test_a_file_that_this_process_has_open_is_told_by_name_and_to_share_the_handle(
    tmp_path: Path, shared: bool, again: bool
) -> None:
    file = tmp_path / "a.kl"
    said = r"a\.kl is open in this process already: share that handle"
    with keyledger.open(file, shared=shared), pytest.raises(AlreadyOpen, match=said) as error:
        keyledger.open(tmp_path / ".." / tmp_path.name / "a.kl", shared=again)
    assert error.value.code == "already_open"


def test_a_file_that_another_process_has_open_is_told_by_name_and_with_shared(tmp_path: Path) -> None:
    file = tmp_path / "a.kl"
    closed = keyledger.open(file)
    closed.close()
    holds = f"import keyledger; held = keyledger.open({str(file)!r}); print(1, flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", holds], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline()
        with pytest.raises(AlreadyOpen, match=r"a\.kl is open, in another process .* with shared=True"):
            keyledger.open(file)
        other.communicate(b"\n", timeout=30)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="there is no folder .*nowhere; make it first"):
        keyledger.open(tmp_path / "nowhere" / "a.kl")


def test_the_decorator_without_parentheses_says_how_it_is_called(ledger: Ledger) -> None:
    bare: Any = ledger.idempotent
    with pytest.raises(TypeError, match=r"@ledger\.idempotent\(operation="):

        @bare
        def charge() -> None:
            """Charges."""


def test_what_is_no_fingerprint_is_told_what_makes_one(ledger: Ledger) -> None:
    print_of: Any = {"cents": 1}

    def handler(claim: Claim) -> Response:
        raise AssertionError(claim)

    async def handler_async(claim: Claim) -> Response:
        raise AssertionError(claim)

    says = r"a dict, not a keyledger\.Fingerprint: keyledger\.fingerprint\("
    with pytest.raises(TypeError, match=says):
        ledger.claim(CHARGE, "ann", "1", print_of)
    with pytest.raises(TypeError, match=says):
        ledger.run(CHARGE, "ann", "1", print_of, handler)
    with pytest.raises(TypeError, match=says):
        asyncio.run(ledger.run_async(CHARGE, "ann", "1", print_of, handler_async))


def test_recovery_is_handed_what_was_lost_and_not_what_an_error_or_a_handler_has_parked(ledger: Ledger) -> None:
    @ledger.idempotent(operation="mail", effect="at_most_once", scope=keyledger.SINGLE, key="order")
    def mail(order: str) -> str:
        if order.startswith("lost"):
            keyledger.current_claim().drop()
        raise TimeoutError

    for order in ("lost 1", "parked", "lost 2", "lost 3"):
        with pytest.raises(TimeoutError):
            mail(order)
    handed: list[str] = []

    def cannot_reach_the_log(claim: Claim) -> str:
        handed.append(claim.key_id.key)
        raise ConnectionError

    def find_out(claim: Claim) -> str | None:
        handed.append(claim.key_id.key)
        if claim.key_id.key != "lost 2":
            return f"sent {claim.key_id.key}"
        claim.park("not in the log")
        return None

    with pytest.raises(ConnectionError):
        mail.recover(cannot_reach_the_log)
    assert len(handed) == 1
    assert mail.recover(find_out) == 3
    assert sorted(handed[1:]) == ["lost 1", "lost 2", "lost 3"]
    assert mail.recover(find_out) == 0
    assert (mail("lost 1"), mail("lost 3")) == ("sent lost 1", "sent lost 3")
    for order, reason in (("parked", "the handler raised an error"), ("lost 2", "not in the log")):
        with pytest.raises(Refused) as refused:
            mail(order)
        assert refused.value.decision.reason == reason


def test_an_async_handler_of_recover_is_refused_before_anything_is_handed_out(ledger: Ledger) -> None:
    @ledger.idempotent(operation="mail", effect="at_most_once", scope=keyledger.SINGLE, key="order")
    def mail(order: str) -> str:
        keyledger.current_claim().drop()
        raise TimeoutError

    with pytest.raises(TimeoutError):
        mail("1")

    async def find_out(claim: Claim) -> str:
        return f"sent {claim.key_id.key}"

    with pytest.raises(TypeError, match=r"await recover_async\(handler\)"):
        mail.recover(find_out)
    assert asyncio.run(mail.recover_async(find_out)) == 1
    assert mail("1") == "sent 1"


def test_what_is_no_result_is_an_error_of_the_recovery_handler_and_the_call_is_handed_out_again(ledger: Ledger) -> None:
    @ledger.idempotent(operation="count", effect="at_most_once", scope=keyledger.SINGLE, key="order")
    def count(order: str) -> int:
        keyledger.current_claim().drop()
        raise TimeoutError

    with pytest.raises(TimeoutError):
        count("1")

    async def slip(_: Claim) -> str:
        return "a slip"

    with pytest.raises(InvalidArgument, match="str is no int"):
        count.recover(lambda _: "a slip")
    with pytest.raises(InvalidArgument, match="str is no int"):
        asyncio.run(count.recover_async(slip))
    assert count.recover(lambda _: 7) == 1
    assert count("1") == 7


def test_s9_a_replayed_no_says_which_record_it_is_and_what_kind_of_response_and_not_its_words(ledger: Ledger) -> None:
    @ledger.idempotent(operation="pay", effect="repeatable", scope="user", key="order", final=(ValueError,))
    def pay(user: str, order: str) -> int:
        raise ValueError("no funds")

    def block() -> None:
        with ledger.claim(pay.operation, "ann", "1", keyledger.Fingerprint.unchecked()):
            pytest.fail("it was granted")

    with pytest.raises(ValueError, match="no funds"):
        pay("ann", "1")
    for call in (lambda: pay("ann", "1"), block):
        with pytest.raises(ReplayedFailure, match="no; its response is 43 bytes of application/json") as again:
            call()
        assert str(again.value).startswith("pay of scope 'ann', key '1': ")
        assert "funds" not in str(again.value)
        assert again.value.key_id == ("ann", "pay", "1")
        assert str(pickle.loads(pickle.dumps(again.value))) == str(again.value)
