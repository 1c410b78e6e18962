import pytest

from catalog.ddl.statements import apply_ddl, to_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from catalog.schema.stream import HOUR, SECOND, Stream
from catalog.sql.errors import CatalogError
from tests.catalog.streamed import CATALOG, STREAM, after


def options(written: str) -> Relation:
    text = f'CREATE STREAM s (k BIGINT, ts TIMESTAMP, "At" TIMESTAMP) WITH ({written})'
    return apply_ddl(Catalog(), text, 0).relations["s"]


def test_what_is_said_and_what_is_not() -> None:
    least = options("'event_time'='ts', 'lateness'='10 s'")
    assert least.stream == Stream("ts", 10 * SECOND, HOUR, None, None)
    assert (least.topic, least.format, least.absent, least.key, least.shards) == ("s", "json", "null", (), ("s/0",))
    said = options(
        "topic='t', 'format'='csv', 'delimiter'=';', 'absent'='error', 'event_time'='At', 'lateness'='0 s', "
        "'ahead'='5 min', 'idle'='1 min', 'keep'='7 days'"
    )
    assert said.stream == Stream("At", 0, 300 * SECOND, 60 * SECOND, 7 * 24 * HOUR)
    assert (said.topic, said.format, said.absent, said.options) == ("t", "csv", "error", (("delimiter", ";"),))


def test_event_time_is_never_null() -> None:
    assert [column.nullable for column in options("'event_time'='TS', 'lateness'='1 s'").columns] == [True, False, True]


@pytest.mark.parametrize("name", ["trade", "quote"])
def test_it_is_written_as_it_is_declared(name: str) -> None:
    declared = CATALOG.relations[name]
    assert apply_ddl(Catalog(), to_ddl(declared), 0).relations[name] == declared


def test_declared_again_it_is_the_same_and_grows() -> None:
    assert after(STREAM).relations == CATALOG.relations
    grown = after(STREAM.replace("ts TIMESTAMP", "ts TIMESTAMP, venue VARCHAR"))
    assert [column.name for column in grown.relations["trade"].columns][-1] == "venue"
    assert grown.relations["trade"].born == 0
    assert grown.views == CATALOG.views
    assert after(STREAM.replace("CREATE STREAM", "CREATE STREAM IF NOT EXISTS").replace("10 s", "1 h")).relations == (
        CATALOG.relations
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("10 s", "11 s", "option lateness of `trade` is 10 s and cannot become 11 s"),
        (", 'idle'='60 s'", "", "option idle of `trade` is 1 min and cannot become not given"),
        ("7 days", "8 days", "option keep"),
        ("'keep'", "'ahead'='2 h', 'keep'", "option ahead of `trade` is 1 h and cannot become 2 h"),
        ("'trades'", "'deals'", "topic of `trade`"),
        ("risk DOUBLE", "risk REAL", "column `risk`"),
    ],
)
def test_it_does_not_change(old: str, new: str, said: str) -> None:
    with pytest.raises(CatalogError, match=said) as refused:
        after(STREAM.replace(old, new))
    assert refused.value.code == "conflict"
    assert "DROP STREAM trade" in (refused.value.hint or "")


def test_drop_stream() -> None:
    left = after("DROP VIEW daily, symbols, hourly; DROP STREAM trade; DROP STREAM IF EXISTS trade, nothing")
    assert sorted(left.relations) == ["company", "quote"]
    with pytest.raises(CatalogError, match="`trade`"):
        after("DROP STREAM trade")
