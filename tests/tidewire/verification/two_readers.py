"""One record read by the product's decoder and by the one that judges: both say the same, in its words."""

from __future__ import annotations

import json
from functools import cache

from catalog.ddl.statements import fold_ddl
from catalog.schema.catalog import Catalog
from connectors.formats.record_format import format_of
from connectors.json.scalar import scalar_text
from tests.connectors.relations import records
from tests.tidewire.verification.input.test_declared import declared
from tidewire.verification.input.decoding import Row, decode, parse_text, scalar
from tidewire.verification.input.rows import FORMATS


class TwoReaders:
    """Reads records of the table `t`, declared by `ddl`."""

    def __init__(self, ddl: str) -> None:
        self.relation = fold_ddl(Catalog(), ddl, 0).relations["t"]
        self.table = declared(ddl).at(0)["t"]
        self._product = {keyless: format_of(self.relation, keyless) for keyless in (False, True)}

    def read(self, key: bytes | None, value: bytes | None, keyless: bool = True) -> Row | None:
        """Return what both say, None if both refuse it."""
        judge = decode(self.table, key, value, keyless, FORMATS[self.table.format])
        product = self._by_product(key, value, keyless)
        assert judge == product, (key, value)
        return judge

    def refusal(self, key: bytes | None, value: bytes | None, keyless: bool = True) -> tuple[str, str] | None:
        """Return the code and the text of the product's dead letter, the same each time; None of a row."""
        first, again = (self._product[keyless].decode(records([(key, value)])).dead for _ in range(2))
        assert first == again
        return (first[0].code, first[0].message) if first else None

    def _by_product(self, key: bytes | None, value: bytes | None, keyless: bool) -> Row | None:
        decoded = self._product[keyless].decode(records([(key, value)]))
        if decoded.dead:
            return None
        changes, width = decoded.changes, len(self.table.columns)
        pk = parse_text(changes.keys[0])
        owned = [scalar(c.type, pk[c.name]) for c in self.table.columns if c.name in pk]
        if not changes.live[0]:
            return Row(json.dumps(owned), False, [None] * width, [False] * width)
        values: list[str | None] = []
        for i, (column, ours) in enumerate(zip(self.relation.columns, self.table.columns, strict=True)):
            if not changes.valid[i, 0]:
                values.append(None)
                continue
            coded = changes.texts[i][0] if i in changes.texts else int(changes.codes[i, 0])
            assert coded is not None
            values.append(scalar(ours.type, parse_text(scalar_text(column.type, coded).encode())))
        absent = changes.kept[:, 0].tolist() if changes.kept is not None else None
        kept = absent if absent is not None else [decoded.seen[c.name] == 0 for c in self.table.columns]
        return Row(json.dumps(owned), True, values, [not one for one in kept])


@cache
def two_readers(ddl: str) -> TwoReaders:
    return TwoReaders(ddl)
