import msgspec
import pytest

from catalog.query.explanation import explain
from catalog.query.question_certainty import certainty_of
from tests.catalog.streamed import CATALOG, after, compiled

AT = "hour = TIMESTAMP '2026-03-02 10:00:00'"


@pytest.mark.parametrize(
    ("sql", "certainty"),
    [
        (f"SELECT MAX(high) FROM hourly WHERE symbol = 'A' AND {AT}", "at_least"),
        (f"SELECT MIN(low) FROM hourly WHERE symbol = 'A' AND {AT}", "at_most"),
        (f"SELECT MAX(last) FROM hourly WHERE symbol = 'A' AND {AT}", "temporary"),
        ("SELECT MAX(high) FROM hourly WHERE symbol = 'A'", "temporary"),  # rows go after seven days
        ("SELECT MAX(n) FROM symbols", "at_least"),  # of no window, so they stay
        ("SELECT COUNT(*) FROM company", "temporary"),
    ],
)
def test_of_a_question(sql: str, certainty: str) -> None:
    assert certainty_of(CATALOG, compiled(sql).region) == certainty


def test_it_is_explained_beside_when_it_is_final() -> None:
    question = compiled(f"SELECT MAX(high) FROM hourly WHERE symbol = 'A' AND {AT}")
    found = msgspec.to_builtins(explain(CATALOG, question.region, question.cost))
    assert (found["certainty"], found["final_at"]) == ("at_least", "2026-03-02T11:00:00")
    made = [stage["made"] for stage in found["view"]["stages"]]
    assert made[1].startswith("groups of stage/hourly/0 by symbol")


def test_a_view_of_tables_is_temporary() -> None:
    catalog = after("CREATE VIEW names AS SELECT name, COUNT(*) AS n FROM company GROUP BY name")
    question = compiled("SELECT MAX(n) FROM symbols")
    shape = msgspec.structs.replace(question.region.shape, relation="names")
    region = type(question.region)(shape, question.region.group)
    assert certainty_of(catalog, region) == "temporary"
