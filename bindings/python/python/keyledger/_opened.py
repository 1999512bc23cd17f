"""Which files this process has open, and what to say where one cannot be opened."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from keyledger._native import KeyId
from keyledger.errors import AlreadyOpen, KeyledgerError, Unavailable

if TYPE_CHECKING:
    from keyledger._ledger import Ledger

_opened: WeakValueDictionary[str, Ledger] = WeakValueDictionary()
"""By path, closed ones too, for as long as somebody holds them."""

_ANY = KeyId("scope", "operation", "key")


def note(path: str | os.PathLike[str], ledger: Ledger) -> None:
    """From now on this process has the file open."""
    _opened[os.path.realpath(path)] = ledger


def explain(error: AlreadyOpen | Unavailable, path: str | os.PathLike[str]) -> None:
    """Puts into the error which file it is about, and what to do."""
    name = os.fspath(path)
    if isinstance(error, AlreadyOpen):
        error.args = (f"{name} is open{_IN_THIS_PROCESS if _is_open_here(path) else _ELSEWHERE}",)
    elif not os.path.isdir(folder := os.path.dirname(os.path.abspath(path))):
        error.args = (f"{name} cannot be made: there is no folder {folder}; make it first",)


_IN_THIS_PROCESS = " in this process already: share that handle among its threads and tasks, or close it first; shared=True is for other processes"
_ELSEWHERE = (
    ", in another process or by another handle of this one, and not both are shared: go on with that handle, close it there, or open "
    "it everywhere with shared=True"
)


def _is_open_here(path: str | os.PathLike[str]) -> bool:
    ledger = _opened.get(os.path.realpath(path))
    if ledger is None:
        return False
    try:
        ledger.inspect(_ANY)
    except KeyledgerError:
        return False  # It is closed, or was its parent's.
    return True
