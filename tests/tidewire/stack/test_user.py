"""A user without a passwd entry is named before Spark fails."""

from __future__ import annotations

import os

import pytest

from tidewire.stack.failure import RequirementError
from tidewire.stack.user import require_named_user


def test_this_user_has_a_name() -> None:
    assert require_named_user()


def test_a_number_without_an_entry_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 987_654_321)
    with pytest.raises(RequirementError, match=r"user 987654321 has no name: .*\. Add an entry"):
        require_named_user()
