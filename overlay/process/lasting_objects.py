"""Keeps the garbage collector from going through what a process has loaded for good.

Modules, compiled kernels and their types are some hundred thousand objects. A full collection, which comes whenever
enough that is new has lasted (300 readers who come at once are enough), goes through all objects and stops every thread
meanwhile: 160 ms in which nobody hears anything. What is here when a process has begun stays anyway.

What comes in bulk afterwards, such as filters that become live, is mostly without cycles and soon gone. By default
every 700 new objects are gone through, when most of them are still needed: of a filter's way in that was a tenth.
"""

from __future__ import annotations

import gc

NEW_OBJECTS = 50_000
"""So many new objects, which take some MB, are gone through together."""


def settle() -> None:
    """Let later collections pass over all objects of now, and be rarer. Cost: one full collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
