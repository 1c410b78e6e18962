import pytest

from catalog.ddl.statements import apply_ddl, to_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from catalog.sql.errors import CatalogError, SubscriptionError

COLUMNS = 'a INT, "B c" VARCHAR, d INT, PRIMARY KEY (a, "B c")'


def table(options: str) -> Relation:
    return apply_ddl(Catalog(), f"CREATE TABLE t ({COLUMNS}) WITH ({options})", 0).relations["t"]


@pytest.mark.parametrize(
    ("by", "columns"),
    [("a", ("a",)), (" A ", ("a",)), ('"B c"', ("B c",)), ('"B c", a', ("a", "B c")), ('a,"B c"', ("a", "B c"))],
)
def test_columns_of_the_key_in_their_order(by, columns) -> None:
    relation = table(f"'buckets'='8', 'bucket.by'='{by}'")
    assert (relation.buckets, relation.bucket_by) == (8, columns)
    assert relation.shards == tuple(f"t/{i}" for i in range(8))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ("'buckets'='8'", "`buckets` is given without `bucket.by`"),
        ("'bucket.by'='a'", "`bucket.by` is given without `buckets`"),
        ("'buckets'='1', 'bucket.by'='a'", "from 2 to 1024, got '1'"),
        ("'buckets'='1025', 'bucket.by'='a'", "from 2 to 1024"),
        ("'buckets'='٨', 'bucket.by'='a'", "from 2 to 1024"),
        ("'buckets'='8', 'bucket.by'=''", "lists columns of the primary key"),
        ("'buckets'='8', 'bucket.by'='a,'", "lists columns of the primary key"),
        ("'buckets'='8', 'bucket.by'='a b'", "lists columns of the primary key"),
        ("'buckets'='8', 'bucket.by'='a, A'", "each once"),
        ("'buckets'='8', 'bucket.by'='d'", "`d`, which is no column of the primary key"),
    ],
)
def test_refused(options, what) -> None:
    with pytest.raises(CatalogError) as caught:
        table(options)
    assert what in caught.value.what and caught.value.end > caught.value.start


def test_canonical_ddl_declares_the_same() -> None:
    relation = table("'buckets'='8', 'bucket.by'='\"B c\", a'")
    assert apply_ddl(Catalog(), to_ddl(relation), 0).relations["t"] == relation


@pytest.mark.parametrize(
    "options", ["", "WITH ('buckets'='4', 'bucket.by'='a')", "WITH ('buckets'='8', 'bucket.by'='\"B c\"')"]
)
def test_a_table_keeps_its_buckets(options) -> None:
    catalog = Catalog(0, {"t": table("'buckets'='8', 'bucket.by'='a'")})
    with pytest.raises(CatalogError, match="cannot become") as caught:
        apply_ddl(catalog, f"CREATE TABLE t ({COLUMNS}) {options}", 1)
    assert "DROP TABLE t" in (caught.value.hint or "")
    wider = apply_ddl(
        catalog,
        f"CREATE TABLE t ({COLUMNS[:-23]}e INT, PRIMARY KEY (a, \"B c\")) WITH ('buckets'='8', 'bucket.by'='a')",
        1,
    )
    assert wider.relations["t"].buckets == 8 and len(wider.relations["t"].columns) == 4


def test_a_question_must_say_which_bucket() -> None:
    compiler = Compiler(Catalog(0, {"t": table("'buckets'='8', 'bucket.by'='a, \"B c\"'")}))
    for where in ("", "WHERE a = 1", "WHERE a = 1 AND \"B c\" > 'x'", "WHERE a BETWEEN 1 AND 1 AND \"B c\" = 'x'"):
        with pytest.raises(SubscriptionError) as caught:
            compiler.compile(f"SELECT MIN(d) FROM t {where}")
        assert caught.value.code == "unsupported" and "8 buckets by `a` and `B c`" in caught.value.what
        assert " = ..." in (caught.value.hint or "")
    assert compiler.compile("SELECT MIN(d) FROM t WHERE a = 1 AND \"B c\" = 'x'").region.group == b'[1,"x"]'
    assert compiler.compile("SELECT MIN(d) FROM t WHERE a = 1 AND a = 2 AND \"B c\" = 'x'").region.empty


def test_shards_are_found_by_their_exact_name() -> None:
    catalog = Catalog(0, {"t": table("'buckets'='8', 'bucket.by'='a'")})
    assert catalog.relation_of("t/7") is catalog.relations["t"]
    for name in ("t/8", "t/07", "t/-1", "t/", "t", "u/0", "t/٧", ""):
        assert catalog.relation_of(name) is None
