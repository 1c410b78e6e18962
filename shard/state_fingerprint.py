"""What a state depends on of a relation's declaration, and which later declarations may take it over.

Here alone it is decided that a table which was dropped and created again does not go on with the rows of before.
"""

from __future__ import annotations

import msgspec

from catalog.schema.relation import Relation
from state.errors import StateError


class Declared(msgspec.Struct, frozen=True):
    """Name, birth, columns and key of a relation; its JSON is the fingerprint of a state."""

    name: str
    born: int
    columns: tuple[tuple[str, str, bool], ...]
    key: tuple[str, ...]

    @classmethod
    def of(cls, relation: Relation) -> Declared:
        """Return what a state of `relation` depends on."""
        columns = tuple((column.name, str(column.type), column.nullable) for column in relation.columns)
        return cls(relation.name, relation.born, columns, relation.key)

    @property
    def fingerprint(self) -> bytes:
        """Its JSON."""
        return msgspec.json.encode(self)

    def takes_over(self, stored: bytes) -> bool:
        """Whether a state with the fingerprint `stored` goes on under this declaration; False: it begins empty.

        It goes on under the same declaration or with nullable columns appended; it begins empty where the relation was
        dropped and created again. Raises StateError, naming both, if it differs otherwise.
        """
        then = msgspec.json.decode(stored, type=Declared)
        if self.name == then.name and self.born > then.born:
            return False
        if not self._evolves_from(then):
            raise StateError(
                f"the stored state of table `{self.name}` was made by another declaration: expected {self}, "
                f"found {then}; only appending nullable columns keeps the rows, else DROP TABLE and create it anew"
            )
        return True

    def _evolves_from(self, older: Declared) -> bool:
        appended = self.columns[len(older.columns) :]
        same = self.columns[: len(older.columns)] == older.columns
        return self == msgspec.structs.replace(older, columns=self.columns) and same and all(c[2] for c in appended)
