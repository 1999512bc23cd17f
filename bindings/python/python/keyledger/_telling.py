"""What a function of the caller's raises where nobody waits for it comes to the program."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any, cast

log = logging.getLogger("keyledger")


def tell(error: Exception, what: str, on_error: Callable[[Exception], object] | None = None) -> None:
    """By `on_error`, else by the logger `keyledger`. What that raises itself goes to `sys.unraisablehook`."""
    try:
        if on_error is None:
            log.error("%s", what, exc_info=error)
        else:
            on_error(error)
    except Exception as raised:
        hook = cast("Any", sys.unraisablehook)
        hook(_Unraisable(raised))


class _Unraisable:
    def __init__(self, error: BaseException) -> None:
        self.exc_type = type(error)
        self.exc_value = error
        self.exc_traceback = error.__traceback__
        self.err_msg = "While an error was told"
        self.object = None
