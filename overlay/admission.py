"""Whether a subscription record is taken: compiled, refused, or held back until the catalog has the final say.

A client may apply a catalog and subscribe at once, and its subscription can reach an edge before the news of
the catalog does. A record that names an unknown table or column is therefore *held back*: it is tried again with
every newer catalog, and refused for good only by `VirtualEdge.settle`, when the edge has read all that was
announced before the record came. Records that come before any catalog is announced wait in the same queue.
"""

from __future__ import annotations

from dataclasses import dataclass

from catalog.compiler import Compiled, Compiler
from catalog.errors import SubscriptionError
from catalog.relation import Catalog
from overlay.ack import Refusal
from overlay.subscription_request import Request, read_request

MAY_COME = frozenset({"unknown_table", "unknown_column"})


@dataclass(frozen=True, slots=True)
class Held:
    """A record that waits; `version` is its offset."""

    version: int
    key: bytes
    value: bytes


class Admission:
    """The compiler of the announced catalog, and the queue of what it cannot judge yet (by version, in order)."""

    def __init__(self) -> None:
        self.catalog = Catalog()
        self.held: dict[int, Held] = {}
        self._compiler: Compiler | None = None

    @property
    def announced(self) -> bool:
        """Whether any catalog has been announced."""
        return self._compiler is not None

    def announce(self, catalog: Catalog) -> None:
        """Compile with `catalog` from here on."""
        self.catalog = catalog
        self._compiler = Compiler(catalog)

    def judge(self, value: bytes, final: bool = False) -> Compiled | Refusal | None:
        """Compile the value of a record. None: it must be held back; never so if `final` and a catalog is there."""
        request = read_request(value)
        if isinstance(request, Refusal):
            return request
        if self._compiler is None:
            return None
        try:
            return _compile(self._compiler, request)
        except SubscriptionError as error:
            if error.code in MAY_COME and not final:
                return None
            return Refusal(error.code, error.message, error.hint)

    def forget(self, key: bytes, before: int) -> list[Held]:
        """Take the held-back records of an id that are older than `before` out of the queue and return them."""
        if not self.held:
            return []
        old = [held for held in self.held.values() if held.key == key and held.version < before]
        for held in old:
            del self.held[held.version]
        return old


def _compile(compiler: Compiler, request: Request) -> Compiled:
    if request.sql is not None:
        return compiler.compile(request.sql)
    assert request.template is not None and request.params is not None
    return compiler.compile_template(request.template, request.params)
