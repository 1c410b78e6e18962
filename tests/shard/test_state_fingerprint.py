from __future__ import annotations

from dataclasses import replace

import pytest

from catalog.schema.relation import Column
from shard.state_fingerprint import Declared
from state.errors import StateError
from tests.operators.watched import BIGINT, RELATION

STORED = Declared.of(RELATION).fingerprint


def test_the_same_declaration_and_one_with_nullable_columns_appended_go_on() -> None:
    assert Declared.of(RELATION).takes_over(STORED)
    assert Declared.of(replace(RELATION, columns=(*RELATION.columns, Column("z", BIGINT)))).takes_over(STORED)


def test_a_table_created_again_begins_empty() -> None:
    assert not Declared.of(replace(RELATION, born=1, columns=RELATION.columns[:2])).takes_over(STORED)


def test_everything_else_is_refused() -> None:
    for other in (
        replace(RELATION, columns=(*RELATION.columns, Column("z", BIGINT, False))),
        replace(RELATION, columns=RELATION.columns[1:]),
        replace(RELATION, key=("x",)),
        replace(RELATION, name="u"),
    ):
        with pytest.raises(StateError, match="another declaration"):
            Declared.of(other).takes_over(STORED)
