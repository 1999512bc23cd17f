"""Enqueueing, and `entry.result` in this process and the next (O1, O3, O10, O13)."""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from stage import Program, outbox_of

from keyledger import Outbox, _native, errors, in_memory
from keyledger._native import Delivery, DeliveryOutcome, Enqueue, Entry, Fingerprint, Lane
from keyledger.testing import ManualClock


def yes(delivery: Delivery) -> DeliveryOutcome:
    return DeliveryOutcome.yes(b"done: " + delivery.request)


def put(outbox: Outbox, text: str = "a", **wishes: object) -> Entry:
    return outbox.enqueue("user", "charge", text, **wishes).entry  # type: ignore[arg-type]


def test_o3_the_same_purpose_is_the_same_entry_and_another_request_a_conflict_that_has_it() -> None:
    outbox = outbox_of()
    first, created = outbox.enqueue("user", "charge", "a", purpose="pay cart 42")
    again = outbox.enqueue("user", "charge", "a", purpose="pay cart 42")
    assert (created, again.created, again.entry) == (True, False, first)
    with pytest.raises(errors.PurposeConflict) as conflict:
        outbox.enqueue("user", "charge", "b", purpose="pay cart 42")
    assert conflict.value.entry == first
    with pytest.raises(errors.KeyConflict) as conflict_of_keys:
        outbox.enqueue("user", "charge", "b", key=first.key)
    assert conflict_of_keys.value.entry == first
    assert outbox.find("user", "pay cart 42") == first
    assert outbox.request(first) == ("text/plain", b"a")


def test_o1_many_are_stored_in_one_call_all_or_none() -> None:
    outbox = outbox_of(bounds=(2, 1000))
    many = [Enqueue("user", "charge", text, purpose=text) for text in ("a", "b", "c")]
    with pytest.raises(errors.OutboxFull):
        outbox.enqueue_many(many)
    assert outbox.stats().unsettled == 0
    assert [one.created for one in outbox.enqueue_many([*many[:2], many[0]])] == [True, True, False]


def test_l1_what_cannot_be_stored_is_refused_with_the_cores_own_codes() -> None:
    outbox = outbox_of(max_request_bytes=3)
    usual: dict[str, Any] = {"scope": "user", "operation": "charge", "request": b"a"}
    for wrong, error in [
        ({"scope": ""}, errors.InvalidKey),
        ({"lane": "undeclared"}, errors.InvalidArgument),
        ({"request": b"four"}, errors.TooLarge),
        ({"request": {"a": 1}}, TypeError),
        ({"send_by": datetime(2026, 1, 1)}, TypeError),
        ({"lease": 3}, TypeError),
    ]:
        with pytest.raises(error):
            outbox.enqueue(**{**usual, **wrong})
    assert outbox.stats().unsettled == 0
    with pytest.raises(errors.InvalidArgument):
        outbox_of(lease=0)
    with pytest.raises(TypeError):
        outbox_of(leese=3)


def test_o13_a_yes_is_returned_and_everything_else_raised_with_its_entry() -> None:
    outbox = outbox_of(lanes=[Lane.unordered(name) for name in ("no", "dead", "unknown", "lane", "entry")])
    says = {
        "no": DeliveryOutcome.no("nope"),
        "dead": DeliveryOutcome.dead("broken"),
        "unknown": DeliveryOutcome.unknown("lost"),
        "lane": DeliveryOutcome.hold_lane("sign in"),
        "entry": DeliveryOutcome.hold_entry("forbidden"),
    }
    entries = {name: put(outbox, name, lane=name) for name in says}
    outbox.drain("user", lambda delivery: says[delivery.entry.lane])
    for name, error, reason in [
        ("no", errors.AnsweredNo, None),
        ("dead", errors.EntryDead, "broken"),
        ("unknown", errors.EntryUnknown, "lost"),
        ("lane", errors.EntryHeld, "sign in"),
        ("entry", errors.EntryHeld, "forbidden"),
    ]:
        with pytest.raises(error) as raised:
            entries[name].result(60)
        assert isinstance(raised.value, errors.EntryError)
        assert (raised.value.entry.id, raised.value.entry.reason) == (entries[name].id, reason)
        if isinstance(raised.value, errors.AnsweredNo):
            assert raised.value.response.body == b"nope"


