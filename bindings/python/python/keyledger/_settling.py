"""How claims end in Python: by what a handler returned, or by what it raised."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from keyledger._codec import Codec, ResultNotStored, ResultUnreadable
from keyledger._native import Acquired, KeyId, Replay
from keyledger._refused import Refused, ReplayedFailure
from keyledger._unbegun import NotBegun
from keyledger.errors import ClaimLost, ClaimSettled, InvalidArgument, KeyledgerError, TooLarge

if TYPE_CHECKING:
    from keyledger._native import Claim, Response

    Ask = Callable[[], Any]

Errors = tuple[type[BaseException], ...]

Named = KeyId | tuple[str, str, str]
"""Which record it is: as a key id, or as what makes one, where none is needed mostly."""

_NOT_STORED = "its outcome could not be stored"


class Settlement(NamedTuple):
    """A verb of `Claim` and what it takes."""

    verb: str
    arguments: tuple[Any, ...] = ()
    interrupt: Exception | None = None
    """What a signal's handler has raised meanwhile: raised once the claim is settled."""

    def settle(self, claim: Claim) -> None:
        """The claim is settled, on disk."""
        getattr(claim, self.verb)(*self.arguments)
        if self.interrupt is not None:
            raise self.interrupt

    async def settle_async(self, claim: Claim) -> None:
        """The same on an event loop. What was begun ends on disk, whoever is cancelled (S3)."""
        await getattr(claim, f"{self.verb}_async")(*self.arguments)
        if self.interrupt is not None:
            raise self.interrupt


class Means(NamedTuple):
    """What a handler's errors mean (S8): those of `not_done` did surely not happen, those of `final` are a no for every retry."""

    not_done: Errors = ()
    final: Errors = ()

    def settlement(self, error: BaseException, codec: Codec[Any]) -> Settlement:
        """How a claim ends whose handler raised `error`. Whatever is in neither list goes by the record's effect."""
        if isinstance(error, NotBegun) or self._meaning(error) == "not_done":
            return Settlement("release")
        if self._meaning(error) == "final":
            return _failed(error, codec)  # type: ignore[arg-type] # It is an Exception.
        return Settlement("settle_by_effect")

    def _meaning(self, error: BaseException) -> str | None:
        """The list of the narrowest class of the error that is in one: the first in the order in which Python looks up its methods."""
        final = self.final if isinstance(error, Exception) else ()
        for kind in type(error).__mro__:
            if kind in self.not_done:
                return "not_done"
            if kind in final:
                return "final"
        return None


def _failed(error: Exception, codec: Codec[Any]) -> Settlement:
    try:
        return Settlement("fail", (codec.encode_error(error),))
    except Exception as raised:
        interrupt = raised
    # An error of the codec's own comes again; that of a signal does not.
    try:
        return Settlement("fail", (codec.encode_error(error),), interrupt)
    except Exception:
        return Settlement("park", (_NOT_STORED,))


