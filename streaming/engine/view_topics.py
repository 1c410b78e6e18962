"""Views begin to be written to their topics: when each shard is told to, and what of an earlier life has to go.

    look     before the query starts: each topic is there; who is told already, of the same view and topic, goes on
    begin    once the epoch has caught up: all others are told, in `registrations`, by a record for each shard

A shard that is told writes all its rows, and from then on what changes (`shard/written_rows.py`). Until the epoch has
caught up nothing is written: readers would be told again what they were told before. What stands in the topic and is no
row any more, since the view was declared anew or the state was lost, is deleted: the keys that are in the topic go with
the record, and the shard, which alone knows its rows at that moment, deletes those that it has not.

Killed between telling and remembering it, the next start tells again: rows are written twice, and mean the same.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from catalog.schema.catalog import Catalog
from catalog.schema.view import View
from connectors.formats.bucket import buckets_of
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Write, encode_control
from state.byte_runs import byte_runs
from streaming.checkpoint.checkpoint import Checkpoint, Sidecar, WrittenView
from streaming.epoch.cluster import Cluster

_LOG = logging.getLogger("tidewire.engine")


@dataclass(frozen=True, slots=True)
class ViewTopics:
    """Tells the shards of views that are written out. *Cost*: reading a view's topic once, when that begins."""

    cluster: Cluster
    topics: Topics
    checkpoint: Checkpoint
    sidecar: Sidecar

    def look(self, catalog: Catalog) -> None:
        """Create the topics that are missing; forget whom to tell again: another view, or another topic."""
        views = {view.name: view for view in written_views(catalog)}
        names = {view.topic for view in views.values()}
        if not names and not self.sidecar.written:
            return
        for name in sorted(names - self.cluster.ids(names).keys()):
            self.cluster.create_compacted(name)
            _LOG.info("created the topic `%s`", name)
        ids = self.cluster.ids(names)
        told = {
            name: one
            for name, one in self.sidecar.written.items()
            if name in views and one == WrittenView(views[name].born, ids.get(views[name].topic, ""))
        }
        if told != self.sidecar.written:
            self.sidecar.written = told
            self.checkpoint.store(self.sidecar)

    def begin(self, catalog: Catalog) -> None:
        """Tell the shards of views that were not told yet; nothing before the epoch has caught up."""
        if not self.sidecar.registered:
            return
        for view in written_views(catalog):
            if view.name not in self.sidecar.written:
                self.cluster.append(list(self._told(view, catalog)))
                ids = self.cluster.ids([view.topic])
                self.sidecar.written[view.name] = WrittenView(view.born, ids.get(view.topic, ""))
                self.checkpoint.store(self.sidecar)
                _LOG.info("view `%s` is written to `%s` from now on", view.name, view.topic)

    def _told(self, view: View, catalog: Catalog) -> Iterator[OutRecord]:
        keys = sorted(self.cluster.live_keys(view.topic))
        for shard, its in _parted(view, keys).items():
            parts = [its[run] for run in byte_runs([len(key) for key in its])] or [[]]
            for number, part in enumerate(parts):
                record = Write(self.sidecar.epoch, catalog.version, number == 0, [key.decode() for key in part])
                yield OutRecord(self.topics.registrations, 0, shard.encode(), encode_control(record))


def written_views(catalog: Catalog) -> list[View]:
    """Return the views that are written out, of those that are computed."""
    views = (view for view in catalog.views.values() if view.topic)
    return [view for view in views if not catalog.uncelled(view.name)]


def _parted(view: View, keys: Sequence[bytes]) -> dict[str, list[bytes]]:
    """Return the keys by the shard of the view that has their rows, every shard of it; what is no text is nobody's."""
    relation, texts = view.relation, [key for key in keys if _is_text(key)]
    parts: dict[str, list[bytes]] = {shard: [] for shard in relation.shards}
    buckets = buckets_of(relation).of_keys(texts).tolist() if relation.bucket_by else [0] * len(texts)
    for key, bucket in zip(texts, buckets, strict=True):
        parts[relation.shards[bucket]].append(key)
    return parts


def _is_text(key: bytes) -> bool:
    try:
        key.decode()
    except UnicodeDecodeError:
        return False
    return True
