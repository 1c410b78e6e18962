"""Rebuild the state of the shards from the log of publications, as the beginning of a new generation.

    log  ->  fold, table by table  ->  seeds in the new checkpoint, and where to go on reading  ->  a new epoch

A shard that has no state yet begins with its seed; the query reads each table's topic from where the log ended. All
tables begin anew, since one checkpoint holds them together; those that the log does not hold are read from their
topics' beginning. A new checkpoint is a new claim, so an epoch begins: the edges register everything, and tell their
subscribers only what differs.
"""

from __future__ import annotations

import logging
import secrets

from catalog.schema.relation import Catalog, Relation
from connectors.log.cut import Cut
from connectors.log.publication_log import PublicationLog
from connectors.topics import Topics
from operators.control import Offsets
from shard.group import Group
from shard.log_fold import fold_shards
from state.errors import UserError
from streaming.checkpoint.checkpoint import Checkpoint, Sidecar
from streaming.checkpoint.files import Files
from streaming.epoch.cluster import Cluster

SEEDS = "tidewire/seeds"
_LOG = logging.getLogger("tidewire.engine")


class NothingToRebuildError(UserError):
    """The log does not hold what is to be rebuilt."""

    code = "nothing_to_rebuild"


def prepare(
    table: str, log: PublicationLog, catalog: Catalog, cluster: Cluster, topics: Topics, files: Files, uri: str
) -> Sidecar:
    """Write seeds and sidecar of a new checkpoint at `uri`; `table` is the one that must be among them.

    *Cost*: about 10 us a publication in the log. *Raises* NothingToRebuildError.
    """
    newest = log.newest
    ids = cluster.ids(relation.topic for relation in catalog.relations.values())
    held = {
        name: relation
        for name, relation in catalog.relations.items()
        if relation.topic in ids and newest.mark.ids.get(relation.topic) == ids[relation.topic]
    }
    if table not in held:
        known = ", ".join(sorted(held)) or "none"
        raise NothingToRebuildError(
            f"the log `{log.uri}` holds nothing of the topic of table `{table}` as it is now. It can rebuild: {known}."
        )
    sidecar = Sidecar(claim="claim-" + secrets.token_hex(12), topic_ids=ids)
    for relation in held.values():
        _seed(relation, log, newest.cut, topics, files)
        sidecar.seeds |= dict.fromkeys(relation.shards, relation.topic)
        sidecar.begin[relation.topic] = _begin(relation.topic, newest.cut, cluster)
    Checkpoint(files, uri).store(sidecar)
    _LOG.info("rebuilt from version %d of the log: %s", newest.version, ", ".join(sorted(held)))
    return sidecar


def read_seed(files: Files, shard: str) -> bytes | None:
    """Return the state with which a shard of this generation began."""
    return files.read(f"{SEEDS}/{shard}")


def untouched(sidecar: Sidecar, last: Offsets) -> list[str]:
    """Return the shards that may still have no state of their own: no row has come to them, up to `last`."""
    return [s for s, topic in sidecar.seeds.items() if last.get(topic, sidecar.begin[topic]) == sidecar.begin[topic]]


def _seed(relation: Relation, log: PublicationLog, cut: Cut, topics: Topics, files: Files) -> None:
    for shard, state in fold_shards(log, relation, cut, topics).items():
        files.write(f"{SEEDS}/{shard}", Group(shard, [state]).dump())


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
