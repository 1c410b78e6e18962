"""Which schema wrote a record that is framed: the table lists them by number, or the registry is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from catalog.schema.format_options import REGISTRY
from catalog.schema.relation import Relation
from connectors.dead_letter import RecordFault
from connectors.schemas.schema_registry import NoSchema, Registry, RegistryFailure, registry_in_use

S = TypeVar("S")
_LISTED = "schema."


class WriterSchemas(Generic[S]):
    """The schemas of one table by number.

    `make` makes one of its text and label, `fetch` gets a text from the registry. `only` is the one schema of records
    that are not framed. Listed schemas go before the registry's.
    """

    def __init__(
        self,
        relation: Relation,
        make: Callable[[str, str], S],
        fetch: Callable[[Registry, int], str],
    ) -> None:
        options = dict(relation.options)
        schema = options.get("schema")
        self._table = relation.name
        self._make, self._fetch = make, fetch
        self._asks = schema == REGISTRY
        self.only = None if schema is None or self._asks else make(schema, "schema")
        self._by_id = {
            int(name.removeprefix(_LISTED)): make(text, f"schema {name.removeprefix(_LISTED)}")
            for name, text in options.items()
            if name.startswith(_LISTED)
        }

    def of(self, number: int) -> S:
        """Return the schema of a number. Cost: a request, once for each.

        Raises RecordFault, and RegistryFailure if the registry does not say it.
        """
        schema = self._by_id.get(number)
        if schema is None:
            schema = self._by_id[number] = self._fetched(number)
        return schema

    def _fetched(self, number: int) -> S:
        if not self._asks:
            known = ", ".join(map(str, sorted(self._by_id)))
            raise RecordFault("unknown_schema", f"schema {number} wrote it, and the table lists {known}")
        registry = registry_in_use()
        if registry is None:
            raise RegistryFailure(f"table `{self._table}` has its schemas in a registry: set `registry` to its URL.")
        try:
            return self._make(self._fetch(registry, number), f"schema {number}")
        except (NoSchema, ValueError) as error:
            raise RecordFault("unknown_schema", f"schema {number} wrote it: {error}") from None
