"""Nothing is collected while modules are loaded, and collecting goes on behind that as before."""

from __future__ import annotations

import gc

import pytest

from tidewire.stack.loading import loading


def test_nothing_is_collected_within() -> None:
    assert gc.isenabled()
    with loading():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collecting_goes_on_behind_what_could_not_be_loaded() -> None:
    with pytest.raises(ImportError), loading():
        raise ImportError
    assert gc.isenabled()


def test_what_was_switched_off_stays_so() -> None:
    gc.disable()
    try:
        with loading():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
