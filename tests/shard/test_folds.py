"""Which stages are over streams, from which window on a fold takes rows, and which rows of windows go when."""

from __future__ import annotations

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.placed_stage import stages_beside
from operators.wire.header import NO_HORIZON
from shard.folds import Folds, StreamStages
from shard.group import Group
from shard.group_spec import GroupSpec
from shard.pipeline import process_group
from tests.shard.test_pipeline import TOPICS
from tests.shard.test_stream_pipeline import CATALOG, SECOND, SPEC, START, STREAM, S, events, folded

W = "CREATE VIEW w AS SELECT DATE_TRUNC('hour', minute) AS hour, SUM(n) AS n FROM v GROUP BY DATE_TRUNC('hour', minute)"


def test_rows_pass_what_stands_before_a_fold_and_what_is_behind_it_is_made_of_its_rows() -> None:
    catalog = apply_ddl(apply_ddl(CATALOG, W, 2), "CREATE TABLE t (id INTEGER PRIMARY KEY)", 3)
    catalog = apply_ddl(catalog, "CREATE VIEW u AS SELECT id, COUNT(*) AS n FROM t GROUP BY id", 4)
    found = StreamStages.of(stages_beside(catalog, "s"))
    assert (found.passed, found.folds) == ({"stage/v/0/0"}, {"stage/v/1/0"})
    assert found.streams == dict.fromkeys(("stage/v/0/0", "stage/v/1/0", "v/0", "stage/w/0/0", "w/0"), ("s/0",))
    of_table = StreamStages.of(stages_beside(catalog, "t"))
    assert not (of_table.passed or of_table.folds or of_table.streams)


def test_a_fold_may_stand_right_behind_the_stream_and_be_the_view() -> None:
    catalog = apply_ddl(apply_ddl(Catalog(), S, 0), "CREATE VIEW v AS SELECT g, COUNT(x) AS n FROM s GROUP BY g", 1)
    found = StreamStages.of(stages_beside(catalog, "s"))
    assert not found.passed and len(found.folds) == 1


def test_how_far_it_was_before_the_batch() -> None:
    state = process_group(SPEC, 0, None, [events(("a", 5, 30))]).state
    stages = SPEC.stages
    members = {"s/0": CATALOG.relations["s"], **{stage.member: stage.relation for stage in stages}}
    folds = Folds(stages, Group.open("s/0", members, state))
    assert folds.before == {"s/0": START + 20 * SECOND} == {"s/0": folds.upto("v/0")}
    assert [folds.upto_before(name) for name in ("v/0", "elsewhere/0")] == [START + 20 * SECOND, NO_HORIZON]
    assert Folds(stages, Group.open("s/0", members, None)).before == {"s/0": NO_HORIZON}


@pytest.mark.parametrize("late", [19, 59])
@pytest.mark.parametrize("read", [30, 59, 60])
def test_a_fold_begins_with_the_window_behind_what_was_read(read: int, late: int) -> None:
    first = process_group(GroupSpec(7, "s/0", STREAM, TOPICS, 4, counts={"s": 1}), 0, None, [events(("a", 1, read))])
    come = events(("a", 4, max(read - 10, late)), ("a", 4, 60), ("a", 4, 120), ("a", 4, 125), first=1)
    result = process_group(SPEC, 1, first.state, [come])
    expected = {("a", 2): [4, 4, 2]} | ({("a", 1): [4, 4, 1]} if read < 60 else {})
    assert folded(result.state) == expected


def test_windows_go_by_the_horizon_before_the_batch_and_those_that_come_too_late_with_them() -> None:
    """Kept for 2 minutes: the first window ends at 1:00, and goes when the stream is complete to 3:00."""
    state = process_group(SPEC, 0, None, [events(("a", 5, 0), ("a", 5, 60), ("a", 5, 189))]).state
    for batch, (second, expected) in enumerate([(189, [0, 1, 3]), (190, [0, 1, 3]), (190, [1, 3])], 1):
        state = process_group(SPEC, batch, state, [events(("a", 5, second), first=2 + batch)]).state
        assert sorted(minute for _, minute in folded(state)) == expected
