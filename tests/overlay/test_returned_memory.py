from __future__ import annotations

import platform

import psutil
import pytest

from overlay.returned_memory import give_back


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_memory_that_was_freed_below_what_is_used_is_given_back() -> None:
    process = psutil.Process()
    pieces = [bytes(2_000) for _ in range(50_000)]
    kept = pieces.pop()
    full = process.memory_info().rss
    pieces.clear()
    give_back()
    assert full - process.memory_info().rss > 50_000_000 and len(kept) == 2_000
