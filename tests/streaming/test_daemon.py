from __future__ import annotations

import sys

from streaming.daemon import KERNELS, MODULES, preload


def test_what_is_preloaded_can_be() -> None:
    assert preload(MODULES, ()) == []
    assert all(name in sys.modules for name in MODULES)


def test_what_cannot_be_loaded_is_said_and_ends_nothing() -> None:
    said = preload(["no_such_module"], ["json"])
    assert [message.split(":")[1].strip() for message in said] == [
        "`no_such_module` could not be loaded before the fork",
        "`json` could not be loaded before the fork",
    ]


def test_the_kernels_are_there() -> None:
    assert KERNELS == ("operators.range_extremum",)
