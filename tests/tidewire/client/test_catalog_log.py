"""The fold of the catalog topic, as everyone does it."""

from tidewire.client.catalog_log import fold

A = b"CREATE TABLE a (k INTEGER PRIMARY KEY)"


def test_records_that_do_not_apply_are_skipped() -> None:
    catalog = fold(
        [(0, A), (1, b"nonsense"), (2, None), (3, b"\xff"), (4, b"CREATE TABLE b (k INTEGER PRIMARY KEY)")], "tw."
    )
    assert (set(catalog.relations), catalog.version, catalog.relations["b"].born) == ({"a", "b"}, 4, 4)
    assert fold([], "tw.").version == -1