def test_o13_when_the_time_is_up_it_is_a_timeout_and_the_entry_goes_on() -> None:
    outbox = outbox_of()
    entry = put(outbox)
    begun = time.monotonic()
    with pytest.raises(TimeoutError) as raised:
        entry.result(0.1)
    assert time.monotonic() - begun >= 0.1
    assert isinstance(raised.value, errors.NoResultYet)
    outbox.drain("user", yes)
    assert entry.result(0).body == b"done: a"


def test_o13_the_error_of_the_last_try_is_in_the_words_also_in_another_process() -> None:
    outbox = outbox_of(backoff=(60, 60, 1))
    entry = put(outbox)
    with pytest.raises(errors.NoResultYet, match="ask again later$"):
        entry.result(0)
    outbox.drain("user", lambda _: DeliveryOutcome.retry("the bank is closed"))
    with pytest.raises(errors.NoResultYet, match="; its last error: the bank is closed$") as raised:
        entry.result(0)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_o13_whoever_waits_is_woken_by_the_outcome() -> None:
    outbox = outbox_of()
    entry = put(outbox)
    sender = threading.Timer(0.2, lambda: outbox.drain("user", yes))
    sender.start()
    assert entry.result().body == b"done: a"
    sender.join()


def test_o10_what_is_cancelled_raises_and_cancel_is_truthful() -> None:
    outbox = outbox_of()
    entry, sent = put(outbox), put(outbox, "b", key="k")
    assert outbox.cancel(entry).is_cancelled
    with pytest.raises(errors.EntryCancelled):
        entry.result(0)
    (delivery,) = outbox.lease_due("user")
    assert not outbox.cancel(sent.id).is_cancelled
    delivery.settle(DeliveryOutcome.yes("done"))
    past = datetime.now(timezone.utc) - timedelta(seconds=1)
    late = put(outbox, "c", send_by=past)
    outbox.drain("user", yes)
    with pytest.raises(errors.EntryCancelled) as raised:
        late.result(0)
    assert raised.value.entry.reason == "not sent in time"


def test_o5_a_delivery_is_settled_once_and_one_that_is_dropped_is_due_again() -> None:
    outbox = outbox_of(backoff=(0, 0, 1))
    put(outbox)
    (dropped,) = outbox.lease_due("user")
    assert outbox.lease_due("user") == []
    del dropped
    (delivery,) = outbox.lease_due("user")
    assert delivery.is_in_doubt
    assert 0 < delivery.lease_left_seconds <= 30
    report = delivery.report(DeliveryOutcome.yes("done"))
    with pytest.raises(errors.ClaimSettled):
        delivery.settle(DeliveryOutcome.yes("done"))
    outbox.settle(report)
    turn = outbox.settle_and_lease([report], "user")
    assert (turn.settled, turn.deliveries) == ([None], [])


def test_o7_an_unknown_entry_is_resolved_by_somebody_and_its_successor_has_a_new_key() -> None:
    outbox = outbox_of()
    entry = put(outbox, purpose="p", fingerprint=Fingerprint.of_bytes(b"a"))
    outbox.drain("user", lambda _: DeliveryOutcome.unknown("lost"))
    with pytest.raises(errors.InvalidArgument):
        outbox.resolve(entry, "answered_yes", who="ann", note="no response given")
    successor = outbox.resolve(entry, "resend", who="ann", note="the bank never saw it")
    assert successor.key != entry.key
    old = outbox.get(entry)
    assert old is not None
    assert (old.successor, old.reason, old.audit[0].who) == (successor.id, "superseded", "ann")


