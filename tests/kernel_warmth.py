"""Compiled kernels before the first test, where workers run the tests side by side.

On a fresh clone numba's cache is empty, and compiling takes minutes of a core. Workers that meet the same kernel at the
same time would both compile it, so each compiles a share of its own first and finds the others' in the cache.
Numba replaces its cache files as a whole: two that write one at the same time cost a second compilation at most.
"""

from __future__ import annotations

from importlib import import_module

SHARES = (
    ("operators.views.warming", "state.filter_index", "overlay.maintain.join_kernels", "overlay.maintain.list_kernels"),
    (
        "connectors.json.format",
        "shard.tables",
        "state.boxes",
        "state.row_digest",
        "overlay.index.subscription_index",
        "overlay.index.join_index",
    ),
)
"""Rooms' modules with a function `warm`, in two shares. The first takes 70 s of a core, the second 20 s more.

So the first worker goes ahead with reading the tests, which on a fresh clone takes 20 s more than it does when the
bytecode is there: the second finds it. Tables warm the kernels of views too, which the first worker has left in the
cache when the second comes to them.
"""


def warm_share(worker: str) -> None:
    """Compile or load the share of a pytest-xdist worker `gw<number>`; workers from the third on have none."""
    number = int(worker.removeprefix("gw"))
    for name in SHARES[number] if number < len(SHARES) else ():
        import_module(name).warm()
