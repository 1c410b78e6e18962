"""The one root of every error that tidewire raises on purpose."""


class TidewireError(Exception):
    """Root of tidewire's errors: a message for a person, a stable `code`, and whether a retry can help.

    The message says what failed, names things in backticks, says what was expected and what came, and ends
    with one action. Errors that are the user's to mend also derive from `ValueError` (see `UserError`).
    """

    code = "error"
    retry_helps = False


class UserError(TidewireError, ValueError):
    """Something the user wrote or set is wrong; the message says where, what was expected and what to do."""

    code = "user_error"


class StateError(TidewireError):
    """A stored state cannot be opened: wrong magic, version, fingerprint or checksum. Names both sides."""

    code = "state_mismatch"
