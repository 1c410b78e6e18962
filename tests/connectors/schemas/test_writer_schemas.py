from __future__ import annotations

from collections.abc import Iterator

import pytest

from catalog.schema.relation import Relation
from connectors.dead_letter import RecordFault
from connectors.schemas.schema_registry import NoSchema, Registry, RegistryFailure, use_registry
from connectors.schemas.writer_schemas import WriterSchemas

REGISTRY = Registry("http://x")


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    use_registry(REGISTRY)
    yield
    use_registry(None)


class Fetch:
    """A registry with schema 9 alone; 13 is one of another kind."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, registry: Registry, number: int) -> str:
        assert registry == REGISTRY
        self.asked.append(number)
        if number not in (9, 13):
            raise NoSchema("never heard of it")
        return "bad" if number == 13 else "nine"


def make(text: str, label: str) -> str:
    if text == "bad":
        raise ValueError("no schema at all")
    return f"{label}: {text}"


def schemas(fetch: Fetch, **options: str) -> WriterSchemas[str]:
    given = tuple((name.replace("_", "."), text) for name, text in options.items())
    return WriterSchemas(Relation("t", (), (), "t", options=given), make, fetch)


def test_listed_schemas_need_no_registry() -> None:
    fetch = Fetch()
    found = schemas(fetch, schema_7="seven", schema_8="eight")
    assert (found.of(7), found.of(8), found.only) == ("schema 7: seven", "schema 8: eight", None)
    with pytest.raises(RecordFault, match="schema 9 wrote it, and the table lists 7, 8") as fault:
        found.of(9)
    assert (fault.value.code, fetch.asked) == ("unknown_schema", [])


def test_the_registry_is_asked_once_for_what_is_not_listed() -> None:
    fetch = Fetch()
    found = schemas(fetch, schema="registry", schema_7="seven")
    assert [found.of(7), found.of(9), found.of(9)] == ["schema 7: seven", "schema 9: nine", "schema 9: nine"]
    assert (found.only, fetch.asked) == (None, [9])
    for number, said in ((10, "never heard of it"), (13, "no schema at all")):
        with pytest.raises(RecordFault, match=f"schema {number} wrote it: {said}"):
            found.of(number)


def test_one_schema_for_all() -> None:
    assert schemas(Fetch(), schema="one").only == "schema: one"


def test_a_registry_that_nobody_set() -> None:
    use_registry(None)
    with pytest.raises(RegistryFailure, match="table `t` has its schemas in a registry: set `registry`"):
        schemas(Fetch(), schema="registry").of(7)
