"""What goes wrong for whoever uses `Client`, beside what was asked wrongly."""

from __future__ import annotations

from state.errors import TidewireError


class NotAnswered(TidewireError):
    """Nothing answered in time; the message says who should have."""

    code = "timeout"
    retry_helps = True
