"""keyledger: an operation asked for twice happens once."""

from __future__ import annotations

from keyledger import _native, errors

_native.register_errors(
    {error.code: error for error in vars(errors).values() if isinstance(error, type) and issubclass(error, Exception)}
)