class Course(NamedTuple):
    """How a handler's outcome is stored and told."""

    codec: Codec[Any]
    means: Means

    def returned(self, claim: Claim, result: Any, ask: Ask) -> Any:
        """The result is on disk; what every later caller will be told. A handler that settled the claim itself has said that."""
        if claim.is_settled:
            return self.told(ask(), claim.key_id)
        response, told = self._encoded(claim, result)
        try:
            claim.complete(response)
        except (ClaimLost, ClaimSettled):
            return self.told(ask(), claim.key_id)
        except TooLarge:
            _park(claim)
            raise
        return told

    def kept(self, claim: Claim, result: Any, interrupt: BaseException) -> None:
        """The result is on disk although a signal came before it was. An error of `returned` itself has been seen to."""
        if not isinstance(interrupt, (KeyledgerError, ResultNotStored)) and not claim.is_settled:
            with contextlib.suppress(KeyledgerError):
                claim.complete(self._encoded(claim, result)[0])

    def raised_still(self, claim: Claim, error: BaseException, interrupt: BaseException) -> None:
        """What `error` means is on disk although a signal came before it was."""
        if not isinstance(interrupt, KeyledgerError) and not claim.is_settled:
            with contextlib.suppress(KeyledgerError):
                self.means.settlement(error, self.codec).settle(claim)

    def raised(self, claim: Claim, error: BaseException, ask: Ask) -> Any:
        """Settles, and raises `error`; or tells what somebody else has stored meanwhile, or the handler itself before."""
        try:
            self.means.settlement(error, self.codec).settle(claim)
        except (ClaimLost, ClaimSettled) as ended:
            return self._told_after(error, ended, ask(), claim.key_id)
        except KeyledgerError as unsettled:
            if isinstance(error, Exception):
                raise unsettled from error
        raise error

    async def returned_async(self, claim: Claim, result: Any, ask: Ask) -> Any:
        """`returned` on an event loop."""
        if claim.is_settled:
            return self.told(ask(), claim.key_id)
        response, told = self._encoded(claim, result)
        try:
            await claim.complete_async(response)
        except (ClaimLost, ClaimSettled):
            return self.told(ask(), claim.key_id)
        except TooLarge:
            _park(claim)
            raise
        return told

    async def raised_async(self, claim: Claim, error: BaseException, ask: Ask) -> Any:
        """`raised` on an event loop. A coroutine that is being closed may not wait: it settles where it stands."""
        if isinstance(error, GeneratorExit):
            return self.raised(claim, error, ask)
        try:
            await self.means.settlement(error, self.codec).settle_async(claim)
        except (ClaimLost, ClaimSettled) as ended:
            return self._told_after(error, ended, ask(), claim.key_id)
        except KeyledgerError as unsettled:
            if isinstance(error, Exception):
                raise unsettled from error
        raise error

    def found_out(self, claim: Claim, result: Any) -> None:
        """What a recovery handler found out is on disk, unless it settled the claim itself. What is no result is an error of the handler."""
        if not claim.is_settled:
            claim.complete(self.response_of(result))

    async def found_out_async(self, claim: Claim, result: Any) -> None:
        """`found_out` on an event loop."""
        if not claim.is_settled:
            await claim.complete_async(self.response_of(result))

    def response_of(self, result: Any) -> Response:
        """What a person found out, as it is stored.

        Raises:
            InvalidArgument: the codec cannot store it. Nothing was changed.
        """
        try:
            response = self.codec.encode(result)
            self.codec.decode(response)
            return response
        except Exception as error:
            raise InvalidArgument(f"this is no result of the function that can be stored: {error}") from error

    def not_found_out(self, claim: Claim, error: BaseException) -> None:
        """An error in a recovery handler: by its lists, else the lease ends, and the record is open to recovery again (section 4)."""
        if not self.settled_by_lists(claim, error):
            claim.drop()

    def settled_by_lists(self, claim: Claim, error: BaseException) -> bool:
        """Whether one of the lists says what an error in a recovery handler means; if so, the claim is settled as that."""
        settlement = self.means.settlement(error, self.codec)
        if settlement.verb == "settle_by_effect" or claim.is_settled:
            return False
        settlement.settle(claim)
        return True

    def told(self, decision: Any, of: Named) -> Any:
        """The result that a decision tells.

        Raises:
            ResultUnreadable: the codec cannot read it.
            Refused, ReplayedFailure: it tells none (S9); the error of `final`, where the codec makes it again.

        """
        if type(decision) is not Replay:
            raise Refused(decision, _key_id(of))
        if decision.outcome == "completed":
            return self._decoded(decision.response, of)
        failure = ReplayedFailure(decision.response, _key_id(of))
        again = self.codec.decode_error(decision.response)
        if again is None:
            raise failure
        raise again from failure

    def _told_after(self, error: BaseException, ended: KeyledgerError, decision: Any, of: KeyId) -> Any:
        """A claim that was lost: as `begin` would answer (S9). One that the handler settled: its outcome, if there is one to tell."""
        untold = isinstance(ended, ClaimSettled) and type(decision) is not Replay
        if untold or not isinstance(error, Exception):
            raise error
        try:
            return self.told(decision, of)
        except Exception as told:
            raise told from error

    def _decoded(self, response: Response, of: Named) -> Any:
        try:
            return self.codec.decode(response)
        except KeyledgerError:
            raise
        except Exception as error:
            raise ResultUnreadable.of(response, _key_id(of), error) from error

    def _encoded(self, claim: Claim, result: Any) -> tuple[Response, Any]:
        """The result as it is stored, and as everyone is told it: what cannot be read back is not stored."""
        try:
            return self._there_and_back(result)
        except Exception as error:
            if self._can_be_stored(result):
                raise  # A signal's: the result is stored by `kept`.
            _park(claim)
            lost = ResultNotStored(f"it was done, but its result cannot be stored, so the key is parked: {error}")
            lost.result = result
            raise lost from error

    def _there_and_back(self, result: Any) -> tuple[Response, Any]:
        response = self.codec.encode(result)
        return response, self.codec.decode(response)

    def _can_be_stored(self, result: Any) -> bool:
        """Asked after an error: the codec's own comes again."""
        try:
            self._there_and_back(result)
        except Exception:
            return False
        return True


def _park(claim: Claim) -> None:
    """S4: nothing about a result's size or content releases a claim. The first error is the one to tell."""
    with contextlib.suppress(KeyledgerError):
        claim.park(_NOT_STORED)


def _key_id(of: Named) -> KeyId:
    return of if isinstance(of, KeyId) else KeyId(*of)


def granted(decision: Any, of: Named) -> Claim:
    """The claim.

    Raises:
        Refused: another decision, a replayed yes among them: `refused.decision` has it.
        ReplayedFailure: a final no was stored.

    """
    if type(decision) is Acquired:
        return decision.claim
    if type(decision) is Replay and decision.outcome == "failed":
        raise ReplayedFailure(decision.response, _key_id(of))
    raise Refused(decision, _key_id(of))
