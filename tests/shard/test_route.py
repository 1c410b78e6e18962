import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.shape import group_key
from shard.outgoing import Outgoing
from shard.route import Route, route
from state.boxes import Boxes, hashes_of
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples
from tests.streaming.outgoing_messages import HIGH, LOW, NAMES, on_the_line

ALL = Boxes.of(hashes_of([group_key(())]))


def about(lo: int, hi: int) -> Boxes:
    return Boxes.of(hashes_of([group_key(())]), np.array([lo]), np.array([hi]))


def got(routed: Route) -> dict[int, list[int]]:
    return {ve: rows.tolist() for rows, edges in routed.parts for ve in edges}


def test_edges_get_the_channels_they_listen_to_and_nothing_else():
    routed = route({LOW: {0: ALL, 1: ALL}, HIGH: {1: ALL}}, on_the_line([0, 1, 0]).messages, 4)
    assert got(routed) == {0: [0, 2], 1: [0, 1, 2]}
    assert (routed.suppressed, routed.routed, routed.spared) == (0, 5, 0)


def test_what_no_edge_wants_is_sent_nowhere():
    routed = route({LOW: {0: about(2, 3), 2: about(5, 6)}}, on_the_line([0] * 10).messages, 4)
    assert got(routed) == {0: [2, 3], 2: [5, 6]}
    assert (routed.suppressed, routed.routed, routed.spared) == (6, 4, 16)


def test_edges_that_want_the_same_share_it():
    routed = route({LOW: {0: about(2, 3), 1: about(5, 6), 3: about(2, 3)}}, on_the_line([0] * 10).messages, 4)
    assert sorted(edges for _, edges in routed.parts) == [[0, 3], [1]]


def test_an_edge_that_wants_much_gets_all_that_is_sent():
    routed = route({LOW: {0: about(0, 8), 1: about(0, 7), 2: about(3, 4)}}, on_the_line([0] * 20).messages, 4)
    assert got(routed) == {0: list(range(9)), 1: list(range(9)), 2: [3, 4]}


def test_an_edge_never_gets_a_channel_that_it_does_not_hear():
    listeners = {LOW: {0: ALL, 1: ALL}, HIGH: {0: ALL}}
    routed = route(listeners, on_the_line([0] * 15 + [1]).messages, 2)
    assert got(routed)[1] == list(range(15))


def test_no_listeners_no_messages_no_boxes():
    assert route({}, on_the_line([0, 1]).messages, 4).parts == []
    assert route({LOW: {0: Boxes.none()}}, on_the_line([0, 0]).messages, 4).suppressed == 2
    assert route({LOW: {0: ALL}}, on_the_line([]).messages, 4) == Route()


def test_ranges_of_texts_are_told_apart_by_group_only():
    outgoing = on_the_line([2, 2], [b"[1]", b"[2]"])
    outgoing.messages.lo_min[:] = -1
    assert got(route({NAMES: {1: Boxes.of(hashes_of([b"[2]"]))}}, outgoing.messages, 2)) == {1: [1]}


RANGES = st.lists(st.tuples(st.integers(0, 2), st.integers(-2, 12), st.integers(-2, 12)), max_size=5)
SOME_GROUPS = [b"[0]", b"[1]", b"[2]"]


def _boxes(ranges: list[tuple[int, int, int]]) -> Boxes:
    group, lo, hi = (np.array([r[i] for r in ranges], np.int64) for i in range(3))
    return Boxes.of(hashes_of(SOME_GROUPS)[group], lo, hi, limit=2)


def _meets(outgoing: Outgoing, i: int, ranges: list[tuple[int, int, int]]) -> bool:
    m = outgoing.messages
    return any(
        m.group[i] == group and INT64_MIN <= lo <= m.lo_max[i] and m.hi_min[i] <= hi <= INT64_MAX
        for group, lo, hi in ranges
    )


@given(
    wanted=st.lists(st.tuples(RANGES, RANGES), min_size=1, max_size=3), channels=st.lists(st.integers(0, 1), max_size=9)
)
@settings(max_examples=examples(100), deadline=None)
def test_whoever_is_concerned_gets_the_message(wanted, channels):
    outgoing = on_the_line(channels, SOME_GROUPS)
    listeners = {
        channel: {ve: _boxes(ranges[number]) for ve, ranges in enumerate(wanted)}
        for number, channel in enumerate((LOW, HIGH))
    }
    routed = got(route(listeners, outgoing.messages, 3))
    for ve, ranges in enumerate(wanted):
        concerned = {i for i, channel in enumerate(channels) if _meets(outgoing, i, ranges[channel])}
        assert concerned <= set(routed.get(ve, []))
