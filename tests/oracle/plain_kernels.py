"""Kernels as the plain Python they are: nothing is compiled, and coverage sees every line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import numpy as np
import pytest


@contextmanager
def plain_kernels(*modules: ModuleType) -> Iterator[None]:
    """Replace every compiled function in `modules` by its Python source until the block ends."""
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):
        for module in modules:
            for name, value in list(vars(module).items()):
                if hasattr(value, "py_func"):
                    patch.setattr(module, name, value.py_func)
        yield
