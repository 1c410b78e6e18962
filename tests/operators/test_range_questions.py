"""The messages and answers of a table against a twin: exact, silent, single, idempotent, for each change and range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.query.channel import Channel, ExtremumChannel, channel_of
from catalog.query.shape import Output, Region, Shape, group_key
from operators.answer import Extremum, Members, Tally
from operators.channel_binding import ChannelError
from shard.tables import Table
from state import a2b_tree, byte_table, ordering, row_store, text_rank
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples
from tests.operators.watched import (
    DOUBLES,
    RELATION,
    TEXTS,
    WIDES,
    Change,
    Watched,
    batch_of,
    channel,
    dumped,
    play,
    reopened,
)  # fmt: skip
from tests.oracle.naive_range_questions import KEEP, NaiveRangeQuestions
from tests.oracle.plain_kernels import plain_kernels

MODULES = (byte_table, text_rank, row_store, ordering, a2b_tree)
CHANNELS = [
    channel("min", "y", ("e",)),
    channel("max", "y", ("e",)),
    channel("min", "x", ("e",), None),
    channel("max", "y", ("e", "f")),
    channel("min", "y"),
    channel("max", "f", ("f",), None),
    channel("distinct", "y", ("e",)),
    channel("distinct", "s"),
    channel("distinct", "e", ("e",)),
    channel("distinct", "x", ("f",)),
    channel("distinct", "w", (), None),
    channel("rows", None, ("e",)),
    channel("rows", "s", ()),
    channel("rows", None, ("e", "f"), None),
    channel("values", "y", ("e",)),
    channel("values", "w"),
    channel("values", "d", ("f",)),
    channel("values", "x", (), "x"),
    channel("min", "s", ("e",)),
    channel("max", "w", (), "w"),
    channel("max", "y", ("e",), "s"),
    channel("min", "s", ("s",), "s"),
    channel("distinct", "s", (), "s"),
    channel("distinct", "y", ("f",), "w"),
    channel("rows", None, ("s",), "w"),
    channel("values", "y", (), "s"),
]


@pytest.fixture
def plain() -> Iterator[None]:
    with plain_kernels(*MODULES):
        yield


def rows_over(xs: list[int], ys: list[int], keep: bool) -> st.SearchStrategy[dict[str, int | str | None]]:
    extra = [None, KEEP] if keep else [None]
    return st.fixed_dictionaries(
        {
            "e": st.sampled_from(["a", "b", "a", "b", *extra]),
            "f": st.sampled_from([0, 0, 1, *extra]),
            "x": st.sampled_from([*xs, *extra]),
            "y": st.sampled_from([*ys, *extra]),
            "s": st.sampled_from([*TEXTS, *extra]),
            "w": st.sampled_from([*WIDES, *extra]),
            "d": st.sampled_from([*DOUBLES, *extra]),
        }
    )


def batches_over(xs: list[int], ys: list[int], keep: bool = True) -> st.SearchStrategy[list[list[Change]]]:
    row = st.one_of(st.none(), rows_over(xs, ys, keep), rows_over(xs, ys, keep))
    return st.lists(st.lists(st.tuples(st.integers(0, 5), row), min_size=1, max_size=7), min_size=1, max_size=4)


def run(batches: list[list[Change]], numbers: list[int], sets: list[set[int]]) -> None:
    """Play batches while channels are listened to and forgotten; the operator is dumped and loaded in between."""
    operator, twin = Table(RELATION), NaiveRangeQuestions(RELATION)
    watched, listening = Watched(twin, numbers), set[int]()
    for number, changes in enumerate(batches):
        wanted = sets[number % len(sets)]
        for gone in listening - wanted:
            operator.forget([CHANNELS[gone]])
            watched.unsubscribe(CHANNELS[gone])
        operator.listen([CHANNELS[i] for i in sorted(wanted)])
        operator.check()
        for come in sorted(wanted - listening):
            watched.subscribe(operator, CHANNELS[come])
        listening = wanted
        play(operator, watched, changes)
        stored = dumped(operator)
        operator = reopened(RELATION, stored)
        operator.check()
        assert dumped(operator) == stored
        assert operator.channels == tuple(sorted((CHANNELS[i] for i in listening), key=lambda each: each.key))


SETS = st.lists(st.sets(st.integers(0, len(CHANNELS) - 1), min_size=1, max_size=3), min_size=1, max_size=3)
CALM = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@CALM
@given(batches=batches_over(list(range(5)), list(range(5))), sets=SETS)
def test_small_domains(plain: None, batches: list[list[Change]], sets: list[set[int]]) -> None:
    run(batches, [INT64_MIN, 0, 1, 2, 3, 4, INT64_MAX], sets)


ENDS = [INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX]


@CALM
@given(batches=batches_over(ENDS, ENDS), sets=SETS)
def test_whole_int64(plain: None, batches: list[list[Change]], sets: list[set[int]]) -> None:
    run(batches, ENDS, sets)


def test_hundreds_of_rows_compiled() -> None:
    """The compiled kernels, more rows and a fresh shard, against the twin on a sample of ranges."""
    rng = np.random.default_rng(5)
    operator, twin = Table(RELATION), NaiveRangeQuestions(RELATION)
    operator.listen(CHANNELS)
    watched = Watched(twin, [INT64_MIN, 20, 41, INT64_MAX])
    for each in CHANNELS:
        watched.subscribe(operator, each)
    for _ in range(2):
        changes: list[Change] = []
        for pk, e, f, x, y, t in rng.integers(0, [150, 3, 3, 60, 60, 5], (200, 6)).tolist():
            row: dict[str, int | str | None] = {"e": ["a", "b", None][e], "f": [0, 1, None][f], "x": x, "y": y}
            row |= {"s": TEXTS[t], "w": WIDES[(t + x) % 5], "d": DOUBLES[(t + y) % 5]}
            changes.append((pk, row if y else None))
        messages = operator.apply(batch_of(changes)).messages
        for pk, changed in changes:
            twin.change(b"%d" % pk, changed and {"id": pk, **changed})
        for cause in range(len(changes)):
            watched.hear(messages, np.flatnonzero(messages.cause == cause).tolist())
        watched.verify()
        operator = reopened(RELATION, dumped(operator))
        operator.check()


ROW: dict[str, int | str | None] = {"e": "a", "f": 0, "x": 1, "y": 5, "s": "b", "w": "1.00", "d": 0}


def loaded(*changes: Change, channels: Sequence[Channel] = CHANNELS[:2]) -> Table:
    operator = Table(RELATION)
    operator.listen(channels)
    operator.apply(batch_of(changes))
    return operator


def test_messages_of_one_change_are_adjacent_and_name_channel_and_group() -> None:
    operator = loaded((1, ROW), (2, ROW | {"y": 4}))
    messages = operator.apply(batch_of([(1, None), (2, ROW | {"e": "b", "y": 4})])).messages
    told = [
        (cause, messages.channels[number].kind, messages.groups[group], new if there else None)
        for cause, number, group, new, there in zip(
            messages.cause.tolist(),
            messages.channel.tolist(),
            messages.group.tolist(),
            messages.new.tolist(),
            messages.has_new.tolist(),
            strict=True,
        )
    ]
    assert told == [
        (0, "max", b'["a"]', 4),
        (1, "max", b'["a"]', None),
        (1, "max", b'["b"]', 4),
        (1, "min", b'["a"]', None),
        (1, "min", b'["b"]', 4),
    ]


def test_an_identical_row_and_a_delete_of_nothing_say_nothing() -> None:
    operator = loaded((1, ROW), channels=CHANNELS)
    before = dumped(operator)
    assert len(operator.apply(batch_of([(1, ROW), (2, None), (1, dict.fromkeys(ROW, KEEP))])).messages) == 0
    assert dumped(operator) == before
    assert len(operator.apply(batch_of([])).messages) == 0


def test_a_channel_that_does_not_fit_is_refused() -> None:
    operator = Table(RELATION)
    for each in (
        channel_of("other", "min", "y", (), "x"),
        ExtremumChannel("t", "median", "y", (), "x"),
        channel("min", "nothing"),
        channel("min", None),
        channel("values", "e"),
    ):
        with pytest.raises(ChannelError):
            operator.listen([each])
    assert operator.channels == ()
    with pytest.raises(ChannelError, match="listen"):
        operator.snapshot([Region(Shape("t", (Output("min", "y"),), ("e",), "x"), b'["a"]')])


def test_an_ordering_is_shared_and_goes_with_its_last_channel() -> None:
    operator = loaded((1, ROW))
    assert operator.orderings == 1
    operator.listen([channel("rows", None, ("e",)), channel("values", "y", ("e",))])
    assert operator.orderings == 1
    operator.listen([channel("distinct", "f", ("e",))])
    assert operator.orderings == 2
    operator.listen([channel("max", "y", ("e", "f"))])
    assert operator.orderings == 2
    operator.forget([CHANNELS[0], channel("distinct", "f", ("e",)), channel("max", "y", ("e", "f"))])
    assert operator.orderings == 1
    operator.forget([*CHANNELS, *operator.channels])
    assert operator.orderings == 0
    assert len(operator.apply(batch_of([(1, None)])).messages) == 0


def test_a_composite_answer_has_a_part_for_each_channel() -> None:
    outputs = [("avg", "d"), ("count", "d"), ("min", "s"), ("count", None), ("max", "y")]
    shape = Shape("t", tuple(Output(*output) for output in outputs), ("e",), "x")
    distinct = Shape("t", (Output("distinct", "s"),), (), None)
    rows = [ROW | {"d": DOUBLES[1]}, ROW | {"d": None, "s": None, "y": 6}]
    operator = loaded(*enumerate(rows), channels=[*shape.channels, *distinct.channels])
    regions = [Region(shape, b'["a"]'), Region(shape, b'["a"]', empty=True), Region(distinct, b"[]")]
    answers = operator.snapshot(regions)
    tally = answers.parts[0][0]
    assert isinstance(tally, Tally)
    assert (tally.count, tally.total / 2**1074) == (1, 0.1)
    assert answers.parts == {
        0: (tally, Extremum("b"), Tally.of(2, 0), Extremum(6)),
        1: (Tally(), Extremum(), Tally(), Extremum()),
        2: (Members((None, "b")),),
    }


def test_a_move_of_place_and_value_says_that_one_went_and_one_came() -> None:
    operator = loaded((1, ROW), channels=[channel("distinct", "y", ("e",))])
    messages = operator.apply(batch_of([(1, ROW | {"x": 2, "y": 6})])).messages
    assert messages.rows.tolist() == [-1, 1]
    assert (messages.old.tolist(), messages.new.tolist()) == ([5, 0], [0, 6])
    assert len(operator.apply(batch_of([(1, ROW | {"x": 2, "y": 6, "d": 1})])).messages) == 0


def test_texts_are_sent_once_and_bounds_are_the_texts_beside() -> None:
    operator = loaded((1, ROW), (2, ROW | {"s": "d"}), channels=[channel("max", "y", (), "s")])
    messages = operator.apply(batch_of([(3, ROW | {"s": "c", "y": 5}), (4, ROW | {"s": "c", "y": 9})])).messages
    cuts = [messages.lo_min, messages.lo_max, messages.hi_min, messages.hi_max]
    told = [[messages.texts[place] if place >= 0 else None for place in cut.tolist()] for cut in cuts]
    assert told == [["b", None], ["c", "c"], ["c", "c"], ["d", None]]
    assert sorted(messages.texts) == ["b", "c", "d"]


def test_an_ordering_by_numbers_of_texts_is_made_anew_when_the_texts_are_ranked() -> None:
    rows = [(i, ROW | {"s": text}) for i, text in enumerate(["c", "b", "a"])]
    by_text = Shape("t", (Output("count", None),), ("s",), None)
    operator = loaded(*rows, channels=by_text.channels)
    operator.listen([channel("min", "s")])
    operator.check()
    answers = operator.snapshot([Region(by_text, group_key((text,))) for text in "abcd"])
    assert [answers.parts[i] for i in range(4)] == [(Tally.of(1, 0),)] * 3 + [(Tally(),)]
    operator.forget([channel("min", "s")])
    operator.apply(batch_of([(7, ROW | {"s": "B"})]))
    operator.listen([channel("min", "s")])
    operator.check()


def test_an_empty_region_has_no_answer() -> None:
    operator, shape = loaded((1, ROW)), Shape("t", (Output("min", "y"),), ("e",), "x")
    regions = [
        Region(shape, b'["a"]'),
        Region(shape, b'["a"]', empty=True),
        Region(shape, b'["a"]', 2, 1),
        Region(shape, b'["z"]'),
    ]
    answers = operator.snapshot(regions)
    assert answers.has_new.tolist() == [True, False, False, False]
    assert answers.parts == {}
    assert len(operator.snapshot([])) == 0
