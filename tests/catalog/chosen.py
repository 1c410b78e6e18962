"""Tables that choose their subscribers, for the tests of this folder."""

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog

COLUMNS = "id BIGINT PRIMARY KEY, price NUMRANGE(12,2), for_age INT4RANGE, for_region VARCHAR, v INTEGER"
AUDIENCE = "'audience'='age:for_age, region:for_region'"
OPEN = f"CREATE TABLE offer ({COLUMNS}) WITH ({AUDIENCE}, 'null.range'='everything')"
CLOSED = f"CREATE TABLE shut ({COLUMNS}) WITH ({AUDIENCE})"
TAGS = "CREATE TABLE tagged (k BIGINT PRIMARY KEY, tag TEXTRANGE, n INTEGER NOT NULL) WITH ('audience'='tag:tag, n:n')"
BUCKETS = (
    "CREATE TABLE part (team VARCHAR, k BIGINT, PRIMARY KEY (team, k)) "
    "WITH ('audience'='team:team', 'null.range'='everything', 'buckets'='2', 'bucket.by'='team')"
)
CATALOG = apply_ddl(Catalog(), ";".join([OPEN, CLOSED, TAGS, BUCKETS, "CREATE TABLE plain (k BIGINT PRIMARY KEY)"]), 1)


def compiler() -> Compiler:
    """Return a compiler that has seen nothing."""
    return Compiler(CATALOG)
