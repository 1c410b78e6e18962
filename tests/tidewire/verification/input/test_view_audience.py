"""For whom views are, as verification reads them; `tests/catalog/view/test_view_audience.py` compares the product."""

from __future__ import annotations

import pytest

from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.declared import Declared
from tidewire.verification.input.declared_views import Views
from tidewire.verification.records.journal import Record

TABLE = "CREATE TABLE t (k BIGINT PRIMARY KEY, team VARCHAR, v INTEGER) WITH ('audience'='Team:TEAM')"


def declared_views(text: str) -> Views:
    """Return the views of a text, none where it does not apply as a whole."""
    return Declared([Record(0, 0, 0, None, text.encode())], scratch=SCRATCH).views_at(0)


def test_an_audience_goes_through_views() -> None:
    views = "CREATE VIEW a AS SELECT team AS x, k FROM t; CREATE VIEW b AS SELECT x, MAX(k) AS m FROM a GROUP BY x"
    made = {name: view.audience for name, view in declared_views(f"{TABLE}; {views}").items()}
    assert {name: one.pairs for name, one in made.items()} == {"a": (("team", "x"),), "b": (("team", "x"),)}
    assert not any(one.everything for one in made.values())


@pytest.mark.parametrize(
    "query", ["SELECT k, v FROM t", "SELECT MAX(team) AS team FROM t", "SELECT v FROM t GROUP BY v"]
)
def test_a_view_that_leaves_it_out_is_none(query: str) -> None:
    assert declared_views(f"{TABLE}; CREATE VIEW a AS {query}") == {}
