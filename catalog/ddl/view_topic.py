"""The topic that a view is written to: CREATE VIEW v WITH ('topic'='...') AS query.

    a record           its key is the JSON of the view's key, its value that of the row, or nothing where the row went
    so it is refused   where the view does not show its key; where the topic is another's: tidewire's or Kafka's own,
                       that of a table of the catalog (who reads it would read what it makes), or of another view

A view that has one row always (aggregates without GROUP BY) has the key `{}`.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from catalog.ddl.given_options import is_topic_name
from catalog.schema.internal_topics import owner_of
from catalog.schema.relation import Relation
from catalog.schema.view import GroupBy, Map, TopK, Union, View
from catalog.sql.names import quoted
from catalog.view.refusals import Refusals

_FORM = "Write CREATE VIEW name WITH ('topic'='...') AS SELECT ...."
_OPTION = "topic"


def read_view_topic(statement: exp.Create, refuse: Refusals) -> str:
    """Return the topic that a CREATE VIEW names, '' where it names none. Raises the text's error."""
    properties = statement.args.get("properties")
    given = [] if properties is None else properties.expressions
    for item in given:
        _check_option(item, refuse)
    if len(given) > 1:
        raise refuse.refusal("conflict", f"option `{_OPTION}` is given twice", given[1], "Give it once.")
    return given[0].args["value"].name if given else ""


def _check_option(item: exp.Expr, refuse: Refusals) -> None:
    if isinstance(item, exp.MaterializedProperty):
        hint = "Write CREATE VIEW: every view is kept as its rows change."
        raise refuse.unsupported("CREATE MATERIALIZED VIEW", ("MATERIALIZED",), hint)
    plain = isinstance(item, exp.Property) and type(item) is exp.Property
    if not plain or item.name.lower() != _OPTION:
        hint = f"Leave it out; a view's one option is '{_OPTION}', to which its rows are written. {_FORM}"
        raise refuse.unsupported("an option of a view", ("WITH", "TEMPORARY", "TEMP"), hint)
    value = item.args.get("value")
    if not (isinstance(value, exp.Literal) and value.is_string):
        hint = f"Write it in single quotes. {_FORM}"
        raise refuse.refusal("syntax", f"the value of option `{_OPTION}` is no string", ("WITH",), hint)
    if not is_topic_name(value.name):
        what = f"{value.name[:60]!r} is no name of a Kafka topic (1 to 249 of A-Z a-z 0-9 . _ -)"
        raise refuse.refusal("malformed", what, value, f"Name one. {_FORM}")


def check_view_topic(
    view: View,
    tables: Mapping[str, Relation],
    views: Mapping[str, View],
    prefix: str,
    statement: exp.Create,
    refuse: Refusals,
) -> None:
    """Refuse a topic that is not free, and a view whose rows cannot be told apart in it; `views` are all others.

    Raises the text's error: `conflict`, `unsupported`.
    """
    place = statement.args["properties"].expressions[0].args["value"]
    owner = owner_of(view.topic, prefix)
    if owner is not None:
        what = f"topic `{view.topic}` is {owner}'s own, and no view is written to it"
        raise refuse.refusal("conflict", what, place, "Name a topic that nobody else writes to.")
    table = next((each.name for each in tables.values() if each.topic == view.topic), None)
    if table is not None:
        what = f"topic `{view.topic}` feeds table `{table}`, which would read what the view makes"
        hint = "Name a topic that nobody else writes to; who asks about the view needs no table of it."
        raise refuse.refusal("conflict", what, place, hint)
    other = next((each.name for each in views.values() if each.topic == view.topic), None)
    if other is not None:
        what = f"view `{other}` is written to topic `{view.topic}` already"
        raise refuse.refusal("conflict", what, place, f"Name another one, or DROP VIEW {quoted(other)}.")
    if not view.relation.key and not _is_one_row(view.name, {**views, view.name: view}):
        what = "a topic of a view that does not show the key of its rows, by which a reader tells them apart,"
        raise refuse.refusal("unsupported", f"{what} is not supported", place, _hint(view))


def _hint(view: View) -> str:
    if any(isinstance(stage.operator, Union) for stage in view.stages):
        return (
            "A row of a UNION ALL is known by the number of its SELECT, which nobody sees: "
            "declare it without a topic, and write out a view of it with GROUP BY."
        )
    return "Show all columns of the key, each as it is: those of GROUP BY, or the primary keys of what the view reads."


def _is_one_row(name: str, views: Mapping[str, View]) -> bool:
    """Whether a table, view or stage has at most one row, being aggregates of all rows."""
    operators = {stage.relation.name: stage.operator for view in views.values() for stage in view.stages}
    while name in operators:
        operator = operators[name]
        if isinstance(operator, GroupBy):
            return not operator.by
        if not isinstance(operator, Map | TopK):
            return False
        name = operator.input
    return False


def written_to(topic: str, views: Mapping[str, View]) -> str | None:
    """Return the view that is written to a topic, None where none is."""
    return next((view.name for view in views.values() if view.topic == topic), None)
