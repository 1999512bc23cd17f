"""Errors: one base, one class to each stable code of the contract (section 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from keyledger import _native

__all__ = [
    "AlreadyOpen",
    "Ambiguous",
    "AnsweredNo",
    "ClaimLost",
    "ClaimSettled",
    "Closed",
    "CompareFailed",
    "Corrupt",
    "EntryCancelled",
    "EntryDead",
    "EntryError",
    "EntryHeld",
    "EntryUnknown",
    "Forked",
    "InvalidArgument",
    "InvalidKey",
    "KeyConflict",
    "KeyledgerError",
    "NoResultYet",
    "NotFound",
    "NotParked",
    "OutboxFull",
    "Poisoned",
    "PurposeConflict",
    "Reentrant",
    "Storage",
    "Suspended",
    "TooLarge",
    "Unavailable",
    "UniqueViolation",
    "WrongFormat",
    "WrongState",
]

if TYPE_CHECKING:
    from keyledger._native import Entry, Response

_STAY = ("entry", "reports")


class KeyledgerError(Exception):
    """A call that could not be answered. Decisions of `begin` are answers, not errors.

    `code` is the same in every language.
    """

    code: ClassVar[str] = "keyledger"

    def __reduce__(self) -> tuple[Any, ...]:
        """To other processes, and into copies, goes what is data. An `entry` and `reports` are their ledger's, and stay behind."""
        return type(self), self.args, {name: value for name, value in vars(self).items() if name not in _STAY}


class InvalidKey(KeyledgerError):
    """A scope, operation name or key that L1 refuses: empty, longer than 255 bytes of UTF-8, or with a control character."""

    code = "invalid_key"


class InvalidArgument(KeyledgerError):
    """An argument outside its range; the message names it."""

    code = "invalid_argument"


class ClaimLost(KeyledgerError):
    """The claim is somebody else's now, or was settled otherwise: throw the result away."""

    code = "claim_lost"


class ClaimSettled(KeyledgerError):
    """This very object was settled before."""

    code = "claim_settled"


class NotFound(KeyledgerError):
    """There is no such record, or entry."""

    code = "not_found"


class NotParked(KeyledgerError):
    """The record is not parked under that fence."""

    code = "not_parked"


class PurposeConflict(KeyledgerError):
    """The purpose has an entry with another request; `entry` is that entry."""

    code = "purpose_conflict"


class KeyConflict(KeyledgerError):
    """The key has an entry with another request; `entry` is that entry."""

    code = "key_conflict"


class OutboxFull(KeyledgerError):
    """The outbox has no room for another unsettled entry. Nothing was stored."""

    code = "outbox_full"


class WrongState(KeyledgerError):
    """The entry is in a state in which this cannot be done."""

    code = "wrong_state"


class UniqueViolation(KeyledgerError):
    """`insert_unique` met a row."""

    code = "unique_violation"


class CompareFailed(KeyledgerError):
    """`compare_and_set` met another value."""

    code = "compare_failed"


class TooLarge(KeyledgerError):
    """Something is longer than its limit."""

    code = "too_large"


class Reentrant(KeyledgerError):
    """A call to the ledger from inside a closure that it runs; a claim's block that is entered inside itself."""

    code = "reentrant"


class AlreadyOpen(KeyledgerError):
    """Another process or handle holds the file."""

    code = "already_open"


class Forked(KeyledgerError):
    """The handle was opened before a fork, and this is the child: open the ledger after forking."""

    code = "forked"


class Suspended(KeyledgerError):
    """The handle is suspended."""

    code = "suspended"


class Closed(KeyledgerError):
    """The handle is closed."""

    code = "closed"


class Unavailable(KeyledgerError):
    """The file cannot be read or made right now, or what was asked cannot be done right now."""

    code = "unavailable"


class WrongFormat(KeyledgerError):
    """The file is of another kind or format version. It was not changed."""

    code = "wrong_format"


class Corrupt(KeyledgerError):
    """The file is damaged."""

    code = "corrupt"


class Poisoned(KeyledgerError):
    """An earlier commit failed: call `reopen`, then repeat the call."""

    code = "poisoned"


class Ambiguous(KeyledgerError):
    """It is open whether this was stored: call `reopen`, then repeat the call."""

    code = "ambiguous"


class Storage(KeyledgerError):
    """The operating system refused. Nothing was stored."""

    code = "storage"


class EntryError(KeyledgerError):
    """An entry of the outbox has no yes to return; `entry` is it, as it is then."""

    code = "entry"
    entry: Entry


class AnsweredNo(EntryError):
    """The entry was answered with a final no; `response` is that. The message says what kind of response it is, without its words."""

    code = "answered_no"
    response: Response

    def __str__(self) -> str:
        """Which entry, and what kind of no."""
        return f"{super().__str__()}: {kind_of(self.response)}" if hasattr(self, "response") else super().__str__()


class EntryDead(EntryError):
    """The entry was given up, and certainly never took effect."""

    code = "entry_dead"


class EntryCancelled(EntryError):
    """The entry was taken back, or not sent in time. It took no effect."""

    code = "entry_cancelled"


class EntryUnknown(EntryError):
    """Nobody knows whether the entry took effect: somebody must find out, and call `Outbox.resolve`."""

    code = "entry_unknown"


class EntryHeld(EntryError):
    """The entry waits for other credentials (`Outbox.resume`), or for a permission (`Outbox.resume_entry`)."""

    code = "entry_held"


class NoResultYet(EntryError, TimeoutError):
    """The time is up, and the entry is still to be sent, or being sent. The message has the error of its last try, if one went wrong."""

    code = "no_result_yet"

    def __str__(self) -> str:
        """How it stands, and what went wrong last: `entry.errors` has more."""
        errors = self.entry.errors if hasattr(self, "entry") else []
        return f"{super().__str__()}; its last error: {errors[-1].error}" if errors else super().__str__()

    def __reduce__(self) -> tuple[Any, ...]:
        """The entry stays behind, and the words go along."""
        made, _, state = super().__reduce__()
        return made, (str(self),), state


def kind_of(response: Response) -> str:
    """A response in a message: what it is, and not what it says."""
    length = len(response.body) if response.body is not None else (response.omitted or (0,))[0]
    said = f"{length} bytes of {response.media_type or 'no media type'}"
    if response.media_type == "application/http":
        said = f"{said}, status {_native.HttpAnswer.of(response).status}"
    return said


def _register() -> None:
    """A package that is imported again over the same native half raises the first one's errors: so they are this one's, too."""
    known = list(globals().values())
    own = {error.code: error for error in known if isinstance(error, type) and issubclass(error, KeyledgerError)}
    raised = _native.register_errors(own)
    globals().update({error.__name__: raised.get(code, error) for code, error in own.items()})


_register()
