"""What a subscriber may rely on while an answer is not final, told from the catalog that it was compiled against."""

from __future__ import annotations

from catalog.query.certainty import Certainties, Certainty
from catalog.query.finality import final_at
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.view import Fold


def certainty_of(catalog: Catalog, region: Region) -> Certainty:
    """Return the certainty of a question about what `catalog` declares. *Cost*: all stages below it.

    Rows of a window that a stream does not keep go later than answers about it are final, so these leave that out.
    """
    relation = catalog.named(region.shape.relation)
    view = catalog.views.get(region.shape.relation)
    if relation is None or view is None:
        return Certainty.TEMPORARY
    streams = {name for name in view.tables if catalog.relations[name].stream is not None}
    forgetting = () if final_at(relation.closing, region) is not None else _forgetting(catalog, region.shape.relation)
    return Certainties(catalog.relations.get, catalog.views.get, streams, forgetting).of(region)


def _forgetting(catalog: Catalog, name: str) -> list[str]:
    """Return the stages below a view whose rows go when they are old."""
    view = catalog.views[name]
    streams = [catalog.relations[table].stream for table in view.tables]
    if all(stream is None or stream.keep is None for stream in streams):
        return []
    stages = [stage for each in catalog.views_below(view) for stage in each.stages]
    return [one.relation.name for one in stages if isinstance(one.operator, Fold) and one.relation.closing is not None]
