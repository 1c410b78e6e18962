"""Rebuild the state of the shards from the log of publications, as the beginning of a new generation.

What views of streams have is all that is kept of these, so it is made with them; views of tables are made of their rows
when they are asked.

    log  ->  fold, group by group  ->  seeds in the new checkpoint, and where to go on reading  ->  a new epoch

A group that has no state yet begins with its seed; the query reads each table's topic from where the log ended. All
tables begin anew, since one checkpoint holds them together; those that the log does not hold are read from their
topics' beginning. A new checkpoint is a new claim, so an epoch begins: the edges register everything, and tell their
subscribers only what differs.
"""

from __future__ import annotations

import logging
import secrets
from collections import Counter
from collections.abc import Callable

from catalog.schema.catalog import Catalog
from connectors.log.cut import Cut
from connectors.log.publication_log import PublicationLog
from connectors.placement import Placement
from connectors.topics import Topics
from operators.control import Offsets
from shard.group import Group
from shard.log_fold import fold_groups
from state.errors import UserError
from streaming.checkpoint.checkpoint import Checkpoint, Sidecar
from streaming.checkpoint.files import Files
from streaming.epoch.cluster import Cluster
from streaming.epoch.silenced import silenced

SEEDS = "tidewire/seeds"
_LOG = logging.getLogger("tidewire.engine")


class NothingToRebuildError(UserError):
    """The log does not hold what is to be rebuilt."""

    code = "nothing_to_rebuild"


def prepare(
    table: str,
    log: PublicationLog,
    catalog: Catalog,
    cluster: Cluster,
    topics: Topics,
    files: Files,
    uri: str,
    place: Callable[[Catalog], Placement] = Placement.of,
) -> Sidecar:
    """Write seeds and sidecar of a new checkpoint at `uri`; `table`, or what a view `table` reads, must be there.

    `place` says which groups there are. Of a group that has tables which the log does not hold, the others are seeded.
    *Cost*: about 10 us a publication in the log. *Raises* NothingToRebuildError.
    """
    newest = log.newest
    ids = cluster.ids(relation.topic for relation in catalog.relations.values())
    held = {
        name: relation
        for name, relation in catalog.relations.items()
        if relation.topic in ids and newest.mark.ids.get(relation.topic) == ids[relation.topic]
    }
    view = catalog.views.get(table)
    if not held.keys() >= set((table,) if view is None else view.tables):
        rebuilt = ", ".join(sorted(held)) or "none"
        raise NothingToRebuildError(
            f"the log `{log.uri}` holds nothing of the topic of table `{table}` as it is now"
            f"{'' if view is None else ', which is a view, or of one of its tables'}. "
            f"It can rebuild: {rebuilt}."
        )
    sidecar = Sidecar(claim="claim-" + secrets.token_hex(12), topic_ids=ids)
    views = {name: view for name, view in catalog.views.items() if not view.cell and set(view.tables) <= held.keys()}
    known = Catalog(catalog.version, held, catalog.prefix, views=views)
    placement = place(known)
    counted = silenced(cluster, topics, cluster.end(topics.silences))
    for group, state in fold_groups(log, known, placement, newest.cut, topics, silenced=counted):
        files.write(f"{SEEDS}/{group}", state or Group(group).dump())
        sidecar.seeds[group] = _entry(group, placement.topics(group))
    for relation in held.values():
        sidecar.begin[relation.topic] = _begin(relation.topic, newest.cut, cluster)
    Checkpoint(files, uri).store(sidecar)
    _LOG.info("rebuilt from version %d of the log: %s", newest.version, ", ".join(sorted(held)))
    return sidecar


def read_seed(files: Files, group: str) -> bytes | None:
    """Return the state with which a group of this generation began."""
    return files.read(f"{SEEDS}/{group}")


def untouched(sidecar: Sidecar, last: Offsets) -> list[str]:
    """Return the groups that may still have no state of their own in the batch that ends at `last`, a committed one.

    A row of a topic that one group alone takes has come to it. Of a topic that several take, by buckets or with other
    topics, it is not known to which its rows have come, so their seeds count for ever; a state is preferred to a seed.
    """
    topics = {group: {entry} if isinstance(entry, str) else {*entry.values()} for group, entry in sidecar.seeds.items()}
    readers = Counter(topic for read in topics.values() for topic in read)
    moved = {topic for topic in readers if last.get(topic, sidecar.begin[topic]) != sidecar.begin[topic]}
    return [group for group, read in topics.items() if not any(readers[topic] == 1 for topic in read & moved)]


def _entry(group: str, topics: dict[str, str]) -> str | dict[str, str]:
    """Return what the sidecar has of a group: of one that is a single member of its name, the topic alone."""
    return topics[group] if topics.keys() == {group} else topics


def _begin(topic: str, cut: Cut, cluster: Cluster) -> dict[str, int]:
    """Return where to go on in each partition: where the log ends, or where the topic begins if that is later."""
    places: dict[str, int] = {}
    for partition, first in cluster.begins(topic).items():
        logged = cut[topic].ends.get(partition, 0)
        if first > logged:
            _LOG.warning(
                "`%s` [%d]: records %d..%d are neither in the log nor in the topic", topic, partition, logged, first
            )
        places[str(partition)] = max(first, logged)
    return places
