"""What is known of lost and parked calls of a decorated function, told as results of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from keyledger._running import Within
from keyledger._unbegun import awaited, is_async
from keyledger.errors import InvalidArgument

if TYPE_CHECKING:
    from keyledger._ledger import Ledger
    from keyledger._native import Claim, Operation, RecordView
    from keyledger._settling import Course


class Recovery:
    """The attributes of one decorated function by which others settle its calls."""

    def __init__(
        self, ledger: Callable[[], Ledger], operation: Operation, course: Callable[[], Course], *, heartbeat: bool
    ) -> None:
        self._ledger, self._operation, self._course, self._heartbeat = ledger, operation, course, heartbeat

    def recover(self, handler: Callable[[Claim], Any], *, limit: int = 100) -> int:
        """Hands `handler` the claims of lost calls, at most `limit`, oldest first, and says how many there were (section 4).

        Lost are those whose lease is over although nobody has settled them, whatever the effect, and those that were parked because of
        that, or because their window or attempts were over. What an error has parked, or a handler by `park`, is for a person: `resolve`.

        The handler finds out what happened. What it returns completes the claim, as a result of the function's; or it settles the
        claim itself: `release` **only when the old owner can no longer act**, `park` if it cannot find out. An error that it raises is
        raised here, and the claims behind it stay open to recovery: one of the list `not_done` releases its claim, one of `final`
        fails it, any other ends its lease, and the next `recover` hands the same call out again, perhaps as the first. So does what it
        returns, if that is no result of the function.

        Raises:
            TypeError: the handler is async; nothing was handed out.
            InvalidArgument: the codec cannot store what it returned.

        Example:
            @ledger.idempotent(operation="mail", effect="at_most_once", scope="user", key="order", memo="order")
            def mail(user: str, order: str) -> str: ...

            def find_out(claim: keyledger.Claim) -> str | None:
                if claim.memo in b"what the mail server's log says":
                    return "sent"
                claim.park("not in the log")

            print(mail.recover(find_out), "were lost")

        """
        if is_async(handler):
            raise TypeError("this handler is async: await recover_async(handler)")
        course, claims = self._course(), self._ledger().recover(self._operation, limit)
        for claim in claims:
            with Within(claim, heartbeat=self._heartbeat):
                try:
                    course.found_out(claim, handler(claim))
                except BaseException as error:
                    course.not_found_out(claim, error)
                    raise
        return len(claims)

    async def recover_async(self, handler: Callable[[Claim], Awaitable[Any]], *, limit: int = 100) -> int:
        """`recover` on an event loop, with an async handler.

        Example:
            @ledger.idempotent(operation="mail", effect="at_most_once", scope="user", key="order", memo="order")
            async def mail(user: str, order: str) -> str: ...

            async def find_out(claim: keyledger.Claim) -> str:
                return "sent"

            async def once_an_hour() -> None:
                print(await mail.recover_async(find_out), "were lost")

        """
        course, claims = self._course(), await self._ledger().recover_async(self._operation, limit)
        for claim in claims:
            with Within(claim, heartbeat=self._heartbeat, loop=asyncio.get_running_loop()):
                try:
                    await course.found_out_async(claim, await awaited(handler(claim)))
                except BaseException as error:
                    course.not_found_out(claim, error)
                    raise
        return len(claims)

    def for_janitor(self, handler: Callable[[Claim], Any]) -> Callable[[Claim], None]:
        """The handler as a janitor calls it: a claim that it leaves unsettled, by an error, is the janitor's to give back."""

        def find_out(claim: Claim) -> None:
            course = self._course()
            with Within(claim, heartbeat=self._heartbeat):
                try:
                    course.found_out(claim, handler(claim))
                except BaseException as error:
                    course.settled_by_lists(claim, error)
                    raise

        return find_out

    def resolve(self, record: RecordView, result: Any, *, who: str, note: str) -> None:
        """Settles a parked call for a person, who found out that it was done: `Ledger.resolve` with a result of the function's own.

        On return it is on disk.

        Args:
            record: as `Ledger.inspect` or `Ledger.list` showed it. If it has been granted or settled since, nothing is changed.
            result: what later callers get.
            who: who found out. It stays in the audit trail, as does `note`, which says how.
            note: how.

        Raises:
            NotParked: the record is not parked, or not as it was shown.
            InvalidArgument: the codec cannot store the result, or the record is of another operation.

        Example:
            @ledger.idempotent(operation="mail", effect="at_most_once", scope="user", key="order")
            def mail(user: str, order: str) -> str: ...

            for record in ledger.list(state="parked", operation="mail").records:
                mail.resolve(record, "sent", who="ann", note="it is in the server's log")

        """
        settled = self._settled(record, result)
        self._ledger().resolve(*settled, who=who, note=note)

    async def resolve_async(self, record: RecordView, result: Any, *, who: str, note: str) -> None:
        """`resolve` on an event loop. What was begun is stored, also if the task is cancelled while it waits.

        Example:
            @ledger.idempotent(operation="mail", effect="at_most_once", scope="user", key="order")
            async def mail(user: str, order: str) -> str: ...

            async def all_were_sent() -> None:
                for record in ledger.list(state="parked", operation="mail").records:
                    await mail.resolve_async(record, "sent", who="ann", note="they are in the server's log")

        """
        settled = self._settled(record, result)
        await self._ledger().resolve_async(*settled, who=who, note=note)

    def _settled(self, record: RecordView, result: Any) -> tuple[Any, ...]:
        of, own = record.key_id.operation, self._operation.name
        if of != own:
            raise InvalidArgument(f"the record is one of operation {of!r}, and this function's are of {own!r}")
        return record.key_id, record.fence, "completed", self._course().response_of(result)
