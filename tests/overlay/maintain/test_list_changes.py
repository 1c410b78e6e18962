"""Lists follow what happens to rows, and are told as their policy says: each change once, in order, and no other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.maintain import list_kernels
from overlay.maintain.list_follower import MOST_PROJECTIONS
from tests.effort import deep_examples
from tests.oracle.plain_kernels import plain_kernels
from tests.overlay.list_bench import ListBench, lines

KEYS = "abcdef"
row = st.tuples(st.integers(0, 3), st.integers(0, 2))
rows = st.dictionaries(st.sampled_from(KEYS), row, max_size=6)
change = st.tuples(st.sampled_from(KEYS), st.none() | row)
one_row = st.lists(change, min_size=1, max_size=1)
causes = st.lists(one_row | one_row | st.lists(change, min_size=2, max_size=4), max_size=8)
asked = st.tuples(
    st.integers(0, 3), st.integers(0, 3), st.integers(0, 4), st.sampled_from(["k, m", "m", "k", "x", "m, k, x"]),
    st.sampled_from(["", " NOTIFY LATEST"]),
).map(lambda one: (*sorted(one[:2]), *one[2:]))  # fmt: skip


@pytest.mark.deep
@pytest.mark.parametrize("compiled", [True, False])
@given(
    asked=st.lists(asked, min_size=1, max_size=8),
    rows=rows,
    batches=st.lists(st.tuples(causes, st.integers(1, 3)), min_size=1, max_size=4),
)
@settings(max_examples=deep_examples(400), deadline=None)
def test_a_list_is_told_what_becomes_of_it(compiled: bool, asked: Any, rows: Any, batches: Any) -> None:
    if not compiled:
        with plain_kernels(list_kernels):
            follow(asked, rows, batches)
    else:
        follow(asked, rows, batches)


def follow(asked: Any, rows: Any, batches: Any) -> None:
    bench = ListBench(asked, rows)
    held = [bench.shown(slot) for slot in range(len(asked))]
    n = [1] * len(asked)
    for batch, records in batches:
        states, twin = [held], dict(bench.rows)
        for cause in batch:
            for key, now in cause:
                twin.pop(key, None)
                twin |= {key: now} if now else {}
            states.append(shown_of(bench, twin))
        told = lines(bench.batch(batch, records))
        bench.store.check()
        for slot, (_, _, _, _, policy) in enumerate(asked):
            steps = [state[slot] for state in states]
            loud = [i for i in range(1, len(steps)) if steps[i] != steps[i - 1]]
            mine = [line for line in told if line["id"] == str(slot)]
            if policy:
                assert len(mine) == (steps[-1] != steps[0])
                assert [line.get("changes", 1) for line in mine] == [len(loud)] * len(mine)
            else:
                assert len(mine) == len(loud) and not any("changes" in line for line in mine)
            last = bench.causes - len(batch)
            expected = [last + i - 1 for i in (loud[-1:] if policy else loud)][: len(mine)]
            assert [line["at"]["offset"] for line in mine] == expected
            news = [steps[-1]] * len(mine) if policy else [steps[i] for i in loud]
            for line, now in zip(mine, news, strict=True):
                applied(held[slot], line)
                n[slot] += 1
                assert (held[slot], line["n"]) == (now, n[slot])
            assert held[slot] == bench.shown(slot)
    assert bench.store.slots.n[: len(asked)].tolist() == n


def shown_of(bench: ListBench, rows: dict[str, Any]) -> list[list[Any]]:
    """Return what all lists show of `rows`."""
    now, bench.rows = bench.rows, rows
    shown = [bench.shown(slot) for slot in range(len(bench.asked))]
    bench.rows = now
    return shown


def applied(held: list[Any], line: dict[str, Any]) -> None:
    before = list(held)
    for place, values in line["removed"]:
        assert held.pop(place) == values
    for place, values in line["added"]:
        held.insert(place, values)
    assert held != before, line


def test_many_select_lists_hear_of_one_row() -> None:
    shown = [f"{', '.join(['k'] * i)}, m" for i in range(1, MOST_PROJECTIONS + 4)]
    bench = ListBench([(0, 3, 2, each, "") for each in shown], {"a": (1, 1), "b": (1, 2)})
    told = {int(line["id"]): line for line in lines(bench.batch([[("c", (2, 0))]]))}
    assert sorted(told) == list(range(len(shown)))
    assert told[0]["removed"] == [[1, ["b", 2]]] and told[0]["added"] == [[0, ["c", 0]]]
    bench.store.check()


def test_a_delivery_that_is_too_long_for_a_record_becomes_several() -> None:
    bench = ListBench([(0, 3, 1, "k", "")], {"a" * 480_000: (1, 1)})
    parts = lines(bench.batch([[("b" * 480_000, (1, 0))]]))
    assert [(line["part"], line["of"], line["n"]) for line in parts] == [(0, len(parts), 2), (1, len(parts), 2)]
