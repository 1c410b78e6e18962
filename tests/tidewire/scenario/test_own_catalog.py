import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.sql.errors import CatalogError
from tidewire.scenario.own_catalog import OwnCatalog
from tidewire.scenario.own_names import OwnNames, TakenNames

T = "CREATE TABLE t (id INTEGER PRIMARY KEY, y INTEGER)"


class Stack:
    """A stack's catalog, as one scenario after another changes it."""

    def __init__(self) -> None:
        self.catalog = Catalog()
        self._taken, self._scenarios = TakenNames(), 0

    def scenario(self) -> OwnCatalog:
        self._scenarios += 1
        return OwnCatalog(OwnNames(self._taken, self._scenarios))

    def apply(self, statements: list[str]) -> list[str]:
        if statements:
            self.catalog = apply_ddl(self.catalog, ";\n".join(statements), self.catalog.version + 1)
        return statements

    def topics(self) -> dict[str, str]:
        return {name: relation.topic for name, relation in self.catalog.relations.items()}


def test_the_same_table_in_the_next_scenario_is_another_one_on_another_topic() -> None:
    stack = Stack()
    first, second = stack.scenario(), stack.scenario()
    stack.apply(first.declare(T))
    assert stack.topics() == {"t": "t"} and first.drops == ["DROP TABLE t"]
    stack.apply([*first.drops, *second.declare(T)])
    assert stack.topics() == {"t": "t-2"} and stack.catalog.relations["t"].born == 1


def test_a_table_grows_and_keeps_its_topic_and_what_changes_nothing_says_nothing() -> None:
    stack = Stack()
    stack.apply(stack.scenario().declare("CREATE TABLE other (id INTEGER PRIMARY KEY) WITH ('topic'='t')"))
    own = stack.scenario()
    stack.apply(own.declare(T))
    assert own.declare(T) == []
    stack.apply(own.declare(T[:-1] + ", z DOUBLE)"))
    grown = stack.catalog.relations["t"]
    assert ([column.name for column in grown.columns], grown.topic, grown.born) == (["id", "y", "z"], "t-2", 1)


def test_a_view_is_written_to_a_topic_of_the_scenarios_own() -> None:
    stack = Stack()
    view = "CREATE VIEW v WITH ('topic'='out') AS SELECT id FROM t"
    for topic in ("out", "out-2"):
        own = stack.scenario()
        stack.apply(own.declare(f"{T}; {view}"))
        assert stack.catalog.views["v"].topic == topic
        stack.apply(own.drops)


def test_a_table_that_is_dropped_and_made_again_is_another_one() -> None:
    stack = Stack()
    own = stack.scenario()
    stack.apply(own.declare(f"{T}; CREATE TABLE u (id INTEGER PRIMARY KEY)"))
    assert len(stack.apply(own.declare(f"DROP TABLE t; {T}"))) == 2
    assert stack.catalog.relations["t"].born == 1 and stack.catalog.relations["u"].born == 0
    assert stack.apply(own.declare("DROP TABLE u")) == ["DROP TABLE u"]
    assert own.drops == ["DROP TABLE t"]


def test_a_refusal_says_what_it_says_on_an_empty_stack_and_changes_nothing() -> None:
    stack = Stack()
    stack.apply(stack.scenario().declare(T))
    own = stack.scenario()
    for wrong in ("DROP TABLE t", "CREATE TABLE t (id INTEGER)", "nonsense"):
        with pytest.raises(CatalogError) as here:
            own.declare(wrong)
        with pytest.raises(CatalogError) as empty:
            apply_ddl(Catalog(), wrong, 0)
        assert str(here.value) == str(empty.value)
    assert own.drops == []


def test_joins_are_made_and_dropped_as_the_scenario_says() -> None:
    stack = Stack()
    own = stack.scenario()
    tables = f"{T}; CREATE TABLE u (id INTEGER PRIMARY KEY)"
    stack.apply(own.declare(f"{tables}; CREATE JOIN u, t"))
    assert [cell.tables for cell in stack.catalog.cells.values()] == [("t", "u")]
    assert own.declare("CREATE JOIN t, u") == []
    assert stack.apply(own.declare("DROP JOIN t, u; CREATE JOIN t")) == ["DROP JOIN t, u", "CREATE JOIN t"]
    stack.apply(own.declare("DROP JOIN t; CREATE JOIN t, u"))
    [cell] = stack.catalog.cells.values()
    assert stack.apply(own.declare("DROP JOIN u, t; CREATE JOIN t, u")) == ["DROP JOIN t, u", "CREATE JOIN t, u"]
    assert [made.born > cell.born for made in stack.catalog.cells.values()] == [True]


def test_a_table_that_goes_takes_its_joins_along() -> None:
    stack = Stack()
    own = stack.scenario()
    stack.apply(own.declare(f"{T}; CREATE TABLE u (id INTEGER PRIMARY KEY); CREATE JOIN u, t"))
    assert stack.apply(own.declare("DROP TABLE u")) == ["DROP TABLE u"]
    assert not stack.catalog.cells and own.declare("CREATE JOIN t") == ["CREATE JOIN t"]


def test_views_go_before_what_they_read_and_come_behind_it() -> None:
    stack = Stack()
    own, next_one = stack.scenario(), stack.scenario()
    views = "CREATE VIEW v AS SELECT id FROM t; CREATE VIEW w AS SELECT v.id FROM v JOIN u ON v.id = u.id"
    stack.apply(own.declare(f"{T}; CREATE TABLE u (id INTEGER PRIMARY KEY); {views}"))
    assert list(stack.catalog.views) == ["v", "w"] and own.several
    assert (
        own.declare(f"{T[:-1]}, z INTEGER)")[0].startswith("CREATE TABLE t")
        and own.declare(T[:-1] + ", z INTEGER)") == []
    )
    stack.apply([*own.drops, *next_one.declare(f"{T}; CREATE VIEW v AS SELECT y, id FROM t")])
    assert stack.topics() == {"t": "t-2"} and stack.catalog.views["v"].relation.key == ("id",) and not next_one.several
    told = stack.apply(next_one.declare("DROP VIEW v; CREATE VIEW v AS SELECT id FROM t"))
    assert told == ["DROP VIEW v", "CREATE VIEW v AS SELECT id FROM t"]
    stack.apply(next_one.declare("DROP VIEW v; DROP TABLE t"))
    assert not stack.catalog.relations and not stack.catalog.views
