"""The native half: what the package's Python is written on."""

import builtins
from asyncio import Future
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from os import PathLike
from types import TracebackType
from typing import Any, ClassVar, Literal, SupportsIndex, TypeAlias, TypedDict, TypeVar, final, overload

from typing_extensions import Self, Unpack

from keyledger._values import Effect
from keyledger.errors import KeyledgerError

__all__ = [
    "Acquired",
    "Answer",
    "Asked",
    "AtLeast",
    "AuditEntry",
    "Batch",
    "Begin",
    "Block",
    "Cancel",
    "Changes",
    "Claim",
    "Compacted",
    "Cursor",
    "Decided",
    "Delivery",
    "DeliveryOutcome",
    "DrainProgress",
    "Drained",
    "Driver",
    "DriverHandle",
    "Enqueue",
    "Enqueued",
    "Entry",
    "EntryPage",
    "FileCheck",
    "FileSizes",
    "Fingerprint",
    "Forgotten",
    "Gone",
    "Growth",
    "HttpAnswer",
    "HttpRequest",
    "HttpSend",
    "InProgress",
    "Janitor",
    "KeyField",
    "KeyId",
    "Lane",
    "LaneState",
    "Ledger",
    "ManualClock",
    "Members",
    "Mismatch",
    "Operation",
    "Outbox",
    "OutboxStats",
    "Page",
    "Parked",
    "RecordView",
    "Replay",
    "Report",
    "Response",
    "Resumed",
    "Route",
    "Stats",
    "Stop",
    "Stored",
    "Swept",
    "Tick",
    "Transaction",
    "TryError",
    "Turn",
    "answer_bytes_max",
    "derive_key",
    "error_codes",
    "nobody_inside",
    "nobody_was_told",
    "register_errors",
    "shut_gate",
]

_Span: TypeAlias = float | timedelta
_EntryState: TypeAlias = Literal["pending", "sending", "held", "unknown", "answered", "dead", "cancelled"]
_Resolution: TypeAlias = Literal["answered_yes", "answered_no", "dead", "resend"]

_Effect: TypeAlias = Literal["in_ledger", "repeatable", "at_most_once"]
_State: TypeAlias = Literal["in_progress", "released", "completed", "failed", "parked", "tombstone"]
_Answer: TypeAlias = Response | bytes | str
_Decision: TypeAlias = Acquired | Replay | InProgress | Mismatch | Parked | Gone
_Fields: TypeAlias = (
    Mapping[str, str] | Mapping[str, bytes] | Mapping[str, str | bytes] | Sequence[tuple[str, str | bytes]]
)
_T = TypeVar("_T")

class _Which(TypedDict, total=False):
    state: _State | None
    operation: str | None
    scope: str | None
    key: str | None
    older_than: _Span | None
    newer_than: _Span | None
    limit: int | None
    after: Cursor | None

