"""A kernel: a compiled loop whose cache knows all the files that it is made of.

Numba keeps a function's machine code on disk until the function's own file changes. What the function calls is compiled
into it, but of changes in the files of these numba sees nothing: after an upgrade it would go on with what they were.
So the cache of a kernel is stamped with its own file and with those of all kernels that it calls, and they call.

    minima.find_left       {minima.py}
    a2b_tree._walk_left    {a2b_tree.py, minima.py}      calls the one above
    a2b_tree._replay       {a2b_tree.py, minima.py}      calls the one above

A kernel that calls only functions of its own file is as well off with `numba.njit(cache=True)`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numba
from numba.core.dispatcher import Dispatcher


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a function as `numba.njit` does, which takes the same options; what it calls must stand above it."""
    made: Any = numba.njit(cache=True, **options)(function)
    if made is not function:  # as it is where compiling is switched off
        made._cache._cache_file._source_stamp = stamps(made).union(*map(stamps, called(made)))
    return made


def stamps(made: Any) -> frozenset[Hashable]:
    """Return what numba's cache of a compiled function hangs on: a stamp of its file, or for a kernel of several."""
    stamp = made._cache._cache_file._source_stamp
    return stamp if isinstance(stamp, frozenset) else frozenset((stamp,))


def called(made: Any) -> list[Any]:
    """Return the compiled functions that one calls itself."""
    function = made.py_func
    found = [function.__globals__.get(name) for name in function.__code__.co_names]
    return [each for each in found if isinstance(each, Dispatcher)]
