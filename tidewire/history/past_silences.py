"""Which silences of streams had counted by a cut through the log: the past of a view of a stream hangs on them.

    trade[0]    rows 0 1 2 | 3 4     silences before row 2 and row 3, at a cut behind row 2: the first one alone

A silence that counts behind the last row before a cut may have been said later, and moves nothing that is there: which
of the rows before it are late hangs on what stands before them. So it is left out. It may have let go of windows that
are kept no more (`'keep'`): these are there in the past until a row comes behind it.
"""

from __future__ import annotations

from collections.abc import Mapping

from catalog.schema.catalog import Catalog
from connectors.kafka.reader import Reader
from connectors.log.cut import NOWHERE, Cut
from connectors.topics import Topics
from operators.silenced import Silenced, by_stream


def read_silences(reader: Reader, topics: Topics) -> dict[str, tuple[Silenced, ...]]:
    """Return where silences have counted, by stream. *Raises* StateError if a record is none that shards write."""
    records = reader.read_to_end(topics.silences)
    return by_stream((f"`{topics.silences}` [0] offset {record.offset}", record.value) for record in records)


def before(cut: Cut, silences: Mapping[str, tuple[Silenced, ...]], catalog: Catalog) -> dict[str, tuple[Silenced, ...]]:
    """Return the silences that had counted by `cut`, of streams that are there."""
    found: dict[str, tuple[Silenced, ...]] = {}
    for stream, ones in silences.items():
        relation = catalog.relations.get(stream)
        if relation is not None:
            ends = cut.get(relation.topic, NOWHERE).ends
            found[stream] = tuple(one for one in ones if one.after < ends.get(one.partition, 0))
    return found
