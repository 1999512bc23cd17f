"""Every code of the core's and of the contract's has its class (section 11), and goes through pickle and copy as what it is."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import keyledger
from keyledger import (
    Fingerprint,
    Gone,
    InProgress,
    KeyId,
    KeyledgerError,
    Ledger,
    Mismatch,
    Operation,
    Parked,
    Refused,
    Replay,
    ReplayedFailure,
    Response,
    _native,
    errors,
)

ROOT = Path(__file__).parents[4]
MAIL = Operation("mail", "at_most_once")
UNCHECKED = Fingerprint.unchecked()


def every_class() -> list[type[KeyledgerError]]:
    """Of the package, public or not, however they came in."""
    todo: list[type[KeyledgerError]] = [KeyledgerError]
    found: list[type[KeyledgerError]] = []
    while todo:
        found.append(todo.pop())
        todo += [below for below in found[-1].__subclasses__() if below.__module__.startswith("keyledger")]
    return found


def snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def codes_of_rust() -> list[str]:
    """What `as_str` of the core's source says, which is where every language has them from."""
    source = (ROOT / "core" / "src" / "error.rs").read_text()
    return re.findall(r'ErrorCode::\w+ => "(\w+)"', source)


def names_of_the_contract() -> list[str]:
    """The names in the list of section 11."""
    section = (ROOT / "docs" / "contract.md").read_text().partition("## 11. Errors")[2].partition("\n## ")[0]
    listed, _, _ = section.partition("Decisions of")
    return re.findall(r"`([A-Z]\w+)`", listed)


def test_every_code_of_the_core_is_a_class_with_that_code_and_one_base() -> None:
    codes = codes_of_rust()
    assert len(codes) > 20
    assert sorted(_native.error_codes()) == sorted(codes)
    for code in codes:
        (own,) = [of for of in every_class() if of.code == code and snake(of.__name__) == code]
        assert getattr(keyledger, own.__name__) is getattr(errors, own.__name__) is own
        assert own.__mro__[1] is KeyledgerError
        assert own.__name__ in keyledger.__all__
        assert own.__doc__


def test_every_error_of_the_contract_is_a_class() -> None:
    names = names_of_the_contract()
    assert len(names) > 20
    assert [name for name in names if not hasattr(keyledger, name)] == []
    assert [name for name in names if snake(name) not in codes_of_rust()] == []


def test_every_class_has_a_code_of_its_own() -> None:
    # A decision is what `Refused` has a code by.
    told = [of.code for of in every_class() if of is not Refused]
    assert len(told) == len(set(told))
    assert all(re.fullmatch(r"[a-z_]+", code) for code in told)


def decisions() -> list[Any]:
    """One of each that are data, as a ledger says them."""
    with keyledger.in_memory(max_response_bytes=5) as ledger:
        first = ledger.begin(MAIL, "s", "1", Fingerprint.of_bytes(b"1"))
        assert isinstance(first, keyledger.Acquired)
        busy = ledger.begin(MAIL, "s", "1", Fingerprint.of_bytes(b"1"))
        first.claim.complete(b"short")
        replayed = ledger.begin(MAIL, "s", "1", UNCHECKED)
        other = ledger.begin(MAIL, "s", "1", Fingerprint.of_bytes(b"2"))
        for key, response in (("2", None), ("3", b"longer")):
            begun = ledger.begin(MAIL, "s", key, UNCHECKED)
            assert isinstance(begun, keyledger.Acquired)
            if response is None:
                begun.claim.park("nobody knows")
            else:
                begun.claim.fail(response)
        return [busy, replayed, other, *(ledger.ask(MAIL, "s", key, UNCHECKED) for key in ("2", "3"))]


def members(of: Any) -> dict[str, Any]:
    names = [name for name in dir(of) if not name.startswith("_") and not callable(getattr(of, name))]
    return {name: getattr(of, name) for name in names}


