"""What a person is told of how a view is computed, and where."""

from catalog.query.compiler import Compiler
from catalog.query.explanation import explain
from catalog.query.view_explanation import explain_view, made_of
from tests.catalog.viewed import after, declared

BOTH = "CREATE VIEW both AS SELECT s.dest, t.paid FROM seat s LEFT JOIN taken t ON s.flight = t.flight WHERE s.n > 1"


def test_stages_of_views_below_are_computed_again_in_the_cell() -> None:
    catalog = after(BOTH)
    found = explain_view(catalog, catalog.views["both"])
    assert found.groups == ["cell/booked+seat/0"]
    assert [(stage.name, stage.again) for stage in found.stages] == [
        ("taken", True),
        ("stage/both/0", False),
        ("both", False),
    ]


def test_a_question_about_a_view_is_explained_by_it() -> None:
    compiled = Compiler(after()).compile("SELECT MAX(low) FROM low WHERE n > 3")
    found = explain(after(), compiled.region, compiled.cost)
    assert found.view is not None
    assert (found.relation, found.view.groups, found.view.stages[0].name) == ("low", ["seat/0"], "low")
    plain = Compiler(after()).compile("SELECT MAX(n) FROM seat")
    assert explain(after(), plain.region, plain.cost).view is None


def test_each_operator_has_its_words() -> None:
    query = (
        "SELECT s.dest, COUNT(*) AS n FROM seat s LEFT JOIN taken t ON s.flight = t.flight WHERE s.n > 1"
        " GROUP BY s.dest QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC, s.dest) <= 3"
        " UNION ALL SELECT dest, n FROM low"
    )
    assert [made_of(stage.operator) for stage in declared(query).stages] == [
        "pairs of seat and taken where flight = flight, and rows without partner",
        "1 condition on rows of stage/v/0",
        "groups of stage/v/1 by s.dest; COUNT of *",
        'the first 3 rows of stage/v/2, by "COUNT(*)" DESC, "s.dest"',
        "no conditions on rows of low",
        "all rows of stage/v/3, stage/v/4",
    ]
