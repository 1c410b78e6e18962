"""The catalog at each of its versions, read from its topic.

The catalog at version v is the fold of the topic's records 0 to v. A record that does not apply is skipped, by
everyone alike, so all processes agree without talking to each other. A statement of a newer version applies to those
who know it, so who works by the catalog stops at it (`CatalogFold.check`).
"""

from __future__ import annotations

import bisect
import logging
from collections.abc import Iterable

from catalog.ddl.newer_statement import newer_statement
from catalog.ddl.statements import fold_ddl
from catalog.schema.catalog import Catalog
from connectors.kafka.failure import KafkaFailure
from connectors.kafka.reader import Reader
from connectors.topics import Topics
from state.errors import TidewireError

_LOG = logging.getLogger("tidewire.catalog")


class CatalogBehind(KafkaFailure):
    """A catalog version was announced that the topic does not hold."""

    code = "catalog_behind"
    retry_helps = True


class CatalogNewer(TidewireError):
    """The catalog has a statement that only a newer version knows."""

    code = "catalog_newer"


class CatalogFold:
    """The catalog of a prefix after each record that changed it. Versions are offsets, and come in ascending order."""

    def __init__(self, prefix: str) -> None:
        self._versions = [-1]
        self._catalogs = [Catalog(prefix=prefix)]
        self._newer = ""

    @property
    def newest(self) -> Catalog:
        """The catalog after the newest record that applied."""
        return self._catalogs[-1]

    def add(self, version: int, text: bytes | None) -> bool:
        """Fold the next record in; return whether it applied. *Cost*: parsing the text.

        A text on which the parser fails in a way that nobody has foreseen is one that does not apply.
        """
        if text is None:
            return False
        try:
            catalog = fold_ddl(self.newest, text.decode(), version)
        except UnicodeDecodeError:
            return False
        except TidewireError as fault:
            self._note_newer(version, text.decode(), fault)
            return False
        except Exception:
            _LOG.exception("record %d of the catalog could not be read, and is left out", version)
            self._note_newer(version, text.decode(), None)
            return False
        self._versions.append(version)
        self._catalogs.append(catalog)
        return True

    def add_all(self, records: Iterable[tuple[int, bytes | None]]) -> CatalogFold:
        """Fold (version, text) records in; return itself."""
        for version, text in records:
            self.add(version, text)
        return self

    def check(self) -> None:
        """Raise CatalogNewer if a record that was folded in has a statement of a newer version."""
        if self._newer:
            raise CatalogNewer(self._newer)

    def _note_newer(self, version: int, text: str, fault: Exception | None) -> None:
        words = newer_statement(text, fault)
        if words and not self._newer:
            self._newer = (
                f"record {version} of the catalog says {words}, which this version does not know: "
                "a newer tidewire wrote it. Run that version."
            )

    def at(self, version: int) -> Catalog:
        """Return the catalog that holds at `version`, of those folded in. *Cost*: O(log versions)."""
        return self._catalogs[bisect.bisect_right(self._versions, version) - 1]


class CatalogVersions:
    """Answers `at(version)` from the topic, reading on when a version is asked for that it has not read yet."""

    def __init__(self, reader: Reader, topics: Topics) -> None:
        self._reader = reader
        self._topic = topics.catalog
        self._fold = CatalogFold(topics.prefix)
        self._next = 0

    def at(self, version: int) -> Catalog:
        """Return the catalog at `version`.

        Raises:
            CatalogBehind: the topic ends before it (it was deleted and made anew).
            CatalogNewer: a newer version wrote a record of the topic.
            BrokerUnavailable: nobody answers.
        """
        if version >= self._next:
            self._read_on()
        self._fold.check()
        if version >= self._next:
            raise CatalogBehind(
                f"catalog version {version} was announced, but `{self._topic}` ends at offset {self._next}. "
                "If the topic was deleted and created again, use another `prefix`."
            )
        return self._fold.at(version)

    def _read_on(self) -> None:
        for record in self._reader.read_to_end(self._topic, [0], {0: self._next}):
            self._fold.add(record.offset, record.value)
            self._next = record.offset + 1