@pytest.mark.parametrize("again", [pickle.dumps, copy.copy, copy.deepcopy])
def test_decisions_are_data(again: Any) -> None:
    for decision in [*decisions(), Gone()]:
        made = again(decision)
        back = pickle.loads(made) if isinstance(made, bytes) else made
        assert type(back) is type(decision)
        assert back == decision
        assert members(back) == members(decision)
        assert members(back)["KIND"] == snake(type(decision).__name__)


def test_decisions_can_be_made_and_compared() -> None:
    """By tests of programs that use them."""
    response = Response("text/plain", b"x")
    match Replay(response, "completed", 1, 2):
        case Replay(body, "completed"):
            assert body == response
        case _:
            raise AssertionError
    assert Parked("x", 1) == Parked("x", 1) != Parked("y", 1)
    assert InProgress(1.5, 2.5).retry_after_seconds == 2.5
    assert Mismatch() == Mismatch() != Gone()


def test_a_claim_and_a_ledger_stay_in_their_process() -> None:
    with keyledger.in_memory() as ledger:
        begun = ledger.begin(MAIL, "s", "1", UNCHECKED)
        assert isinstance(begun, keyledger.Acquired)
        for stays in (begun, begun.claim, ledger):
            for away in (pickle.dumps, copy.copy, copy.deepcopy):
                with pytest.raises(TypeError, match=r"cannot (be copied or sent|pickle)"):
                    away(stays)


def every_error() -> list[KeyledgerError]:
    """One of each class, with what they carry."""
    made: list[KeyledgerError] = []
    for of in every_class():
        if of is Refused:
            made += [Refused(decision) for decision in decisions()]
        elif of is ReplayedFailure:
            made.append(ReplayedFailure(Response("text/plain", b"no")))
        else:
            made.append(of("what went wrong"))
    return made


@pytest.mark.parametrize("again", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
def test_every_error_goes_through_pickle_and_copy_as_what_it_is(again: Any) -> None:
    for error in every_error():
        back = again(error)
        assert (type(back), back.code, back.args, str(back)) == (type(error), error.code, error.args, str(error))
        assert vars(back) == vars(error)


def raised() -> list[KeyledgerError]:
    """Errors that carry what is a ledger's own."""
    with keyledger.in_memory() as ledger:
        outbox = ledger.outbox()
        entry, _ = outbox.enqueue("s", "mail", b"one", purpose="p", key="k")
        caught: list[KeyledgerError] = []
        for settings in ({"purpose": "p"}, {"key": "k"}):
            with pytest.raises(KeyledgerError) as conflict:
                outbox.enqueue("s", "mail", b"two", **settings)
            caught.append(conflict.value)
        with pytest.raises(keyledger.NoResultYet) as waiting:
            entry.result(0)
        return [*caught, waiting.value]


def test_an_entry_stays_behind_and_the_words_arrive() -> None:
    for error in raised():
        assert error.entry.key  # type: ignore[attr-defined]
        back = pickle.loads(pickle.dumps(error))
        assert (type(back), str(back)) == (type(error), str(error))
        assert not hasattr(back, "entry")


def raise_number(number: int) -> None:
    raise every_error()[number]


def decision_number(number: int) -> Any:
    return decisions()[number]


def test_pools_of_processes_send_them() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for number, error in enumerate(every_error()):
            with pytest.raises(KeyledgerError) as caught:
                pool.apply(raise_number, (number,))
            assert (type(caught.value), caught.value.code) == (type(error), error.code)
        told = pool.map(decision_number, range(5))
    assert [type(decision) for decision in told] == [type(decision) for decision in decisions()]


def test_a_key_id_is_data() -> None:
    own = KeyId("s", "mail", "1")
    assert pickle.loads(pickle.dumps(own)) == copy.copy(own) == own


def test_no_handle_is_needed_to_raise_and_catch_by_code() -> None:
    with keyledger.in_memory() as ledger:
        closed: Ledger = ledger
    with pytest.raises(KeyledgerError) as caught:
        closed.stats()
    assert (caught.value.code, type(caught.value)) == ("closed", keyledger.Closed)
