"""What a signal's handler raises at any instant once a handler has ended: an `Exception` of its own, as Celery's time limits, or Ctrl-C (S3)."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

import pytest

import keyledger
from keyledger import Codec, Fingerprint, JsonCodec, Ledger, Operation, Response, ResultNotStored

CHARGE = Operation("charge", "at_most_once")
ASKED = (CHARGE, keyledger.SINGLE, "1", Fingerprint.unchecked())


class SoftLimit(Exception):
    """What a signal handler raises that is no `KeyboardInterrupt`."""


class Declined(Exception):
    """A final no."""

    response = Response.of_text("declined")


def ends_well() -> list[dict[str, str]]:
    return [{"paid": "990"}]


def ends_with_no() -> Any:
    raise Declined


def settings(codec: Codec[Any] | None = None) -> Any:
    own = {} if codec is None else {"codec": codec}
    return {"operation": CHARGE, "scope": keyledger.SINGLE, "key": "key", "final": (Declined,), **own}


def decorated(ledger: Ledger, ends: Callable[[], Any]) -> None:
    @ledger.idempotent(**settings())
    def call(key: str) -> list[dict[str, str]]:
        return ends()  # type: ignore[no-any-return]

    call("1")


def run(ledger: Ledger, ends: Callable[[], Any]) -> None:
    ledger.run(*ASKED, lambda _: Response.of_text(str(ends())), final=(Declined,))


def block(ledger: Ledger, ends: Callable[[], Any]) -> None:
    with ledger.claim(*ASKED, final=(Declined,)):
        ends()


def raised_at(instant: int, error: type[BaseException], call: Callable[[], object]) -> bool:
    """Whether there is such an instant, after the handler has ended: where a function begins, or one of C has ended, Python looks for signals."""
    instants = itertools.count()
    has_ended = False

    def look(frame: Any, event: str, _: Any) -> None:
        nonlocal has_ended
        if has_ended and event in ("c_return", "call") and next(instants) == instant:
            sys.setprofile(None)
            raise error
        has_ended = has_ended or (event == "return" and frame.f_code.co_name in ("ends_well", "ends_with_no"))

    sys.setprofile(look)
    try:
        call()
    except (error, Declined):
        pass
    finally:
        sys.setprofile(None)
    return next(instants) > instant


@pytest.mark.parametrize("error", [SoftLimit, KeyboardInterrupt])
@pytest.mark.parametrize(
    ("form", "ends"),
    [(decorated, ends_well), (decorated, ends_with_no), (run, ends_with_no), (block, ends_with_no)],
)
def test_s3_a_signals_error_at_any_instant_after_a_handler_has_ended_does_not_lose_its_outcome(
    form: Callable[[Ledger, Callable[[], Any]], None], ends: Callable[[], Any], error: type[BaseException]
) -> None:
    for instant in itertools.count():
        with keyledger.in_memory() as ledger:
            if not raised_at(instant, error, lambda ledger=ledger: form(ledger, ends)):  # type: ignore[misc]
                break
            decision: Any = ledger.begin(*ASKED)
            assert (decision.KIND, instant) == ("replay", instant)
            assert decision.outcome == ("completed" if ends is ends_well else "failed")
    assert instant > 10


class Interrupted(JsonCodec[Any]):
    """Whose first encoding of each is hit by a signal."""

    def __init__(self, error: Exception, times: int) -> None:
        super().__init__()
        self.error, self.times = error, times

    def _hit(self) -> None:
        if self.times:
            self.times -= 1
            raise self.error

    def encode(self, result: Any) -> Response:
        self._hit()
        return super().encode(result)

    def encode_error(self, error: Exception) -> Response:
        self._hit()
        return super().encode_error(error)


def test_s4_an_error_of_a_codec_that_comes_again_is_its_own_and_one_that_does_not_is_a_signals() -> None:
    for times, state in ((1, "completed"), (9, "parked")):
        with keyledger.in_memory() as ledger:

            @ledger.idempotent(**settings(Interrupted(SoftLimit(), times)))
            def call(key: str) -> Any:
                return key

            with pytest.raises(SoftLimit if state == "completed" else ResultNotStored):
                call("1")
            record: Any = ledger.inspect(call.key_id("1"))
            assert record.state == state


def test_s4_so_is_one_while_a_final_no_is_written() -> None:
    for times, state in ((1, "failed"), (9, "parked")):
        with keyledger.in_memory() as ledger:

            @ledger.idempotent(**settings(Interrupted(SoftLimit(), times)))
            def call(key: str) -> Any:
                raise Declined

            with pytest.raises(SoftLimit if state == "failed" else Declined):
                call("1")
            record: Any = ledger.inspect(call.key_id("1"))
            assert record.state == state
