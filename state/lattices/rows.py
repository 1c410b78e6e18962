"""A relation: one value for every key there could be (Relational 2.1), so a row that is not there is one like others.

    rows   AA141: =12    UA23: ?          rest   ?        other keys may still come
                                                 S        no other key has a row

The key is (tick domain, tick) where events of several publishers are put together: by the tick alone two publishers
would contradict each other. Keys do not evolve, as the paper allows: what a row is grouped by stands when it comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from state.lattices.lattice import Lattice


@dataclass(slots=True, eq=False)
class Rows(Lattice):
    """`rows` by key, and `rest`: what is known of every other key. All values are of one type.

    *Cost*: O(keys). A merge takes effect whole, or not at all.
    """

    rest: Any
    rows: Mapping[Any, Any]

    def leq(self, other: Rows) -> bool:
        """Whether this may evolve to `other`."""
        keys = self.rows.keys() | other.rows.keys()
        return self.rest.leq(other.rest) and all(self.at(key).leq(other.at(key)) for key in keys)

    def bound(self, other: Rows) -> Rows | None:
        """Return the upper bounds for all keys; None where one has none."""
        rest = self.rest.bound(other.rest)
        bounds = {
            key: self.at(key).bound(other.at(key)) for key in [*self.rows, *(other.rows.keys() - self.rows.keys())]
        }
        return None if rest is None or any(bound is None for bound in bounds.values()) else Rows(rest, bounds)

    def at(self, key: Any) -> Any:
        """Return what is known of a key."""
        return self.rows.get(key, self.rest)

    def copy(self) -> Rows:
        """Return a value of its own that says the same."""
        return Rows(self.rest.copy(), {key: value.copy() for key, value in self.rows.items()})

    @property
    def final(self) -> bool:
        """Whether all values are, for every key."""
        return bool(self.rest.final) and all(value.final for value in self.rows.values())

    @property
    def now(self) -> dict[Any, Any]:
        """What the keys show that do not show what all others do."""
        rest = self.rest.now
        return {key: value.now for key, value in self.rows.items() if value.now != rest}
