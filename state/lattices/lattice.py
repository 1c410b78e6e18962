"""The law of knowledge that only grows.

Invariants, which `tests/state/lattices/law.py` checks of every type:

1. `leq` is a partial order, and two values are equal iff each may evolve to the other.
2. `merge` makes the least upper bound; it is commutative, associative, idempotent, and true iff the value grew.
3. What has no upper bound raises Contradiction, which names both, and neither has changed.
4. A final value shows the same `now` for ever: whatever it may evolve to is final, and shows that.
5. A final value shows what is the case; any other one an estimate: as if all that is unknown were silent. The estimate
   is no part of the order. It may hang on the order in which statements came, and is never one that is excluded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from typing import Any, Self, cast

from state.errors import TidewireError


class Contradiction(TidewireError):
    """Two statements about one cell cannot both be true. `one`, `other`: what each says."""

    code = "contradiction"

    def __init__(self, one: object, other: object) -> None:
        self.one = one
        self.other = other
        super().__init__(
            f"`{one!r}` and `{other!r}` cannot both be true: no outcome fits both. One of them was made of other "
            "events; find out which history each was made of."
        )


class Lattice(ABC):
    """Knowledge of one cell; subclasses are dataclasses with `eq=False`, whose parts nobody else changes."""

    __slots__ = ()

    @abstractmethod
    def leq(self, other: Self) -> bool:
        """Whether this may evolve to `other`: each outcome that `other` leaves is one that this leaves."""

    @abstractmethod
    def bound(self, other: Self) -> Self | None:
        """Return the least upper bound as a value of its own, None where there is none."""

    @property
    @abstractmethod
    def final(self) -> bool:
        """Whether `now` can never change."""

    @property
    @abstractmethod
    def now(self) -> Any:
        """What is shown: the outcome where it is final, else the estimate. NULL, or no event, is None."""

    def merge(self, other: Self) -> bool:
        """Make this the least upper bound of both; return whether it grew.

        *Cost*: that of `bound`. *Raises* Contradiction, naming both, and then nothing has changed.
        """
        bound = self.bound(other)
        if bound is None:
            raise Contradiction(self.copy(), other.copy())
        grew = not bound.leq(self)
        if grew:
            for field in fields(cast(Any, self)):
                setattr(self, field.name, getattr(bound, field.name))
        return grew

    def copy(self) -> Self:
        """Return a value of its own that says the same."""
        return cast(Self, replace(cast(Any, self)))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.leq(other) and other.leq(self)

    __hash__ = None  # type: ignore[assignment]