@final
class Response:
    """What a handler answered: a media type and a body.

    Example:

        assert Response.json({"charged": 990}).body == b'{"charged":990}'
        assert Response("text/csv", b"1,2").media_type == "text/csv"
    """

    def __new__(cls, media_type: str, body: bytes, *, omitted: tuple[int, bytes] | None = None) -> Response: ...
    @staticmethod
    def of_bytes(body: bytes) -> Response:
        """`application/octet-stream`."""
    @staticmethod
    def of_text(body: str) -> Response:
        """`text/plain; charset=utf-8`."""
    @staticmethod
    def json(value: Any) -> Response:
        """`application/json`, of a JSON value: as `Fingerprint.of_json` takes them, and integers of any length."""
    @staticmethod
    def empty() -> Response:
        """No bytes and no media type."""
    @property
    def media_type(self) -> str:
        """Empty if there is none."""
    @property
    def body(self) -> bytes | None:
        """The bytes; None if they were over the limit: see `omitted`."""
    @property
    def omitted(self) -> tuple[int, bytes] | None:
        """Length and SHA-256 of a body that was over the limit (S4)."""
    def __getnewargs_ex__(self) -> tuple[tuple[str, bytes], dict[str, tuple[int, bytes] | None]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Members:
    """Which members of a JSON value a fingerprint looks at (F4), by JSON Pointers: `/order/items`."""

    @staticmethod
    def leave_out(*pointers: str) -> Members:
        """All but these. Raises `InvalidArgument` for what is no JSON Pointer."""
    @staticmethod
    def only(*pointers: str) -> Members:
        """These alone. Raises `InvalidArgument` for what is no JSON Pointer."""

@final
class Fingerprint:
    """What was asked, as a hash that tells a retry from another request under the same key; or `unchecked`, said on
    purpose (F7).

    Example:

        assert Fingerprint.of_json({"a": 1, "b": [2]}) == Fingerprint.of_json_text('{ "b": [2.0], "a": 1 }')
        assert Fingerprint.unchecked().hex is None
    """

    @staticmethod
    def unchecked() -> Fingerprint:
        """Requests under one key are not told apart, on purpose (F7)."""
    @staticmethod
    def of_bytes(*parts: bytes) -> Fingerprint:
        """Of byte strings (F2): no other list of them has it, however the bytes are distributed."""
    @staticmethod
    def of_json(value: Any, *, members: Members | None = None) -> Fingerprint:
        """Of a JSON value: dicts, lists, text, numbers, True, False and None (F1). The order of members does not count.

        Raises `InvalidArgument` for what JSON cannot hold, numbers that are no finite doubles, integers that a double
        cannot hold, and text that UTF-8 cannot hold. Sets, dates and objects are for a `default` of your own: write
        them as JSON values first.
        """
    @staticmethod
    def of_arguments(arguments: Any, default: Callable[[Any], Any]) -> Fingerprint:
        """Of the arguments of a call. What JSON has no word for, `default` puts in other values, as with `json.dumps`.

        Raises `InvalidArgument` as `of_json`, and whatever `default` raises.
        """
    @staticmethod
    def of_json_text(text: str | bytes, *, members: Members | None = None) -> Fingerprint:
        """Of JSON text, or its bytes in UTF-8 (F1). Raises `InvalidArgument` for whatever two parsers might read in two
        ways.
        """
    @staticmethod
    def of_http(
        method: str | bytes,
        path: str | bytes,
        *,
        query: str | bytes = "",
        content_type: str | bytes | None = None,
        body: str | bytes = "",
        members: Members | None = None,
    ) -> Fingerprint:
        """Of an HTTP request as it was received (F3). Never an error: a body that is not the JSON it says it is counts
        byte for byte.
        """
    @property
    def hex(self) -> str | None:
        """The hash in 64 lower-case hexadecimal digits; None for `unchecked`."""
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Operation:
    """An operation: its name, its effect, and for how long it matters.

    Example:

        CHARGE = Operation("charge", "repeatable", lease=60, retention=30 * 24 * 3600)
    """

    def __new__(
        cls,
        name: str,
        effect: _Effect | Effect,
        *,
        lease: _Span | None = None,
        retention: _Span | None = None,
        tombstone: _Span | None = None,
        remembered_for: _Span | None = None,
        max_attempts: int | None = None,
    ) -> Operation: ...
    @property
    def name(self) -> str:
        """What it is called in the ledger."""
    @property
    def effect(self) -> _Effect:
        """`in_ledger`, `repeatable` or `at_most_once`."""
    @property
    def lease_seconds(self) -> float:
        """For how long a claim is granted, and renewed."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class KeyId:
    """Names a record: a scope, an operation's name, and a key. It unpacks as the three, and is equal to a tuple of them.

    Raises `InvalidKey` for a part that is empty, longer than 255 bytes of UTF-8, or holds a control character (L1).
    """

    def __new__(cls, scope: str, operation: str, key: str) -> KeyId: ...
    @property
    def scope(self) -> str:
        """Whose key it is."""
    @property
    def operation(self) -> str:
        """What is being done."""
    @property
    def key(self) -> str:
        """The caller's name for one thing it wants done."""
    def derive_key(self, name: str) -> str:
        """The key that a claim on this record derives for a downstream call (E3): equal on every attempt, in every
        language.
        """
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> str: ...
    @overload
    def __getitem__(self, index: slice, /) -> tuple[str, ...]: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __lt__(self, other: KeyId | tuple[str, str, str], /) -> bool: ...
    def __le__(self, other: KeyId | tuple[str, str, str], /) -> bool: ...
    def __gt__(self, other: KeyId | tuple[str, str, str], /) -> bool: ...
    def __ge__(self, other: KeyId | tuple[str, str, str], /) -> bool: ...

def derive_key(namespace: str, *parts: bytes) -> str:
    """A key that depends on `namespace` and `parts` alone: a UUID, equal in every language (F6).

    Example:

        assert derive_key("my shop", b"cart 42") == derive_key("my shop", b"cart 42")
    """

class Block:
    """A block as `with` takes it. How it ends is `leave` of the class that inherits from this one."""

    def __new__(cls, *_args: Any, **_named: Any) -> Self: ...
    def __exit__(
        self, _class: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None, /
    ) -> None:
        """Ends it, by `leave`, whatever interrupts that."""

@final
class Begin:
    """One key, and what is asked for it: for `begin_with`, `begin_many` and `ask`."""

    def __new__(
        cls,
        operation: Operation,
        scope: str,
        key: str,
        fingerprint: Fingerprint,
        *,
        memo: bytes = b"",
        wait: _Span | None = None,
    ) -> Begin: ...

@final
class Acquired:
    """Yours to run."""

    KIND: ClassVar[Literal["acquired"]]
    __match_args__: ClassVar[tuple[Literal["claim"]]]
    @property
    def claim(self) -> Claim:
        """The claim: settle it."""

@final
class Replay:
    """It was done before; this is the answer that was given then."""

    KIND: ClassVar[Literal["replay"]]
    advice: ClassVar[str]
    key_advice: ClassVar[str]
    __match_args__: ClassVar[tuple[Literal["response"], Literal["outcome"]]]
    def __new__(
        cls,
        response: Response,
        outcome: Literal["completed", "failed"],
        settled_at_ms: int,
        expires_at_ms: int,
    ) -> Replay: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    @property
    def response(self) -> Response:
        """What was stored then."""
    @property
    def outcome(self) -> Literal["completed", "failed"]:
        """`completed`, or `failed` for a final no."""
    @property
    def settled_at_ms(self) -> int:
        """When it was settled, in milliseconds since 1970-01-01 UTC."""
    @property
    def expires_at_ms(self) -> int:
        """Until when the answer is kept, in milliseconds since 1970-01-01 UTC."""

@final
class InProgress:
    """Somebody is at it."""

    KIND: ClassVar[Literal["in_progress"]]
    advice: ClassVar[str]
    key_advice: ClassVar[str]
    __match_args__: ClassVar[tuple[Literal["retry_after_seconds"]]]
    def __new__(cls, running_for_seconds: float, retry_after_seconds: float) -> InProgress: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    @property
    def running_for_seconds(self) -> float:
        """For how long this attempt has had the claim."""
    @property
    def retry_after_seconds(self) -> float:
        """When to ask again with the same key; never longer than the lease."""

@final
class Mismatch:
    """The key was for another request."""

    KIND: ClassVar[Literal["mismatch"]]
    advice: ClassVar[str]
    key_advice: ClassVar[str]
    __match_args__: ClassVar[tuple[()]]
    def __new__(cls) -> Mismatch: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Parked:
    """Held for a person."""

    KIND: ClassVar[Literal["parked"]]
    advice: ClassVar[str]
    key_advice: ClassVar[str]
    __match_args__: ClassVar[tuple[Literal["reason"], Literal["since_ms"]]]
    def __new__(cls, reason: str, since_ms: int) -> Parked: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    @property
    def reason(self) -> str:
        """Why, such as `owner_lost`, or in the words of whoever parked it."""
    @property
    def since_ms(self) -> int:
        """Since when, in milliseconds since 1970-01-01 UTC."""

@final
class Gone:
    """Settled so long ago that the answer is gone."""

    KIND: ClassVar[Literal["gone"]]
    advice: ClassVar[str]
    key_advice: ClassVar[str]
    __match_args__: ClassVar[tuple[()]]
    def __new__(cls) -> Gone: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Claim:
    """The right to run an operation, held by one owner at a time under a lease.

    Settle it with `complete`, `fail`, `release` or `park`: once; a second time raises `ClaimSettled`. Where settling
    failed otherwise the claim is as it was. As a `with` block it is settled by the record's effect when the block
    raises. One that is dropped without being settled ends its lease at once, without I/O (S2).

    Example:

        match ledger.begin(CHARGE, "user-7", "order-1034", fingerprint):
            case Acquired(claim):
                with claim:
                    bank.charge(990, idempotency_key=claim.derive_key("charge"))
                    claim.complete(Response.json({"charged": 990}))
    """

    @property
    def key_id(self) -> KeyId:
        """Whose record this is a claim on."""
    @property
    def fence(self) -> int:
        """A number that strictly rises with every claim granted: hand it to whatever the operation writes to."""
    @property
    def attempt(self) -> int:
        """1 for the first owner of this key id; higher when earlier owners were lost or released it."""
    @property
    def effect(self) -> _Effect:
        """The record's effect, the strictest that any granted begin has named (E1): errors go by it (S8)."""
    @property
    def memo(self) -> bytes:
        """What the caller of `begin` stored for whoever recovers the record."""
    @property
    def steps(self) -> list[tuple[str, bytes]]:
        """The steps that this and earlier attempts have recorded: name and value."""
    @property
    def first_granted_at_ms(self) -> int:
        """When the key id was first granted: milliseconds since 1970-01-01 UTC."""
    @property
    def remaining_seconds(self) -> float | None:
        """Repeatable: for how many seconds the handler may still call out, since the downstream knows derived keys that
        long (E4). Zero: no longer. None for other effects.
        """
    @property
    def lease_seconds(self) -> float:
        """How many seconds a heartbeat renews the lease for, where it does not say: the operation's lease."""
    @property
    def ledger_number(self) -> int:
        """Which of the ledgers that this process has opened has granted it."""
    @property
    def is_lost(self) -> bool:
        """Whether a heartbeat was told that the claim is somebody else's: what the handler does will not count."""
    @property
    def is_settled(self) -> bool:
        """Whether nothing more can be done with it: it was settled, lost, or given away."""
    def derive_key(self, name: str) -> str:
        """A key for a downstream call. It depends on key id and `name` alone, so it is equal on every attempt, in every
        language and on every machine (E3).
        """
    def heartbeat(self, lease: _Span | None = None) -> None:
        """Renews the lease from now: by the operation's own length, or by `lease`.

        Raises `ClaimLost`, also once it is settled, and sets `is_lost`; `InvalidArgument` for a lease of zero.
        """
    def complete(self, response: _Answer) -> None:
        """It was done, and this is the answer. On return the answer is on disk, and is replayed from now on.

        Raises `ClaimLost`: throw the result away. `TooLarge` for the media type. `Ambiguous`: `reopen` the ledger and
        call again (S6).
        """
    def fail(self, response: _Answer) -> None:
        """A final no, told again to every retry. On return it is on disk. Raises as `complete`."""
    def release(self) -> None:
        """It surely did not happen: whoever comes next may run it. Raises as `complete`."""
    def park(self, reason: str) -> None:
        """Nobody knows whether it happened: held for a person. On return that is on disk.

        Raises as `complete`; `TooLarge` for a reason of more than 1 KiB.
        """
    def settle_by_effect(self) -> None:
        """Ends it as its record's effect has it for a handler that raised (S8): InLedger and Repeatable are released,
        AtMostOnce is parked.
        """
    def complete_async(self, response: _Answer) -> Future[None]:
        """`complete` on an event loop. What is settled is queued when the call is made, and is stored even if nobody waits
        for it (S3).
        """
    def fail_async(self, response: _Answer) -> Future[None]:
        """`fail` on an event loop."""
    def release_async(self) -> Future[None]:
        """`release` on an event loop."""
    def park_async(self, reason: str) -> Future[None]:
        """`park` on an event loop."""
    def settle_by_effect_async(self) -> Future[None]:
        """`settle_by_effect` on an event loop."""
    def drop(self) -> bool:
        """Lets it go unsettled: its lease ends at once for everyone in the process, without I/O (S2). Returns whether it
        was unsettled.
        """
    def complete_with(self, f: Callable[[Transaction], _Answer]) -> Response:
        """Runs `f` with a `Transaction` and stores its changes and the response that it returns together, or nothing of
        it.

        The fence is checked first: if this fence has completed before, `f` is not run and the stored response is
        returned (G2). `f` runs at most once. While it runs others wait: keep it short, and do not call the ledger from
        inside it. Returns the response. What `f` raises comes out as it is; then nothing is stored, and the claim is as
        it was.
        """
    def complete_with_async(self, f: Callable[[Transaction], _Answer]) -> Future[Response]:
        """`complete_with` on an event loop: `f` runs on the ledger's own thread. What it stored stays stored even if
        nobody waits (S3).
        """
    def complete_batch(self, batch: Batch, response: _Answer) -> Response:
        """`complete_with` as a value: the batch and the response are stored together, or not at all. Returns the response."""
    def step(self, name: str, f: Callable[[], bytes]) -> bytes:
        """Runs `f` until its result, bytes, is recorded under `name`; from then on, on any later attempt, returns that and
        does not run it.

        A kill between the two runs `f` again: give what it calls `derive_key(name)`. On return the result is on disk.

        Raises whatever `f` raises; `ClaimLost`; `InvalidArgument` for InLedger operations; `TooLarge`.
        """
    def recorded_step(self, name: str) -> bytes | None:
        """What this or an earlier attempt has recorded under `name`, or None. What `record_step` would refuse is refused
        here, before the step is done.
        """
    def record_step(self, name: str, value: bytes) -> None:
        """Records a step's result. On return it is on disk.

        Raises `ClaimLost`; `InvalidArgument` for InLedger operations and for a name that has another value; `TooLarge`.
        """
    def record_step_async(self, name: str, value: bytes) -> Future[None]:
        """`record_step` on an event loop. It is recorded even if nobody waits for it (S3)."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        _class: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None: ...
    def __aenter__(self) -> Coroutine[Any, Any, Self]: ...
    def __aexit__(
        self,
        _class: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> Coroutine[Any, Any, None]: ...

@final
class Transaction:
    """A transaction on the ledger's own tables, for the function that it is given to and no longer.

    Reads see what the transaction has written. Keys and values are bytes; a table is there as soon as a row is in it.

    Example:

        def count(tx: Transaction) -> int:
            visits = int(tx.get("visits", b"ann") or b"0") + 1
            tx.put("visits", b"ann", str(visits).encode())
            return visits

        assert ledger.transaction(count) == 1
    """

    def get(self, table: str, key: bytes) -> bytes | None:
        """A row, or None."""
    def scan(
        self, table: str, start: bytes | None = None, end: bytes | None = None, limit: int = 100
    ) -> list[tuple[bytes, bytes]]:
        """At most `limit` rows with keys from `start` on, before `end` if there is one, in the order of their keys: pairs
        of bytes.
        """
    def put(self, table: str, key: bytes, value: bytes) -> None:
        """Stores a row, whatever was there."""
    def delete(self, table: str, key: bytes) -> None:
        """Removes a row, if it is there."""
    def insert_unique(self, table: str, key: bytes, value: bytes) -> None:
        """Stores a row where there is none. Raises `UniqueViolation` where there is."""
    def compare_and_set(self, table: str, key: bytes, expected: bytes | None, value: bytes | None) -> None:
        """Stores, or removes with None, a row that is as `expected`; None: there is none. Raises `CompareFailed` where it
        is not.
        """
    def complete(self, id: KeyId, fence: int, response: _Answer) -> None:  # noqa: A002
        """Completes a claim by key id and fence, together with the rows: all of it, or none. Raises `ClaimLost`."""
    def enqueue(self, outbox: Outbox, enqueue: Enqueue) -> Enqueued:
        """Enqueues together with the rows: sent only if they are stored. Raises as `Outbox.enqueue`."""
    def apply(self, batch: Batch) -> None:
        """Applies a batch, in order; the first of its changes that fails ends it."""

@final
class Batch:
    """Changes of rows as a value. Applied in order, whole or not at all. Each method returns the batch itself.

    Example:

        ledger.apply(Batch().insert_unique("users", b"ann", b"").put("visits", b"ann", b"0"))
        assert ledger.scan("users") == [(b"ann", b"")]
    """

    def __new__(cls) -> Batch: ...
    def put(self, table: str, key: bytes, value: bytes) -> Batch:
        """As `Transaction.put`."""
    def delete(self, table: str, key: bytes) -> Batch:
        """As `Transaction.delete`."""
    def insert_unique(self, table: str, key: bytes, value: bytes) -> Batch:
        """As `Transaction.insert_unique`."""
    def compare_and_set(self, table: str, key: bytes, expected: bytes | None, value: bytes | None) -> Batch:
        """As `Transaction.compare_and_set`."""
    def enqueue(self, outbox: Outbox, enqueue: Enqueue) -> Batch:
        """As `Transaction.enqueue`."""

@final
class AuditEntry:
    """Who decided what about a record, and why."""

    @property
    def at_ms(self) -> int:
        """When: milliseconds since 1970-01-01 UTC."""
    @property
    def outcome(self) -> str:
        """What was decided: `completed`, `failed` or `not_done`."""
    @property
    def who(self) -> str:
        """Who decided it."""
    @property
    def note(self) -> str:
        """Why."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class RecordView:
    """A record as a person sees it. Instants are milliseconds since 1970-01-01 UTC."""

    @property
    def key_id(self) -> KeyId:
        """Whose record it is."""
    @property
    def state(self) -> _State:
        """`in_progress`, `released`, `completed`, `failed`, `parked` or `tombstone`. A lapsed record is still in progress,
        save an AtMostOnce one, which counts as parked.
        """
    @property
    def is_lapsed(self) -> bool:
        """Stored as in progress, with a lease that is over."""
    @property
    def is_volatile(self) -> bool:
        """Kept in memory alone (E2)."""
    @property
    def fence(self) -> int:
        """The fence of its last claim: what `resolve` asks for."""
    @property
    def attempt(self) -> int:
        """How often it was granted."""
    @property
    def effect(self) -> _Effect:
        """The strictest effect that any granted begin has named (E1)."""
    @property
    def fingerprint(self) -> Fingerprint:
        """That of its first begin (F7)."""
    @property
    def memo(self) -> bytes:
        """What the caller of `begin` stored for whoever recovers it."""
    @property
    def steps(self) -> list[tuple[str, bytes]]:
        """The steps that were recorded: name and value."""
    @property
    def audit(self) -> list[AuditEntry]:
        """What persons decided about it."""
    @property
    def first_granted_at_ms(self) -> int:
        """When it was first granted."""
    @property
    def lease_end_ms(self) -> int | None:
        """In progress: when its lease ends, by the wall clock."""
    @property
    def settled_at_ms(self) -> int | None:
        """When it was settled or released."""
    @property
    def retained_until_ms(self) -> int | None:
        """Until when its answer is replayed."""
    @property
    def gone_at_ms(self) -> int | None:
        """When its tombstone ends."""
    @property
    def response(self) -> Response | None:
        """The stored answer."""
    @property
    def parked_reason(self) -> str | None:
        """Why it is parked."""
    @property
    def parked_since_ms(self) -> int | None:
        """Since when it is parked."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Cursor:
    """Where a page ended."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Page:
    """A page of records: first those that wait for somebody, then the other unsettled ones, then settled ones."""

    @property
    def records(self) -> list[RecordView]:
        """The records."""
    @property
    def next(self) -> Cursor | None:
        """Where the next page begins: `list(after=...)`. None after the last."""

@final
class Forgotten:
    """How many records `forget` and `forget_scope` have removed, by what they were."""

    @property
    def settled(self) -> int:
        """Completed and failed ones."""
    @property
    def released(self) -> int:
        """Released ones."""
    @property
    def tombstones(self) -> int:
        """Tombstones."""
    @property
    def unsettled(self) -> int:
        """In progress or parked: only with `even_if_unknown`."""
    @property
    def kept_unsettled(self) -> int:
        """In progress or parked, and kept."""
    @property
    def entries(self) -> int:
        """Entries of the scope's outbox: unsettled ones only with `even_if_unknown`."""
    @property
    def kept_entries(self) -> int:
        """Entries of the scope's outbox that are unsettled, and kept."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Swept:
    """What a sweep did."""

    @property
    def at_ms(self) -> int:
        """When it ran: milliseconds since 1970-01-01 UTC."""
    @property
    def tombstoned(self) -> int:
        """Settled and released records that became tombstones."""
    @property
    def removed(self) -> int:
        """Records that became no record."""
    @property
    def entries_removed(self) -> int:
        """Settled entries of the outbox that have stayed long enough (O13)."""
    @property
    def more(self) -> bool:
        """Whether more are due."""
    @property
    def took_seconds(self) -> float:
        """How long it took."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class AtLeast:
    """A count that stops at a thousand."""

    @property
    def count(self) -> int:
        """The number, exact below a thousand."""
    @property
    def is_exact(self) -> bool:
        """Whether `count` is the number, and not only its lower bound."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Stats:
    """How a ledger stands."""

    @property
    def in_progress(self) -> int:
        """Claims, lapsed ones included, save AtMostOnce ones that are lapsed: those count as parked."""
    @property
    def released(self) -> int:
        """Released records."""
    @property
    def completed(self) -> int:
        """Completed records."""
    @property
    def failed(self) -> int:
        """Failed records."""
    @property
    def parked(self) -> int:
        """Records that wait for a person."""
    @property
    def tombstones(self) -> int:
        """Tombstones."""
    @property
    def file_bytes(self) -> int:
        """The length of the file in bytes; in memory, of the image."""
    @property
    def oldest_unsettled_at_ms(self) -> int | None:
        """Since when the oldest unsettled record waits: milliseconds since 1970-01-01 UTC."""
    @property
    def lapsed(self) -> AtLeast:
        """Claims whose lease is over."""
    @property
    def due(self) -> AtLeast:
        """Records that a sweep would turn into their next state."""
    @property
    def last_sweep(self) -> Swept | None:
        """What the last sweep of this handle did."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class FileSizes:
    """What `inspect_file` found by walking the file. Bytes."""

    @property
    def file(self) -> int:
        """The length of the file."""
    @property
    def stored(self) -> int:
        """Keys and values."""
    @property
    def overhead(self) -> int:
        """The trees' own overhead and slack."""
    @property
    def free(self) -> int:
        """Free pages, which later commits use again and `compact` gives back."""
    @property
    def leaked(self) -> int:
        """Pages that are neither free nor reachable."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class FileCheck:
    """What `check` found."""

    @property
    def records(self) -> int:
        """How many records there are."""
    @property
    def rows(self) -> int:
        """How many rows of the caller's own."""
    @property
    def entries(self) -> int:
        """How many entries of the outbox."""
    @property
    def faults(self) -> list[str]:
        """What is wrong, a sentence each: the first hundred."""
    @property
    def fault_count(self) -> int:
        """How many faults there are in all."""
    @property
    def is_well(self) -> bool:
        """Whether nothing is wrong."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Compacted:
    """Sizes of the file around a `compact`. Bytes."""

    @property
    def before_bytes(self) -> int:
        """Before."""
    @property
    def after_bytes(self) -> int:
        """After."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Tick:
    """What a step of a janitor did."""

    @property
    def swept(self) -> Swept | None:
        """The sweep; None in quiet hours, and while the wall clock has run away (L7)."""
    @property
    def recovered(self) -> int:
        """How many records were handed to recovery handlers."""
    @property
    def next_in_seconds(self) -> float:
        """In how many seconds to call again."""

class Janitor:
    """Sweeps what is due and runs recovery handlers, on a thread of its own or a step at a time with `tick`.

    Arguments: `interval` between steps (60 seconds, give or take a fifth), `batch` (1,000 records to a transaction),
    `recover`, pairs of an operation and a handler: it is given the claim on a lapsed or parked record, finds out what
    happened, and settles it; an error of it ends the lease. `quiet` is asked with the wall clock (milliseconds since
    1970 UTC) before each step: while it says True, nothing is swept. `on_growth`, pairs of a `Growth` and an alert: it
    is called with both the `Growth` and the `Stats` each time that figure rises to the threshold (T4).

    `on_error` is called with every exception: that of a step, which is tried again with backoff, and whatever a
    handler, `quiet` or an alert raises. Without it they are logged by the logger `keyledger`.

    Example:

        with Janitor(ledger, interval=30, recover=[(CHARGE, lambda claim: claim.complete("found in the bank's log"))]):
            pass  # the program
    """

    def __new__(
        cls,
        ledger: Ledger,
        *,
        interval: _Span | None = None,
        batch: int | None = None,
        quiet: Callable[[int], bool] | None = None,
        recover: Sequence[tuple[Operation, Callable[[Claim], object]]] = (),
        on_growth: Sequence[tuple[Growth, Callable[[Growth, Stats], object]]] = (),
        on_error: Callable[[Exception], object] | None = None,
        start: bool = True,
    ) -> Self: ...
    def tick(self) -> Tick:
        """Does what is due in one bounded step: for a janitor that was made with `start=False`."""
    def stop(self) -> None:
        """Ends the thread, and waits until it has, with the handler that it is in. Ctrl-C ends the wait. From inside a
        handler it waits for nothing.
        """
    def __enter__(self) -> Self: ...
    def __exit__(self, *_raised: object) -> Literal[False]: ...

@final
class Growth:
    """A threshold on one of the figures of `Stats`, by its name: `Growth("parked", 10)`.

    `oldest_unsettled` is a span, how long the oldest unsettled record has waited; the others are numbers. `FIGURES` has
    all names.

    Raises `InvalidArgument` for a figure that there is not.

    Example:

        with keyledger.Janitor(ledger, on_growth=[(Growth("parked", 1), print)]):
            pass  # the program
    """

    FIGURES: ClassVar[builtins.list[str]]
    def __new__(cls, figure: str, threshold: _Span) -> Growth: ...
    @property
    def figure(self) -> str:
        """The figure's name."""
    @property
    def threshold(self) -> float:
        """The number; of `oldest_unsettled`, seconds."""
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...

@final
class ManualClock:
    """A clock that stands still until a test moves it.

    Example:

        clock = keyledger.testing.ManualClock()
        with keyledger.in_memory(clock=clock) as ledger:
            clock.advance(3600)
    """

    def __new__(cls, wall_ms: int = 1700000000000) -> ManualClock: ...
    def advance(self, span: _Span) -> None:
        """Lets time pass on both clocks."""
    def jump_wall(self, by_ms: int) -> None:
        """Moves the wall clock alone, as somebody who sets it would. Stops at zero."""
    @property
    def wall_ms(self) -> int:
        """What the wall shows: milliseconds since 1970-01-01 UTC."""

class Ledger:
    """The native half of `keyledger.Ledger`."""

    def __new__(
        cls,
        path: str | PathLike[str] | None,
        *,
        shared: bool = False,
        clock: ManualClock | None = None,
        admin_socket: bool | str | PathLike[str] = False,
        max_response_bytes: int | None = None,
        cache_bytes: int | None = None,
    ) -> Self: ...
    def begin(
        self,
        operation: Operation,
        scope: str,
        key: str,
        fingerprint: Fingerprint,
        *,
        memo: bytes = b"",
        wait: _Span | None = None,
    ) -> _Decision:
        """`keyledger.Ledger.begin`, which says what it answers."""
    def begin_async(
        self,
        operation: Operation,
        scope: str,
        key: str,
        fingerprint: Fingerprint,
        *,
        memo: bytes = b"",
        wait: _Span | None = None,
    ) -> Future[_Decision]:
        """`begin` on an event loop. A caller that is cancelled is granted nothing, also in the moment in which the answer
        arrives.
        """
    def begin_with(self, begin: Begin) -> _Decision:
        """`begin` of what is asked for as a value."""
    def begin_with_async(self, begin: Begin) -> Future[_Decision]:
        """`begin_with` on an event loop."""
    def begin_many(self, begins: Sequence[Begin]) -> builtins.list[_Decision]:
        """Decides each as if alone, in order, all in one commit. Waits are not looked at. One invalid entry refuses the
        whole call.
        """
    def begin_many_async(self, begins: Sequence[Begin]) -> Future[builtins.list[_Decision]]:
        """`begin_many` on an event loop."""
    def ask(self, operation: Operation, scope: str, key: str, fingerprint: Fingerprint) -> _Decision:
        """As `begin` would answer now, save that nothing is granted or stored: where it would grant, the answer is
        `InProgress` (S9).
        """
    def declare(self, operation: Operation) -> None:
        """Checks an operation's name and numbers once, at the start of a program, instead of at its first use."""
    def new_key(self) -> str:
        """A new key for a new operation: a UUIDv7 (F5)."""
    @property
    def max_response_bytes(self) -> int:
        """The longest response that this ledger keeps whole, in bytes (S4)."""
    def suspend(self) -> None:
        """Lets go of file and lock; calls raise `Suspended` until `resume`. Durable claims stay, and their leases run on
        (P6).
        """
    def resume(self) -> None:
        """Takes file and lock again after `suspend`."""
    def reopen(self) -> None:
        """Opens the file again after `Ambiguous` or `Poisoned`. Claims outlive it (S6)."""
    def close(self) -> None:
        """Waits for commits in hand, wakes waiters, lets go of file and lock. Idempotent; later calls raise `Closed` (P7)."""
    def complete(self, id: KeyId, fence: int, response: _Answer) -> None:  # noqa: A002
        """Completes a claim by key id and fence: for whoever holds no `Claim`. On return the answer is on disk.

        Raises `ClaimLost`, also where nothing is left of the record; `TooLarge`; `Ambiguous`, after which `reopen` and
        the same call are safe (S6).
        """
    def fail(self, id: KeyId, fence: int, response: _Answer) -> None:  # noqa: A002
        """Fails a claim by key id and fence; as `complete`."""
    def release(self, id: KeyId, fence: int) -> None:  # noqa: A002
        """Releases a claim by key id and fence; as `complete`."""
    def park(self, id: KeyId, fence: int, reason: str) -> None:  # noqa: A002
        """Parks a claim by key id and fence; as `complete`."""
    def heartbeat(self, id: KeyId, fence: int, lease: _Span) -> None:  # noqa: A002
        """Renews a claim's lease from now, by key id and fence. Raises `ClaimLost`; `InvalidArgument` for a lease of zero."""
    def record_step(self, id: KeyId, fence: int, name: str, value: bytes) -> None:  # noqa: A002
        """Records a step's result, by key id and fence. On return it is on disk. Raises as `Claim.record_step`."""
    def recover(self, operation: Operation, limit: int = 100) -> builtins.list[Claim]:
        """Hands out claims on at most `limit` records of this operation that are lapsed, or parked without a person having
        looked, oldest first; each at most once per lease. Whoever asks finds out what happened, and settles them.
        """
    def recover_async(self, operation: Operation, limit: int = 100) -> Future[builtins.list[Claim]]:
        """`recover` on an event loop. Claims that it was to hand out when it is cancelled end their leases at once."""
    def resolve(
        self,
        id: KeyId,  # noqa: A002
        fence: int,
        outcome: Literal["completed", "failed", "not_done"],
        response: _Answer | None = None,
        *,
        who: str,
        note: str,
    ) -> None:
        """Settles a parked record for a person, who found out what happened: `outcome` is `completed` or `failed`, with
        the response, or `not_done`, **only when the old owner can no longer act**. `fence` is the one that `inspect`
        showed; who and note stay in the audit trail. On return it is on disk.

        Raises `NotParked` for another fence, a record that is not parked, or none; the same fence and outcome again is
        fine. `TooLarge` for who (255 bytes), note (4 KiB) or a media type.
        """
    def resolve_async(
        self,
        id: KeyId,  # noqa: A002
        fence: int,
        outcome: Literal["completed", "failed", "not_done"],
        response: _Answer | None = None,
        *,
        who: str,
        note: str,
    ) -> Future[None]:
        """`resolve` on an event loop."""
    def resolve_many(
        self,
        outcome: Literal["completed", "failed", "not_done"],
        response: _Answer | None = None,
        *,
        who: str,
        note: str,
        **which: Unpack[_Which],
    ) -> int:
        """Resolves every parked record that the filter lets through, page by page; returns how many. The filter's
        arguments are those of `list`. Raises as `resolve`, save that a record which somebody else settles meanwhile is
        passed over.
        """
    def inspect(self, id: KeyId) -> RecordView | None:  # noqa: A002
        """The record of a key id as it counts now; None is no record."""
    def list(self, **which: Unpack[_Which]) -> Page:
        """One page of records.

        Arguments: `state` (`parked` counts lapsed AtMostOnce records, too), `operation` (a name), `scope`, `key`,
        `older_than` and `newer_than` (by the first grant), `limit` (100), `after` (the `next` of the page before).

        Each page is a view of its own instant. A key id whose record stays as it is is on exactly one of the pages.
        """
    def forget(self, id: KeyId, *, even_if_unknown: bool = False) -> Forgotten:  # noqa: A002
        """Removes one record, settled or released or a tombstone (a person's right to be forgotten). One that is in
        progress or parked is removed only with `even_if_unknown`, because after that it may run again. Bytes stay in
        free pages until `compact`.
        """
    def forget_async(self, id: KeyId, *, even_if_unknown: bool = False) -> Future[Forgotten]:  # noqa: A002
        """`forget` on an event loop."""
    def forget_scope(self, scope: str, *, even_if_unknown: bool = False) -> Forgotten:
        """`forget` for every record of a scope, in one commit."""
    def forget_scope_async(self, scope: str, *, even_if_unknown: bool = False) -> Future[Forgotten]:
        """`forget_scope` on an event loop."""
    def sweep(self, limit: int = 1000) -> Swept:
        """Turns at most `limit` expired records into their next state, oldest first, in one transaction (T2). Never
        removes what is parked, nor what is in progress other than InLedger's (I6).
        """
    def sweep_async(self, limit: int = 1000) -> Future[Swept]:
        """`sweep` on an event loop."""
    def stats(self) -> Stats:
        """How the ledger stands, at a cost that does not depend on its size (T4)."""
    def inspect_file(self) -> FileSizes:
        """Walks the whole file for stored, free and leaked bytes. Others wait meanwhile."""
    def check(self) -> FileCheck:
        """Walks the whole file: pages and checksums, records, index rows and counters against each other. Nothing is
        changed; faults are told in the answer.
        """
    def compact(self, *, even_with_claims: bool = False) -> Compacted:
        """Gives free pages back to the file system; others wait meanwhile (T5). A kill in it loses nothing.

        Raises `Unavailable` while there are claims, unless `even_with_claims`.
        """
    def snapshot(self, path: str | PathLike[str]) -> None:
        """Writes a consistent copy into a new file, put in place whole. The copy is another ledger (I5).

        Raises `Unavailable` when the path exists or cannot be made.
        """
    def transaction(self, f: Callable[[Transaction], _T]) -> _T:
        """Runs `f` with a `Transaction` on the ledger's own tables: all that it changes is stored, or nothing. On return
        it is on disk.

        `f` runs once; while it runs others wait: keep it short, and do not call the ledger from inside it. Returns what
        `f` returns. What `f` raises comes out as it is; then nothing is stored.
        """
    def transaction_async(self, f: Callable[[Transaction], _T]) -> Future[_T]:
        """`transaction` on an event loop: `f` runs on the ledger's own thread, and what it stored stays stored even if
        nobody waits.
        """
    def apply(self, batch: Batch) -> None:
        """Applies a batch: all of it, or nothing. On return it is on disk. Raises the errors of its changes."""
    def get(self, table: str, key: bytes) -> bytes | None:
        """A row as it was committed last, or None."""
    def scan(
        self, table: str, start: bytes | None = None, end: bytes | None = None, limit: int = 100
    ) -> builtins.list[tuple[bytes, bytes]]:
        """Rows as they were committed last: see `Transaction.scan`."""

def error_codes() -> list[str]:
    """Every code of the core's."""

def nobody_inside() -> None:
    """A forked child has none of the threads that its parent has inside (P3)."""

def shut_gate() -> None:
    """From now on no thread but this one calls Python. Waits for those that are inside, a second at most."""

def nobody_was_told(untold: object) -> None:
    """An answer that its caller was gone for, or a list of them: what was granted is released, since no handler has run
    (section 4), and what was handed out to be sent is given back, since it was not sent (O6).
    """

def register_errors(classes: dict[str, type]) -> dict[str, type]:
    """Takes the package's exception classes, by code, and returns those that are raised from now on: the ones that came
    first.
    """

@final
class KeyField:
    """How the other side wants its keys (C1). Default: `Idempotency-Key`, quoted."""

    def __new__(cls, name: str | None = None, *, quoted: bool = True) -> KeyField: ...
    @property
    def name(self) -> str:
        """The field's name."""
    def value(self, key: str) -> str:
        """The value to send: exactly one line holds it. Raises `InvalidArgument` for a key that cannot be said so."""
    def unsendable(self, added: Sequence[tuple[str, str | bytes]]) -> str | None:
        """The first of the fields added at a send that cannot stand there: what is no field, and the key's own. None: all
        can.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

class HttpRequest:
    """An HTTP request as the outbox stores it: without its key and without credentials, which are added at each send
    (O14).

    The fields are pairs of name and value, or a dict. The body is bytes, or text (UTF-8); or `json` is a JSON value, of
    which equal ones are equal bytes, and the Content-Type says so unless the fields have one.

    Raises `InvalidArgument` for what must not be stored, or cannot be sent; `secret` names more fields that carry
    credentials.

    Example:

        request = HttpRequest("POST", "https://bank.example/charges", {"Accept": "application/json"}, json={"cents": 1999})
        outbox.enqueue("user-7", "charge", request, purpose="pay cart 42")
    """

    def __new__(
        cls,
        method: str,
        url: str,
        fields: _Fields = (),
        body: bytes | str | None = None,
        *,
        json: object = None,
        key_field: KeyField | None = None,
        secret: Sequence[str] = (),
    ) -> Self: ...
    @property
    def method(self) -> str:
        """The method."""
    @property
    def url(self) -> str:
        """The absolute URL."""
    @property
    def fields(self) -> list[tuple[str, bytes]]:
        """The field lines, in order: names as they were written, and values."""
    @property
    def body(self) -> bytes:
        """The body."""
    def __bytes__(self) -> bytes: ...

@final
class HttpSend:
    """One send: a request on its way out, hop by hop, and what its end is told as."""

    @staticmethod
    def of(delivery: Delivery, key_field: KeyField) -> HttpSend | DeliveryOutcome:
        """What is sent of a delivery; or, if nothing can be, the outcome."""
    @property
    def request(self) -> HttpRequest:
        """The request as it was stored, for whoever gives credentials for it."""
    @property
    def fields(self) -> list[tuple[str, bytes]]:
        """The field lines to send, the one key field with them."""
    def redirected(self, url: str, status: int, location: str | bytes | None, hops: int) -> str | None:
        """Where the request goes after an answer with that status and Location to the hop that went to `url`; None: it is
        the answer.
        """
    @staticmethod
    def silent(error: str, *, may_have_left: bool, hops: int) -> DeliveryOutcome:
        """What a delivery is told that was not answered after so many redirects."""

@final
class HttpAnswer:
    """An answer over HTTP: as it came, or as an entry of the outbox keeps it."""

    def __new__(
        cls, status: int, fields: _Fields = (), body: bytes | str = b"", *, is_whole: bool = True
    ) -> HttpAnswer: ...
    @staticmethod
    def of(response: Response) -> HttpAnswer:
        """What the ledger keeps of an answer, read again: `HttpAnswer.of(entry.result(30))`."""
    @property
    def status(self) -> int:
        """The status code."""
    @property
    def fields(self) -> list[tuple[str, bytes]]:
        """The field lines, in order."""
    def field(self, name: str) -> str | None:
        """The first line of that name, as text of Latin-1; None: there is none."""
    @property
    def body(self) -> bytes:
        """The body. Of one that was too long to keep there is nothing, or its beginning: see `is_whole`."""
    @property
    def is_whole(self) -> bool:
        """Whether the body is all there."""
    def outcome(self, now_ms: int, body_bytes_max: int) -> DeliveryOutcome:
        """What a delivery is told that was answered so, by default (O8, O9). `now_ms` stands in where the answer has no
        Date; at most `body_bytes_max` bytes of the body are kept.
        """

def answer_bytes_max() -> int:
    """How many bytes of an answer's body are kept where nothing else is said."""

@final
class Lane:
    """A lane: an ordering key among entries. The lane `default` is always there, and is unordered unless it is declared
    otherwise.

    Example:

        outbox = ledger.outbox(lanes=[Lane.ordered("orders", on_stuck_head="skip"), Lane.unordered("mail")])
    """

    @staticmethod
    def ordered(name: str, *, on_stuck_head: Literal["block", "skip"] = "block") -> Lane:
        """First in, first out, one in flight at a time in each scope. What a dead, unknown or held head does to those
        behind it: `block` (they wait until somebody has decided about it) or `skip`.
        """
    @staticmethod
    def unordered(name: str) -> Lane:
        """By due time, many at once."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Enqueue:
    """One request and what is wanted of it: for `enqueue_many`, `Transaction.enqueue` and `Batch.enqueue`. The arguments
    are those of `Outbox.enqueue`: `send_by` is a datetime with a zone, or milliseconds since 1970 UTC.

    Example:

        outbox.enqueue_many([Enqueue("user-7", "mail", b"...", purpose=f"mail {number}") for number in range(3)])
    """

    def __new__(
        cls,
        scope: str,
        operation: str,
        request: HttpRequest | bytes | str,
        *,
        media_type: str | None = None,
        purpose: str | None = None,
        lane: str | None = None,
        key: str | None = None,
        fingerprint: Fingerprint | None = None,
        send_by: datetime | int | None = None,
        even_if_answered: bool = False,
    ) -> Enqueue: ...

@final
class TryError:
    """An error of one of an entry's tries."""

    @property
    def at_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""
    @property
    def error(self) -> str:
        """What went wrong, or what the server said."""

@final
class Decided:
    """What a person decided about an entry."""

    @property
    def at_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""
    @property
    def outcome(self) -> str:
        """What was decided."""
    @property
    def who(self) -> str:
        """Who decided it."""
    @property
    def note(self) -> str:
        """Why."""

@final
class Entry:
    """An entry of the outbox as it was when it was read. Instants are milliseconds since 1970-01-01 UTC.

    `result` waits for what comes of it, in this process or a later one.
    """

    @property
    def id(self) -> int:
        """What names it in this ledger."""
    @property
    def scope(self) -> str:
        """Whose it is."""
    @property
    def lane(self) -> str:
        """The lane that it is in."""
    @property
    def operation(self) -> str:
        """What is asked for."""
    @property
    def key(self) -> str:
        """The key that goes with it, on every try the same (O2)."""
    @property
    def purpose(self) -> str | None:
        """What the user wants, if the caller named it."""
    @property
    def fingerprint(self) -> Fingerprint:
        """What tells its request from another under the same key or purpose."""
    @property
    def state(self) -> _EntryState:
        """`pending`, `sending`, `held`, `unknown`, `answered`, `dead` or `cancelled`."""
    @property
    def is_settled(self) -> bool:
        """Whether there is a final answer, or never will be one."""
    @property
    def response(self) -> Response | None:
        """The final answer, a yes or a no."""
    @property
    def http_answer(self) -> HttpAnswer | None:
        """The final answer, a yes or a no, as one over HTTP."""
    @property
    def is_yes(self) -> bool:
        """Whether it was answered with a yes."""
    @property
    def reason(self) -> str | None:
        """Why it is held, unknown, dead, or cancelled by time, in words."""
    @property
    def is_held_with_lane(self) -> bool:
        """Whether its whole lane is held with it."""
    @property
    def tries(self) -> int:
        """How many tries count."""
    @property
    def given_back(self) -> int:
        """How many tries were given back: the server asked for the same key later, or turned it away (O6)."""
    @property
    def errors(self) -> list[TryError]:
        """The errors of the last sixteen tries, the oldest first."""
    @property
    def may_have_taken_effect(self) -> bool:
        """Whether some try may have taken effect without an answer (O9)."""
    @property
    def due_at_ms(self) -> int | None:
        """When it may be sent next, as far as it alone is concerned."""
    @property
    def lease_end_ms(self) -> int | None:
        """When the lease of the delivery under way ends."""
    @property
    def first_unknown_at_ms(self) -> int | None:
        """The first send whose outcome is unknown: the window counts from it (O7)."""
    @property
    def send_by_ms(self) -> int | None:
        """Until when it is worth sending, if the caller said so."""
    @property
    def created_at_ms(self) -> int:
        """When it was enqueued."""
    @property
    def settled_at_ms(self) -> int | None:
        """When it was settled."""
    @property
    def successor(self) -> int | None:
        """The number of the entry that took its place (O7)."""
    @property
    def fence(self) -> int:
        """The fence of its last delivery; zero before the first."""
    @property
    def audit(self) -> list[Decided]:
        """What persons decided about it."""
    @property
    def request_bytes(self) -> int:
        """The length of its request in bytes."""
    @property
    def change(self) -> int:
        """Rises with every change of any entry: where `changes` goes on after this one."""
    def result(self, timeout: _Span | None = None) -> Response:
        """Waits for what comes of it, at most `timeout` seconds (None: as long as it takes), and returns the response of a
        yes. Any later process can ask: `outbox.get(id).result(30)`. Nothing is sent by this: a driver does that, here
        or elsewhere.

        Raises `AnsweredNo` (with `.response`), `EntryDead`, `EntryCancelled`; as soon as a person is needed
        `EntryUnknown` or `EntryHeld`; when the time is up `NoResultYet`, which is a `TimeoutError` too. All have
        `.entry` as it is then. `NotFound`: it was swept. Ctrl-C ends the wait.
        """
    def result_async(self, timeout: _Span | None = None) -> Future[Response]:
        """The same as a future of asyncio."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
# It is no tuple; but type checkers know of no other class what it unpacks into.
class Enqueued(tuple[Entry, bool]):
    """What `enqueue` answers: the entry, and whether it is new. `entry, created = outbox.enqueue(...)` works too."""

    __match_args__: ClassVar[tuple[str, str]] = ...
    @property
    def entry(self) -> Entry:
        """The entry: a new one, or the one that was there."""
    @property
    def created(self) -> bool:
        """Whether it is new."""

@final
class DeliveryOutcome:
    """What came of one delivery: a transport returns one. Each method that says more returns another outcome.

    Example:

        DeliveryOutcome.retry("the server answered 503").not_before(30).pausing_lane()
    """

    @staticmethod
    def yes(response: Response | bytes | str) -> DeliveryOutcome:
        """It was done, and this is the answer: a Response, bytes or text."""
    @staticmethod
    def no(response: Response | bytes | str) -> DeliveryOutcome:
        """A final no. It settles the entry only if no other try's outcome is unknown (O9)."""
    @staticmethod
    def retry(error: str) -> DeliveryOutcome:
        """Try again. This try may have taken effect, unless it is `not_taken`."""
    @staticmethod
    def dead(reason: str) -> DeliveryOutcome:
        """Given up: this try certainly took no effect. If another may have, the entry becomes unknown (O9)."""
    @staticmethod
    def unknown(reason: str) -> DeliveryOutcome:
        """Nobody knows whether it took effect, and asking again will not tell: held for whoever reconciles."""
    @staticmethod
    def hold_lane(reason: str) -> DeliveryOutcome:
        """The credentials are not accepted: nothing of this scope's lane is sent until `resume` (O8). The try is given
        back.
        """
    @staticmethod
    def hold_entry(reason: str) -> DeliveryOutcome:
        """The principal may not do this: the entry alone is held until it is resumed (O8). The try is given back."""
    def replayed(self) -> DeliveryOutcome:
        """An answer that was told before: it settles the entry from any delivery, whatever other tries' outcomes are."""
    def not_taken(self) -> DeliveryOutcome:
        """A retry after a try that certainly took no effect: no byte left, or it was turned away."""
    def not_counted(self) -> DeliveryOutcome:
        """A retry that does not count as a try: the server asks for the same key later."""
    def unanswered(self) -> DeliveryOutcome:
        """A retry because no answer came, whether or not the request has arrived: `Outbox.online` has it tried soon."""
    def not_before(self, span: _Span) -> DeliveryOutcome:
        """Not before `span` (seconds, or a timedelta) has passed, up to the outbox's maximum."""
    def pausing_lane(self) -> DeliveryOutcome:
        """Nothing of this scope's lane is sent in that time, either."""
    def key_expires_after(self, span: _Span) -> DeliveryOutcome:
        """The server has told for how long (seconds, or a timedelta) it will know the key (O7)."""
    @property
    def kind(self) -> Literal["yes", "no", "retry", "dead", "unknown", "hold_lane", "hold_entry"]:
        """`yes`, `no`, `retry`, `dead`, `unknown`, `hold_lane` or `hold_entry`."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Report:
    """What came of a delivery, for `settle` and `settle_and_lease`; it can be told again after an error."""

    def __new__(cls, id: int, fence: int, outcome: DeliveryOutcome) -> Report: ...  # noqa: A002
    @property
    def id(self) -> int:
        """The entry's number."""
    @property
    def fence(self) -> int:
        """The delivery's fence."""
    @property
    def outcome(self) -> DeliveryOutcome:
        """What came of it."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Delivery:
    """One leased try at sending an entry: nobody else sends it meanwhile (O4). Send `request` with `key` within
    `lease_left_seconds`, then `settle` it.

    One that is dropped counts as a try whose outcome is unknown, and is due after its backoff (O6). One that a driver
    hands to a transport is settled by what the transport returns; `settle` and `report` raise `ClaimSettled` there.
    """

    @property
    def entry(self) -> Entry:
        """The entry as it is while this delivery is out."""
    @property
    def id(self) -> int:
        """The entry's number."""
    @property
    def scope(self) -> str:
        """Whose request it is."""
    @property
    def operation(self) -> str:
        """What is asked for."""
    @property
    def key(self) -> str:
        """The key to send: the same on every try (O2)."""
    @property
    def request(self) -> bytes:
        """The request's bytes, read from the ledger for this try (O2)."""
    @property
    def media_type(self) -> str:
        """The request's media type."""
    @property
    def fence(self) -> int:
        """Which fence this delivery has: a number that strictly rises."""
    @property
    def is_in_doubt(self) -> bool:
        """Whether an earlier try may have taken effect."""
    @property
    def lease_left_seconds(self) -> float:
        """How long the lease still lasts: a transport neither sends nor waits longer (O7, C4)."""
    def report(self, outcome: DeliveryOutcome) -> Report:
        """What came of it, as a value, for `settle` and `settle_and_lease` of the outbox. The delivery is over then.

        Raises `ClaimSettled` where it was settled or reported before.
        """
    def settle(self, outcome: DeliveryOutcome) -> None:
        """Settles it. On return the outcome is on disk.

        Raises `ClaimLost`: the entry is no longer this delivery's, and what it says does not count (O5);
        `ClaimSettled`: it was settled before; those of storage: it can be settled again then.
        """
    def settle_async(self, outcome: DeliveryOutcome) -> Future[None]:
        """The same as a future of asyncio. The outcome is stored even if that is cancelled."""
    def drop(self) -> None:
        """Lets it go, as if it were dropped: a try whose outcome is unknown, due after its backoff (O6)."""

@final
class Turn:
    """What a call that settles and leases did."""

    @property
    def settled(self) -> list[KeyledgerError | None]:
        """For each report None if it counted, else the error `ClaimLost` (O5)."""
    @property
    def deliveries(self) -> list[Delivery]:
        """What was due."""

@final
class Cancel:
    """What `cancel` answers: truthfully, after it is on disk (O10)."""

    @property
    def is_cancelled(self) -> bool:
        """True: no lease is out, and no try can have taken effect. False: too late; nothing was changed."""
    @property
    def entry(self) -> Entry:
        """The entry as it is now."""

@final
class Resumed:
    """What `resume` did for a scope."""

    @property
    def lanes(self) -> int:
        """Lanes that were held."""
    @property
    def entries(self) -> int:
        """Entries that were held with them, and are due now."""

@final
class EntryPage:
    """A page of entries, oldest first."""

    @property
    def entries(self) -> list[Entry]:
        """The entries."""
    @property
    def next(self) -> int | None:
        """After which entry the next page begins; None after the last."""

@final
class LaneState:
    """A lane of a scope that is held or paused."""

    @property
    def scope(self) -> str:
        """Whose."""
    @property
    def lane(self) -> str:
        """Its name."""
    @property
    def held_reason(self) -> str | None:
        """Why it is held."""
    @property
    def held_since_ms(self) -> int | None:
        """Since when it is held: milliseconds since 1970-01-01 UTC."""
    @property
    def paused_until_ms(self) -> int | None:
        """Until when it is paused: milliseconds since 1970-01-01 UTC."""

@final
class OutboxStats:
    """How an outbox stands."""

    @property
    def counts(self) -> dict[_EntryState, int]:
        """How many entries are in each state, by its name."""
    @property
    def unsettled(self) -> int:
        """How many entries are unsettled."""
    @property
    def unsettled_bytes(self) -> int:
        """How many bytes their requests have together."""
    @property
    def budget(self) -> int:
        """Retries that the budget lets out now."""
    @property
    def lanes(self) -> list[LaneState]:
        """Lanes that are held or paused."""
    @property
    def held_lanes(self) -> int:
        """How many lanes are held (O15)."""
    @property
    def last_change(self) -> int:
        """The number of the last change: where `changes` goes on after everything that is there."""

@final
class Changes:
    """The changes of an outbox, one after the other: every entry that changes, as it is then. An iterator that waits; in
    asyncio an asynchronous one. One call at a time.
    """

    def next(self, timeout: _Span) -> Entry | None:
        """The next entry that changed; waits at most `timeout` seconds; None when the time is up."""
    @property
    def last_change(self) -> int:
        """The number of the last change that was told: where another process goes on."""
    def __iter__(self) -> Changes: ...
    def __next__(self) -> Entry: ...
    def __aiter__(self) -> Changes: ...
    def __anext__(self) -> Future[Entry]: ...

@final
class Stop:
    """A request to stop: any thread may make it, such as that of a handler for a signal."""

    def __new__(cls) -> Stop: ...
    def stop(self) -> None:
        """Asks everyone who was given it to stop. It waits for nobody, and cannot be taken back."""
    @property
    def is_stopped(self) -> bool:
        """Whether it was asked for."""

@final
class DrainProgress:
    """How far a drain is. It counts entries of its scope, whoever sends and settles them."""

    @property
    def sent(self) -> int:
        """How many deliveries this drain has sent; an entry that is tried twice counts twice."""
    @property
    def settled(self) -> int:
        """How many entries were settled since it began."""
    @property
    def remaining(self) -> int:
        """How many are unsettled, those that are held or unknown too."""

@final
class Drained:
    """What a drain has left."""

    @property
    def sent(self) -> int:
        """How many deliveries it has sent."""
    @property
    def settled(self) -> int:
        """How many entries were settled meanwhile."""
    @property
    def was_stopped(self) -> bool:
        """Whether it was stopped before it was done."""
    @property
    def unsettled(self) -> int:
        """How many entries of the scope are unsettled."""
    @property
    def counts(self) -> dict[_EntryState, int]:
        """How many entries of the scope are in each state, by its name."""

@final
class Driver:
    """Sends what is due in one scope, over a transport: a callable that is given a delivery and returns a
    `DeliveryOutcome`, or an object with `send` and perhaps `has_other_credentials(scope)`. It calls that on threads of
    its own, `in_flight` at a time.
    """

    def __new__(
        cls,
        outbox: Outbox,
        scope: str,
        transport: object,
        *,
        in_flight: int | None = None,
        stop: Stop | None = None,
        on_error: Callable[[Exception], object] | None = None,
        name: str | None = None,
    ) -> Driver: ...
    def start(self) -> DriverHandle:
        """Works on threads of its own until the handle is stopped or dropped, or the ledger is closed."""
    @property
    def is_draining(self) -> bool:
        """Whether a drain is under way, also one that nobody waits for any more."""
    def drain(self, until: _Span | None, progress: Callable[[DrainProgress], object] | None = None) -> Drained:
        """Sends until nothing is due within `until` seconds from now (O15). Calls `progress` with a `DrainProgress` on
        this thread, at the beginning and as it goes; what that raises stops the drain and comes out of it.

        Ctrl-C stops it: nothing more is leased, what is in flight is waited for while its lease lasts, and then
        `KeyboardInterrupt` is raised; at once, if it comes again.
        """

@final
class DriverHandle:
    """A driver at work on threads of its own."""

    def stop(self) -> None:
        """Leases nothing more, and waits until what is in flight is sent and settled, or its leases are over. Again it is
        nothing.

        Raises why it ended before it was stopped, or could not store what came back: `.reports` has those outcomes.
        Ctrl-C ends the wait: it ends by itself then.
        """
    @property
    def is_running(self) -> bool:
        """Whether it still works, in this process. It ends by itself when the ledger is closed."""

class Outbox:
    """The outbox of a ledger: requests are stored with their keys before they are sent, and sent until they are answered."""

    def __new__(cls, ledger: Ledger, **settings: Any) -> Self: ...
    def enqueue(self, enqueue: Enqueue, /) -> Enqueued:
        """Stores a request with its key, to be sent; or finds the entry that is there already for its purpose or key (O1,
        O3). On return it is on disk.

        Raises `PurposeConflict`, `KeyConflict`: the purpose, or the key, has another request, and `.entry` is that;
        `OutboxFull`; `InvalidKey`, `InvalidArgument` for a lane that was not declared, `TooLarge`; those of storage.
        Nothing is stored then.
        """
    def enqueue_async(self, enqueue: Enqueue, /) -> Future[Enqueued]:
        """`enqueue` as a future of asyncio. It is stored even if that is cancelled."""
    def enqueue_many(self, many: Sequence[Enqueue]) -> builtins.list[Enqueued]:
        """The same for many, in order, in one commit (O1): all of them, or none. The first error ends the call."""
    def enqueue_many_async(self, many: Sequence[Enqueue]) -> Future[builtins.list[Enqueued]]:
        """`enqueue_many` as a future of asyncio."""
    def lease_due(self, scope: str, limit: int = 10) -> builtins.list[Delivery]:
        """Hands out at most `limit` deliveries of a scope that are due, in due order. On return their leases are on disk
        (O4).
        """
    def lease_due_async(self, scope: str, limit: int = 10) -> Future[builtins.list[Delivery]]:
        """`lease_due` as a future of asyncio."""
    def settle(self, report: Report) -> None:
        """Settles a delivery by its report. On return the outcome is on disk. Raises as `Delivery.settle`."""
    def settle_async(self, report: Report) -> Future[None]:
        """`settle` as a future of asyncio. It is stored even if that is cancelled."""
    def settle_and_lease(self, reports: Sequence[Report], scope: str, limit: int = 10) -> Turn:
        """Settles deliveries and hands out what is due, in one commit."""
    def settle_and_lease_async(self, reports: Sequence[Report], scope: str, limit: int = 10) -> Future[Turn]:
        """`settle_and_lease` as a future of asyncio."""
    def next_wakeup(self, scope: str) -> int | None:
        """The earliest instant at which `lease_due` with that scope could hand something out or change an entry's state,
        in milliseconds since 1970 UTC; None: time alone brings nothing (O11).
        """
    def get(self, id: int | Entry) -> Entry | None:  # noqa: A002
        """An entry; None: there is no such entry."""
    def request(self, id: int | Entry) -> tuple[str, bytes] | None:  # noqa: A002
        """An entry's request: media type and bytes, as they were enqueued (O2); None: there is no such entry."""
    def find(self, scope: str, purpose: str, lane: str = "default") -> Entry | None:
        """The entry of a purpose: the unsettled one, else the newest; None: there is none. It only looks (O3)."""
    def list(
        self,
        *,
        scope: str | None = None,
        lane: str | None = None,
        operation: str | None = None,
        state: _EntryState | None = None,
        older_than: _Span | None = None,
        limit: int = 100,
        after: int | None = None,
    ) -> EntryPage:
        """One page of the entries of that scope, lane, operation and state, enqueued at least so long ago (all of them
        where nothing is said), oldest first: at most `limit`, after the entry with the number `after`.
        """
    def stats(self) -> OutboxStats:
        """How it stands, at a cost that does not depend on how many entries there are."""
    def wait(self, id: int | Entry, timeout: _Span | None = None) -> Entry:  # noqa: A002
        """Waits until the entry is settled, at most `timeout` seconds (None: as long as it takes); the entry as it is
        then. Any later process can wait for it. Raises `NotFound`, also when it was swept meanwhile. Ctrl-C ends the
        wait.
        """
    def wait_async(self, id: int | Entry, timeout: _Span | None = None) -> Future[Entry]:  # noqa: A002
        """`wait` as a future of asyncio."""
    def wait_until(
        self,
        id: int | Entry,  # noqa: A002
        is_enough: Callable[[Entry], bool],
        timeout: _Span | None = None,
    ) -> Entry:
        """Waits until `is_enough(entry)` is true of the entry as it is, or it is settled, at most `timeout` seconds."""
    def wait_until_async(
        self,
        id: int | Entry,  # noqa: A002
        is_enough: Callable[[Entry], bool],
        timeout: _Span | None = None,
    ) -> Future[Entry]:
        """`wait_until` as a future of asyncio. `is_enough` is called on a thread of keyledger's, and must not wait."""
    def changes(self, after: int = 0) -> Changes:
        """Every entry that changes after that change, in the order of their last changes; after change 0, every entry. To
        be iterated over, with `for` or `async for`; it does not end by itself.
        """
    def cancel(self, id: int | Entry) -> Cancel:  # noqa: A002
        """Takes an entry back, if no lease is out and no try can have taken effect (O10). Cancelling again is ok."""
    def cancel_async(self, id: int | Entry) -> Future[Cancel]:  # noqa: A002
        """`cancel` as a future of asyncio."""
    def resume(self, scope: str) -> Resumed:
        """There are other credentials: everything of the scope that is held with its lane is due again (O8)."""
    def resume_async(self, scope: str) -> Future[Resumed]:
        """`resume` as a future of asyncio."""
    def online(self, scope: str) -> int:
        """The network is back: what waits in the scope because no answer came is due within the first backoff (O6). How many
        entries are due earlier now.
        """
    def online_async(self, scope: str) -> Future[int]:
        """`online` as a future of asyncio."""
    def resume_entry(self, id: int | Entry) -> Entry:  # noqa: A002
        """One held entry is due again (O8). Raises `WrongState` for an entry that is not held."""
    def resume_entry_async(self, id: int | Entry) -> Future[Entry]:  # noqa: A002
        """`resume_entry` as a future of asyncio."""
    def requeue(self, id: int | Entry) -> Entry:  # noqa: A002
        """A dead entry is sent again with its own key, its tries counted anew (O3). Raises `WrongState`,
        `PurposeConflict`.
        """
    def requeue_async(self, id: int | Entry) -> Future[Entry]:  # noqa: A002
        """`requeue` as a future of asyncio."""
    def dismiss(self, id: int | Entry, *, who: str, note: str) -> Entry:  # noqa: A002
        """A person gives a dead or unknown entry up: it is dead, and blocks its lane no more (O4)."""
    def dismiss_async(self, id: int | Entry, *, who: str, note: str) -> Future[Entry]:  # noqa: A002
        """`dismiss` as a future of asyncio."""
    def resolve(
        self,
        id: int | Entry,  # noqa: A002
        resolution: _Resolution,
        response: Response | bytes | str | None = None,
        *,
        who: str,
        note: str,
    ) -> Entry:
        """Somebody has found out what became of an unknown entry (O7): `answered_yes` or `answered_no` with its response,
        `dead`, or `resend`: only for when no earlier send can still arrive; the answer is the entry with a new key that
        takes its place.
        """
    def resolve_async(
        self,
        id: int | Entry,  # noqa: A002
        resolution: _Resolution,
        response: Response | bytes | str | None = None,
        *,
        who: str,
        note: str,
    ) -> Future[Entry]:
        """`resolve` as a future of asyncio."""

_Lines: TypeAlias = list[tuple[str, bytes]]

class _RouteSettings(TypedDict, total=False):
    lease: _Span | None
    retention: _Span | None
    tombstone: _Span | None
    wait: _Span | None
    methods: Sequence[str] | None
    other_methods: Sequence[str] | None
    leave_out: Sequence[str] | None
    only: Sequence[str] | None
    statuses: Mapping[str, int] | None
    documentation: str | None
    not_kept: Sequence[str] | None
    keep: Callable[[int, str], str | None] | None
    redact: Callable[[Stored], Stored | None] | None
    max_body_bytes: int | None
    max_request_bytes: int | None
    stream: bool | None

@final
class Answer:
    """An HTTP response as a value: `status`, `fields` (a list of names and values, in order, without Content-Length) and
    `body`.

    `fields` takes values as `bytes`, or as `str` of Latin-1.

    Example:

        with ledger.claim(CHARGE, "user-7", "order-1034", fingerprint) as claim:
            claim.complete(Answer(201, [("Content-Type", "text/plain")], b"charged").to_stored())
    """

    def __new__(cls, status: int, fields: Sequence[tuple[str, bytes | str]] = (), body: bytes = b"") -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    @property
    def status(self) -> int:
        """The status, such as 201."""
    @property
    def fields(self) -> _Lines:
        """Names and values, in order."""
    @property
    def body(self) -> bytes:
        """The bytes."""
    def to_stored(self, *, max_response_bytes: int | None = None) -> Response:
        """The response to give to `complete`, `complete_with` or `fail`, to be replayed with this status and these fields,
        save those that are never kept (H5). `max_response_bytes` is the ledger's: in what is longer the body is
        omitted.
        """

@final
class Stored:
    """A response as the ledger keeps it: `status`, `fields`, and `body`, which is None where it was not kept."""

    def __new__(cls, status: int, fields: Sequence[tuple[str, bytes | str]], body: bytes | None) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    @staticmethod
    def of_response(response: Response, *, failed: bool = False) -> Stored:
        """Reads what an adapter of any language has stored. Of what is no HTTP message the body is that of a 200, or of a
        400 where `failed` says that it was a final no.
        """
    @property
    def status(self) -> int:
        """The status, such as 201."""
    @property
    def fields(self) -> _Lines:
        """Names and values, in order."""
    @property
    def body(self) -> bytes | None:
        """The bytes; None if they were not kept: see `omitted`."""
    @property
    def omitted(self) -> tuple[int, bytes] | None:
        """Length in bytes and SHA-256 of a body that was not kept, where they are known."""

@final
class Route:
    """What a route that takes idempotency keys says of itself: `Route.required(...)` or `Route.optional(...)`."""

    @staticmethod
    def required(operation: _Effect | Effect | Operation, **settings: Unpack[_RouteSettings]) -> Route:
        """A route that refuses requests without a key, 400.

        `operation` is an effect, whose operation is then named by method and path as received, or a declared
        `Operation`, with one name on whatever path.

        Settings: `lease`, `retention`, `tombstone` and `wait` (seconds or timedelta); `methods` (instead of POST and
        PATCH), `other_methods` (your own, in addition); `leave_out` or `only` (JSON pointers to what tells bodies
        apart); `statuses` (by case, such as `{"mismatch": 400}`); `documentation` (a URL); `not_kept` (names of
        fields); `keep`, a function of status and effect that returns `complete`, `fail`, `release`, `park`, or None for
        the default; `redact`, a function from what is to be stored (`Stored`) to what is stored; `max_body_bytes` of a
        response that is kept; `max_request_bytes`; `stream`.

        Raises:
            `InvalidArgument`: a setting with which the route would not do what it says.

        Example:

            charges = Route.required("repeatable", lease=60, statuses={"mismatch": 400})
        """
    @staticmethod
    def optional(operation: _Effect | Effect | Operation, **settings: Unpack[_RouteSettings]) -> Route:
        """The same, but requests without a key pass, without a record and without a claim."""
    @property
    def is_required(self) -> bool:
        """Whether requests without a key are refused."""
    @property
    def methods(self) -> list[str]:
        """The methods that take keys."""
    @property
    def is_stream(self) -> bool:
        """Whether responses flow as they come, and are settled at their end (H8)."""
    @property
    def max_body_bytes(self) -> int:
        """The longest body of a response that is kept, in bytes."""
    @property
    def max_request_bytes(self) -> int:
        """The longest body of a request, in bytes."""
    @property
    def wait_seconds(self) -> float:
        """How long a duplicate waits for the first to end, in seconds."""
    def status_of(self, case: str) -> int:
        """The status with which a case, such as `mismatch`, is answered.

        Raises:
            `InvalidArgument`: there is no such case.
        """
    def receive(self, method: str, key_lines: Sequence[bytes]) -> str | Answer | None:
        """What a request's method and the values of its lines named Idempotency-Key come to: its key; an `Answer` that
        refuses it; or None, if it passes as if there were no ledger (H2).
        """
    def begin(
        self,
        ledger: Ledger,
        scope: str,
        key: str,
        *,
        method: str,
        path: bytes,
        query: bytes,
        content_type: bytes | None,
        body: bytes,
    ) -> Asked:
        """What to ask the ledger for a request. `path` is the concrete one as received.

        Raises:
            `InvalidKey`: a scope that L1 refuses.
        """
    @staticmethod
    def is_whole(content_length: bytes | None, length: int) -> bool:
        """Whether `length` bytes are the body that was announced; if not, somebody else has read of it (H17)."""
    def no_principal(self) -> Answer:
        """The answer where nobody is known to be asking: 401."""
    def too_large(self) -> Answer:
        """The answer to a body over `max_request_bytes`: 413."""
    def body_consumed(self) -> Answer:
        """The answer where the raw bytes of a body are gone: 500."""
    def unreadable(self) -> Answer:
        """The answer to a body that broke off: 400."""
    def not_available(self) -> Answer:
        """The answer where the ledger does not answer: 503."""
    @staticmethod
    def exposed() -> _Lines:
        """The fields to add to a response that leaves before it is settled."""

@final
class Asked:
    """A request under a key, as the ledger is asked about it."""

    @property
    def key_id(self) -> tuple[str, str, str]:
        """Scope, operation and key: a layer around this one that holds the claim on them lets the request pass."""
    def rule(self) -> Claim | Answer:
        """What to do: run the handler under the `Claim`, or send the `Answer`. A ledger that does not answer is a 503."""
    def rule_async(self) -> Future[Claim | Answer]:
        """`rule` on an event loop. Cancelled before it is told, it grants nothing."""
    def conclude(self, claim: Claim, response: Answer) -> _Lines | Answer:
        """Settles the claim by a response that has come to its end. On return the outcome is on disk.

        Returns the fields to add to that response, or the `Answer` to send in its place.
        """
    def conclude_async(self, claim: Claim, response: Answer) -> Future[_Lines | Answer]:
        """`conclude` on an event loop. What is settled is queued when the call is made."""
    def conclude_past_limit(self, claim: Claim, response: Answer) -> _Lines | Answer:
        """The same for a response that has passed `max_body_bytes` and goes on: its body is not kept (H8)."""
    def conclude_past_limit_async(self, claim: Claim, response: Answer) -> Future[_Lines | Answer]:
        """`conclude_past_limit` on an event loop."""
    def conclude_failure(self, claim: Claim) -> tuple[Answer, bool]:
        """Settles the claim of a handler that raised, or whose response broke off, by the effect (S8).

        Returns the answer, and whether it has to be told: what was stored, or who has won, is the answer all the same,
        and is not for whoever else turns errors into answers.
        """
    def conclude_failure_async(self, claim: Claim) -> Future[tuple[Answer, bool]]:
        """`conclude_failure` on an event loop. What is settled is queued when the call is made."""
