from __future__ import annotations

from state.errors import TidewireError, UserError
from tidewire.client.failures import NotAnswered


def test_who_was_not_answered_may_try_again_and_has_asked_nothing_wrongly() -> None:
    failure = NotAnswered("no edge has answered within 5 s")
    assert (failure.code, failure.retry_helps, str(failure)) == ("timeout", True, "no edge has answered within 5 s")
    assert isinstance(failure, TidewireError)
    assert not isinstance(failure, UserError)
