import pytest

from tidewire.scenario.subscriber import Subscriber

SNAPSHOT = {"kind": "snapshot", "version": 4, "n": 1, "old": None, "new": 7}


def change(n, old, new, kind="change", version=4):
    return {"kind": kind, "version": version, "n": n, "old": old, "new": new}


def follow(*deliveries):
    subscriber = Subscriber()
    for delivery in deliveries:
        subscriber.take(delivery)
    return subscriber


def test_it_holds_the_last_answer_and_counts():
    subscriber = follow(SNAPSHOT, change(2, 7, 5), change(3, 5, None))
    assert subscriber.fault is None and subscriber.answer is None and subscriber.live
    assert subscriber.counted() == 3 and subscriber.counted() == 0


def test_a_resync_to_the_same_answer_is_not_a_notification():
    subscriber = follow(SNAPSHOT, change(1, 7, 7, kind="resync"))
    assert subscriber.fault is None and subscriber.counted() == 1


def test_an_end_is_the_end():
    assert not follow(SNAPSHOT, change(2, 7, None, kind="ended")).live


@pytest.mark.parametrize(
    ("delivery", "fault"),
    [
        (change(3, 7, 5), "n = 3 after 1"),
        (change(1, 7, 5), "n = 1 after 1"),
        (change(2, 6, 5), "old = 6 where 7 was held"),
        (change(2, 7, 5, version=3), "a change of version 3, the live one is 4"),
    ],
)
def test_what_does_not_fit_is_a_fault(delivery, fault):
    assert follow(SNAPSHOT, delivery).fault == fault


def rows(kind, n, removed=(), added=(), version=4, **said):
    return {"kind": kind, "version": version, "n": n, "removed": list(removed), "added": list(added)} | said


BAG = rows("snapshot", 1, added=[["a", 1], ["a", 1], [None, 2]], form="bag")
LIST = rows("snapshot", 1, added=[[0, ["a"]], [1, ["b"]]], form="list")


def test_a_bag_is_held_row_by_row():
    subscriber = follow(BAG, rows("change", 2, [["a", 1]]), rows("change", 3, [[None, 2]], [["b", None]]))
    assert subscriber.fault is None and subscriber.rows == [["a", 1], ["b", None]]
    assert subscriber.counted() == 3
    subscriber.take(rows("resync", 3, same=True))
    subscriber.take(rows("resync", 4, added=[["c", 1]], form="bag", whole=True))
    assert subscriber.fault is None and subscriber.rows == [["c", 1]] and subscriber.counted() == 1
    subscriber.take(rows("ended", 5))
    assert subscriber.fault is None and not subscriber.live


def test_a_list_is_held_by_places():
    subscriber = follow(LIST, rows("change", 2, [[1, ["b"]], [0, ["a"]]], [[0, ["c"]], [1, ["a"]]]))
    assert subscriber.fault is None and subscriber.rows == [["c"], ["a"]]
    subscriber.take(rows("ended", 3, [[1, ["a"]], [0, ["c"]]]))
    assert subscriber.fault is None and not subscriber.live


def test_a_row_that_goes_by_its_key_may_have_changed_since():
    subscriber = follow(BAG | {"key": [1], "added": [["a", 1]]}, rows("change", 2, [["b", 1]], key=[1]))
    assert subscriber.fault is None and subscriber.rows == []


def test_without_a_snapshot_what_goes_may_be_unknown():
    subscriber = follow(rows("snapshot", 1, form="bag", snapshot="none"), rows("change", 2, [["a"]], [["b"]]))
    assert subscriber.fault is None and subscriber.rows == [["b"]]


@pytest.mark.parametrize(
    ("first", "delivery", "fault"),
    [
        (BAG, rows("change", 2, [["z", 1]]), "['z', 1] was removed, and was not there"),
        (BAG, rows("change", 2, [["a", True]]), "['a', True] was removed, and was not there"),
        (BAG, rows("change", 2), "a change that changes nothing"),
        (BAG, rows("change", 2, [["a", 1]], [["a", 1]]), "a change that changes nothing"),
        (BAG, rows("resync", 1), "a resync without a new n that does not say `same`"),
        (BAG, rows("resync", 2, added=BAG["added"], form="bag", whole=True), "a resync that changes nothing"),
        (LIST, rows("change", 2, [[0, ["b"]]]), "['b'] was removed at place 0"),
        (LIST, rows("change", 2, [[2, ["b"]]]), "['b'] was removed at place 2"),
        (LIST, rows("change", 2, added=[[3, ["b"]]]), "['b'] was added at place 3"),
        (LIST, rows("change", 2, [[1, ["b"]]], [[1, ["b"]]]), "a change that changes nothing"),
    ],
)
def test_rows_that_do_not_fit_are_a_fault(first, delivery, fault):
    assert follow(first, delivery).fault.startswith(fault)