def test_o13_changes_of_an_entry_are_told_until_it_is_settled() -> None:
    outbox = outbox_of()
    entry = put(outbox)
    threading.Timer(0.1, lambda: outbox.drain("user", yes)).start()
    states = [seen.state for seen in outbox.changes_of(entry)]
    assert (states[0], states[-1]) == ("pending", "answered")
    with pytest.raises(errors.NotFound):
        next(outbox.changes_of(999))
    changes = outbox.changes()
    assert next(iter(changes)).state == "answered"
    assert changes.next(0) is None


def test_o13_what_a_predicate_raises_comes_out_of_the_wait() -> None:
    outbox = outbox_of()
    entry = put(outbox)
    error = ValueError("mine")

    def is_enough(_seen: Entry) -> bool:
        raise error

    with pytest.raises(ValueError, match="mine") as raised:
        outbox.wait_until(entry, is_enough)
    assert raised.value is error


@pytest.mark.asyncio
async def test_o13_async_waits_end_with_the_outcome_and_leave_nothing_behind_when_cancelled() -> None:
    outbox = outbox_of()
    entry = (await outbox.enqueue_async("user", "charge", "a")).entry
    waiting = [asyncio.ensure_future(entry.result_async()) for _ in range(3)]
    changes = outbox.changes(outbox.stats().last_change)
    told = asyncio.ensure_future(changes.__anext__())
    await asyncio.sleep(0.05)
    waiting[0].cancel()
    told.cancel()
    await asyncio.sleep(0)
    assert changes.next(0) is None, "the cancelled wait has given the changes back"
    (delivery,) = await outbox.lease_due_async("user")
    await delivery.settle_async(DeliveryOutcome.yes("done"))
    assert [(await one).body for one in waiting[1:]] == [b"done", b"done"]
    seen = [one.state async for one in _until_settled(changes)]
    assert seen[-1] == "answered"


async def _until_settled(changes: object):  # type: ignore[no-untyped-def]  # noqa: ANN202
    async for entry in changes:  # type: ignore[attr-defined]
        yield entry
        if entry.is_settled:
            return


NEXT_PROCESS = """
    import sys
    from keyledger._native import DeliveryOutcome, HttpAnswer
    from stage import outbox_of
    from pathlib import Path
    outbox = outbox_of(Path(sys.argv[1]))
    outbox.drain("user", lambda _: DeliveryOutcome.yes("done"))
    print(outbox.get(int(sys.argv[2])).result(5).body.decode())
"""


def test_o13_the_next_process_has_the_outcome_too(tmp_path: Path) -> None:
    path = tmp_path / "outbox.kl"
    ledger = _native.Ledger(path)
    entry = put(Outbox(ledger))
    ledger.close()
    code, out, err = Program(NEXT_PROCESS, path, entry.id).end()
    assert (code, out) == (0, "done\n"), err
    assert Outbox(_native.Ledger(path)).wait(entry.id, 0).state == "answered"


@pytest.mark.parametrize(("is_unanswered", "brought_forward"), [(True, 1), (False, 0)])
def test_o6_what_got_no_answer_is_due_soon_when_the_network_is_back(is_unanswered: bool, brought_forward: int) -> None:
    clock = ManualClock()
    with in_memory(clock=clock) as ledger:
        outbox = Outbox(ledger, backoff=(1, 3600, 3600), max_tries=1000)
        entry = put(outbox)
        outcome = DeliveryOutcome.retry("no answer")

        def waits_ms() -> int:
            due = outbox.get(entry).due_at_ms  # type: ignore[union-attr]
            assert due is not None
            return due - clock.wall_ms

        # A wait is drawn from an hour: a long one comes.
        while waits_ms() < 10_000:
            clock.advance(10)
            for delivery in outbox.lease_due("user"):
                delivery.settle(outcome.unanswered() if is_unanswered else outcome)
        before = waits_ms()
        assert outbox.online("somebody else") == 0
        assert asyncio.run(_online(outbox)) == brought_forward
        assert (waits_ms() <= 1000) is bool(brought_forward)
        assert brought_forward or waits_ms() == before


async def _online(outbox: Outbox) -> int:
    return await outbox.online_async("user")
