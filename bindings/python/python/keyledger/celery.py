"""A base for Celery's tasks: a task that is delivered twice, or whose worker is killed, happens once.

Example:
    from celery import Celery
    from keyledger.celery import Task

    app = Celery("mail", broker="memory://")

    @app.task(base=Task, keyledger={"ledger": "mail.kl", "effect": "at_most_once", "key": "order_id"})
    def send_receipt(order_id: str, address: str) -> None: ...

    send_receipt("order-1034", "ann@example.org")
"""

# Celery has no types.
# pyright: basic

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from celery import Task as _Task
from celery.exceptions import Reject
from celery.utils.log import get_task_logger

import keyledger
from keyledger._idempotent import Named, Terms, idempotent
from keyledger._parts import SINGLE
from keyledger._refused import Refused
from keyledger.errors import InvalidKey

if TYPE_CHECKING:
    from keyledger._ledger import Ledger
    from keyledger._native import Claim

__all__ = ["Settings", "Task", "opened_here"]

_logger = get_task_logger(__name__)


class _Needed(TypedDict):
    ledger: str | os.PathLike[str] | Callable[[], Ledger]
    effect: str


class Settings(_Needed, Terms, total=False):
    """What a task says of itself, as its option `keyledger`: the arguments of `keyledger.idempotent`, with these differences.

    `ledger` may be the path of a file, which every process of the worker opens for itself, shared, after it was forked.
    `operation` is by default the task's name, `scope` is `SINGLE`, and `key` is the id of the task: the same when a message is delivered
    again and when the task is retried, another when somebody sends the task again. For that, name a parameter.
    """

    operation: str
    scope: Named
    key: Named


class _NotRun(NamedTuple):
    """It was this task that was refused, and not a function that it called: those raise. Threads share a task, so nothing is kept on it."""

    refused: Refused


class Task(_Task):  # type: ignore[misc]
    """A base of tasks that run once for each key. Settings come as the option `keyledger` (`Settings`).

    A message is acknowledged after the task has run, and delivered again when the process that ran it was killed. Then, once the lost
    claim's lease is over, the effect decides: Repeatable and InLedger run again, AtMostOnce is parked and is not run again.

    While another delivery of the same key runs, the task is retried after `retry_after`. One whose key is for other arguments, parked, or
    gone is rejected, without requeue, and logged. A stored result is returned; a final no is raised as `ReplayedFailure`. What the task raises goes
    by the effect, `Retry` of `self.retry()` too: name it in `not_done` where nothing has happened by then.

    `recover` hands what was lost to a handler of yours.
    """

    abstract = True
    acks_late = True
    reject_on_worker_lost = True
    keyledger: Settings

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the task once for its key, or tells what is stored."""
        told = self._once(*args, **kwargs)
        if not isinstance(told, _NotRun):
            return told
        refused = told.refused
        if refused.code == "in_progress":
            raise self._later(refused) from refused
        _logger.warning("%s %s: %s", self.name, refused.code, refused)
        raise Reject(f"{refused.code}: {refused}", requeue=False) from refused

    def recover(self, handler: Callable[[Claim], Any], *, limit: int = 100) -> int:
        """Hands `handler` the claims of runs whose process was lost, parked since or not, and says how many there were (section 4).

        What it returns is the task's result from then on. It may settle the claim itself: `release` **only when the old owner can no
        longer act**.
        """
        return self._once.recover(handler, limit=limit)  # type: ignore[no-any-return]

    def _later(self, refused: Refused) -> Exception:
        # Being refused is no failed try: the task's own limit is for those.
        after = refused.retry_after_seconds or 0
        return self.retry(exc=refused, countdown=after, max_retries=sys.maxsize, throw=False)  # type: ignore[no-any-return]

    @property
    def _once(self) -> Any:
        made = self.__dict__.get("_made")
        if made is None:
            made = self.__dict__["_made"] = self._make()
        return made

    def _make(self) -> Any:
        settings: dict[str, Any] = {"operation": self.name, "scope": SINGLE, "key": self._task_id, **self.keyledger}
        ledger: Any = settings.pop("ledger")
        opened: Any = ledger if callable(ledger) else lambda: opened_here(ledger)
        return idempotent(ledger=opened, on_refused=_NotRun, **settings)(self.run)

    def _task_id(self, *_args: Any, **_kwargs: Any) -> str:
        if not self.request.id:
            raise InvalidKey(
                f"{self.name} was called and not sent, so there is no task id to be its key: name a parameter"
            )
        return str(self.request.id)


_opened: dict[tuple[int, str], Ledger] = {}
_opening: dict[tuple[int, str], threading.RLock] = {}


def opened_here(path: str | os.PathLike[str]) -> Ledger:
    """The ledger in a file, shared, as this process has it open: a worker's child opens it for itself, after the fork (P3).

    Threads whose first calls come at once get the same one.
    """
    here = (os.getpid(), os.path.realpath(path))
    # A lock for each process: a child that is forked in the middle of this finds its parent's taken, for ever. Whoever is interrupted
    # by a handler of signals that comes here as well does not wait for itself.
    with _opening.setdefault(here, threading.RLock()):
        if here not in _opened:
            _opened[here] = keyledger.open(path, shared=True)
        return _opened[here]
