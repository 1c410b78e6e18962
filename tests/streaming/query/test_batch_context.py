import pytest

from catalog.schema.catalog import Catalog
from connectors.placement import Placement
from streaming.query.batch_context import catalog_at, current_batch, placement_at

CATALOGS = ((0, Catalog(1)), (10, Catalog(4)), (12, Catalog(6)))


@pytest.mark.parametrize(("batch", "version"), [(0, 1), (9, 1), (10, 4), (11, 4), (12, 6), (99, 6)])
def test_the_batch_chooses_the_catalog(batch: int, version: int) -> None:
    assert catalog_at(CATALOGS, batch).version == version
    placements = tuple((first, Placement({})) for first, _ in CATALOGS)
    assert (
        placement_at(placements, batch) is dict(zip((1, 4, 6), (each for _, each in placements), strict=True))[version]
    )


def test_outside_of_a_batch_there_is_no_number() -> None:
    with pytest.raises(RuntimeError, match="not inside a streaming batch"):
        current_batch()
