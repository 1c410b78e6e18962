"""Keeps the garbage collector from going through what a process has loaded for good.

Modules, compiled kernels and their types are some hundred thousand objects. A full collection, which comes whenever
enough that is new has lasted (300 readers who come at once are enough), goes through all objects and stops every thread
meanwhile: 160 ms in which nobody hears anything. What is here when a process has begun stays anyway.
"""

from __future__ import annotations

import gc


def settle() -> None:
    """Let later collections pass over all objects of now. Cost: one full collection."""
    gc.collect()
    gc.freeze()
